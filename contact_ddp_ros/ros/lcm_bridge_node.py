"""The bridge between ROS 2 and the robot over LCM (:mod:`contact_ddp_ros.ros.bridge_node`).

Where the robot tells what its drives are commanded, that is compared with what was sent
(:mod:`contact_ddp_ros.plants.lcm.execution`), and the controller is told of every change.
"""

import math
import sys
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, String

from contact_ddp_ros.base.errors import LinkError, MessageError
from contact_ddp_ros.plants.lcm import conventions
from contact_ddp_ros.plants.lcm.codec import (
    EMULATOR_TICK,
    LAYOUTS,
    TARGETS_CHANNEL,
    TICK_CHANNEL,
    Frame,
    decode,
)
from contact_ddp_ros.plants.lcm.execution import ExecutionWatch
from contact_ddp_ros.plants.lcm.measurements import Measurement, MeasurementReader
from contact_ddp_ros.plants.lcm.transport import Link
from contact_ddp_ros.robot.joints import FOOT_NAMES
from contact_ddp_ros.robot.state import DriveGains, JointCommand
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.bridge_node import BridgeNode
from contact_ddp_ros.ros.conversions import contacts
from contact_ddp_ros.ros.node_config import BridgeNodeConfig
from contact_ddp_ros.ros.reports import TickRecord
from contact_ddp_ros.ros.runtime import Part, publisher, run_parts

NAME = "bridge"

_REMEMBERED = 5000
"""Own frames that are known again when they come back: of longer than a busy machine leaves frames waiting."""


class LcmBridgeNode(BridgeNode):
    """Passes states from the robot and commands to it."""

    def __init__(self, node: Node) -> None:
        """Open the link and build the topics.

        Raises:
            ContactDdpError: a parameter, the robot's description or the link is not usable.
        """
        self._watch = ExecutionWatch()
        self._execution = ""
        self._own: dict[bytes, None] = {}
        self._stranger = False
        self._count = 0
        self._contacts = conventions.contact_phases((True,) * len(FOOT_NAMES))
        self._measured: Measurement | None = None
        self._imu_age = math.nan
        super().__init__(node, BridgeNodeConfig())
        self._inlet.subscribe(io.CONTACTS, self._on_contacts)

    def _open(self) -> str:
        """Subscribe to the robot's channels, and to what only an emulator tells where it is one."""
        config = self._config
        self._frames = MeasurementReader(self._robot, config.node.layout)
        self._executions = publisher(self.node, io.EXECUTION)
        self._executions.publish(String())
        self._link = Link(config.link)
        forced = LAYOUTS.get(config.node.layout)
        layouts = LAYOUTS.values() if forced is None else (forced,)
        if self._simulated:
            self._link.subscribe(TICK_CHANNEL, self._on_tick_frame)
        self._link.subscribe(TARGETS_CHANNEL, self._on_targets)
        for channel in {layout.leg_channel for layout in layouts}:
            self._link.subscribe(channel, lambda data: self._on_frame(self._frames.leg_data, data))
        for channel in {layout.estimate_channel for layout in layouts}:
            self._link.subscribe(channel, lambda data: self._on_frame(self._frames.estimate, data))
        for channel in {channel for layout in layouts for channel in layout.imus}:
            self._link.subscribe(channel, lambda data: self._on_frame(self._frames.imu, data))
        for channel in {layout.command_channel for layout in layouts} - {""}:
            self._link.subscribe(channel, self._on_executed)
        where = f"through {config.link.interface}" if config.link.interface else "on this machine only"
        return f"LCM {config.link.group}:{config.link.port}, {where}"

    def _hear(self, timeout: float) -> None:
        """Reception: of states that have waited only the newest counts."""
        self._link.receive(timeout)
        measured, self._measured = self._measured, None
        if measured is not None:
            self._publish(measured.state, measured.torques, measured.imu)
            self._imu_age = math.nan if measured.imu is None else measured.state.time - measured.imu.time

    def _on_tick_frame(self, data: bytes) -> None:
        tick = decode(data, [EMULATOR_TICK])
        self._frames.forget()
        record = _tick_record(tick)
        self._on_tick(record.state.time, record)

    def _on_targets(self, data: bytes) -> None:
        """Everybody on the link hears everybody: targets that are not ours are a second commander's."""
        self._stranger = self._stranger or data not in self._own

    def _on_executed(self, data: bytes) -> None:
        try:
            execution = self._watch.executed(data, self._now())
        except LinkError as error:
            self._refuse(f"frame refused: {error}")
            return
        if execution != self._execution:
            self._execution = execution
            self._executions.publish(String(data=execution))

    def _on_frame(self, take: Any, data: bytes) -> None:
        if self._simulated and self._tick is None:
            return
        try:
            measured = take(data, self._stamp())
        except LinkError as error:
            self._refuse(f"frame refused: {error}")
            return
        self._measured = measured or self._measured

    def _on_contacts(self, message: Float64MultiArray) -> None:
        try:
            self._contacts = conventions.contact_phases(contacts(message))
        except MessageError as error:
            self._refuse(f"contacts refused: {error}")

    def _transmit(self, command: JointCommand, gains: DriveGains, now: float) -> None:
        if self._stranger:
            self._stranger = False
            self._guard.trip("somebody else sends torque targets, too", now)
            command, gains = self._guard.targets(now)
        self._count += 1
        frame = conventions.targets_frame((command, gains), self._contacts, self._guard.stamp, self._count)
        self._watch.sent(frame, now)
        self._own[frame] = None
        if len(self._own) > _REMEMBERED:
            del self._own[next(iter(self._own))]
        self._link.publish(TARGETS_CHANNEL, frame)

    def _details(self) -> dict[str, Any]:
        return {
            "layout": "" if self._frames.layout is None else self._frames.layout.name,
            "age of the IMU's sample [ms]": round(1e3 * self._imu_age, 1),
            "execution": self._execution,
        }

    def _silence(self) -> str:
        return super()._silence() if self._frames.layout is None else "no state that can be believed"


def _tick_record(tick: Frame) -> TickRecord:
    return TickRecord(
        state=conventions.tick_state(tick),
        torques=tick.array("torques"),
        foot_heights=tick.array("foot_heights"),
        contact_forces=tick.array("contact_forces").reshape(len(FOOT_NAMES), -1),
        wall_time=tick.values["wall_time"],
        late=bool(tick.values["late"]),
    )


PART = Part(NAME, LcmBridgeNode)


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    return run_parts([PART], arguments)


if __name__ == "__main__":
    sys.exit(main())
