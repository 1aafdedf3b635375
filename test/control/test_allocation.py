import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.control.allocation import LateralWrench, PairForces, allocate

FRICTION, MINIMUM = 0.5, 10.0
LEFT, RIGHT = np.array([-0.18, 0.12, -0.28]), np.array([-0.19, -0.10, -0.27])
PLANNED = (10.0, 180.0)


def moment(pair: PairForces, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.cross(left, pair.left) + np.cross(right, pair.right)


def numbers(size: float) -> st.SearchStrategy[float]:
    return st.floats(-size, size)


points = st.tuples(numbers(0.3), numbers(0.05), st.floats(-0.35, -0.15), numbers(0.05), numbers(0.05)).map(
    lambda p: (
        np.array([p[0] + p[3], p[1] + 0.11, p[2] + p[4]]),
        np.array([p[0] - p[3], p[1] - 0.11, p[2] - p[4]]),
    )
)


@given(wanted=st.tuples(numbers(10.0), numbers(2.0), numbers(0.5)), feet=points)
def test_a_wrench_within_the_limits_is_had_exactly(wanted, feet) -> None:
    left, right = feet
    middle = 0.5 * (left + right)
    force, roll, yaw = wanted
    natural = LateralWrench(force, roll + 180.0 * middle[1] - force * middle[2], yaw + force * middle[0])
    pair = allocate(natural, left, right, (0.0, 180.0), friction=2.0, minimum_load=MINIMUM)
    total = pair.left + pair.right
    np.testing.assert_allclose(total, (0.0, natural.force, 180.0), atol=1e-9)
    about = moment(pair, left, right)
    assert about[0] == pytest.approx(natural.roll_moment, abs=1e-9)
    assert about[2] == pytest.approx(natural.yaw_moment, abs=1e-9)


@given(
    wanted=st.tuples(numbers(1e3), numbers(200.0), numbers(100.0)),
    feet=points,
    planned=st.tuples(numbers(150.0), st.floats(-50.0, 400.0)),
)
def test_limits_hold_and_the_reported_wrench_is_true(wanted, feet, planned) -> None:
    left, right = feet
    force_x, force_z = planned
    pair = allocate(LateralWrench(*wanted), left, right, planned, FRICTION, MINIMUM)
    np.testing.assert_allclose((pair.left + pair.right)[[0, 2]], planned, atol=1e-9)
    about = moment(pair, left, right)
    np.testing.assert_allclose((about[0], about[2]), (pair.wrench.roll_moment, pair.wrench.yaw_moment), atol=1e-9)
    assert pair.wrench.force == pytest.approx(pair.left[1] + pair.right[1])
    if force_z <= 2.0 * MINIMUM:
        np.testing.assert_allclose(pair.left, pair.right)
        return
    for foot in (pair.left, pair.right):
        assert foot[2] >= MINIMUM - 1e-9
        if abs(force_x) <= FRICTION * force_z:
            assert np.hypot(foot[0], foot[1]) <= FRICTION * foot[2] * (1.0 + 1e-9) + 1e-9


def test_the_lateral_force_gives_way_to_the_roll_moment() -> None:
    pushed = allocate(LateralWrench(-80.0, 10.0, 0.0), LEFT, RIGHT, PLANNED, FRICTION, MINIMUM)
    assert pushed.wrench.roll_moment == pytest.approx(10.0)
    assert -80.0 < pushed.wrench.force < 0.0
    assert min(pushed.left[2], pushed.right[2]) == pytest.approx(MINIMUM)


def test_yaw_takes_only_the_friction_that_is_left() -> None:
    free = allocate(LateralWrench(0.0, 0.0, 100.0), LEFT, RIGHT, PLANNED, FRICTION, MINIMUM)
    busy = allocate(LateralWrench(50.0, -14.0, 100.0), LEFT, RIGHT, PLANNED, FRICTION, MINIMUM)
    assert abs(busy.left[0] - busy.right[0]) < abs(free.left[0] - free.right[0])


def test_crossed_feet_get_the_planned_forces_only() -> None:
    pair = allocate(LateralWrench(10.0, 1.0, 1.0), RIGHT, LEFT, PLANNED, FRICTION, MINIMUM)
    np.testing.assert_allclose(pair.left, (5.0, 0.0, 90.0))
    np.testing.assert_allclose(pair.right, (5.0, 0.0, 90.0))
