"""Subscriptions that keep only the newest messages of each topic, so that a slow reader never gets a backlog.

A transport's thread that falls behind hears every message, each later than the one before. Efforts that answer states
of long ago fell the robot; states that are left out do not. So here the transport's thread only puts messages down, and
another one hands them on.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter
from threading import Condition, Thread
from typing import Any

from contact_ddp_ros.gazebo.bindings import Bindings, Node, Publisher

_DEPTH = 2
"""Messages of a topic that wait: two, for joint states and odometry are paired and come in either order."""

Entry = tuple[int, Callable[[Any], None], Any]


def newest_only(bindings: Bindings) -> Bindings:
    """Bindings whose nodes call back with the newest messages of each topic, in a thread of their own."""
    return replace(bindings, node=lambda: _NewestNode(bindings.node()))


class _NewestNode:
    """A node that leaves out what its callbacks are too late for; as the node of Gazebo's bindings."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._waiting: dict[str, deque[Entry]] = {}
        self._news = Condition()
        self._count = 0
        Thread(target=self._hand_on, name="gazebo messages", daemon=True).start()

    def advertise(self, topic: str, message_type: Any) -> Publisher:
        """See :class:`contact_ddp_ros.gazebo.bindings.Node`."""
        return self._node.advertise(topic, message_type)

    def subscribe(self, message_type: Any, topic: str, callback: Callable[[Any], None]) -> bool:
        """See :class:`contact_ddp_ros.gazebo.bindings.Node`."""
        waiting: deque[Entry] = deque(maxlen=_DEPTH)
        with self._news:
            self._waiting[topic] = waiting

        def put(message: Any) -> None:
            with self._news:
                self._count += 1
                waiting.append((self._count, callback, message))
                self._news.notify()

        return self._node.subscribe(message_type, topic, put)

    def unsubscribe(self, topic: str) -> bool:
        """See :class:`contact_ddp_ros.gazebo.bindings.Node`."""
        with self._news:
            self._waiting.pop(topic, None)
        return self._node.unsubscribe(topic)

    def request(
        self, service: str, request: Any, request_type: Any, response_type: Any, timeout: int
    ) -> tuple[bool, Any]:
        """See :class:`contact_ddp_ros.gazebo.bindings.Node`."""
        return self._node.request(service, request, request_type, response_type, timeout)

    def _hand_on(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: any(self._waiting.values()))
                entries = sorted((entry for waiting in self._waiting.values() for entry in waiting), key=itemgetter(0))
                for waiting in self._waiting.values():
                    waiting.clear()
            for _, callback, message in entries:
                callback(message)
