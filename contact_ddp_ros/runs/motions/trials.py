"""A plan in worlds that differ from the one that it was made for.

Motions that a controller has ready: named, optimised before anything moves.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.motion_controller import ExecutionConfig, MotionController, put_down, start_state
from contact_ddp_ros.mpc.motions.optimizer import MotionPlan
from contact_ddp_ros.plants.options import ENGINES
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.motion import MotionSpec, load_motion
from contact_ddp_ros.robot.rotation import rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.motions.execution import execute_motion, motion_begin, motion_options
from contact_ddp_ros.runs.motions.result import MotionResult
from contact_ddp_ros.runs.options import SENSOR_ERRORS

if TYPE_CHECKING:
    from contact_ddp_ros.mpc.motions.optimizer import MotionPlan

_PUSH_TIME: Final = 0.02
"""Duration of a push [s]."""

_DROP: Final = 0.01
"""Height of the lowest foot above the ground where the robot is put down [m]."""


@dataclass(frozen=True)
class Spread:
    """Spread of the worlds of trials; uniform, both ways, but for the sensors' noise.

    Attributes:
        friction: least and largest coefficient.
        mass: of the trunk, relative.
        joints: of the joint angles in which the robot is put down [rad]. tilt: of its roll, pitch and yaw [rad].
        impulse: on the trunk just before the motion, forward and to the left [N s].
        sensors: parameters of the simulated world that are the sensors' errors.
    """

    friction: tuple[float, float] = (0.6, 1.0)
    mass: float = 0.05
    joints: float = 0.05
    tilt: float = 0.03
    impulse: float = 0.3
    sensors: Mapping[str, float] = field(default_factory=lambda: SENSOR_ERRORS)

    def scaled(self, factor: float) -> "Spread":
        """Mass, joints, tilt and impulse spread by a factor; friction and sensors stay."""
        names = ("mass", "joints", "tilt", "impulse")
        return replace(self, **{name: factor * getattr(self, name) for name in names})


def perturbed_run(
    plan: MotionPlan,
    seed: int,
    spread: Spread | None = None,
    execution: ExecutionConfig | None = None,
    engine: str = ENGINES[0],
) -> MotionResult:
    """Execute a plan in the world of a seed, in the physics of an engine."""
    spread, rng = spread or Spread(), np.random.default_rng(seed)
    friction, mass = float(rng.uniform(*spread.friction)), 1.0 + float(rng.uniform(-spread.mass, spread.mass))
    start = _start(plan.task, plan.problem.model.robot, rng, spread)
    forward, left = rng.uniform(-spread.impulse, spread.impulse, 2) / _PUSH_TIME
    options = motion_options(
        plan.task,
        {"simulator.engine": engine, **spread.sensors},
        friction=friction,
        trunk_mass_scale=mass,
        seed=seed,
        pushes=(Push(motion_begin(plan.task) - _PUSH_TIME, (float(forward), float(left), 0.0), _PUSH_TIME),),
    )
    return MotionResult(execute_motion(plan, options, execution, start))


def _start(task: MotionSpec, robot: Robot, rng: np.random.Generator, spread: Spread) -> RobotState:
    """Start of a trial: the motion's first posture, a little off, its lowest foot 1 cm above the ground."""
    state = start_state(task, robot)
    roll, pitch, yaw = rng.uniform(-spread.tilt, spread.tilt, 3)
    joints = state.joint_positions + rng.uniform(-spread.joints, spread.joints, robot.n_joints)
    orientation = rpy_to_quaternion(task.start_turn + float(roll), float(pitch), float(yaw))
    return put_down(replace(state, orientation=orientation, joint_positions=joints), robot, _DROP)


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
