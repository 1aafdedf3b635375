"""The solver of a receding horizon: limits as relaxed barriers, or hard, at a barrier parameter that is held.

A few iterations from a measured state that is not the predicted one may leave a plan outside hard limits: the boundary
has cut their steps. Such a solve goes on until its limits hold, where there is time.

Rate of planning that the processor bears, chosen from the times that solves take.

A planner that wants more time than its processor has for it falls behind: under a quota it is stopped in the middle of
a solve. A lower rate leaves time over, and each plan comes at once. Where a solve takes t [s] on average over the last
half second, all its iterations counted, the rate is the largest of those at or above :data:`SLOWEST` with

    t <= share / rate,        rate = most / k,   k = 1, 2, ...

It is lowered as soon as that asks for it. On a processor that is shared, t tells nothing of a higher rate than the
present one, which has to be tried: one step up after a wait, which doubles with each trial that fails.
"""

import math
from collections import deque
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
from contact_ddp_ros.ocp.multipliers import DELTA, EPSILON, SIGMA
from contact_ddp_ros.ocp.options import SolverOptions
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


SLOWEST = 12.5
"""The rate is not lowered beyond this [Hz]."""

_WINDOW = 0.5
"""Time over which solves are looked at [s]: a few periods of a quota."""

_WAIT, _LONGEST_WAIT = 2.0, 60.0
"""Time at a rate before a higher one is tried, at first and at most [s]."""


class PlanRate:
    """The share of the largest rate that is planned at, the whole of it at first."""

    def __init__(self) -> None:
        self._divisor = 1
        self._solves: deque[tuple[float, float]] = deque()
        self._since, self._wait, self._trial = -math.inf, _WAIT, False

    def of(self, most: float) -> float:
        """Rate to plan at where `most` is the largest one [Hz]."""
        return most / min(self._divisor, _largest(most))

    def took(self, duration: float, time: float, most: float, share: float) -> bool:
        """Take a solve that ended at `time` [s]; True where the rate is another one from now on.

        Args:
            duration: that it took, or would have taken with all its iterations [s].
            time: on a clock that does not jump [s].
            most: the largest rate [Hz].
            share: of the time between two solves that one may take.
        """
        if not self._solves:
            self._began = time
        self._solves.append((time, duration))
        while self._solves[0][0] < time - _WINDOW:
            self._solves.popleft()
        if time - self._began < _WINDOW:
            return False
        mean = math.fsum(one for _, one in self._solves) / len(self._solves)
        borne = min(max(math.ceil(mean * most / share - 1e-9), 1), _largest(most))
        rested = time - self._since
        if borne > self._divisor:
            forgotten = rested > _LONGEST_WAIT or not self._trial
            self._wait = _WAIT if forgotten else min(2.0 * self._wait, _LONGEST_WAIT)
            self._change(borne, time, trial=False)
        elif borne < self._divisor and rested >= self._wait:
            self._change(self._divisor - 1, time, trial=True)
        else:
            return False
        return True

    def _change(self, divisor: int, time: float, *, trial: bool) -> None:
        self._divisor, self._since, self._trial = divisor, time, trial
        self._solves.clear()


def _largest(most: float) -> int:
    """The divisor that gives the slowest rate."""
    return max(int(most / SLOWEST + 1e-9), 1)
