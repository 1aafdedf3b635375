"""Initial guess, result and iteration log of a solve."""

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.base.errors import SolverError

Array = NDArray[np.float64]


class Termination(Enum):
    """Why a solve ended."""

    CONVERGED = "converged: the expected reduction is below the tolerance"
    ITERATIONS = "iteration limit reached"
    STALLED = "stalled: no step reduces the cost although the regularisation is at its limit"
    UNBOUNDED = "unbounded: the cost falls without end"
    INFEASIBLE = "infeasible: no trajectory nearby violates the constraints less"
    DIVERGED = "diverged: the first trajectory left the finite numbers"


@dataclass(frozen=True)
class Iteration:
    """Log of one iteration.

    Attributes:
        cost: total cost after the iteration, penalties included.
        expected: reduction (positive) that the quadratic model predicts for the step taken; of the cost, or of the
            merit while there are gaps.
        actual: reduction obtained, of the same quantity.
        step: line-search step α, 0 where none was accepted.
        hessian_blend: θ of the sweep, 0 for Gauss-Newton, 1 for the full Hessian.
        rho: Levenberg term ρ of the sweep.
        gradient: largest |Qu| before the step.
        gap: largest gap after the step, in the state's units; 0 in single shooting.
        equality, inequality: largest equality residual and inequality violation after the step.
        partials_time, sweep_time, rollout_time: seconds spent in first-order partials, in backward sweeps
            (contracted second-order partials included) and in rollouts.
        sweeps, rollouts: how many of each the iteration took.
        second_order_sweeps, gauss_newton_sweeps: number of sweeps with θ > 0 and with θ = 0; a sweep that stops at an
            indefinite Quu counts as the fraction of the nodes it has processed.
    """

    cost: float
    expected: float
    actual: float
    step: float
    hessian_blend: float
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
    second_order_sweeps: float
    gauss_newton_sweeps: float


@dataclass(frozen=True)
class Solution:
    """Result of a solve over N nodes.

    Attributes:
        xs: (N+1, n_x) states. us: (N, n_u) controls, zero rows at resets.
        gains: (N, n_u, n_x) feedback gains of the last complete sweep, about (xs, us); the guess's where there is none.
        aux: (N+1, n_aux) what the problem's `step` wrote for each node.
        residuals: (N+1, n_e + 1) equality residuals and the largest inequality violation per node.
        inequalities: (N+1, n_i) z of the inequalities z ≥ 0 that the problem tells of, ∞ where a node has none.
        cost: total cost, penalties included. initial_cost: of the first trajectory.
        gap: largest |f_k(x_k, u_k) − x_{k+1}|, in the state's units; 0 where the trajectory satisfies the dynamics.
        hessian_blend: θ to start the next, similar solve with.
        termination: why the solve ended.
        message: the same in words, with the node and the limit concerned.
        iterations: log, one entry per iteration.
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
    hessian_blend: float
    termination: Termination
    message: str
    iterations: tuple[Iteration, ...]
    Vx: Array = field(repr=False)
    Vxx: Array = field(repr=False)
    inequalities: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    def __str__(self) -> str:
        """One line: how the solve ended, cost, violations, iterations and sizes."""
        return summary(self, self.cost)

    __repr__ = __str__

    @property
    def is_finite(self) -> bool:
        """True if cost, states, controls and gains hold finite numbers only."""
        return bool(np.isfinite(self.cost) and all(np.isfinite(one).all() for one in (self.xs, self.us, self.gains)))

    @property
    def equality_violation(self) -> float:
        """Largest equality residual over the horizon."""
        return float(np.abs(self.residuals[:, :-1]).max(initial=0.0))

    @property
    def inequality_violation(self) -> float:
        """Largest violation of an inequality over the horizon, in the problem's normalised units."""
        return float(self.residuals[:, -1].max(initial=0.0))


def summary(solution: Solution, cost: float) -> str:
    """One line about a solution of this cost."""
    violation = f"violation {max(solution.equality_violation, solution.inequality_violation):.2g}"
    gap = f", gap {solution.gap:.2g}" if solution.gap > 0.0 else ""
    sizes = f"xs {solution.xs.shape}, us {solution.us.shape}"
    return (
        f"{solution.termination.name} after {len(solution.iterations)} iterations: cost {cost:.6g}, {violation}{gap}, "
        f"{sizes}; {solution.message}"
    )


@dataclass(frozen=True)
class Guess:
    """Initial guess of a solve: xs (N+1, n_x), us (N, n_u), feedback gains (N, n_u, n_x) of the first rollout.

    With zero gains the guess is open loop, and only `us` is used. Multiple shooting uses xs[1:] and us as they are and
    ignores the gains. The initial state is always that of the solve.
    """

    xs: Array
    us: Array
    gains: Array

    @classmethod
    def open_loop(cls, x0: ArrayLike, us: ArrayLike) -> "Guess":
        """Open-loop guess from controls us (N, n_u) and an initial state x0 (n_x,), repeated at every node.

        Raises:
            SolverError: x0 is not one-dimensional, or us is not two-dimensional.
        """
        start, controls = np.asarray(x0), np.asarray(us)
        if start.ndim != 1 or controls.ndim != 2:
            raise SolverError(f"x0 has shape {start.shape} and us {controls.shape}; needed: (n_x,) and (N, n_u)")
        n_nodes, n_u = controls.shape
        return cls(np.tile(start, (n_nodes + 1, 1)), controls, np.zeros((n_nodes, n_u, len(start))))
