"""The planar model: the sagittal plane, in which left and right legs move alike, and the maps to it and back.

The plane is the vertical one through the trunk's heading: its frame is `odom` turned by the yaw of the ZYX Euler
angles. What leaves the plane (y, roll, yaw, abductions, differences of left and right) is dropped.
"""

import math
from collections.abc import Mapping
from functools import cached_property

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.joints import joint_index
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.frame import OwnFrame
from contact_ddp_ros.robot.models.planar_tree import (
    PAIRS,
    PLANAR_FOOT_NAMES,
    PLANAR_JOINT_NAMES,
    PLANAR_LEG_JOINTS,
    reduce_to_plane,
)
from contact_ddp_ros.robot.rotation import (
    COMPILED,
    READ,
    WRITTEN,
    quaternion_to_matrix,
    quaternion_to_rpy,
    rpy_rates,
    rpy_to_quaternion,
)
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

AXES = (0, 2)
"""World axes of a planar contact: x and the normal z."""

LEGS_OF: Mapping[str, tuple[str, ...]] = dict(zip(PLANAR_FOOT_NAMES, PAIRS.values(), strict=True))
"""The legs that a contact point of the plane stands for."""


class PlanarModel:
    """A robot in its sagittal plane; see :class:`contact_ddp_ros.robot.models.model.Model`."""

    name = "planar"
    axes = AXES
    coordinates = PLANAR_JOINT_NAMES
    legs_of = LEGS_OF
    height = 1
    chart = Chart.YAW_PITCH_ROLL
    second_order_below = 1e-2  # which takes a sixth less time

    def __init__(self, robot: Robot) -> None:
        """What needs the tree raises ModelError where left and right are not mirror images."""
        self.robot = robot
        self.pairs: NDArray[np.int64] = np.array(
            [[joint_index(leg, joint) for leg in legs] for legs in PAIRS.values() for joint in PLANAR_LEG_JOINTS]
        )
        """(4, 2) joint-array indices of each planar leg joint's right and left joint."""
        self.torque_limits: Array = robot.effort_limits[self.pairs].sum(axis=1)

    @cached_property
    def tree(self) -> RigidBodyTree:
        """The rigid bodies that are planned for (n = 7)."""
        return reduce_to_plane(self.robot)

    def state(self, state: RobotState) -> Array:
        """(14,) position along the heading, height, pitch, means of the pairs, and their rates."""
        return _planar_state(
            state.position,
            state.orientation,
            state.linear_velocity,
            state.angular_velocity,
            state.joint_positions,
            state.joint_velocities,
            self.pairs,
        )

    def frame(self, state: RobotState, heading: float) -> OwnFrame:
        """The plane along the robot's own heading, whose x counts from the foot of `odom`'s origin."""
        x, y, _ = state.position.tolist()
        return OwnFrame(x, y, float(quaternion_to_rpy(state.orientation)[2]))

    def forward_velocity(self, x: Array) -> float:
        """Velocity of the trunk's origin along the plane [m/s]."""
        return float(x[self.tree.n])

    def difference(self, x: Array, nominal: Array) -> Array:
        """(14,) from a nominal state to another: coordinates of a plane may be subtracted, and their rates."""
        return x - nominal

    def deviation(self, state: RobotState, nominal: Array, chart: Chart = Chart.YAW_PITCH_ROLL) -> Array:
        """(14,) of a measured state from a nominal one."""
        return self.difference(self.state(state), nominal)

    def robot_state(self, x: Array, actual: RobotState, time: float = 0.0) -> RobotState:
        """The robot in a planar state, in the plane of its actual one; velocities are zero."""
        yaw = float(quaternion_to_rpy(actual.orientation)[2])
        cos, sin = math.cos(yaw), math.sin(yaw)
        side = cos * actual.position[1] - sin * actual.position[0]
        along, up, pitch = (float(number) for number in x[:3])
        joints, _ = self.joint_state(x)
        return RobotState(
            time=time,
            position=np.array([cos * along - sin * side, sin * along + cos * side, up]),
            orientation=rpy_to_quaternion(0.0, pitch, yaw),
            linear_velocity=np.zeros(3),
            angular_velocity=np.zeros(3),
            joint_positions=joints,
            joint_velocities=np.zeros_like(joints),
        )

    def joint_state(self, x: Array) -> tuple[Array, Array]:
        """(12,) joint positions [rad] and (12,) velocities [rad/s] of a state; abductions are zero."""
        positions, velocities, _ = self.joint_targets(x, np.zeros(len(self.pairs)))
        return positions, velocities

    def joint_targets(self, x: Array, u: Array) -> tuple[Array, Array, Array]:
        """As :meth:`joint_state`, and (12,) torques [N m] of planar ones `u` (4,): half to each leg of a pair."""
        return _joint_targets(x, u, self.pairs, self.robot.n_joints)


@nb.njit(WRITTEN(READ, READ, READ, READ, READ, READ, nb.int64[:, ::1]), **COMPILED)
def _planar_state(
    position: Array,
    orientation: Array,
    linear_velocity: Array,
    angular_velocity: Array,
    joint_positions: Array,
    joint_velocities: Array,
    pairs: NDArray[np.int64],
) -> Array:
    n_base, n_joints = 3, len(pairs)
    n = n_base + n_joints
    x = np.empty(2 * n)
    angles = quaternion_to_rpy(orientation)
    rotation = quaternion_to_matrix(orientation)
    cosine, sine = math.cos(angles[2]), math.sin(angles[2])
    x[0] = cosine * position[0] + sine * position[1]
    x[1] = position[2]
    x[2] = angles[1]
    x[n : n + n_base] = 0.0
    for k in range(3):
        x[n] += (cosine * rotation[0, k] + sine * rotation[1, k]) * linear_velocity[k]
        x[n + 1] += rotation[2, k] * linear_velocity[k]
    x[n + 2] = rpy_rates(orientation, angular_velocity)[1]
    for joint in range(n_joints):
        right, left = pairs[joint, 0], pairs[joint, 1]
        x[n_base + joint] = 0.5 * (joint_positions[right] + joint_positions[left])
        x[n + n_base + joint] = 0.5 * (joint_velocities[right] + joint_velocities[left])
    return x


@nb.njit(nb.types.UniTuple(WRITTEN, 3)(READ, READ, nb.int64[:, ::1], nb.int64), **COMPILED)
def _joint_targets(x, u, pairs, size):  # type: ignore[no-untyped-def]
    positions, velocities, torques = np.zeros(size), np.zeros(size), np.zeros(size)
    n, n_pairs = len(x) // 2, len(pairs)
    for joint in range(n_pairs):
        for leg in pairs[joint]:
            positions[leg] = x[n - n_pairs + joint]
            velocities[leg] = x[2 * n - n_pairs + joint]
            torques[leg] = 0.5 * u[joint]
    return positions, velocities, torques
