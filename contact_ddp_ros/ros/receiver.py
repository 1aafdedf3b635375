"""Receiving the messages of the control loop without an executor.

For each message rclpy's executor rebuilds its wait set from every entity of the node, services and timers included:
about 2 ms of processor time, many times that of the control law. An inlet waits for a few subscriptions and calls back
in the calling thread, so nothing has to be passed between threads either. Its
subscriptions have no event handlers (for incompatible qualities of service and the like): with them an executor in
another thread wakes for every message of these subscriptions, too.
"""

import copy
import time as clock
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy
from rosgraph_msgs.msg import Clock

from contact_ddp_ros.ros.exchange import Mailbox, is_local
from contact_ddp_ros.ros.interfaces import Topic
from contact_ddp_ros.ros.rclpy_internals import Waiter, take

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
