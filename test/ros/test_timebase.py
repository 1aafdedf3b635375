"""Seconds of a node: the same whenever the first stamp comes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.ros.timebase import ClockPace, Timebase

WALL = 1_800_000_000_123_456_789
YEAR = 365 * 86_400 * 1_000_000_000


@given(st.lists(st.integers(0, YEAR), min_size=1), st.integers(0, WALL))
def test_seconds_do_not_depend_on_where_the_clock_is(offsets: list[int], begin: int) -> None:
    early, late = Timebase(), Timebase()
    assert [early.seconds(offset) for offset in [0, *offsets]] == [late.seconds(begin + one) for one in [0, *offsets]]


@given(st.integers(-YEAR // 12, YEAR // 12))
def test_a_stamp_survives(offset: int) -> None:
    timebase = Timebase()
    timebase.seconds(WALL)
    assert timebase.stamp(timebase.seconds(WALL + offset)) == WALL + offset


def test_the_origin_is_zero_before_the_first_stamp() -> None:
    assert Timebase().stamp(1.5) == 1_500_000_000


def test_seconds_stay_exact_after_the_clock_was_set_for_the_first_time() -> None:
    timebase = Timebase()
    timebase.seconds(0)
    timebase.follow(WALL)
    assert timebase.seconds(WALL + 7) == 1e-9 * 7
    timebase.follow(WALL + 1_000_000_000)
    assert timebase.origin == WALL


@given(st.floats(0.05, 3.0), st.floats(0.05, 3.0), st.integers(0, WALL))
def test_the_pace_of_a_simulator_is_its_real_time_factor_over_the_last_second(
    first: float, then: float, begin: int
) -> None:
    pace, wall, stamp = ClockPace(simulated=True), 5.0, begin
    assert pace.value == 1.0
    for factor in (first, then):
        for _ in range(150):
            pace.mark(stamp, wall)
            wall, stamp = wall + 0.01, stamp + round(factor * 1e7)
        assert pace.value == pytest.approx(factor, rel=1e-6)
    pace.mark(begin, wall)  # the simulator begins anew
    assert pace.value == 1.0
