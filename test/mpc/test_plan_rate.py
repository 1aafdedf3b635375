"""The planner's rate follows what its processor bears, and goes up again when it bears more."""

import numpy as np
import pytest

from benchmarks.ros.processor import pace_of
from contact_ddp_ros.mpc.loop_solver import SLOWEST, PlanRate

MOST, SHARE = 100.0, 0.7


def after(chosen: PlanRate, duration: float, seconds: float, time: float = 0.0) -> float:
    """Solves of one duration at the rate that is chosen; the time at their end."""
    ends = time + seconds
    while time < ends:
        time += max(1.0 / chosen.of(MOST), duration)
        chosen.took(duration, time, MOST, SHARE)
    return time


def test_a_planner_in_time_keeps_the_largest_rate_and_single_slow_solves_change_nothing() -> None:
    chosen = PlanRate()
    time = after(chosen, 0.006, 5.0)
    chosen.took(0.03, time, MOST, SHARE)
    time = after(chosen, 0.006, 1.0, time)
    assert chosen.of(MOST) == MOST


@pytest.mark.parametrize(
    ("duration", "rate"), [(0.009, 50.0), (0.02, 100.0 / 3.0), (0.04, 100.0 / 6.0), (0.3, SLOWEST)]
)
def test_the_rate_is_the_largest_that_leaves_its_share_of_a_period(duration: float, rate: float) -> None:
    chosen = PlanRate()
    after(chosen, duration, 1.2)
    assert chosen.of(MOST) == pytest.approx(rate)
    assert duration <= SHARE / rate or rate == SLOWEST


def test_it_comes_back_step_by_step_where_solves_are_short_again() -> None:
    chosen = PlanRate()
    time = after(chosen, 0.04, 1.0)
    time = after(chosen, 0.004, 3.0, time)
    assert 100.0 / 6.0 < chosen.of(MOST) < MOST
    after(chosen, 0.004, 20.0, time)
    assert chosen.of(MOST) == MOST


def test_a_largest_rate_below_the_slowest_is_kept() -> None:
    chosen = PlanRate()
    after(chosen, 0.3, 5.0)
    assert chosen.of(10.0) == 10.0


@pytest.mark.parametrize(("work", "share"), [(0.005, 0.5), (0.005, 0.25), (0.009, 0.5), (0.009, 0.25)])
def test_under_a_quota_it_settles_where_the_quota_is_not_used_up(work: float, share: float) -> None:
    pace = pace_of(np.array([work]), share)
    assert SLOWEST <= pace.rate <= share / work, "no more than there is, most of the time"
    assert pace.rate > 0.4 * share / work, "trials that fail do not keep it low"
    assert pace.age < 1.5 * work, "plans are not stopped on their way"
