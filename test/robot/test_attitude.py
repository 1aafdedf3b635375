"""The two charts of the trunk's attitude, and the change from one to the other."""

import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import pinocchio_model

from contact_ddp_ros.dynamics.spatial import chart_change
from contact_ddp_ros.robot.attitude import (
    ANGLES,
    STAY,
    Chart,
    change_derivative,
    changed,
    chart_for,
    in_chart,
)
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy, wrap_angle

TREE = load_robot().tree
N = TREE.n
RATES = slice(N + ANGLES.start, N + ANGLES.stop)
BOTH = [*range(3, 6), *range(N + 3, N + 6)]

quaternions = st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1)


def sample(seed: int, chart: Chart) -> np.ndarray:
    """A state of a chart whose attitude is regular in both, by at least 15 degrees."""
    rng = np.random.default_rng(seed)
    while True:
        x = rng.normal(size=2 * N)
        x[ANGLES] = rng.uniform([-3.0, -1.3, -3.0], [3.0, 1.3, 3.0])
        if abs(chart.other.sine(chart.rotation(x[ANGLES]))) < math.sin(1.3):
            return x


@given(quaternions)
def test_one_of_the_charts_is_within_45_degrees_of_its_centre(quaternion: list[float]) -> None:
    rotation = quaternion_to_matrix(np.array(quaternion))
    sines = [abs(chart.sine(rotation)) for chart in Chart]
    assert min(sines) <= math.sqrt(0.5) + 1e-12
    for present in Chart:
        taken = chart_for(rotation, present)
        assert abs(taken.sine(rotation)) <= math.sin(STAY) + 1e-12
        assert taken is present or abs(present.sine(rotation)) > math.sin(STAY)


@given(quaternions)
def test_angles_lead_back_to_the_attitude(quaternion: list[float]) -> None:
    rotation = quaternion_to_matrix(np.array(quaternion))
    for chart in Chart:
        angles = chart.angles(rotation)
        np.testing.assert_allclose(chart.rotation(angles), rotation, atol=2e-8)
        np.testing.assert_allclose(quaternion_to_matrix(chart.quaternion(angles)), chart.rotation(angles), atol=1e-12)
        turned = chart.angles(rotation, angles + np.array([6.0, 0.0, -12.0]))
        assert turned - angles == pytest.approx([2.0 * math.pi, 0.0, -4.0 * math.pi])


@pytest.mark.parametrize("chart", Chart)
@pytest.mark.parametrize("away", [0.0, 1e-10, 3e-9, 3e-8, 1e-7, 1e-6, 1e-4])
def test_angles_are_exact_beside_the_singularity(chart: Chart, away: float) -> None:
    rng = np.random.default_rng(0)
    for sign in (-1.0, 1.0):
        for first, last in rng.uniform(-math.pi, math.pi, (20, 2)):
            rotation = chart.rotation(np.array([first, sign * (0.5 * math.pi - away), last]))
            found = chart.angles(rotation)
            locked = away < 1e-8
            np.testing.assert_allclose(chart.rotation(found), rotation, rtol=0.0, atol=2.0 * away * locked + 1e-14)
            assert abs(found[2]) <= 2e-8 or not locked


@pytest.mark.parametrize("chart", Chart)
@pytest.mark.parametrize("seed", range(5))
def test_rates_are_those_of_the_angular_velocity(chart: Chart, seed: int) -> None:
    rng = np.random.default_rng(seed)
    angles, rates, step = rng.uniform(-1.3, 1.3, 3), rng.normal(size=3), 1e-6
    turning = (chart.rotation(angles + step * rates) - chart.rotation(angles - step * rates)) / (2.0 * step)
    skew = chart.rotation(angles).T @ turning
    omega = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
    assert chart.rate_map(angles) @ rates == pytest.approx(omega, abs=1e-8)
    assert chart.rates(angles, omega) == pytest.approx(rates, abs=1e-7)
    slopes = [
        (chart.rate_map(angles + d) @ rates - chart.rate_map(angles - d) @ rates) / (2.0 * step)
        for d in step * np.eye(3)
    ]
    np.testing.assert_allclose(chart.rate_slope(angles, rates), np.array(slopes).T, atol=1e-8)


@pytest.mark.parametrize("chart", Chart)
@pytest.mark.parametrize("seed", range(5))
def test_the_change_is_a_change_of_coordinates(chart: Chart, seed: int) -> None:
    x = sample(seed, chart)
    there = changed(x, chart, chart.other)
    np.testing.assert_allclose(chart.other.rotation(there[ANGLES]), chart.rotation(x[ANGLES]), atol=1e-12)
    np.testing.assert_allclose(
        chart.other.rate_map(there[ANGLES]) @ there[RATES], chart.rate_map(x[ANGLES]) @ x[RATES], atol=1e-12
    )
    np.testing.assert_allclose(changed(there, chart.other, chart, x), x, atol=1e-10)
    rest = np.setdiff1d(np.arange(2 * N), BOTH)
    np.testing.assert_array_equal(there[rest], x[rest])
    derivative = change_derivative(x, chart, chart.other)
    back = change_derivative(there, chart.other, chart)
    np.testing.assert_allclose(back @ derivative, np.eye(2 * N), atol=1e-9)
    for unit in 1e-6 * np.eye(2 * N)[BOTH]:
        ahead, behind = (changed(x + one, chart, chart.other, there) for one in (unit, -unit))
        np.testing.assert_allclose((ahead - behind) / 2e-6, derivative @ unit / 1e-6, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("chart", Chart)
@pytest.mark.parametrize("seed", range(5))
def test_the_symbolic_change_is_the_same_with_exact_curvature(chart: Chart, seed: int) -> None:
    x = sample(seed, chart.other)
    functions = chart_change(chart)
    there = changed(x, chart.other, chart)
    near = there[ANGLES] + np.array([2.0 * math.pi, 0.1, -4.0 * math.pi])
    angles, rates = functions["change"](x[ANGLES], x[RATES], near)
    assert np.array(angles).ravel() - there[ANGLES] == pytest.approx([2.0 * math.pi, 0.0, -4.0 * math.pi])
    assert np.array(rates).ravel() == pytest.approx(there[RATES])
    slope, bend = functions["change_first"](x[ANGLES], x[RATES])
    derivative = change_derivative(x, chart.other, chart)
    np.testing.assert_allclose(np.array(slope), derivative[ANGLES, ANGLES], atol=1e-9)
    np.testing.assert_allclose(np.array(bend), derivative[RATES, ANGLES], rtol=1e-9, atol=1e-9)
    weights = np.random.default_rng(seed).normal(size=6)
    hessian = np.array(functions["change_second"](x[ANGLES], x[RATES], weights))

    def gradient(at: np.ndarray) -> np.ndarray:
        return np.asarray(weights @ change_derivative(at, chart.other, chart)[np.ix_(BOTH, BOTH)])

    rows = [(gradient(x + unit) - gradient(x - unit)) / 2e-6 for unit in 1e-6 * np.eye(2 * N)[BOTH]]
    np.testing.assert_allclose(hessian, np.array(rows), rtol=1e-4, atol=1e-5 * np.abs(hessian).max())


def test_turns_are_counted_through_the_upside_down() -> None:
    """Of a barrel roll seen in the other chart: yaw and pitch of the result jump nowhere but where it is singular."""
    states = np.zeros((60, 2 * N))
    states[:, ANGLES.stop - 1] = np.linspace(math.pi - 0.6, math.pi + 0.6, 60)
    states[:, ANGLES.start + 1] = 0.3
    last = changed(states[0], *Chart)
    for x in states[1:]:
        now = changed(x, *Chart, last)
        assert np.abs(now - last)[ANGLES].max() < 0.1
        last = now


def test_a_tree_in_the_other_chart_has_the_same_bodies() -> None:
    assert in_chart(TREE, Chart.YAW_PITCH_ROLL) is TREE
    tree = in_chart(TREE, Chart.YAW_ROLL_PITCH)
    assert [joint.name for joint in tree.joints[3:6]] == ["base_yaw", "base_roll", "base_pitch"]
    assert tree.mass == TREE.mass
    x = sample(3, Chart.YAW_PITCH_ROLL)
    there = changed(x, *Chart)
    energies = []
    for one, state in ((TREE, x), (tree, there)):
        model = pinocchio_model(one)
        data = model.createData()
        energies.append(pin.computeKineticEnergy(model, data, state[:N], state[N:]))
    assert energies[0] == pytest.approx(energies[1], rel=1e-12)


@given(quaternions)
def test_the_default_chart_is_roll_pitch_and_yaw(quaternion: list[float]) -> None:
    rotation = quaternion_to_matrix(np.array(quaternion))
    angles = Chart.YAW_PITCH_ROLL.angles(rotation)
    if abs(angles[1]) < 1.5:
        apart = angles[::-1] - quaternion_to_rpy(np.array(quaternion))
        assert [wrap_angle(angle) for angle in apart] == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)
