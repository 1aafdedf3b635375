"""Longer steps far ahead: where modes are cut, what stays as it is, and tails without switches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.robot.gaits.grid import coarsened, knot_grid, with_tail
from contact_ddp_ros.robot.gaits.schedule import Mode, ModeSchedule
from contact_ddp_ros.robot.gaits.sequence import GaitSequence

STEP = 0.01
SEQUENCE = GaitSequence(
    (("bound", ModeSchedule((Mode("a", ("x",), 0.08), Mode("b", (), 0.1), Mode("c", ("y",), 0.18)))),), STEP, epoch=2.0
)
CYCLE = 36
STARTS, NEAR, FAR = st.integers(0, 200), st.integers(1, 60), st.sampled_from([0.02, 0.03, 0.05, 0.06])


def fine(start, n_steps=2 * CYCLE):
    return knot_grid(SEQUENCE, start, n_steps, STEP, switch_at_start=True)


@given(start=STARTS, near=NEAR, far=FAR)
def test_it_spans_the_same_time_in_the_same_modes_with_the_same_switches(start, near, far):
    before, after = fine(start), coarsened(fine(start), SEQUENCE, STEP, near, far)
    assert after.times[[0, -1]] == pytest.approx(before.times[[0, -1]])
    assert after.durations == pytest.approx(np.diff(after.times), abs=1e-12)
    assert after.durations.max() <= far + 1e-9
    for what in ("times", "modes"):
        assert (getattr(after, what)[:-1][after.switches] == getattr(before, what)[:-1][before.switches]).all()
    middles = 0.5 * (after.times[:-1] + after.times[1:])[~after.switches]
    owners = np.searchsorted(before.times, middles, side="right") - 1
    assert (before.modes[owners] == after.modes[:-1][~after.switches]).all()


@given(start=STARTS, near=NEAR, far=FAR)
def test_the_near_steps_are_to_the_bit_what_they_were(start, near, far):
    before, after = fine(start), coarsened(fine(start), SEQUENCE, STEP, near, far)
    nodes = int(np.flatnonzero(np.cumsum(~before.switches) == near)[0]) + 1
    assert (after.times[:nodes] == before.times[:nodes]).all()
    assert (after.durations[:nodes] == before.durations[:nodes]).all()


@given(start=STARTS, near=NEAR, far=FAR)
def test_a_later_horizon_has_the_same_long_steps(start, near, far):
    """But for the first, which the near part cuts, and the last."""
    earlier = coarsened(fine(start), SEQUENCE, STEP, near, far).times
    later = coarsened(fine(start + 1), SEQUENCE, STEP, near, far).times
    inner = later[(later > later[0] + (near + 1e-3) * STEP) & (later < earlier[-1] - 1e-3 * STEP)]
    assert np.abs(inner[:, None] - earlier).min(axis=1).max(initial=0.0) < 1e-9


def test_modes_are_cut_into_steps_that_are_as_equal_as_can_be():
    grid = coarsened(fine(0), SEQUENCE, STEP, 8, 0.05)
    lengths = np.round(grid.durations[~grid.switches] / STEP).astype(int)
    assert lengths.tolist() == [1] * 8 + [5, 5, 4, 5, 5, 4, 4, 4, 5, 5, 4, 5, 5, 4]


def test_a_gait_of_one_mode_is_cut_at_fixed_instants():
    standing = GaitSequence((("stand", ModeSchedule((Mode("a", ("x",), 0.36),))),), STEP)
    for start in range(12):
        grid = coarsened(knot_grid(standing, start, 40, STEP), standing, STEP, 10, 0.05)
        cuts = np.round(grid.times[11:-1] / STEP).astype(int)
        assert (cuts % 5 == 0).all()


@given(start=STARTS, near=st.integers(1, 71), far=st.sampled_from([0.01, 0.05]))
def test_a_tail_has_no_switches_and_begins_where_the_near_steps_end(start, near, far):
    whole = coarsened(fine(start), SEQUENCE, STEP, near, far)
    grid = with_tail(whole, near)
    assert grid.near is not None and not grid.switches[grid.near :].any()
    assert (~grid.switches[: grid.near]).sum() == near
    assert grid.times[grid.near] == pytest.approx(whole.times[0] + near * STEP)
    assert (grid.durations[grid.near :] > 0.0).all()
    steps = ~whole.switches
    assert (grid.times[:-1][~grid.switches] == whole.times[:-1][steps]).all()
    assert (grid.modes[:-1][~grid.switches] == whole.modes[:-1][steps]).all()


def test_a_horizon_that_ends_before_has_no_tail():
    grid = fine(0, 20)
    assert with_tail(grid, 20) is grid and grid.near is None
