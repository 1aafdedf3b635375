"""Plans that several tests use, each made once."""

from functools import cache

from contact_ddp_ros.motions.motion import load_motion
from contact_ddp_ros.motions.optimiser import MotionPlan, optimise_motion
from contact_ddp_ros.robot.model import load_robot

ROBOT = load_robot()


@cache
def plan_of(name: str) -> MotionPlan:
    """The packaged motion of that name, optimised."""
    return optimise_motion(load_motion(name), ROBOT)
