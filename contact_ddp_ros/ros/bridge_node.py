"""Base of the nodes between ROS 2 and a robot that takes torque targets: states out, joint commands in.

One thread waits for the robot's messages and publishes each state as soon as it is complete, stamped with the time of
its receipt. The main thread waits for joint commands and answers each with torque targets at once; without commands it
goes on sending at the same rate, and after a while it sends damping (:mod:`contact_ddp_ros.plants.guard`). After that
it publishes no state for a moment, so that the controller finds its states stale and damps as well: both are armed
again by one request to stand.

With `use_sim_time` the robot is a simulated one that sends its own clock; stamps and `/clock` are then that clock's,
and an emulator's records are passed on. In lock-step, which needs that clock, the emulator waits for the targets that
carry the stamp of its state. Time is held by sending nothing.
"""

import time as clock
from threading import Event, Thread
from typing import Any

from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool

from contact_ddp_ros.base.errors import ContactDdpError, LinkError, ParameterError
from contact_ddp_ros.base.process import settle
from contact_ddp_ros.plants.guard import CommandGuard
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.known_pose import pose_report
from contact_ddp_ros.robot.state import DriveGains, ImuSample, JointCommand, RobotState
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import time_ns, to_stamp
from contact_ddp_ros.ros.loop_messages import stamp_of
from contact_ddp_ros.ros.plant_node import Report, RobotNode
from contact_ddp_ros.ros.reports import ERROR, OK, WARN, Diagnostics, TickRecord, TickRecords
from contact_ddp_ros.ros.runtime import publisher, serve
from contact_ddp_ros.ros.timebase import ClockPace

_LAST_FRAMES = 10
"""Damping targets at the end: a message may be lost."""

_HUSH = 0.1
"""Time without states after a trip: longer than the controller believes an old one [s]."""

_SLICE = 0.1
"""Longest wait without a look whether to end [s]."""

_CLOCK_PERIOD = 0.01
"""Time between two messages on /clock [s]."""


class BridgeNode(RobotNode):
    """Passes states from a robot and torque targets to it.

    A derived class opens the link, receives, and sends.
    """

    def __init__(self, node: Node, defaults: Any) -> None:
        """Open the link and build the topics.

        Raises:
            ContactDdpError: a parameter, the robot's description or the link is not usable.
        """
        super().__init__(node, defaults)
        config = self._config
        self._simulated = bool(node.get_parameter("use_sim_time").value)
        if config.node.lockstep and not self._simulated:
            raise ParameterError("node.lockstep needs the emulator's clock; set use_sim_time, too")
        self._known_pose = ""
        self._guard = CommandGuard(self._robot, config.drive.gains(len(LEG_NAMES)), config.guard)
        self._unsent = False
        self._tick: float | None = None
        self._pace = ClockPace(self._simulated)
        self._told_clock = -_CLOCK_PERIOD
        self._states = 0
        self._last_frame = -float("inf")
        self._told_fault: str | None = None
        self._failure: Exception | None = None
        if self._simulated:
            self._clock = publisher(node, io.CLOCK)
            self._records = TickRecords(node)
            serve(node, io.PAUSE, self._on_pause)
        where = self._open()
        self._inlet.subscribe(io.JOINT_COMMAND, self._on_command, raw=True)
        self._diagnostics = Diagnostics(node, self._report)
        self._parameters.connect(self._configure)
        node.get_logger().info(where)

    def _open(self) -> str:
        """Open the link and subscribe to what the robot sends; a text on where it leads."""
        raise NotImplementedError

    def _hear(self, timeout: float) -> None:
        """Wait up to `timeout` [s] for messages of the robot, and publish what they complete."""
        raise NotImplementedError

    def _transmit(self, command: JointCommand, gains: DriveGains, now: float) -> None:
        """Send torque targets. Raises LinkError where the network refuses them."""
        raise NotImplementedError

    def _details(self) -> dict[str, Any]:
        """Diagnostics that only this kind of robot has."""
        return {}

    def _complaint(self) -> tuple[bytes, str] | None:
        """Level and text of what is wrong with the robot, if anything."""
        return None

    def _silence(self) -> str:
        """Reason why no state has come."""
        return "the robot is silent"

    def run(self, stop: Event) -> None:
        """Pass states and commands until `stop`."""
        options = self._config.node
        Thread(target=self._receive, args=(stop,), name=self.node.get_name(), daemon=True).start()
        self.node.get_logger().info(settle(options.scheduling, live=not options.lockstep))
        while not stop.is_set() and self._failure is None:
            self._inlet.receive(options.period)
            if options.lockstep:
                if self._unsent and not self._paused:
                    self._send()
            elif self._pace.value * (clock.monotonic() - self._last_frame) >= options.period:
                self._send()
        if self._failure is not None:
            raise self._failure

    def farewell(self) -> None:
        """Command the joints to damp."""
        self._guard.trip("the bridge has ended", self._now())
        for _ in range(_LAST_FRAMES):
            self._transmit(*self._guard.targets(self._now()), self._now())
            clock.sleep(self._config.node.period)

    def _receive(self, stop: Event) -> None:
        """The thread of the robot's messages."""
        try:
            while not stop.is_set():
                self._hear(_SLICE)
        except Exception as error:  # noqa: BLE001  (handed to the main thread, which ends in damping)
            self._failure = error

    def _on_tick(self, now: float, record: TickRecord | None) -> None:
        """The simulated time [s], and what only an emulator knows of it.

        Where it is to hold, it holds already when anybody learns of it and may release it.
        """
        again = self._tick == now
        self._tick = now
        self._hold_at(self._tick)
        if not again:
            self._pace.mark(time_ns(now), clock.monotonic())
        if again or not 0.0 <= self._tick - self._told_clock < _CLOCK_PERIOD - 1e-9:
            self._told_clock = self._tick
            self._clock.publish(Clock(clock=to_stamp(self._tick)))
        if record is not None:
            self._records.keep(record, again)

    def _publish(self, state: RobotState, torques: Any, imu: ImuSample | None) -> None:
        now, tripped = self._now(), self._guard.tripped
        self._guard.measured(state, now)
        if tripped is not None and now - tripped < _HUSH and not self._config.node.lockstep:
            return
        self._states += 1
        if not self._known_pose:
            self._known_pose = pose_report(self._robot, state.joint_positions)
            self.node.get_logger().info(f"joints at first: {self._known_pose}")
        self._send_state(state, torques, imu)

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

    def _send(self) -> None:
        """Torque targets as they are to be now. Where the network refuses them the robot damps by itself."""
        if self._paused:
            return
        self._unsent = False
        self._last_frame = clock.monotonic()
        now = self._now()
        try:
            self._transmit(*self._guard.targets(now), now)
        except LinkError as error:
            self._guard.trip(str(error), now)
        fault = self._guard.fault if self._guard.tripped is not None else None
        if fault is not None and fault != self._told_fault:
            self.node.get_logger().error(f"damping until the controller damps, too: {fault}")
        self._told_fault = fault

    def _now(self) -> float:
        """A clock that does not jump: the emulator's where there is one [s]."""
        return (self._tick or 0.0) if self._simulated else clock.monotonic()

    def _stamp(self) -> float:
        """Stamp of a state that comes now [s]."""
        return self._now() if self._simulated else 1e-9 * float(self.node.get_clock().now().nanoseconds)

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._paused = request.data
        response.success, response.message = True, "commands are held back" if request.data else "commands pass"
        return response

    def _configure(self, config: Any) -> None:
        self._guard.tune(config.drive.gains(len(LEG_NAMES)), config.guard)

    def _report(self) -> Report:
        guard = self._guard
        if guard.state is not None:
            self._known_pose = pose_report(self._robot, guard.state.joint_positions)
        states, self._states = self._states, 0
        refused = self._recent.growth(self._malformed)
        values = {
            **self._details(),
            "states since the last report": states,
            "refused frames and commands": self._malformed,
            "enabled": guard.enabled,
            "fault": guard.fault or "",
            "known pose": self._known_pose,
        }
        if guard.tripped is not None:
            return ERROR, f"damping: {guard.fault}", values
        if complaint := self._complaint():
            return *complaint, values
        if not states and not self._paused:
            return WARN, self._silence(), values
        if refused:
            return WARN, f"{refused} refused frames and commands since the last report", values
        return OK, "enabled" if guard.enabled else "damping", values
