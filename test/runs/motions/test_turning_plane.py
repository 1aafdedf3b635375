"""The pitch of a robot that turns over."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.control.turning import TurningPlane
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.rotation import quaternion_product, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState

ROBOT = load_robot()
MODEL = PlanarModel(ROBOT)


def state(pitch: float, yaw: float = 0.0, roll: float = 0.0, rate: float = 0.0) -> RobotState:
    """Pitch about the lateral axis of the heading, then roll about the trunk's own."""
    turned = quaternion_product(rpy_to_quaternion(0.0, 0.0, yaw), _about_y(pitch))
    standing = ROBOT.standing_state()
    return RobotState(
        time=0.0,
        position=np.array([0.3, -0.2, 0.4]),
        orientation=quaternion_product(turned, rpy_to_quaternion(roll, 0.0, 0.0)),
        linear_velocity=np.array([0.5, 0.1, -0.3]),
        angular_velocity=np.array([0.0, rate, 0.0]),
        joint_positions=standing.joint_positions,
        joint_velocities=np.linspace(-1.0, 1.0, ROBOT.n_joints),
    )


def _about_y(angle: float) -> np.ndarray:
    return np.array([0.0, np.sin(0.5 * angle), 0.0, np.cos(0.5 * angle)])


@given(st.floats(-1.2, 1.2), st.floats(-3.1, 3.1))
def test_upright_it_is_the_planar_models_state(pitch: float, yaw: float) -> None:
    given_state = state(pitch, yaw, rate=2.0)
    expected = MODEL.state(given_state)
    plane = TurningPlane(MODEL, given_state)
    plane.origin[:] = 0.0
    assert plane.state(given_state) == pytest.approx(expected, abs=1e-9)


@given(st.floats(-3.1, 3.1), st.sampled_from([-1.0, 1.0]), st.floats(-0.3, 0.3))
def test_whole_turns_are_counted_through_the_vertical(yaw: float, way: float, roll: float) -> None:
    plane = TurningPlane(MODEL, state(0.0, yaw))
    for angle in way * np.arange(0.0, 4.0 * np.pi, 0.3):
        turned = state(angle, yaw, roll, rate=3.0)
        x = plane.state(turned)
        assert x[2] == pytest.approx(angle, abs=1e-9), "roll about the trunk's axis leaves the pitch"
        assert x[MODEL.tree.n + 2] == pytest.approx(3.0 * np.cos(roll), abs=1e-9)
    assert plane.tilt(state(2.0, yaw)) == pytest.approx(0.0, abs=1e-6)
    assert plane.tilt(state(2.0, yaw, 0.2)) == pytest.approx(0.2)
