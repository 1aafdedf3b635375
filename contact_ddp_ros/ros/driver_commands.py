"""Commands to a robot's own driver, in the form that it takes: efforts, impedances of joints, or a trajectory point.

Run as a program it damps the joints once its standard input closes, for a driver that holds its last command when the
node has died:

    python -m contact_ddp_ros.ros.driver_commands OPTIONS [--ros-args ...]
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from contact_ddp_ros.robot.state import DriveGains, JointCommand
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import doubles, stamp_message
from contact_ddp_ros.ros.last_efforts import outlive
from contact_ddp_ros.ros.runtime import publisher

Array = NDArray[np.float64]

NAME = "driver_last_commands"


@dataclass(frozen=True)
class CommandForm:
    """Form of a driver's commands.

    Attributes:
        kind: `effort`, `hybrid` or `trajectory`. topic: of them; {joint} stands for a joint's name with `hybrid`.
        names: (12,) of the driver's joints. signs: (12,) of its angles over this package's.
        zeros: (12,) its angles where this package's are zero [rad].
        damping: (12,) velocity gains of joints that only damp [N m s/rad].
    """

    kind: str
    topic: str
    names: tuple[str, ...]
    signs: tuple[float, ...]
    zeros: tuple[float, ...]
    damping: tuple[float, ...]


class DriverCommands:
    """Publishers of commands to a driver."""

    def __init__(self, node: Node, form: CommandForm) -> None:
        """Make the topics."""
        self._form, self._signs, self._zeros = form, np.array(form.signs), np.array(form.zeros)
        topics = [form.topic.replace("{joint}", name) for name in form.names] if form.kind == "hybrid" else [form.topic]
        kind = JointTrajectory if form.kind == "trajectory" else Float64MultiArray
        self.publishers = [publisher(node, io.Topic(topic, kind, io.NEWEST, "")) for topic in topics]

    def send(self, command: JointCommand, torques: Array, gains: DriveGains, stamp: int) -> None:
        """Publish a command; `torques` (12,) are those of its law at the measured joints [N m]; `stamp` [ns]."""
        signs, damps = self._signs, command.positions is None
        if self._form.kind == "effort":
            self.publishers[0].publish(Float64MultiArray(data=doubles(signs * torques)))
            return
        wanted = np.zeros(len(signs)) if command.positions is None else command.positions
        positions, velocities = self._zeros + signs * wanted, signs * command.velocities
        efforts = signs * command.torques
        if self._form.kind == "trajectory":
            point = JointTrajectoryPoint(velocities=doubles(velocities), effort=doubles(efforts))
            if not damps:
                point.positions = doubles(positions)
            message = JointTrajectory(joint_names=list(self._form.names), points=[point])
            message.header.stamp = stamp_message(stamp)
            self.publishers[0].publish(message)
            return
        kp, kd = (0.0 * gains.kp, gains.kd_damping) if damps else (gains.kp, gains.kd)
        rows = np.column_stack([positions, velocities, efforts, kp, kd])
        for one, row in zip(self.publishers, rows, strict=True):
            one.publish(Float64MultiArray(data=doubles(row)))

    def damp(self) -> None:
        """Have the joints damp: no effort where the driver knows nothing else."""
        zeros, damping = np.zeros(len(self._signs)), np.array(self._form.damping)
        self.send(JointCommand.damping(len(zeros)), zeros, DriveGains(zeros, zeros, damping), 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; the exit code."""
    options, *rest = sys.argv[1:] if arguments is None else arguments
    given = json.loads(options)
    parts: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in given.items()}
    form = CommandForm(**parts)
    return outlive(NAME, rest, lambda node: DriverCommands(node, form).damp)


if __name__ == "__main__":
    sys.exit(main())
