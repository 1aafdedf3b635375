"""The arrays that a solve works in."""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.solver.protocol import Problem

Array = NDArray[np.float64]


class Workspace:
    """Every array of a solve of one size, allocated once."""

    def __init__(self, problem: Problem) -> None:
        """Allocate for a problem's sizes."""
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
        self._unfinished = self._swept(problem)
        self.nominal = self._trajectory(problem)
        self.trial = self._trajectory(problem)

    def fits(self, problem: Problem) -> bool:
        """Whether a problem has these sizes."""
        return self._sizes == self._shape(problem)

    @property
    def unfinished(self) -> tuple[Array, Array, Array, Array]:
        """(ks, gains, vx, vxx) for a sweep that may fail."""
        return self._unfinished

    def keep_sweep(self) -> None:
        """Take the unfinished sweep for the current one."""
        current = (self.ks, self.gains, self.vx, self.vxx)
        (self.ks, self.gains, self.vx, self.vxx), self._unfinished = self._unfinished, current

    def forget_sweep(self) -> None:
        """No step, no gains and no value function yet."""
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
            np.zeros((n + 1, problem.n_e + 1)),
        )

    @staticmethod
    def _shape(problem: Problem) -> tuple[int, ...]:
        return problem.n_nodes, problem.n_x, problem.n_u, problem.n_e, problem.n_aux
