"""Where the receding horizon lies on the grid of its gaits, and when another gait begins.

The first step is shortened so that it ends on the grid. A gait that is new begins where a cycle ends, and not before
the end of the present horizon: its first landings come into the plan from there, as if they had always been meant.
"""

import math
from dataclasses import replace

from contact_ddp_ros.gaits.grid import KnotGrid, knot_grid
from contact_ddp_ros.gaits.sequence import GaitSequence

_ON_GRID = 1e-6
"""An instant within this share of a step of a grid point counts as on it."""

_SHORTEST_STEP = 0.25
"""A first step shorter than this share of a full one is merged into the next."""


def horizon_grid(sequence: GaitSequence, cycles: float, time: float) -> KnotGrid:
    """The grid of so many cycles from `time` [s], in times of the sequence's epoch."""
    step = sequence.step
    start, position = _start(sequence, time)
    # A state measured at a switch may be that before or after it. Contact resets are projections, which leave a
    # state that has been reset already as it is, so the switch is taken as ahead.
    n_steps = _steps(sequence, cycles, start)
    grid = knot_grid(sequence, start, n_steps, step, switch_at_start=position < start + _ON_GRID)
    times, durations = grid.times.copy(), grid.durations.copy()
    first = 1 if grid.switches[0] else 0
    if abs(times[first] - time) > _ON_GRID * step:
        times[: first + 1] = time
        durations[first] = times[first + 1] - time
    return replace(grid, times=times, durations=durations)


def followed(sequence: GaitSequence, gait: int, cycles: float, time: float) -> GaitSequence:
    """The sequence at `time` [s]: without gaits that are over, and with the gait of index `gait` as the last one."""
    if len(sequence.sections) == 1 and sequence.sections[0].gait == gait:
        return sequence
    start, _ = _start(sequence, time)
    kept = sequence.since(start - steps_of_cycle(sequence, start))
    return kept if kept.sections[-1].gait == gait else kept.then(gait, start + _steps(sequence, cycles, start))


def steps_of_cycle(sequence: GaitSequence, start: int) -> int:
    """Length of the cycle in which a step lies, in steps."""
    return _steps(sequence, 1.0, start)


def _start(sequence: GaitSequence, time: float) -> tuple[int, float]:
    """The step at which the horizon from `time` begins, and where that time lies, in steps from the epoch."""
    position = (time - sequence.epoch) / sequence.step
    start = math.floor(position + _ON_GRID)
    return (start + 1 if start + 1 - position < _SHORTEST_STEP else start), position


def _steps(sequence: GaitSequence, cycles: float, start: int) -> int:
    return round(cycles * sequence.schedule(sequence.section_at(start)).period / sequence.step)
