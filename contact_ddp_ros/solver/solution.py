"""Where a solve starts, what it returns, and how it went."""

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Termination(Enum):
    """Why a solve ended."""

    CONVERGED = "converged: the expected reduction is below the tolerance"
    ITERATIONS = "iteration limit reached"
    STALLED = "stalled: no step reduces the cost although the regularisation is at its limit"
    DIVERGED = "diverged: the first trajectory left the finite numbers"


@dataclass(frozen=True)
class Iteration:
    """One iteration as it went.

    Attributes:
        cost: total cost after it, penalties included.
        expected: reduction that the quadratic model promised for the step taken (positive); of the cost, or of the
            merit while there are gaps.
        actual: reduction obtained, of the same.
        step: line-search step α, 0 where none was accepted.
        theta, rho: share of second-order curvature and Levenberg term of the sweep.
        gradient: largest |Qu| before the step.
        gap: largest gap after the step, in the state's units; 0 in single shooting.
        equality, inequality: largest equality residual and inequality violation after the step.
        partials_time, sweep_time, rollout_time: seconds spent in first-order partials, in backward sweeps
            (contracted second-order partials included) and in rollouts.
        sweeps, rollouts: how many of each the iteration took.
        curved_sweeps, flat_sweeps: how many complete sweeps with and without second-order curvature the sweeps were
            worth; one that met an indefinite Quu counts for the share of the nodes that it came to.
    """

    cost: float
    expected: float
    actual: float
    step: float
    theta: float
    rho: float
    gradient: float
    gap: float
    equality: float
    inequality: float
    partials_time: float
    sweep_time: float
    rollout_time: float
    sweeps: int
    rollouts: int
    curved_sweeps: float
    flat_sweeps: float


@dataclass(frozen=True)
class Solution:
    """Result of a solve over N nodes.

    Attributes:
        xs: (N+1, n_x) states. us: (N, n_u) controls, zero rows at resets.
        gains: (N, n_u, n_x) feedback gains of the last complete sweep, about (xs, us); the guess's where there is none.
        aux: (N+1, n_aux) what the problem's `step` left for each node.
        residuals: (N+1, n_e + 1) equality residuals and the largest inequality violation per node.
        cost: total cost, penalties included. initial_cost: of the first trajectory.
        gap: largest |f_k(x_k, u_k) − x_{k+1}|, 0 where the trajectory obeys the dynamics.
        theta: curvature share to start the next, similar solve from.
        termination: why it ended. iterations: one record each.
        Vx, Vxx: (N+1, n_x), (N+1, n_x, n_x) value function of the last complete sweep; zero where there is none.
    """

    xs: Array
    us: Array
    gains: Array
    aux: Array
    residuals: Array
    cost: float
    initial_cost: float
    gap: float
    theta: float
    termination: Termination
    iterations: tuple[Iteration, ...]
    Vx: Array = field(repr=False)
    Vxx: Array = field(repr=False)

    @property
    def equality_violation(self) -> float:
        """Largest equality residual over the horizon."""
        return float(np.abs(self.residuals[:, :-1]).max(initial=0.0))

    @property
    def inequality_violation(self) -> float:
        """Largest violation of an inequality over the horizon, in the problem's normalised units."""
        return float(self.residuals[:, -1].max(initial=0.0))


@dataclass(frozen=True)
class Guess:
    """Where a solve starts: xs (N+1, n_x), us (N, n_u) and the gains (N, n_u, n_x) that close the first rollout.

    Zero gains make it an open-loop guess, of which only `us` and the initial state matter. Multiple shooting takes xs,
    but for the initial state, and us as they are, and no gains.
    """

    xs: Array
    us: Array
    gains: Array

    @classmethod
    def open_loop(cls, x0: Array, us: Array) -> "Guess":
        """A control tape from an initial state."""
        n_nodes, n_u = us.shape
        return cls(np.tile(x0, (n_nodes + 1, 1)), us, np.zeros((n_nodes, n_u, len(x0))))
