"""Measures when each state passes bridge and controller: emulates the robot and listens on the topics between them.

    robot --LCM--> bridge --joint_states, odom--> controller --joint_command--> bridge --LCM--> robot
    sent           stamp    heard                              commanded                         executed

All times are of this machine's monotonic clock. A hop ends when the listener, which takes as long as controller and
bridge, has read the message, not when it was sent. For comparison the same controller is measured without the bridge,
over the topics alone, and a frame is sent to this process itself and back.
"""

import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event, Thread

import numpy as np
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from contact_ddp_ros.base.errors import NodeError
from contact_ddp_ros.base.process import environment
from contact_ddp_ros.plants.lcm import conventions
from contact_ddp_ros.plants.lcm.codec import CHEETAH_SOFTWARE, PD_TAU_TARGETS, TARGETS_CHANNEL, decode, encode
from contact_ddp_ros.plants.lcm.transport import Link, LinkOptions, free_port
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import joint_state_message, odometry_message
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.runtime import publisher
from contact_ddp_ros.ros.single_instance import loopback_environment, reserved_domain
from contact_ddp_ros.ros.timebase import stamp_ns

PERIOD = 0.002
"""Time between two states [s]."""

BRIDGE, TOPICS, ITSELF = "through the bridge", "by topics only", "LCM to itself"
"""The ways that a word can go."""

_PATIENCE = 120.0
"""Wall-clock time for both nodes to be there and to answer [s]."""

_LOST = 0.2
"""Time after which a word counts as lost [s]."""

_ROUNDING_NS = 1000
"""Resolution of today's stamps as floats [ns]."""

_ECHO_CHANNEL = "latency_echo"

_TOLERANT = {
    "controller": {"safety.state_timeout": 0.5, "stand.ramp_time": 0.2},
    "bridge": {"guard.command_timeout": 1.0, "guard.state_timeout": 1.0},
}
"""Parameters that keep both nodes at work on a machine that has other things to do, too."""


@dataclass(frozen=True)
class Journey:
    """Arrival times of one state and its command along the way [ns]; zero for stations that are not on it."""

    sent: int
    stamp: int = 0
    heard: int = 0
    commanded: int = 0
    executed: int = 0


@dataclass(frozen=True)
class _Arrival:
    """A stamp and when it came [ns]."""

    stamp: int = 0
    time: int = 0


def measure(rounds: int, samples: int, progress: Callable[[float], None]) -> dict[str, list[list[Journey]]]:
    """Measure the journeys of each way; the ways take turns, round by round.

    Raises:
        NodeError: a node did not start or does not answer.
    """
    options = LinkOptions(port=free_port())
    found: dict[str, list[list[Journey]]] = {BRIDGE: [], TOPICS: [], ITSELF: []}
    with reserved_domain() as domain:
        variables = loopback_environment(domain)
        with NodeProcesses(variables) as processes, environment(variables):
            for name, parameters in _TOLERANT.items():
                port = {"link.port": options.port} if name == "bridge" else {}
                processes.start(name, {**parameters, **port})
            context = Context()
            rclpy.init(context=context, domain_id=domain, signal_handler_options=SignalHandlerOptions.NO)
            node = rclpy.create_node("latency", context=context, enable_rosout=False, start_parameter_services=False)
            try:
                probe = _Probe(node, options)
                with probe.listening():
                    probe.meet(processes)
                    for turn in range(rounds):
                        for way, journeys in found.items():
                            journeys.append(probe.round(way, samples))
                        progress((turn + 1) / rounds)
            finally:
                node.destroy_node()
                rclpy.try_shutdown(context=context)
    return found


class _Probe:
    """Sends states one by one and follows each until its answer is back."""

    def __init__(self, node: Node, options: LinkOptions) -> None:
        robot = load_robot()
        state, zeros = robot.standing_state(), np.zeros((4, 3))
        self._node = node
        self._state = replace(state, linear_velocity=np.array([0.0, 0.0, 1e-3]))  # zeros are no estimate
        self._torques = np.zeros(robot.n_joints)
        legs = conventions.leg_data_values(robot, self._state, self._torques)
        trunk = conventions.estimate_values(CHEETAH_SOFTWARE, self._state, zeros[0], zeros)
        self._legs = encode(CHEETAH_SOFTWARE.leg_data, legs)
        self._trunk = encode(CHEETAH_SOFTWARE.estimate, trunk)
        self._link, self._own = Link(options), Link(options)
        self._link.subscribe(TARGETS_CHANNEL, self._on_targets)
        self._own.subscribe(_ECHO_CHANNEL, self._on_echo)
        self._joints = publisher(node, io.JOINT_STATES)
        self._odometry = publisher(node, io.ODOM)
        self._inlet = Receiver(node)
        self._inlet.subscribe(io.JOINT_STATES, self._on_joints)
        self._inlet.subscribe(io.JOINT_COMMAND, self._on_command)
        self._stand = node.create_client(Trigger, io.STAND.name)
        self._heard = self._commanded = self._executed = self._echoed = _Arrival()
        self._ways = {BRIDGE: self._through_the_bridge, TOPICS: self._by_topics, ITSELF: self._by_itself}

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Have a thread receive torque targets."""
        ended = Event()

        def listen() -> None:
            while not ended.is_set():
                self._link.receive(_LOST)

        thread = Thread(target=listen, name="lcm", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def meet(self, processes: NodeProcesses) -> None:
        """Wait until words come back, and have the controller stand."""
        deadline = clock.monotonic() + _PATIENCE
        executor = SingleThreadedExecutor(context=self._node.context)
        executor.add_node(self._node)
        asked = None
        try:
            while clock.monotonic() < deadline:
                processes.check()
                answered = bool(self.round(BRIDGE, 1))
                executor.spin_once(timeout_sec=0.0)
                if asked is None and answered and self._stand.service_is_ready():
                    asked = self._stand.call_async(Trigger.Request())
                elif asked is not None and asked.done():
                    if answered and asked.result().success:
                        return
                    asked = None
        finally:
            executor.shutdown(timeout_sec=1.0)
        raise NodeError(f"bridge and controller did not answer within {_PATIENCE:.0f} s")

    def round(self, way: str, samples: int) -> list[Journey]:
        """Some words one after another, each after the answer to the last but not before its time."""
        journeys = []
        for _ in range(samples):
            began = clock.monotonic()
            journey = self._ways[way]()
            if journey is not None:
                journeys.append(journey)
            clock.sleep(max(0.0, PERIOD - (clock.monotonic() - began)))
        return journeys

    def _through_the_bridge(self) -> Journey | None:
        sent = clock.time_ns()
        self._link.publish(CHEETAH_SOFTWARE.leg_channel, self._legs)
        self._link.publish(CHEETAH_SOFTWARE.estimate_channel, self._trunk)

        def back() -> bool:
            stamp = self._commanded.stamp
            return stamp > sent - _ROUNDING_NS and abs(self._executed.stamp - stamp) <= 2 * _ROUNDING_NS

        if not self._inlet_until(back) or abs(self._heard.stamp - self._commanded.stamp) > _ROUNDING_NS:
            return None
        return Journey(sent, self._heard.stamp, self._heard.time, self._commanded.time, self._executed.time)

    def _by_topics(self) -> Journey | None:
        sent = clock.time_ns()
        state = replace(self._state, time=1e-9 * sent)
        self._odometry.publish(odometry_message(state))
        self._joints.publish(joint_state_message(state, self._torques))
        if not self._inlet_until(lambda: self._commanded.stamp > sent - _ROUNDING_NS):
            return None
        return Journey(sent, commanded=self._commanded.time)

    def _by_itself(self) -> Journey | None:
        sent = clock.time_ns()
        self._own.publish(_ECHO_CHANNEL, self._legs)
        return Journey(sent, executed=self._echoed.time) if self._own.receive(_LOST) else None

    def _inlet_until(self, condition: Callable[[], bool]) -> bool:
        """Read topics until the condition holds; targets come in another thread, so no look is long."""
        deadline = clock.monotonic() + _LOST
        while not condition():
            if clock.monotonic() > deadline:
                return False
            self._inlet.receive(0.1 * PERIOD)
        return True

    def _on_joints(self, message: JointState) -> None:
        self._heard = _Arrival(stamp_ns(message.header.stamp), clock.time_ns())

    def _on_command(self, message: JointTrajectory) -> None:
        self._commanded = _Arrival(stamp_ns(message.header.stamp), clock.time_ns())

    def _on_targets(self, data: bytes) -> None:
        now = clock.time_ns()
        stamp = 1000 * int(decode(data, [PD_TAU_TARGETS]).values["timestamp_us"])
        if stamp != self._executed.stamp:  # repetitions do not count
            self._executed = _Arrival(stamp, now)

    def _on_echo(self, _data: bytes) -> None:
        self._echoed = _Arrival(0, clock.time_ns())
