"""Messages as a Gazebo server tells them, for tests of who reads them."""

from typing import Any

import numpy as np

from contact_ddp_ros.plants.gazebo.emulator.messages import TYPES
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.rotation import rotation_vector_to_quaternion

STEP = 1_000_000
"""A physics step [ns]."""


def stamped(kind: str, stamp: int) -> Any:
    message = TYPES[kind]()
    message.header.stamp.sec, message.header.stamp.nsec = divmod(stamp, 1_000_000_000)
    return message


def joint_states(stamp: int, names: tuple[str, ...] = JOINT_NAMES) -> Any:
    """Joint i of JOINT_NAMES is at i + stamp in seconds and moves with -i."""
    message = stamped("Model", stamp)
    for name in names:
        joint = message.joint.add()
        joint.name = name
        if name in JOINT_NAMES:
            index = JOINT_NAMES.index(name)
            joint.axis1.position, joint.axis1.velocity = index + 1e-9 * stamp, -float(index)
    return message


def odometry(stamp: int, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0), turn: float = 0.0) -> Any:
    """The trunk in uniform motion: `velocity` in the world [m/s], `turn` about z [rad/s]; its twist says nothing."""
    message = stamped("Odometry", stamp)
    position = np.array(velocity) * 1e-9 * stamp
    for name, value in zip("xyz", position.tolist(), strict=True):
        setattr(message.pose.position, name, value)
    quaternion = rotation_vector_to_quaternion(np.array([0.0, 0.0, turn * 1e-9 * stamp]))
    for name, value in zip("xyzw", quaternion.tolist(), strict=True):
        setattr(message.pose.orientation, name, value)
    message.twist.linear.x, message.twist.angular.z = 99.0, 99.0
    return message
