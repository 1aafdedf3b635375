r"""The error E of the optimality conditions of a barrier's problem (Wächter and Biegler 2006, Eq. (5)).

    E(μ) = max( |∂L/∂u| / s_d,  |c|, |z − s|, |d|,  |y s − μ| / s_c )

with s_d and s_c the mean absolute multiplier, of all constraints and of the inequalities, over 100, and at least 1:
where multipliers are large, as with complementarity conditions, gradients are known to that share of them only. The
products may also be relative to 10⁻⁴ of a large cost.

Infeasibility of a problem to first order near a trajectory.

Infeasible is what ends at a stationary point of the violation that violates: DDP minimises, from the trajectory that a
failed solve returns,

    J + S V,    V = ½ Σ |c|² + ½ Σ min(z, 0)²,    S = 10⁸ (1 + |J|),

a barrier of width δ → 0 and weight S δ² being S/2 min(z, 0)². Where that converges with a violation that J cannot
explain, no trajectory near it keeps the constraints to first order: a certificate where the problem is linear, while
otherwise another start may lead to a feasible trajectory.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.diagnosis import largest_violation
from contact_ddp_ros.ocp.interior_solution import Certificate, DualVariables
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Guess, Solution, Termination

Array = NDArray[np.float64]

_SCALE = 100.0

LARGE = 1e4
"""Slopes and costs from which on a tolerance may be below rounding."""


def relative_to(size: float) -> float:
    """Scale of an error, for the size of what it is the error of: 1 up to a large one."""
    return max(1.0, size / LARGE)


def error(
    gradient: float, residuals: Array, equalities: Array, slacks: Array, duals: Array, gap: float, cost: float = 0.0
) -> Callable[[float], float]:
    """E as a function of μ.

    Args:
        gradient: |∂L/∂u| at the adjoint.
        residuals: (N+1, n_e + n_i + 1) of a problem. equalities: (N+1, n_e) their multipliers.
        slacks, duals: (N, n_i) s and y of the inequalities; s is 0 where a node lacks one.
        gap: the largest |d|.
        cost: |J| in the units of y s, to which these are relative (:func:`relative_to`).
    """
    n_e = equalities.shape[1]
    there = slacks > 0.0
    s, y, z = slacks[there], duals[there], residuals[:-1, n_e:-1][there]
    violation = max(np.abs(residuals[:, :n_e]).max(initial=0.0), np.abs(z - s).max(initial=0.0), gap)
    total, count = float(y.sum()), max(y.size, 1)
    by_all = (total + float(np.abs(equalities).sum())) / max(y.size + equalities.size, 1)
    fixed = max(gradient / max(1.0, by_all / _SCALE), float(violation))
    products, scale = y * s, max(1.0, total / count / _SCALE, relative_to(cost))

    def error_at(mu: float) -> float:
        return max(fixed, float(np.abs(products - mu).max(initial=0.0)) / scale)

    return error_at


_PENALTY, _WIDTH = 1e8, 1e-7
"""S relative to the cost, and δ."""

_INFEASIBLE = 1e-4
"""Least violation that S leaves no doubt about, in the constraint's units."""

_ITERATIONS = 200
"""Largest number of iterations in the minimisation of V."""


def least_violation(problem: Problem, solution: Solution, objective: float) -> Certificate | None:
    """Certificate that no trajectory near a solution of the cost J = `objective` keeps the constraints; None without.

    See the module's text; it takes a solve by DDP.
    """
    sigma = _PENALTY * (1.0 + abs(objective))
    weights = problem.inequality_weights
    mean = 1.0 if weights is None else float(weights.mean())
    nearest = DdpSolver(SolverOptions(max_iterations=_ITERATIONS)).solve(
        problem,
        solution.xs[0],
        Guess(solution.xs, solution.us, np.zeros_like(solution.gains)),
        penalty=[sigma, _WIDTH, sigma * _WIDTH**2 / mean],
    )
    if nearest.termination is not Termination.CONVERGED or not largest_violation(nearest) > _INFEASIBLE:
        return None
    equalities, inequalities = nearest.residuals[:, :-1], np.minimum(nearest.inequalities[:-1], 0.0)
    return Certificate(
        xs=nearest.xs,
        us=nearest.us,
        equalities=np.abs(equalities),
        inequalities=-inequalities,
        multipliers=DualVariables(equalities, inequalities),
        slope=nearest.iterations[-1].gradient / sigma,
        names=tuple(problem.constraint_name(i) for i in range(problem.n_e + problem.n_i)),
    )
