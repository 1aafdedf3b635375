"""Where the horizon lies on the grid of its gaits, and when another gait begins; BOUND lasts 20 steps, PRONK 12."""

import numpy as np
import pytest

from contact_ddp_ros.mpc.horizon import followed, horizon_grid, steps_of_cycle
from contact_ddp_ros.robot.gaits.gait import Gait, Stance
from contact_ddp_ros.robot.gaits.sequence import GaitSequence, Section

STEP, EPOCH = 0.01, 3.0


def schedule(period, back, front):
    return Gait("any", period, {"front": Stance(*front), "back": Stance(*back)}).schedule(STEP)


BOUND = schedule(0.2, (0.0, 0.3), (0.5, 0.8))
PRONK = schedule(0.12, (0.0, 0.5), (0.0, 0.5))
ALONE = GaitSequence((("bound", BOUND),), STEP, epoch=EPOCH)
BOTH = ALONE.knowing("pronk", PRONK)
CHANGING = GaitSequence(BOTH.gaits, STEP, (Section(0), Section(1, 40)), EPOCH)


@pytest.mark.parametrize(("cycles", "steps"), [(0.5, 10), (1.0, 20), (1.5, 30), (2.0, 40)])
def test_it_spans_so_many_cycles_from_the_instant(cycles, steps):
    grid = horizon_grid(ALONE, cycles, EPOCH + 0.01)
    assert grid.start_step == 1
    assert (~grid.switches).sum() == steps
    assert grid.times[0] == pytest.approx(EPOCH + 0.01)
    assert grid.durations.sum() == pytest.approx(steps * STEP)
    assert grid.times[1:] == pytest.approx(grid.times[0] + np.cumsum(grid.durations))


def test_the_first_step_ends_on_the_grid():
    grid = horizon_grid(ALONE, 1.0, EPOCH + 0.012)
    assert grid.start_step == 1
    assert (grid.times[0], grid.times[1]) == pytest.approx((EPOCH + 0.012, EPOCH + 0.02))
    assert grid.durations[0] == pytest.approx(0.008)
    assert grid.durations[1] == pytest.approx(STEP)


@pytest.mark.parametrize(("within", "start"), [(0.0, 1), (0.74, 1), (0.76, 2), (0.999, 2)])
def test_a_first_step_shorter_than_a_quarter_is_merged_into_the_next(within, start):
    grid = horizon_grid(ALONE, 1.0, EPOCH + (1.0 + within) * STEP)
    assert grid.start_step == start
    assert grid.durations[0] == pytest.approx((start + 1.0 - 1.0 - within) * STEP)


@pytest.mark.parametrize("rounding", [-1e-10, 0.0, 1e-10])
def test_an_instant_that_is_the_grids_but_for_rounding_is_on_it(rounding):
    grid = horizon_grid(ALONE, 1.0, EPOCH + 0.03 + rounding)
    assert grid.start_step == 3
    assert grid.durations[0] == pytest.approx(STEP, abs=1e-12)


@pytest.mark.parametrize("late", [-0.002, 0.0, 0.002])
def test_a_switch_at_its_start_is_ahead_of_a_state_measured_there_or_just_before(late):
    """The back feet lift off at step 6."""
    grid = horizon_grid(ALONE, 1.0, EPOCH + 0.06 + late)
    assert grid.switches[0] == (late <= 0.0)
    first = 1 if grid.switches[0] else 0
    assert grid.times[: first + 1] == pytest.approx(EPOCH + 0.06 + late)
    assert grid.durations[first] == pytest.approx(STEP - late)
    assert grid.durations[:first].sum() == 0.0 and grid.durations[first + 1] == pytest.approx(STEP)


def test_a_cycle_is_that_of_the_gait_in_which_a_step_lies():
    assert [steps_of_cycle(CHANGING, step) for step in (-1, 0, 39, 40, 60)] == [20, 20, 20, 12, 12]
    assert (~horizon_grid(CHANGING, 1.0, EPOCH + 0.45).switches).sum() == 12


def test_the_gait_that_is_followed_goes_on():
    assert followed(ALONE, 0, 1.0, EPOCH + 7.0) is ALONE


@pytest.mark.parametrize(
    ("cycles", "start", "begin"), [(1.0, 0, 20), (1.0, 1, 40), (1.0, 20, 40), (0.5, 1, 20), (2.0, 5, 60)]
)
def test_another_gait_begins_with_a_cycle_after_the_horizon(cycles, start, begin):
    changed = followed(BOTH, 1, cycles, EPOCH + start * STEP)
    assert changed.sections == (Section(0), Section(1, begin))
    assert followed(changed, 1, cycles, EPOCH + start * STEP).sections == changed.sections


def test_a_gait_that_is_over_is_forgotten_a_cycle_later():
    for start, left in ((40, 2), (51, 2), (52, 1), (70, 1)):
        assert len(followed(CHANGING, 1, 1.0, EPOCH + start * STEP).sections) == left, start


def test_back_to_the_gait_before_it_has_begun():
    changed = followed(CHANGING, 0, 1.0, EPOCH)
    assert changed.sections[-1].gait == 0
