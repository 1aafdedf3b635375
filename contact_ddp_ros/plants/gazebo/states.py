"""State reader of Gazebo's messages: joint states and odometry paired by stamp, velocities of the present.

Both are told at every physics step, in either order. While time stands joint states repeat themselves and odometry is
silent, so a stamp counts once. A stamp that goes back means that the world was reset.

The odometry plugin's linear velocity is a mean over its last ten samples: 5 ms behind at 1 ms steps, of a bound's 80 ms
stance. The difference of two poses one step apart is the velocity with which the engine made that step, which is the
one that it has now: DART's integration is semi-implicit.

At its first sample after a start or a reset the plugin takes the pose before for the origin: it tells the trunk's whole
height as a displacement within one step (0.42 m in 1 ms), and its mean holds that for ten messages. So a pose without
one shortly before it makes no state, and a twist counts from the eleventh message on.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.rotation import (
    quaternion_product,
    quaternion_to_matrix,
    quaternion_to_rotation_vector,
)
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

_NANOSECONDS = 1_000_000_000

_LONGEST_GAP = 20_000_000
"""Time between two poses beyond which their difference is not the velocity at the second [ns]."""

_TWIST_WINDOW = 10
"""Samples in the mean of the odometry plugin's linear velocity."""

_WAITING = 16
"""Messages that may wait for their other half; after that the oldest is forgotten."""

_QUATERNION_TOLERANCE = 1e-3
"""Tolerance of a unit quaternion's norm about one."""


@dataclass(frozen=True)
class Measurement:
    """The robot at one instant of Gazebo's clock.

    Attributes:
        stamp: Gazebo's simulated time [ns].
        state: its `time` is the stamp.
        restarted: whether it is the first state after Gazebo's time went back.
    """

    stamp: int
    state: RobotState
    restarted: bool


@dataclass(frozen=True)
class _Joints:
    positions: Array
    velocities: Array


@dataclass(frozen=True)
class _Base:
    position: Array
    orientation: Array
    linear: Array
    angular: Array


class StateReader:
    """Takes messages of both kinds as they come; for one thread."""

    def __init__(self, *, differences: bool = True) -> None:
        """`differences`: velocities of the trunk from its poses; else from the plugin's lagging twist."""
        self._differences = differences
        self._joints = _Waiting()
        self._bases = _Waiting()
        self._before: tuple[int, _Base] | None = None
        self._follows, self._restarted = 0, False

    @property
    def joint_stamp(self) -> int | None:
        """Stamp of the newest joint states, which come while time stands, too [ns]; None before the first."""
        return self._joints.newest

    @property
    def joint_repeats(self) -> int:
        """Number of repeats of the joint states: above zero only while time stands, after all else of that instant."""
        return self._joints.repeats

    @property
    def restarts(self) -> int:
        """Number of times that the joint states' clock went back."""
        return self._joints.restarts

    def joints(self, message: Any) -> Measurement | None:
        """Take joint states (gz.msgs.Model); the measurement if that completes one.

        Raises:
            MessageError: a joint is missing, or a number is not finite.
        """
        stamp = _stamp(message)
        if self._joints.is_news(stamp):
            self._joints.put(stamp, _read_joints(message))
        return self._complete(stamp)

    def odometry(self, message: Any) -> Measurement | None:
        """Take odometry (gz.msgs.Odometry); the measurement if that completes one.

        Raises:
            MessageError: a number is not finite, or the orientation is none.
        """
        stamp = _stamp(message)
        if self._bases.is_news(stamp):
            self._bases.put(stamp, _read_base(message))
        return self._complete(stamp)

    def _complete(self, stamp: int) -> Measurement | None:
        if not (self._joints.has(stamp) and self._bases.has(stamp)):
            return None
        joints, base, before = self._joints.take(stamp), self._bases.take(stamp), self._before
        self._before = stamp, base
        self._restarted |= before is not None and stamp < before[0]
        if before is None or not 0 < stamp - before[0] <= _LONGEST_GAP:
            self._follows = 0
            return None
        self._follows += 1
        linear, angular = base.linear, base.angular
        if self._differences or self._follows < _TWIST_WINDOW:
            linear, angular = _rates(before[1], base, 1e-9 * (stamp - before[0]))
        state = RobotState(
            time=stamp / _NANOSECONDS,
            position=base.position,
            orientation=base.orientation,
            linear_velocity=linear,
            angular_velocity=angular,
            joint_positions=joints.positions,
            joint_velocities=joints.velocities,
        )
        restarted, self._restarted = self._restarted, False
        return Measurement(stamp, state, restarted)


class _Waiting:
    """The messages of one topic that wait for those of the other, by stamp."""

    def __init__(self) -> None:
        self._messages: dict[int, Any] = {}
        self.newest: int | None = None
        self.repeats = 0
        self.restarts = 0

    def is_news(self, stamp: int) -> bool:
        """True if a message says anything new; one from before the last forgets what waits: time went back."""
        newest, self.newest = self.newest, stamp
        self.repeats = self.repeats + 1 if stamp == newest else 0
        if newest is not None and stamp < newest:
            self.restarts += 1
            self._messages.clear()
        return stamp != newest

    def put(self, stamp: int, content: Any) -> None:
        self._messages[stamp] = content
        if len(self._messages) > _WAITING:
            del self._messages[next(iter(self._messages))]

    def has(self, stamp: int) -> bool:
        return stamp in self._messages

    def take(self, stamp: int) -> Any:
        """The message of that stamp; it and all that came before it wait no longer."""
        content = self._messages[stamp]
        for earlier in list(self._messages):
            del self._messages[earlier]
            if earlier == stamp:
                break
        return content


def _rates(before: _Base, base: _Base, elapsed: float) -> tuple[Array, Array]:
    """Linear and angular velocity (3,) in trunk axes [m/s, rad/s] from two poses `elapsed` [s] apart."""
    linear = quaternion_to_matrix(base.orientation).T @ (base.position - before.position) / elapsed
    inverse = before.orientation * [-1.0, -1.0, -1.0, 1.0]
    turn = quaternion_to_rotation_vector(quaternion_product(inverse, base.orientation))
    return linear, turn / elapsed


def _stamp(message: Any) -> int:
    stamp = message.header.stamp
    return int(stamp.sec) * _NANOSECONDS + int(stamp.nsec)


def _read_joints(message: Any) -> _Joints:
    joints = message.joint
    names = [joint.name for joint in joints]
    if names != _NAMES:
        order = _order(names)
        joints = [joints[index] for index in order]
    axes = [joint.axis1 for joint in joints]
    positions = np.array([axis.position for axis in axes])
    velocities = np.array([axis.velocity for axis in axes])
    if not (np.isfinite(positions).all() and np.isfinite(velocities).all()):
        raise MessageError(f"joint states hold a number that is not finite: {positions}, {velocities}")
    return _Joints(positions, velocities)


_NAMES = list(JOINT_NAMES)


def _order(names: list[str]) -> list[int]:
    """Places of the joints of JOINT_NAMES; joints beside those are ignored."""
    missing = [name for name in _NAMES if name not in names]
    if missing:
        raise MessageError(f"joint states lack {missing}; found {names}. Was the world written by `contact-ddp sdf`?")
    return [names.index(name) for name in _NAMES]


def _read_base(message: Any) -> _Base:
    pose, twist = message.pose, message.twist
    position, orientation = pose.position, pose.orientation
    linear, angular = twist.linear, twist.angular
    base = _Base(
        position=np.array([position.x, position.y, position.z]),
        orientation=np.array([orientation.x, orientation.y, orientation.z, orientation.w]),
        linear=np.array([linear.x, linear.y, linear.z]),
        angular=np.array([angular.x, angular.y, angular.z]),
    )
    for values in (base.position, base.orientation, base.linear, base.angular):
        if not np.isfinite(values).all():
            raise MessageError(f"odometry holds a number that is not finite: {values}")
    norm = math.sqrt(float(base.orientation @ base.orientation))
    if not abs(norm - 1.0) < _QUATERNION_TOLERANCE:
        raise MessageError(f"odometry's orientation has norm {norm:.4f}; allowed: 1 ± {_QUATERNION_TOLERANCE}")
    return base
