"""What the solver really does in the receding horizon: how often at full curvature, with how many sweeps, at what cost.

The closed loop in lock-step at 0.5 m/s with one push from behind, with full DDP and with iLQR. The loops take turns,
tick by tick, so that a slow moment of the machine meets both.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from time import thread_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop.cases import bounding, push_of
from benchmarks.loop.harness import PlannerProxy, loop_with
from benchmarks.timing import Progress, Spread
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

_PUSH = push_of(4.0, (1.0, 0.0), 3.0)


@dataclass(frozen=True)
class InLoop:
    """Of one run.

    Attributes:
        variant: of the solver. solves: how many were counted, those of the bound only.
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


def measure(duration: float, variants: Iterable[str], progress: Progress | None = None) -> dict[str, InLoop]:
    """A run of some simulated seconds with each variant, in turns of a control tick."""
    loops, planners = {}, {}
    for name in variants:
        options = bounding({}, duration=duration, variant=name, pushes=(_PUSH,))
        loops[name], planners[name] = loop_with(options, OverheardPlanner)
    time = 0.0
    while time < duration - 1e-9:
        for loop in loops.values():
            loop.tick()
        time = min(loop.simulator.time for loop in loops.values())
        if progress is not None:
            progress(min(time / duration, 1.0))
    return {name: _summary(name, planner) for name, planner in planners.items()}


def time_ratio(one: InLoop, other: InLoop) -> Spread:
    """Of the times of simultaneous solves."""
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
