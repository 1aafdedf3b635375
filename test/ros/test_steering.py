"""Velocity commands of either type."""

import pytest
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.executors import SingleThreadedExecutor
from ros_graph import NodeMaker, Operator

from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros import runtime
from contact_ddp_ros.ros.processes import NodeProcesses

FORWARD = Twist()
FORWARD.linear.x = 0.5


def stamped(frame: str) -> TwistStamped:
    message = TwistStamped(twist=FORWARD)
    message.header.frame_id = frame
    return message


@pytest.mark.parametrize(
    ("wanted", "message", "heard"),
    [
        (False, FORWARD, True),
        (True, stamped(""), True),
        (True, stamped("base_link"), True),
        (True, stamped("odom"), False),
    ],
)
def test_the_velocity_is_taken_from_the_type_that_is_wanted(
    make_node: NodeMaker, executor: SingleThreadedExecutor, wanted: bool, message: Twist | TwistStamped, heard: bool
) -> None:
    operator, listener = Operator(make_node, executor), make_node("listener", namespace="steered")
    sender = operator.node.create_publisher(type(message), f"/steered/{io.CMD_VEL.name}", io.CMD_VEL.qos)
    taken: list[Twist] = []
    runtime.subscribe_velocity(listener, wanted, taken.append)
    executor.add_node(listener)
    operator.until(lambda: sender.get_subscription_count() > 0)
    sender.publish(message)
    if heard:
        operator.until(lambda: len(taken) > 0)
        assert taken == [FORWARD]
    else:
        operator.watch(0.5)
        assert not taken


def test_who_sends_the_other_type_is_named(
    make_node: NodeMaker, executor: SingleThreadedExecutor, processes: NodeProcesses
) -> None:
    operator = Operator(make_node, executor)
    operator.node.create_publisher(Twist, io.CMD_VEL.name, io.CMD_VEL.qos)
    processes.start("planner", {"node.enable_stamped_cmd_vel": True})
    words = "operator sends cmd_vel as geometry_msgs/msg/Twist,"
    operator.until(lambda: words in processes.log("planner"))
