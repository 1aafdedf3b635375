"""The last policy as the guess of the next solve, and what else a solve leaves for the next one."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.mpc.touchdown_multipliers import TouchdownMultipliers
from contact_ddp_ros.ocp.solution import Guess
from contact_ddp_ros.robot.gaits.grid import KnotGrid
from contact_ddp_ros.robot.policy import Policy

Array = NDArray[np.float64]

_TIE = 1e-7
"""Times of grid points that differ by less are equal [s]."""


class WarmStart:
    """What the last solve has left; nothing of it at first."""

    def __init__(self, step: float) -> None:
        """`step` of the grid [s]."""
        self._step = step
        self.forget()

    def forget(self) -> None:
        """Start the next solve cold."""
        self.policy: Policy | None = None
        """The last one with its tail, in `odom`."""
        self.near: int | None = None
        """Of its grid."""
        self.inequalities: Array = np.zeros((0, 0))
        """(N, n_i) multipliers of its inequalities."""
        self.hessian_blend = 1.0
        """θ with which its solve ended."""
        self.touchdowns = TouchdownMultipliers(self._step)

    def delay(self, time: float) -> None:
        """Let the last policy begin so much later [s]: its gait has been moved."""
        if self.policy is not None and time != 0.0:
            self.policy = replace(self.policy, times=self.policy.times + time)


def shifted(last: Policy, grid: KnotGrid, beyond: Guess, near: int | None = None) -> Guess:
    """A policy on a later grid, and another guess where it :func:`reaches` no node; `near` is that of its own grid."""
    rows = _rows(last, grid.times[:-1] + _TIE, grid.switches)
    known = np.flatnonzero(reaches(last, grid, near))
    xs, us, gains = beyond.xs.copy(), beyond.us.copy(), beyond.gains.copy()
    xs[known] = _states(last, rows[known], grid.times[known])
    us[known] = last.controls[rows[known]]
    gains[known] = last.gains[rows[known]]
    us[grid.switches] = 0.0
    gains[grid.switches] = 0.0
    # the first node may lie inside an interval: its nominal state is interpolated
    if known.size and not grid.switches[0]:
        xs[0] = last.sample(float(grid.times[0])).state
    return Guess(xs, us, gains)


def _states(last: Policy, rows: NDArray[np.int64], times: Array) -> Array:
    """(n, n_x) states of the policy at times within these rows, interpolated in its longer steps.

    Not those of the first node, whose time is the measurement's, nor of a step after a switch there.
    """
    states = last.states[rows]
    elapsed, spans = times - last.times[rows], np.diff(last.times)[rows]
    between = 2 + np.flatnonzero((elapsed[2:] > _TIE) & (spans[2:] > _TIE))
    share = (elapsed[between] / spans[between])[:, None]
    states[between] += share * (last.states[rows[between] + 1] - states[between])
    return states


def reaches(last: Policy, grid: KnotGrid, near: int | None = None) -> NDArray[np.bool_]:
    """(N,) which nodes of a later grid a policy knows of: before its end, and in a tail where its own grid's is."""
    known = grid.times[:-1] < last.end - _TIE
    if grid.near is not None:
        begins = last.times[near] if near is not None else last.end
        known &= (np.arange(grid.n_nodes) >= grid.near) == (grid.times[:-1] > begins - _TIE)
    return np.asarray(known)


def shifted_multipliers(last: Policy, multipliers: Array, grid: KnotGrid, near: int | None = None) -> Array:
    """Multipliers (N, n_i) of the last plan's inequalities on a later grid, 0 where it :func:`reaches` no node."""
    n_nodes = len(grid.times) - 1
    found = np.zeros((n_nodes, multipliers.shape[1]))
    known = np.flatnonzero(reaches(last, grid, near))
    found[known] = multipliers[_rows(last, grid.times[:-1] + _TIE, grid.switches)[known]]
    return found


def _rows(last: Policy, times: Array, switches: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows of the policy for nodes just after `times`: a switch maps to the switch, a step to the step."""
    rows = np.searchsorted(last.times, times, side="right") - 1
    # a switch shares its time with the step after it, which searchsorted finds: step back by one
    rows = np.where(switches, rows - 1, rows)
    return np.clip(rows, 0, len(last.controls) - 1)
