"""Plans and runs that several tests use, each made once."""

from functools import cache
from typing import Any

from contact_ddp_ros.mpc.motions.optimizer import MotionPlan, optimise_motion
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.motion import MotionPhase, MotionSpec, load_motion
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.motions.execution import execute_motion, motion_options
from contact_ddp_ros.runs.motions.result import MotionResult

ROBOT = load_robot()

ALL, HIND = ("fr", "fl", "hr", "hl"), ("hr", "hl")
STRIDES = MotionSpec(
    "strides",
    tuple(MotionPhase(*one) for one in ((ALL, 0.4), ((), 0.12), (HIND, 0.12), ((), 0.16), (ALL, 0.5))),
    displacement=0.5,
)
"""Two flights, with a stride on the hind legs between."""


@cache
def plan_of(name: str) -> MotionPlan:
    """The packaged motion of that name, optimised."""
    return optimise_motion(load_motion(name), ROBOT)


@cache
def plan_of_strides() -> MotionPlan:
    """The strides, optimised."""
    return optimise_motion(STRIDES, ROBOT)


def executed(plan: MotionPlan, start: RobotState | None = None, **options: Any) -> MotionResult:
    """The plan executed in a world with these options of a run."""
    return MotionResult(execute_motion(plan, motion_options(plan.task, **options), start=start))


@cache
def run_of(name: str) -> MotionResult:
    """The packaged motion of that name, executed in the default world."""
    return executed(plan_of(name))
