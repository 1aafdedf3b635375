"""Receiving the messages of the control loop without an executor.

rclpy's executor builds its wait set anew from every entity of the node, services and timers included, for each single
message: about 0.3 ms of processor time, more than the control law takes. An inlet waits for a few subscriptions only
and calls back in the thread that asks it to, so nothing has to be handed from one thread to another either.
"""

import copy
import time as clock
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from contact_ddp_ros.nodes.interfaces import Topic

_LONGEST = 0.1
"""Longest wait in one go: Python runs signal handlers only between two [s]."""

_BATCH = 64
"""Messages of a subscription that are taken before the next one gets its turn."""


class Inlet:
    """Some subscriptions of one node, in the order in which they are looked at when several have messages."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._subscriptions: list[Any] = []

    def subscribe(self, topic: Topic, callback: Callable[[Any], None], *, raw: bool = False) -> None:
        """Subscribe to a topic of the table; with `raw` the callback gets the serialised message."""
        group = _Unattended()
        subscription = self._node.create_subscription(
            topic.type, topic.name, callback, topic.qos, raw=raw, callback_group=group
        )
        self._subscriptions.append(subscription)

    def receive(self, timeout: float) -> bool:
        """Wait up to `timeout` [s], never long, for messages and call back for each; whether there was one."""
        waiting = rclpy_implementation.WaitSet(len(self._subscriptions), 0, 0, 0, 0, 0, self._node.context.handle)
        waiting.clear_entities()
        for subscription in self._subscriptions:
            waiting.add_subscription(subscription.handle)
        waiting.wait(round(1e9 * min(timeout, _LONGEST)))
        ready = set(waiting.get_ready_entities("subscription"))
        for subscription in self._subscriptions:
            if subscription.handle.pointer in ready:
                for _ in range(_BATCH):
                    taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
                    if taken is None:
                        break
                    subscription.callback(taken[0])
        return bool(ready)

    def until(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Receive until the condition holds, for `timeout` [s] at most; whether it holds."""
        deadline = clock.monotonic() + timeout
        while not condition():
            left = deadline - clock.monotonic()
            if left <= 0.0:
                return False
            self.receive(left)
        return True


class Polled:
    """A topic that is read on demand: messages wait in the middleware, and one that nobody reads costs nothing.

    For who needs some messages of a quick topic, not all.
    """

    def __init__(self, node: Node, topic: Topic, depth: int) -> None:
        """`depth`: messages that wait; older ones are forgotten."""
        qos = copy.copy(topic.qos)
        qos.depth = depth
        self._subscription = node.create_subscription(
            topic.type, topic.name, _never, qos, raw=True, callback_group=_Unattended()
        )

    def take(self) -> list[bytes]:
        """The serialised messages that wait, oldest first."""
        messages: list[bytes] = []
        subscription = self._subscription
        while (taken := subscription.handle.take_message(subscription.msg_type, True)) is not None:
            messages.append(taken[0])
        return messages


class _Unattended(CallbackGroup):  # type: ignore[misc]
    """Callbacks that no executor ever waits for."""

    def can_execute(self, entity: Any) -> bool:
        """Never."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Never."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """Nothing began."""


def _never(_message: bytes) -> None:
    """The callback of a polled subscription."""
