"""The nodes of a horizon: time steps of the modes, and a node of zero duration for every switch.

    steps of mode a          switch a → b      steps of mode b
    |----|----|----|----| --------*-------- |----|----|----| ...
    t0   t1   t2   t3    t4              t4   t5

The switch node maps the state before the switch to the state after it, both at the same time.

A grid with longer steps far ahead: what is decided soon is integrated finely, what follows need only be about right.

    |-|-|-|-|-|-|---*---|----|----*----|---- ...          * a switch
    start       near

A long step ends at the latest where its mode does. Where a mode is cut into long steps depends on the mode alone, so
that later horizons have the same ones; only the first, which the near part cuts, and the last may be shorter.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError


class Timetable(Protocol):
    """Timetable of modes that a grid lies on, by steps that count from the epoch [s]."""

    @property
    def epoch(self) -> float:
        """Time of step 0 [s]."""
        ...

    def modes_of_steps(self, steps: NDArray[np.int64], step: float) -> NDArray[np.int64]:
        """Index of the mode of each step, for steps of `step` [s]."""
        ...


@dataclass(frozen=True)
class KnotGrid:
    """N nodes and the end of the last.

    Attributes:
        times: (N+1,) [s]. durations: (N,) of each node, 0 at a switch [s].
        modes: (N+1,) mode of each node; a switch belongs to the mode that it ends, the last entry to the mode
            that owns the end of the horizon.
        switches: (N,) whether a node is a switch.
        start_step: index of the first step, counted from the schedule's epoch.
        near: node from which on the grid is the tail's, of a simpler model and without switches; None without a tail.
    """

    times: NDArray[np.float64]
    durations: NDArray[np.float64]
    modes: NDArray[np.int64]
    switches: NDArray[np.bool_]
    start_step: int
    near: int | None = None

    @property
    def n_nodes(self) -> int:
        """N."""
        return len(self.durations)


def knot_grid(
    timetable: Timetable, start_step: int, n_steps: int, step: float, *, switch_at_start: bool = False
) -> KnotGrid:
    """The grid of `n_steps` steps that begins `start_step` steps after the epoch.

    A switch at the very end is a node of the grid. One at the very start is one only with `switch_at_start`, and never
    that into the first mode at the epoch, where nothing was before.

    Raises:
        ParameterError: the horizon has no step, or a mode lasts no whole number of steps.
    """
    if n_steps < 1:
        raise ParameterError(f"the horizon has {n_steps} steps; it needs at least one")
    owners = timetable.modes_of_steps(np.arange(start_step - 1, start_step + n_steps + 1), step)
    changes = owners[1:] != owners[:-1]  # before each step, and at the end
    changes[0] &= switch_at_start and start_step != 0
    nodes = np.arange(n_steps + 1) + np.cumsum(changes)  # of each step, and the end
    n_nodes = int(nodes[-1])
    times, durations = np.empty(n_nodes + 1), np.zeros(n_nodes)
    modes, switches = np.empty(n_nodes + 1, dtype=np.int64), np.ones(n_nodes, dtype=bool)
    instants = timetable.epoch + np.arange(start_step, start_step + n_steps + 1) * step
    before = nodes[changes] - 1
    times[nodes], times[before] = instants, instants[changes]
    modes[nodes], modes[before] = owners[1:], owners[:-1][changes]
    durations[nodes[:-1]], switches[nodes[:-1]] = step, False
    return KnotGrid(times, durations, modes, switches, start_step)


_ROUNDING = 1e-9
"""Tolerance of a mode's duration over a whole number of long steps [s]."""


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
