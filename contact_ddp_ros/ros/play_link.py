"""The live page's link to running nodes: a view of their topics, and commands by their services and parameters.

Whoever plays the robot (the simulator, Gazebo, the bridge to a real one), the page sees `joint_states` and `odom`, the
planner's policies and solves and the controller's events. What only a simulator has (pushes, pause, step, reset) is
offered where it is there. Nothing is sent on `cmd_vel` before somebody commands a motion in the page, and nothing while
no browser is open, so that the controller's time-out brings the robot to a stop.

Parameters of the running planner and controller for the live page: what they are, and setting them.

Services of running nodes, called for the live page: one after another, again where that helps, never waited for.
"""

import math
import time as clock
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from threading import Event, Thread
from typing import Any

import rclpy
from geometry_msgs.msg import Twist, TwistStamped, WrenchStamped
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import SetBool, Trigger

from contact_ddp_ros.base.config import ParameterSpec, specs
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.node_config import SimulatorNodeOptions
from contact_ddp_ros.ros.play_view import View
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.runs.live import commands as do
from contact_ddp_ros.runs.live.commands import Answer
from contact_ddp_ros.runs.live.snapshot import News, World
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.scenario import scenario

_SETTLING, _AGAIN = 10.0, 0.2
"""Time for which, and interval at which, a service is asked after another [s]."""


class Calls:
    """Calls services; answers go to a function."""

    def __init__(self, node: Node, tell: Callable[[Answer], None]) -> None:
        """`tell` gets every answer."""
        self._tell = tell
        self._node = node
        self._triggers = {
            one.name: node.create_client(Trigger, one.name)
            for one in (io.STAND, io.MOVE, io.RECOVER, io.DAMP, io.RESET, io.STEP)
        }
        self._pause = node.create_client(SetBool, io.PAUSE.name)
        self._later: list[tuple[float, Callable[[], None]]] = []

    def offered(self, service: io.Service) -> bool:
        """True if a node offers one of the services."""
        client = self._pause if service is io.PAUSE else self._triggers[service.name]
        return bool(client.service_is_ready())

    def motions(self) -> tuple[str, ...]:
        """Names of the motions for which there are services, from now on among those that can be called."""
        prefix = self._node.resolve_service_name(io.motion_service("any").name).removesuffix("any")
        found = [name for name, _ in self._node.get_service_names_and_types() if name.startswith(prefix)]
        names = tuple(sorted(name.removeprefix(prefix) for name in found))
        for service in map(io.motion_service, names):
            if service.name not in self._triggers:
                self._triggers[service.name] = self._node.create_client(Trigger, service.name)
        return names

    def trigger(self, service: io.Service, *then: io.Service, patience: float = 0.0) -> None:
        """Call a service, and others one after another where it does what it is asked.

        One that refuses is asked again for `patience` [s]: after a reset the controller believes the new state a moment
        later.
        """
        self._call(service, then, patience, self._refused)

    def perform(self, motion: str) -> None:
        """Have a motion done, out of a stand where it does not begin lying."""
        service = io.motion_service(motion)

        def stand_first(_refused: Answer) -> None:
            self.trigger(io.STAND, service)

        self._call(service, (), 0.0, stand_first)

    def get_up(self) -> None:
        """Get up and bound; where the controller refuses, and there is a simulator, after a reset."""

        def put_up(refused: Answer) -> None:
            if not self.offered(io.RESET):
                self._tell(refused)
                return
            self._tell(Answer(True, f"put back on its feet at the start: {refused.text}"))
            self.trigger(io.RESET, io.STAND, io.MOVE)

        self._call(io.RECOVER, (io.MOVE,), 0.0, put_up)

    def pause(self, paused: bool, done: Callable[[], None]) -> None:
        """Let time stand or run; `done` is called where that has happened."""

        def answered(future: Any) -> None:
            answer = future.result()
            self._tell(Answer(answer.success, f"pause: {answer.message}"))
            if answer.success:
                done()

        self._pause.call_async(SetBool.Request(data=paused)).add_done_callback(answered)

    def do_what_is_due(self) -> None:
        """Ask again where it is time to."""
        now = clock.monotonic()
        due = [call for time, call in self._later if time <= now]
        self._later = [(time, call) for time, call in self._later if time > now]
        for call in due:
            call()

    def _call(
        self, service: io.Service, then: tuple[io.Service, ...], patience: float, refused: Callable[[Answer], None]
    ) -> None:
        if not self.offered(service):
            refused(Answer(False, f"there is no service {service.name}"))
            return

        def answered(future: Any) -> None:
            answer = future.result()
            if not answer.success and patience > 0.0:
                again = partial(self._call, service, then, patience - _AGAIN, refused)
                self._later.append((clock.monotonic() + _AGAIN, again))
                return
            said = Answer(answer.success, f"{service.name}: {answer.message}")
            if not answer.success:
                refused(said)
                return
            self._tell(said)
            if then:
                self.trigger(*then, patience=_SETTLING)

        self._triggers[service.name].call_async(Trigger.Request()).add_done_callback(answered)

    def _refused(self, answer: Answer) -> None:
        self._tell(answer)


_PATIENCE = 10.0
"""Wait for the nodes' parameters before the page does without [s]."""


class RemoteParameters:
    """Parameters of nodes by name; answers go to a function."""

    def __init__(self, node: Node, configs: Mapping[str, Any], tell: Callable[[Answer], None]) -> None:
        """`configs` are what the nodes' parameters would be by default; `tell` gets every answer."""
        self._tell = tell
        self._specs = {name: specs(config) for name, config in configs.items()}
        self._get = {name: node.create_client(GetParameters, f"{name}/get_parameters") for name in configs}
        self._set = {
            name: node.create_client(SetParametersAtomically, f"{name}/set_parameters_atomically") for name in configs
        }

    def ask(self, spin: Callable[[], bool]) -> dict[str, ParameterSpec]:
        """Those that the nodes have by "node.name", their values as defaults; `spin` lets answers come, until False."""
        futures: dict[str, Any] = {}
        deadline = clock.monotonic() + _PATIENCE
        while spin() and clock.monotonic() < deadline:
            for name, client in self._get.items():
                if name not in futures and client.service_is_ready():
                    futures[name] = client.call_async(GetParameters.Request(names=list(self._specs[name])))
            if len(futures) == len(self._specs) and all(future.done() for future in futures.values()):
                break
        found: dict[str, ParameterSpec] = {}
        for name, future in futures.items():
            if future.done():
                found |= _with_values(name, self._specs[name], future.result().values)
        return found

    def set(self, values: Mapping[str, Any]) -> None:
        """Set values by "node.name"; of each node all are taken over, or none."""
        for section, client in self._set.items():
            own = {name: value for name, value in values.items() if name.startswith(f"{section}.")}
            if not own:
                continue
            messages = [
                Parameter(name.partition(".")[2], value=list(value) if isinstance(value, tuple) else value)
                for name, value in own.items()
            ]
            request = SetParametersAtomically.Request(parameters=[one.to_parameter_msg() for one in messages])
            client.call_async(request).add_done_callback(partial(self._were_set, values=own))

    def _were_set(self, future: Any, values: Mapping[str, Any]) -> None:
        result = future.result().result
        text = ", ".join(f"{name} = {value}" for name, value in values.items())
        self._tell(Answer(True, f"set {text}", values) if result.successful else Answer(False, result.reason))


def _with_values(node: str, known: dict[str, ParameterSpec], values: Any) -> dict[str, ParameterSpec]:
    """Parameters by "node.name" with the values that the node has; those that it does not have are left out."""
    found = {}
    for (name, spec), value in zip(known.items(), values):
        python = parameter_value_to_python(value)
        if python is None:
            continue
        python = tuple(python) if isinstance(spec.default, tuple) else type(spec.default)(python)
        found[f"{node}.{name}"] = replace(spec, name=f"{node}.{name}", default=python)
    return found


_LOOK, _SPEED_PERIOD = 0.02, 0.05
"""Wait for a message, and time between two speed commands [s]."""


class NodesLink:
    """A :class:`contact_ddp_ros.runs.live.commands.Link` to the nodes of the present domain and namespace."""

    def __init__(self, options: RunOptions) -> None:
        """`options` name the robot and the ground to draw.

        Raises:
            ContactDdpError: the robot's description or a parameter is not usable.
        """
        self._options = options
        found = scenario(options)
        self._context = Context()
        rclpy.init(context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self._node = rclpy.create_node("play", context=self._context, enable_rosout=False)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._view = View()
        self._inlet = Receiver(self._node)
        self._view.subscribe(self._inlet)
        self._pushes = self._node.create_publisher(WrenchStamped, io.PUSH.name, io.PUSH.qos)
        self._velocity: Any = None
        self._outbox: deque[do.Command] = deque()
        self._inbox: deque[News] = deque()
        self._calls = Calls(self._node, self._inbox.append)
        configs = {"planner": found.planner, "controller": found.controller}
        self._parameters = RemoteParameters(self._node, configs, self._inbox.append)
        self._drive: do.Drive | None = None
        self._watched = self._wanted = False
        self._next_speed = 0.0
        self._stop, self._failure = Event(), ""
        self._thread = Thread(target=self._run, name="nodes", daemon=True)
        self._thread.start()

    def send(self, command: do.Command) -> None:
        """Ask for something; the nodes' answer comes with `news`."""
        self._outbox.append(command)

    def news(self) -> list[News]:
        """Messages since the last call."""
        found = []
        while self._inbox:
            found.append(self._inbox.popleft())
        return found

    def failure(self) -> str:
        """Why the nodes can no longer be reached."""
        return self._failure

    def close(self) -> None:
        """Leave the graph."""
        self._stop.set()
        self._thread.join(5.0)
        if self._context.ok():
            self._executor.shutdown(timeout_sec=1.0)
            self._node.destroy_node()
            rclpy.try_shutdown(context=self._context)

    def _run(self) -> None:
        try:
            self._introduce()
            while not self._stop.is_set():
                self._spin()
                while self._outbox:
                    self._do(self._outbox.popleft())
                self._calls.do_what_is_due()
                self._command_speed()
                state = self._view.state()
                if self._wanted and state is not None:
                    self._wanted = False
                    self._inbox.append(self._view.snapshot(state, self._drive or do.Drive()))
        except Exception as error:  # noqa: BLE001 - the page says it and ends
            self._failure = f"the link to the nodes failed: {error}"

    def _spin(self) -> None:
        self._inlet.receive(_LOOK)
        self._executor.spin_once(timeout_sec=0.0)

    def _spins(self) -> bool:
        """Let messages come, unless this is to end."""
        self._spin()
        return not self._stop.is_set()

    def _introduce(self) -> None:
        """Find out what there is: parameters and services."""
        parameters = self._parameters.ask(self._spins)
        offered = {"Reset": io.RESET, "Recover": io.RECOVER, "Step": io.STEP, "Pause": io.PAUSE}
        abilities = {"Drive", "SetMode"} | ({"SetParameters"} if parameters else set())
        abilities |= {name for name, service in offered.items() if self._calls.offered(service)}
        if self._node.count_subscribers(io.PUSH.name):
            abilities.add("PushTrunk")
        declared = {name: spec.default for name, spec in parameters.items()}
        motions = self._calls.motions()
        self._inbox.append(World(1, self._options, parameters, declared, (), frozenset(abilities), motions))

    def _do(self, command: do.Command) -> None:
        match command:
            case do.Look(watched):
                self._wanted, self._watched = True, watched
            case do.Slow(1.0):
                pass
            case do.Drive():
                self._drive = command
            case do.SetMode(mode):
                self._calls.trigger({"move": io.MOVE, "stand": io.STAND, "damp": io.DAMP}[mode])
            case do.Perform(motion):
                self._calls.perform(motion)
            case do.Recover():
                self._calls.get_up()
            case do.Reset():
                self._calls.trigger(io.RESET, io.STAND, io.MOVE)
            case do.Step():
                self._calls.trigger(io.STEP)
            case do.Pause(paused):
                self._calls.pause(paused, partial(self._view.pause, paused))
            case do.PushTrunk():
                self._push(command)
            case do.SetParameters(values):
                self._parameters.set(values)
            case _:
                self._inbox.append(do.Answer(False, f"{type(command).__name__} is not for running nodes"))

    def _push(self, push: do.PushTrunk) -> None:
        """The simulator has a duration of its own: the force is such that the impulse is the wanted one."""
        state = self._view.state()
        if state is None:
            return
        yaw = float(quaternion_to_rpy(state.orientation)[2])
        scale = push.duration / SimulatorNodeOptions().push_duration
        forward, left, up = (scale * part for part in push.force)
        message = WrenchStamped()
        message.header.frame_id = io.ODOM_FRAME
        message.wrench.force.x = math.cos(yaw) * forward - math.sin(yaw) * left
        message.wrench.force.y = math.sin(yaw) * forward + math.cos(yaw) * left
        message.wrench.force.z = up
        self._pushes.publish(message)
        impulse = math.hypot(*push.force) * push.duration
        self._inbox.append(do.Answer(True, f"a push of {impulse:.1f} N·s"))

    def _command_speed(self) -> None:
        drive, now = self._drive, clock.monotonic()
        if drive is None or not self._watched or now < self._next_speed:
            return
        self._next_speed = now + _SPEED_PERIOD
        twist = Twist()
        twist.linear.x, twist.linear.y, twist.angular.z = drive.forward, drive.sideways, drive.turn
        if self._velocity is None:
            heard = self._node.get_subscriptions_info_by_topic(self._node.resolve_topic_name(io.CMD_VEL.name))
            self._stamped = any(one.topic_type.endswith("TwistStamped") for one in heard)
            kind = TwistStamped if self._stamped else Twist
            self._velocity = self._node.create_publisher(kind, io.CMD_VEL.name, io.CMD_VEL.qos)
        self._velocity.publish(TwistStamped(twist=twist) if self._stamped else twist)
