"""Equal time for unequal iterations: costs of the solver's stages, and a planner that keeps to a budget.

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

:func:`measure_in_loop` shows what the solver really does in the receding horizon: how often at full curvature, with how
many sweeps, at what cost. Closed loops in lock-step at 0.5 m/s with one push from behind take turns, tick by tick, so
that a slow moment of the machine meets all of them.

The largest disturbance that is survived, by bisection.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import thread_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop.harness import PlannerProxy, bounding, loop_with, push_of
from benchmarks.solver.case import VARIANTS, mpc_cases
from benchmarks.solver.iteration import ITERATION, ours
from benchmarks.timing import Progress, Spread, interleave
from contact_ddp_ros.base.choices import WHOLE_BODY
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.ocp.solution import Iteration
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

_DIGITS = 4
"""Digits of a cost, so that it is the same in a journal as in memory."""

_PUSH = push_of(4.0, (1.0, 0.0), 3.0)

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
        """Cost of a variant's iteration without backtracking."""
        return self.partials + (self.flat_sweep if variant == "ilqr" else self.curved_sweep) + self.rollout

    def spent(self, iterations: Sequence[Iteration]) -> float:
        """Cost of a solve, its first rollout included, which its first iteration counts."""
        return sum(
            self.partials
            + one.second_order_sweeps * self.curved_sweep
            + one.gauss_newton_sweeps * self.flat_sweep
            + one.rollouts * self.rollout
            for one in iterations
        )


@dataclass(frozen=True)
class Budget:
    """Budget of a planner per solve, on average.

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
        """Share of the budget, over all periods of the bound; NaN before the first."""
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


@dataclass(frozen=True)
class InLoop:
    """Work of the solver in one run.

    Attributes:
        variant: of the solver. solves: number of those counted, which are those of the bound.
        iterations: per solve. sweeps, rollouts: per iteration.
        full_curvature: share of the iterations with θ = 1.
        times: (solves,) processor time of each whole call of the planner [s].
    """

    variant: str
    solves: int
    iterations: float
    sweeps: float
    rollouts: float
    full_curvature: float
    times: Array


class OverheardPlanner(PlannerProxy):
    """A planner that remembers what it did during the bound."""

    def __init__(self, planner: Any) -> None:
        super().__init__(planner)
        self.results: list[PlanResult] = []
        self.times: list[float] = []

    def solve(self, state: RobotState, speed: float, **options: Any) -> PlanResult:
        """One plan of the bound."""
        started = thread_time()
        result = super().solve(state, speed, **options)
        self.times.append(thread_time() - started)
        self.results.append(result)
        return result


def measure_in_loop(duration: float, variants: Iterable[str], progress: Progress | None = None) -> dict[str, InLoop]:
    """A run of some simulated seconds with each variant, in turns of a control tick."""
    loops, planners = {}, {}
    for name in variants:
        options = bounding({}, duration=duration, variant=name, pushes=(_PUSH,))
        loops[name], planners[name] = loop_with(options, OverheardPlanner)
    time = 0.0
    while time < duration - 1e-9:
        for loop in loops.values():
            loop.tick()
        time = min(loop.plant.time for loop in loops.values())
        if progress is not None:
            progress(min(time / duration, 1.0))
    return {name: _summary(name, planner) for name, planner in planners.items()}


def time_ratio(one: InLoop, other: InLoop) -> Spread:
    """Ratio of the times of simultaneous solves."""
    both = min(one.times.size, other.times.size)
    return Spread.of_ratio(one.times[:both], other.times[:both])


def _summary(variant: str, planner: OverheardPlanner) -> InLoop:
    iterations = [iteration for result in planner.results for iteration in result.iterations]
    return InLoop(
        variant=variant,
        solves=len(planner.results),
        iterations=len(iterations) / max(len(planner.results), 1),
        sweeps=float(np.mean([one.sweeps for one in iterations])),
        rollouts=float(np.mean([one.rollouts for one in iterations])),
        full_curvature=float(np.mean([one.hessian_blend == 1.0 for one in iterations])),
        times=np.array(planner.times),
    )


@dataclass(frozen=True)
class Limit:
    """Where an outcome changes.

    Attributes:
        held: largest level that was survived; the lower end of the search where none was.
        lost: smallest level above it that was not; None where the upper end was survived.
        tried: (level, survived) in the order of the trials.
    """

    held: float
    lost: float | None
    tried: tuple[tuple[float, bool], ...]


def search(held: Callable[[float], bool], low: float, high: float, evaluations: int) -> Limit:
    """Try `high` and, unless it is survived, halve the interval from `low`, taken as survived, so many times.

    Survival need not be monotonic in truth; what is found then is one of the levels at which it changes.
    """
    if held(high):
        return Limit(high, None, ((high, True),))
    below, above, tried = low, high, [(high, False)]
    for _ in range(evaluations):
        level = 0.5 * (below + above)
        survived = held(level)
        tried.append((level, survived))
        below, above = (level, above) if survived else (below, level)
    return Limit(below, above, tuple(tried))
