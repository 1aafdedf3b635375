"""Frames of a robot in some state, for the tests of this room."""

from typing import Any

import numpy as np

from contact_ddp_ros.plants.lcm import conventions
from contact_ddp_ros.plants.lcm.codec import CHEETAH_SOFTWARE, MICROSTRAIN, VECTORNAV, Layout, encode
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.rotation import rpy_to_quaternion, up_in_body
from contact_ddp_ros.robot.state import ImuSample, RobotState
from contact_ddp_ros.robot.tree import GRAVITY

ROBOT = load_robot()
N = ROBOT.n_joints


def random_state(seed: int, time: float = 0.0) -> RobotState:
    random = np.random.default_rng(seed)
    return RobotState(
        time=time,
        position=random.uniform(-2.0, 2.0, 3),
        orientation=rpy_to_quaternion(*random.uniform(-1.2, 1.2, 3)),
        linear_velocity=random.uniform(-2.0, 2.0, 3),
        angular_velocity=random.uniform(-5.0, 5.0, 3),
        joint_positions=random.uniform(-1.5, 1.5, N),
        joint_velocities=random.uniform(-10.0, 10.0, N),
    )


def leg_frame(state: RobotState, layout: Layout = CHEETAH_SOFTWARE, **changes: Any) -> bytes:
    values = conventions.leg_data_values(ROBOT, state, np.linspace(-5.0, 5.0, N))
    return encode(layout.leg_data, {**values, **changes})


def estimate_frame(state: RobotState, layout: Layout = CHEETAH_SOFTWARE, **changes: Any) -> bytes:
    values = conventions.estimate_values(layout, state, imu_of(state), np.zeros((4, 3)))
    return encode(layout.estimate, {**values, **changes})


def imu_of(state: RobotState) -> ImuSample:
    """Sample of an inertial unit without errors, with no force but that against gravity."""
    return ImuSample(state.time, state.angular_velocity, GRAVITY * up_in_body(state.orientation))


def vectornav_frame(state: RobotState, **changes: Any) -> bytes:
    sample = imu_of(state)
    values = {"q": state.orientation, "w": sample.angular_velocity, "a": sample.specific_force}
    return encode(VECTORNAV, {**values, **changes})


def microstrain_frame(state: RobotState, packets: int) -> bytes:
    return encode(MICROSTRAIN, conventions.imu_values(imu_of(state), state.orientation, packets))
