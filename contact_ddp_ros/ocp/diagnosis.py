"""Diagnosis of a solve without a solution: violated constraints, costs without a lower bound, controls out of bounds.

Whether any trajectory nearby keeps the constraints is a question for :mod:`contact_ddp_ros.ocp.optimality`.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.ocp.protocol import Problem, node_data
from contact_ddp_ros.ocp.solution import Solution

Array = NDArray[np.float64]

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
    equalities = np.abs(solution.residuals[:, :-1])
    largest = [float(one.max(initial=0.0)) for one in (equalities, -solution.inequalities)]
    if not max(largest) > 0.0:
        worst = solution.inequality_violation
        if n_i == 0 and worst > 0.0:  # a problem that tells of the largest violation of a node alone
            return f"an inequality of node {int(np.argmax(solution.residuals[:, -1]))} is violated by {worst:.3g}"
        return "no constraint is violated"
    found = equalities if largest[0] >= largest[1] else -solution.inequalities
    k, index = (int(one) for one in np.unravel_index(np.argmax(found), found.shape))
    name = problem.constraint_name(index if found is equalities else equalities.shape[1] + index)
    return f"the most violated constraint is {name} of node {k}, by {max(largest):.3g}"


def is_unbounded(cost: float, first: float, cut: bool) -> bool:
    """Test for an unbounded cost: it has fallen so far below the first trajectory's that no end is to be expected."""
    return bool(cost < -(_DEEP if cut else _BOTTOMLESS) * (1.0 + abs(first)))


def is_stuck(violations: list[float], window: int = _WINDOW) -> bool:
    """Test for stalled violations: those of successive iterations, or passes, do not fall any more."""
    return len(violations) > window and violations[-1] > _NOT_FALLING * violations[-1 - window]


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
