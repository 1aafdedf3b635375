"""States beside the plane, and the stabiliser of them, for its tests."""

import dataclasses

import numpy as np

from contact_ddp_ros.base.config import replace
from contact_ddp_ros.control.config import LateralConfig
from contact_ddp_ros.control.lateral import LateralStabiliser
from contact_ddp_ros.robot.joints import FOOT_NAMES
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.robot.policy import PolicySample
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState

ROBOT = load_robot()
GEOMETRY = LegGeometry.from_tree(ROBOT.tree, FOOT_NAMES)
TICK = 0.002
LOAD = 190.0
LEGS = {"front": (1, 0), "back": (3, 2)}


def sample(forces: tuple[float, float, float, float]) -> PolicySample:
    return PolicySample(np.zeros(14), np.zeros(4), np.zeros((4, 14)), 0, np.array(forces, float), 0.01)


FLIGHT, BACK, FRONT = sample((0, 0, 0, 0)), sample((0, 0, 12.0, LOAD)), sample((-9.0, LOAD, 0, 0))


def disturbed(
    roll: float = 0.0, pitch: float = 0.0, yaw: float = 0.0, velocity: float = 0.0, rates=(0.0, 0.0, 0.0), joints=None
) -> RobotState:
    standing = ROBOT.standing_state()
    return dataclasses.replace(
        standing,
        orientation=rpy_to_quaternion(roll, pitch, yaw),
        linear_velocity=np.array([0.5, velocity, 0.0]),
        angular_velocity=np.asarray(rates, float),
        joint_positions=standing.joint_positions + (0.0 if joints is None else joints),
    )


PROPORTIONAL = {"position_gain": 0.0, "velocity_integral": 0.0, "roll_integral": 0.0}
"""Without the line and what makes up for constant disturbances."""


def stabiliser(**changes: object) -> LateralStabiliser:
    made = LateralStabiliser(ROBOT, GEOMETRY, replace(LateralConfig(), {**PROPORTIONAL, **changes}))
    made.reset(ROBOT.standing_state())
    return made


def heading_rotation(state: RobotState) -> np.ndarray:
    roll, pitch, _ = quaternion_to_rpy(state.orientation)
    return quaternion_to_matrix(rpy_to_quaternion(roll, pitch, 0.0))
