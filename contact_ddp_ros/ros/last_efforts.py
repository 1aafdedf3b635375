"""Sends zero efforts to a simulator's joints when the drives node has ended for any reason.

    python -m contact_ddp_ros.ros.last_efforts OUTPUT [--ros-args ...]

In gz_ros2_control and ros_gz_bridge efforts do not expire: the last one acts for ever. So a helper process of the
drives node has publishers of its own and waits until its standard input, a pipe from that node, closes.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time as clock
from collections.abc import Sequence
from pathlib import Path

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

_END = 5.0
"""Time that the helper gets to end [s]."""


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


class LastEfforts:
    """The parent's handle of the helper process."""

    def __init__(self, output: str, arguments: Sequence[str]) -> None:
        """Start it; `arguments` of the parent, for its namespace and remappings."""
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
        self._child = subprocess.Popen(
            [sys.executable, "-m", "contact_ddp_ros.ros.last_efforts", output, *arguments],
            stdin=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # a Ctrl-C is the parent's to pass on
        )

    def close(self) -> None:
        """Have it send zero efforts and end."""
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()
        try:
            self._child.wait(_END)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    output, *rest = sys.argv[1:] if arguments is None else arguments
    # No services: a security policy has none for this node.
    own = ["--remap", f"__node:={NAME}", "--param", "start_type_description_service:=false"]
    named = ["--ros-args", *own, "--", *rest]
    rclpy.init(args=named, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(NAME, enable_rosout=False, start_parameter_services=False)
    efforts = EffortPublishers(node, output)
    sys.stdin.buffer.read()
    for _ in range(_REPEATS):
        efforts.send(np.zeros(len(JOINT_NAMES)))
        clock.sleep(_BREATH)
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
