"""The solver of a receding horizon: limits as relaxed barriers, or hard, at a barrier parameter that is held.

A few iterations from a measured state that is not the predicted one may leave a plan outside hard limits: the boundary
has cut their steps. Such a solve goes on until its limits hold, where there is time.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.choices import INTERIOR_POINT
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.interior_point import InteriorPointSolver
from contact_ddp_ros.ocp.interior_solution import (
    FEASIBLE,
    DualVariables,
    InteriorPointOptions,
    InteriorSolution,
)
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.penalties import DELTA, EPSILON, SIGMA
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Guess, Solution, Termination

Array = NDArray[np.float64]

_SLACK_MIN = 0.05
"""Least slack of plans that begin near their optimum; a solve from afar keeps more distance."""

_LARGEST = 1e4
"""Bound of multipliers that a solve begins with; active limits have up to 10³. Where a state keeps no limit they grow
without end, slacks fall to rounding, and so would every later sweep."""


@dataclass(frozen=True)
class Solved:
    """A solution, the multipliers for the next solve, and the (σ, δ, ε) and multipliers that its cost contains."""

    solution: Solution
    next: DualVariables
    penalty: Array
    multipliers: Array


class LoopSolver:
    """Solves one problem after the other with a few iterations each."""

    def __init__(self, config: PlannerConfig, penalty: Array) -> None:
        """`penalty` is (σ, δ, ε), the last also the interior point's barrier parameter μ.

        Raises:
            ParameterError: the interior point has no barrier parameter.
        """
        self._penalty = penalty
        options = SolverOptions(variant=config.variant, max_iterations=config.iterations)
        self._relaxed = DdpSolver(options)
        self._interior: InteriorPointSolver | None = None
        if config.constraint.method == INTERIOR_POINT:
            if not penalty[EPSILON] > 0.0:
                raise ParameterError("constraint.barrier_weight is 0; the interior point needs one above 0")
            held = InteriorPointOptions(sigma=float(penalty[SIGMA]), sigma_factor=1.0, slack_min=_SLACK_MIN)
            self._interior = InteriorPointSolver(replace(options, tolerance=1e-10, hessian_blend_cut=0.1), held)

    def solve(
        self,
        problem: Problem,
        x0: Array,
        guess: Guess,
        warm: DualVariables,
        hessian_blend: float,
        iterations: int,
        most: int = 0,
    ) -> Solved:
        """Solve with at most so many iterations from a guess, multipliers and θ of the plan before.

        Where hard limits do not hold then, iterations go on until they do, or there are `most`.
        """
        if self._interior is None:
            solution = self._relaxed.solve(
                *(problem, x0, guess),
                multipliers=warm.equalities,
                penalty=self._penalty,
                hessian_blend=hessian_blend,
                max_iterations=iterations,
            )
            heights = solution.residuals[:, : problem.n_e]
            moved = DualVariables(warm.equalities + self._penalty[SIGMA] * heights, warm.inequalities)
            return Solved(solution, moved, self._penalty, warm.equalities)
        found = self._hard(problem, x0, guess, warm, hessian_blend, iterations)
        while _goes_on(found.solution, most):
            last = found.solution
            again = Guess(last.xs, last.us, last.gains)
            found = self._hard(problem, x0, again, found.multipliers, last.hessian_blend, 1)
            every = last.iterations + found.solution.iterations
            found = replace(found, solution=replace(found.solution, iterations=every))
        none = np.array([0.0, self._penalty[DELTA], 0.0])
        return Solved(found.solution, found.multipliers, none, np.zeros_like(warm.equalities))

    def _hard(
        self, problem: Problem, x0: Array, guess: Guess, warm: DualVariables, hessian_blend: float, iterations: int
    ) -> InteriorSolution:
        assert self._interior is not None
        return self._interior.solve(
            *(problem, x0, guess),
            hessian_blend=hessian_blend,
            max_iterations=iterations,
            warm=DualVariables(warm.equalities, np.minimum(warm.inequalities, _LARGEST)),
            mu=float(self._penalty[EPSILON]),
        )


def _goes_on(solution: Solution, most: int) -> bool:
    """True if more iterations may bring a plan within its limits."""
    ended = solution.termination is not Termination.ITERATIONS
    return not ended and len(solution.iterations) < most and not solution.inequality_violation <= FEASIBLE
