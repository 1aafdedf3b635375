"""What nodes tell people and records about themselves: diagnostics, solves, events, ticks."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from numpy.typing import NDArray
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from std_msgs.msg import Float64, Float64MultiArray, MultiArrayDimension

from contact_ddp_ros.errors import MessageError
from contact_ddp_ros.nodes import interfaces
from contact_ddp_ros.nodes.conversions import doubles
from contact_ddp_ros.nodes.runtime import publisher
from contact_ddp_ros.robot.joints import FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR

_DIAGNOSTICS_PERIOD = 1.0
"""Time between diagnostics [s]."""

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
    "late": 1,
}
"""Layout of a simulator/record message: name and size of each part, in order."""


@dataclass(frozen=True)
class TickRecord:
    """One control tick of the simulator.

    Attributes:
        state: as published.
        torques: (12,) applied in the step before [N m].
        foot_heights: (4,) [m].
        contact_forces: (4, 3) in odom [N].
        late: whether the tick began more than a period late (real time only).
    """

    state: RobotState
    torques: Array
    foot_heights: Array
    contact_forces: Array
    late: bool


def tick_message(record: TickRecord) -> Float64MultiArray:
    """A tick as one labelled array."""
    state = record.state
    values = np.concatenate(
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
            [float(record.late)],
        ]
    )
    message = Float64MultiArray(data=doubles(values))
    message.layout.dim = [MultiArrayDimension(label=",".join(_TICK_PARTS), size=len(values), stride=len(values))]
    return message


def tick_record(message: Float64MultiArray) -> TickRecord:
    """The tick of a message.

    Raises:
        MessageError: the size is wrong.
    """
    values = np.array(message.data, dtype=np.float64)
    if len(values) != sum(_TICK_PARTS.values()):
        raise MessageError(f"tick record of {len(values)} numbers; allowed: {sum(_TICK_PARTS.values())}")
    ends = np.cumsum(list(_TICK_PARTS.values()))
    parts = dict(zip(_TICK_PARTS, np.split(values, ends[:-1])))
    names = ("position", "orientation", "linear_velocity", "angular_velocity", "joint_positions", "joint_velocities")
    state = RobotState(float(parts["time"][0]), **{name: parts[name] for name in names})
    forces = parts["contact_forces"].reshape(-1, 3)
    return TickRecord(state, parts["torques"], parts["foot_heights"], forces, bool(parts["late"][0]))


def status(name: str, level: bytes, text: str, values: Mapping[str, Any]) -> DiagnosticStatus:
    """A status with its values as text."""
    pairs = [KeyValue(key=key, value=_text(value)) for key, value in values.items()]
    return DiagnosticStatus(name=name, level=level, message=text, hardware_id="", values=pairs)


def status_values(message: DiagnosticStatus) -> dict[str, str]:
    """The values of a status by key."""
    return {pair.key: pair.value for pair in message.values}


class Diagnostics:
    """Publishes what `report` says once a second of the wall clock."""

    def __init__(self, node: Node, report: Any) -> None:
        """`report` returns (level, text, values)."""
        self._node = node
        self._report = report
        self._publisher = publisher(node, interfaces.DIAGNOSTICS)
        node.create_timer(_DIAGNOSTICS_PERIOD, self._publish, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _publish(self) -> None:
        level, text, values = self._report()
        message = DiagnosticArray(status=[status(self._node.get_fully_qualified_name(), level, text, values)])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


class Scalar:
    """A number for plots, sent only where somebody listens."""

    def __init__(self, node: Node, topic: interfaces.Topic) -> None:
        self._publisher = publisher(node, topic)

    def publish(self, value: float) -> None:
        """Send it."""
        if self._publisher.get_subscription_count():
            self._publisher.publish(Float64(data=float(value)))


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return repr(float(value)) if math.isfinite(value) else str(float(value))
    return str(value)
