"""The whole-body model: all 18 coordinates of the robot.

    q = (x, y, z, yaw, pitch, roll, abduction, hip and knee of every leg)

with x, y, z of the trunk's origin in `odom` and its ZYX Euler angles, the joints of :data:`robot.model.BASE_JOINTS`.
The chart is singular at a pitch of 90 degrees, far beyond what the supervisor lets a gait do. Plans are made in a frame
at the robot along the wanted heading (:mod:`contact_ddp_ros.models.frame`); differences of the yaw are taken around the
circle.
"""

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.models.frame import HorizontalFrame
from contact_ddp_ros.robot.joints import FOOT_NAMES, JOINT_NAMES, LEG_NAMES
from contact_ddp_ros.robot.model import BASE_JOINTS, Robot
from contact_ddp_ros.robot.rotation import (
    quaternion_to_matrix,
    quaternion_to_rpy,
    rpy_rates,
    rpy_to_quaternion,
    wrap_angle,
)
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

BASE = len(BASE_JOINTS)
HEIGHT, YAW, PITCH, ROLL = 2, 3, 4, 5
"""Indices into q."""


class WholeBodyModel:
    """A robot with all its coordinates; see :class:`contact_ddp_ros.models.model.Model`."""

    name = "whole_body"
    axes = (0, 1, 2)
    coordinates = (*(name for name, _, _ in BASE_JOINTS), *JOINT_NAMES)
    height = HEIGHT
    legs_of: Mapping[str, tuple[str, ...]] = {foot: (leg,) for foot, leg in zip(FOOT_NAMES, LEG_NAMES, strict=True)}

    def __init__(self, robot: Robot) -> None:
        """Any robot has one."""
        self.robot = robot
        self.torque_limits: Array = robot.effort_limits

    @cached_property
    def tree(self) -> RigidBodyTree:
        """The rigid bodies that are planned for (n = 18)."""
        return self.robot.tree

    def state(self, state: RobotState) -> Array:
        """(36,) coordinates and their rates; yaw in (-π, π]."""
        roll, pitch, yaw = quaternion_to_rpy(state.orientation)
        rates = rpy_rates(state.orientation, state.angular_velocity)
        return np.concatenate(
            [
                state.position,
                (yaw, pitch, roll),
                state.joint_positions,
                quaternion_to_matrix(state.orientation) @ state.linear_velocity,
                rates[::-1],
                state.joint_velocities,
            ]
        )

    def frame(self, state: RobotState, heading: float) -> HorizontalFrame:
        """Where the trunk is, along the heading [rad]."""
        x, y, _ = state.position.tolist()
        return HorizontalFrame(x, y, heading, YAW)

    def forward_velocity(self, x: Array) -> float:
        """Velocity of the trunk's origin along its heading [m/s]."""
        n = self.tree.n
        return math.cos(x[YAW]) * float(x[n]) + math.sin(x[YAW]) * float(x[n + 1])

    def difference(self, x: Array, nominal: Array) -> Array:
        """(36,) from a nominal state to another; the yaw's around the circle."""
        change = x - nominal
        change[YAW] = wrap_angle(change[YAW])
        return change

    def robot_state(self, x: Array, actual: RobotState, time: float = 0.0) -> RobotState:
        """The robot in a state of the model; velocities are zero."""
        joints = x[BASE : len(x) // 2].copy()
        return RobotState(
            time=time,
            position=x[:3].copy(),
            orientation=rpy_to_quaternion(float(x[ROLL]), float(x[PITCH]), float(x[YAW])),
            linear_velocity=np.zeros(3),
            angular_velocity=np.zeros(3),
            joint_positions=joints,
            joint_velocities=np.zeros_like(joints),
        )

    def joint_targets(self, x: Array, u: Array) -> tuple[Array, Array, Array]:
        """(12,) positions [rad], velocities [rad/s] and torques [N m] of the robot's joints."""
        n = self.tree.n
        return x[BASE:n].copy(), x[n + BASE :].copy(), u.copy()
