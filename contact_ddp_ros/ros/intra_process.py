"""Topics of the control loop that stay inside one process, where both their ends are in it.

A message through the middleware costs some 50 us more of processor time, both ends together, and wakes threads of the
middleware on the way. Where controller and robot share a process (:mod:`contact_ddp_ros.ros.composed_node`), their
messages are handed over directly, still serialised. Subscribers in other processes get them through the middleware as
usual; publishers in other processes are not received.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message, serialize_message

from contact_ddp_ros.ros.interfaces import Topic

_topics: set[str] = set()
"""Names of the local topics: of the process, as its middleware is."""

_boxes: dict[str, dict[str, "Mailbox"]] = {}
"""Mailboxes by resolved name of a topic and by full name of a node; a later subscription replaces an earlier one."""


def keep_local(topics: Iterable[Topic]) -> None:
    """Keep these topics within this process from now on."""
    _topics.update(topic.name for topic in topics)


def is_local(topic: Topic) -> bool:
    """True if a topic stays in this process."""
    return topic.name in _topics


class Mailbox:
    """Queue of one topic's messages for one node."""

    def __init__(
        self,
        node: Node,
        topic: Topic,
        callback: Callable[[Any], None],
        wake: Callable[[], None],
        *,
        raw: bool,
        depth: int,
    ) -> None:
        """`callback` gets each message, serialised where `raw`; `wake` ends the wait of whoever reads.

        `depth` messages wait to be read.
        """
        self._messages: deque[bytes] = deque(maxlen=depth)
        self._type = None if raw else topic.type
        self._callback, self._wake = callback, wake
        boxes = _boxes.setdefault(node.resolve_topic_name(topic.name), {})
        boxes[node.get_fully_qualified_name()] = self

    def put(self, message: bytes) -> None:
        """Append a message, from any thread; a full queue drops its oldest one."""
        self._messages.append(message)
        self._wake()

    def drain(self) -> None:
        """Call back for every message."""
        while self._messages:
            message = self._messages.popleft()
            self._callback(message if self._type is None else deserialize_message(message, self._type))


class LocalPublisher:
    """A publisher of a local topic, in place of the middleware's own."""

    def __init__(self, node: Node, topic: Topic, publisher: Publisher) -> None:
        """`publisher` serves others."""
        self._boxes = _boxes.setdefault(node.resolve_topic_name(topic.name), {})
        self._publisher = publisher

    def publish(self, message: Any) -> None:
        """Publish a message, serialised or not."""
        if not isinstance(message, bytes):
            message = serialize_message(message)
        for box in tuple(self._boxes.values()):
            box.put(message)
        if self._publisher.get_subscription_count():
            self._publisher.publish(message)

    def get_subscription_count(self) -> int:
        """Number of subscriptions in this and other processes."""
        return len(self._boxes) + int(self._publisher.get_subscription_count())

    def wait_for_all_acked(self, timeout: Duration) -> bool:
        """Wait until subscribers in other processes have acknowledged all messages; those here already have them."""
        return bool(self._publisher.wait_for_all_acked(timeout))
