r"""Diagnosis of a solve without a solution: cut trajectories, costs without a lower bound, infeasibility.

Infeasible is what ends at a stationary point of the violation that violates: DDP minimises, from the trajectory that a
failed solve returns,

    J + S V,    V = ½ Σ |c|² + ½ Σ min(z, 0)²,    S = 10⁸ (1 + |J|),

a barrier of width δ → 0 and weight S δ² being S/2 min(z, 0)². Where that converges with a violation that J cannot
explain, no trajectory near it keeps the constraints to first order. It is no certificate: another start may lead to a
feasible trajectory.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.solver.options import SolverOptions
from contact_ddp_ros.solver.protocol import Problem, node_data
from contact_ddp_ros.solver.solution import Guess, Solution, Termination

Array = NDArray[np.float64]

_PENALTY, _WIDTH = 1e8, 1e-7
"""S relative to the cost, and δ."""

_INFEASIBLE = 1e-3
"""Least violation that S leaves no doubt about, in the constraint's units."""

_ITERATIONS = 200
"""Of the minimisation of V at most."""

_DEEP, _BOTTOMLESS = 1e4, 1e10
"""Costs below minus these multiples of the first trajectory's are taken for unbounded: where trajectories were cut, and
in any case."""

_NOT_FALLING, _WINDOW = 0.5, 20
"""A violation that stays above this share of what it was so many iterations before falls no more."""


def largest_violation(solution: Solution) -> float:
    """Largest violation of an equality or inequality, in the constraint's units."""
    return max(solution.equality_violation, solution.inequality_violation)


def worst_constraint(problem: Problem, solution: Solution) -> str:
    """Name, node and size of the largest violation, as text."""
    n_i = solution.inequalities.shape[1]
    violations = np.hstack([np.abs(solution.residuals[:, :-1]), -solution.inequalities])
    if not violations.size or not violations.max() > 0.0:
        worst = solution.inequality_violation
        if n_i == 0 and worst > 0.0:  # a problem that tells of the largest violation of a node alone
            return f"an inequality of node {int(np.argmax(solution.residuals[:, -1]))} is violated by {worst:.3g}"
        return "no constraint is violated"
    k, index = (int(one) for one in np.unravel_index(np.argmax(violations), violations.shape))
    return (
        f"the most violated constraint is {problem.constraint_name(index)} of node {k}, by {violations[k, index]:.3g}"
    )


def is_unbounded(cost: float, first: float, cut: bool) -> bool:
    """Whether a cost has fallen so far below that of the first trajectory that no end is to be expected."""
    return bool(cost < -(_DEEP if cut else _BOTTOMLESS) * (1.0 + abs(first)))


def is_stuck(violations: list[float], window: int = _WINDOW) -> bool:
    """Whether the violations of successive iterations, or passes, do not fall any more."""
    return len(violations) > window and violations[-1] > _NOT_FALLING * violations[-1 - window]


def is_infeasible(problem: Problem, solution: Solution, objective: float) -> bool:
    """Whether no trajectory near a solution of the cost J = `objective` violates the constraints less than it must.

    See the module's text; it takes a solve by DDP.
    """
    from contact_ddp_ros.solver.ddp import DdpSolver

    sigma = _PENALTY * (1.0 + abs(objective))
    weights = problem.inequality_weights
    mean = 1.0 if weights is None else float(weights.mean())
    nearest = DdpSolver(SolverOptions(max_iterations=_ITERATIONS)).solve(
        problem,
        solution.xs[0],
        Guess(solution.xs, solution.us, np.zeros_like(solution.gains)),
        penalty=[sigma, _WIDTH, sigma * _WIDTH**2 / mean],
    )
    return nearest.termination is Termination.CONVERGED and largest_violation(nearest) > _INFEASIBLE


def within_bounds(
    problem: Problem, solution: Solution, multipliers: Array | None = None, penalty: Array | None = None
) -> Solution:
    """The solution with every control within `control_bounds`, rolled out with its gains; itself where all are.

    Where that diverges the states stay, and the gap is infinite. The cost is that of these multipliers and penalty, by
    default the problem's own cost alone.
    """
    bounds = problem.control_bounds
    if bounds is None or not solution.is_finite:
        return solution
    us = np.where(problem.has_control[:, None], np.clip(solution.us, *bounds), solution.us)
    if (us == solution.us).all():
        return solution
    data = node_data(problem, multipliers, (0.0, 1.0, 0.0) if penalty is None else penalty)
    n, n_e = problem.n_nodes, problem.n_e
    xs, aux = solution.xs.copy(), np.zeros((n + 1, problem.n_aux))
    residuals, unused, cost = np.zeros((n + 1, problem.n_residuals)), np.zeros(problem.n_x), 0.0
    for k in range(n):
        if problem.has_control[k]:
            us[k] = np.clip(solution.us[k] + solution.gains[k] @ (xs[k] - solution.xs[k]), *bounds)
        cost += problem.step(data, k, xs[k], us[k], xs[k + 1], aux[k], residuals[k])
    cost += problem.step(data, n, xs[n], us[n - 1], unused, aux[n], residuals[n])
    if not np.isfinite(cost):
        return replace(solution, us=np.clip(solution.us, *bounds), gap=np.inf)
    return replace(
        solution,
        xs=xs,
        us=us,
        aux=aux[:, : problem.n_kept],
        residuals=np.hstack([residuals[:, :n_e], residuals[:, -1:]]),
        inequalities=residuals[:, n_e:-1],
        cost=float(cost),
        gap=0.0,
    )
