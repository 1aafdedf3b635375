"""Offline trajectory optimisation of a gait: the receding horizon's problem, solved once until every constraint holds.

The same problem, costs and first guess as :mod:`contact_ddp_ros.mpc.planner`, with hard constraints: by the interior
point (:mod:`contact_ddp_ros.ocp.interior_point`), or by penalties, which the receding horizon keeps fixed, tightened
pass by pass (:mod:`contact_ddp_ros.ocp.continuation`).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.choices import CONSTRAINTS, INTERIOR_POINT
from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.mpc.warm_start import heuristic_guess
from contact_ddp_ros.ocp.continuation import ConstrainedSolution, Continuation, Pass, solve_constrained
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.interior_point import InteriorPointSolver
from contact_ddp_ros.ocp.interior_solution import InteriorPointOptions, interior_options
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Guess, Termination
from contact_ddp_ros.robot.gaits.grid import KnotGrid, knot_grid
from contact_ddp_ros.robot.models.model import Model
from contact_ddp_ros.robot.policy import Policy

Array = NDArray[np.float64]


def cold_solver(options: SolverOptions, second_order_below: float) -> InteriorPointSolver:
    """An interior point for solves of a gait that begin far from their optimum."""
    cold = replace(interior_options(options), second_order_below=second_order_below)
    return InteriorPointSolver(cold, InteriorPointOptions(dual_steps="each", past_worst=2))


@dataclass(frozen=True)
class OfflineResult:
    """A constrained optimum over a grid, as a policy, with the passes that led to it."""

    grid: KnotGrid
    policy: Policy
    outcome: ConstrainedSolution


class OfflineOptimiser:
    """Optimises gaits of one model over whole horizons that begin with the gait's first mode."""

    def __init__(
        self,
        model: Model,
        config: PlannerConfig,
        model_hash: int = 0,
        shooting: str = "single",
        constraints: str = INTERIOR_POINT,
    ) -> None:
        """`shooting` as in :class:`SolverOptions`; "multiple" takes a guess's states as they are.

        Raises:
            SolverError: `constraints` is none of CONSTRAINTS, the ways to keep them.
        """
        if constraints not in CONSTRAINTS:
            raise SolverError(f"unknown constraints {constraints!r}; allowed are {', '.join(CONSTRAINTS)}")
        self.constraints = constraints
        self.model, self.config, self.model_hash, self.shooting = model, config, model_hash, shooting
        self.builder = ProblemBuilder(model, config)
        steps = round(config.gait.horizon_cycles * self.builder.schedule.period / config.gait.step)
        self.grid = knot_grid(self.builder.schedule, 0, steps, config.gait.step)

    def problem(self, speed: float) -> tuple[Problem, Array]:
        """The optimal control problem at a speed [m/s] and its reference states (N+1, 2n)."""
        return self.builder.build(self.grid, self.config, TrunkCommand(speed))

    def guess(self, speed: float) -> Guess:
        """The heuristic controller's policy, which the first rollout closes."""
        _, xs = self.problem(speed)
        return heuristic_guess(self.builder, self.grid, xs, self.config.first_guess)

    def solve(
        self,
        x0: Array,
        speed: float,
        *,
        guess: Guess | None = None,
        continuation: Continuation | None = None,
        max_iterations: int | None = None,
    ) -> OfflineResult:
        """Optimise from the model's state (2n,) at a speed [m/s].

        Args:
            x0: the model's state (2n,) to begin with.
            speed: commanded [m/s].
            guess: first trajectory, the heuristic controller's by default.
            continuation: settings of the outer loop of penalties.
            max_iterations: of all passes together.

        Raises:
            SolverError: the state or the guess is not finite, or the optimisation diverged.
        """
        outcome = self.outcome(x0, speed, guess=guess, continuation=continuation, max_iterations=max_iterations)
        solution = outcome.solution
        if solution.termination is Termination.DIVERGED:
            raise SolverError(f"the optimisation failed: {solution.message}; try another speed or a shorter horizon")
        policy = Policy(
            times=self.grid.times,
            states=solution.xs,
            controls=solution.us,
            gains=solution.gains,
            modes=self.grid.modes[:-1],
            forces=self.builder.forces(self.grid, solution.aux),
            model_hash=self.model_hash,
            ground=self.config.ground,
        )
        return OfflineResult(self.grid, policy, outcome)

    def outcome(
        self,
        x0: Array,
        speed: float,
        *,
        guess: Guess | None = None,
        continuation: Continuation | None = None,
        max_iterations: int | None = None,
    ) -> ConstrainedSolution:
        """Outcome of :meth:`solve`, however it ends: an optimisation that diverges is one, too.

        Raises:
            SolverError: the state or the guess is not finite.
        """
        problem, _ = self.problem(speed)
        config = self.config
        options = SolverOptions(variant=config.variant, shooting=self.shooting, max_iterations=config.first_iterations)
        if self.constraints == INTERIOR_POINT:
            interior = cold_solver(options, self.model.second_order_below)
            found = interior.solve(problem, x0, guess or self.guess(speed), max_iterations=max_iterations)
            passes, cost = (Pass(np.zeros(3), found.solution),), found.solution.cost
            return ConstrainedSolution(passes, found.multipliers.equalities, found.feasible, cost)
        solver = DdpSolver(options)
        return solve_constrained(solver, problem, x0, guess or self.guess(speed), continuation, max_iterations)
