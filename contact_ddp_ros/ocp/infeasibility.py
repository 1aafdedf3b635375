r"""Infeasibility of a problem to first order near a trajectory.

Infeasible is what ends at a stationary point of the violation that violates: DDP minimises, from the trajectory that a
failed solve returns,

    J + S V,    V = ½ Σ |c|² + ½ Σ min(z, 0)²,    S = 10⁸ (1 + |J|),

a barrier of width δ → 0 and weight S δ² being S/2 min(z, 0)². Where that converges with a violation that J cannot
explain, no trajectory near it keeps the constraints to first order. It is no certificate: another start may lead to a
feasible trajectory.
"""

import numpy as np

from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.diagnosis import largest_violation
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Guess, Solution, Termination

_PENALTY, _WIDTH = 1e8, 1e-7
"""S relative to the cost, and δ."""

_INFEASIBLE = 1e-3
"""Least violation that S leaves no doubt about, in the constraint's units."""

_ITERATIONS = 200
"""Largest number of iterations in the minimisation of V."""


def is_infeasible(problem: Problem, solution: Solution, objective: float) -> bool:
    """Test for infeasibility: no trajectory near a solution of the cost J = `objective` violates the constraints less.

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
    return nearest.termination is Termination.CONVERGED and largest_violation(nearest) > _INFEASIBLE
