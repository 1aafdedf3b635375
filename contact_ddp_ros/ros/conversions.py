"""Every conversion between ROS messages and this package's data, but for policies (policy_message.py).

What comes from outside is checked here: joints by name in any order, sizes, frames, finite numbers. A
:class:`MessageError` says what was found and what is allowed. Stamps are integers of nanoseconds wherever they are
compared, seconds as floats in the data.
"""

import array
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Pose, Twist, WrenchStamped
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.robot.joints import FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import BodyPose, ImuSample, JointCommand, RobotState, VelocityCommand
from contact_ddp_ros.ros.interfaces import BASE_FRAME, ODOM_FRAME
from contact_ddp_ros.ros.timebase import NANOSECONDS

Array = NDArray[np.float64]

_MAX_SECONDS = 2**31 - 1
"""Largest `sec` of a builtin_interfaces/Time."""

_QUATERNION_TOLERANCE = 1e-3
"""Tolerance of a unit quaternion's norm about one."""

UNKNOWN = -1.0
"""First entry of the covariance of what an IMU's message does not have, by its definition."""

_NOWHERE = 1e-3
"""Places [m] and headings [rad] of a body pose up to this are rounding."""


_NAMES = list(JOINT_NAMES)
_IDENTITY = np.arange(len(_NAMES))


def to_stamp(time: float) -> Time:
    """Seconds as a message's stamp, rounded to nanoseconds.

    Raises:
        MessageError: the time is negative, not finite or beyond what a stamp holds.
    """
    if not 0.0 <= time <= _MAX_SECONDS:
        raise MessageError(f"time {time} s does not fit a stamp; allowed: 0 to {_MAX_SECONDS} s")
    return stamp_message(round(time * NANOSECONDS))


def stamp_message(stamp: int) -> Time:
    """A stamp in nanoseconds as a message."""
    seconds, nanoseconds = divmod(stamp, NANOSECONDS)
    return Time(sec=seconds, nanosec=nanoseconds)


def from_stamp(stamp: Time) -> float:
    """A stamp in seconds."""
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)


def is_time(stamp: Time) -> bool:
    """True if a stamp is one that :func:`to_stamp` could have made; messages may hold others."""
    return 0 <= stamp.sec < _MAX_SECONDS and stamp.nanosec < NANOSECONDS


def time_ns(time: float) -> int:
    """Seconds in nanoseconds, as :func:`to_stamp` rounds them."""
    return round(time * NANOSECONDS)


def joint_order(names: Sequence[str]) -> NDArray[np.int64]:
    """(12,) index in a message of each joint of JOINT_NAMES.

    Raises:
        MessageError: a joint is missing or occurs twice, or one is unknown.
    """
    if list(names) == _NAMES:
        return _IDENTITY
    missing = [name for name in _NAMES if name not in names]
    unknown = sorted(set(names) - set(_NAMES))
    if missing or unknown or len(names) != len(_NAMES):
        twice = sorted({name for name in names if list(names).count(name) > 1})
        raise MessageError(
            f"joints missing {missing}, unknown {unknown}, named twice {twice}; allowed: each of {_NAMES} once"
        )
    return np.array([list(names).index(name) for name in _NAMES])


def robot_state(joints: JointState, odometry: Odometry, time: float | None = None) -> RobotState:
    """The robot's state from a joint state and the odometry that belongs to it.

    Its time is `time` [s], by default the joint state's stamp.

    Raises:
        MessageError: a joint is missing, the stamp, a size, frame or quaternion is wrong, or a number is not finite.
    """
    order = joint_order(joints.name)
    stamp = joints.header.stamp
    if not is_time(stamp):
        raise MessageError(
            f"stamp of {stamp.sec} s and {stamp.nanosec} ns; allowed: 0 to {_MAX_SECONDS} s, below a second of ns"
        )
    if odometry.header.frame_id != ODOM_FRAME or odometry.child_frame_id != BASE_FRAME:
        raise MessageError(
            f"odometry of {odometry.child_frame_id!r} in {odometry.header.frame_id!r}; "
            f"allowed: {BASE_FRAME!r} in {ODOM_FRAME!r}"
        )
    position, orientation = odometry.pose.pose.position, odometry.pose.pose.orientation
    linear, angular = odometry.twist.twist.linear, odometry.twist.twist.angular
    quaternion = np.array([orientation.x, orientation.y, orientation.z, orientation.w])
    state = RobotState(
        time=from_stamp(stamp) if time is None else time,
        position=np.array([position.x, position.y, position.z]),
        orientation=quaternion,
        linear_velocity=np.array([linear.x, linear.y, linear.z]),
        angular_velocity=np.array([angular.x, angular.y, angular.z]),
        joint_positions=_joint_values(joints.position, order, "position"),
        joint_velocities=_joint_values(joints.velocity, order, "velocity"),
    )
    check_state(state)
    return state


def check_state(state: RobotState) -> None:
    """Check the numbers of a received state.

    Raises:
        MessageError: a number is not finite, or the orientation is no unit quaternion.
    """
    if not state.is_finite():
        raise MessageError(f"robot state holds a number that is not finite: {_not_finite(state)}")
    norm = math.hypot(*state.orientation.tolist())
    if not abs(norm - 1.0) < _QUATERNION_TOLERANCE:
        raise MessageError(f"orientation has norm {norm:.4f}; allowed: 1 ± {_QUATERNION_TOLERANCE}")


def joint_motion(joints: JointState) -> tuple[Array, Array]:
    """Positions and velocities (12,) of a joint state [rad, rad/s].

    Raises:
        MessageError: a joint is missing, a size is wrong, or a number is not finite.
    """
    order = joint_order(joints.name)
    motion = _joint_values(joints.position, order, "position"), _joint_values(joints.velocity, order, "velocity")
    if not all(np.isfinite(values).all() for values in motion):
        raise MessageError(f"joint state holds a number that is not finite: {motion}")
    return motion


def joint_state_message(state: RobotState, torques: Array) -> JointState:
    """The joints of a state, with the torques applied (12,) [N m] as effort."""
    message = JointState()
    message.header.stamp = to_stamp(state.time)
    message.name = _NAMES
    message.position = doubles(state.joint_positions)
    message.velocity = doubles(state.joint_velocities)
    message.effort = doubles(torques)
    return message


def odometry_message(state: RobotState) -> Odometry:
    """Pose and twist of the trunk of a state; covariances stay zero: unknown."""
    message = Odometry()
    message.header.stamp = to_stamp(state.time)
    message.header.frame_id = ODOM_FRAME
    message.child_frame_id = BASE_FRAME
    _fill(message.pose.pose.position, state.position)
    _fill(message.pose.pose.orientation, state.orientation)
    _fill(message.twist.twist.linear, state.linear_velocity)
    _fill(message.twist.twist.angular, state.angular_velocity)
    return message


def imu_sample(message: Imu, time: float) -> ImuSample:
    """Sample of an IMU at the trunk's origin at `time` [s].

    Raises:
        MessageError: it says that it has no acceleration, or a number is not finite.
    """
    if message.linear_acceleration_covariance[0] == UNKNOWN:
        raise MessageError(
            "imu/data says, by a covariance of -1, that it has no linear acceleration: who publishes it hears of no "
            "inertial unit; the state estimator waits for its samples"
        )
    rate, force = (np.array([v.x, v.y, v.z]) for v in (message.angular_velocity, message.linear_acceleration))
    if not (np.isfinite(rate).all() and np.isfinite(force).all()):
        raise MessageError(f"imu holds an angular velocity of {rate} and an acceleration of {force}; allowed: numbers")
    return ImuSample(time, rate, force)


def estimate_message(state: RobotState, covariances: tuple[Array, Array], stamp: int) -> Odometry:
    """Odometry of an estimated state with its `covariances` (6, 6) of pose and twist; `stamp` [ns]: its sample's."""
    message = odometry_message(state)
    message.header.stamp = stamp_message(stamp)
    message.pose.covariance, message.twist.covariance = (one.ravel() for one in covariances)
    return message


def imu_message(state: RobotState, sample: ImuSample | None) -> Imu:
    """Message of an IMU at the trunk's origin at a state's time: the state's orientation, numbers of the sample.

    Without a sample the angular velocity is the state's, and a covariance of -1 says, by the message's definition, that
    the acceleration is not known.
    """
    message = Imu()
    message.header.stamp = to_stamp(state.time)
    message.header.frame_id = BASE_FRAME
    _fill(message.orientation, state.orientation)
    _fill(message.angular_velocity, (sample or state).angular_velocity)
    if sample is None:
        message.linear_acceleration_covariance[0] = UNKNOWN
    else:
        _fill(message.linear_acceleration, sample.specific_force)
    return message


def joint_command_message(command: JointCommand, stamp: Time) -> JointTrajectory:
    """A joint command as a trajectory of one point; damping has no positions."""
    point = JointTrajectoryPoint(
        velocities=doubles(command.velocities), effort=doubles(command.torques), time_from_start=Duration()
    )
    if command.positions is not None:
        point.positions = doubles(command.positions)
    message = JointTrajectory(joint_names=_NAMES, points=[point])
    message.header.stamp = stamp
    return message


def joint_command(message: JointTrajectory) -> JointCommand:
    """The joint command of a message; its stamp is that of the state it answers.

    Raises:
        MessageError: a joint is missing, there is not one point, a size is wrong or a number is not finite.
    """
    order = joint_order(message.joint_names)
    if len(message.points) != 1:
        raise MessageError(f"joint command has {len(message.points)} points; allowed: one")
    point = message.points[0]
    command = JointCommand(
        positions=_joint_values(point.positions, order, "positions") if len(point.positions) else None,
        velocities=_joint_values(point.velocities, order, "velocities"),
        torques=_joint_values(point.effort, order, "effort"),
    )
    check_command(command)
    return command


def check_command(command: JointCommand) -> None:
    """Check the numbers of a received command.

    Raises:
        MessageError: one is not finite.
    """
    for name in ("positions", "velocities", "torques"):
        values = getattr(command, name)
        if values is not None and not np.isfinite(values).all():
            raise MessageError(f"joint command {name} hold a number that is not finite: {values}")


def contacts_message(contacts: Sequence[bool]) -> Float64MultiArray:
    """Message of the feet on the ground, in the order of FOOT_NAMES."""
    return Float64MultiArray(data=doubles(np.array(contacts, dtype=np.float64)))


def contacts(message: Float64MultiArray) -> tuple[bool, ...]:
    """Feet on the ground, in the order of FOOT_NAMES.

    Raises:
        MessageError: there is another number of feet, or one is neither on the ground nor in the air.
    """
    values = list(message.data)
    if len(values) != len(FOOT_NAMES) or not set(values) <= {0.0, 1.0}:
        raise MessageError(f"contacts are {values}; allowed: 0 or 1 for each of {', '.join(FOOT_NAMES)}")
    return tuple(value == 1.0 for value in values)


def velocity_command(message: Twist) -> VelocityCommand:
    """The velocity command of a Twist.

    Raises:
        MessageError: a number is not finite.
    """
    return VelocityCommand(message.linear.x, message.linear.y, message.angular.z)


def body_pose(message: Pose) -> BodyPose:
    """Commanded body pose; a height of 0 is that of the parameters.

    Raises:
        MessageError: a number is not finite, the quaternion is none, or a place or a heading is asked for.
    """
    place, turned = message.position, message.orientation
    x, y, height = _finite(place.x, place.y, place.z, what="position of a body pose")
    quaternion = np.array([turned.x, turned.y, turned.z, turned.w])
    length = float(np.linalg.norm(quaternion))
    if not abs(length - 1.0) <= _QUATERNION_TOLERANCE:
        raise MessageError(f"the orientation of a body pose has length {length:g}; allowed: 1")
    roll, pitch, yaw = quaternion_to_rpy(quaternion / length).tolist()
    if max(abs(x), abs(y), abs(yaw)) > _NOWHERE:
        raise MessageError(
            f"a body pose at x {x:g} m, y {y:g} m and yaw {yaw:g} rad; allowed: 0, as these follow cmd_vel"
        )
    return BodyPose(height if height != 0.0 else None, roll, pitch)


def push_force(message: WrenchStamped) -> Array:
    """(3,) force of a push on the trunk's origin in `odom` axes [N].

    Raises:
        MessageError: the frame is another, a torque is asked for, or a number is not finite.
    """
    if message.header.frame_id not in ("", ODOM_FRAME):
        raise MessageError(f"push in frame {message.header.frame_id!r}; allowed: {ODOM_FRAME!r}")
    force, torque = message.wrench.force, message.wrench.torque
    if any(_finite(torque.x, torque.y, torque.z, what="torque of a push")):
        raise MessageError("a push has no torque here; allowed: a force")
    return np.array(_finite(force.x, force.y, force.z, what="force of a push"))


def _finite(x: float, y: float, z: float, what: str) -> tuple[float, float, float]:
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        raise MessageError(f"{what} is ({x}, {y}, {z}); allowed: finite numbers")
    return x, y, z


def doubles(values: Array) -> "array.array[float]":
    """Convert an array to the type that message fields accept without a copy per element."""
    out = array.array("d")
    out.frombytes(np.ascontiguousarray(values, dtype=np.float64).tobytes())
    return out


def _joint_values(values: Sequence[float], order: NDArray[np.int64], name: str) -> Array:
    if len(values) != len(order):
        raise MessageError(f"joint {name} holds {len(values)} numbers; allowed: {len(order)}")
    return np.array(values, dtype=np.float64)[order]


def _fill(target: Any, values: Any) -> None:
    """Set x, y, z and, of a quaternion, w; floats, because messages refuse NumPy's."""
    numbers = values.tolist() if isinstance(values, np.ndarray) else values
    for name, number in zip("xyzw", numbers):
        setattr(target, name, float(number))


def _not_finite(state: RobotState) -> str:
    names = (name for name in RobotState.__dataclass_fields__)
    return ", ".join(name for name in names if not np.isfinite(getattr(state, name)).all())
