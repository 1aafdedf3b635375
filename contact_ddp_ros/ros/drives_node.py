"""The joint drives as a node, for simulators whose joints take efforts over ROS: gz_ros2_control and ros_gz_bridge.

Every joint state is answered by the efforts that the robot's own drives would give: the law of the last joint command,
damping where none came for a while, clipped to the actuators. The last efforts are zero, even of a node that is
killed: a helper process sends them (:mod:`contact_ddp_ros.ros.last_efforts`).
"""

import sys
from collections.abc import Sequence
from functools import partial
from threading import Event
from typing import Any

import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.base.process import HelperProcess
from contact_ddp_ros.plants.gazebo.efforts import Drives
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import JointCommand
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import from_stamp, joint_command, joint_motion
from contact_ddp_ros.ros.last_efforts import EffortPublishers
from contact_ddp_ros.ros.monitor import Recent
from contact_ddp_ros.ros.node_config import DrivesNodeConfig
from contact_ddp_ros.ros.parameters import NodeParameters, fitted
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.reports import ERROR, OK, WARN, Diagnostics
from contact_ddp_ros.ros.runtime import run_node

NAME = "drives"

_SLICE = 0.1
"""Longest wait without a look whether to end [s]."""

_ACKNOWLEDGED = 0.2
"""Time that the last efforts get to arrive [s]."""


class DrivesNode:
    """Answers joint states with efforts."""

    def __init__(self, node: Node, arguments: Sequence[str] = ()) -> None:
        """Build the drives and their topics; `arguments` of the process, for its helper.

        Raises:
            ContactDdpError: a parameter or the robot's description is not usable.
        """
        self.node = node
        self._parameters = NodeParameters(node, fitted(node, DrivesNodeConfig()))
        config = self._parameters.config
        self._robot = load_robot(config.node.urdf or None)
        self._damping = JointCommand.damping(self._robot.n_joints)
        self._drives = Drives(
            config.drive.gains(len(LEG_NAMES)),
            self._robot.effort_limits,
            config.node.command_timeout,
            np.tile(config.node.joint_damping, len(LEG_NAMES)),
        )
        self._now = -np.inf
        self._refused, self._recent = 0, Recent()
        self._last_efforts = HelperProcess("contact_ddp_ros.ros.last_efforts", [config.node.output, *arguments])
        self._efforts = EffortPublishers(node, config.node.output)
        self._inlet = Receiver(node)
        self._inlet.subscribe(io.JOINT_COMMAND, self._on_command)
        self._inlet.subscribe(io.JOINT_STATES, self._on_joint_states)
        self._diagnostics = Diagnostics(node, self._report)
        self._parameters.connect(self._configure)

    def run(self, stop: Event) -> None:
        """Answer states until `stop`."""
        while not stop.is_set():
            self._inlet.receive(_SLICE)

    def wake(self) -> None:
        """End a wait of :meth:`run`: each ends by itself within a fraction of a second."""

    def farewell(self) -> None:
        """Send zero efforts, since the last ones would act for ever."""
        self._efforts.send(np.zeros(self._robot.n_joints))
        for one in self._efforts.publishers:
            one.wait_for_all_acked(Duration(seconds=_ACKNOWLEDGED))
        self._last_efforts.close()

    def _on_command(self, message: JointTrajectory) -> None:
        try:
            command = joint_command(message)
        except ContactDdpError as error:
            self._refuse(error)
            command = self._damping
        self._drives.apply(command, self._now)

    def _on_joint_states(self, message: JointState) -> None:
        try:
            positions, velocities = joint_motion(message)
        except ContactDdpError as error:
            self._refuse(error)
            return
        self._now = from_stamp(message.header.stamp)
        self._efforts.send(self._drives.efforts(positions, velocities, self._now))

    def _refuse(self, error: ContactDdpError) -> None:
        self._refused += 1
        self.node.get_logger().error(str(error), throttle_duration_sec=1.0)

    def _configure(self, config: DrivesNodeConfig) -> None:
        self._drives.gains, self._drives.timeout = config.drive.gains(len(LEG_NAMES)), config.node.command_timeout

    def _report(self) -> tuple[bytes, str, dict[str, Any]]:
        values = {"malformed messages": self._refused}
        if refused := self._recent.growth(self._refused):
            return ERROR, f"{refused} malformed messages since the last report", values
        return (WARN, "no joint command", values) if self._drives.silent else (OK, "driving", values)


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_node(NAME, partial(DrivesNode, arguments=given), arguments)


if __name__ == "__main__":
    sys.exit(main())
