"""The messages of the control loop as bytes: states and commands, written in place and read without message objects.

Writers start from a message that :mod:`contact_ddp_ros.nodes.conversions` makes, and readers from the first message of
a publisher that its checks accept: later ones that differ in stamp and numbers only are read in place. Any other
message goes through the same conversions again, so every check and every error text is theirs.
"""

from typing import Any

import numpy as np
from geometry_msgs.msg import Pose, Twist
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from contact_ddp_ros.errors import MessageError
from contact_ddp_ros.nodes.conversions import (
    check_state,
    doubles,
    joint_command,
    joint_command_message,
    joint_order,
    joint_state_message,
    odometry_message,
    robot_state,
    to_stamp,
)
from contact_ddp_ros.nodes.wire import Template, stamp_of
from contact_ddp_ros.robot.joints import N_JOINTS
from contact_ddp_ros.robot.state import JointCommand, RobotState

Array = NDArray[np.float64]

_STILL = RobotState(
    0.0, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), *(np.zeros(n) for n in (3, 3, N_JOINTS, N_JOINTS))
)
_JOINT_PARTS = ("position", "velocity", "effort")
_COMMAND_PARTS = ("positions", "velocities", "effort")
_POSE, _TWIST, _COVARIANCE = 7, 6, 36


def _fill_sequence(name: str) -> Any:
    return lambda message, values: setattr(message, name, doubles(values))


def _fill_point(name: str) -> Any:
    return lambda message, values: setattr(message.points[0], name, doubles(values))


def _fill_pose(message: Odometry, values: Array) -> None:
    x, y, z, *quaternion = values.tolist()
    message.pose.pose = Pose()
    for name, value in zip("xyz", (x, y, z)):
        setattr(message.pose.pose.position, name, value)
    for name, value in zip("xyzw", quaternion):
        setattr(message.pose.pose.orientation, name, value)


def _fill_twist(message: Odometry, values: Array) -> None:
    message.twist.twist = Twist()
    numbers = values.tolist()
    for vector, part in ((message.twist.twist.linear, numbers[:3]), (message.twist.twist.angular, numbers[3:])):
        for name, value in zip("xyz", part):
            setattr(vector, name, value)


def _fill_covariance(name: str) -> Any:
    return lambda message, values: setattr(getattr(message, name), "covariance", values)


_ODOMETRY_PARTS = {
    "pose": (_POSE, _fill_pose),
    "pose_covariance": (_COVARIANCE, _fill_covariance("pose")),
    "twist": (_TWIST, _fill_twist),
    "twist_covariance": (_COVARIANCE, _fill_covariance("twist")),
}


def _joint_template(message: JointState) -> Template:
    sizes = {name: len(getattr(message, name)) for name in _JOINT_PARTS}
    return Template(message, {name: (sizes[name], _fill_sequence(name)) for name in _JOINT_PARTS})


def _command_template(message: JointTrajectory) -> Template:
    sizes = {name: len(getattr(message.points[0], name)) for name in _COMMAND_PARTS}
    return Template(message, {name: (sizes[name], _fill_point(name)) for name in _COMMAND_PARTS})


class StateWriter:
    """Joint states and odometry of robot states."""

    def __init__(self) -> None:
        """Make the templates."""
        self._joints = _joint_template(joint_state_message(_STILL, np.zeros(N_JOINTS)))
        self._odometry = Template(odometry_message(_STILL), _ODOMETRY_PARTS)
        zeros = np.zeros(_COVARIANCE)
        self._odometry.written(0, pose_covariance=zeros, twist_covariance=zeros)

    def joint_states(self, stamp: int, state: RobotState, torques: Array) -> bytes:
        """A sensor_msgs/JointState of that stamp [ns], the torques applied (12,) [N m] as effort."""
        return self._joints.written(
            stamp, position=state.joint_positions, velocity=state.joint_velocities, effort=torques
        )

    def odometry(self, stamp: int, state: RobotState) -> bytes:
        """A nav_msgs/Odometry of that stamp [ns]; covariances stay zero: unknown."""
        return self._odometry.written(
            stamp,
            pose=np.concatenate([state.position, state.orientation]),
            twist=np.concatenate([state.linear_velocity, state.angular_velocity]),
        )


class StateReader:
    """Robot states from serialised joint states and odometry."""

    def __init__(self) -> None:
        """No message has been read."""
        self._joints: Template | None = None
        self._order: NDArray[np.int64] | None = None
        self._odometry: Template | None = None

    def read(self, joints: bytes, odometry: bytes, time: float) -> RobotState:
        """The state that the two messages say, stamped `time` [s].

        Raises:
            MessageError: as :func:`contact_ddp_ros.nodes.conversions.robot_state`.
        """
        first, second = self._joints, self._odometry
        if first is None or second is None or not (first.fits(joints) and second.fits(odometry)):
            return self._learn(joints, odometry, time)
        pose, twist = second.read(odometry, "pose"), second.read(odometry, "twist")
        state = RobotState(
            time=time,
            position=pose[:3],
            orientation=pose[3:],
            linear_velocity=twist[:3],
            angular_velocity=twist[3:],
            joint_positions=first.read(joints, "position")[self._order],
            joint_velocities=first.read(joints, "velocity")[self._order],
        )
        check_state(state)
        return state

    def _learn(self, joints: bytes, odometry: bytes, time: float) -> RobotState:
        first, second = deserialize_message(joints, JointState), deserialize_message(odometry, Odometry)
        state = robot_state(first, second, time)
        self._joints, self._order = _joint_template(first), joint_order(first.name)
        self._odometry = Template(second, _ODOMETRY_PARTS)
        return state


class CommandWriter:
    """Joint commands as messages."""

    def __init__(self) -> None:
        """Make the templates: one with positions, one for damping."""
        zeros, stamp = np.zeros(N_JOINTS), to_stamp(0.0)
        self._following = _command_template(joint_command_message(JointCommand(zeros, zeros, zeros), stamp))
        self._damping = _command_template(joint_command_message(JointCommand.damping(N_JOINTS), stamp))

    def message(self, stamp: int, command: JointCommand) -> bytes:
        """A trajectory_msgs/JointTrajectory of one point that answers the state of that stamp [ns]."""
        if command.positions is None:
            return self._damping.written(stamp, velocities=command.velocities, effort=command.torques)
        return self._following.written(
            stamp, positions=command.positions, velocities=command.velocities, effort=command.torques
        )


class CommandReader:
    """Joint commands from serialised messages."""

    def __init__(self) -> None:
        """No message has been read."""
        self._known: list[tuple[Template, NDArray[np.int64], bool]] = []

    def read(self, message: bytes) -> tuple[int, JointCommand]:
        """The stamp [ns] of the state that a command answers, and the command.

        Raises:
            MessageError: as :func:`contact_ddp_ros.nodes.conversions.joint_command`.
        """
        stamp = stamp_of(message)
        for template, order, damping in self._known:
            if template.fits(message):
                parts = {name: template.read(message, name) for name in _COMMAND_PARTS}
                if not all(np.isfinite(values).all() for values in parts.values()):
                    raise MessageError("joint command holds a number that is not finite; allowed: finite numbers")
                positions = None if damping else parts["positions"][order]
                return stamp, JointCommand(positions, parts["velocities"][order], parts["effort"][order])
        return stamp, self._learn(message)

    def _learn(self, message: bytes) -> JointCommand:
        read = deserialize_message(message, JointTrajectory)
        command = joint_command(read)
        known = (_command_template(read), joint_order(read.joint_names), command.positions is None)
        self._known = [*self._known[-1:], known]  # one of each kind
        return command
