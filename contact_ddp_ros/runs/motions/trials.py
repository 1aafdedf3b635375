"""A plan in worlds that differ from the one that it was made for."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from contact_ddp_ros.base.config import flatten
from contact_ddp_ros.control.motion_controller import ExecutionConfig, put_down, start_state
from contact_ddp_ros.mpc.motions.optimizer import MotionPlan
from contact_ddp_ros.plants.options import ENGINES, NoiseOptions
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.motion import MotionSpec
from contact_ddp_ros.robot.rotation import rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.motions.execution import execute_motion, motion_begin, motion_options
from contact_ddp_ros.runs.motions.result import MotionResult

NOISE: Final = NoiseOptions(
    position=0.002,
    orientation=0.005,
    linear_velocity=0.03,
    angular_velocity=0.05,
    joint_positions=0.001,
    joint_velocities=0.1,
)

_PUSH_TIME: Final = 0.02
"""Duration of a push [s]."""

_DROP: Final = 0.01
"""Height of the lowest foot above the ground where the robot is put down [m]."""


@dataclass(frozen=True)
class Spread:
    """Spread of the worlds of trials; uniform, both ways, but for the noise.

    Attributes:
        friction: least and largest coefficient.
        mass: of the trunk, relative.
        joints: of the joint angles in which the robot is put down [rad]. tilt: of its roll, pitch and yaw [rad].
        impulse: on the trunk just before the motion, forward and to the left [N s].
        noise: standard deviations of the measured state.
    """

    friction: tuple[float, float] = (0.6, 1.0)
    mass: float = 0.05
    joints: float = 0.05
    tilt: float = 0.03
    impulse: float = 0.3
    noise: NoiseOptions = NOISE

    def scaled(self, factor: float) -> "Spread":
        """Mass, joints, tilt and impulse spread by a factor; friction and noise stay."""
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
        {"simulator.engine": engine, **{f"simulator.noise.{name}": x for name, x in flatten(spread.noise).items()}},
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
