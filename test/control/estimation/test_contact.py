import numpy as np
import pytest

from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.control.estimation.ground import ContactEstimate

CONFIG = EstimationConfig(force_threshold=15.0, force_spread=5.0, schedule_odds=2.0)


def after(forces: list[float], scheduled: bool) -> list[bool]:
    contact, seen = ContactEstimate(1), []
    for k, force in enumerate(forces):
        contact.update(0.002 * k, np.array([force]), np.array([scheduled]), CONFIG)
        seen.append(bool(contact.contact[0]))
    return seen


@pytest.mark.parametrize(("scheduled", "threshold"), [(True, 10.0), (False, 30.0)])
def test_the_schedule_moves_the_threshold(scheduled: bool, threshold: float) -> None:
    assert after([threshold - 0.1, threshold + 0.1], scheduled) == [False, True]


def test_a_trembling_force_tells_one_story() -> None:
    assert after([40.0, 27.0, 24.0, 27.0, 21.0, 19.9, 24.0], scheduled=False) == [
        True,
        True,
        True,
        True,
        True,
        False,
        False,
    ]


def test_it_knows_since_when() -> None:
    contact = ContactEstimate(2)
    for k, forces in enumerate(([50.0, 0.0], [50.0, 0.0], [0.0, 50.0])):
        contact.update(0.002 * k, np.array(forces), np.array([True, True]), CONFIG)
    np.testing.assert_array_equal(contact.contact, [False, True])
    np.testing.assert_allclose(contact.since, [0.004, 0.004])
