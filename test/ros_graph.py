"""Helpers of the tests that talk to nodes in other processes."""

import math
import time as clock
from collections.abc import Callable, Mapping
from threading import Event, Thread
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import JointCommand
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import joint_command_message, joint_state_message, odometry_message, to_stamp
from contact_ddp_ros.ros.estimate_messages import PlanRequest, plan_request
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.reports import status_values
from contact_ddp_ros.ros.runtime import publisher, subscribe
from contact_ddp_ros.ros.timebase import stamp_ns

NodeMaker = Callable[..., Node]

PATIENCE = 60.0
"""Wall-clock time for things that happen at once on an idle machine [s]."""

BUILDING = 300.0
"""Wall-clock time in which a planner is built, its kernels compiled for the first time [s]."""

ANSWER = 5.0
"""Wall-clock time within which a service that is there answers [s]."""

PERIOD = 0.002
"""Time between two states of the fake robot [s]."""


class KeptNodes(NodeProcesses):
    """Nodes in their own processes that several tests share."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__(environment)
        self._kept: dict[str, dict[str, object]] = {}

    def keep(self, name: str, parameters: dict[str, object]) -> None:
        """Start a node, unless it runs with these parameters."""
        if name in self._children and self._children[name].poll() is None:
            if self._kept[name] == parameters:
                return
            self.signal(name)
            self.wait(name, PATIENCE)
        self.start(name, parameters)
        self._kept[name] = parameters


class FakeRobot:
    """Plays the simulator towards a controller in lock-step: sends states, gets commands."""

    def __init__(self, make_node: NodeMaker, executor: SingleThreadedExecutor) -> None:
        self.node = make_node("fake_robot")
        executor.add_node(self.node)
        self.executor = executor
        self.robot = load_robot()
        self.commands: list[JointTrajectory] = []
        self.events: list[str] = []
        self.joints = publisher(self.node, io.JOINT_STATES)
        self.odometry = publisher(self.node, io.ODOM)
        self.policy = publisher(self.node, io.POLICY)
        self.stand = self.node.create_client(Trigger, io.STAND.name)
        self.move = self.node.create_client(Trigger, io.MOVE.name)
        self.damp = self.node.create_client(Trigger, io.DAMP.name)
        self.time = 0.0
        self.plan: Callable[[PlanRequest], Float64MultiArray] | None = None
        subscribe(self.node, io.PLAN_REQUEST, self._on_request, raw=True)
        subscribe(self.node, io.JOINT_COMMAND, self.commands.append)
        subscribe(self.node, io.CONTROLLER_EVENTS, self._on_event)

    def begin_anew(self) -> None:
        """Damp whatever the controller does, and forget what has been heard."""
        self.plan = None
        if self.commands:
            self.until(self.damp.service_is_ready)
            future = self.damp.call_async(Trigger.Request())
            self.until(future.done)
        self.time += 2.0  # of what has been told, all may be told again
        self.commands.clear()
        self.events.clear()

    def _on_event(self, message: DiagnosticStatus) -> None:
        self.events.append(f"{status_values(message)['mode']}: {message.message}")

    def _on_request(self, message: bytes) -> None:
        if self.plan is not None:
            self.policy.publish(self.plan(plan_request(message)))

    def tick_until(
        self, condition: Callable[[], bool], check: Callable[[JointTrajectory], bool] = lambda _: True
    ) -> None:
        """Tick until a condition holds, for 10 s of the robot's time at most; every command passes the check."""
        for _ in range(round(10.0 / PERIOD)):
            if condition():
                return
            assert check(self.tick())
        raise AssertionError(f"it did not come to that; events: {self.events[-5:]}")

    def until(self, condition: Callable[[], bool], repeat: Callable[[], None] | None = None) -> None:
        deadline, again = clock.monotonic() + PATIENCE, 0.0
        while not condition():
            assert clock.monotonic() < deadline, "nothing happened"
            if repeat is not None and clock.monotonic() >= again:
                again = clock.monotonic() + 0.5
                repeat()
            self.executor.spin_once(timeout_sec=0.02)

    def messages(self) -> tuple[JointState, Odometry]:
        state = self.robot.standing_state(self.time)
        return joint_state_message(state, np.zeros(12)), odometry_message(state)

    def tick(self, damage: Callable[[JointState, Odometry], None] | None = None) -> JointTrajectory:
        """Send the state of the next instant and wait for its command."""
        self.time += PERIOD
        joints, odometry = self.messages()
        if damage is not None:
            damage(joints, odometry)

        def send() -> None:
            self.odometry.publish(odometry)
            self.joints.publish(joints)

        stamp = stamp_ns(joints.header.stamp)
        self.until(lambda: any(stamp_ns(c.header.stamp) == stamp for c in self.commands), send)
        return self.commands[-1]

    def stand_up(self) -> None:
        self.tick()
        self.until(self.stand.service_is_ready)
        future = self.stand.call_async(Trigger.Request())
        self.until(future.done)
        assert future.result().success, future.result().message
        assert len(self.tick().points[0].positions) == 12


GUARD: Mapping[str, object] = {
    "guard.command_timeout": 1.0,
    "guard.state_timeout": 1.0,
    "guard.soft_start": 0.0,
}
"""Parameters of a bridge that neither a busy machine nor a soft start keeps from following commands."""


class PlayedRobot:
    """Plays a robot on one side of a bridge's process, and the controller on the other."""

    name: str
    """Node of the bridge."""

    stand: JointCommand

    parameters: Mapping[str, object]
    """Parameters of that node."""

    def __init__(self, make_node: NodeMaker, executor: SingleThreadedExecutor) -> None:
        self.node, self.executor = make_node("controller_side"), executor
        executor.add_node(self.node)
        self.sending, self.ended = Event(), Event()
        self.commands: list[Any] = []
        self.joints: list[JointState] = []
        self.imu: list[Imu] = []
        self.receipts: list[float] = []
        self.heard: list[list[Any]] = [self.commands, self.joints, self.imu, self.receipts]
        subscribe(self.node, io.JOINT_STATES, self._on_joints)
        subscribe(self.node, io.IMU, self.imu.append)
        self.command = publisher(self.node, io.JOINT_COMMAND)
        self._threads: list[Thread] = []

    @staticmethod
    def damps(command: Any) -> bool:
        """True if a command that the robot gets only damps."""
        raise NotImplementedError

    def begin(self, *work: Callable[[], None]) -> None:
        """Work that is done in threads until the robot is closed."""
        self._threads = [Thread(target=one, daemon=True) for one in work]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self.ended.set()
        for thread in self._threads:
            thread.join(5.0)

    def begin_anew(self) -> None:
        """A silent robot; what is still on its way is forgotten."""
        self.sending.clear()
        end = clock.monotonic() + 0.1
        self.until(lambda: clock.monotonic() > end)
        for one in self.heard:
            one.clear()

    def _on_joints(self, message: JointState) -> None:
        self.receipts.append(clock.time())
        self.joints.append(message)

    def hear(self) -> None:
        """Take what has come on the robot's side, unless a thread does."""

    def until(self, condition: Callable[[], bool], repeat: JointCommand | None = None) -> None:
        """Let messages come until the condition holds, commanding `repeat` all the while."""
        deadline = clock.monotonic() + PATIENCE
        while not condition():
            assert clock.monotonic() < deadline, "nothing happened"
            if repeat is not None:
                self.command.publish(joint_command_message(repeat, to_stamp(clock.time())))
            self.executor.spin_once(timeout_sec=0.002)
            self.hear()

    def until_next(self, condition: Callable[[Any], bool], repeat: JointCommand | None = None) -> None:
        """Until a command comes that fulfils a condition."""
        self.commands.clear()
        self.until(lambda: any(map(condition, list(self.commands))), repeat)

    def enable(self) -> None:
        """Have the bridge follow commands; of commands in quick succession it may only see the newest."""
        self.sending.set()
        self.until(lambda: len(self.joints) > 0 and len(self.commands) > 0)
        self.commands.clear()
        while all(map(self.damps, list(self.commands))):
            for command in (JointCommand.damping(self.stand.velocities.size), self.stand):
                count = len(self.commands)
                self.until(lambda count=count: len(self.commands) > count + 20, command)

    def says(self, started: NodeProcesses, words: str, repeat: JointCommand | None = None, since: int = 0) -> None:
        """Wait until the bridge says this; `since` so many characters of its log."""
        try:
            self.until(lambda: words in started.log(self.name)[since:], repeat)
        except AssertionError:
            raise AssertionError(f"the bridge does not say {words!r} but: {started.log(self.name)[since:]}") from None


class Watcher:
    """Sees what a simulator says and calls its services."""

    def __init__(self, make_node: NodeMaker, executor: SingleThreadedExecutor) -> None:
        self.node = make_node("watcher")
        executor.add_node(self.node)
        self.executor = executor
        self.stamps: list[int] = []
        self.heights: list[float] = []
        self.command = publisher(self.node, io.JOINT_COMMAND)
        subscribe(self.node, io.ODOM, self._on_odometry)

    def _on_odometry(self, message: Odometry) -> None:
        self.stamps.append(stamp_ns(message.header.stamp))
        self.heights.append(message.pose.pose.position.z)

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = clock.monotonic() + PATIENCE
        while not condition():
            assert clock.monotonic() < deadline, "nothing happened"
            self.executor.spin_once(timeout_sec=0.02)

    def call(self, service: io.Service, request: object) -> object:
        client = self.node.create_client(service.type, service.name)
        self.until(client.service_is_ready)
        future = client.call_async(request)
        self.until(future.done)
        return future.result()


class Operator:
    """A person with services and topics: sees what the controller does and tells nodes what to do."""

    def __init__(self, make_node: NodeMaker, executor: SingleThreadedExecutor) -> None:
        self.node = make_node("operator")
        executor.add_node(self.node)
        self.executor = executor
        self.events: list[tuple[str, str]] = []
        self.heights: list[float] = []
        subscribe(self.node, io.CONTROLLER_EVENTS, self._on_event)
        subscribe(self.node, io.ODOM, lambda message: self.heights.append(message.pose.pose.position.z))

    @property
    def mode(self) -> str:
        return self.events[-1][0] if self.events else ""

    def _on_event(self, message: DiagnosticStatus) -> None:
        self.events.append((status_values(message)["mode"], message.message))

    def until(self, condition: Callable[[], bool], patience: float = PATIENCE) -> None:
        deadline = clock.monotonic() + patience
        while not condition():
            assert clock.monotonic() < deadline, f"nothing happened; the last events are {self.events[-5:]}"
            self.executor.spin_once(timeout_sec=0.02)

    def watch(self, duration: float) -> None:
        """See what happens for `duration` [s] of the wall clock."""
        end = clock.monotonic() + duration
        self.until(lambda: clock.monotonic() >= end)

    def call(self, type_: type, name: str, request: object, again: float = math.inf) -> Any:
        """The response of a service; asked again every `again` [s]: one of a killed server may still be known."""
        client = self.node.create_client(type_, name)
        futures: list[Any] = []
        asked = -math.inf

        def answered() -> bool:
            nonlocal asked
            if clock.monotonic() - asked >= again and client.service_is_ready():
                asked = clock.monotonic()
                futures.append(client.call_async(request))
            return any(future.done() for future in futures)

        try:
            self.until(answered, BUILDING)
            return next(future.result() for future in futures if future.done())
        finally:
            self.node.destroy_client(client)

    def tell(self, service: io.Service) -> tuple[bool, str]:
        response = self.call(service.type, service.name, service.type.Request(), ANSWER)
        return response.success, response.message

    def change(self, node: str, transition: str) -> bool:
        """A lifecycle transition; whether it succeeded."""
        request = ChangeState.Request(transition=Transition(label=transition))
        return bool(self.call(ChangeState, f"{node}/change_state", request).success)

    def state(self, node: str) -> str:
        return str(self.call(GetState, f"{node}/get_state", GetState.Request()).current_state.label)

    def set(self, node: str, **values: object) -> tuple[bool, str]:
        """Set parameters of a node as a whole; `__` stands for a dot."""
        parameters = [
            Parameter(name.replace("__", "."), value=value).to_parameter_msg() for name, value in values.items()
        ]
        request = SetParametersAtomically.Request(parameters=parameters)
        result = self.call(SetParametersAtomically, f"{node}/set_parameters_atomically", request).result
        return result.successful, result.reason
