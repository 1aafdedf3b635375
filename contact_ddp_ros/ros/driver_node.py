"""Driver node: a robot with its own ROS 2 driver, in this package's names, signs and stamps, and back.

Joint states, which may come in parts and with joints that are none of the legs', an IMU and odometry become
`joint_states`, `imu/data` and `odom` of one stamp (:mod:`contact_ddp_ros.plants.driver_streams`). What the controller
commands goes to the driver in the form that it takes (:mod:`contact_ddp_ros.ros.driver_commands`).
"""

import json
import sys
import time as clock
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from threading import Event
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState

from contact_ddp_ros.base.errors import MessageError, ParameterError
from contact_ddp_ros.base.process import HelperProcess
from contact_ddp_ros.plants.driver_streams import Joined, JoinedStreams
from contact_ddp_ros.plants.gazebo.efforts import Drives
from contact_ddp_ros.plants.sensing import LeverArm
from contact_ddp_ros.robot.joints import JOINT_NAMES, LEG_NAMES, N_JOINTS
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.rotation import matrix_to_rpy, quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.robot.state import ImuSample, JointCommand, RobotState
from contact_ddp_ros.robot.straight_legs import JointMap
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import imu_message, imu_sample, stamp_message, time_ns
from contact_ddp_ros.ros.driver_commands import CommandForm, DriverCommands
from contact_ddp_ros.ros.loop_messages import CommandReader, StateWriter, stamp_misfit
from contact_ddp_ros.ros.monitor import Recent
from contact_ddp_ros.ros.node_config import DriverNodeConfig, DriverOptions
from contact_ddp_ros.ros.parameters import NodeParameters, fitted
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.reports import ERROR, OK, WARN, Diagnostics
from contact_ddp_ros.ros.runtime import publisher, run_node
from contact_ddp_ros.ros.timebase import NANOSECONDS, stamp_ns

NAME = "driver"

Array = NDArray[np.float64]

_SLICE = 0.02
"""Longest wait without a look whether to end, and whether the robot is silent [s]."""

_SILENT = 0.1
"""Time without a state after which no command can be right, and the joints damp [s of the wall clock]."""

_ACKNOWLEDGED = 0.2
"""Time that the last commands get to arrive [s]."""


class DriverNode:
    """Passes states and commands between the package and a robot's own driver."""

    def __init__(self, node: Node, arguments: Sequence[str] = ()) -> None:
        """Build the topics; `arguments` of the process, for its helper.

        Raises:
            ContactDdpError: a parameter or the robot's description is not usable.
        """
        self.node = node
        self._parameters = NodeParameters(node, fitted(node, DriverNodeConfig()))
        config, robot = self._parameters.config, load_robot(self._parameters.config.node.urdf or None)
        joints = robot.joint_map or JointMap(JOINT_NAMES, np.ones(N_JOINTS), np.zeros(N_JOINTS), {})
        own = config.driver
        _check_topics(node, own)
        signs = twelve("driver.signs", own.signs, 1.0)
        if not (np.abs(signs) == 1.0).all():
            raise ParameterError(f"driver.signs is {own.signs!r}; allowed: twelve of 1 and -1")
        names = tuple(one.strip() for one in own.joints.split(",")) if own.joints else joints.names
        if len(set(names)) != N_JOINTS:
            raise ParameterError(f"driver.joints has {len(set(names))} names; allowed: twelve different ones")
        self._signs = signs * joints.signs
        self._zeros = signs * joints.zeros + twelve("driver.offsets", own.offsets, 0.0)
        self._root = joints.root
        self._drives = Drives(config.drive.gains(len(LEG_NAMES)), robot.effort_limits, config.node.command_timeout)
        damping = tuple(config.drive.gains(len(LEG_NAMES)).kd_damping.tolist())
        form = CommandForm(
            own.command, own.command_topic, names, tuple(self._signs.tolist()), tuple(self._zeros.tolist()), damping
        )
        others = [topic for topic in (own.imu_topic, own.odom_topic) if topic]
        self._streams = JoinedStreams(names, len(others), time_ns(1.0 / own.rate))
        self._lever = LeverArm()
        self._writer, self._reader = StateWriter(), CommandReader()
        self._state: _Motion | None = None
        self._heard = 0.0
        self._quaternion = np.zeros(4)
        self._refused, self._joined, self._last_error = 0, 0, ""
        self._new_refused, self._new_joined = Recent(), Recent()
        self._joint_states, self._imu, self._odometry = (
            publisher(node, topic) for topic in (io.JOINT_STATES, io.IMU, io.ODOM)
        )
        self._last = HelperProcess("contact_ddp_ros.ros.driver_commands", [json.dumps(asdict(form)), *arguments])
        self._commands = DriverCommands(node, form)
        self._inlet = Receiver(node)
        self._inlet.subscribe(io.JOINT_COMMAND, self._on_command, raw=True)
        for topic in own.joint_topics.split(","):
            self._hear(topic.strip(), JointState, partial(self._on_joints, topic.strip()))
        for index, topic in enumerate(others):
            imu = topic == own.imu_topic
            self._hear(topic, Imu if imu else Odometry, partial(self._on_imu if imu else self._on_odometry, index))
        self._diagnostics = Diagnostics(node, self._report)
        self._parameters.connect(self._configure)

    def _hear(self, topic: str, kind: type[Any], callback: Any) -> None:
        """Subscribe to a topic of the driver, which may send best effort or reliably."""
        self._inlet.subscribe(io.Topic(topic, kind, io.SHARED, ""), callback, reliable=False)

    def run(self, stop: Event) -> None:
        """Pass messages on until `stop`; joints of a robot that has fallen silent damp."""
        while not stop.is_set():
            self._inlet.receive(_SLICE)
            if self._state is not None and self._silent:
                self._state = None
                self.node.get_logger().warning(f"no state for {_SILENT:g} s: the joints damp")
                self._commands.damp()

    @property
    def _silent(self) -> bool:
        """True if the robot has told no state for a while; in lock-step its time may stand still."""
        return not self._parameters.config.node.lockstep and clock.monotonic() - self._heard > _SILENT

    def wake(self) -> None:
        """End a wait of :meth:`run`: each ends by itself within a fraction of a second."""

    def farewell(self) -> None:
        """Have the joints damp, since a driver may hold its last command for ever."""
        self._commands.damp()
        for one in self._commands.publishers:
            one.wait_for_all_acked(Duration(seconds=_ACKNOWLEDGED))
        self._last.close()

    def _on_joints(self, topic: str, message: JointState) -> None:
        sizes = [len(part) for part in (message.position, message.velocity, message.effort)]
        numbers = np.concatenate([message.position, message.velocity, message.effort])
        count = len(message.name)
        if sizes[0] != count or any(size not in (0, count) for size in sizes) or not np.isfinite(numbers).all():
            self._refuse(
                f"{topic} has {', '.join(map(str, sizes))} positions, velocities and efforts for {count} names, or a "
                "number that is not finite; allowed: a finite position for each, and the others for each or none"
            )
            return
        self._tell(
            self._streams.joints(
                topic, message.name, self._stamp(message), message.position, message.velocity, message.effort
            )
        )

    def _on_imu(self, index: int, message: Imu) -> None:
        try:
            sample = imu_sample(message, 0.0)
        except MessageError as error:
            self._refuse(str(error))
            return
        own = self._parameters.config.driver
        mount = quaternion_to_matrix(rpy_to_quaternion(own.imu_roll, own.imu_pitch, own.imu_yaw))
        turned, place = self._root[0] @ mount, np.array([own.imu_x, own.imu_y, own.imu_z])
        rate, force, stamp = turned @ sample.angular_velocity, turned @ sample.specific_force, self._stamp(message)
        force = force - self._lever.acceleration(stamp / NANOSECONDS, rate, place)
        self._tell(self._streams.other(index, stamp, np.concatenate([rate, force])))

    def _on_odometry(self, index: int, message: Odometry) -> None:
        place, turn, twist = message.pose.pose.position, message.pose.pose.orientation, message.twist.twist
        values = np.array(
            [
                *(place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w),
                *(twist.linear.x, twist.linear.y, twist.linear.z),
                *(twist.angular.x, twist.angular.y, twist.angular.z),
            ]
        )
        if not (np.isfinite(values).all() and np.linalg.norm(values[3:7]) > 0.5):
            self._refuse(f"odometry holds {values}; allowed: finite numbers and a unit quaternion")
            return
        if values[3:7] @ self._quaternion < 0.0:
            values[3:7] *= -1.0  # the same attitude, and nearer to the one before
        self._quaternion = values[3:7]
        self._tell(self._streams.other(index, self._stamp(message), values))

    def _stamp(self, message: Any) -> int:
        """Stamp of a message [ns]; the time of its arrival where it has none."""
        return stamp_ns(message.header.stamp) or int(self.node.get_clock().now().nanoseconds)

    def _tell(self, joined: Joined | None) -> None:
        """Publish a joined state, joint states last: whoever waits for them then has the rest, too."""
        if joined is None:
            return
        if (misfit := stamp_misfit(joined.stamp)) is not None:
            self._refuse(str(misfit))
            return
        positions, velocities = self._signs * (joined.positions - self._zeros), self._signs * joined.velocities
        self._state, self._joined = _Motion(joined.stamp, positions, velocities), self._joined + 1
        self._heard = clock.monotonic()
        now = joined.stamp / NANOSECONDS
        law = self._drives.torques(positions, velocities, now)
        told = np.isfinite(joined.efforts)
        efforts = np.where(told, self._signs * np.where(told, joined.efforts, 0.0), law)
        own, others = self._parameters.config.driver, list(joined.others)
        sample = ImuSample(now, *np.split(others.pop(0), 2)) if own.imu_topic else None
        state = self._trunk(others[0] if others else None, now, positions, velocities)
        if sample is not None:
            message = imu_message(state, sample)
            message.header.stamp = stamp_message(joined.stamp)
            self._imu.publish(message)
        if others:
            self._odometry.publish(self._writer.odometry(joined.stamp, state))
        self._joint_states.publish(self._writer.joint_states(joined.stamp, state, efforts))
        if not self._parameters.config.node.lockstep and (own.command == "effort" or self._drives.silent):
            self._send(self._state)

    def _trunk(self, odometry: Array | None, now: float, positions: Array, velocities: Array) -> RobotState:
        """The state with the trunk's pose and velocity, from those of the URDF's root link."""
        still = np.zeros(3)
        if odometry is None:
            return RobotState(now, still, np.array([0.0, 0.0, 0.0, 1.0]), still, still, positions, velocities)
        rotation, origin = self._root
        quaternion = odometry[3:7] / np.linalg.norm(odometry[3:7])
        root = quaternion_to_matrix(quaternion)
        trunk_in_root = -rotation.T @ origin
        orientation = rpy_to_quaternion(*matrix_to_rpy(np.ascontiguousarray(root @ rotation.T)))
        linear, angular = odometry[7:10], odometry[10:13]
        velocity = rotation @ (linear + np.cross(angular, trunk_in_root))
        place = odometry[:3] + root @ trunk_in_root
        return RobotState(now, place, orientation, velocity, rotation @ angular, positions, velocities)

    def _on_command(self, message: bytes) -> None:
        state = self._state
        if state is None or self._silent:
            return
        try:
            stamp, command = self._reader.read(message)
            if self._parameters.config.node.lockstep and stamp != state.stamp:
                return
        except MessageError as error:
            self._refuse(f"{error}: the joints damp")
            command = JointCommand.damping(N_JOINTS)
        self._drives.apply(command, state.stamp / NANOSECONDS)
        self._send(state)

    def _send(self, state: "_Motion") -> None:
        torques = self._drives.torques(state.positions, state.velocities, state.stamp / NANOSECONDS)
        self._commands.send(self._drives.command, torques, self._drives.gains, state.stamp)

    def _refuse(self, text: str) -> None:
        self._refused, self._last_error = self._refused + 1, text
        self.node.get_logger().error(text, throttle_duration_sec=1.0)

    def _configure(self, config: DriverNodeConfig) -> None:
        self._drives.gains, self._drives.timeout = config.drive.gains(len(LEG_NAMES)), config.node.command_timeout

    def _report(self) -> tuple[bytes, str, dict[str, Any]]:
        values = {
            "states": self._joined,
            "malformed messages": self._refused,
            "joints of no leg": ", ".join(sorted(self._streams.ignored)),
        }
        if refused := self._new_refused.growth(self._refused):
            return ERROR, f"{refused} malformed messages since the last report: {self._last_error}", values
        if not self._new_joined.growth(self._joined):
            missing, own = self._streams.missing, self._parameters.config.driver
            what = f"joints {', '.join(missing)}" if missing else own.imu_topic or own.odom_topic
            return WARN, f"no state: nothing has told {what}", values
        return (WARN, "no joint command", values) if self._drives.silent else (OK, "passing on", values)


@dataclass(frozen=True)
class _Motion:
    """Motion of the joints (12,) at a stamp [ns], in this package's names and signs [rad, rad/s]."""

    stamp: int
    positions: Array
    velocities: Array


def twelve(name: str, text: str, otherwise: float) -> Array:
    """(12,) numbers of a parameter; all `otherwise` where it is empty. Raises ParameterError."""
    if not text:
        return np.full(N_JOINTS, otherwise)
    try:
        numbers = np.array([float(part) for part in text.split(",")])
    except ValueError:
        numbers = np.zeros(0)
    if len(numbers) != N_JOINTS or not np.isfinite(numbers).all():
        raise ParameterError(f"{name} is {text!r}; allowed: twelve numbers separated by commas, or nothing")
    return numbers


def _check_topics(node: Node, own: DriverOptions) -> None:
    """Raises ParameterError where the driver's topics are those on which this node tells the package."""
    ours = {node.resolve_topic_name(topic.name) for topic in (io.JOINT_STATES, io.IMU, io.ODOM, io.JOINT_COMMAND)}
    theirs = [one.strip() for one in own.joint_topics.split(",")] + [own.imu_topic, own.odom_topic, own.command_topic]
    same = [topic for topic in theirs if topic and node.resolve_topic_name(topic.replace("{joint}", "x")) in ours]
    if same:
        raise ParameterError(
            f"{', '.join(same)} of the driver is a topic of this package's nodes, too; start them in a namespace, as "
            "with namespace:=mpc"
        )


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_node(NAME, partial(DriverNode, arguments=given), arguments)


if __name__ == "__main__":
    sys.exit(main())
