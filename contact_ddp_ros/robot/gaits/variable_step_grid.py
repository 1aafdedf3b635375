"""A grid with longer steps far ahead: what is decided soon is integrated finely, what follows need only be about right.

    |-|-|-|-|-|-|---*---|----|----*----|---- ...          * a switch
    start       near

A long step ends at the latest where its mode does. Where a mode is cut into long steps depends on the mode alone, so
that later horizons have the same ones; only the first, which the near part cuts, and the last may be shorter.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.gaits.grid import KnotGrid, Timetable

_ROUNDING = 1e-9
"""By how much a mode may last longer than a whole number of long steps [s]."""


def coarsened(grid: KnotGrid, timetable: Timetable, step: float, near: int, far: float) -> KnotGrid:
    """The grid with its steps after the first `near` ones merged into steps of at most `far` [s].

    Args:
        grid: of steps of `step` [s], as :func:`contact_ddp_ros.robot.gaits.grid.knot_grid` makes them from the
        timetable. timetable: that the grid lies on.
        step: of the grid [s].
        near: how many steps stay as they are.
        far: longest step beyond them [s].
    """
    first = grid.start_step
    indices = first - 1 + np.cumsum(~grid.switches)  # of the step that a node is, or that ends at the switch
    kept = grid.switches | (indices <= first + near)
    kept |= np.isin(indices, _cuts(timetable, first, int(indices[-1]) + 1, step, far))
    at = np.flatnonzero(kept)
    times = np.append(grid.times[at], grid.times[-1])
    merged = np.diff(np.append(at, grid.n_nodes)) > 1
    durations = np.where(merged, np.diff(times), grid.durations[at])
    modes = np.append(grid.modes[at], grid.modes[-1])
    return replace(grid, times=times, durations=durations, modes=modes, switches=grid.switches[at])


def with_tail(grid: KnotGrid, near: int) -> KnotGrid:
    """The grid with a tail from the end of its first `near` steps on, where switches are no nodes."""
    steps = np.cumsum(~grid.switches)
    kept = ~grid.switches | (steps <= near)
    at = np.flatnonzero(kept)
    tail = int((steps[at] <= near).sum())
    if tail == len(at):
        return grid
    times, modes = np.append(grid.times[at], grid.times[-1]), np.append(grid.modes[at], grid.modes[-1])
    switches, durations = grid.switches[at], grid.durations[at]
    return replace(grid, times=times, durations=durations, modes=modes, switches=switches, near=tail)


def _cuts(timetable: Timetable, first: int, end: int, step: float, far: float) -> NDArray[np.int64]:
    """The steps at which long steps begin, of modes that reach into [first, end)."""
    around = np.arange(first - (end - first), end + (end - first))
    modes = timetable.modes_of_steps(around, step)
    begins = [0, *(np.flatnonzero(np.diff(modes)) + 1), len(modes)]
    longest = max(int((far + _ROUNDING) / step), 1)
    cuts = [around[around % longest == 0]] if len(begins) == 2 else []
    for begin, after in pairwise(begins):
        pieces = -(-(after - begin) // longest)
        cuts.append(around[begin] + np.round(np.arange(pieces) * ((after - begin) / pieces)).astype(np.int64))
    return np.concatenate(cuts) if len(begins) > 2 else cuts[0]
