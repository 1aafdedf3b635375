"""Preallocated arrays of a solve."""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.ocp.protocol import Problem

Array = NDArray[np.float64]

_Swept = tuple[Array, Array, Array, Array]


class Workspace:
    """All arrays of a solve, for horizons of up to the number of nodes that they were allocated for."""

    expansion: tuple[Array, ...]
    ks: Array
    gains: Array
    vx: Array
    vxx: Array
    nominal: _Swept
    trial: _Swept
    _candidate: _Swept

    def __init__(self, problem: Problem) -> None:
        """Allocate for the sizes of a problem."""
        self._sizes = self._shape(problem)
        self._capacity = problem.n_nodes
        self._owned = self._allocate(problem)
        self._adapt(problem.n_nodes)

    @classmethod
    def of(cls, problem: Problem, last: "Workspace | None") -> "Workspace":
        """The last one adapted to a problem's number of nodes, or a new one where it does not fit."""
        if last is None or last._sizes != cls._shape(problem) or last._capacity < problem.n_nodes:
            return cls(problem)
        last._adapt(problem.n_nodes)
        return last

    @property
    def candidate(self) -> _Swept:
        """(ks, gains, vx, vxx) for the next backward sweep to write, which may fail."""
        return self._candidate

    def accept_candidate(self) -> None:
        """Make the candidate the current sweep."""
        current = (self.ks, self.gains, self.vx, self.vxx)
        (self.ks, self.gains, self.vx, self.vxx), self._candidate = self._candidate, current

    def clear_sweep(self) -> None:
        """Set steps, gains and value function of the current sweep to zero."""
        for array in (self.ks, self.gains, self.vx, self.vxx):
            array[:] = 0.0

    def _adapt(self, n: int) -> None:
        """Take views of the first nodes."""
        expansion, swept, candidate, nominal, trial = self._owned
        self.expansion = tuple(array[: n + 1] for array in expansion)
        (self.ks, self.gains, self.vx, self.vxx), self._candidate = _swept_views(swept, n), _swept_views(candidate, n)
        self.nominal, self.trial = _trajectory_views(nominal, n), _trajectory_views(trial, n)

    @staticmethod
    def _allocate(problem: Problem) -> tuple[tuple[Array, ...], _Swept, _Swept, _Swept, _Swept]:
        n, n_x, n_u = problem.n_nodes, problem.n_x, problem.n_u
        swept, candidate = (
            (np.zeros((n, n_u)), np.zeros((n, n_u, n_x)), np.zeros((n + 1, n_x)), np.zeros((n + 1, n_x, n_x)))
            for _ in range(2)
        )
        nominal, trial = (
            (
                np.zeros((n + 1, n_x)),
                np.zeros((n, n_u)),
                np.zeros((n + 1, problem.n_aux)),
                np.zeros((n + 1, problem.n_residuals)),
            )
            for _ in range(2)
        )
        return problem.derivatives(n + 1), swept, candidate, nominal, trial

    @staticmethod
    def _shape(problem: Problem) -> tuple[int, ...]:
        return problem.n_x, problem.n_u, problem.n_residuals, problem.n_aux


def _swept_views(owned: _Swept, n: int) -> _Swept:
    ks, gains, vx, vxx = owned
    return ks[:n], gains[:n], vx[: n + 1], vxx[: n + 1]


def _trajectory_views(owned: _Swept, n: int) -> _Swept:
    xs, us, aux, residuals = owned
    return xs[: n + 1], us[:n], aux[: n + 1], residuals[: n + 1]
