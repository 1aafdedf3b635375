"""The nodes of a horizon: steps on the gait's grid, one node of no duration per switch."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.robot.gaits.grid import knot_grid
from contact_ddp_ros.robot.gaits.schedule import Mode, ModeSchedule

STEP = 0.004
CYCLE = 90
SCHEDULE = ModeSchedule(
    (Mode("a", ("x",), 0.08), Mode("b", (), 0.1), Mode("c", ("y",), 0.08), Mode("d", (), 0.1)), epoch=2.0
)
BOUNDARIES = np.array([0, 20, 45, 65])
"""First step of each mode in a cycle."""


def test_steps_per_mode():
    assert SCHEDULE.steps_per_mode(STEP) == (20, 25, 20, 25)
    assert SCHEDULE.steps_per_mode(0.001) == (80, 100, 80, 100)


@pytest.mark.parametrize("step", [0.003, 0.0041, 0.03, 0.2])
def test_a_step_that_does_not_divide_every_mode_is_refused(step):
    with pytest.raises(ParameterError, match="no whole number of steps"):
        SCHEDULE.steps_per_mode(step)


@pytest.mark.parametrize("step", [0.0, -0.004, np.nan, np.inf])
def test_a_step_must_be_positive(step):
    with pytest.raises(ParameterError):
        knot_grid(SCHEDULE, 0, 10, step)


@pytest.mark.parametrize("n_steps", [0, -5])
def test_a_horizon_needs_a_step(n_steps):
    with pytest.raises(ParameterError, match="step"):
        knot_grid(SCHEDULE, 0, n_steps, STEP)


def test_one_cycle_from_the_epoch():
    grid = knot_grid(SCHEDULE, 0, CYCLE, STEP)
    assert grid.n_nodes == CYCLE + 4
    assert np.flatnonzero(grid.switches).tolist() == [20, 46, 67, 93]
    assert grid.modes[np.flatnonzero(grid.switches)].tolist() == [0, 1, 2, 3], "a switch belongs to the mode it ends"
    assert grid.modes[np.flatnonzero(grid.switches) + 1].tolist() == [1, 2, 3, 0]
    assert grid.times[grid.switches.nonzero()] == pytest.approx(2.0 + np.array([0.08, 0.18, 0.26, 0.36]))
    assert grid.times[0] == 2.0
    assert grid.times[-1] == pytest.approx(2.36)


MONTH = round(30 * 86_400 / STEP)
"""Steps in the longest time that seconds are counted for."""

STARTS = st.integers(-500, 100_000) | st.integers(MONTH - 1000, MONTH)
LENGTHS = st.integers(1, 200)


@given(STARTS, LENGTHS, st.booleans())
def test_every_grid(start, n_steps, switch_at_start):
    grid = knot_grid(SCHEDULE, start, n_steps, STEP, switch_at_start=switch_at_start)
    n = grid.n_nodes
    assert grid.times.shape == grid.modes.shape == (n + 1,)
    assert grid.durations.shape == grid.switches.shape == (n,)
    assert grid.start_step == start
    assert int((~grid.switches).sum()) == n_steps
    assert (grid.durations[grid.switches] == 0.0).all()
    assert (grid.durations[~grid.switches] == STEP).all()
    assert np.diff(grid.times) == pytest.approx(grid.durations, abs=1e-9)
    assert grid.times[0] == pytest.approx(SCHEDULE.epoch + start * STEP, abs=1e-9)
    # the mode of every step is that of its middle, and the last entry that of the end
    for k in np.flatnonzero(~grid.switches)[:: max(1, n_steps // 7)]:
        assert grid.modes[k] == SCHEDULE.phase(float(grid.times[k]) + 0.5 * STEP).mode
    assert grid.modes[-1] == SCHEDULE.phase(float(grid.times[-1]) + 0.5 * STEP).mode
    # a mode changes across a switch and nowhere else, to the next one
    for k, (mode, following) in enumerate(pairwise(grid.modes)):
        assert following == ((mode + 1) % 4 if grid.switches[k] else mode)


@given(STARTS, LENGTHS)
def test_switches_within_come_once_and_one_at_the_end_counts(start, n_steps):
    grid = knot_grid(SCHEDULE, start, n_steps, STEP)
    boundaries = [i for i in range(start + 1, start + n_steps + 1) if i % CYCLE in BOUNDARIES]
    found = np.rint((grid.times[:-1][grid.switches] - SCHEDULE.epoch) / STEP).astype(int)
    assert found.tolist() == boundaries


@given(STARTS, LENGTHS)
def test_a_switch_at_the_start_is_a_node_on_request_only(start, n_steps):
    plain = knot_grid(SCHEDULE, start, n_steps, STEP)
    asked = knot_grid(SCHEDULE, start, n_steps, STEP, switch_at_start=True)
    assert not plain.switches[0]
    added = start % CYCLE in BOUNDARIES and start != 0
    assert bool(asked.switches[0]) == added
    assert asked.n_nodes == plain.n_nodes + added
    assert (asked.times[int(added) :] == plain.times).all()
    assert (asked.modes[int(added) :] == plain.modes).all()
    if added:
        assert asked.modes[0] == (plain.modes[0] - 1) % 4


def test_nothing_was_before_the_epoch():
    assert not knot_grid(SCHEDULE, 0, 5, STEP, switch_at_start=True).switches[0]
    assert knot_grid(SCHEDULE, CYCLE, 5, STEP, switch_at_start=True).switches[0]


def test_a_single_mode_has_no_switches():
    grid = knot_grid(ModeSchedule((Mode("only", ("x",), 0.08),)), 7, 100, STEP, switch_at_start=True)
    assert not grid.switches.any()


def test_grids_stay_on_the_clock_after_many_cycles():
    start = 100_000 * CYCLE
    grid = knot_grid(SCHEDULE, start, CYCLE, STEP)
    assert grid.times[0] == pytest.approx(2.0 + 36_000.0, rel=1e-13)
    assert SCHEDULE.phase(float(grid.times[20])).mode == 1
