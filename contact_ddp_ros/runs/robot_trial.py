"""Trial of a robot in simulation: it stands up and walks, and how much of its limits and of friction that took."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.robot.joints import LEG_JOINTS
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recording, analysis
from contact_ddp_ros.runs.robot_scaling import for_robot, scales
from contact_ddp_ros.runs.simulation import simulate

Array = NDArray[np.float64]

SPEED = 0.5
"""Speed of a robot as large as the Mini Cheetah; others go as fast for their size [m/s]."""

GAITS = ("trot", "bound")

_WALK = 3.0
"""Time to walk once the robot stands [s]."""

_WITHIN = 0.1
"""Largest error of the speed, as a share, of a robot that walks: such a trial is short."""


@dataclass(frozen=True)
class Trial:
    """Result of a robot's walk with one gait.

    Attributes:
        gait: its name.
        failure: why it does not walk; empty where it does.
        speed: steady speed ahead [m/s]. wanted: the command.
        torque, rate, range: (3,) most of abductions, hips and knees, over their limits; the range from its middle.
        friction: friction coefficient that a planned force needs, at most.
    """

    gait: str
    failure: str
    speed: float
    wanted: float
    torque: Array
    rate: Array
    range: Array
    friction: float


def trials(source: str) -> Iterator[Trial]:
    """Walks of a robot, one after the other: a trot, and the bound that its file names or the default one.

    Raises:
        ContactDdpError: the robot cannot be loaded, or its model not be built.
    """
    robot = load_robot(source)
    for gait in GAITS:
        yield trial(source, robot, own_gait(robot, gait))


def own_gait(robot: Robot, kind: str) -> str:
    """Gait of a kind (`trot`, `bound`) for a robot: its file's, where that is of the kind, else the packaged one."""
    own = for_robot(PlannerConfig(), robot).gait.name
    return own if own.startswith(kind) else kind


def own_speed(robot: Robot) -> float:
    """Speed at which a robot moves as the Mini Cheetah does at 0.5 m/s (equal Froude numbers) [m/s]."""
    return SPEED * math.sqrt(scales(robot)[0])


def trial(source: str, robot: Robot, gait: str) -> Trial:
    """Walk of a robot with a gait."""
    wanted = own_speed(robot)
    duration = _WALK + 2.0 * math.sqrt(scales(robot)[0])
    try:
        recording = simulate(
            RunOptions(robot=source, gait=gait, speed=((0.0, wanted),), duration=duration, video=False)
        )
    except ContactDdpError as error:
        nothing = np.full(len(LEG_JOINTS), np.nan)
        return Trial(gait, str(error), math.nan, wanted, nothing, nothing, nothing, math.nan)
    speed = float(recording.steady_velocity[0])
    failure = f"falls: {recording.fall.reason}" if recording.fall else ""
    if not failure and not abs(speed - wanted) <= _WITHIN * wanted:
        failure = f"goes {speed:.2f} instead of {wanted:.2f} m/s" if math.isfinite(speed) else "does not start to walk"
    ticks, active = recording.ticks, analysis.active(recording)
    middle, half = 0.5 * (robot.lower + robot.upper), 0.5 * (robot.upper - robot.lower)
    return Trial(
        gait,
        failure,
        speed,
        wanted,
        _most(ticks["torques"][active] / robot.effort_limits),
        _most(ticks["joint_velocities"][active] / robot.velocity_limits),
        _most((ticks["joint_positions"][active] - middle) / half),
        _friction(recording),
    )


def _most(shares: Array) -> Array:
    """(3,) largest magnitude of shares (n, 12) of each kind of joint."""
    if not len(shares):
        return np.full(len(LEG_JOINTS), np.nan)
    return np.asarray(np.nanmax(np.abs(shares).reshape(-1, len(LEG_JOINTS)), axis=0))


def _friction(recording: Recording) -> float:
    """Largest ratio of horizontal to vertical planned force of a foot that carries."""
    forces = np.asarray(recording.ticks["planned_forces"])[analysis.active(recording)].reshape(-1, 3)
    weight = np.nanmax(forces[:, 2], initial=0.0)
    carrying = forces[forces[:, 2] > 0.1 * weight] if weight > 0.0 else forces[:0]
    ratios = np.hypot(carrying[:, 0], carrying[:, 1]) / carrying[:, 2]
    return float(np.quantile(ratios, 0.999)) if len(ratios) else math.nan
