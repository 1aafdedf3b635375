"""References that follow their target no faster than a rate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.mpc.governor import RateLimited

NUMBERS = st.floats(-10.0, 10.0)


@given(start=NUMBERS, target=NUMBERS, rate=st.floats(0.1, 20.0), elapsed=st.floats(0.0, 5.0))
def test_it_moves_towards_the_target_as_far_as_the_rate_allows(start, target, rate, elapsed):
    one = RateLimited(start, time=1.0)
    reached = one.approach(target, rate, 1.0 + elapsed)
    assert abs(reached - start) <= rate * elapsed + 1e-9
    assert min(start, target) - 1e-9 <= reached <= max(start, target) + 1e-9
    if abs(target - start) < rate * elapsed - 1e-9:
        assert reached == pytest.approx(target, abs=1e-12)


def test_a_clock_set_back_moves_nothing():
    one = RateLimited(0.0, time=5.0)
    assert one.approach(1.0, 1.0, 4.0) == 0.0
    assert one.approach(1.0, 1.0, 4.1) == pytest.approx(0.1)


def test_restart_forgets_the_way_so_far():
    one = RateLimited(0.0)
    one.approach(1.0, 10.0, 1.0)
    one.restart(0.3, 7.0)
    assert one.approach(1.0, 1.0, 7.0) == 0.3
