"""The stabiliser against each equation at the head of control/lateral.py, written out anew in world axes."""

import dataclasses
from math import cos, sin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.control.config import LateralConfig
from contact_ddp_ros.robot.policy import PolicySample
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import composite_body
from test.control.sideways import (
    BACK,
    FLIGHT,
    FRONT,
    GEOMETRY,
    LEGS,
    ROBOT,
    TICK,
    disturbed,
    heading_rotation,
    stabiliser,
)

BODY = composite_body(ROBOT.tree, ROBOT.standing)
CONFIG = LateralConfig()
DOWN = np.array([0.0, 0.0, -1.0])
REST, _ = GEOMETRY.points_and_jacobians(ROBOT.standing, DOWN)
AXES = GEOMETRY.translations[:, 0]
LENGTH = float(np.mean(AXES[:, 2] - REST[:, 2]))

angles, speeds = st.floats(-0.2, 0.2), st.floats(-0.5, 0.5)
states = st.builds(
    disturbed, roll=angles, pitch=angles, yaw=angles, velocity=speeds, rates=st.tuples(*[st.floats(-1.5, 1.5)] * 3)
)
steering = st.tuples(st.floats(-0.8, 0.8), st.floats(-0.3, 0.3))


def lateral_motion(state: RobotState) -> tuple[float, np.ndarray]:
    """The centre of mass' velocity to the left, and the angular velocity, in heading axes."""
    rotation = heading_rotation(state)
    omega = rotation @ state.angular_velocity
    velocity = rotation @ state.linear_velocity + np.cross(omega, rotation @ BODY.com)
    return velocity[1], omega


@pytest.mark.parametrize("planned", [BACK, FRONT])
@given(state=states, wanted=steering)
def test_force_and_moments_asked_of_the_stance(
    planned: PolicySample, state: RobotState, wanted: tuple[float, float]
) -> None:
    made = stabiliser()
    made.steer(*wanted)
    wrench = made.update(state, planned, TICK).wanted
    roll, _, yaw = quaternion_to_rpy(state.orientation)
    velocity, omega = lateral_motion(state)
    turned = np.clip(yaw - wanted[0] * TICK, -CONFIG.yaw_error_limit, CONFIG.yaw_error_limit)
    spring_x = CONFIG.roll_stiffness * roll + CONFIG.roll_damping * omega[0]
    spring_z = CONFIG.yaw_stiffness * turned + CONFIG.yaw_damping * (omega[2] - wanted[0])
    assert wrench.force == pytest.approx(-BODY.mass * CONFIG.velocity_gain * (velocity - wanted[1]), abs=1e-9)
    assert wrench.roll_moment == pytest.approx(-BODY.inertia[0, 0] * spring_x, abs=1e-9)
    assert wrench.yaw_moment == pytest.approx(-BODY.inertia[2, 2] * spring_z, abs=1e-9)


@pytest.mark.parametrize("yaw", [-2.0, 2.0])
def test_a_large_error_of_the_heading_counts_as_its_limit(yaw: float) -> None:
    moment = stabiliser().update(disturbed(yaw=yaw), BACK, TICK).wanted.yaw_moment
    largest = BODY.inertia[2, 2] * CONFIG.yaw_stiffness * CONFIG.yaw_error_limit
    assert moment == pytest.approx(-np.sign(yaw) * largest)


@given(state=states, wanted=steering, width=st.floats(0.0, 0.03))
def test_swing_feet_are_placed_by_raiberts_law(state: RobotState, wanted: tuple[float, float], width: float) -> None:
    made = stabiliser(abad_rate=30.0, abad_limit=0.6, stance_width=width)
    made.steer(*wanted)
    for _ in range(30):
        theta = made.update(state, FLIGHT, 0.02).abad_positions
    roll, _, _ = quaternion_to_rpy(state.orientation)
    velocity, omega = lateral_motion(state)
    ahead = AXES[:, 0] - BODY.com[0]
    dy = CONFIG.placement_gain * (velocity + ahead * omega[2] - wanted[1] - ahead * wanted[0])
    dy += CONFIG.placement_roll_gain * roll + width * np.array([-1.0, 1.0, -1.0, 1.0])
    o, l = REST[:, 1] - AXES[:, 1], LENGTH - GEOMETRY.radius
    wanted_angle = np.arcsin(np.clip((o + dy) / np.hypot(o, l), -1.0, 1.0)) - np.arctan2(o, l) - roll
    np.testing.assert_allclose(theta, np.clip(wanted_angle, -0.6, 0.6), atol=1e-9)


@pytest.mark.parametrize(("y", "speed"), [(0.05, -0.1), (-0.05, 0.1), (0.3, -0.2), (-0.3, 0.2)])
@pytest.mark.parametrize("heading", [0.0, 1.0, -2.0])
def test_the_speed_towards_the_line_grows_with_the_distance_from_it_to_a_limit(
    y: float, speed: float, heading: float
) -> None:
    along, left = np.array([cos(heading), sin(heading), 0.0]), np.array([-sin(heading), cos(heading), 0.0])
    origin = dataclasses.replace(disturbed(yaw=heading), position=np.array([1.0, -2.0, 0.3]))
    made = stabiliser(position_gain=2.0, velocity_limit=0.2)
    made.reset(origin)
    aside = dataclasses.replace(origin, position=origin.position + 3.0 * along + y * left)
    force = made.update(aside, BACK, TICK).wanted.force
    assert force == pytest.approx(BODY.mass * CONFIG.velocity_gain * speed)


@pytest.mark.parametrize("rates", [(2.0, 0.0, 0.0), (-2.0, 0.0, 0.0)])
@pytest.mark.parametrize("velocity", [0.3, 0.0, -0.3])
def test_the_drives_targets_keep_standing_feet_at_rest_on_the_ground(velocity: float, rates: tuple[float, ...]) -> None:
    state = disturbed(velocity=velocity, rates=rates)
    command = stabiliser(contact_clearance=10.0).update(state, BACK, TICK)
    turning = np.zeros((4, 3))
    turning[:, 0] = command.abad_velocities
    points, jacobians = GEOMETRY.points_and_jacobians(state.joint_positions, DOWN)
    sideways = velocity + np.cross(state.angular_velocity, points)[:, 1]
    feet = sideways + np.einsum("lij,lj->li", jacobians, turning)[:, 1]
    assert np.abs(sideways[2:]).max() > 0.01
    np.testing.assert_allclose(feet[2:], 0.0, atol=0.01)
    np.testing.assert_array_equal(command.abad_velocities[:2], 0.0)


@pytest.mark.parametrize(("planned", "pair"), [(BACK, "back"), (FRONT, "front")])
@pytest.mark.parametrize("raised", ["left", "right"])
@pytest.mark.parametrize(("height", "share"), [(0.25, 1.0), (0.5, 1.0), (0.6, 0.8), (0.9, 0.2), (1.0, 0.0), (1.5, 0.0)])
def test_a_foot_stands_as_far_as_it_has_come_down_whatever_the_other_does(
    planned: PolicySample, pair: str, raised: str, height: float, share: float
) -> None:
    """Full stance up to half the clearance, none from the whole of it on; `height` is a part of it."""
    leg = LEGS[pair][raised == "right"]
    state = lifted(leg, height * CONFIG.contact_clearance)
    command = stabiliser().update(state, planned, TICK)
    whole = stabiliser(contact_clearance=1.0).update(state, planned, TICK)
    shares = np.ones(4)
    shares[leg] = share
    for one in LEGS[pair]:
        assert np.abs(whole.torques.reshape(4, 3)[one]).max() > 1.0
    np.testing.assert_allclose(command.torques.reshape(4, 3), shares[:, None] * whole.torques.reshape(4, 3), atol=1e-9)
    np.testing.assert_allclose(command.abad_velocities, shares * whole.abad_velocities, atol=1e-9)


def lifted(leg: int, height: float) -> RobotState:
    """A robot pushed aside whose sole of one leg hangs `height` [m] above the ground and whose others touch it."""
    state = disturbed(velocity=0.3)
    low, high = 0.0, 0.5
    for _ in range(60):  # the knee that lifts it so far, by bisection
        bent = 0.5 * (low + high)
        joints = state.joint_positions.copy()
        joints[3 * leg + 2] += bent
        sole = GEOMETRY.points_and_jacobians(joints, DOWN)[0][leg, 2]
        low, high = (bent, high) if sole - REST[leg, 2] < height else (low, bent)
    return dataclasses.replace(state, position=np.array([0.0, 0.0, -REST[:, 2].mean()]), joint_positions=joints)
