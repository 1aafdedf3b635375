"""Sends zero efforts to a simulator's joints when the drives node has ended for any reason.

    python -m contact_ddp_ros.ros.last_efforts OUTPUT [--ros-args ...]

In gz_ros2_control and ros_gz_bridge efforts do not expire: the last one acts for ever. So a helper process of the
drives node has publishers of its own and waits until its standard input, a pipe from that node, closes.
"""

import signal
import sys
import time as clock
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import rclpy
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import Float64, Float64MultiArray

from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import doubles
from contact_ddp_ros.ros.runtime import publisher

NAME = "drives_last_efforts"

_REPEATS, _BREATH = 5, 0.05
"""Number of zero efforts at the end, and time after each [s]: efforts need not be reliable."""


class EffortPublishers:
    """Efforts to all joints: one message for a group of them (`group`), or one for each (`joints`)."""

    def __init__(self, node: Node, output: str) -> None:
        topics = [io.EFFORTS] if output == "group" else [io.joint_effort(name) for name in JOINT_NAMES]
        self.publishers = [publisher(node, topic) for topic in topics]

    def send(self, efforts: NDArray[np.float64]) -> None:
        """Publish the efforts (12,) [N m]."""
        if len(self.publishers) == 1:
            self.publishers[0].publish(Float64MultiArray(data=doubles(efforts)))
            return
        for one, effort in zip(self.publishers, efforts.tolist(), strict=True):
            one.publish(Float64(data=effort))


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; the exit code."""
    output, *rest = sys.argv[1:] if arguments is None else arguments

    def zeros(node: Node) -> Callable[[], None]:
        return partial(EffortPublishers(node, output).send, np.zeros(len(JOINT_NAMES)))

    return outlive(NAME, rest, zeros)


def outlive(name: str, arguments: Sequence[str], make: Callable[[Node], Callable[[], None]]) -> int:
    """Wait until standard input closes, then do several times what `make` gives for a node of that name; returns 0."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # No services: a security policy has none for this node.
    own = ["--remap", f"__node:={name}", "--param", "start_type_description_service:=false"]
    named = ["--ros-args", *own, "--", *arguments]
    rclpy.init(args=named, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(name, enable_rosout=False, start_parameter_services=False)
    act = make(node)
    sys.stdin.buffer.read()
    for _ in range(_REPEATS):
        act()
        clock.sleep(_BREATH)
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
