"""Diagnostics recover: what is over holds no level."""

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.executors import SingleThreadedExecutor
from ros_graph import NodeMaker, Operator
from trajectory_msgs.msg import JointTrajectory

from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.reports import ERROR, WARN, status_values
from contact_ddp_ros.ros.runtime import publisher, subscribe


@pytest.mark.parametrize(
    ("name", "topic", "message", "level"),
    [
        ("drives", io.JOINT_COMMAND, JointTrajectory(), ERROR),
        ("controller", io.POLICY, io.POLICY.type(), WARN),
    ],
)
def test_one_malformed_message_is_reported_once_and_counted_for_ever(
    make_node: NodeMaker,
    executor: SingleThreadedExecutor,
    processes: NodeProcesses,
    name: str,
    topic: io.Topic,
    message: object,
    level: bytes,
) -> None:
    operator = Operator(make_node, executor)
    said: list[DiagnosticStatus] = []

    def note(array: DiagnosticArray) -> None:
        said.extend(one for one in array.status if one.name == f"/{name}")

    subscribe(operator.node, io.DIAGNOSTICS, note)
    sender = publisher(operator.node, topic)
    processes.start(name, {})
    operator.until(lambda: sender.get_subscription_count() > 0 and len(said) > 0)
    sender.publish(message)
    operator.until(lambda: said[-1].level == level and "1 malformed" in said[-1].message)
    reported = len(said)
    operator.until(lambda: len(said) > reported)
    assert "malformed" not in said[-1].message
    (total,) = (value for key, value in status_values(said[-1]).items() if "malformed" in key)
    assert total == "1"
