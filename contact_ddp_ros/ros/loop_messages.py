"""The messages of the control loop as bytes: states and commands, written in place and read without message objects.

Writers start from a message that :mod:`contact_ddp_ros.ros.conversions` makes, and readers from the first message of
a publisher that its checks accept: later ones that differ in stamp and numbers only are read in place. Any other
message goes through the same conversions again, so all checks and error texts are those of the conversions.

Reads and writes numbers of serialised messages in place.

Two messages of one type with the same names and array sizes differ, serialised, in a few numbers only: the stamp and
the values. A :class:`Template` finds their positions in one message of the kind; the rest must be equal. For the
messages of the control loop that costs a tenth of serialising and deserialising message objects.

The encoding is plain CDR, little-endian (OMG CORBA 3.3, part 2, 9.3; DDS-RTPS 2.2, 10): behind four bytes of
encapsulation every primitive is aligned to its size, a string is its length and its characters with a zero, a sequence
its length and its elements. Bytes of padding may hold anything and are left out of every comparison.
"""

import contextlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.robot.joints import N_JOINTS
from contact_ddp_ros.robot.state import ImuSample, JointCommand, RobotState
from contact_ddp_ros.ros.conversions import (
    UNKNOWN,
    check_command,
    check_state,
    imu_sample,
    joint_command,
    joint_command_message,
    joint_order,
    joint_state_message,
    odometry_message,
    robot_state,
    to_stamp,
)
from contact_ddp_ros.ros.timebase import NANOSECONDS

Array = NDArray[np.float64]

_ENCAPSULATION = 4
_STAMP = slice(_ENCAPSULATION, _ENCAPSULATION + 8)
_STAMP_ORDERS = (struct.Struct(">iI"), struct.Struct("<iI"))
"""A serialised stamp in big-endian and in little-endian CDR."""

_LATEST_STAMP = 2**31 * NANOSECONDS
"""Stamps from here on do not fit a message [ns]."""

_LENGTH = struct.Struct("<I")
_NUMBER = np.dtype("<f8")


@dataclass(frozen=True)
class Numbers:
    """Float64 fields under a name: a sequence of any length, or `size` fixed fields."""

    name: str
    size: int | None = None


TEXT, TEXTS, WORD = "text", "texts", "word"
"""A string, a sequence of strings, and four bytes that are not compared further, such as a count of points."""

Layout = Sequence[Numbers | str]
"""The fields of a message type behind its stamp."""


def stamp_of(message: bytes) -> int:
    """The stamp [ns] of a serialised message that begins with a stamp or a std_msgs/Header."""
    seconds, nanoseconds = _STAMP_ORDERS[message[1] & 1].unpack_from(message, _ENCAPSULATION)
    return int(seconds) * NANOSECONDS + int(nanoseconds)


def stamp_misfit(stamp: int) -> MessageError | None:
    """Error of a state's stamp [ns] that no answer could carry; None where one can."""
    if 0 <= stamp < _LATEST_STAMP:
        return None
    return MessageError(f"a state is stamped {stamp} ns; allowed: 0 to {_LATEST_STAMP}")


def array_of(message: bytes) -> tuple[int, Array]:
    """`layout.data_offset` and `data`, a view if aligned, of a serialised std_msgs/Float64MultiArray.

    Raises:
        MessageError: the message is damaged.
    """
    if not message[1] & 1:
        read = deserialize_message(message, Float64MultiArray)
        return int(read.layout.data_offset), np.array(read.data, dtype=np.float64)

    def word(at: int) -> tuple[int, int]:
        at += -(at - _ENCAPSULATION) % _LENGTH.size
        return int(_LENGTH.unpack_from(message, at)[0]), at + _LENGTH.size

    try:
        dimensions, at = word(_ENCAPSULATION)
        for _ in range(dimensions):
            length, at = word(at)
            _, at = word(at + length)
            _, at = word(at)
        offset, at = word(at)
        count, at = word(at)
        at += -(at - _ENCAPSULATION) % _NUMBER.itemsize
        return offset, np.frombuffer(message, _NUMBER, count, at) if count else np.zeros(0)
    except (struct.error, ValueError) as error:
        raise MessageError(f"an array in a message of {len(message)} bytes cannot be read: {error}") from error


class Template:
    """Positions of stamp and numbers in one kind of serialised message."""

    def __init__(self, message: bytes, layout: Layout) -> None:
        """Learn the places of the fields behind the stamp from a message of the kind.

        Raises:
            MessageError: the message is big-endian, or shorter than its layout.
        """
        if not message[1] & 1:
            raise MessageError("a message in big-endian CDR has no template")
        self._bytes = bytearray(message)
        self._parts: dict[str, tuple[int, int]] = {}
        self._compared = [slice(0, _STAMP.start)]
        self._at = _STAMP.stop
        try:
            for field in layout:
                self._walk(field)
        except struct.error as error:
            raise MessageError(f"a message of {len(message)} bytes is shorter than its layout") from error
        if not self._at <= len(message):
            raise MessageError(f"a message of {len(message)} bytes is shorter than its layout")
        self._kept = struct.Struct("".join(f"{b - a}{kind}" for a, b, kind in self._pieces(len(message))))
        self._fixed = self._kept.unpack(message)

    def fits(self, message: bytes) -> bool:
        """True if a message differs from the template only in stamp, numbers and padding."""
        return len(message) == self._kept.size and self._kept.unpack(message) == self._fixed

    def size(self, part: str) -> int:
        """Count of numbers of a part."""
        return self._parts[part][1]

    def read(self, message: bytes, part: str) -> Array:
        """The numbers of a part of a message that fits."""
        begin, size = self._parts[part]
        return np.frombuffer(message, _NUMBER, size, begin).copy()

    def written(self, stamp: int, **parts: Array) -> bytes:
        """A serialised message with that stamp [ns] and those numbers."""
        seconds, nanoseconds = divmod(stamp, NANOSECONDS)
        _STAMP_ORDERS[1].pack_into(self._bytes, _STAMP.start, seconds, nanoseconds)
        for name, values in parts.items():
            begin, size = self._parts[name]
            self._bytes[begin : begin + _NUMBER.itemsize * size] = values.astype(_NUMBER, copy=False).tobytes()
        return bytes(self._bytes)

    def _walk(self, field: Numbers | str) -> None:
        if isinstance(field, Numbers):
            size = self._length() if field.size is None else field.size
            if size:
                self._align(_NUMBER.itemsize)
            self._parts[field.name] = (self._at, size)
            self._at += _NUMBER.itemsize * size
        elif field == TEXTS:
            for _ in range(self._length()):
                self._keep(self._length())
        elif field == TEXT:
            self._keep(self._length())
        else:
            self._align(_LENGTH.size)
            self._keep(_LENGTH.size)

    def _length(self) -> int:
        """A length, which belongs to the kind."""
        self._align(_LENGTH.size)
        (length,) = _LENGTH.unpack_from(self._bytes, self._at)
        self._keep(_LENGTH.size)
        return int(length)

    def _keep(self, count: int) -> None:
        before, end = self._compared[-1], self._at + count
        if before.stop == self._at:
            self._compared[-1] = slice(before.start, end)
        else:
            self._compared.append(slice(self._at, end))
        self._at = end

    def _pieces(self, length: int) -> Iterator[tuple[int, int, str]]:
        """Begin, end and kind, in the language of :mod:`struct`, of what is compared and what is skipped."""
        at = 0
        for kept in self._compared:
            yield at, kept.start, "x"
            yield kept.start, kept.stop, "s"
            at = kept.stop
        yield at, length, "x"

    def _align(self, size: int) -> None:
        self._at += -(self._at - _ENCAPSULATION) % size


_STILL = RobotState(
    0.0, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), *(np.zeros(n) for n in (3, 3, N_JOINTS, N_JOINTS))
)
_JOINT_STATE: Layout = (TEXT, TEXTS, Numbers("position"), Numbers("velocity"), Numbers("effort"))
"""Fields of a sensor_msgs/JointState behind its stamp; then nav_msgs/Odometry and trajectory_msgs/JointTrajectory."""

_ODOMETRY: Layout = (
    TEXT,
    TEXT,
    Numbers("pose", 7),
    Numbers("pose_covariance", 36),
    Numbers("twist", 6),
    Numbers("twist_covariance", 36),
)
_IMU: Layout = (TEXT, Numbers("orientation", 13), Numbers("sample", 15), Numbers("covariance", 9))
"""Fields of a sensor_msgs/Imu; the sample is a rate, its covariance, and a force."""

_MOTION = ("position", "velocity", "effort")
_POINT = tuple(Numbers(name) for name in ("positions", "velocities", "accelerations", "effort"))
_COMMAND: Layout = (TEXT, TEXTS, WORD, *_POINT, WORD, WORD)


class StateWriter:
    """Writes robot states as joint states and odometry."""

    def __init__(self) -> None:
        """Make the templates."""
        joints = joint_state_message(_STILL, np.zeros(N_JOINTS))
        self._joints = Template(serialize_message(joints), _JOINT_STATE)
        self._odometry = Template(serialize_message(odometry_message(_STILL)), _ODOMETRY)

    def joint_states(self, stamp: int, state: RobotState, torques: Array) -> bytes:
        """A sensor_msgs/JointState of that stamp [ns], the torques applied (12,) [N m] as effort."""
        return self._joints.written(
            stamp, position=state.joint_positions, velocity=state.joint_velocities, effort=torques
        )

    def odometry(self, stamp: int, state: RobotState) -> bytes:
        """A nav_msgs/Odometry of that stamp [ns]; covariances stay zero: unknown."""
        return self._odometry.written(
            stamp,
            pose=np.concatenate([state.position, state.orientation]),
            twist=np.concatenate([state.linear_velocity, state.angular_velocity]),
        )


class StateReader:
    """Reads robot states from serialised joint states and odometry."""

    def __init__(self) -> None:
        """No message has been read."""
        self._joints: Template | None = None
        self._order: NDArray[np.int64] | None = None
        self._odometry: Template | None = None

    def read(self, joints: bytes, odometry: bytes, time: float) -> RobotState:
        """The state of a joint state and odometry, at `time` [s].

        Raises:
            MessageError: as :func:`contact_ddp_ros.ros.conversions.robot_state`.
        """
        first, second = self._joints, self._odometry
        if first is None or second is None or not (first.fits(joints) and second.fits(odometry)):
            return self._learn(joints, odometry, time)
        pose, twist = second.read(odometry, "pose"), second.read(odometry, "twist")
        state = RobotState(
            time=time,
            position=pose[:3],
            orientation=pose[3:],
            linear_velocity=twist[:3],
            angular_velocity=twist[3:],
            joint_positions=first.read(joints, "position")[self._order],
            joint_velocities=first.read(joints, "velocity")[self._order],
        )
        check_state(state)
        return state

    def _learn(self, joints: bytes, odometry: bytes, time: float) -> RobotState:
        first, second = deserialize_message(joints, JointState), deserialize_message(odometry, Odometry)
        state = robot_state(first, second, time)
        with contextlib.suppress(MessageError):  # read as objects every time, then
            self._joints, self._odometry = Template(joints, _JOINT_STATE), Template(odometry, _ODOMETRY)
        self._order = joint_order(first.name)
        return state


class ImuReader:
    """Reader of joint states and an IMU's sample, from serialised messages."""

    def __init__(self) -> None:
        """No message has been read."""
        self._joints: Template | None = None
        self._order: NDArray[np.int64] | None = None
        self._imu: Template | None = None

    def read(self, joints: bytes, imu: bytes, time: float) -> tuple[ImuSample, Array, Array, Array]:
        """Sample, and positions (12,) [rad], velocities (12,) [rad/s] and torques (12,) [N m] of the joints, at `time`.

        Raises:
            MessageError: a joint or its effort is missing, or a number is not finite.
        """
        first, second = self._joints, self._imu
        if first is None or second is None or not (first.fits(joints) and second.fits(imu)):
            return self._learn(joints, imu, time)
        parts = [first.read(joints, name) for name in _MOTION]
        sample = second.read(imu, "sample")
        if second.read(imu, "covariance")[0] == UNKNOWN or not np.isfinite(np.concatenate([*parts, sample])).all():
            return self._learn(joints, imu, time)
        positions, velocities, torques = (part[self._order] for part in parts)
        return ImuSample(time, sample[:3], sample[-3:]), positions, velocities, torques

    def _learn(self, joints: bytes, imu: bytes, time: float) -> tuple[ImuSample, Array, Array, Array]:
        message = deserialize_message(joints, JointState)
        order = joint_order(message.name)
        parts = [np.array(getattr(message, name), float) for name in _MOTION]
        for name, part in zip(_MOTION, parts, strict=True):
            if len(part) != len(message.name) or not np.isfinite(part).all():
                found = f"{len(part)} numbers" if np.isfinite(part).all() else "a number that is not finite"
                raise MessageError(
                    f"joint_states holds {found} of {name} for {len(message.name)} joints; the estimator needs all"
                )
        positions, velocities, torques = (part[order] for part in parts)
        sample = imu_sample(deserialize_message(imu, Imu), time)
        with contextlib.suppress(MessageError):  # read as objects every time, then
            self._joints, self._imu = Template(joints, _JOINT_STATE), Template(imu, _IMU)
        self._order = order
        return sample, positions, velocities, torques


class CommandWriter:
    """Writes joint commands as messages."""

    def __init__(self) -> None:
        """Make the templates: one with positions, one for damping."""
        zeros, stamp = np.zeros(N_JOINTS), to_stamp(0.0)
        following = joint_command_message(JointCommand(zeros, zeros, zeros), stamp)
        damping = joint_command_message(JointCommand.damping(N_JOINTS), stamp)
        self._following = Template(serialize_message(following), _COMMAND)
        self._damping = Template(serialize_message(damping), _COMMAND)

    def message(self, stamp: int, command: JointCommand) -> bytes:
        """A trajectory_msgs/JointTrajectory of one point that answers the state of that stamp [ns]."""
        if command.positions is None:
            return self._damping.written(stamp, velocities=command.velocities, effort=command.torques)
        return self._following.written(
            stamp, positions=command.positions, velocities=command.velocities, effort=command.torques
        )


class CommandReader:
    """Reads joint commands from serialised messages."""

    def __init__(self) -> None:
        """No message has been read."""
        self._known: list[tuple[Template, NDArray[np.int64]]] = []

    def read(self, message: bytes) -> tuple[int, JointCommand]:
        """The stamp [ns] of the state that a command answers, and the command.

        Raises:
            MessageError: as :func:`contact_ddp_ros.ros.conversions.joint_command`.
        """
        stamp = stamp_of(message)
        for template, order in self._known:
            if template.fits(message):
                command = JointCommand(
                    template.read(message, "positions")[order] if template.size("positions") else None,
                    template.read(message, "velocities")[order],
                    template.read(message, "effort")[order],
                )
                check_command(command)
                return stamp, command
        return stamp, self._learn(message)

    def _learn(self, message: bytes) -> JointCommand:
        read = deserialize_message(message, JointTrajectory)
        command = joint_command(read)
        with contextlib.suppress(MessageError):
            known = Template(message, _COMMAND), joint_order(read.joint_names)
            self._known = [*self._known[-1:], known]  # one that damps and one that follows
        return command
