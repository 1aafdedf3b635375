import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.control.estimation.ground import ContactEstimate, GroundEstimate
from contact_ddp_ros.robot.ground import Ground

FEET = np.array([[0.19, -0.11], [0.19, 0.11], [-0.19, -0.11], [-0.19, 0.11]])
CONFIG = EstimationConfig()


def walked(
    ground: Ground, steps: int, config: EstimationConfig = CONFIG, error: float = 0.0, steps_up: float = 0.0
) -> tuple[GroundEstimate, np.ndarray]:
    """The estimate of a robot that has trotted over a plane, ahead at 0.5 m/s, and where its trunk is."""
    contact, estimate = ContactEstimate(4), GroundEstimate(4)
    trunk = np.zeros(3)
    standing = np.array([True, False, False, True])
    for k in range(steps):
        time = 0.002 * k
        trunk = np.array([0.5 * time, 0.0, 0.3])
        down = standing if (k // 75) % 2 else ~standing
        if k < 50:
            down = np.ones(4, dtype=bool)
        xy = FEET + [0.5 * 0.15 * (k // 75), 0.0]
        points = np.column_stack([xy, [ground.height_at(x, y) + error for x, y in xy]])
        points[:, 2] += steps_up * np.floor(points[:, 0] / 0.1)
        points[~down, 2] += 0.05
        contact.update(time, np.where(down, 60.0, 0.0), down, config)
        settled = contact.contact & (time - contact.since >= config.settle_time)
        estimate.update(time, trunk, points, contact.contact, settled, config)
    return estimate, trunk


@settings(max_examples=20, deadline=None)
@given(st.floats(-0.2, 0.2), st.floats(-0.2, 0.2), st.floats(-1.0, 1.0))
def test_a_plane_is_found(slope_x: float, slope_y: float, height: float) -> None:
    truth = Ground(height=height, slope_x=slope_x, slope_y=slope_y)
    estimate, trunk = walked(truth, 600)
    assert estimate.ground is not None
    assert estimate.ground.height_at(*trunk[:2]) == pytest.approx(truth.height_at(*trunk[:2]), abs=1e-3)
    assert estimate.ground.slope_x == pytest.approx(slope_x, abs=5e-3)
    assert estimate.ground.slope_y == pytest.approx(slope_y, abs=5e-3)


def test_an_error_of_the_height_is_part_of_the_ground() -> None:
    estimate, trunk = walked(Ground(), 600, error=0.05)
    assert estimate.ground is not None
    assert estimate.ground.height_at(*trunk[:2]) == pytest.approx(0.05, abs=1e-6)


def test_stairs_are_rough_and_slopes_are_not() -> None:
    slope, _ = walked(Ground(slope_x=0.3), 600)
    assert slope.roughness == pytest.approx(0.0, abs=2e-3)
    stairs, _ = walked(Ground(), 600, steps_up=0.05)
    assert 0.005 < stairs.roughness < 0.025, "a step's height at most, spread evenly"
    stairs.forget()
    assert stairs.roughness == 0.0


def test_nothing_is_told_before_three_feet_have_stood() -> None:
    contact, estimate = ContactEstimate(4), GroundEstimate(4)
    two = np.array([True, True, False, False])
    for k in range(40):
        contact.update(0.002 * k, np.where(two, 60.0, 0.0), two, CONFIG)
        estimate.update(
            0.002 * k, np.zeros(3), np.column_stack([FEET, np.zeros(4)]), contact.contact, contact.contact, CONFIG
        )
    assert estimate.ground is None


def test_only_so_many_footholds_are_kept_and_forgetting_forgets() -> None:
    estimate, _ = walked(Ground(), 1200)
    assert len(estimate.footholds) <= CONFIG.footholds + 4
    estimate.forget()
    assert estimate.ground is None
    assert not len(estimate.footholds)


def test_no_ground_is_steeper_than_feet_can_tell() -> None:
    estimate, _ = walked(Ground(slope_x=0.9, slope_y=-0.3), 600)
    assert estimate.ground is not None
    slopes = np.array([estimate.ground.slope_x, estimate.ground.slope_y])
    assert np.hypot(*slopes) == pytest.approx(0.45, abs=0.01)
    assert slopes[0] / slopes[1] == pytest.approx(-3.0, rel=0.15)
