"""Motions that a controller has ready: named, optimised before anything moves."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.motion_controller import MotionController
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.motion import load_motion

if TYPE_CHECKING:
    from contact_ddp_ros.mpc.motions.optimizer import MotionPlan

_NAME = re.compile(r"[a-zA-Z]\w*")
"""Pattern of a part of a service's name."""


def optimised(words: str, robot: Robot, tell: Callable[[str], None]) -> "dict[str, MotionPlan]":
    """Plans by name of the motions that are named, or whose .yaml files are, separated by commas.

    `tell` is told of each.

    Raises:
        ParameterError: there is no such motion, or its name is none for a service, or is there twice.
        SolverError: no motion within the limits was found.
    """
    plans: dict[str, MotionPlan] = {}
    for word in filter(None, map(str.strip, words.split(","))):
        from contact_ddp_ros.mpc.motions.optimizer import optimise_motion  # with the solver, for who has motions alone

        task = load_motion(word)
        if not _NAME.fullmatch(task.name):
            raise ParameterError(f"motion {task.name!r}: allowed for a name: letters, digits and _, a letter first")
        if task.name in plans:
            raise ParameterError(f"motion {task.name!r} is named twice")
        plan = plans[task.name] = optimise_motion(task, robot)
        tell(f"{task.name}: optimised in {plan.iterations} iterations, {plan.solve_time:.1f} s")
    return plans


def laws(plans: "dict[str, MotionPlan]", robot: Robot, config: ControllerConfig) -> dict[str, MotionController]:
    """Motion controllers under a controller's configuration."""
    return {name: MotionController(robot, plan.task, plan.policy, config) for name, plan in plans.items()}
