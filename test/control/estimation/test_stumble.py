import numpy as np
import pytest

from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.control.estimation.momentum import SwingCollisionDetector

CONFIG = EstimationConfig()
POINTS = np.array([[0.19, -0.11, 0.05], [0.19, 0.11, 0.05], [-0.19, -0.11, 0.0], [-0.19, 0.11, 0.0]])
FRONT = np.array([True, True, False, False])


def felt(
    stumble: SwingCollisionDetector,
    force: list[float],
    lasting: float,
    trunk: float = 0.0,
    foot: int = 0,
    begin: float = 0.0,
    push: float = 1.0,
    knee: float = 0.15,
) -> float:
    """What counts after a force on a foot, with knees at height `knee`; torques push `push` times as hard."""
    forces = np.zeros((4, 3))
    forces[foot] = force
    driven = -push * forces
    feet = POINTS + [trunk, 0.0, 0.0]
    knees = POINTS * [1.0, 1.0, 0.0] + [trunk, 0.0, knee]
    for k in range(round(lasting / 0.002) + 1):
        at = np.array([trunk, 0.0, 0.3])
        stumble.update(begin + 0.002 * k, at, feet, knees, forces, driven, FRONT, CONFIG)
    return stumble.roughness(CONFIG)


@pytest.mark.parametrize(
    ("force", "lasting", "foot", "counts"),
    [
        ([-40.0, 0.0, 0.0], 0.01, 0, True),
        ([0.0, 40.0, 20.0], 0.01, 1, True),
        ([-40.0, 0.0, 0.0], 0.006, 0, False),  # an instant of a landing or a lift-off
        ([-8.0, 0.0, 0.0], 0.1, 0, False),  # what the observer is off by
        ([-40.0, 0.0, 60.0], 0.1, 0, False),  # a landing
        ([-20.0, 0.0, -40.0], 0.1, 0, False),  # no ground pulls
        ([-40.0, 0.0, 0.0], 0.1, 2, False),  # a foot that stands
    ],
)
def test_a_foot_that_is_stopped_in_its_swing_has_met_an_edge(force, lasting, foot, counts) -> None:
    assert felt(SwingCollisionDetector(4), force, lasting, foot=foot) == (CONFIG.stumble_roughness if counts else 0.0)


def test_what_weak_torques_feel_like_is_no_edge() -> None:
    assert felt(SwingCollisionDetector(4), [-40.0, 0.0, 0.0], 0.1, push=1.5) == 0.0, "the foot goes on"


def test_a_knee_that_meets_the_ground_is_no_edge() -> None:
    assert felt(SwingCollisionDetector(4), [-40.0, 0.0, 0.0], 0.1, knee=0.07) == 0.0, "2 cm above its foot"


def test_the_force_must_last_without_a_break() -> None:
    stumble = SwingCollisionDetector(4)
    for k in range(10):
        found = felt(stumble, [-40.0 * (k % 2), 0.0, 0.0], 0.006, begin=0.008 * k)
        assert found == 0.0


def test_it_is_forgotten_where_the_robot_has_left_the_place() -> None:
    stumble = SwingCollisionDetector(4)
    assert felt(stumble, [-40.0, 0.0, 0.0], 0.02) > 0.0
    assert felt(stumble, [0.0, 0.0, 0.0], 1.0, trunk=0.7, begin=1.0) > 0.0, "the back feet are still to come"
    assert felt(stumble, [0.0, 0.0, 0.0], 0.1, trunk=0.8, begin=3.0) == 0.0
    assert felt(stumble, [-40.0, 0.0, 0.0], 0.02, begin=4.0) > 0.0
    stumble.forget()
    assert stumble.roughness(CONFIG) == 0.0
