"""Runs the nodes of a process: start, an executor in one thread, work in the main one, orderly shutdown.

A process may have several nodes. They share the executor's thread; the last one works in the main thread, each of the
others in a thread of its own.

SIGINT and SIGTERM ask the work to end, and interrupt a node that is still being built
(:mod:`contact_ddp_ros.ros.shutdown`); the node then sends its last messages (damping, for one) while the middleware
still runs. An error is one line in the log. The exit code tells whether restarting the node may help.

Velocity commands as Twist or as TwistStamped, selected by a parameter.

As in Nav2, `enable_stamped_cmd_vel` selects the type that a node subscribes to on `cmd_vel`; publishers of the other
type are ignored and named in the log.

Warnings about publishers whose messages a node does not get, since their quality of service offers too little.

The middleware connects a subscription that asks for `reliable`, say, to no publisher that offers `best_effort`, and no
message says so where one is missed. rclpy's events of incompatible qualities are for an executor, which does not attend
to the subscriptions of an :class:`~contact_ddp_ros.ros.receiver.Receiver`; the middleware's graph tells of all of them.
"""

import logging
import sys
import time as clock
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any, Protocol

import rclpy
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.base.process import end_with_parent
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros import rclpy_internals
from contact_ddp_ros.ros.exchange import LocalPublisher, is_local
from contact_ddp_ros.ros.interfaces import Service, Topic
from contact_ddp_ros.ros.shutdown import Shutdown, building

_PERIOD = 1.0
"""Time between two looks at the graph [s]."""

_TOO_LITTLE = (
    ("reliability", ReliabilityPolicy.BEST_EFFORT, ReliabilityPolicy.RELIABLE),
    ("durability", DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL),
)
"""Policies, with what is offered and what is asked for where the two do not meet."""


class QosWatch:
    """Looks once a second for publishers that a node's subscriptions do not hear, and logs each of them once."""

    def __init__(self, node: Node) -> None:
        """The node's executor looks."""
        self._node = node
        self._told: set[tuple[str, str]] = set()
        node.create_timer(_PERIOD, self.look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def look(self) -> None:
        """Log a warning for every publisher that has become known, and whose messages do not arrive."""
        for subscription in list(self._node.subscriptions):
            topic = subscription.topic_name
            for other in self._node.get_publishers_info_by_topic(topic):
                lacking = missing(other.qos_profile, subscription.qos_profile)
                publisher = f"{other.node_namespace.rstrip('/')}/{other.node_name}"
                if lacking and (topic, publisher) not in self._told:
                    self._told.add((topic, publisher))
                    text = f"{topic}: nothing that {publisher} publishes arrives; it offers {', '.join(lacking)}"
                    self._node.get_logger().warning(text)


def missing(offered: QoSProfile, wanted: QoSProfile) -> list[str]:
    """Policies of which a publisher offers less than a subscription wants, with what it should offer instead."""
    return [
        f"{name} {low.name.lower()} (publish it with {name} {high.name.lower()})"
        for name, low, high in _TOO_LITTLE
        if getattr(offered, name) == low and getattr(wanted, name) == high
    ]


REFUSED = 1
"""Exit code: the node could not start as it was told to, and would not the next time."""

FAILED = 70
"""Exit code: the node ended in the middle of its work (EX_SOFTWARE of sysexits.h)."""

UNSAID = 74
"""Exit code: asked to end, the node could not send its last messages, damping for one (EX_IOERR of sysexits.h)."""

_LAST_CALLBACK = 2.0
"""Longest wait for a callback that is at work when the node ends [s]."""

_BREATH = 0.01
"""Pause after a callback that failed: where every one does, that is not all that the processor does [s]."""

_SWITCH_INTERVAL = 0.0005
"""Longest time that a thread keeps the interpreter from another; Python's own 5 ms exceed a control period [s]."""


class Work(Protocol):
    """The work of one node."""

    node: Node

    def run(self, stop: Event) -> None:
        """Work until `stop` is set."""
        ...

    def wake(self) -> None:
        """End the waits of :meth:`run`; called from another thread after `stop` is set."""
        ...

    def farewell(self) -> None:
        """Publish the last messages, while the middleware still runs."""
        ...


@dataclass(frozen=True)
class Part:
    """A node of a process: its name, the function that builds its work, and the one that creates the node."""

    name: str
    build: Callable[[Any], Work]
    create: Callable[[str], Node] = rclpy.create_node


def run_node(name: str, build: Callable[[Any], Work], arguments: Sequence[str] | None = None) -> int:
    """Run one node until a signal ends it; returns the exit code."""
    return run_parts([Part(name, build)], arguments)


def run_parts(parts: Sequence[Part], arguments: Sequence[str] | None = None) -> int:
    """Run the nodes of a process until a signal ends them; returns the exit code."""
    sys.setswitchinterval(_SWITCH_INTERVAL)
    names = ", ".join(part.name for part in parts)
    try:
        rclpy_internals.check()
        rclpy.init(args=None if arguments is None else list(arguments), signal_handler_options=SignalHandlerOptions.NO)
        nodes = [part.create(part.name) for part in parts]
    except Exception as error:  # noqa: BLE001  (rclpy has no common base: bad arguments or files, missing keys)
        print(f"[FATAL] [{names}]: ROS 2 did not start: {_one_line(error)}", file=sys.stderr)
        rclpy.try_shutdown()
        return REFUSED
    _pass_on_logging(nodes[-1])
    process = _Process(nodes)
    with Shutdown(process.ask_to_end) as ending:
        end_with_parent()
        code = process.run([part.build for part in parts])
        ending.close()
        return process.close(code)


def _pass_on_logging(node: Node) -> None:
    """Pass the log of the rooms without ROS, the compiler's progress for one, to the node's log."""
    logger = logging.getLogger(__package__.partition(".")[0])
    logger.setLevel(logging.INFO)
    logger.addHandler(_RosHandler(node))


class _RosHandler(logging.Handler):
    """Hands records to a node's logger."""

    def __init__(self, node: Node) -> None:
        super().__init__(logging.INFO)
        self._logger = node.get_logger()

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record; ROS 2 wants each severity to have a line of code of its own."""
        text = record.getMessage()
        if record.levelno >= logging.ERROR:
            self._logger.error(text)
        elif record.levelno >= logging.WARNING:
            self._logger.warning(text)
        else:
            self._logger.info(text)


class _Process:
    """The work of the nodes and the thread that listens, from the build to the last message."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        for node in nodes:
            QosWatch(node)
        self._listener = _Listener(nodes)
        self._stop = Event()
        self._works: list[Work] = []
        self._threads: list[Thread] = []
        self._failed = False

    def ask_to_end(self) -> None:
        """Have :meth:`run` return; for another thread."""
        self._stop.set()
        for work in self._works:
            work.wake()

    def run(self, builds: Sequence[Callable[[Any], Work]]) -> int:
        """Build the works and let them run until they are asked to end; the exit code."""
        code, node = REFUSED, self._nodes[-1]
        try:
            for node, build in zip(self._nodes, builds):
                with building():
                    self._works.append(build(node))
            self._listener.start()
            code = FAILED
            for work in self._works[:-1]:
                thread = Thread(target=self._work, args=(work,), name=work.node.get_name(), daemon=True)
                self._threads.append(thread)
                thread.start()
            self._works[-1].run(self._stop)
        except KeyboardInterrupt:
            return 0
        except Exception as error:  # noqa: BLE001  (the user gets a line, not a traceback)
            node.get_logger().fatal(describe(error))
            return code
        return FAILED if self._failed else 0

    def _work(self, work: Work) -> None:
        """The thread of a node beside the main one; where it fails the process ends."""
        try:
            work.run(self._stop)
        except Exception as error:  # noqa: BLE001  (the user gets a line, not a traceback)
            work.node.get_logger().fatal(describe(error))
            self._failed = True
            self.ask_to_end()

    def close(self, code: int) -> int:
        """Send the last messages and leave the middleware; the exit code, `code` unless something goes wrong now."""
        self._stop.set()
        for thread in self._threads:
            thread.join(_LAST_CALLBACK)
        for work in reversed(self._works):
            try:
                work.farewell()
            except Exception as error:  # noqa: BLE001  (the middleware is left in any case)
                work.node.get_logger().fatal(f"the last messages could not be sent: {describe(error)}")
                code = code or UNSAID
        self._listener.stop()
        for node in self._nodes:
            node.destroy_node()
        rclpy.try_shutdown()
        return code


class _Listener:
    """The thread in which services, parameters, timers and the slower topics of the nodes are attended to.

    A callback that fails is one line in the log, and the next one is attended to: whoever wants the robot to damp must
    be heard whatever else went wrong.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._logger = nodes[-1].get_logger()
        self._executor = SingleThreadedExecutor()
        for node in nodes:
            self._executor.add_node(node)
        self._ended = Event()
        self._thread = Thread(target=self._listen, name="ros", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Let the callback end that is at work. The executor's own end does not wait for that."""
        self._ended.set()
        if self._thread.is_alive():
            self._executor.create_task(_nothing)  # a mere wake-up would have it wait again, for a callback
            self._thread.join(_LAST_CALLBACK)
        self._executor.shutdown(timeout_sec=0.0)

    def _listen(self) -> None:
        while not self._ended.is_set():
            try:
                self._executor.spin_once()
            except ExternalShutdownException:
                return
            except Exception as error:  # noqa: BLE001  (whatever a callback raises)
                if not self._ended.is_set():
                    self._logger.error(describe(error))
                    clock.sleep(_BREATH)


def _nothing() -> None:
    """Callback that ends a wait of the executor."""


def publisher(node: Node, topic: Topic) -> rclpy.publisher.Publisher | LocalPublisher:
    """Create a publisher of a topic of the table."""
    quiet = PublisherEventCallbacks(use_default_callbacks=False)
    made = node.create_publisher(topic.type, topic.name, topic.qos, event_callbacks=quiet)
    return LocalPublisher(node, topic, made) if is_local(topic) else made


def subscribe(node: Node, topic: Topic, callback: Callable[..., None], *, raw: bool = False) -> None:
    """Subscribe to a topic of the table; with `raw` the callback gets the serialised message."""
    quiet = SubscriptionEventCallbacks(use_default_callbacks=False)  # QosWatch speaks
    node.create_subscription(topic.type, topic.name, callback, topic.qos, raw=raw, event_callbacks=quiet)


def serve(node: Node, service: Service, callback: Callable[..., object]) -> None:
    """Create a service of the table; the callback gets request and response, and returns the response."""
    node.create_service(service.type, service.name, callback)


def describe(error: BaseException) -> str:
    """An error as one line, with file and line number unless it is one of this package."""
    if isinstance(error, ContactDdpError):
        return _one_line(error)
    return f"unexpected {type(error).__name__} at {_place(error)}: {_one_line(error)}; please report it"


def _place(error: BaseException) -> str:
    """File and line where an error was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


_LOOK = 2.0
"""Time between two looks at who sends which type [s]."""

_FRAMES = ("", io.BASE_FRAME)
"""Frames in which a velocity may be commanded; empty: the trunk's own."""


def subscribe_velocity(node: Node, stamped: bool, take: Callable[[Twist], None]) -> None:
    """Subscribe to `cmd_vel` as TwistStamped or as Twist; `take` gets the Twist of either."""

    def take_stamped(message: TwistStamped) -> None:
        frame = message.header.frame_id
        if frame in _FRAMES:
            take(message.twist)
        else:
            node.get_logger().error(
                f"message refused: a velocity in the frame {frame!r}; allowed: {io.BASE_FRAME!r} or none",
                throttle_duration_sec=1.0,
            )

    topic, wanted = io.CMD_VEL, TwistStamped if stamped else Twist
    node.create_subscription(wanted, topic.name, take_stamped if stamped else take, topic.qos)
    told: set[str] = set()

    def look() -> None:
        for sender in node.get_publishers_info_by_topic(node.resolve_topic_name(topic.name)):
            if sender.topic_type != f"geometry_msgs/msg/{wanted.__name__}" and sender.node_name not in told:
                told.add(sender.node_name)
                node.get_logger().warning(
                    f"{sender.node_name} sends {topic.name} as {sender.topic_type}, which is not heard: "
                    f"node.enable_stamped_cmd_vel is {str(stamped).lower()}"
                )

    node.create_timer(_LOOK, look, clock=Clock(clock_type=ClockType.STEADY_TIME))
