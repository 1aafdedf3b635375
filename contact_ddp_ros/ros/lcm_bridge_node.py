"""The bridge between ROS 2 and the robot: LCM frames in, states out; joint commands in, LCM frames out.

One thread waits for the robot's frames and publishes each state as soon as it is complete, stamped with the time of its
receipt. The main thread waits for joint commands and answers each with torque targets at once; without commands
it goes on sending at the same rate, and after a while it sends damping (:mod:`contact_ddp_ros.plants.lcm.guard`).
After that it publishes no state for a moment, so that the controller finds its states stale and damps as well: both are
armed again by one request to stand.

Where the robot tells what its drives are commanded, that is compared with what was sent
(:mod:`contact_ddp_ros.plants.lcm.guard`), and the controller is told of every change.

With `use_sim_time` the robot is an emulator that sends its own clock; stamps and `/clock` are then that clock's, and
its records are passed on. In lock-step, which needs that clock, the emulator waits for the targets that carry the stamp
of its state. Time is held by sending nothing.
"""

import math
import sys
import time as clock
from threading import Event, Thread
from typing import Any

from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool

from contact_ddp_ros.base.errors import ContactDdpError, LinkError, MessageError, ParameterError
from contact_ddp_ros.base.process import settle
from contact_ddp_ros.plants.lcm.codec import EMULATOR_TICK, LAYOUTS, TARGETS_CHANNEL, TICK_CHANNEL, Frame, decode
from contact_ddp_ros.plants.lcm.conventions import tick_state
from contact_ddp_ros.plants.lcm.guard import CommandGuard, ExecutionWatch
from contact_ddp_ros.plants.lcm.measurements import Measurement, MeasurementReader
from contact_ddp_ros.plants.lcm.transport import Link
from contact_ddp_ros.robot.joints import FOOT_NAMES, LEG_NAMES
from contact_ddp_ros.robot.known_pose import pose_report
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import contacts, to_stamp
from contact_ddp_ros.ros.loop_messages import stamp_of
from contact_ddp_ros.ros.node_config import BridgeNodeConfig
from contact_ddp_ros.ros.plant_node import Report, RobotNode
from contact_ddp_ros.ros.reports import ERROR, OK, WARN, Diagnostics, TickRecord, TickRecords
from contact_ddp_ros.ros.runtime import Part, publisher, run_parts, serve

NAME = "bridge"

_LAST_FRAMES = 10
"""Damping frames at the end: a frame may be lost."""

_HUSH = 0.1
"""Time without states after a trip: longer than the controller believes an old one [s]."""

_REMEMBERED = 5000
"""Own frames that are known again when they come back: of longer than a busy machine leaves frames waiting."""

_SLICE = 0.1
"""Longest wait without a look whether to end [s]."""

_CLOCK_PERIOD_NS = 10_000_000
"""Time between two messages on /clock [ns]."""


class LcmBridgeNode(RobotNode):
    """Passes states from the robot and commands to it."""

    def __init__(self, node: Node) -> None:
        """Open the link and build the topics.

        Raises:
            ContactDdpError: a parameter, the robot's description or the link is not usable.
        """
        super().__init__(node, BridgeNodeConfig())
        config = self._config
        self._simulated = bool(node.get_parameter("use_sim_time").value)
        if config.node.lockstep and not self._simulated:
            raise ParameterError("node.lockstep needs the emulator's clock; set use_sim_time, too")
        robot = self._robot
        self._frames = MeasurementReader(robot, config.node.layout)
        self._known_pose = ""
        self._guard = CommandGuard(robot, config.drive.gains(len(LEG_NAMES)), config.guard)
        self._watch = ExecutionWatch()
        self._execution = ""
        self._unsent = False
        self._own: dict[bytes, None] = {}
        self._stranger = False
        self._tick: Frame | None = None
        self._told_clock = -_CLOCK_PERIOD_NS
        self._measured: Measurement | None = None
        self._states = 0
        self._imu_age = math.nan
        self._last_frame = -float("inf")
        self._told_fault: str | None = None
        self._failure: Exception | None = None
        self._executions = publisher(node, io.EXECUTION)
        self._executions.publish(String())
        self._link = Link(config.link)
        self._listen()
        self._inlet.subscribe(io.CONTACTS, self._on_contacts)
        self._inlet.subscribe(io.JOINT_COMMAND, self._on_command, raw=True)
        self._diagnostics = Diagnostics(node, self._report)
        self._parameters.connect(self._configure)
        where = f"through {config.link.interface}" if config.link.interface else "on this machine only"
        node.get_logger().info(f"LCM {config.link.group}:{config.link.port}, {where}")

    def run(self, stop: Event) -> None:
        """Pass states and commands until `stop`."""
        options = self._config.node
        receiver = Thread(target=self._receive, args=(stop,), name="lcm", daemon=True)
        receiver.start()
        self.node.get_logger().info(settle(options.scheduling, live=not options.lockstep))
        period = self._config.node.period
        while not stop.is_set() and self._failure is None:
            self._inlet.receive(period)
            if self._config.node.lockstep:
                if self._unsent and not self._paused:
                    self._send()
            elif clock.monotonic() - self._last_frame >= period:
                self._send()
        if self._failure is not None:
            raise self._failure

    def farewell(self) -> None:
        """Command the joints to damp."""
        self._guard.trip("the bridge has ended", self._now())
        for _ in range(_LAST_FRAMES):
            self._command(self._now())
            clock.sleep(self._config.node.period)

    def _listen(self) -> None:
        """Subscribe to the robot's channels, and to what only an emulator tells where it is one."""
        forced = LAYOUTS.get(self._config.node.layout)
        layouts = LAYOUTS.values() if forced is None else (forced,)
        if self._simulated:
            self._clock = publisher(self.node, io.CLOCK)
            self._records = TickRecords(self.node)
            serve(self.node, io.PAUSE, self._on_pause)
            self._link.subscribe(TICK_CHANNEL, self._on_tick)
        self._link.subscribe(TARGETS_CHANNEL, self._on_targets)
        for channel in {layout.leg_channel for layout in layouts}:
            self._link.subscribe(channel, lambda data: self._on_frame(self._frames.leg_data, data))
        for channel in {layout.estimate_channel for layout in layouts}:
            self._link.subscribe(channel, lambda data: self._on_frame(self._frames.estimate, data))
        for channel in {channel for layout in layouts for channel in layout.imus}:
            self._link.subscribe(channel, lambda data: self._on_frame(self._frames.imu, data))
        for channel in {layout.command_channel for layout in layouts} - {""}:
            self._link.subscribe(channel, self._on_executed)

    def _receive(self, stop: Event) -> None:
        """The thread of the robot's frames: of states that have waited only the newest counts."""
        try:
            while not stop.is_set():
                self._link.receive(_SLICE)
                measured, self._measured = self._measured, None
                if measured is not None:
                    self._publish(measured)
        except Exception as error:  # noqa: BLE001  (handed to the main thread, which ends in damping)
            self._failure = error

    def _on_tick(self, data: bytes) -> None:
        """The emulator's time: where it is to hold, it holds already when anybody learns of it and may release it."""
        tick = decode(data, [EMULATOR_TICK])
        again = self._tick is not None and self._tick.values["time_ns"] == tick.values["time_ns"]
        self._tick = tick
        self._frames.forget()
        self._hold_at(self._now())
        if again or tick.values["time_ns"] - self._told_clock >= _CLOCK_PERIOD_NS:
            self._told_clock = tick.values["time_ns"]
            self._clock.publish(Clock(clock=to_stamp(self._now())))
        self._records.keep(_tick_record(tick), again)

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
            measured = take(data, self._now() if self._simulated else self._stamp())
        except LinkError as error:
            self._refuse(f"frame refused: {error}")
            return
        self._measured = measured or self._measured

    def _publish(self, measured: Measurement) -> None:
        now, tripped = self._now(), self._guard.tripped
        self._guard.measured(measured.state, now)
        if tripped is not None and now - tripped < _HUSH and not self._config.node.lockstep:
            return
        self._states += 1
        if not self._known_pose:
            self._known_pose = pose_report(self._robot, measured.state.joint_positions)
            self.node.get_logger().info(f"joints at first: {self._known_pose}")
        self._send_state(measured.state, measured.torques, measured.imu)
        self._imu_age = math.nan if measured.imu is None else measured.state.time - measured.imu.time

    def _on_command(self, message: bytes) -> None:
        now, stamp = self._now(), 1e-9 * stamp_of(message)
        try:
            _, command = self._reader.read(message)
            self._guard.command(command, stamp, now)
        except ContactDdpError as error:
            self._malformed += 1
            self._guard.trip(f"joint command refused: {error}", now, stamp)
        if self._paused:
            self._unsent = True
        else:
            self._send()

    def _on_contacts(self, message: Float64MultiArray) -> None:
        try:
            self._guard.contacts(contacts(message))
        except MessageError as error:
            self._refuse(f"contacts refused: {error}")

    def _send(self) -> None:
        """Torque targets as they are to be now. Where the network refuses them the robot damps by itself."""
        if self._paused:
            return
        self._unsent = False
        self._last_frame = clock.monotonic()
        now = self._now()
        try:
            self._command(now)
        except LinkError as error:
            self._guard.trip(str(error), now)
        fault = self._guard.fault if self._guard.tripped is not None else None
        if fault is not None and fault != self._told_fault:
            self.node.get_logger().error(f"damping until the controller damps, too: {fault}")
        self._told_fault = fault

    def _command(self, now: float) -> None:
        """Send what the guard lets pass."""
        if self._stranger:
            self._stranger = False
            self._guard.trip("somebody else sends torque targets, too", now)
        frame = self._guard.frame(now)
        self._watch.sent(frame, now)
        self._own[frame] = None
        if len(self._own) > _REMEMBERED:
            del self._own[next(iter(self._own))]
        self._link.publish(TARGETS_CHANNEL, frame)

    def _now(self) -> float:
        """A clock that does not jump: the emulator's where there is one [s]."""
        if not self._simulated:
            return clock.monotonic()
        return 0.0 if self._tick is None else 1e-9 * float(self._tick.values["time_ns"])

    def _stamp(self) -> float:
        """The clock of stamps [s]."""
        return 1e-9 * float(self.node.get_clock().now().nanoseconds)

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._paused = request.data
        response.success, response.message = True, "commands are held back" if request.data else "commands pass"
        return response

    def _configure(self, config: BridgeNodeConfig) -> None:
        self._guard.tune(config.drive.gains(len(LEG_NAMES)), config.guard)

    def _report(self) -> Report:
        guard, layout = self._guard, self._frames.layout
        if guard.state is not None:
            self._known_pose = pose_report(self._robot, guard.state.joint_positions)
        states, self._states = self._states, 0
        refused = self._recent.growth(self._malformed)
        values = {
            "layout": "" if layout is None else layout.name,
            "states since the last report": states,
            "age of the IMU's sample [ms]": round(1e3 * self._imu_age, 1),
            "refused frames and commands": self._malformed,
            "enabled": guard.enabled,
            "fault": guard.fault or "",
            "execution": self._execution,
            "known pose": self._known_pose,
        }
        if guard.tripped is not None:
            return ERROR, f"damping: {guard.fault}", values
        if not states and not self._paused:
            return WARN, "the robot is silent" if layout is None else "no state that can be believed", values
        if refused:
            return WARN, f"{refused} refused frames and commands since the last report", values
        return OK, "enabled" if guard.enabled else "damping", values


def _tick_record(tick: Frame) -> TickRecord:
    return TickRecord(
        state=tick_state(tick),
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
