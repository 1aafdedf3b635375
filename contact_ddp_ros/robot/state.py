"""The robot's measured state and the command to its joint drives: plain data, SI units.

Joint arrays are in the order of :data:`contact_ddp_ros.robot.joints.JOINT_NAMES`. Frames follow REP-103 and
REP-105: `odom` is the fixed frame (z up), `base_link` the trunk (x forward, y left, z up).

The commanded velocity, and for how long it is valid.

Commanded body pose: height, roll and pitch of the trunk while the robot moves or stands under the planner.
"""

import math
from dataclasses import astuple, dataclass, fields
from typing import Generic, TypeVar

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.robot.rotation import COMPILED, READ

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ImuSample:
    """Measurement of an inertial unit at the origin of `base_link`, in its axes.

    Attributes:
        time: stamp [s].
        angular_velocity: (3,) at that instant [rad/s].
        specific_force: (3,) mean since the last sample, acceleration without gravity [m/s^2].
    """

    time: float
    angular_velocity: Array
    specific_force: Array


@dataclass(frozen=True)
class RobotState:
    """State of the floating-base robot at one instant.

    Attributes:
        time: stamp of the measurement [s].
        position: (3,) origin of `base_link` in `odom` [m].
        orientation: (4,) unit quaternion (x, y, z, w) that rotates `base_link` into `odom`.
        linear_velocity: (3,) of the origin of `base_link`, expressed in `base_link` [m/s].
        angular_velocity: (3,) of `base_link`, expressed in `base_link` [rad/s].
        joint_positions: (12,) [rad].
        joint_velocities: (12,) [rad/s].
    """

    time: float
    position: Array
    orientation: Array
    linear_velocity: Array
    angular_velocity: Array
    joint_positions: Array
    joint_velocities: Array

    def has_sizes(self, n_joints: int) -> bool:
        """True if every array has the shape that the class says, for that many joints."""
        return (
            np.shape(self.position) == np.shape(self.linear_velocity) == np.shape(self.angular_velocity) == (3,)
            and np.shape(self.orientation) == (4,)
            and np.shape(self.joint_positions) == np.shape(self.joint_velocities) == (n_joints,)
        )

    def is_finite(self) -> bool:
        """True if every entry, the stamp included, is a finite number."""
        return math.isfinite(self.time) and _are_finite(
            self.position,
            self.orientation,
            self.linear_velocity,
            self.angular_velocity,
            self.joint_positions,
            self.joint_velocities,
        )


STATE_PARTS = tuple(one.name for one in fields(RobotState) if one.name != "time")
"""Names of the measured arrays of a state, in their order."""


@njit(nb.boolean(*[READ] * 6), **COMPILED)
def _are_finite(position, orientation, linear_velocity, angular_velocity, joint_positions, joint_velocities):  # type: ignore[no-untyped-def]
    finite = True
    for part in (position, orientation, linear_velocity, angular_velocity, joint_positions, joint_velocities):
        for number in part:
            finite &= np.isfinite(number)
    return finite


@dataclass(frozen=True)
class JointCommand:
    """Joint command that the drives execute until the next one arrives.

    A drive applies `torques + kp (positions - q) + kd (velocities - v)`, clipped to the actuator, with the fixed
    gains of :class:`DriveGains`. Where `positions` is None the drive only damps: `torques` and kp count as zero
    and the damping gain is used.

    Attributes:
        positions: (12,) targets [rad], or None for damping.
        velocities: (12,) targets [rad/s].
        torques: (12,) feedforward [N m].
    """

    positions: Array | None
    velocities: Array
    torques: Array

    @classmethod
    def damping(cls, n_joints: int) -> "JointCommand":
        """The command that only takes energy out of the joints."""
        return cls(positions=None, velocities=np.zeros(n_joints), torques=np.zeros(n_joints))


@dataclass(frozen=True)
class DriveGains:
    """Gains of the joint drives, equal at both ends of the wire.

    Attributes:
        kp: (12,) position gains [N m/rad].
        kd: (12,) velocity gains [N m s/rad].
        kd_damping: (12,) velocity gains while only damping [N m s/rad].
    """

    kp: Array
    kd: Array
    kd_damping: Array

    def torques(self, command: JointCommand, positions: Array, velocities: Array) -> Array:
        """(12,) torques, not yet clipped, that a command means at joint positions and velocities (12,) [N m]."""
        if command.positions is None:
            return self.kd_damping * (command.velocities - velocities)
        error = command.positions - positions
        return command.torques + self.kp * error + self.kd * (command.velocities - velocities)


Command = TypeVar("Command")


@dataclass(frozen=True)
class VelocityCommand:
    """Commanded forward and leftward speed [m/s] and yaw rate [rad/s]."""

    forward: float = 0.0
    left: float = 0.0
    yaw_rate: float = 0.0

    def __post_init__(self) -> None:
        """Raises MessageError where a number is not finite."""
        if not all(math.isfinite(value) for value in astuple(self)):
            raise MessageError(f"the velocity command is {astuple(self)}; allowed: finite numbers")


class Expiring(Generic[Command]):
    """A command that is valid for a limited time, measured on the clock of the states.

    One thread may put a command while another one reads it.
    """

    def __init__(self, neutral: Command) -> None:
        """`neutral` is the command where there is none, or only one that is too old."""
        self._neutral = neutral
        self._value = neutral
        self._time: float | None = None
        self._put: tuple[Command] | None = None
        self._seen: tuple[Command] | None = None

    def put(self, value: Command) -> None:
        """Replace the command; its age counts from the next time that it is read."""
        self._put = (value,)

    def at(self, time: float, timeout: float) -> Command:
        """The valid command at `time` [s]; the neutral one once it is older than `timeout` [s]."""
        put = self._put
        if put is not None and put is not self._seen:
            self._seen, self._value, self._time = put, put[0], time
        if self._time is None or not 0.0 <= time - self._time <= timeout:
            self._time = None
            return self._neutral
        return self._value


@dataclass(frozen=True)
class BodyPose:
    """Commanded pose of the trunk over the estimated ground.

    Attributes:
        height: above the ground [m]; None: as configured.
        roll, pitch: about the ground's plane, right side down and nose down [rad].
    """

    height: float | None = None
    roll: float = 0.0
    pitch: float = 0.0

    def __post_init__(self) -> None:
        """Raises MessageError where a number is not finite."""
        if not all(value is None or math.isfinite(value) for value in astuple(self)):
            raise MessageError(f"height, roll and pitch of the body are {astuple(self)}; allowed: finite numbers")
