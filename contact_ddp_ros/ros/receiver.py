"""Receiving the messages of the control loop without an executor.

For each message rclpy's executor rebuilds its wait set from every entity of the node, services and timers included:
about 2 ms of processor time, many times that of the control law. An inlet waits for a few subscriptions and calls back
in the calling thread, so nothing has to be passed between threads either. Its
subscriptions have no event handlers (for incompatible qualities of service and the like): with them an executor in
another thread wakes for every message of these subscriptions, too.

All uses of rclpy that are not public: waiting without an executor, lifecycle, initial parameters.

They may change with any version of rclpy. Where one is missing, :func:`check` raises, before anything is started, an
error that names it, the version found and the versions known to work.
"""

import copy
import time as clock
from collections.abc import Callable, Iterable
from functools import reduce
from importlib import import_module, metadata
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy
from rosgraph_msgs.msg import Clock

from contact_ddp_ros.base.errors import NodeError
from contact_ddp_ros.ros.exchange import Mailbox, is_local
from contact_ddp_ros.ros.interfaces import Topic

KNOWN = ("7.1",)
"""Beginnings of the versions of rclpy with which everything here is known to work: Jazzy's."""

_CHANGE_STATE = "_LifecycleNodeMixin__change_state"
"""Method that carries a transition out, as Python calls it outside its class."""

_WAIT_SET = ("clear_entities", "add_subscription", "add_guard_condition", "wait", "get_ready_entities")

PARTS = {
    "rclpy.impl.implementation_singleton": (
        *(f"rclpy_implementation.WaitSet.{name}" for name in _WAIT_SET),
        "rclpy_implementation.GuardCondition.trigger_guard_condition",
        "rclpy_implementation.Subscription.take_message",
        "rclpy_implementation.RCLError",
    ),
    "rclpy.lifecycle": (f"LifecycleNodeMixin.{_CHANGE_STATE}",),
}
"""Names in use, by module; attributes that only objects have are looked for where they are used."""


def check() -> None:
    """Check that rclpy has the parts that are used.

    Raises:
        NodeError: some are missing; the text names them and the version.
    """
    missing = [f"{module}.{name}" for module, names in PARTS.items() for name in names if not _has(module, name)]
    if missing:
        raise _unknown(missing)


def given_parameters(node: Node) -> dict[str, Any]:
    """Initial parameters of a node by name, declared or not, from the command line, files and its constructor.

    Raises:
        NodeError: this version of rclpy does not provide them.
    """
    given: dict[str, Any] = _attribute(node, "_parameter_overrides")
    return given


class Waiter:
    """Waits for messages of some subscriptions of a node, or for :meth:`wake`."""

    def __init__(self, node: Node) -> None:
        """Start without a wait."""
        self._rclpy = _implementation()
        self._context = node.context
        self._guard = self._rclpy.GuardCondition(node.context.handle)

    def wake(self) -> None:
        """End a wait; may be called from any thread."""
        self._guard.trigger_guard_condition()

    def wait(self, subscriptions: Iterable[Any], timeout: float) -> bool:
        """Wait up to `timeout` [s]; returns whether a message or a wake-up has arrived."""
        handles = [one.handle for one in subscriptions]
        waiting = self._rclpy.WaitSet(len(handles), 1, 0, 0, 0, 0, self._context.handle)
        waiting.clear_entities()
        waiting.add_guard_condition(self._guard)
        for handle in handles:
            waiting.add_subscription(handle)
        waiting.wait(round(1e9 * timeout))
        return any(waiting.get_ready_entities(kind) for kind in ("subscription", "guard_condition"))


def take(subscription: Any) -> Any:
    """The next message of a subscription, serialised if the subscription is raw; None if there is none."""
    taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
    return None if taken is None else taken[0]


class OrderlyLifecycleNode(LifecycleNode):  # type: ignore[misc]
    """rclpy's lifecycle node; it refuses invalid transitions and frees its services when destroyed."""

    def destroy_node(self) -> None:
        """Destroy the node with its state machine, whose services rclpy would leave visible for another 20 s."""
        super().destroy_node()
        _attribute(self, "_state_machine").destroy_when_not_in_use()

    def _LifecycleNodeMixin__change_state(self, transition_id: int) -> TransitionCallbackReturn:
        """Refuse a transition that the present state does not have; rclpy would end its executor."""
        try:
            return getattr(super(), _CHANGE_STATE)(transition_id)
        except _implementation().RCLError:
            state = _attribute(self, "_state_machine").current_state[1]
            self.get_logger().error(f"no such transition from the state {state}")
            return TransitionCallbackReturn.FAILURE


def _implementation() -> Any:
    """rclpy's compiled part."""
    return import_module("rclpy.impl.implementation_singleton").rclpy_implementation


def _has(module: str, name: str) -> bool:
    try:
        reduce(getattr, name.split("."), import_module(module))
    except (ImportError, AttributeError):
        return False
    return True


def _attribute(owner: Any, name: str) -> Any:
    if not hasattr(owner, name):
        raise _unknown([f"{type(owner).__name__}.{name}"])
    return getattr(owner, name)


def _unknown(missing: list[str]) -> NodeError:
    try:
        found = metadata.version("rclpy")
    except metadata.PackageNotFoundError:
        found = "of an unknown version"
    versions = ", ".join(f"{version}.x" for version in KNOWN)
    return NodeError(f"rclpy {found} has no {', '.join(missing)}; known to work: rclpy {versions}")


_LONGEST = 0.1
"""Longest wait in one go: Python runs signal handlers only between two [s]."""

_BATCH = 64
"""Messages of a subscription that are taken before the next one gets its turn."""


class Receiver:
    """Subscriptions of one node, read in the order in which they were made when several have messages.

    A wake-up costs more than reading a message, so only some subscriptions end a wait; messages of the others are read
    at the next wake-up.
    """

    def __init__(self, node: Node) -> None:
        """Simulated time, where the node follows it, is received here too: an executor takes 2 ms for each `/clock`."""
        self._node = node
        self._subscriptions: list[Any] = [one for one in node.subscriptions if one.msg_type is Clock]
        self._waking: list[Any] = []
        self._mailboxes: list[Mailbox] = []
        self._waiter = Waiter(node)
        for one in self._subscriptions:
            one.callback_group = _Unattended()
            for handler in one.event_handlers:
                handler.callback_group = one.callback_group

    def subscribe(
        self,
        topic: Topic,
        callback: Callable[[Any], None],
        *,
        raw: bool = False,
        wakes: bool = True,
        reliable: bool = True,
        depth: int | None = None,
    ) -> None:
        """Subscribe to a topic of the table.

        With `raw` the callback gets the serialised message. Without `wakes` a message of the topic does not end a wait.
        With `reliable` lost messages are sent again. `depth` is the length of the queue, by default that of the table.
        """
        depth = topic.qos.depth if depth is None else depth
        if is_local(topic):
            wake = self._waiter.wake if wakes else lambda: None
            self._mailboxes.append(Mailbox(self._node, topic, callback, wake, raw=raw, depth=depth))
            return
        qos = copy.copy(topic.qos)
        qos.depth = depth
        if not reliable:
            qos.reliability = ReliabilityPolicy.BEST_EFFORT
        subscription = self._node.create_subscription(
            topic.type,
            topic.name,
            callback,
            qos,
            raw=raw,
            callback_group=_Unattended(),
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
        )
        self._subscriptions.append(subscription)
        if wakes:
            self._waking.append(subscription)

    def receive(self, timeout: float, *, any_wakes: bool = False) -> bool:
        """Wait up to `timeout` [s] and call back for every message; returns whether a message ended the wait.

        With `any_wakes` messages of all topics end it.
        """
        came = self._waiter.wait(self._subscriptions if any_wakes else self._waking, min(timeout, _LONGEST))
        self.drain()
        return came

    def drain(self) -> None:
        """Call back for every message received so far, without waiting."""
        for mailbox in self._mailboxes:
            mailbox.drain()
        for subscription in self._subscriptions:
            for _ in range(_BATCH):
                message = take(subscription)
                if message is None:
                    break
                subscription.callback(message)

    def until(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Receive until a condition holds or `timeout` [s] has passed; returns whether it holds. All topics wake it."""
        deadline = clock.monotonic() + timeout
        while not condition():
            left = deadline - clock.monotonic()
            if left <= 0.0:
                return False
            self.receive(left, any_wakes=True)
        return True


class _Unattended(CallbackGroup):  # type: ignore[misc]
    """Callbacks that no executor ever waits for."""

    def can_execute(self, entity: Any) -> bool:
        """Never."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Never."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """End an execution that never began."""
