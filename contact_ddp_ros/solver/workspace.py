"""Preallocated arrays of a solve."""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.solver.protocol import Problem

Array = NDArray[np.float64]


class Workspace:
    """All arrays of a solve of one size, allocated once."""

    def __init__(self, problem: Problem) -> None:
        """Allocate for the sizes of a problem."""
        n, n_x, n_u = problem.n_nodes, problem.n_x, problem.n_u
        self._sizes = self._shape(problem)
        self.expansion = (
            np.zeros((n + 1, n_x, n_x)),
            np.zeros((n + 1, n_x, n_u)),
            np.zeros((n + 1, n_x)),
            np.zeros((n + 1, n_u)),
            np.zeros((n + 1, n_x, n_x)),
            np.zeros((n + 1, n_u, n_x)),
            np.zeros((n + 1, n_u, n_u)),
        )
        self.ks, self.gains, self.vx, self.vxx = self._swept(problem)
        self._candidate = self._swept(problem)
        self.nominal = self._trajectory(problem)
        self.trial = self._trajectory(problem)

    def fits(self, problem: Problem) -> bool:
        """Whether the arrays have the sizes of a problem."""
        return self._sizes == self._shape(problem)

    @property
    def candidate(self) -> tuple[Array, Array, Array, Array]:
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

    @staticmethod
    def _swept(problem: Problem) -> tuple[Array, Array, Array, Array]:
        n, n_x, n_u = problem.n_nodes, problem.n_x, problem.n_u
        return np.zeros((n, n_u)), np.zeros((n, n_u, n_x)), np.zeros((n + 1, n_x)), np.zeros((n + 1, n_x, n_x))

    @staticmethod
    def _trajectory(problem: Problem) -> tuple[Array, Array, Array, Array]:
        n = problem.n_nodes
        return (
            np.zeros((n + 1, problem.n_x)),
            np.zeros((n, problem.n_u)),
            np.zeros((n + 1, problem.n_aux)),
            np.zeros((n + 1, problem.n_residuals)),
        )

    @staticmethod
    def _shape(problem: Problem) -> tuple[int, ...]:
        return problem.n_nodes, problem.n_x, problem.n_u, problem.n_residuals, problem.n_aux
