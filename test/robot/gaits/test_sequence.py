"""Gaits one after the other: who owns a step, where a gait may begin, and how far a foot is in its stance or swing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.robot.gaits.gait import Gait, Stance
from contact_ddp_ros.robot.gaits.grid import knot_grid
from contact_ddp_ros.robot.gaits.sequence import FootTiming, GaitSequence, Section

STEP = 0.004
FEET = ("front", "back")


def schedule(period, front, back):
    stances = {"front": Stance(front[0] % 1.0, front[0] % 1.0 + front[1]), "back": Stance(back[0], back[0] + back[1])}
    return Gait("any", period, stances).schedule(STEP)


BOUND = schedule(0.36, (0.5, 2 / 9), (0.0, 2 / 9))
PRONK = schedule(0.4, (0.0, 0.4), (0.0, 0.4))
SEQUENCE = GaitSequence((("bound", BOUND),), STEP).knowing("pronk", PRONK)

schedules = st.builds(
    schedule,
    st.integers(40, 120).map(lambda n: n * STEP),
    st.tuples(st.floats(0.0, 0.99), st.floats(0.1, 0.9)),
    st.tuples(st.floats(0.0, 0.99), st.floats(0.1, 0.9)),
)


def test_a_known_gait_keeps_its_place():
    assert SEQUENCE.knowing("bound", BOUND) is SEQUENCE
    assert [mode.name for mode in SEQUENCE.modes] == [
        *(f"bound {mode.name}" for mode in BOUND.modes),
        *(f"pronk {mode.name}" for mode in PRONK.modes),
    ]
    assert GaitSequence((("bound", BOUND),), STEP).modes == BOUND.modes


def test_a_gait_whose_file_has_changed_is_another_of_that_name():
    both = SEQUENCE.knowing("pronk", schedule(0.4, (0.0, 0.3), (0.0, 0.3)))
    assert len(both.gaits) == 3
    assert len({mode.name for mode in both.modes}) == len(both.modes)


@given(first=schedules, second=schedules, earliest=st.integers(-50, 400))
def test_another_gait_begins_where_a_cycle_ends(first, second, earliest):
    both = GaitSequence((("first", first),), STEP).knowing("second", second).then(1, earliest)
    cycle = round(first.period / STEP)
    begin = both.sections[-1].first_step
    assert begin % cycle == 0 and begin >= cycle
    assert earliest <= begin < max(earliest, 1) + cycle
    steps = np.arange(-200, 800)
    modes = both.modes_of_steps(steps, STEP)
    assert (modes[steps < begin] == first.modes_of_steps(steps[steps < begin], STEP)).all()
    later = steps[steps >= begin] - begin
    assert (modes[steps >= begin] == len(first.modes) + second.modes_of_steps(later, STEP)).all()
    assert [both.section_at(step) for step in (begin - 1, begin)] == [0, 1]


def test_what_is_over_is_forgotten():
    both = SEQUENCE.then(1, 0)
    begin = both.sections[1].first_step
    assert both.since(begin - 1) == both
    left = both.since(begin)
    assert left.sections == (Section(1, begin),)
    steps = np.arange(begin, begin + 200)
    assert (left.modes_of_steps(steps, STEP) == both.modes_of_steps(steps, STEP)).all()
    assert left.period == PRONK.period and both.period == BOUND.period
    assert both.only(1).sections == (Section(1, 0),)


def test_the_grid_has_a_switch_where_the_gait_changes():
    both = replace(SEQUENCE.then(1, 100), epoch=2.0)
    begin = both.sections[1].first_step
    grid = knot_grid(both, begin - 10, 20, STEP)
    change = np.flatnonzero(grid.switches)
    assert grid.times[change] == pytest.approx([2.0 + begin * STEP])
    assert (grid.modes[: change[0] + 1] == len(BOUND.modes) - 1).all()
    assert (grid.modes[change[0] + 1 :] == len(BOUND.modes)).all()


def test_within_a_gait_feet_follow_their_phases():
    timing = FootTiming(GaitSequence((("bound", BOUND),), STEP), FEET)
    times = np.array([0.0, 0.04, 0.079, 0.08, 0.15, 0.18, 0.22, 0.36])
    back, front = timing.phases(times, 1), timing.phases(times, 0)
    assert back.swinging.tolist() == [False, False, False, True, True, True, True, False]
    assert back.progress == pytest.approx([0.0, 0.5, 0.9875, 0.0, 0.25, 5 / 14, 0.5, 0.0], abs=1e-6)
    assert front.swinging.tolist() == [True, True, True, True, True, False, False, True]
    assert (back.before == 0.08).all() and (back.after == 0.08).all()


@given(first=schedules, second=schedules, earliest=st.integers(0, 300))
def test_across_a_change_feet_are_where_the_modes_have_them(first, second, earliest):
    """A foot's progress runs from 0 to 1 through every stance and swing, and it is down where its mode says so."""
    both = GaitSequence((("first", first),), STEP).knowing("second", second).then(1, earliest)
    begin = both.sections[1].first_step
    steps = np.arange(begin - round(first.period / STEP), begin + round(second.period / STEP))
    modes = both.modes_of_steps(steps, STEP)
    timing = FootTiming(both, FEET)
    for f, foot in enumerate(FEET):
        down = np.array([foot in both.modes[mode].contacts for mode in modes])
        phases = timing.phases(steps * STEP, f)
        assert (phases.swinging == ~down).all()
        assert (phases.progress >= 0.0).all() and (phases.progress < 1.0).all()
        rises = np.diff(phases.progress)
        kept = np.diff(down.astype(int)) == 0
        assert (rises[kept] > 0.0).all()
        assert phases.progress[1:][~kept] == pytest.approx(0.0, abs=1e-6)
        last = timing.phases((steps + 1) * STEP - 1e-6, f).progress[:-1][~kept]
        assert last == pytest.approx(1.0, abs=1e-3)


def test_a_foot_in_the_air_comes_down_when_the_new_gait_begins():
    """The bound has the front feet in the air from 0.26 to 0.54 s; the pronk wants them down at 0.36 s."""
    timing = FootTiming(SEQUENCE.then(1, 0), FEET)
    front = timing.phases(np.array([0.261, 0.31, 0.359, 0.36]), 0)
    assert front.swinging.tolist() == [True, True, True, False]
    assert front.progress == pytest.approx([0.01, 0.5, 0.99, 0.0], abs=1e-6)
    assert front.before[0] == pytest.approx(0.08) and front.after[0] == pytest.approx(0.16)
    assert timing.sections(np.array([0.359, 0.36])).tolist() == [0, 1]
