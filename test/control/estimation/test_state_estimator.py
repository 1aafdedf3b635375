"""The state estimator: how it starts, rests, weighs feet, and starts again; its IMU is the simulator's."""

import numpy as np
import pytest

from contact_ddp_ros.control.estimation.state_estimator import StateEstimator
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy, rpy_to_quaternion
from contact_ddp_ros.robot.state import ImuSample, RobotState
from contact_ddp_ros.robot.tree import GRAVITY

ROBOT = load_robot()
UP = np.array([0.0, 0.0, 1.0])
STANDING = ROBOT.standing_state().joint_positions
STILL = np.zeros(12)
DT = 0.002


def rest(estimator: StateEstimator, seconds: float, start: float = 0.0, bias: np.ndarray = STILL[:3]) -> RobotState:
    for step in range(round(seconds / DT)):
        sample = ImuSample(start + step * DT, bias.copy(), np.array([0.0, 0.0, GRAVITY]))
        state = estimator.update(sample, STANDING, STILL, STILL)
    return state


def test_it_starts_on_its_feet_with_heading_zero() -> None:
    state = rest(StateEstimator(ROBOT), DT)
    assert state.position == pytest.approx(ROBOT.standing_state().position, abs=1e-6)
    assert state.orientation == pytest.approx([0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize(("roll", "pitch"), [(0.2, 0.0), (0.0, -0.3), (0.4, 0.2), (3.0, 0.1)])
def test_it_starts_as_tilted_as_gravity_says(roll: float, pitch: float) -> None:
    force = quaternion_to_matrix(rpy_to_quaternion(roll, pitch, 0.0)).T @ np.array([0.0, 0.0, GRAVITY])
    state = StateEstimator(ROBOT).update(ImuSample(0.0, np.zeros(3), force), STANDING, STILL, STILL)
    assert quaternion_to_rpy(state.orientation) == pytest.approx([roll, pitch, 0.0], abs=1e-6)


def test_a_limp_robot_that_lies_still_stays_where_it_is_and_learns_the_gyroscopes_bias() -> None:
    """No drive gives torque, so no foot counts as standing."""
    estimator, bias = StateEstimator(ROBOT), np.array([0.005, -0.004, 0.006])
    state = rest(estimator, 10.0, bias=bias)
    assert not estimator.weights.round(1).any()
    assert np.abs(state.linear_velocity).max() < 0.005
    assert np.abs(state.position - ROBOT.standing_state().position).max() < 0.05
    assert estimator.filter.biases[0] == pytest.approx(bias, abs=5e-4)


@pytest.mark.parametrize("jump", [-1.0, 0.5])
def test_a_clock_that_jumps_has_it_begin_anew(jump: float) -> None:
    estimator = StateEstimator(ROBOT)
    rest(estimator, 1.0)
    estimator.filter.points[0] = [9.0, 9.0, 9.0]
    state = rest(estimator, DT, start=1.0 + jump)
    assert not state.linear_velocity.any()
    assert state.is_finite()


def test_a_robot_that_is_put_elsewhere_has_it_begin_anew() -> None:
    """A simulator's reset: the clock goes on, no gyroscope shows the turn, and joints leap."""
    estimator, roll = StateEstimator(ROBOT), 0.15
    rest(estimator, 0.5)
    force = GRAVITY * np.array([0.0, np.sin(roll), np.cos(roll)])
    for k in range(2):
        sample = ImuSample(0.5 + 0.002 * k, np.zeros(3), force)
        state = estimator.update(sample, STANDING + 0.5, STILL, STILL)
    assert quaternion_to_rpy(state.orientation)[0] == pytest.approx(roll, abs=1e-3)
    np.testing.assert_allclose(state.position[:2], 0.0, atol=1e-9)


def test_a_foot_counts_as_much_as_its_share_of_the_weight_says() -> None:
    """Torques that carry the weight on two diagonal feet."""
    estimator = StateEstimator(ROBOT)
    legs = LegGeometry.from_tree(ROBOT.tree, tuple(point.name for point in ROBOT.tree.contacts))
    _, jacobians = legs.points_and_jacobians(STANDING, -UP)
    torques = np.zeros(12)
    for foot in (0, 3):
        torques[3 * foot : 3 * foot + 3] = -jacobians[foot].T @ (0.5 * ROBOT.mass * GRAVITY * UP)
    for step in range(50):
        sample = ImuSample(step * DT, np.zeros(3), GRAVITY * UP)
        estimator.update(sample, STANDING, STILL, torques)
    assert estimator.weights == pytest.approx([1.0, 0.0, 0.0, 1.0], abs=0.1)


def test_a_sample_that_comes_twice_changes_nothing() -> None:
    estimator = StateEstimator(ROBOT)
    state = rest(estimator, 0.1, bias=np.array([0.3, 0.0, 0.0]))
    again = estimator.update(ImuSample(state.time, np.zeros(3), 3.0 * UP), STANDING, STILL, STILL)
    assert again.orientation == pytest.approx(state.orientation)
    assert again.linear_velocity == pytest.approx(state.linear_velocity)


def test_an_imu_that_repeats_itself_is_told() -> None:
    estimator = StateEstimator(ROBOT)
    rest(estimator, 0.1)
    assert estimator.frozen == pytest.approx(0.098)
    estimator.update(ImuSample(0.2, np.full(3, 1e-9), GRAVITY * UP), STANDING, STILL, STILL)
    assert estimator.frozen == 0.0


def test_it_begins_with_a_steady_sample() -> None:
    """A robot that is put down: its first samples show no gravity, or a push."""
    estimator = StateEstimator(ROBOT)
    force = quaternion_to_matrix(rpy_to_quaternion(0.3, -0.2, 0.0)).T @ (GRAVITY * UP)
    for step, shown in enumerate((np.zeros(3), np.array([20.0, 0.0, 5.0]), force, force)):
        state = estimator.update(ImuSample(DT * step, np.zeros(3), shown), STANDING, STILL, STILL)
    assert quaternion_to_rpy(state.orientation) == pytest.approx([0.3, -0.2, 0.0], abs=1e-3)


def test_a_trunk_at_rest_that_the_filter_has_moving_is_levelled_where_it_is() -> None:
    """After a fall: velocity, tilt and the accelerometer's bias are far off, heading and place are all there is."""
    estimator = StateEstimator(ROBOT)
    rest(estimator, 0.5)
    found, heading = estimator.filter, 0.7
    found.rotation[:] = quaternion_to_matrix(rpy_to_quaternion(0.5, 0.1, heading))
    found.points[:2] = [[2.0, -1.0, 3.0], [4.0, 5.0, 0.2]]
    found.biases[1] = [3.0, -4.0, 1.0]
    state = rest(estimator, 0.3, start=0.5)
    assert quaternion_to_rpy(state.orientation) == pytest.approx([0.0, 0.0, heading], abs=0.02)
    assert np.abs(state.linear_velocity).max() < 0.02
    assert np.abs(found.biases[1]).max() < 0.1
    assert state.position == pytest.approx([4.0, 5.0, 0.2], abs=0.05)


def test_feet_that_all_contradict_the_velocity_are_believed_and_the_place_does_not_jump() -> None:
    estimator = StateEstimator(ROBOT)
    legs = LegGeometry.from_tree(ROBOT.tree, tuple(point.name for point in ROBOT.tree.contacts))
    _, jacobians = legs.points_and_jacobians(STANDING, -UP)
    torques = np.concatenate([-each.T @ (0.25 * ROBOT.mass * GRAVITY * UP) for each in jacobians])
    places = []
    for step in range(300):
        if step == 150:
            estimator.filter.points[0] = [4.0, -3.0, 2.0]
        sample = ImuSample(step * DT, np.zeros(3), GRAVITY * UP + 1e-9 * step)
        state = estimator.update(sample, STANDING, STILL, torques)
        places.append(state.position)
    assert np.abs(state.linear_velocity).max() < 0.1
    assert np.abs(np.diff(places, axis=0)).max() < 0.02, "the controller allows 0.07 m a tick"


def test_a_blow_beyond_the_accelerometers_range_spends_the_speed_along_it_and_no_other_is_forgotten() -> None:
    """A trunk that falls onto its side: what stopped it was shown in part.

    Feet that slide after the blow would be taken to stand where the velocity along the ground were unknown.
    """
    estimator = StateEstimator(ROBOT)
    rest(estimator, 0.1)
    estimator.filter.points[0] = [0.5, 0.0, -1.5]
    for step, force in enumerate((157.0, 157.0, GRAVITY)):
        sample = ImuSample(0.1 + DT * step, np.zeros(3), np.array([0.0, 0.0, force]))
        state = estimator.update(sample, STANDING, STILL, STILL)
    assert state.linear_velocity == pytest.approx([0.5, 0.0, 0.0], abs=0.1), "without it, -0.9 upwards"
    deviations = np.sqrt(np.diag(estimator.filter.twist_covariance)[:3])
    assert deviations[2] > 0.9 and deviations[:2].max() < 0.2


@pytest.mark.parametrize("part", range(5))
def test_numbers_that_are_none_are_told_and_do_no_harm(part: int) -> None:
    estimator = StateEstimator(ROBOT)
    rest(estimator, 0.1)
    parts = [np.zeros(3), GRAVITY * UP, STANDING.copy(), STILL.copy(), STILL.copy()]
    parts[part][1] = np.nan
    assert not estimator.update(ImuSample(0.1, parts[0], parts[1]), *parts[2:]).is_finite()
    state = rest(estimator, 0.1, start=0.102)
    assert state.is_finite() and np.abs(state.linear_velocity).max() < 0.01


@pytest.mark.parametrize(
    ("gap", "joints", "words"),
    [
        (0.2, STANDING, "0.200 s between two samples"),
        (DT, STANDING + 0.5 * (np.arange(12) == 0), "fr_abad_joint has moved 0.50 rad in 0.002 s"),
    ],
)
def test_a_moving_trunk_of_which_samples_are_missing_has_no_place_and_it_is_said_why(
    gap: float, joints: np.ndarray, words: str
) -> None:
    estimator = StateEstimator(ROBOT)
    rest(estimator, 0.1)
    assert not estimator.interruption
    turning = ImuSample(0.098 + gap, np.array([0.0, 0.5, 0.0]), GRAVITY * UP)
    assert not estimator.update(turning, joints, STILL, STILL).is_finite()
    assert words in estimator.interruption
    assert rest(estimator, 0.1, start=0.1 + gap).is_finite() and not estimator.interruption
