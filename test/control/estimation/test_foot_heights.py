"""The ground under single feet, from where they have stood."""

import numpy as np
import pytest

from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.control.estimation.ground import FootHeightEstimate
from contact_ddp_ros.robot.ground import FootHeights, Ground

CONFIG = EstimationConfig()
PLANE = Ground(height=0.1, slope_x=0.2, slope_y=-0.1)
ALL, NONE = np.ones(4, dtype=bool), np.zeros(4, dtype=bool)
FEET = np.array([[0.19, -0.11], [0.19, 0.11], [-0.19, -0.11], [-0.19, 0.11]])
LEFT = np.array([0.0, 0.04, 0.0, 0.04])


def on(plane: Ground, xy: np.ndarray, above: np.ndarray) -> np.ndarray:
    """(4, 3) points that far above a plane."""
    return np.column_stack([xy, above + [plane.height_at(x, y) for x, y in xy]])


def test_before_anything_has_stood_it_is_the_plane() -> None:
    found = FootHeightEstimate(4).heights(PLANE, np.zeros((0, 3)), CONFIG)
    assert found == FootHeights((0.0,) * 4, (0.0,) * 4)


def test_a_foot_stands_where_it_is_and_has_stood_where_it_was() -> None:
    estimate = FootHeightEstimate(4)
    estimate.update(on(PLANE, FEET, LEFT), ALL)
    for lifted in (0.0, 0.07):
        found = estimate.heights(PLANE, np.zeros((0, 3)), CONFIG)
        assert found.standing == pytest.approx(LEFT)
        estimate.update(on(PLANE, FEET + lifted, LEFT + lifted), NONE)
    lower = Ground(height=PLANE.height - 0.02, slope_x=PLANE.slope_x, slope_y=PLANE.slope_y)
    assert estimate.heights(lower, np.zeros((0, 3)), CONFIG).standing == pytest.approx(LEFT + 0.02), "above this plane"


def test_a_foot_lands_as_high_as_what_has_stood_there() -> None:
    estimate = FootHeightEstimate(4)
    stride = np.array([0.1, 0.0])
    for k in range(3):
        estimate.update(on(PLANE, FEET + k * stride, LEFT), ALL)
        estimate.update(on(PLANE, FEET + k * stride, LEFT + 0.05), NONE)
    ahead = FEET + 3 * stride
    known = on(PLANE, ahead[[0, 3]], np.array([0.03, -0.02]))
    found = estimate.heights(PLANE, known, CONFIG)
    assert found.landing[0] == pytest.approx(0.03 / 1.3) and found.landing[3] == pytest.approx(-0.02 / 1.3)
    assert found.landing[1] == pytest.approx(0.0, abs=1e-3) and found.landing[2] == pytest.approx(0.0, abs=1e-3)
    assert found.standing == pytest.approx(LEFT)


def test_what_is_far_behind_is_forgotten_and_so_is_everything_on_demand() -> None:
    estimate = FootHeightEstimate(4)
    estimate.update(on(PLANE, FEET, LEFT), ALL)
    behind = on(PLANE, FEET - [1.0, 0.0], np.full(4, 0.05))
    assert estimate.heights(PLANE, behind, CONFIG).landing == pytest.approx((0.0,) * 4, abs=1e-6)
    estimate.forget()
    assert estimate.heights(PLANE, behind, CONFIG) == FootHeights((0.0,) * 4, (0.0,) * 4)
