"""Sensor logs of others: IMU, joints and odometry from a ROS 1 or ROS 2 bag, MCAP file or folder, or LCM log.

Joints may come in any order, in parts and beside others; each is interpolated to the stamps of the IMU.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import LinkError, ReplayError
from contact_ddp_ros.control.estimation.state_estimator import StateEstimator
from contact_ddp_ros.plants.lcm.codec import DEFINITIONS, LAYOUTS, Frame, decode
from contact_ddp_ros.plants.lcm.conventions import imu_sample
from contact_ddp_ros.plants.lcm.transport import logged
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.state import ImuSample, RobotState

Array = NDArray[np.float64]

IMU, JOINTS, ODOMETRY = "sensor_msgs/msg/Imu", "sensor_msgs/msg/JointState", "nav_msgs/msg/Odometry"

Rows = dict[str, list[tuple[float, Any]]]
"""Stamps [s] and numbers of the messages, by their type."""

_OVERLAP = 0.9
"""Least share of the IMU's samples that have joints before and after them."""


@dataclass(frozen=True)
class SensorLog:
    """Sensors of a robot over time; times in seconds from the first IMU sample.

    Attributes:
        times: (N,) of the IMU's samples.
        rates, forces: (N, 3) angular rate [rad/s] and specific force [m/s^2] in the axes of the IMU.
        positions, velocities, efforts: (N, 12) of the joints, in the order of JOINT_NAMES [rad, rad/s, N m].
        odometry: (M, 11) time, position, orientation (x, y, z, w), linear velocity in trunk axes; empty without one.
    """

    times: Array
    rates: Array
    forces: Array
    positions: Array
    velocities: Array
    efforts: Array
    odometry: Array

    def states(self, estimator: StateEstimator) -> Iterator[RobotState]:
        """Estimated state at every sample of the IMU, which must sit at the trunk's origin, in its axes."""
        for row, time in enumerate(self.times.tolist()):
            sample = ImuSample(time, self.rates[row], self.forces[row])
            yield estimator.update(sample, self.positions[row], self.velocities[row], self.efforts[row])


def read_log(path: Path, topics: dict[str, str] | None = None) -> SensorLog:
    """Sensors from a bag (the folder of a ROS 2 bag, an MCAP file's folder, a ROS 1 bag file) or a file of lcm-logger.

    Args:
        path: of the log.
        topics: names by message type, for a type that has several topics in the log; of an LCM log, channels.

    Raises:
        ReplayError: the log cannot be read, lacks a topic, a joint or the joints' efforts, or has several topics of a
            type and none was named.
    """
    from rosbags.highlevel import AnyReaderError

    try:
        rows = (_lcm_rows if _is_lcm(path) else _bag_rows)(path, topics or {})
    except (AnyReaderError, ImportError, LinkError, OSError, KeyError, ValueError) as error:
        raise ReplayError(f"cannot read the log {path}: {error}") from error
    imu, joints = _sorted(path, IMU, rows[IMU]), rows[JOINTS]
    _check_overlap(path, imu[:, 0], np.array([stamp for stamp, _ in joints]))
    positions, velocities, efforts = (_joint_series(path, joints, column, imu[:, 0]) for column in range(3))
    odometry = _sorted(path, ODOMETRY, rows[ODOMETRY]) if rows[ODOMETRY] else np.empty((0, 11))
    start = float(imu[0, 0])
    odometry[:, 0] -= start
    return SensorLog(imu[:, 0] - start, imu[:, 1:4], imu[:, 4:7], positions, velocities, efforts, odometry)


def _bag_rows(path: Path, topics: Mapping[str, str]) -> Rows:
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        found = _chosen([(one.msgtype, one.topic) for one in reader.connections], topics)
        rows: Rows = {kind: [] for kind in _ROWS}
        chosen = [one for one in reader.connections if one.topic == found.get(one.msgtype)]
        for connection, _, raw in reader.messages(chosen):
            message = reader.deserialize(raw, connection.msgtype)
            rows[connection.msgtype].append((_stamp(message), _ROWS[connection.msgtype](message)))
    return rows


def _is_lcm(path: Path) -> bool:
    """True for a file that begins as an LCM log does."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_LCM_SYNC)) == _LCM_SYNC


def _lcm_rows(path: Path, channels: Mapping[str, str]) -> Rows:
    """Rows of the frames on the channels of the robot's layouts; stamps are those of the logger."""
    series: dict[tuple[str, str], list[tuple[float, Any]]] = {}
    packets: int | None = None
    for event in logged(path):
        if event.channel not in _LCM_CHANNELS:
            continue
        frame = decode(event.data, DEFINITIONS)
        for kind, row in _frame_rows(frame):
            if kind == IMU:
                counted = frame.values.get("good_packets", event.eventnum)
                if counted == packets:
                    continue
                packets = counted
            series.setdefault((kind, event.channel), []).append((1e-6 * event.timestamp, row))
    found = _chosen(list(series), channels)
    return {kind: series.get((kind, found[kind]), []) for kind in _ROWS}


def _frame_rows(frame: Frame) -> Iterator[tuple[str, Any]]:
    """Message types in whose place a frame stands, and their numbers."""
    if "tau_est" in frame.values:
        columns = np.stack([frame.array(name) for name in ("q", "qd", "tau_est")], axis=1)
        yield JOINTS, dict(zip(JOINT_NAMES, columns.tolist(), strict=True))
    if "vBody" in frame.values:
        yield ODOMETRY, [*frame.array("p"), *np.roll(frame.array("quat"), -1), *frame.array("vBody")]
    if (sample := imu_sample(frame, 0.0)) is not None:
        yield IMU, [*sample.angular_velocity, *sample.specific_force]


_LCM_CHANNELS = {channel for one in LAYOUTS.values() for channel in (one.leg_channel, one.estimate_channel, *one.imus)}
"""Channels of the robot's sensors and estimate."""

_LCM_SYNC = b"\xed\xa1\xda\x01"
"""First bytes of every event of an LCM log."""


def _check_overlap(path: Path, imu: Array, joints: Array) -> None:
    """Refuse joints whose stamps leave most of the IMU's samples out, as those of another clock do."""
    first, last = (joints.min(), joints.max()) if len(joints) else (np.inf, -np.inf)
    share = float(np.mean((imu >= first) & (imu <= last)))
    if share < _OVERLAP:
        raise ReplayError(
            f"the log {path} has joints from {first:.3f} to {last:.3f} s and the IMU from {imu[0]:.3f} to "
            f"{imu[-1]:.3f} s: {100 * share:.0f} % of its samples have joints; allowed: {100 * _OVERLAP:.0f} % or more"
        )


def _chosen(there: Sequence[tuple[str, str]], wanted: Mapping[str, str]) -> dict[str, str]:
    """Topics by message type, out of the types and topics that are there; empty for a type that is not."""
    return {kind: _topic({topic for one, topic in there if one == kind}, kind, wanted.get(kind)) for kind in _ROWS}


def _topic(there: set[str], kind: str, wanted: str | None) -> str:
    names = sorted(there)
    if wanted is not None:
        if wanted not in names:
            raise ReplayError(f"the log has no {kind} on {wanted}; it has them on {', '.join(names) or 'no topic'}")
        return wanted
    if len(names) > 1:
        raise ReplayError(f"the log has {kind} on {', '.join(names)}; name one")
    if not names and kind != ODOMETRY:
        raise ReplayError(f"the log has no topic of {kind}; it needs one of {IMU} and one of {JOINTS}, with efforts")
    return names[0] if names else ""


def _stamp(message: Any) -> float:
    stamp = message.header.stamp
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)


def _vector(message: Any, names: str = "xyz") -> list[float]:
    return [float(getattr(message, name)) for name in names]


_ROWS: dict[str, Callable[[Any], Any]] = {
    IMU: lambda message: [*_vector(message.angular_velocity), *_vector(message.linear_acceleration)],
    JOINTS: lambda message: {
        name: [
            float(part[k]) if k < len(part) else np.nan for part in (message.position, message.velocity, message.effort)
        ]
        for k, name in enumerate(message.name)
    },
    ODOMETRY: lambda message: [
        *_vector(message.pose.pose.position),
        *_vector(message.pose.pose.orientation, "xyzw"),
        *_vector(message.twist.twist.linear),
    ],
}
"""Numbers of a message, by its type."""


def _sorted(path: Path, kind: str, rows: list[tuple[float, list[float]]]) -> Array:
    """(N, 1 + n) of finite rows with their stamps, in the order of these, each once."""
    table = np.array([[stamp, *row] for stamp, row in rows] or np.empty((0, 1)))
    if not np.isfinite(table).all():
        raise ReplayError(f"the log {path} has {kind} with values that are not finite")
    _, first = np.unique(table[:, 0], return_index=True)
    if len(first) < 2:
        raise ReplayError(f"the log {path} needs {kind} at 2 or more different times; it has {len(first)}")
    return table[first]


def _joint_series(path: Path, rows: list[tuple[float, dict[str, list[float]]]], column: int, times: Array) -> Array:
    """(N, 12) positions, velocities or efforts of the joints at given times."""
    series = np.empty((len(times), len(JOINT_NAMES)))
    for k, name in enumerate(JOINT_NAMES):
        known = [(stamp, joints[name][column]) for stamp, joints in rows if name in joints]
        table = np.array(known).reshape(-1, 2)
        table = table[np.isfinite(table).all(axis=1)]
        if len(table) < 2:
            kind = ("position", "velocity", "effort")[column]
            names = sorted({one for _, joints in rows for one in joints})
            needed = f"needed are those from {JOINT_NAMES[0]} to {JOINT_NAMES[-1]}"
            raise ReplayError(f"the log {path} has no {kind} of {name}; its joints are {', '.join(names)}; {needed}")
        order = np.argsort(table[:, 0], kind="stable")
        series[:, k] = np.interp(times, table[order, 0], table[order, 1])
    return series
