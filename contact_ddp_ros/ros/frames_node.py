"""The frame of the trunk for RViz and other tools: /tf from odometry, at a reduced rate to save processor time.

The controller's own estimate is what it walks by; where it publishes one, other odometry is left alone.
"""

import sys
from threading import Event

from geometry_msgs.msg import TransformStamped, Vector3
from nav_msgs.msg import Odometry
from rclpy.node import Node

from contact_ddp_ros.base.errors import NodeError
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.runtime import run_node
from contact_ddp_ros.ros.timebase import stamp_ns

NAME = "frames"

_PERIOD_NS = 20_000_000
"""Time between two transforms [ns]."""

_REIGN_NS = 1_000_000_000
"""Time after an estimate of the controller's in which other odometry is left alone [ns]."""

_PATIENCE = 0.1
"""Longest wait without a look at whether to end [s]."""

_DEPTH = 100
"""Transforms that wait for a slow reader, as tf2 has it."""


class FramesNode:
    """Publishes the transform of `base_link` in `odom`."""

    def __init__(self, node: Node) -> None:
        """Raises NodeError where ROS 2's tf2_msgs is not installed."""
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError as error:
            raise NodeError(f"{error}; install the ROS 2 package tf2_msgs") from error
        self.node = node
        self._message = TFMessage
        self._told, self._estimated = -_PERIOD_NS, -_REIGN_NS
        self._frames = node.create_publisher(TFMessage, "/tf", _DEPTH)
        self._inlet = Receiver(node)
        self._inlet.subscribe(io.ODOM, self._on_odometry)
        self._inlet.subscribe(io.ESTIMATE, self._on_estimate)

    def run(self, stop: Event) -> None:
        """Publish until `stop`."""
        while not stop.is_set():
            self._inlet.receive(_PATIENCE)

    def wake(self) -> None:
        """End a wait of :meth:`run`: each ends by itself within a fraction of a second."""

    def farewell(self) -> None:
        """Last message of the node: none."""

    def _on_estimate(self, message: Odometry) -> None:
        self._estimated = stamp_ns(message.header.stamp)
        self._tell(message, self._estimated)

    def _on_odometry(self, message: Odometry) -> None:
        stamp = stamp_ns(message.header.stamp)
        if not 0 <= stamp - self._estimated < _REIGN_NS:
            self._tell(message, stamp)

    def _tell(self, message: Odometry, stamp: int) -> None:
        if 0 <= stamp - self._told < _PERIOD_NS:
            return
        self._told = stamp
        self._frames.publish(self._message(transforms=[transform_message(message)]))


def transform_message(odometry: Odometry) -> TransformStamped:
    """The frame of the trunk in `odom`, for tools that look frames up."""
    message = TransformStamped(header=odometry.header, child_frame_id=odometry.child_frame_id)
    position = odometry.pose.pose.position
    message.transform.translation = Vector3(x=position.x, y=position.y, z=position.z)
    message.transform.rotation = odometry.pose.pose.orientation
    return message


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    return run_node(NAME, FramesNode, arguments)


if __name__ == "__main__":
    sys.exit(main())
