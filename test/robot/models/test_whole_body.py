"""The whole-body model against pinocchio's free flyer."""

import dataclasses
import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import pinocchio_model

from contact_ddp_ros.base.choices import MODEL_NAMES
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.choice import MODELS, model_of
from contact_ddp_ros.robot.models.whole_body import BASE, PITCH, ROLL, YAW, WholeBodyModel
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import free_flyer_model

ROBOT = load_robot()
MODEL = WholeBodyModel(ROBOT)
N = MODEL.tree.n


def moving(seed: int, yaw: float | None = None) -> RobotState:
    rng = np.random.default_rng(seed)
    roll, pitch, heading = rng.uniform([-1.2, -1.2, -math.pi], [1.2, 1.2, math.pi])
    return RobotState(
        time=0.0,
        position=rng.normal(size=3),
        orientation=rpy_to_quaternion(roll, pitch, heading if yaw is None else yaw),
        linear_velocity=rng.normal(size=3),
        angular_velocity=rng.normal(size=3),
        joint_positions=rng.uniform(ROBOT.lower, ROBOT.upper),
        joint_velocities=rng.normal(size=12),
    )


@pytest.mark.parametrize("seed", range(5))
def test_its_kinetic_energy_and_momentum_are_those_of_a_free_flyer(seed: int) -> None:
    state = moving(seed)
    x = MODEL.state(state)
    chain, flyer = pinocchio_model(MODEL.tree), free_flyer_model(ROBOT.tree)
    q = np.concatenate([state.position, state.orientation, state.joint_positions])
    v = np.concatenate([state.linear_velocity, state.angular_velocity, state.joint_velocities])
    chain_data, flyer_data = chain.createData(), flyer.createData()
    energy = pin.computeKineticEnergy(flyer, flyer_data, q, v)
    assert pin.computeKineticEnergy(chain, chain_data, x[:N], x[N:]) == pytest.approx(energy, rel=1e-10)
    found = pin.computeCentroidalMomentum(chain, chain_data, x[:N], x[N:]).vector
    np.testing.assert_allclose(found, pin.computeCentroidalMomentum(flyer, flyer_data, q, v).vector, atol=1e-9)
    np.testing.assert_allclose(chain_data.com[0], flyer_data.com[0], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_state_leads_back_to_the_robot(seed: int) -> None:
    state = moving(seed)
    back = MODEL.robot_state(MODEL.state(state), ROBOT.standing_state(), 3.0)
    assert back.time == 3.0
    np.testing.assert_allclose(back.position, state.position)
    np.testing.assert_allclose(
        quaternion_to_matrix(back.orientation), quaternion_to_matrix(state.orientation), atol=1e-12
    )
    np.testing.assert_array_equal(back.joint_positions, state.joint_positions)
    positions, velocities, torques = MODEL.joint_targets(MODEL.state(state), np.arange(12.0))
    np.testing.assert_array_equal(positions, state.joint_positions)
    np.testing.assert_array_equal(velocities, state.joint_velocities)
    np.testing.assert_array_equal(torques, np.arange(12.0))


@given(st.floats(-20.0, 20.0), st.floats(-math.pi, math.pi))
def test_a_frame_turns_states_there_and_back(heading: float, yaw: float) -> None:
    state = moving(1, yaw)
    x, frame = MODEL.state(state), MODEL.frame(state, heading)
    inside = frame.into(x)
    assert abs(inside[YAW]) <= math.pi + 1e-9
    assert inside[:2] == pytest.approx(0.0, abs=1e-12), "it stands where the robot is"
    assert inside[N : N + 2] @ inside[N : N + 2] == pytest.approx(x[N : N + 2] @ x[N : N + 2])
    assert MODEL.forward_velocity(inside) == pytest.approx(MODEL.forward_velocity(x))
    np.testing.assert_allclose(MODEL.difference(frame.out_of(inside), x), 0.0, atol=1e-9)
    ground = Ground(height=0.1, slope_x=0.2, slope_y=-0.3)
    ahead = state.position[:2] + 2.0 * np.array([math.cos(heading), math.sin(heading)])
    assert frame.ground(ground).height_at(2.0) == pytest.approx(ground.height_at(*ahead.tolist()))


def test_yaw_is_taken_around_the_circle() -> None:
    x = MODEL.state(moving(1))
    turned = x.copy()
    turned[YAW] += 4.0 * math.pi
    assert MODEL.difference(turned, x) == pytest.approx(0.0, abs=1e-9)


def test_forward_is_along_the_heading() -> None:
    state = moving(2)
    x = MODEL.state(state)
    velocity = quaternion_to_matrix(state.orientation) @ state.linear_velocity
    assert MODEL.forward_velocity(x) == pytest.approx(velocity[:2] @ [math.cos(x[YAW]), math.sin(x[YAW])])


def test_it_names_its_coordinates_and_legs() -> None:
    assert MODEL.coordinates == tuple(joint.name for joint in MODEL.tree.joints)
    assert [MODEL.coordinates[i] for i in (YAW, PITCH, ROLL)] == ["base_yaw", "base_pitch", "base_roll"]
    assert tuple(MODEL.legs_of) == tuple(point.name for point in MODEL.tree.contacts)
    assert MODEL.tree.actuated == tuple(range(BASE, N))


def test_models_are_chosen_by_name() -> None:
    assert tuple(MODELS) == MODEL_NAMES
    assert {type(model_of(name, ROBOT)).__name__ for name in MODELS} == {"PlanarModel", "WholeBodyModel"}
    with pytest.raises(ParameterError, match="no model is called 'flat'; allowed: planar, whole_body"):
        model_of("flat", dataclasses.replace(ROBOT))
