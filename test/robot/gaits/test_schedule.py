"""The phase of an instant: who owns a boundary, before and after the epoch, and after very many cycles."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.robot.gaits.schedule import Mode, ModeSchedule

BACK = Mode("back", ("back_foot",), 0.08)
FLIGHT = Mode("flight", (), 0.1)
FRONT = Mode("front", ("front_foot",), 0.08)
BOTH = Mode("both", ("back_foot", "front_foot"), 0.02)
BOUND = ModeSchedule((BACK, FLIGHT, FRONT, FLIGHT), epoch=1.5)
STARTS = np.array([0.0, 0.08, 0.18, 0.26])
"""When each mode of BOUND begins, from its epoch."""

MONTH = 30 * 86_400.0
"""The nodes' times stay below it [s]: seconds count from the first stamp, not from 1970."""


def test_period():
    assert BOUND.period == pytest.approx(0.36, rel=1e-15)


@pytest.mark.parametrize("cycle", [-100_000, -3, -1, 0, 1, 7, 100_000])
@pytest.mark.parametrize("mode", range(4))
def test_a_mode_owns_the_instant_at_which_it_begins(mode, cycle):
    phase = BOUND.phase(BOUND.epoch + cycle * BOUND.period + STARTS[mode])
    assert phase.mode == mode
    assert phase.elapsed == pytest.approx(0.0, abs=2e-9)
    assert phase.remaining == pytest.approx(BOUND.modes[mode].duration, abs=2e-9)


@pytest.mark.parametrize("cycle", [-100_000, -1, 0, 1, 100_000])
@pytest.mark.parametrize("mode", range(4))
def test_just_before_a_switch_the_earlier_mode_is_current(mode, cycle):
    phase = BOUND.phase(BOUND.epoch + cycle * BOUND.period + STARTS[mode] - 1e-6)
    assert phase.mode == (mode - 1) % 4
    assert phase.remaining == pytest.approx(1e-6, abs=1e-8)


def test_times_that_are_summed_step_by_step_hit_every_switch():
    """A clock that adds 2 ms at a time collects rounding."""
    step, ticks_per_cycle, cycles = 0.002, 180, 1000
    schedule = ModeSchedule(BOUND.modes)
    clock = np.cumsum(np.full(ticks_per_cycle * cycles, step))
    switches = (STARTS / step).round().astype(int)
    for cycle in (1, 10, cycles - 1):
        for mode, tick in enumerate(switches):
            index = cycle * ticks_per_cycle + tick - 1  # clock[0] is one step
            assert schedule.phase(float(clock[index])).mode == mode


@given(st.floats(-1e4, MONTH))
def test_elapsed_and_remaining_make_up_the_mode(time):
    phase = BOUND.phase(time)
    assert 0 <= phase.mode < len(BOUND.modes)
    assert phase.elapsed >= 0.0
    assert phase.remaining > 0.0
    assert phase.elapsed + phase.remaining == pytest.approx(BOUND.modes[phase.mode].duration, abs=1e-12)


@given(st.floats(-100.0, MONTH), st.integers(-1000, 1000))
def test_the_phase_is_periodic(time, cycles):
    here, there = BOUND.phase(time), BOUND.phase(time + cycles * BOUND.period)
    gap = min(here.elapsed, here.remaining)
    if gap > 1e-8:  # at a switch rounding decides
        assert there.mode == here.mode
        assert there.elapsed == pytest.approx(here.elapsed, abs=2e-9)


@given(st.floats(-10.0, 10.0) | st.floats(MONTH - 10.0, MONTH))
def test_the_next_mode_begins_when_the_remaining_time_is_over(time):
    phase = BOUND.phase(time)
    after = BOUND.phase(time + phase.remaining)
    assert after.mode == (phase.mode + 1) % 4
    assert after.elapsed == pytest.approx(0.0, abs=2e-9)


def test_touchdowns_are_the_feet_that_were_in_the_air():
    assert [BOUND.touchdowns(mode) for mode in range(4)] == [(), ("front_foot",), (), ("back_foot",)]
    overlapping = ModeSchedule((BACK, BOTH, FRONT))
    assert [overlapping.touchdowns(mode) for mode in range(3)] == [("front_foot",), (), ("back_foot",)]


def test_successors_wrap_around():
    assert BOUND.successors() == ((0, 1), (1, 2), (2, 3), (3, 0))
    assert ModeSchedule((BACK,)).successors() == ((0, 0),)


def test_a_single_mode_lasts_for_ever():
    schedule = ModeSchedule((BACK,))
    assert all(schedule.phase(time).mode == 0 for time in (-1.0, 0.0, 0.08, 3.3))
    assert schedule.touchdowns(0) == ()


def test_no_mode_is_an_error():
    with pytest.raises(ParameterError, match="at least one mode"):
        ModeSchedule(())


@pytest.mark.parametrize("duration", [0.0, -0.1, math.nan])
def test_a_mode_must_last(duration):
    with pytest.raises(ParameterError, match=r"'short'.*positive"):
        ModeSchedule((BACK, Mode("short", (), duration)))
