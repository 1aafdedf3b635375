"""Publishers that a node does not hear are named, with the policy and the cure."""

import time as clock
from types import SimpleNamespace

import pytest
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros_graph import PATIENCE, NodeMaker

from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.runtime import QosWatch, subscribe


class Watched:
    """A node and the warnings about what it does not hear."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.warnings: list[str] = []
        self.watch = QosWatch(node)
        self.watch._node = self  # type: ignore[assignment]

    def get_logger(self) -> SimpleNamespace:
        return SimpleNamespace(warning=self.warnings.append)

    def __getattr__(self, name: str) -> object:
        return getattr(self.node, name)


@pytest.mark.parametrize("by_inlet", [True, False])
@pytest.mark.parametrize(
    ("topic", "qos", "words"),
    [
        (
            io.JOINT_STATES,
            QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT),
            ["/joint_states", "/driver", "reliability best_effort", "reliability reliable"],
        ),
        (
            io.CONTACTS,
            QoSProfile(depth=1, durability=DurabilityPolicy.VOLATILE),
            ["/planned_contacts", "/driver", "durability volatile", "durability transient_local"],
        ),
    ],
)
def test_who_is_not_heard_is_named_once(
    make_node: NodeMaker, by_inlet: bool, topic: io.Topic, qos: QoSProfile, words: list[str]
) -> None:
    listener, driver = make_node("listener"), make_node("driver")
    if by_inlet:
        Receiver(listener).subscribe(topic, lambda _message: None)
    else:
        subscribe(listener, topic, lambda _message: None)
    watched = Watched(listener)
    good = make_node("good").create_publisher(topic.type, topic.name, topic.qos)
    driver.create_publisher(topic.type, topic.name, qos)
    deadline = clock.monotonic() + PATIENCE
    while not watched.warnings:
        assert clock.monotonic() < deadline
        watched.watch.look()
        clock.sleep(0.02)
    while good.get_subscription_count() == 0:
        assert clock.monotonic() < deadline
        clock.sleep(0.02)
    watched.watch.look()
    (warning,) = watched.warnings
    assert all(word in warning for word in words)
