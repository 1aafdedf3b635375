"""The planned robot whole: a planar plan lies in the vertical plane through the trunk along its heading."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.models.planar import PlanarModel
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_product, quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

N_AXES = 2
"""Planned force components of a planar foot: along and up."""


class PlannedRobot:
    """Whole-robot states of planar ones."""

    def __init__(self, robot: Robot) -> None:
        self._model = PlanarModel(robot)
        self.legs: Sequence[Sequence[int]] = [
            [LEG_NAMES.index(leg) for leg in legs] for legs in self._model.legs_of.values()
        ]
        """Indices into LEG_NAMES, and FOOT_NAMES, of each planned contact point."""
        self.pair_of = [next(i for i, legs in enumerate(self.legs) if leg in legs) for leg in range(len(LEG_NAMES))]
        """Index of the contact point of each leg."""

    @staticmethod
    def knows(coordinates: Sequence[str]) -> bool:
        """Whether plans with these coordinates are planar ones."""
        return tuple(coordinates) == tuple(PlanarModel.coordinates)

    def state(self, x: Array, actual: RobotState, time: float = 0.0) -> RobotState:
        """The robot in a planar state, in the plane of its actual one; velocities are zero."""
        yaw = float(quaternion_to_rpy(actual.orientation)[2])
        cos, sin = math.cos(yaw), math.sin(yaw)
        side = cos * actual.position[1] - sin * actual.position[0]
        along, up, pitch = (float(number) for number in x[:3])
        turn = np.array([0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)])
        nod = np.array([0.0, math.sin(0.5 * pitch), 0.0, math.cos(0.5 * pitch)])
        joints, _ = self._model.joint_state(x)
        return RobotState(
            time=time,
            position=np.array([cos * along - sin * side, sin * along + cos * side, up]),
            orientation=quaternion_product(turn, nod),
            linear_velocity=np.zeros(3),
            angular_velocity=np.zeros(3),
            joint_positions=joints,
            joint_velocities=np.zeros_like(joints),
        )

    def leg_forces(self, forces: Array, actual: RobotState) -> Array:
        """(4, 3) planned forces of the ground on the feet in `odom` [N]: each leg has half of its pair's (n_f,)."""
        yaw = float(quaternion_to_rpy(actual.orientation)[2])
        ahead = np.array([math.cos(yaw), math.sin(yaw), 0.0])
        found = np.zeros((len(LEG_NAMES), 3))
        for pair, legs in enumerate(self.legs):
            along, up = forces[N_AXES * pair : N_AXES * (pair + 1)]
            for leg in legs:
                found[leg] = (along * ahead + np.array([0.0, 0.0, up])) / len(legs)
        return found
