"""Equal time for unequal iterations: what an iteration of each variant costs, and a planner that keeps to a budget.

A DDP iteration takes longer than iLQR's, so equal numbers of iterations would favour DDP, and equal wall-clock time
would make every run depend on how busy the machine is. Instead the costs of the solver's stages are measured once, as
processor time of one thread in turns within one run, and from then on the loop counts in these costs only: each solve
is charged

    rollouts · r + Σ over its iterations (p + sweeps · s),        s of DDP larger than s of iLQR by the second order,

with the sweeps and rollouts that it really took, so that a line search or a sweep repeated at less curvature is paid
for by whoever needs it. The unit is one full DDP iteration, p + s_DDP + r = 1. What all solves need alike (building the
problem, one first rollout) is added to the budget of both.

The budget of a solve is that of n DDP iterations. As a whole number of iLQR iterations rarely fills it exactly, what is
left or overdrawn carries over to the next solve, so that the mean is kept: iLQR alternates between 2 and 3 iterations
where 2.6 fit. No more than one iteration's cost is ever saved up, for time cannot be. A solve has one iteration at
least; one that takes longer than there is budget for makes debts, and while they exceed the budget of a period the
planner is still busy, so that period passes without a plan.
Charging a failed sweep like a complete one, and one at reduced curvature like one at full, is to DDP's disadvantage.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from contact_ddp_ros.bench.case import mpc_cases
from contact_ddp_ros.bench.iteration import ITERATION, ours
from contact_ddp_ros.bench.planner_proxy import PlannerProxy
from contact_ddp_ros.bench.timing import Progress, Spread, interleave
from contact_ddp_ros.mpc.planner import PlanResult
from contact_ddp_ros.robot.state import RobotState

VARIANTS = ("ddp", "ilqr")

_DIGITS = 4
"""Of a cost, so that it is the same in a journal as in memory."""

_ROUNDING = 1e-9

_STILL_BUSY = PlanResult(
    None, "BUSY", "the last solves have used up this period's budget", 0.0, (), *4 * (float("nan"),)
)


@dataclass(frozen=True)
class StageCosts:
    """Processor time of a variant's stages over that of one full DDP iteration: partials, one sweep, one rollout."""

    partials: float
    sweep: float
    rollout: float

    @property
    def iteration(self) -> float:
        """Of one sweep and one rollout."""
        return self.partials + self.sweep + self.rollout

    def spent(self, result: PlanResult) -> float:
        """What a solve took, its first rollout included."""
        return sum(self.partials + one.sweeps * self.sweep + one.rollouts * self.rollout for one in result.iterations)


@dataclass(frozen=True)
class Budget:
    """What a planner may spend per solve, on average.

    Attributes:
        ddp_iterations: how many DDP iterations without backtracking it is worth.
        costs: of the stages of the variant that spends it.
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

    def solve(self, state: RobotState, speed: float) -> PlanResult:
        """One plan with as many iterations as there is budget for, at least one; none while the last are unpaid."""
        costs, planner = self._budget.costs, self.planner
        credit = self._budget.per_solve + min(self._carried, costs.iteration)
        self.periods += 1
        if credit <= 0.0:
            self._carried = credit
            return _STILL_BUSY
        iterations = max(1, int((credit - costs.rollout) / costs.iteration + _ROUNDING))
        if iterations != planner.config.iterations:
            planner.configure(replace(planner.config, iterations=iterations))
        result = super().solve(state, speed)
        spent = costs.spent(result)
        self._carried = credit - spent
        self.spent += spent
        return result


def measure_costs(
    rounds: int, repeats: int, progress: Progress | None = None
) -> tuple[dict[str, StageCosts], Mapping[str, Spread]]:
    """Costs by variant on this machine, and for people the ratios DDP / iLQR of an iteration and of a sweep."""
    optimum = mpc_cases().optimum
    times = interleave({variant: ours(optimum, variant) for variant in VARIANTS}, rounds, repeats, progress)

    def cost(variant: str, stage: str) -> float:
        return round(times.ratio((variant, stage), ("ddp", ITERATION)).median, _DIGITS)

    # partials and rollout are the same code for both, and are charged alike
    partials, rollout = cost("ddp", "partials"), cost("ddp", "rollout")
    sweeps = {"ddp": round(1.0 - partials - rollout, _DIGITS), "ilqr": cost("ilqr", "sweep")}
    ratios = {stage: times.ratio(("ddp", stage), ("ilqr", stage)) for stage in (ITERATION, "sweep")}
    return {variant: StageCosts(partials, sweeps[variant], rollout) for variant in VARIANTS}, ratios
