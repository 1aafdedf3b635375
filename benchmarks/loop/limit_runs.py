"""Runs of `contact-ddp bench limits`: the same robot with hard and with relaxed limits, and which plans are outside."""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from benchmarks.loop.cases import Case, bounding, cases, changed, push_of
from benchmarks.loop.harness import STANDING, loop_with
from benchmarks.loop.in_loop import OverheardPlanner
from benchmarks.loop.world_rows import Extent, Unlike, mixture
from contact_ddp_ros.base.choices import CONSTRAINTS, INTERIOR_POINT, PENALTIES
from contact_ddp_ros.base.config import replace
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.ocp.solution import Termination
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import SENSOR_NOISE

DURATION = 3.5
"""Of a run, of which it stands for the first half second [s]."""

BOUNDS = (1e-6, 1e-2)
"""A plan is outside an inequality beyond these, relative to its scale."""

HEIGHTS = (1e-6, 1e-3)
"""A plan's touchdown is off by more than these [m]."""

EVERY = 25
"""Of so many plans one is carried on until it converges, and every one that is outside."""

_CARRIED = 100
"""Iterations that this may take."""

Limits = dict[str, list[float]]
"""By kind of limit the largest violation, relative to its scale, and its node; those beyond the first bound."""


@dataclass(frozen=True)
class Outside:
    """A plan outside an inequality.

    Attributes:
        time: when it was made [s]. limits: that it is outside of. converged: whether its solve did.
        carried: the same limits after more iterations. settled: whether these converged.
    """

    time: float
    converged: bool
    limits: Limits
    carried: Limits
    settled: bool


@dataclass(frozen=True)
class Settled:
    """Plans that were carried on until they converged.

    Attributes:
        carried: how many were carried on. plans: how many of them converged.
        landings: of these, whose touchdown is off by more than each of HEIGHTS. outside: limits of those outside.
    """

    carried: int = 0
    plans: int = 0
    landings: list[int] = field(default_factory=lambda: [0, 0])
    outside: list[Limits] = field(default_factory=list)


@dataclass(frozen=True)
class Side:
    """What one method made of a run.

    Attributes:
        fall: when and why it fell or failed; empty where it did not.
        plans, converged: of the bound, and those of them that converged within the iterations of the loop.
        further: plans that had more iterations than others, until hard limits hold.
        landings: plans whose touchdown is off by more than each of HEIGHTS.
        outside: the plans outside an inequality.
        settled: one plan of EVERY, carried on until it converges.
        time: median processor time of a solve [s].
    """

    fall: str = ""
    plans: int = 0
    converged: int = 0
    further: int = 0
    landings: list[int] = field(default_factory=lambda: [0, 0])
    outside: list[Outside] = field(default_factory=list)
    settled: Settled = field(default_factory=Settled)
    time: float = math.nan


@dataclass(frozen=True)
class Compared:
    """Of one run: by method what became of it, and the median ratio of simultaneous solves, hard over relaxed."""

    sides: dict[str, Side]
    ratio: float = math.nan

    @classmethod
    def read(cls, sides: Mapping[str, Mapping[str, Any]], ratio: float | None = None) -> "Compared":
        """As a journal gives it back."""
        return cls({method: _side(side) for method, side in sides.items()}, math.nan if ratio is None else ratio)


def _side(given: Mapping[str, Any]) -> Side:
    outside = [Outside(**one) for one in given["outside"]]
    return Side(**{**given, "outside": outside, "settled": Settled(**given["settled"])})


class WatchedPlanner(OverheardPlanner):
    """A planner whose plans outside an inequality are kept; a copy of it carries plans on."""

    def __init__(self, planner: Any) -> None:
        super().__init__(planner)
        self.outside: list[Outside] = []
        self.carried: list[PlanResult] = []

    def solve(self, state: RobotState, speed: float, **options: Any) -> PlanResult:
        """One plan of the bound."""
        result = super().solve(state, speed, **options)
        beyond, sampled = _beyond(result), len(self.results) % EVERY == 0
        if not beyond and not sampled:
            return result
        twin = copy.deepcopy(self.planner)
        twin.configure(replace(twin.config, {"iterations": _CARRIED}))
        more: PlanResult = twin.plan(state, speed, hold=False, **options)
        if beyond:
            self.outside.append(Outside(state.time, _converged(result), beyond, _beyond(more), _converged(more)))
        if sampled:
            self.carried.append(more)
        return result

    def side(self, fall: str) -> Side:
        """What became of the run."""
        settled = [one for one in self.carried if _converged(one)]
        usual = self.planner.config.iterations
        return Side(
            fall=fall,
            plans=len(self.results),
            converged=sum(_converged(one) for one in self.results),
            further=sum(len(one.iterations) > usual and not one.cold for one in self.results),
            landings=_landings(self.results),
            outside=self.outside,
            settled=Settled(
                carried=len(self.carried),
                plans=len(settled),
                landings=_landings(settled),
                outside=[limits for limits in map(_beyond, settled) if limits],
            ),
            time=float(np.median(self.times)) if self.times else math.nan,
        )


def _landings(results: Sequence[PlanResult]) -> list[int]:
    return [sum(one.touchdown_error > height for one in results) for height in HEIGHTS]


def _converged(result: PlanResult) -> bool:
    return result.status == Termination.CONVERGED.name


def _beyond(result: PlanResult) -> Limits:
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
