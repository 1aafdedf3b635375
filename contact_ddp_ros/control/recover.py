"""Getting up after a fall: fold the legs, roll onto the belly where the robot does not lie on it, and leave the rest to
the stand.

    fold --belly down--> (stand)
     ^ |
     | +--back or side down--> reach --> roll --+
     +------------------------------------------+

The robot rolls over its lower side: the legs of that side, the *pivot*, lie beside the trunk, those of the other side
*push*. To reach, the pushing legs turn up past the trunk until they point at the ground behind its back; to roll, they
swing outwards and lift their side of the trunk, while the pivot legs, turned to the back, let it pass. Both postures
were found by a search in simulation over falls onto the back and both sides; that the legs are more than half of the
robot's mass is what makes it easy. A robot that rolls back is rolled again.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.safety import SafetyViolation, ViolationKind
from contact_ddp_ros.control.stand import StandLaw, minimum_jerk
from contact_ddp_ros.robot.joint_pd import JointTargets
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

_BELLY_DOWN = 0.7
"""Upward part of the trunk's vertical axis from which on it lies on its belly: a tilt of 45 degrees."""

_ATTEMPTS = 8
"""Largest number of attempts to roll."""

_LEFT = np.array([1.0 if name.endswith("l") else -1.0 for name in LEG_NAMES])


@dataclass(frozen=True)
class _Phase:
    """Joint angles of the pushing and the pivot legs, abduction outwards [rad], and time for the way and a rest [s]."""

    push: tuple[float, float, float]
    pivot: tuple[float, float, float]
    duration: float
    rest: float

    def posture(self, side: float, knees: Array) -> Array:
        """(12,) joint angles [rad] to roll over the left (1) or right (-1) side; `knees` (4,): signs of their bend."""
        legs = np.where((side * _LEFT > 0.0)[:, None], self.pivot, self.push)
        return (legs * np.column_stack([_LEFT, knees, knees])).ravel()


_REACH = _Phase(push=(0.1, -3.4, 0.65), pivot=(1.1, -1.7, 0.65), duration=0.6, rest=0.1)
_ROLL = _Phase(push=(1.4, -1.9, 2.1), pivot=(-0.2, -3.4, 2.7), duration=0.4, rest=0.1)
_FOLD = _Phase(push=(0.0, 0.0, 0.0), pivot=(0.0, 0.0, 0.0), duration=0.6, rest=0.3)
"""The way only; the posture is the stand's."""


class RecoverLaw:
    """Joint targets from wherever a fallen robot lies until it lies on its belly with its legs folded."""

    def __init__(self, robot: Robot) -> None:
        """Start idle until :meth:`targets`."""
        self._lower, self._upper = robot.lower, robot.upper
        self._knees = np.sign(robot.standing[2::3])
        self.start()

    def start(self) -> None:
        """Restart with the next state."""
        self._to_come: list[_Phase] = []
        self._side = 1.0
        self._origin = self._goal = np.zeros(len(self._lower))
        self._began, self._duration, self._end = 0.0, 1.0, math.nan
        self.rolls = 0
        """Number of attempts to roll so far."""
        self.done = False
        """True if the robot lies on its belly, legs folded."""

    def shift(self, offset: float) -> None:
        """Move the start of the way by `offset` [s]: the clock has jumped by it."""
        self._began += offset
        self._end += offset

    def finding(self, state: RobotState) -> SafetyViolation | None:
        """Why it is given up; None where it is not."""
        if self.rolls <= _ATTEMPTS:
            return None
        return SafetyViolation(ViolationKind.TILT, f"after {_ATTEMPTS} rolls the robot {lies(state)}, not on its belly")

    def targets(self, state: RobotState, now: float, stand: StandLaw, late: float = 0.0) -> JointTargets:
        """Joint targets for a finite state at time `now` [s], with a stand's gains and its answer to `late` [s]."""
        if not now < self._end:
            self._begin_phase(state, now, stand.fold)
        share, rate = minimum_jerk(now - self._began, self._duration)
        way = self._goal - self._origin
        return stand.stiffly(self._origin + share * way, rate * way, state, late)

    def _begin_phase(self, state: RobotState, now: float, fold: Array) -> None:
        """Go on with the phase that follows, which depends on where the robot lies once its legs are folded."""
        self._origin, self._began = np.array(state.joint_positions, float), now
        if not self._to_come and not math.isnan(self._end):
            up = quaternion_to_matrix(state.orientation)[2]
            self.done = bool(up[2] > _BELLY_DOWN)
            if not self.done:
                self._side = 1.0 if up[1] < 0.0 else -1.0
                self._to_come = [_REACH, _ROLL, _FOLD]
                self.rolls += 1
        phase = self._to_come.pop(0) if self._to_come else _FOLD
        posture = fold if phase is _FOLD else phase.posture(self._side, self._knees)
        self._goal = np.clip(posture, self._lower, self._upper)
        self._duration, self._end = phase.duration, now + phase.duration + phase.rest


def lies(state: RobotState) -> str:
    """On which side a robot lies, for people."""
    up = quaternion_to_matrix(state.orientation)[2]
    if abs(up[2]) >= _BELLY_DOWN:
        return "lies on its belly" if up[2] > 0.0 else "lies on its back"
    if abs(up[0]) > abs(up[1]):
        return "stands on its nose" if up[0] < 0.0 else "sits on its tail"
    return "lies on its left side" if up[1] < 0.0 else "lies on its right side"
