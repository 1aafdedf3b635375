import dataclasses
from math import cos, sin

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contact_ddp_ros.control.config import LateralConfig
from contact_ddp_ros.control.lateral import LateralCommand
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.policy import PolicySample
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState
from test.control.sideways import (
    BACK,
    FLIGHT,
    FRONT,
    GEOMETRY,
    LEGS,
    LOAD,
    ROBOT,
    TICK,
    disturbed,
    heading_rotation,
    stabiliser,
)

PERIOD, STANCE = 0.36, 0.08

angles, offsets = st.floats(-0.25, 0.25), st.lists(st.floats(-0.2, 0.2), min_size=12, max_size=12).map(np.array)
states = st.builds(
    disturbed,
    roll=angles,
    pitch=angles,
    yaw=angles,
    velocity=st.floats(-0.6, 0.6),
    rates=st.tuples(*[st.floats(-2.0, 2.0)] * 3),
    joints=offsets,
)


def test_an_undisturbed_robot_needs_nothing_but_support() -> None:
    level = dataclasses.replace(ROBOT.standing_state(), linear_velocity=np.array([0.5, 0.0, 0.0]))
    flying = stabiliser().update(level, FLIGHT, TICK)
    assert not flying.torques.any() and not flying.forces
    np.testing.assert_allclose(flying.abad_positions, 0.0, atol=1e-12)
    standing = stabiliser().update(level, BACK, TICK)
    np.testing.assert_allclose(standing.forces["back"].left, (6.0, 0.0, 0.5 * LOAD), atol=1e-9)
    np.testing.assert_allclose(standing.torques.reshape(4, 3)[:, 1:], 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("state", "name"),
    [
        (disturbed(velocity=0.3), "force"),
        (disturbed(roll=0.1), "roll_moment"),
        (disturbed(rates=(1.0, 0.0, 0.0)), "roll_moment"),
        (disturbed(yaw=0.1), "yaw_moment"),
        (disturbed(rates=(0.0, 0.0, 1.0)), "yaw_moment"),
    ],
)
def test_every_deviation_is_opposed(state: RobotState, name: str) -> None:
    assert getattr(stabiliser().update(state, BACK, TICK).wanted, name) < -0.1


@pytest.mark.parametrize(("planned", "pair"), [(BACK, "back"), (FRONT, "front")])
@settings(deadline=None)
@given(state=states)
def test_planar_and_lateral_torques_together_make_the_allocated_forces(
    planned: PolicySample, pair: str, state: RobotState
) -> None:
    command = stabiliser(contact_clearance=10.0).update(state, planned, TICK)
    rotation = heading_rotation(state)
    pitch = quaternion_to_rpy(state.orientation)[1]
    upright = state.joint_positions.copy()
    upright[::3] = 0.0
    down = np.array([sin(pitch), 0.0, -cos(pitch)])
    _, in_plane = GEOMETRY.points_and_jacobians(upright, down)
    _, jacobians = GEOMETRY.points_and_jacobians(state.joint_positions, -rotation[2])
    pitched = quaternion_to_matrix(rpy_to_quaternion(0.0, pitch, 0.0))
    force_x, force_z = planned.forces[:2] if pair == "front" else planned.forces[2:]
    plan = -in_plane.transpose(0, 2, 1) @ (pitched.T @ (0.5 * force_x, 0.0, 0.5 * force_z))
    plan[:, 0] = 0.0
    forces = command.forces[pair]
    for leg, force in zip(LEGS[pair], (forces.left, forces.right)):
        expected = -jacobians[leg].T @ (rotation.T @ force)
        np.testing.assert_allclose(command.torques.reshape(4, 3)[leg] + plan[leg], expected, atol=1e-9)
    others = [leg for leg in range(4) if leg not in LEGS[pair]]
    assert not command.torques.reshape(4, 3)[others].any()


def mirrored(state: RobotState) -> RobotState:
    roll, pitch, yaw = quaternion_to_rpy(state.orientation)
    swap = np.array([1, 0, 3, 2])
    across = np.array([-1.0, 1.0, 1.0])
    return dataclasses.replace(
        state,
        position=state.position * [1, -1, 1],
        orientation=rpy_to_quaternion(-roll, pitch, -yaw),
        linear_velocity=state.linear_velocity * [1, -1, 1],
        angular_velocity=state.angular_velocity * [-1, 1, -1],
        joint_positions=(state.joint_positions.reshape(4, 3)[swap] * across).ravel(),
    )


@settings(deadline=None)
@given(state=states, planned=st.sampled_from([FLIGHT, BACK, FRONT]))
def test_left_and_right_are_treated_alike(state: RobotState, planned: PolicySample) -> None:
    def settled(of: RobotState) -> LateralCommand:
        made = stabiliser(abad_rate=30.0)
        for _ in range(20):
            command = made.update(of, planned, 0.02)
        return command

    one, other = settled(state), settled(mirrored(state))
    swap = np.array([1, 0, 3, 2])
    np.testing.assert_allclose(other.abad_positions, -one.abad_positions[swap], atol=1e-9)
    np.testing.assert_allclose(other.abad_velocities, -one.abad_velocities[swap], atol=1e-9)
    expected = one.torques.reshape(4, 3)[swap] * [-1.0, 1.0, 1.0]
    np.testing.assert_allclose(other.torques.reshape(4, 3), expected, atol=1e-7)


@pytest.mark.parametrize("roll", [-0.15, 0.0, 0.15])
@pytest.mark.parametrize("velocity", [-0.3, 0.0, 0.3])
def test_swing_feet_land_beside_their_hips_in_proportion_to_the_velocity(roll: float, velocity: float) -> None:
    body = disturbed(roll=roll)
    rotation = heading_rotation(body)
    state = dataclasses.replace(body, linear_velocity=rotation.T @ (0.5, velocity, 0.0))
    made = stabiliser(abad_rate=30.0)
    for _ in range(20):
        command = made.update(state, FLIGHT, 0.02)
    joints = ROBOT.standing.copy()
    joints[::3] = command.abad_positions
    centres = np.zeros(3)
    feet, _ = GEOMETRY.points_and_jacobians(joints, centres)
    rest, _ = GEOMETRY.points_and_jacobians(ROBOT.standing, centres)
    axes = GEOMETRY.translations[:, 0]
    placed = ((feet - axes) @ rotation.T)[:, 1] - (rest - axes)[:, 1]
    np.testing.assert_allclose(placed, made.config.placement_gain * velocity, atol=5e-4)


def test_a_turning_robot_places_front_and_back_feet_apart() -> None:
    command = stabiliser().update(disturbed(rates=(0.0, 0.0, 1.0)), FLIGHT, 0.02)
    assert (command.abad_positions[:2] > 0.0).all() and (command.abad_positions[2:] < 0.0).all()


def test_abductions_move_no_faster_and_no_farther_than_allowed() -> None:
    made = stabiliser()
    wild = disturbed(velocity=20.0)
    before = np.zeros(4)
    for _ in range(200):
        now = made.update(wild, FLIGHT, TICK).abad_positions
        assert (np.abs(now - before) <= made.config.abad_rate * TICK + 1e-12).all()
        before = now
    np.testing.assert_allclose(before, made.config.abad_limit)


def test_feet_that_have_not_come_down_get_no_stance_forces() -> None:
    hanging = dataclasses.replace(disturbed(velocity=0.3), position=np.array([0.0, 0.0, 0.4]))
    command = stabiliser().update(hanging, BACK, TICK)
    assert not command.torques.any()
    np.testing.assert_array_equal(command.abad_velocities, 0.0)


def test_feet_stand_on_the_ground_that_the_plan_counts_on() -> None:
    rise = np.array([0.0, 0.0, 0.0125])
    raised = dataclasses.replace(disturbed(roll=0.1), position=ROBOT.standing_state().position + rise)
    assert stabiliser().update(raised, BACK, TICK).torques.any()
    lower = dataclasses.replace(BACK, ground=Ground(height=-0.035))  # above that both feet hang in the air
    assert not stabiliser().update(raised, lower, TICK).torques.any()


def test_stance_forces_keep_within_the_friction_that_the_plan_counts_on() -> None:
    pushed = disturbed(velocity=3.0)
    for friction in (0.2, 0.6, 1.0):
        slippery = dataclasses.replace(BACK, ground=Ground(friction=friction))
        forces = stabiliser().update(pushed, slippery, TICK).forces["back"]
        sideways = abs(forces.left[1] + forces.right[1])
        assert sideways <= friction * LOAD + 1e-9
        assert sideways > 0.7 * min(friction, 0.5) * LOAD


def test_stance_abductions_have_no_stiffness_and_follow_the_trunk_over_the_foot() -> None:
    joints = np.zeros(12)
    joints[[6, 9]] = 0.1
    state = disturbed(velocity=0.3, joints=joints)
    command = stabiliser().update(state, BACK, TICK)
    np.testing.assert_allclose(command.abad_positions[2:], 0.1)
    step = 1e-6
    moved = GEOMETRY.points_and_jacobians(state.joint_positions + np.tile([step, 0, 0], 4), np.array([0, 0, -1.0]))[0]
    still = GEOMETRY.points_and_jacobians(state.joint_positions, np.array([0, 0, -1.0]))[0]
    lateral_per_angle = ((moved - still) / step)[2:, 1]
    np.testing.assert_allclose(command.abad_velocities[2:] * lateral_per_angle, -0.3, rtol=0.1)


def test_the_heading_is_where_it_began_and_turns_as_commanded() -> None:
    made = stabiliser()
    made.reset(disturbed(yaw=3.0))
    assert made.heading == pytest.approx(3.0)
    made.update(disturbed(yaw=3.0), FLIGHT, TICK)
    assert made.heading == pytest.approx(3.0)
    made.steer(0.5, 0.0)
    for _ in range(250):
        made.update(disturbed(yaw=3.0), FLIGHT, TICK)
    assert made.heading == pytest.approx(3.25 - 2.0 * np.pi), "wrapped"
    across = made.update(disturbed(yaw=3.1), BACK, TICK).wanted.yaw_moment
    assert across > 0.0, "turns on across the wrap, not back"


def test_a_pause_does_not_turn_the_heading_by_much() -> None:
    made = stabiliser()
    made.steer(1.0, 0.0)
    made.update(disturbed(), FLIGHT, 60.0)
    assert made.heading <= 0.02
    made.update(disturbed(), FLIGHT, -60.0)
    assert made.heading >= 0.0


def test_the_line_is_gone_back_to_only_if_wanted_and_not_while_steering() -> None:
    aside = dataclasses.replace(disturbed(), position=np.array([5.0, 0.2, 0.3]))
    assert stabiliser().update(aside, BACK, TICK).wanted.force == pytest.approx(0.0)
    holding = stabiliser(position_gain=1.0)
    assert holding.update(aside, BACK, TICK).wanted.force < 0.0
    holding.steer(0.1, 0.0)
    assert holding.update(aside, BACK, TICK).wanted.force == pytest.approx(0.0)


def test_what_is_never_reached_is_made_up_for() -> None:
    blown = disturbed(roll=0.1, velocity=0.2)
    made = stabiliser(velocity_integral=1.0, velocity_trim=0.1, roll_integral=1.0)
    first, *_, last = (made.update(blown, BACK, 0.02).wanted for _ in range(50))
    assert last.force < first.force < 0.0
    assert last.roll_moment < first.roll_moment < 0.0
    for _ in range(500):
        made.update(blown, BACK, 0.02)
    bounded = made.update(blown, BACK, 0.02).wanted.force
    assert bounded == pytest.approx(stabiliser().update(blown, BACK, 0.02).wanted.force * 1.5, rel=0.05)
    made.reset(blown)
    assert made.update(blown, BACK, 0.02).wanted.force == pytest.approx(first.force, rel=0.02)


@pytest.mark.parametrize("slope", [-0.15, 0.15])
def test_the_trunk_leans_with_the_ground(slope: float) -> None:
    ground = Ground(slope_y=slope)
    sample = dataclasses.replace(BACK, ground=ground)
    upright, parallel = (
        stabiliser().update(disturbed(roll=roll), sample, TICK).wanted for roll in (0.0, np.arctan(slope))
    )
    assert np.sign(upright.roll_moment) == np.sign(slope)
    assert parallel.roll_moment == pytest.approx(0.0, abs=1e-9)


def transition(stiffness: float, damping: float, duration: float) -> np.ndarray:
    """(angle, rate) after `duration` of  angle'' = -stiffness angle - damping rate."""
    step, state = 1e-4, np.eye(2)
    for _ in range(round(duration / step)):
        state = state + step * np.array([[0.0, 1.0], [-stiffness, -damping]]) @ state
    return state


@pytest.mark.parametrize("name", ["roll", "yaw"])
def test_default_gains_settle_although_they_act_in_stance_only(name: str) -> None:
    config = LateralConfig()
    stance = transition(getattr(config, f"{name}_stiffness"), getattr(config, f"{name}_damping"), STANCE)
    flight = transition(0.0, 0.0, 0.5 * PERIOD - STANCE)
    per_stance = np.abs(np.linalg.eigvals(flight @ stance)).max()
    assert per_stance < 0.7, "a deviation falls to a tenth within about a second"
