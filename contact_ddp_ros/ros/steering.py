"""Velocity commands as Twist or as TwistStamped, selected by a parameter.

As in Nav2, `enable_stamped_cmd_vel` selects the type that a node subscribes to on `cmd_vel`; publishers of the other
type are ignored and named in the log.
"""

from collections.abc import Callable

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

from contact_ddp_ros.ros import interfaces as io

_LOOK = 2.0
"""Time between two looks at who sends which type [s]."""

_FRAMES = ("", io.BASE_FRAME)
"""Frames in which a velocity may be commanded; empty: the trunk's own."""


def subscribe_velocity(node: Node, stamped: bool, take: Callable[[Twist], None]) -> None:
    """Subscribe to `cmd_vel` as TwistStamped or as Twist; `take` gets the Twist of either."""

    def take_stamped(message: TwistStamped) -> None:
        frame = message.header.frame_id
        if frame in _FRAMES:
            take(message.twist)
        else:
            node.get_logger().error(
                f"message refused: a velocity in the frame {frame!r}; allowed: {io.BASE_FRAME!r} or none",
                throttle_duration_sec=1.0,
            )

    topic, wanted = io.CMD_VEL, TwistStamped if stamped else Twist
    node.create_subscription(wanted, topic.name, take_stamped if stamped else take, topic.qos)
    told: set[str] = set()

    def look() -> None:
        for sender in node.get_publishers_info_by_topic(node.resolve_topic_name(topic.name)):
            if sender.topic_type != f"geometry_msgs/msg/{wanted.__name__}" and sender.node_name not in told:
                told.add(sender.node_name)
                node.get_logger().warning(
                    f"{sender.node_name} sends {topic.name} as {sender.topic_type}, which is not heard: "
                    f"node.enable_stamped_cmd_vel is {str(stamped).lower()}"
                )

    node.create_timer(_LOOK, look, clock=Clock(clock_type=ClockType.STEADY_TIME))
