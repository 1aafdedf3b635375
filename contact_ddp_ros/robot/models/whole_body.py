"""The whole-body model: all 18 coordinates of the robot.

    q = (x, y, z, yaw, pitch, roll, abduction, hip and knee of every leg)

with x, y, z of the trunk's origin in `odom` and its Euler angles, the joints of :data:`robot.joints.BASE_JOINTS`. That
is one of two charts of the attitude (:mod:`contact_ddp_ros.robot.attitude`): in the other one roll comes before pitch,
and no attitude is singular in both. Plans are made in a frame at the robot along the wanted heading
(:mod:`contact_ddp_ros.robot.models.model`); differences of yaw and of the last angle are taken around the circle.
"""

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.robot.attitude import ANGLES, Chart, change_derivative, changed, chart_for, in_chart
from contact_ddp_ros.robot.joints import BASE_JOINTS, FOOT_NAMES, JOINT_NAMES, LEG_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.model import HorizontalFrame
from contact_ddp_ros.robot.rotation import (
    COMPILED,
    READ,
    WRITTEN,
    quaternion_to_matrix,
    quaternion_to_rpy,
    rpy_rates,
    wrap_angle,
)
from contact_ddp_ros.robot.state import STATE_PARTS, RobotState
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

BASE = len(BASE_JOINTS)
HEIGHT, YAW, PITCH, ROLL = 2, 3, 4, 5
"""Indices into q, those of the angles in the chart yaw, pitch, roll."""

_AROUND = (ANGLES.start, ANGLES.stop - 1)
"""The angles that have no bounds."""


class WholeBodyModel:
    """A robot with all its coordinates; see :class:`contact_ddp_ros.robot.models.model.Model`."""

    name = "whole_body"
    axes = (0, 1, 2)
    coordinates = (*(name for name, _, _ in BASE_JOINTS), *JOINT_NAMES)
    height = HEIGHT
    second_order_below = 0.0  # with more, solves take more iterations, up to where they end unsolved
    legs_of: Mapping[str, tuple[str, ...]] = {foot: (leg,) for foot, leg in zip(FOOT_NAMES, LEG_NAMES, strict=True)}

    def __init__(self, robot: Robot, chart: Chart = Chart.YAW_PITCH_ROLL) -> None:
        """Any robot has one, in either chart."""
        self.robot, self.chart = robot, chart
        self.torque_limits: Array = robot.effort_limits
        names = tuple(f"base_{angle}" for angle in chart.names)
        self.coordinates = (*self.coordinates[: ANGLES.start], *names, *self.coordinates[ANGLES.stop :])

    def in_chart(self, chart: Chart) -> "WholeBodyModel":
        """Copy in another Euler convention."""
        return self if chart is self.chart else WholeBodyModel(self.robot, chart)

    @cached_property
    def tree(self) -> RigidBodyTree:
        """The rigid bodies that are planned for (n = 18)."""
        return in_chart(self.robot.tree, self.chart)

    def state(self, state: RobotState) -> Array:
        """(36,) coordinates and their rates; angles in (-π, π]."""
        if self.chart is Chart.YAW_PITCH_ROLL:
            return _yaw_pitch_roll(*(getattr(state, part) for part in STATE_PARTS))
        rotation = quaternion_to_matrix(state.orientation)
        angles = self.chart.angles(rotation)
        rates = self.chart.rates(angles, state.angular_velocity)
        moving = rotation @ state.linear_velocity
        return np.concatenate([state.position, angles, state.joint_positions, moving, rates, state.joint_velocities])

    def frame(self, state: RobotState, heading: float) -> HorizontalFrame:
        """Place and heading [rad] of the trunk."""
        x, y, _ = state.position.tolist()
        return HorizontalFrame(x, y, heading, YAW)

    def forward_velocity(self, x: Array) -> float:
        """Velocity of the trunk's origin along its heading [m/s]."""
        n = self.tree.n
        return math.cos(x[YAW]) * float(x[n]) + math.sin(x[YAW]) * float(x[n + 1])

    def difference(self, x: Array, nominal: Array) -> Array:
        """(36,) from a nominal state to another; yaw and the last angle around the circle."""
        change = x - nominal
        for angle in _AROUND:
            change[angle] = wrap_angle(change[angle])
        return change

    def deviation(self, state: RobotState, nominal: Array, chart: Chart) -> Array:
        """(36,) of a measured state from a nominal one in a chart, as gains of that chart multiply it.

        Where the measured attitude is near the chart's singularity the difference is taken in the other chart, whose
        coordinates are regular there, and pulled back by the derivative of the change of charts at the nominal state.
        """
        taken = chart_for(quaternion_to_matrix(state.orientation), chart)
        there = self.in_chart(taken)
        if taken is chart:
            return there.difference(there.state(state), nominal)
        moved = changed(nominal, chart, taken)
        return change_derivative(moved, taken, chart) @ there.difference(there.state(state), moved)

    def robot_state(self, x: Array, actual: RobotState, time: float = 0.0) -> RobotState:
        """The robot in a state of the model; velocities are zero."""
        joints = x[BASE : len(x) // 2].copy()
        return RobotState(
            time=time,
            position=x[:3].copy(),
            orientation=self.chart.quaternion(x[ANGLES]),
            linear_velocity=np.zeros(3),
            angular_velocity=np.zeros(3),
            joint_positions=joints,
            joint_velocities=np.zeros_like(joints),
        )

    def joint_targets(self, x: Array, u: Array) -> tuple[Array, Array, Array]:
        """(12,) positions [rad], velocities [rad/s] and torques [N m] of the robot's joints."""
        n = self.tree.n
        return x[BASE:n].copy(), x[n + BASE :].copy(), u.copy()


@njit(WRITTEN(*[READ] * 6), **COMPILED)
def _yaw_pitch_roll(position, orientation, linear, angular, joints, joint_rates):  # type: ignore[no-untyped-def]
    """(2n,) coordinates and rates in the chart of yaw, pitch and roll of the parts of a state."""
    n = BASE + len(joints)
    x = np.empty(2 * n)
    rotation = quaternion_to_matrix(orientation)
    x[:3] = position
    x[3:BASE] = quaternion_to_rpy(orientation)[::-1]
    x[BASE:n] = joints
    for i in range(3):
        x[n + i] = (rotation[i] * linear).sum()
    x[n + 3 : n + BASE] = rpy_rates(orientation, angular)[::-1]
    x[n + BASE :] = joint_rates
    return x
