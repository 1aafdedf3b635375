"""Check of the joints' zeros in a pose that a person sees: belly down, knees bent to their stops, shanks flat.

An encoder on the motor's side of the gear knows its joint up to whole turns of the motor. A joint that was switched on
in a wrong sector is read wrong by multiples of 2π / gear, and so are the feet and the pose that the robot computes from
it: nothing that the robot tells of itself shows it. In a pose that is known from outside it is seen, as long as the
joints are nearer to that pose than half a sector.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

_TOLERANCE: Final = 0.4
"""Tolerance of a joint about the known pose, over its sector: less than half, with room for a person's hands."""
_LIKENESS: Final = 0.2
"""Tolerance of an explanation about the known pose, over the sector."""
_REST_SPEED: Final = 0.2
"""A joint that is slower rests [rad/s]."""
_REST_TIME: Final = 0.5
"""Time for which all joints must rest in the known pose [s]."""
_FORGET: Final = 10.0
"""Time without a state after which the drives may have been off meanwhile [s]."""


def pose_errors(robot: Robot, joint_positions: Array) -> list[str]:
    """Description of each joint that does not agree with the known pose, at joint positions (12,) [rad].

    It names a zero error, where whole turns of the motor explain the difference, or a sign error, where the mirrored
    angle agrees. Joints without a gear ratio are left out.
    """
    sectors = _sectors(robot)
    away = np.abs(joint_positions - robot.folded)
    return [
        _description(JOINT_NAMES[j], float(joint_positions[j]), float(robot.folded[j]), float(sectors[j]))
        for j in np.flatnonzero(away > _TOLERANCE * sectors)
    ]


def pose_report(robot: Robot, joint_positions: Array) -> str:
    """Comparison of the joints (12,) [rad] with the known pose, in one line for people."""
    if not robot.gears.all():
        return "not compared: no gear ratios are known"
    errors = pose_errors(robot, joint_positions)
    return "; ".join(errors) if errors else "agrees with belly down, knees bent to their stops, shanks flat"


class KnownPose:
    """Check that the joints have been seen in the known pose since the drives were switched on."""

    def __init__(self, robot: Robot) -> None:
        """Start without a state."""
        self.seen = False
        """Result of the check: all joints have rested in the known pose."""
        self._robot = robot
        self._tolerances = _TOLERANCE * _sectors(robot)
        self._state: RobotState | None = None
        self._since: float | None = None

    def watch(self, state: RobotState, *, limp: bool) -> None:
        """Process a state; `limp` where nothing but damping moves the joints, so that the pose is a person's."""
        if self._state is not None and state.time - self._state.time > _FORGET:
            self.seen, self._since = False, None
        self._state = state
        if self.seen:
            return
        there = np.abs(state.joint_positions - self._robot.folded) <= self._tolerances
        if not (limp and there.all() and np.abs(state.joint_velocities).max() < _REST_SPEED):
            self._since = None
            return
        self._since = state.time if self._since is None else min(self._since, state.time)
        self.seen = state.time - self._since >= _REST_TIME

    @property
    def obstacle(self) -> str:
        """Why the zeros are not known to be right, and what to do; empty where they are."""
        if self.seen:
            return ""
        errors = [] if self._state is None else pose_errors(self._robot, self._state.joint_positions)
        text = "; ".join(errors) or f"not at rest for {_REST_TIME} s yet"
        return f"lay it on its belly, knees bent to their stops, shanks flat, to check the joints' zeros: {text}"


def _sectors(robot: Robot) -> Array:
    """(12,) angle of a joint for one turn of its motor [rad]; infinite where the gear ratio is not known."""
    return np.divide(2.0 * math.pi, robot.gears, out=np.full(robot.n_joints, np.inf), where=robot.gears > 0.0)


def _description(name: str, measured: float, known: float, sector: float) -> str:
    turns = round((measured - known) / sector)
    zero, sign = abs(measured - known - turns * sector), abs(measured + known)
    text = f"{name} reads {measured:.2f} rad, {known:.2f} ± {_TOLERANCE * sector:.2f} expected"
    if min(zero, sign) > _LIKENESS * sector:
        return text
    if sign < zero:
        return f"{text}: a sign error, it is turned the other way"
    return f"{text}: a zero error of {turns * sector:.2f} rad, {turns:+d} turns of its motor; switch it on folded"
