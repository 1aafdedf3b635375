"""Warnings about publishers whose messages a node does not get, since their quality of service offers too little.

The middleware connects a subscription that asks for `reliable`, say, to no publisher that offers `best_effort`, and no
message says so where one is missed. rclpy's events of incompatible qualities are for an executor, which does not attend
to the subscriptions of an :class:`~contact_ddp_ros.ros.receiver.Receiver`; the middleware's graph tells of all of them.
"""

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

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
