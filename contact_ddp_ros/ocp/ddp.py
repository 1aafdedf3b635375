r"""Differential dynamic programming with a homotopy between Gauss-Newton and full second order.

Full DDP needs care that iLQR does not: away from a minimum the curvature S of the dynamics can make Quu indefinite, and
Levenberg's ρI, which shrinks the step in every direction, then stalls for tens of iterations. Instead S enters scaled,

    H_θ = H_GN + θ S,       θ ∈ [0, 1].

H_GN is positive semidefinite by construction, so some θ always gives a descent direction; Armijo's rule then gives
convergence to a stationary point for any bounded sequence of θ. θ is cut where it gives no step at all (Quu is not
positive definite, or every step of the line search fails) and raised after every step taken, however short or badly
predicted: a model that lacks curvature predicts badly and overshoots, so neither is a reason to stay with it. Near a
minimum with H_1 positive definite every H_θ = (1 − θ) H_GN + θ H_1 is so too: nothing cuts θ, it reaches 1 within a few
iterations and with it comes DDP's quadratic rate. Levenberg's ρ remains as the last resort at θ = 0.

Shooting: "single" rolls every trajectory out; "multiple" takes the guess's states as they are, and its steps close
their gaps (:mod:`contact_ddp_ros.ocp.defects`), by the same sweep and with the same θ.

Variants: "ddp" as above, "ddp_tensor" the same for a problem whose `second` is computed the conventional way, and
"ilqr", which keeps θ at 0. "quasi_newton" computes S every few iterations only
(:mod:`contact_ddp_ros.ocp.held_curvature`).

See eq. (16) of docs/mathematics.md.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp.checks import checked_array, describe
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem, node_data
from contact_ddp_ros.ocp.run import Run
from contact_ddp_ros.ocp.solution import Guess, Solution
from contact_ddp_ros.ocp.workspace import Workspace

Array = NDArray[np.float64]


class DdpSolver:
    """Solve problems by hybrid DDP; work arrays are reused between solves of equal size."""

    def __init__(self, options: SolverOptions | None = None) -> None:
        """Raises SolverError where the options are of another type."""
        if options is not None and not isinstance(options, SolverOptions):
            raise SolverError(f"options is {describe(options)}; needed: a SolverOptions")
        self.options = options or SolverOptions()
        self._work: Workspace | None = None

    def solve(
        self,
        problem: Problem,
        x0: ArrayLike,
        guess: Guess,
        *,
        multipliers: ArrayLike | None = None,
        penalty: ArrayLike | None = None,
        hessian_blend: float = 1.0,
        max_iterations: int | None = None,
    ) -> Solution:
        """Minimise the problem's cost from x0, starting at a guess.

        Args:
            problem: to be solved.
            x0: (n_x,) initial state.
            guess: nominal trajectory, and gains of the first rollout.
            multipliers: (N+1, n_e) augmented-Lagrangian multipliers, zero by default.
            penalty: (σ, δ, ε) as the problem's functions read them, the problem's own by default.
            hessian_blend: θ to begin with, brought into [0, 1]; "ilqr" keeps 0.
            max_iterations: limit of this solve, in place of the option.

        Raises:
            SolverError: x0, the guess, the multipliers or the penalty do not fit the problem, any of them or a
                parameter is not finite, or a function of the problem does not fit its signature.
        """
        data = node_data(problem, multipliers, penalty)
        x_start, guess = checked_array("x0", x0, (problem.n_x,)), checked_guess(problem, guess)
        self._work = Workspace.of(problem, self._work)
        run = Run(problem, data, self._work, self.options)
        run.start(x_start, guess, hessian_blend)
        return run.end(guess, max_iterations if max_iterations is not None else self.options.max_iterations)


def checked_guess(problem: Problem, guess: Guess) -> Guess:
    """The guess with float64, C-contiguous arrays of the problem's sizes, and fixed controls at their values."""
    n, n_x, n_u = problem.n_nodes, problem.n_x, problem.n_u
    if not isinstance(guess, Guess):
        raise SolverError(f"the guess is {describe(guess)}; needed: a Guess, as Guess.open_loop(x0, us)")
    found = Guess(
        checked_array("guess.xs", guess.xs, (n + 1, n_x), by_node=True),
        checked_array("guess.us", guess.us, (n, n_u), by_node=True),
        checked_array("guess.gains", guess.gains, (n, n_u, n_x), by_node=True),
    )
    bounds = problem.control_bounds
    if bounds is None or not (fixed := bounds[0] == bounds[1]).any():
        return found
    return Guess(found.xs, np.where(fixed, bounds[0], found.us), np.where(fixed[:, None], 0.0, found.gains))
