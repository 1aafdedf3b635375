"""Receiving the messages of the control loop without an executor.

rclpy's executor builds its wait set anew from every entity of the node, services and timers included, for each single
message: about 2 ms of processor time, many times what the control law takes. An inlet waits for a few subscriptions and
calls back in the thread that asks it to, so nothing has to be handed from one thread to another either. Its
subscriptions have no event handlers (for incompatible qualities of service and the like): with them an executor in
another thread wakes for every message that is none of its own, and finds nothing to do.
"""

import copy
import time as clock
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy
from rosgraph_msgs.msg import Clock

from contact_ddp_ros.nodes.interfaces import Topic

_LONGEST = 0.1
"""Longest wait in one go: Python runs signal handlers only between two [s]."""

_BATCH = 64
"""Messages of a subscription that are taken before the next one gets its turn."""


class Inlet:
    """Some subscriptions of one node, in the order in which they are looked at when several have messages.

    A wake-up costs more than the message it is for. So only some subscriptions end a wait; messages of the others are
    called back for at the next occasion.
    """

    def __init__(self, node: Node) -> None:
        """Simulated time, where the node follows it, is received here too: an executor takes 2 ms for each `/clock`."""
        self._node = node
        self._subscriptions: list[Any] = [one for one in node.subscriptions if one.msg_type is Clock]
        self._waking: list[Any] = []
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

        With `raw` the callback gets the serialised message. Without `wakes` a message of the topic ends no wait. Where
        it is not to be `reliable` what is lost is not sent again, and the publisher waits for no acknowledgement.
        `depth` messages wait to be read, by default as many as the table says.
        """
        qos = copy.copy(topic.qos)
        qos.depth = topic.qos.depth if depth is None else depth
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
        """Wait up to `timeout` [s], never long, and call back for every message; whether something came that wakes.

        With `any_wakes` a message of any topic does.
        """
        waited = self._subscriptions if any_wakes else self._waking
        waiting = rclpy_implementation.WaitSet(len(waited), 0, 0, 0, 0, 0, self._node.context.handle)
        waiting.clear_entities()
        for subscription in waited:
            waiting.add_subscription(subscription.handle)
        waiting.wait(round(1e9 * min(timeout, _LONGEST)))
        came = bool(waiting.get_ready_entities("subscription"))
        self.drain()
        return came

    def drain(self) -> None:
        """Call back for every message that is there, without waiting."""
        for subscription in self._subscriptions:
            for _ in range(_BATCH):
                taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
                if taken is None:
                    break
                subscription.callback(taken[0])

    def until(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Receive until the condition holds, for `timeout` [s] at most; whether it holds. Every topic wakes."""
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
        """Nothing began."""
