r"""Outer loop over DDP: tightens the relaxed barriers and updates the touchdown multipliers until the constraints hold.

After hybrid-systems DDP: each pass minimises the penalised cost, then

    y ← y + σ c + D c                    multipliers of the equality residuals c (see `multipliers` for D)
    σ ← σ · sigma_factor                 only where the residual has not shrunk enough
    δ ← δ · delta_factor,  ε ← ε · epsilon_factor

with inequalities left out of the first pass (ε = 0), so that a poor start first finds the motion and then its limits.
A limit that pulls with the multiplier g is violated by δ (g δ/ε − 2), so δ, which falls faster than ε, ends every
violation; ε stops at a small bias. Where g is so large that δ at its smallest does not end the violation, ε rises again
until it does, and stays there. The end is a stationary point of the constrained problem with the multipliers that
barriers and augmented Lagrangian imply, but for y z = w ε of each inequality, so that its cost is above that of the
optimum nearby by about

    Σ y z,    y z = w ε min(1, z (2δ − z)/δ²).

The loop is the paper's baseline: the interior point (:mod:`contact_ddp_ros.ocp.interior_point`) needs a fraction of
its iterations, leaves nothing of the barrier, and since its first steps know the limits, it often ends at a lower one
of several optima. The settings that a receding horizon uses are those of one such pass, held fixed.

See eq. (21) of docs/mathematics.md.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.diagnosis import (
    is_stuck,
    largest_violation,
    within_bounds,
    worst_constraint,
)
from contact_ddp_ros.ocp.multipliers import AugmentedLagrangian
from contact_ddp_ros.ocp.optimality import least_violation
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Guess, Solution, Termination, summary

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Continuation:
    """Penalty settings of the passes.

    Attributes:
        sigma, sigma_factor, sigma_max: augmented-Lagrangian penalty.
        delta, delta_factor, delta_min: width of the relaxed barriers, relative to each constraint's scale.
        epsilon, epsilon_factor, epsilon_min: weight of the relaxed barriers.
        residual_reduction: σ rises where the equality residual exceeds this fraction of the previous pass's.
        equality_tolerance: largest residual allowed, in the residual's units.
        inequality_tolerance: largest violation allowed, relative to the constraint's scale.
        max_passes: limit of the outer loop.
        first_pass_without_inequalities: use ε = 0 in the first pass, so that `epsilon` applies from the second on.
    """

    sigma: float = 1e3
    sigma_factor: float = 8.0
    sigma_max: float = 1e8
    delta: float = 0.1
    delta_factor: float = 0.3
    delta_min: float = 1e-6
    epsilon: float = 0.05
    epsilon_factor: float = 0.5
    epsilon_min: float = 1e-3
    residual_reduction: float = 0.25
    equality_tolerance: float = 1e-6
    inequality_tolerance: float = 1e-6
    max_passes: int = 20
    first_pass_without_inequalities: bool = True

    def __post_init__(self) -> None:
        """Raises SolverError for settings with which the loop would not end."""
        if self.max_passes < 1:
            raise SolverError(f"max_passes is {self.max_passes}; allowed: at least 1")
        for name in ("sigma", "delta"):
            found = getattr(self, name)
            if not found > 0.0:
                raise SolverError(f"{name} is {found}; allowed: above 0")


@dataclass(frozen=True)
class Pass:
    """One pass of the outer loop: its penalty (σ, δ, ε) and its solution."""

    penalty: Array
    solution: Solution


@dataclass(frozen=True)
class ConstrainedSolution:
    """Outcome of the outer loop.

    Attributes:
        passes: in order; the solution of the last one is the result, and its termination and message are the loop's:
            CONVERGED at a stationary point of the constrained problem only.
        multipliers: (N+1, n_e) after the last update.
        feasible: whether the dynamics hold exactly, and equalities and inequalities within the tolerances.
        cost: of the problem, without penalties.
        slackness: Σ y z of the inequalities, the cost that their barriers hold back, about.
    """

    passes: tuple[Pass, ...]
    multipliers: Array
    feasible: bool
    cost: float = np.nan
    slackness: float = 0.0

    def __str__(self) -> str:
        """One line: how the loop ended, cost, violations, iterations and sizes."""
        return f"{summary(self.solution, self.cost)}, {len(self.passes)} passes, {self.n_iterations} iterations in all"

    __repr__ = __str__

    @property
    def solution(self) -> Solution:
        """The last pass's solution."""
        return self.passes[-1].solution

    @property
    def n_iterations(self) -> int:
        """Number of DDP iterations of all passes together."""
        return sum(len(one.solution.iterations) for one in self.passes)


def solve_constrained(
    solver: DdpSolver,
    problem: Problem,
    x0: ArrayLike,
    guess: Guess,
    continuation: Continuation | None = None,
    max_iterations: int | None = None,
    multipliers: ArrayLike | None = None,
) -> ConstrainedSolution:
    """Minimise the problem's cost subject to its constraints.

    `max_iterations` limits the DDP iterations of all passes together. `multipliers` (N+1, n_e), zero by default, are
    the initial ones, e.g. those of an earlier outcome. A pass that diverges ends the loop; one that stalls does not.

    Raises:
        SolverError: as :meth:`DdpSolver.solve`.
    """
    settings = continuation or Continuation()
    shape = (problem.n_nodes + 1, max(problem.n_e, 1))
    duals = AugmentedLagrangian(np.zeros(shape) if multipliers is None else np.array(multipliers, dtype=np.float64))
    sigma, delta, epsilon = settings.sigma, settings.delta, settings.epsilon
    constrained = not settings.first_pass_without_inequalities
    passes: list[Pass] = []
    previous, blend, left = np.inf, 1.0, max_iterations
    epsilon_min = settings.epsilon_min
    while True:
        penalty = np.array([sigma, delta, epsilon if constrained else 0.0])
        solution = solver.solve(
            problem, x0, guess, multipliers=duals.y, penalty=penalty, hessian_blend=blend, max_iterations=left
        )
        passes.append(Pass(penalty, solution))
        if left is not None:
            left -= len(solution.iterations)
        equality, inequality = solution.equality_violation, solution.inequality_violation
        diverged = solution.termination is Termination.DIVERGED
        feasible = constrained and _is_feasible(solution, settings)
        tight = epsilon <= epsilon_min
        unbounded = _is_unbounded(passes)
        over = len(passes) >= settings.max_passes or (left is not None and left <= 0)
        if diverged or unbounded or (feasible and tight) or over:
            return _outcome(solver, problem, passes, duals.y, settings, tight)
        duals.update(sigma, _residuals(solution, shape))
        if equality > settings.residual_reduction * previous and equality > settings.equality_tolerance:
            sigma = min(sigma * settings.sigma_factor, settings.sigma_max)
        previous, blend = equality, solution.hessian_blend
        if constrained and delta <= settings.delta_min and inequality > settings.inequality_tolerance:
            epsilon = epsilon_min = epsilon / settings.epsilon_factor
        elif constrained:
            delta = max(delta * settings.delta_factor, settings.delta_min)
            epsilon = max(epsilon * settings.epsilon_factor, epsilon_min)
        constrained = True
        if (delta, epsilon) != tuple(penalty[1:]):
            duals.reset()
        guess = Guess(solution.xs, solution.us, solution.gains)


def _is_feasible(solution: Solution, settings: Continuation) -> bool:
    held = solution.equality_violation <= settings.equality_tolerance
    return held and solution.gap == 0.0 and solution.inequality_violation <= settings.inequality_tolerance


def _is_unbounded(passes: list[Pass]) -> bool:
    """Test for an unbounded cost: the first pass, without limits, found no end of it, nor the last one above it."""
    first, last = passes[0].solution, passes[-1].solution
    goes_on = last.termination is not Termination.CONVERGED and last.cost <= first.cost
    return first.termination is Termination.UNBOUNDED and goes_on and len(passes) > 1


def _outcome(
    solver: DdpSolver, problem: Problem, passes: list[Pass], duals: Array, settings: Continuation, tight: bool
) -> ConstrainedSolution:
    """The last pass within its controls' bounds, and why the loop has ended there."""
    last = passes[-1]
    if last.solution.termination is Termination.DIVERGED:
        return ConstrainedSolution(tuple(passes), duals, False, np.inf)
    solution = within_bounds(problem, last.solution, duals, last.penalty)
    guess = Guess(solution.xs, solution.us, solution.gains)
    cost = solver.solve(problem, solution.xs[0], guess, penalty=[0.0, 1.0, 0.0], max_iterations=0).cost
    feasible, slackness = _is_feasible(solution, settings), _slackness(problem, solution, last.penalty)
    end, message = solution.termination, solution.message
    if _is_unbounded(passes):
        end, message = Termination.UNBOUNDED, f"{passes[0].solution.message}; limits do not hold it up: {cost:.3g}"
    elif not feasible:
        violations = [largest_violation(one.solution) for one in passes]
        if is_stuck(violations, window=2) and least_violation(problem, solution, cost):
            end, message = Termination.INFEASIBLE, Termination.INFEASIBLE.value
        elif end is Termination.CONVERGED:
            end, message = Termination.ITERATIONS, f"limit of the outer loop reached: {len(passes)} passes"
        message = f"{message}; {worst_constraint(problem, solution)}"
    elif not tight:
        end = Termination.ITERATIONS
        message = (
            f"limit of the outer loop reached: {len(passes)} passes; the barriers hold back {slackness:.2g} of cost"
        )
    passes[-1] = replace(last, solution=replace(solution, termination=end, message=message))
    return ConstrainedSolution(tuple(passes), duals, feasible, cost, slackness)


def _slackness(problem: Problem, solution: Solution, penalty: Array) -> float:
    """Σ y z of the inequalities at the multipliers y that their barriers imply."""
    _, delta, epsilon = penalty
    z = solution.inequalities[:-1]
    weights = np.ones(len(z)) if problem.inequality_weights is None else problem.inequality_weights
    share = np.where(z > delta, 1.0, z * (2.0 * delta - z) / delta**2)
    return float(epsilon * (weights[:, None] * np.where(np.isfinite(z), share, 0.0)).sum())


def _residuals(solution: Solution, shape: tuple[int, int]) -> Array:
    """Equality residuals in the shape of the multipliers, which have a column even where there is no equality."""
    residuals = np.zeros(shape)
    n_e = solution.residuals.shape[1] - 1
    residuals[:, :n_e] = solution.residuals[:, :-1]
    return residuals
