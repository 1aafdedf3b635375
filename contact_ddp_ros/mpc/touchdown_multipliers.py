"""Multipliers of the touchdown heights, kept from one solve to the next.

A touchdown is known by the grid step, counted from the gait's epoch, at which it lies, so that its multipliers follow
it through the receding horizon. A new touchdown takes those of the one a gait cycle before.
"""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.gaits.grid import KnotGrid

Array = NDArray[np.float64]


class TouchdownMultipliers:
    """The multipliers (n_f,) of each touchdown; grids here are in times from the gait's epoch."""

    def __init__(self, step: float) -> None:
        """`step` of the grid [s]."""
        self._step = step
        self._values: dict[int, Array] = {}

    def __len__(self) -> int:
        return len(self._values)

    def of(self, grid: KnotGrid, cycle: int, n_feet: int) -> Array:
        """(N+1, n_f) initial multipliers along a grid, zero where none is known; a gait cycle lasts `cycle` steps."""
        multipliers = np.zeros((grid.n_nodes + 1, n_feet))
        for k in np.flatnonzero(grid.switches):
            key = self._key(grid.times[k])
            known = self._values.get(key, self._values.get(key - cycle))
            if known is not None:
                multipliers[k] = known
        return multipliers

    def update(self, grid: KnotGrid, cycle: int, multipliers: Array) -> None:
        """Keep the multipliers (N+1, n_f) of a solve, and forget touchdowns more than two cycles before its grid."""
        for k in switches_ahead(grid):
            self._values[self._key(grid.times[k])] = multipliers[k].copy()
        oldest = self._key(grid.times[0]) - 2 * cycle
        self._values = {key: value for key, value in self._values.items() if key >= oldest}

    def _key(self, time: float) -> int:
        return round(time / self._step)


def switches_ahead(grid: KnotGrid) -> NDArray[np.int64]:
    """Nodes of the switches that the plan can still influence: not one at its very start."""
    return 1 + np.flatnonzero(grid.switches[1:])
