"""Equal time for unequal iterations: what the solver's work costs, and a planner that keeps to a budget.

A DDP iteration takes longer than iLQR's, so equal numbers of iterations would favour DDP, and equal wall-clock time
would make every run depend on how busy the machine is. Instead the costs of the solver's stages are measured once, as
processor time of one thread in turns within one run, and from then on the loop counts in these costs only: a solve is
charged

    Σ over its iterations (partials p + curved sweeps · s₂ + flat sweeps · s₁ + rollouts · r),    s₂ > s₁,

with the sweeps and rollouts that it really took. DDP pays s₂ where its sweep has second-order curvature and s₁ where it
has none, iLQR always s₁; one that stops at an indefinite Quu is paid for as far as it went, and what it makes necessary
after that too. The unit is one full DDP iteration without backtracking, p + s₂ + r = 1. What all solves need alike
(building the problem, the first rollout) is added to the budget of both.

The budget of a solve is that of n DDP iterations. As a whole number of iLQR iterations rarely fills it exactly, what is
left or overdrawn carries over to the next solve, so that the mean is kept: iLQR alternates between 2 and 3 iterations
where 2.6 fit. No more than one iteration's cost is ever saved up, for time cannot be. A solve has one iteration at
least; one that takes longer than there is budget for makes debts, and while they exceed the budget of a period the
planner is still busy, so that period passes without a plan.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.loop.harness import PlannerProxy
from benchmarks.solver.case import VARIANTS, mpc_cases
from benchmarks.solver.iteration import ITERATION, ours
from benchmarks.timing import Progress, Spread, interleave
from contact_ddp_ros.base.choices import WHOLE_BODY
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.ocp.solution import Iteration
from contact_ddp_ros.robot.state import RobotState

_DIGITS = 4
"""Of a cost, so that it is the same in a journal as in memory."""

_ROUNDING = 1e-9

_STILL_BUSY = PlanResult(
    None, "BUSY", "the last solves have used up this period's budget", 0.0, (), *4 * (float("nan"),)
)


@dataclass(frozen=True)
class StageCosts:
    """Processor time of the solver's stages over that of one full DDP iteration.

    Attributes:
        partials: first order, of all nodes. rollout: one.
        curved_sweep, flat_sweep: one backward sweep with and without second-order curvature.
    """

    partials: float
    curved_sweep: float
    flat_sweep: float
    rollout: float

    def iteration(self, variant: str) -> float:
        """Of a variant's iteration without backtracking."""
        return self.partials + (self.flat_sweep if variant == "ilqr" else self.curved_sweep) + self.rollout

    def spent(self, iterations: Sequence[Iteration]) -> float:
        """What a solve took, its first rollout included, which its first iteration counts."""
        return sum(
            self.partials
            + one.second_order_sweeps * self.curved_sweep
            + one.gauss_newton_sweeps * self.flat_sweep
            + one.rollouts * self.rollout
            for one in iterations
        )


@dataclass(frozen=True)
class Budget:
    """What a planner may spend per solve, on average.

    Attributes:
        ddp_iterations: how many DDP iterations without backtracking it is worth.
        costs: of the solver's stages.
    """

    ddp_iterations: float
    costs: StageCosts

    @property
    def per_solve(self) -> float:
        """In the unit of the costs, the first rollout included."""
        return self.ddp_iterations + self.costs.rollout


class PacedPlanner(PlannerProxy):
    """A planner whose number of iterations follows from its budget; deterministic."""

    def __init__(self, planner: Any, budget: Budget) -> None:
        super().__init__(planner)
        self._budget = budget
        self._carried = 0.0
        self.periods = 0
        self.spent = 0.0

    @property
    def spent_share(self) -> float:
        """Of the budget, over all periods of the bound; NaN before the first."""
        return self.spent / (self.periods * self._budget.per_solve) if self.periods else float("nan")

    def solve(self, state: RobotState, speed: float, **options: Any) -> PlanResult:
        """One plan with as many iterations as there is budget for, at least one; none while the last are unpaid."""
        costs, planner = self._budget.costs, self.planner
        one = costs.iteration(planner.config.variant)
        credit = self._budget.per_solve + min(self._carried, one)
        self.periods += 1
        if credit <= 0.0:
            self._carried = credit
            return _STILL_BUSY
        iterations = max(1, int((credit - costs.rollout) / one + _ROUNDING))
        if iterations != planner.config.iterations:
            planner.configure(replace(planner.config, iterations=iterations))
        result = super().solve(state, speed, **options)
        spent = costs.spent(result.iterations)
        self._carried = credit - spent
        self.spent += spent
        return result


def measure_costs(
    rounds: int, repeats: int, progress: Progress | None = None
) -> tuple[StageCosts, Mapping[str, Spread]]:
    """Costs of the MPC's problem on this machine, and for people the ratios DDP / iLQR of an iteration and a sweep."""
    optimum = mpc_cases(model=WHOLE_BODY).optimum
    times = interleave({variant: ours(optimum, variant) for variant in VARIANTS}, rounds, repeats, progress)

    def cost(variant: str, stage: str) -> float:
        return round(times.ratio((variant, stage), ("ddp", ITERATION)).median, _DIGITS)

    partials, rollout = cost("ddp", "partials"), cost("ddp", "rollout")
    costs = StageCosts(partials, round(1.0 - partials - rollout, _DIGITS), cost("ilqr", "sweep"), rollout)
    return costs, {stage: times.ratio(("ddp", stage), ("ilqr", stage)) for stage in (ITERATION, "sweep")}
