r"""Primal-dual interior point in the backward sweep: hard inequalities and equalities without an outer loop.

Each inequality z(x, u) ≥ 0 of a node has a slack s > 0 and a multiplier y > 0. Newton's step on

    ∇L = 0,    z − s = 0,    y s = μ

with L = Σ_k ℓ − w yᵀz + …, once Δs = z_zΔ + (z − s) and Δy = μ/s − y − Σ Δs are eliminated, Σ = y/s, leaves the
problem of the sweep with ψ(z) = ½ Σ (z − s)² − (μ/s)(z − s) in the place of the inequality: w Σ z_zᵀz_z joins Q's
Hessian, w (Σ (z − s) − μ/s) z_z its gradient (:func:`contact_ddp_ros.ocp.multipliers.inequality`). The curvature of z
joins S with Newton's weight −w y, not with that slope: they differ by the whole multiplier after μ has fallen. The
regularisation is that of :mod:`contact_ddp_ros.ocp.ddp`: an indefinite Quu cuts θ first.

Equalities c = 0 are proximal: the cost has y c + ½ σ c², and y ← y + σ c after each step, which is the Newton step with
the dual regularisation 1/σ. So one that no control of its own node reaches, as the height of a foot at touchdown, needs
no elimination. σ rises as the steps become full.

Step. The controls of a trial are rolled out, so z is the true z of a trajectory without gaps, and

    s(α) = z(α) + (1 − α) (s − z):

the distance of z and s shrinks by exactly 1 − α, as gaps do, and once it is zero it stays so: the iterates are strictly
feasible. α keeps s(α) ≥ (1 − τ) s (fraction to the boundary); a step that goes beyond by a hundredth of s is taken
with the slack at the boundary, and closes that distance later. Along a limit on the state that is active at many nodes
that rule stops the solve far from the optimum: z(α) is curved, and the distance to the limit as small as μ. Where it
leaves less than `detached_step`, slacks stop at (1 − τ) s, or at a share of the violation if that is more, and their
inequalities may be violated until later steps close the distance. y's own step keeps y positive: all go the share of
their steps that τ allows, or each as far as it may (`dual_steps`). z's linear prediction in Δy is taken from the trial,
which differs from it in second order. With `past_worst` a rollout far beyond the boundary ends early.

Merit. φ = J − μ Σ w ln s + y c + ½ σ c² + ω Σ w|z − s| + ω_d Σ|d|, the last term that of
:mod:`contact_ddp_ros.ocp.defects`, ω raised by the same rule. At fixed μ, y of the equalities, σ and ω the sweep's
direction descends on φ, and for small α no slack stops: Armijo's rule holds for some α. μ falls when the expected
reduction of a full step is below a multiple of μ Σ w.

The last iterations may be those of active sets: :mod:`contact_ddp_ros.ocp.crossover_run`.

Strategy "inertia": the whole curvature, corrected by δI, mixed equalities without a penalty, and a filter in the place
of the merit, for costs that are indefinite by themselves: :mod:`contact_ddp_ros.ocp.inertia_run`.

See eqs. (27) and (28) of docs/mathematics.md. Sources: Nocedal and Wright (2006), Chapter 19; Wächter and Biegler
(2006); Pavlov et al. (2021) for DDP.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp.checks import checked_array
from contact_ddp_ros.ocp.ddp import checked_guess
from contact_ddp_ros.ocp.interior_run import InteriorRun
from contact_ddp_ros.ocp.interior_solution import (
    DualVariables,
    InteriorPointOptions,
    InteriorSolution,
    interior_options,
)
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem, node_data
from contact_ddp_ros.ocp.solution import Guess, Iteration
from contact_ddp_ros.ocp.workspace import Workspace

Array = NDArray[np.float64]


class InteriorPointSolver:
    """Solve problems with hard constraints; work arrays are reused between solves of equal size."""

    def __init__(self, options: SolverOptions | None = None, interior: InteriorPointOptions | None = None) -> None:
        self.options = options or interior_options(SolverOptions(max_iterations=200))
        self.interior = interior or InteriorPointOptions()
        self._work: Workspace | None = None

    def solve(
        self,
        problem: Problem,
        x0: ArrayLike,
        guess: Guess,
        *,
        hessian_blend: float = 1.0,
        max_iterations: int | None = None,
        warm: DualVariables | None = None,
        mu: float | None = None,
        callback: Callable[[Iteration], object] | None = None,
    ) -> InteriorSolution:
        """Minimise the problem's cost subject to its constraints from x0, starting at a guess.

        Args:
            problem: to be solved, whose inequalities its `step` tells of (n_i).
            x0: (n_x,) initial state.
            guess: nominal trajectory, and gains of the first rollout.
            hessian_blend: θ to begin with, for the strategy "blend".
            max_iterations: limit of this solve, in place of the option.
            warm: multipliers to begin with, as those of an earlier solution.
            mu: barrier parameter that is held, in the cost's units; by default it falls to the options' end.
            callback: gets every iteration; True ends the solve.

        Raises:
            SolverError: as :meth:`contact_ddp_ros.ocp.ddp.DdpSolver.solve`, or `warm` is of another size, or the
                strategy "inertia" meets equalities of nodes without control before the end.
        """
        data = node_data(problem, penalty=(self.interior.sigma, 1.0, 0.0))
        if self.interior.strategy == "inertia" and problem.n_mixed + problem.n_terminal < problem.n_e:
            raise SolverError(
                f"{problem.constraint_name(problem.n_mixed)} is neither g(x, u) = 0 of every node with control nor "
                'c(x) = 0 of the end; the strategy "inertia" takes these only: make it a cost, or use "blend"'
            )
        x_start, guess = checked_array("x0", x0, (problem.n_x,)), checked_guess(problem, guess)
        self._work = Workspace.of(problem, self._work)
        if warm is not None:
            found = warm.equalities.shape, warm.inequalities.shape
            needed = (problem.n_nodes + 1, problem.n_e), (problem.n_nodes, problem.n_i)
            if found != needed:
                raise SolverError(f"warm has multipliers of shapes {found}; needed: {needed}, as the problem")
        run = _kind_of(self.interior, mu is not None)(problem, data, self._work, self.options, self.interior)
        run.start(x_start, guess, hessian_blend)
        run.begin(warm, mu)
        limit = max_iterations if max_iterations is not None else self.options.max_iterations
        solution = run.end(guess, limit, callback)
        return run.outcome(solution)


def _kind_of(options: InteriorPointOptions, held: bool) -> type[InteriorRun]:
    """Class of run for a strategy; one that compiles for seconds is imported only when it is asked for."""
    if options.strategy == "inertia":
        from contact_ddp_ros.ocp.inertia_run import InertiaRun

        return InertiaRun
    if held or options.crossover == 0.0:
        return InteriorRun
    from contact_ddp_ros.ocp.crossover_run import CrossoverRun

    return CrossoverRun
