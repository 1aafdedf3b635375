"""Seconds of a node: the same whenever the first stamp comes."""

from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.ros.timebase import Timebase

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
