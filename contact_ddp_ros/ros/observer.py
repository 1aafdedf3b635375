"""Commands the nodes of a run over their topics and services, and records what they publish."""

from collections import deque
from itertools import chain
from statistics import fmean
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import Twist
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.robot.policy import Policy, PolicySample
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import time_ns
from contact_ddp_ros.ros.policy_message import PolicyAnswer, policy_answer
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.reports import ERROR, PROCESS, PROCESSOR, WARN, TickRecord, status_values, tick_records
from contact_ddp_ros.ros.runtime import publisher
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import RunLog

_KEPT_POLICIES = 64
_MOVING = "move"


class Observer:
    """Records ticks, solves and events. A tick is recorded one tick late, when its policy has surely arrived."""

    def __init__(self, node: Node, options: RunOptions, log: RunLog) -> None:
        self.node = node
        self.late_ticks = 0
        self._options = options
        self._log = log
        self._delay = time_ns(options.planner_delay)
        self._policies: deque[PolicyAnswer] = deque(maxlen=_KEPT_POLICIES)
        self._modes: deque[tuple[float, str]] = deque([(-1.0, "damp")])
        self._pending: TickRecord | None = None
        self._cut = ""
        self.diagnostics: list[tuple[float, str, dict[str, str]]] = []
        """Time [s], node and values of every report while time ran."""
        self._pushes = sorted(options.pushes, key=lambda push: push.time)
        self._velocity = publisher(node, io.CMD_VEL)
        self.inlet = Receiver(node)
        # In the order in which they are looked at: a tick comes after what belongs to it.
        self.inlet.subscribe(io.POLICY, self._on_policy)
        self.inlet.subscribe(io.CONTROLLER_EVENTS, self._on_event)
        self.inlet.subscribe(io.SOLVES, self._on_solve)
        self.inlet.subscribe(io.RECORD, self._on_record)
        self.inlet.subscribe(io.DIAGNOSTICS, self._on_diagnostics)
        self.stand = node.create_client(Trigger, io.STAND.name)
        self.move = node.create_client(Trigger, io.MOVE.name)
        self.recover = node.create_client(Trigger, io.RECOVER.name)
        self.planner_parameters = node.create_client(SetParametersAtomically, "planner/set_parameters_atomically")
        self.pause = node.create_client(SetBool, io.PAUSE.name)

    @property
    def time(self) -> float:
        """Simulated time of the last tick received [s]; negative before the first."""
        return -1.0 if self._pending is None else self._pending.state.time

    @property
    def damped(self) -> float:
        """Time for which the robot has been damping [s]; 0 where it does not, or has not done anything else yet."""
        since, mode = self._modes[-1]
        return self.time - since if mode == "damp" and since >= 0.0 else 0.0

    @property
    def missing(self) -> list[str]:
        """Names of the topics and services whose endpoints have not been discovered yet."""
        services = {
            io.STAND.name: self.stand.service_is_ready(),
            io.MOVE.name: self.move.service_is_ready(),
            io.PAUSE.name: self.pause.service_is_ready(),
        }
        count = self.node.count_publishers
        topics = (io.POLICY, io.JOINT_COMMAND, io.CONTROLLER_EVENTS, io.SOLVES, io.RECORD, io.JOINT_STATES)
        found = {topic.name: count(topic.name) > 0 for topic in topics}
        found[io.CMD_VEL.name] = self.node.count_subscribers(io.CMD_VEL.name) > 0
        return [name for name, ready in {**services, **found}.items() if not ready]

    def command_speed(self) -> None:
        """Publish the speed command of the present time."""
        message = Twist()
        message.linear.x = float(self._options.speed_at(max(self.time, 0.0)))
        message.linear.y, message.angular.z = float(self._options.left), float(self._options.turn)
        self._velocity.publish(message)

    def event(self, text: str) -> None:
        """Record an event at the present time."""
        self._log.event(max(self.time, 0.0), text)

    def conclude(self) -> None:
        """Record what is known only at the end of the run."""
        self._log.processors(self.processors())

    def processors(self) -> dict[str, float]:
        """Processors kept busy on average by each node, as reported; one number for nodes that share a process."""
        processes: dict[str, dict[str, list[float]]] = {}
        for _, name, values in self.diagnostics:
            nodes = processes.setdefault(values.get(PROCESS, name), {})
            nodes.setdefault(name.rsplit("/", 1)[-1], []).append(float(values.get(PROCESSOR, "nan")))
        found = {" + ".join(sorted(nodes)): fmean(chain(*nodes.values())) for nodes in processes.values()}
        return dict(sorted(found.items()))

    def flush(self) -> None:
        """Record the pending tick."""
        record, self._pending = self._pending, None
        if record is not None:
            self._write(record)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        if self.time > 0.0:
            self.diagnostics += [(self.time, each.name, status_values(each)) for each in message.status]

    def _on_record(self, message: Float64MultiArray) -> None:
        for record in tick_records(message):
            pending = self._pending
            if pending is not None and record.state.time > pending.state.time:
                self._write(pending)
            self._pending = record

    def _is_over(self, time: float) -> bool:
        """True if an instant lies beyond the run, when nobody leads the robot any more."""
        return time >= self._options.duration - 1e-9

    def _write(self, record: TickRecord) -> None:
        time = record.state.time
        if self._is_over(time):
            return
        self.late_ticks += int(record.late)
        mode = self._mode(time)
        sample = self._sample(time) if mode == _MOVING else None
        self._log.tick(
            record.state,
            commanded_speed=self._options.speed_at(time),
            torques=record.torques,
            foot_heights=record.foot_heights,
            contact_forces=record.contact_forces,
            mode=-1 if sample is None else sample.mode,
            planned_forces=None if sample is None else sample.forces,
            planned_slope=None if sample is None else sample.ground.slopes,
            control_mode=mode,
            wall_time=record.wall_time,
        )
        while self._pushes and self._pushes[0].time <= time + 1e-9:
            push = self._pushes.pop(0)
            self._log.event(time, str(push))

    def _mode(self, time: float) -> str:
        """The controller's mode at a time, forgetting what was before."""
        while len(self._modes) > 1 and self._modes[1][0] <= time + 1e-9:
            self._modes.popleft()
        return self._modes[0][1]

    def _sample(self, time: float) -> PolicySample | None:
        """The policy that the controller followed at a time."""
        now = time_ns(time)
        for answer in reversed(self._policies):
            if answer.policy is not None and answer.stamp + self._delay <= now:
                return answer.policy.sample(time)
        return None

    def _plan_of(self, time: float) -> Policy | None:
        """The policy that a solve gave, where its message has come."""
        stamp = time_ns(time)
        return next((answer.policy for answer in reversed(self._policies) if answer.stamp == stamp), None)

    def _on_policy(self, message: Float64MultiArray) -> None:
        try:
            self._policies.append(policy_answer(message))
        except ContactDdpError as error:
            self.event(f"policy message: {error}")

    def _on_event(self, message: DiagnosticStatus) -> None:
        values = status_values(message)
        time = float(values["time"])
        if values["mode"] != self._modes[-1][1]:
            self._modes.append((time, values["mode"]))
        if message.level in (ERROR, WARN) and not self._is_over(time):
            self._log.event(time, message.message, fault=message.level == ERROR)

    def _on_solve(self, message: DiagnosticStatus) -> None:
        values: dict[str, Any] = dict(status_values(message))
        if self._is_over(float(values["time"])):
            return
        cut = values.get("cut", "")
        if cut and not self._cut:
            self._log.event(float(values["time"]), f"command: {cut}")
        self._cut = cut
        numbers = (
            "solve_ms",
            "cost",
            "violation",
            "touchdown_error",
            "friction_violation",
            "regularisation",
            "theta",
            "barrier",
        )
        self._log.solve(
            float(values["time"]),
            iterations=int(values["iterations"]),
            status=message.message,
            ok=values["ok"] == "True",
            deadline_missed=values["deadline_missed"] == "True",
            plan=self._plan_of(float(values["time"])),
            **{name: float(values[name]) for name in numbers},
        )
