"""Reports of the nodes for people and recordings: diagnostics, solves, events, ticks."""

import math
import os
import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from numpy.typing import NDArray
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from std_msgs.msg import Float64, Float64MultiArray, MultiArrayDimension

from contact_ddp_ros.base.errors import MessageError, short_numbers
from contact_ddp_ros.robot.joints import FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.ros import interfaces
from contact_ddp_ros.ros.conversions import doubles
from contact_ddp_ros.ros.runtime import publisher

Array = NDArray[np.float64]

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR

PROCESSOR = "processor [cores]"
"""Key of the processor time in every node's diagnostics."""

PROCESS = "process"
"""Key of the process id there: nodes that share a process report its processor time each."""

_DIAGNOSTICS_PERIOD = 1.0
"""Time between diagnostics [s]."""

_TOGETHER = 10
"""Ticks that travel in one record."""

_TICK_PARTS = {
    "time": 1,
    "position": 3,
    "orientation": 4,
    "linear_velocity": 3,
    "angular_velocity": 3,
    "joint_positions": len(JOINT_NAMES),
    "joint_velocities": len(JOINT_NAMES),
    "torques": len(JOINT_NAMES),
    "foot_heights": len(FOOT_NAMES),
    "contact_forces": 3 * len(FOOT_NAMES),
    "wall_time": 1,
    "late": 1,
}
"""Columns of a simulator/record message: name and size of each part, in order. A row is a control tick."""

_TICK_ENDS = np.cumsum(list(_TICK_PARTS.values()))


@dataclass(frozen=True)
class TickRecord:
    """One control tick of the simulator.

    Attributes:
        state: as published.
        torques: (12,) applied in the step before [N m].
        foot_heights: (4,) [m].
        contact_forces: (4, 3) in odom [N].
        wall_time: of this machine's monotonic clock [s].
        late: whether the tick started more than a period late (real time only).
    """

    state: RobotState
    torques: Array
    foot_heights: Array
    contact_forces: Array
    wall_time: float
    late: bool


def ticks_message(records: Sequence[TickRecord]) -> Float64MultiArray:
    """A message with one row per tick and labelled columns."""
    rows = np.concatenate([_row(record) for record in records]).reshape(len(records), -1)
    message = Float64MultiArray(data=doubles(rows))
    message.layout.dim = [
        MultiArrayDimension(label="tick", size=rows.shape[0], stride=rows.size),
        MultiArrayDimension(label=",".join(_TICK_PARTS), size=rows.shape[1], stride=rows.shape[1]),
    ]
    return message


def tick_records(message: Float64MultiArray) -> list[TickRecord]:
    """The ticks of a message.

    Raises:
        MessageError: the size is wrong.
    """
    width = sum(_TICK_PARTS.values())
    if len(message.data) % width:
        raise MessageError(f"tick records of {len(message.data)} numbers; allowed: multiples of {width}")
    return [_tick(row) for row in np.array(message.data, dtype=np.float64).reshape(-1, width)]


class TickRecords:
    """Publishes the ticks of a simulator, several per message to save processor time."""

    def __init__(self, node: Node) -> None:
        self._publisher = publisher(node, interfaces.RECORD)
        self._records: list[TickRecord] = []

    @property
    def wanted(self) -> bool:
        """True if there is a subscriber; without one, pending ticks are dropped."""
        if self._publisher.get_subscription_count():
            return True
        self._records.clear()
        return False

    def keep(self, record: TickRecord, again: bool = False) -> None:
        """Add a tick if there is a subscriber; a repeated one (`again`) publishes the pending ticks."""
        if not self.wanted:
            return
        if not (again and self._records):
            self._records.append(record)
        if again or len(self._records) >= _TOGETHER:
            self.send()

    def send(self) -> None:
        """Publish the pending ticks."""
        if self._records:
            self._publisher.publish(ticks_message(self._records))
            self._records.clear()


def _row(record: TickRecord) -> Array:
    state = record.state
    return np.concatenate(
        [
            [state.time],
            state.position,
            state.orientation,
            state.linear_velocity,
            state.angular_velocity,
            state.joint_positions,
            state.joint_velocities,
            record.torques,
            record.foot_heights,
            record.contact_forces.ravel(),
            [record.wall_time, float(record.late)],
        ]
    )


def _tick(row: Array) -> TickRecord:
    parts = dict(zip(_TICK_PARTS, np.split(row, _TICK_ENDS[:-1])))
    names = ("position", "orientation", "linear_velocity", "angular_velocity", "joint_positions", "joint_velocities")
    state = RobotState(float(parts["time"][0]), **{name: parts[name] for name in names})
    forces = parts["contact_forces"].reshape(-1, 3)
    wall_time, late = float(parts["wall_time"][0]), bool(parts["late"][0])
    return TickRecord(state, parts["torques"], parts["foot_heights"], forces, wall_time, late)


def status(name: str, level: bytes, text: str, values: Mapping[str, Any]) -> DiagnosticStatus:
    """A DiagnosticStatus with its values as text."""
    pairs = [KeyValue(key=key, value=_text(value)) for key, value in values.items()]
    return DiagnosticStatus(name=name, level=level, message=short_numbers(text), hardware_id="", values=pairs)


def status_values(message: DiagnosticStatus) -> dict[str, str]:
    """Values of a DiagnosticStatus by key."""
    return {pair.key: pair.value for pair in message.values}


class Diagnostics:
    """Publishes the result of `report` once a second of the wall clock."""

    def __init__(self, node: Node, report: Any) -> None:
        """`report` returns (level, text, values); the processor time of the process is added to them."""
        self._spent = clock.process_time(), clock.monotonic()
        self._node = node
        self._report = report
        self._publisher = publisher(node, interfaces.DIAGNOSTICS)
        node.create_timer(_DIAGNOSTICS_PERIOD, self._publish, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _publish(self) -> None:
        level, text, values = self._report()
        values = {**values, PROCESS: os.getpid(), PROCESSOR: self._processor()}
        message = DiagnosticArray(status=[status(self._node.get_fully_qualified_name(), level, text, values)])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def _processor(self) -> float:
        """Processors kept busy by all threads of this process since the last report."""
        (processed, then), self._spent = self._spent, (clock.process_time(), clock.monotonic())
        elapsed = self._spent[1] - then
        return round((self._spent[0] - processed) / elapsed, 3) if elapsed > 0.0 else 0.0


class Scalar:
    """A number for plots, published only if there is a subscriber."""

    def __init__(self, node: Node, topic: interfaces.Topic) -> None:
        self._publisher = publisher(node, topic)

    def publish(self, value: float) -> None:
        """Publish a value."""
        if self._publisher.get_subscription_count():
            self._publisher.publish(Float64(data=float(value)))


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return repr(float(value)) if math.isfinite(value) else str(float(value))
    return short_numbers(str(value))
