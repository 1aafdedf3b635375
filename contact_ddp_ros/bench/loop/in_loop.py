"""What the solver really does in the receding horizon: how often at full curvature, with how many sweeps, at what cost.

The closed loop in lock-step at 0.5 m/s with one push from behind, once with full DDP and once with iLQR.
"""

from dataclasses import dataclass
from time import thread_time
from typing import Any

import numpy as np

from contact_ddp_ros.bench.loop.cases import bounding, push_of
from contact_ddp_ros.bench.loop.harness import PlannerProxy, loop_with
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.robot.state import RobotState

_PUSH = push_of(4.0, (1.0, 0.0), 3.0)


@dataclass(frozen=True)
class InLoop:
    """Of one run.

    Attributes:
        variant: of the solver. solves: how many were counted, those of the bound only.
        iterations: per solve. sweeps, rollouts: per iteration.
        full_curvature: share of the iterations with θ = 1.
        processor_time: median of a whole call of the planner [s].
    """

    variant: str
    solves: int
    iterations: float
    sweeps: float
    rollouts: float
    full_curvature: float
    processor_time: float


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


def measure(duration: float, variant: str) -> InLoop:
    """One run of some simulated seconds."""
    loop, planner = loop_with(bounding({}, duration=duration, variant=variant, pushes=(_PUSH,)), OverheardPlanner)
    loop.run()
    iterations = [iteration for result in planner.results for iteration in result.iterations]
    return InLoop(
        variant=variant,
        solves=len(planner.results),
        iterations=len(iterations) / max(len(planner.results), 1),
        sweeps=float(np.mean([one.sweeps for one in iterations])),
        rollouts=float(np.mean([one.rollouts for one in iterations])),
        full_curvature=float(np.mean([one.hessian_blend == 1.0 for one in iterations])),
        processor_time=float(np.median(planner.times)),
    )
