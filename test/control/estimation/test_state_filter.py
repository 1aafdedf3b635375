"""The state estimator's filter: its linear model against differences, invariance, and corrections."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from contact_ddp_ros.control.estimation import filter_steps
from contact_ddp_ros.control.estimation.config import StateFilterConfig
from contact_ddp_ros.control.estimation.filter_steps import (
    ACCELEROMETER,
    GRAVITY,
    GYRO,
    JOINTS,
    POSITION,
    ROTATION,
    VELOCITY,
)
from contact_ddp_ros.control.estimation.state_filter import StateFilter
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.load import load_robot

ROBOT = load_robot()
N_FEET = len(ROBOT.tree.contacts)
FEET = JOINTS + 3 * N_FEET
N_MARKS = N_FEET + 1
N = FEET + 3 * N_MARKS
DT = 0.002
TINY = 1e-5
"""A step over which the linear model is exact to first order [s]."""
RNG = np.random.default_rng(3)
ATS = [VELOCITY, POSITION, *(FEET + 3 * k for k in range(N_MARKS))]

Group = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Rotation (3, 3), points (3 + L, 3), biases (2, 3), offsets of the joints (3 L,)."""


def some_state() -> Group:
    return (
        Rotation.from_rotvec(RNG.normal(size=3)).as_matrix(),
        RNG.normal(size=(2 + N_MARKS, 3)),
        0.1 * RNG.normal(size=(2, 3)),
        0.1 * RNG.normal(size=3 * N_FEET),
    )


def moved(state: Group, xi: np.ndarray) -> Group:
    """exp(xi) X, and the biases with their errors added; SciPy's exponential."""
    rotation, points, biases, offsets = state
    turn = Rotation.from_rotvec(xi[:3]).as_matrix()
    left = np.column_stack([integral_of_turn(xi[:3], axis) for axis in np.eye(3)])
    shifted = np.array([turn @ point + left @ xi[at : at + 3] for point, at in zip(points, ATS, strict=True)])
    biases = biases + np.stack([xi[GYRO : GYRO + 3], xi[ACCELEROMETER : ACCELEROMETER + 3]])
    return turn @ rotation, shifted, biases, offsets + xi[JOINTS:FEET]


def integral_of_turn(w: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Mean of exp(s w) vector over s from 0 to 1: the left Jacobian of SO(3), by quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    return sum(0.5 * b * Rotation.from_rotvec(0.5 * (a + 1.0) * w).apply(vector) for a, b in zip(nodes, weights))


def error(found: Group, true: Group) -> np.ndarray:
    """xi of X_found X_true^-1 to first order, for small errors."""
    turn = found[0] @ true[0].T
    xi = np.zeros(N)
    xi[:3] = Rotation.from_matrix(turn).as_rotvec()
    for at, a, b in zip(ATS, found[1], true[1], strict=True):
        xi[at : at + 3] = a - turn @ b
    xi[GYRO : GYRO + 3], xi[ACCELEROMETER : ACCELEROMETER + 3] = found[2] - true[2]
    xi[JOINTS:FEET] = found[3] - true[3]
    return xi


def propagated(state: Group, gyro: np.ndarray, force: np.ndarray, covariance: np.ndarray) -> Group:
    rotation, points, biases, offsets = (part.copy() for part in state)
    still = np.zeros(N_MARKS), TINY, np.zeros(5)
    filter_steps.predict(rotation, points, covariance, gyro - biases[0], force - biases[1], *still)
    return rotation, points, biases, offsets


@pytest.mark.parametrize("at", range(N))
def test_the_covariance_is_propagated_as_errors_are(at: int) -> None:
    state, gyro, force = some_state(), RNG.normal(size=3), RNG.normal(size=3) + [0.0, 0.0, GRAVITY]
    xi = np.zeros(N)
    xi[at] = 1e-5
    covariance = np.outer(xi, xi)
    true = propagated(state, gyro, force, covariance)
    found = propagated(moved(state, xi), gyro, force, np.zeros((N, N)))
    after = error(found, true)
    walk = np.zeros(N)
    walk[JOINTS:FEET] = filter_steps._OFFSET_WALK**2 * TINY
    assert covariance == pytest.approx(np.outer(after, after) + np.diag(walk), abs=1e-3 * TINY * 1e-10)


def test_free_fall_is_integrated_exactly() -> None:
    rotation, points = np.eye(3), np.zeros((2 + N_MARKS, 3))
    points[0] = [1.0, 2.0, 3.0]
    for _ in range(500):
        noise, still = np.zeros(5), np.zeros(3)
        filter_steps.predict(rotation, points, np.zeros((N, N)), still, still, np.full(N_MARKS, -1.0), DT, noise)
    assert points[0] == pytest.approx([1.0, 2.0, 3.0 - GRAVITY])
    assert points[1] == pytest.approx([1.0, 2.0, 3.0 - 0.5 * GRAVITY])


def standing() -> tuple[StateFilter, np.ndarray]:
    found = StateFilter(ROBOT, StateFilterConfig(settle=0.0))
    state = ROBOT.standing_state()
    found.begin(state.orientation, np.zeros(3), state.position)
    return found, state.joint_positions


def test_an_attitude_velocity_and_biases_that_are_wrong_are_put_right_by_feet_that_stand() -> None:
    found, q = standing()
    wrong = Rotation.from_rotvec([0.03, -0.04, 0.0]).as_matrix()
    found.rotation = np.ascontiguousarray(wrong)
    found.points[0] = [0.1, -0.1, 0.05]
    bias = np.array([0.005, -0.004, 0.006])
    for _ in range(5000):
        found.update(DT, bias, np.array([0.0, 0.0, GRAVITY]), q, np.zeros(12), np.ones(N_FEET))
    assert found.points[0] == pytest.approx(np.zeros(3), abs=1e-3)
    assert np.arccos(found.rotation[2, 2]) < 0.1 / GRAVITY, "what the accelerometer's bias may be"
    assert found.biases[0] == pytest.approx(bias, abs=5e-4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("measurement", ["place", "rate", "level"])
def test_one_measurement_removes_an_error_of_known_direction(measurement: str, seed: int) -> None:
    """Where the covariance knows nothing but a direction, the step along it is right only if the linear model is."""
    rng, foot = np.random.default_rng(seed), seed
    found = StateFilter(ROBOT, StateFilterConfig(settle=0.0, place=1e-4, rate=1e-3, slip=1e-3, level=1e-4, gate=100.0))
    standing = ROBOT.standing_state()
    tilted = Rotation.from_rotvec(0.1 * rng.normal(size=3))
    found.begin(tilted.as_quat(), np.zeros(3), np.array([3.0, -2.0, 0.3]))
    q, rates, gyro = standing.joint_positions + 0.1 * rng.normal(size=12), rng.normal(size=12), rng.normal(size=3)
    offsets = 0.02 * rng.normal(size=12)
    legs, rotation = found.legs, tilted.as_matrix()
    down = np.array([0.0, 0.0, -1.0])
    contacts, jacobians = legs.points_and_jacobians(q - offsets, rotation.T @ down)
    centres = contacts - legs.radius * (rotation.T @ down)
    points = np.zeros((2 + N_MARKS, 3))
    points[0] = -rotation @ (np.cross(gyro, contacts[foot]) + jacobians[foot] @ rates[3 * foot : 3 * foot + 3])
    points[1] = [3.0, -2.0, 0.3]
    points[2:-1] = points[1] + centres @ rotation.T
    points[-1] = points[2 + foot] - [1.2, 0.7, 0.0]
    true = rotation, points, np.zeros((2, 3)), offsets
    weights = np.zeros(N_FEET)
    weights[foot] = 1.0
    if measurement == "place":  # of a foot that stood before
        found.update(DT, gyro, np.zeros(3), q, rates, weights)
    if measurement == "level":
        found._walks[-1] = 0.0
    xi = 1e-4 * rng.normal(size=N)
    if measurement == "rate":  # the foot is new: its place follows from the rest
        xi[:3] = 0.0
    found.rotation, found.points, found.biases, found.offsets = moved(true, xi)
    found.rotation = np.ascontiguousarray(found.rotation)
    found.covariance = 1e4 * np.outer(xi, xi)
    found.update(1e-12, gyro, np.zeros(3), q, rates, weights)
    left = error((found.rotation, found.points, found.biases, found.offsets), true)
    left[FEET + 3 * foot : FEET + 3 * foot + 3] = left[-3:] = 0.0
    assert np.abs(left).max() < 0.03 * np.abs(xi).max()


@pytest.mark.parametrize("turn", [0.5, -2.0, math.pi])
def test_heading_and_place_of_the_start_change_nothing_in_trunk_axes(turn: float) -> None:
    rng = np.random.default_rng(5)
    first, q = standing()
    second, _ = standing()
    around = Rotation.from_rotvec([0.0, 0.0, turn])
    second.begin(around.as_quat(), np.zeros(3), np.array([3.0, -2.0, 0.3]))
    for _ in range(200):
        gyro, force = 0.3 * rng.normal(size=3), np.array([0.0, 0.0, GRAVITY]) + rng.normal(size=3)
        angles, rates = q + 0.01 * rng.normal(size=12), rng.normal(size=12)
        for one in (first, second):
            one.update(DT, gyro, force, angles, rates, np.array([1.0, 0.0, 0.7, 1.0]))
    assert second.rotation.T @ second.points[0] == pytest.approx(first.rotation.T @ first.points[0], abs=1e-6)
    assert second.biases == pytest.approx(first.biases, abs=1e-6)
    assert second.rotation == pytest.approx(around.as_matrix() @ first.rotation, abs=1e-6)


def test_a_ball_that_rolls_is_no_slip() -> None:
    """The trunk moves over one standing foot: its centre goes on by the radius times the shank's angle."""
    found, q = standing()
    legs = LegGeometry.from_tree(ROBOT.tree, tuple(point.name for point in ROBOT.tree.contacts))
    rates = np.zeros(12)
    rates[1::3] = 1.0
    rolled = found.points[2:].copy()
    for step in range(100):
        angles = q + rates * DT * step
        points, jacobians = legs.points_and_jacobians(angles, np.array([0.0, 0.0, -1.0]))
        velocity = -np.mean([jacobians[k] @ rates[3 * k : 3 * k + 3] for k in range(N_FEET)], axis=0)
        if step == 0:
            found.points[0] = velocity
            before = velocity
        force = (velocity - before) / DT + [0.0, 0.0, GRAVITY]
        before = velocity
        found.update(DT, np.zeros(3), force, angles, rates, np.ones(N_FEET))
        if step == 0:
            rolled = found.points[2:].copy()
    assert found.points[0] == pytest.approx(velocity, abs=2e-3)
    moved_by = (found.points[2:] - rolled)[:N_FEET]
    assert np.abs(moved_by[:, 0]) == pytest.approx(legs.radius * 99 * DT, rel=0.05)
    assert found.innovations.max() < 9.0


def test_a_foot_that_slips_hardly_moves_the_trunk() -> None:
    found, q = standing()
    still = np.array([0.0, 0.0, GRAVITY])
    for _ in range(500):
        found.update(DT, np.zeros(3), still, q, np.zeros(12), np.ones(N_FEET))
    slip = np.zeros(12)
    slip[1] = 10.0
    for _ in range(10):
        found.update(DT, np.zeros(3), still, q, slip, np.ones(N_FEET))
    assert np.abs(found.points[0]).max() < 0.05, "the foot's speed is 2.6 m/s"
    assert found.innovations[0, 1] > found.config.gate


def height_on_soft_ground(time: float) -> tuple[float, bool]:
    """Height of a trunk above where its feet touch, and if they do: they sink 10 mm fast, rise slowly, and leave."""
    standing_time, air, depth = 0.14, 0.1, 0.01
    speed = 27.0 / 4.0 * depth / standing_time
    time %= standing_time + air
    if time < standing_time:
        s = time / standing_time
        return -speed * standing_time * s * (1.0 - s) ** 2, True
    u = (time - standing_time) / air
    return speed * air * u * u * (1.0 - u), False


def test_feet_that_sink_and_come_back_hardly_let_the_trunk_drift() -> None:
    """If the feet counted as on hard ground it would be by 40 mm/s: their rise of 10 mm in each stance a fall of it."""
    found, q = standing()
    found.configure(StateFilterConfig())
    found.speeds[:] = 0.2**2, 0.0, 0.1**2
    start, drifted = found.points[1, 2], []
    found.points[0, 2] = (height_on_soft_ground(DT)[0] - height_on_soft_ground(0.0)[0]) / DT
    for k in range(1, 3000):
        (before, _), (now, stands), (after, _) = (height_on_soft_ground((k + i) * DT) for i in (-1, 0, 1))
        force = np.array([0.0, 0.0, GRAVITY + (after - 2.0 * now + before) / DT**2])
        found.update(DT, np.zeros(3), force, q, np.zeros(12), np.full(N_FEET, float(stands)))
        drifted.append(found.points[1, 2] - start - now)
    assert np.ptp(drifted[500:]) < 0.08
    assert found.speeds[2] > 0.05**2, "the ground stays soft"


def test_noise_of_the_joints_velocities_is_no_soft_ground() -> None:
    found, q = standing()
    rng = np.random.default_rng(5)
    for _ in range(500):
        noise = rng.normal(0.0, 0.2, 12)
        found.update(DT, np.zeros(3), np.array([0.0, 0.0, GRAVITY]), q, noise, np.ones(N_FEET))
    assert found.speeds[1:].max() < 0.01**2, "their square is (0.03 m/s)^2 and more"


def test_a_wrong_velocity_is_no_soft_ground() -> None:
    found, q = standing()
    found.points[0, 2] = 0.3
    for _ in range(100):
        found.update(DT, np.zeros(3), np.array([0.0, 0.0, GRAVITY]), q, np.zeros(12), np.ones(N_FEET))
    assert found.speeds[1:].max() < 0.01**2
    assert found.points[0] == pytest.approx(np.zeros(3), abs=0.01)


def test_position_and_heading_are_known_less_and_less() -> None:
    found, q = standing()
    spread = []
    for _ in range(2):
        for _ in range(1000):
            found.update(DT, np.zeros(3), np.array([0.0, 0.0, GRAVITY]), q, np.zeros(12), np.ones(N_FEET))
        spread.append(np.diag(found.covariance).copy())
    assert spread[1][ROTATION + 2] > spread[0][ROTATION + 2]
    assert (spread[1][POSITION : POSITION + 3] > spread[0][POSITION : POSITION + 3]).all()
    assert (np.linalg.eigvalsh(found.covariance) > -1e-12).all()


def test_covariances_of_pose_and_twist_are_those_of_errors_in_their_axes() -> None:
    """By small errors of the filter's kind about a state far from the origin, one of each."""
    found, _ = standing()
    found.rotation, found.points, found.biases, found.offsets = some_state()
    found.points[1] = [30.0, -20.0, 0.3]
    root = 1e-4 * np.random.default_rng(2).normal(size=(N, N))
    found.covariance = root @ root.T
    pose, twist = [], []
    for xi in root.T:
        rotation, points, biases, _ = moved((found.rotation, found.points, found.biases, found.offsets), xi)
        turn = Rotation.from_matrix(rotation @ found.rotation.T).as_rotvec()
        pose.append([*(points[1] - found.points[1]), *turn])
        own = rotation.T @ points[0] - found.rotation.T @ found.points[0]
        twist.append([*own, *(found.biases[0] - biases[0])])
    for told, errors in ((found.pose_covariance, pose), (found.twist_covariance, twist)):
        expected = np.array(errors).T @ errors
        scale = np.sqrt(np.diag(expected))
        assert (np.abs(told - expected) <= 0.01 * np.outer(scale, scale)).all()
