"""Result of one call of the planner."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.mpc.cost_terms import no_cost_terms
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.warm_start import LOST, Excess, is_infeasible, no_violations, switches_ahead, worst_violation
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Iteration, Solution, Termination
from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.gaits.grid import KnotGrid
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.models.model import HorizontalFrame, OwnFrame
from contact_ddp_ros.robot.policy import Policy

Array = NDArray[np.float64]

OUTSIDE_LIMITS = "OUTSIDE_LIMITS"
"""Status of a plan that exceeds a limit by more than :data:`contact_ddp_ros.mpc.warm_start.LOST` times its scale."""


class Provenance(NamedTuple):
    """Provenance of a policy, in the fields of :class:`contact_ddp_ros.robot.policy.Policy`."""

    sequence: int
    epoch: int
    model_hash: int
    ground: Ground
    advance: float
    chart: Chart


@dataclass(frozen=True)
class PlanResult:
    """Result of one call of the planner.

    Attributes:
        policy: None where the solve failed.
        status: name of the termination reason, or of the failure (DIVERGED, OUTSIDE_LIMITS).
        message: the same for people; of a plan outside its limits the limit, the amount and the place.
        solve_time: wall-clock time of the call [s].
        iterations: one record per DDP iteration.
        cost: of the plan, penalties included.
        touchdown_error: largest height error of a landing foot in the plan [m].
        inequality_violation: largest violated constraint of the plan, relative to its scale; 0 where all hold.
        friction_violation: largest violation of the friction cone or the normal force in the plan [N].
        gait: that is to be followed, as the parameter names it.
        cold: whether there was no plan to start from, so that it took as long as it had to.
        allowed: DDP iterations that the plan could take before its deadline.
        cut: text on the part of the commanded motion that is not followed, and why; empty where all of it is.
        cost_terms: when called, the cost by term as in :mod:`contact_ddp_ros.mpc.cost_terms`, and that of each term
            of the user's; for records.
        violations: when called, the limits that the plan violates, by kind (:mod:`contact_ddp_ros.mpc.warm_start`).
    """

    policy: Policy | None
    status: str
    message: str
    solve_time: float
    iterations: tuple[Iteration, ...]
    cost: float
    touchdown_error: float
    inequality_violation: float
    friction_violation: float
    gait: str = ""
    cold: bool = False
    allowed: int = 0
    cut: str = ""
    cost_terms: Callable[[], Array] = no_cost_terms
    violations: Callable[[], Mapping[str, Excess]] = no_violations


def plan_result(
    builder: ProblemBuilder,
    grid: KnotGrid,
    problem: Problem,
    solution: Solution,
    frame: HorizontalFrame | OwnFrame,
    provenance: Provenance,
    started: float,
    hard: bool = True,
) -> PlanResult:
    """Plan of a solution on a grid in times of the states' clock, with its policy in `odom`.

    Where limits are `hard`, torques beyond what the joints can give are cut off, and a solution that is lost gives no
    policy. The call `started` at that time of `time.perf_counter` [s].
    """
    failure = _failure(problem, solution, grid.times, hard)
    policy, friction_violation = None, math.inf
    if failure is None:
        forces = builder.forces(grid, solution.aux)
        friction_violation = builder.friction_violation(forces, problem)
        planned = Policy(
            times=grid.times.copy(),
            states=solution.xs,
            controls=np.clip(solution.us, -builder.effort_limits, builder.effort_limits) if hard else solution.us,
            gains=solution.gains,
            modes=grid.modes[:-1].copy(),
            forces=forces,
            **provenance._asdict(),
        )
        policy = frame.policy_out_of(planned)
    status, message = failure or (solution.termination.name, solution.message)
    return PlanResult(
        policy=policy,
        status=status,
        message=message,
        solve_time=perf_counter() - started,
        iterations=solution.iterations,
        cost=solution.cost,
        touchdown_error=float(np.abs(solution.residuals[switches_ahead(grid), :-1]).max(initial=0.0)),
        inequality_violation=solution.inequality_violation,
        friction_violation=friction_violation,
    )


def _failure(problem: Problem, solution: Solution, times: Array, hard: bool) -> tuple[str, str] | None:
    """Status and message of a solution that is no plan; None where it is one. Relaxed barriers keep no hard limits."""
    if solution.termination is Termination.DIVERGED:
        return solution.termination.name, solution.message
    if not solution.is_finite:
        return Termination.DIVERGED.name, "the plan holds a number that is not finite"
    if hard and is_infeasible(solution):
        return OUTSIDE_LIMITS, worst_violation(problem, solution, times, LOST)
    return None
