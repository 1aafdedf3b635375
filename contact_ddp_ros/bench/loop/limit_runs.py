"""Runs of `contact-ddp bench limits`: the same robot with hard and with relaxed limits, and which plans are outside."""

import copy
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from contact_ddp_ros.bench.loop.cases import Case, bounding, cases, changed, push_of
from contact_ddp_ros.bench.loop.harness import STANDING, loop_with
from contact_ddp_ros.bench.loop.in_loop import OverheardPlanner
from contact_ddp_ros.bench.loop.world_rows import Extent, Unlike, mixture
from contact_ddp_ros.closed_loop import ClosedLoop
from contact_ddp_ros.config import replace
from contact_ddp_ros.errors import ContactDdpError
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.options import CONSTRAINTS, INTERIOR_POINT, PENALTIES, SENSOR_NOISE
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.solver.solution import Termination

DURATION = 3.5
"""Of a run, of which it stands for the first half second [s]."""

BOUNDS = (1e-6, 1e-2)
"""A plan is outside an inequality beyond these, relative to its scale."""

HEIGHTS = (1e-6, 1e-3)
"""A plan's touchdown is off by more than these [m]."""

KINDS = {"converged": True, "capped": False}
"""Plans whose solve converged, and those that the number of iterations ended."""

_CARRIED = 100
"""Iterations with which a plan that is outside is carried on."""


@dataclass(frozen=True)
class Outside:
    """A plan outside an inequality.

    Attributes:
        time: when it was made [s]. converged: whether its solve did.
        limits: by kind the largest violation and its node.
        carried: the same after more iterations. settled: whether these converged.
    """

    time: float
    converged: bool
    limits: dict[str, list[float]]
    carried: dict[str, list[float]]
    settled: bool

    @property
    def worst(self) -> float:
        """Over all limits."""
        return max(amount for amount, _ in self.limits.values())


@dataclass(frozen=True)
class Side:
    """What one method made of a run.

    Attributes:
        fall: when and why it fell or failed; empty where it did not.
        plans: of the bound, by kind. landings: by kind, those whose touchdown is off by more than each of HEIGHTS.
        outside: the plans outside an inequality. time: median processor time of its solves [s].
    """

    fall: str = ""
    plans: dict[str, int] = field(default_factory=dict)
    landings: dict[str, list[int]] = field(default_factory=dict)
    outside: list[Outside] = field(default_factory=list)
    time: float = math.nan


@dataclass(frozen=True)
class Compared:
    """Of one run: by method what became of it, and the median ratio of simultaneous solves, hard over relaxed."""

    sides: dict[str, Side]
    ratio: float = math.nan

    @classmethod
    def read(cls, sides: Mapping[str, Mapping[str, Any]], ratio: float | None = None) -> "Compared":
        """As a journal gives it back."""
        own = {
            method: Side(**{**side, "outside": [Outside(**one) for one in side["outside"]]})
            for method, side in sides.items()
        }
        return cls(own, math.nan if ratio is None else ratio)


class WatchedPlanner(OverheardPlanner):
    """A planner whose plans outside an inequality are kept, and carried on by a copy."""

    def __init__(self, planner: Any) -> None:
        super().__init__(planner)
        self.outside: list[Outside] = []

    def solve(self, state: RobotState, speed: float, **options: Any) -> PlanResult:
        """One plan of the bound."""
        result = super().solve(state, speed, **options)
        beyond = _beyond(result)
        if beyond:
            twin = copy.deepcopy(self.planner)
            twin.configure(replace(twin.config, {"iterations": _CARRIED}))
            more = twin.plan(state, speed, hold=False, **options)
            self.outside.append(Outside(state.time, _converged(result), beyond, _beyond(more), _converged(more)))
        return result

    def side(self, fall: str) -> Side:
        """What became of the run."""
        converged = np.array([_converged(one) for one in self.results], dtype=bool)
        errors = np.array([one.touchdown_error for one in self.results])
        return Side(
            fall=fall,
            plans={kind: int((converged == flag).sum()) for kind, flag in KINDS.items()},
            landings={
                kind: [int((errors[converged == flag] > height).sum()) for height in HEIGHTS]
                for kind, flag in KINDS.items()
            },
            outside=self.outside,
            time=float(np.median(self.times)) if self.times else math.nan,
        )


def _converged(result: PlanResult) -> bool:
    return result.status == Termination.CONVERGED.name


def _beyond(result: PlanResult) -> dict[str, list[float]]:
    found = result.violations().items()
    return {kind: [one.amount, one.node] for kind, one in found if one.amount > BOUNDS[0]}


def random_run(seed: int, k: int) -> Unlike:
    """Run number k: the world of a mixture, a command that changes, and a push."""
    rng = np.random.default_rng([seed, k, 2])
    first, then = (float(speed) for speed in rng.uniform(-0.5, 2.0, 2))
    speed = ((0.0, first), (float(rng.uniform(1.0, 2.0)), then))
    push = push_of(rng.uniform(0.0, 8.0), rng.uniform(0.0, 2.0 * math.pi), float(rng.uniform(1.5, 2.2)))
    steering = {"left": float(rng.uniform(-0.2, 0.2)), "turn": float(rng.uniform(-0.5, 0.5))}
    own = {"speed": speed, "pushes": (push,), "friction": float(rng.uniform(0.4, 1.0)), "seed": seed + k}
    return {**mixture(seed, k, Extent(duration=DURATION)), **own, **steering}


def runs(number: int, seed: int, overrides: Mapping[str, Any]) -> list[Case]:
    """All runs, without the method."""
    base = bounding({**SENSOR_NOISE, "controller.stand.ramp_time": STANDING, **overrides}, duration=DURATION)
    return cases(base, {"random": {f"#{k}": random_run(seed, k) for k in range(number)}})


def run(case: Case) -> dict[str, Any]:
    """Both methods in one run, tick by tick, each until it falls: the fields of :class:`Compared`."""
    loops, planners, falls = {}, {}, dict.fromkeys(CONSTRAINTS, "")
    for method in CONSTRAINTS:
        options = changed(case.options, {"planner.constraint.method": method})
        loops[method], planners[method] = loop_with(options, WatchedPlanner)
    duration, ticking = case.options.duration, True
    while ticking:
        ticking = False
        for method, loop in loops.items():
            if not falls[method] and loop.simulator.time < duration - 1e-9:
                falls[method], ticking = _tick(loop), True
    hard, relaxed = (np.array(planners[method].times) for method in (INTERIOR_POINT, PENALTIES))
    both = min(hard.size, relaxed.size)
    ratio = float(np.median(hard[:both] / relaxed[:both])) if both else math.nan
    return asdict(Compared({method: planners[method].side(falls[method]) for method in CONSTRAINTS}, ratio))


def _tick(loop: ClosedLoop) -> str:
    """One tick; why the run ends with it, or nothing."""
    try:
        loop.tick()
    except ContactDdpError as error:
        return f"failed: {error}"
    fault = loop.controller.fault
    return "" if fault is None else f"{fault.time:.2f} s: {fault}"
