"""One controller, one planner, one clock per namespace: each announces itself, and a second one is refused.

Two controllers in one namespace command the same drives in turn, and two clocks make time jump. A node in such a role
publishes a topic for as long as it has the role (`controller/active`, `planner/active`, `/clock`); the middleware's
graph lists all publishers of it. A node looks there before it starts, and once a second while it works, for
diagnostics.

A node that was killed remains in the graph of others until the middleware's lease for it is over (20 s by default),
but a process that starts after its end never learns of it, so that a node which is started again is not refused.
"""

import random
import time as clock
from typing import Any

from rclpy.node import Node

from contact_ddp_ros.base.errors import NodeError
from contact_ddp_ros.ros.interfaces import ACTIVE, STAND, Topic
from contact_ddp_ros.ros.shutdown import building

_PATIENCE = 3.0
"""Time that another node has to give the part up before this one is refused, at least [s].

Up to twice that, at random: of two that begin at once and see each other, one gives up first.
"""

_LOOK = 0.05
"""Time between two looks at the graph [s]."""


def next_step(node: Node) -> str:
    """Hint for the log: what to do next, now that a planner or controller is active."""
    missing = [name for name, topic in ACTIVE.items() if not node.count_publishers(topic.name)]
    if missing:
        return f"active; waiting for the {' and the '.join(missing)}"
    stand = node.resolve_service_name(STAND.name)
    return f"planner and controller are active; next: ros2 service call {stand} std_srvs/srv/Trigger"


class Claim:
    """A role that only one node may have, announced by publishing its topic.

    A node publishes the topic before it looks for others, so that of two that begin at once neither is overlooked.
    """

    def __init__(self, node: Node, topic: Topic) -> None:
        """For a node that has just been made: others become known from now on."""
        self._node, self._topic = node, topic
        self._name = node.resolve_topic_name(topic.name)
        self._publisher: Any = None
        self._began = clock.monotonic()

    def take(self, discovery_time: float) -> Any:
        """Take the role and return the publisher of its topic.

        Waits until `discovery_time` [s] after the node was created, when earlier holders of the role have been
        discovered. A signal during the wait raises KeyboardInterrupt.

        Raises:
            NodeError: another node has the role and keeps it.
        """
        if self._publisher is None:
            self._publisher = self._node.create_publisher(self._topic.type, self._topic.name, self._topic.qos)
        try:
            with building():
                self._wait_for_others(discovery_time)
        except BaseException:
            self.release()
            raise
        return self._publisher

    def _wait_for_others(self, discovery_time: float) -> None:
        """Return when discovery has had its time and nobody else is there.

        Somebody who is seen for a moment only, as is a publisher whose node is not known yet, shortens nothing.
        """
        known = self._began + discovery_time
        deadline = clock.monotonic() + _PATIENCE * random.uniform(1.0, 2.0)
        while (others := self.others()) or clock.monotonic() < known:
            if others and clock.monotonic() > deadline:
                raise NodeError(
                    f"{self._name} is published by {', '.join(others)} already and allows one publisher; end or "
                    "deactivate that node, use another namespace, or wait 20 s where it has been killed"
                )
            clock.sleep(_LOOK)

    def release(self) -> None:
        """Give up the role."""
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
            self._publisher = None

    def others(self) -> list[str]:
        """Full names of the other nodes that have the role."""
        names = [
            f"{one.node_namespace.rstrip('/')}/{one.node_name}"
            for one in self._node.get_publishers_info_by_topic(self._name)
        ]
        own = self._node.get_fully_qualified_name()
        if self._publisher is not None and own in names:
            names.remove(own)
        return names

    def complaint(self) -> str:
        """Error text for diagnostics; empty if no other node has the role."""
        others = self.others()
        return f"{self._name} is also published by {', '.join(others)}" if others else ""
