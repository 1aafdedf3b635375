import pytest

from contact_ddp_ros.estimation.trim import Trim


def test_it_grows_with_what_is_missing_and_stays_within_its_bound() -> None:
    trim = Trim()
    assert trim.follow(0.1, 2.0, 0.5, 0.1) == pytest.approx(0.02)
    for _ in range(1000):
        trim.follow(0.1, 2.0, 0.5, 0.1)
    assert trim.value == 0.5
    assert trim.follow(-0.1, 2.0, 0.5, 0.1) == pytest.approx(0.48), "it turns round at once"
    trim.reset()
    assert trim.value == 0.0
