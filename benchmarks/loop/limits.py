"""`contact-ddp bench limits`: plans outside a hard limit, by the interior point beside relaxed barriers.

Random runs of some seconds, each with both methods (`planner.constraint.method`), which take turns tick by tick: worlds
as the random mixtures of `bench world`, a command that changes, and a push. A plan is outside where an inequality is
violated by more than 10⁻⁶ of its scale. Those of the loop have few iterations; one of 25, and each one that is outside,
is carried on from where it is until it converges, so that it is known whether more iterations bring it inside, or its
measured state cannot keep the limit. The exit code is 0 where no converged plan of the interior point is outside.
"""

import argparse
import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.benchmark import Findings, add_seed, count
from benchmarks.loop.budget import OverheardPlanner
from benchmarks.loop.harness import STANDING, bounding, cases, changed, loop_with, push_of
from benchmarks.loop.world import Unlike, mixture
from benchmarks.output import Metric, table_of
from benchmarks.study import Study
from benchmarks.timing import Spread, paired
from contact_ddp_ros.base.choices import CONSTRAINTS, INTERIOR_POINT, PENALTIES
from contact_ddp_ros.base.config import replace
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.ocp.solution import Termination
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import SENSOR_ERRORS
from contact_ddp_ros.runs.report.panels import bars
from contact_ddp_ros.runs.report.style import FOOT_COLOURS, figure
from contact_ddp_ros.runs.study.study import Case, Figures, Group, Proportion, share, wilson

DURATION = 3.5
"""Duration of a run, of which it stands for the first half second [s]."""

BOUNDS = (1e-6, 1e-2)
"""A plan is outside an inequality beyond these, relative to its scale."""

HEIGHTS = (1e-6, 1e-3)
"""A plan's touchdown is off by more than these [m]."""

EVERY = 25
"""One plan of so many is carried on until it converges, and every one that is outside."""

_CARRIED = 100
"""Iterations that this may take."""

Limits = dict[str, list[float]]
"""Largest violation and its node by kind of limit, relative to its scale; those beyond the first bound."""

ANY, TOUCHDOWN = "any inequality", "touchdown height"
"""Limits of a table besides the inequalities' own kinds."""

SLOWER = 1.2
"""Largest ratio of the time of a solve that is allowed, hard over relaxed."""


LOOP, SETTLED = "in the loop", "converged"
"""Plans as they are followed, and plans that were carried on until they converged."""


class WatchedPlanner(OverheardPlanner):
    """A planner whose plans outside an inequality are kept; a copy of it carries plans on.

    Attributes:
        outside: of each plan outside an inequality the `time` [s], whether its solve `converged`, its `limits`, those
            of the plan that is `carried` on, and whether that has `settled`.
        carried: one plan of EVERY, carried on.
    """

    def __init__(self, planner: Any) -> None:
        super().__init__(planner)
        self.outside: list[dict[str, Any]] = []
        self.carried: list[PlanResult] = []

    def solve(self, state: RobotState, speed: float, **options: Any) -> PlanResult:
        """One plan of the bound."""
        result = super().solve(state, speed, **options)
        beyond, sampled = _violations(result), len(self.results) % EVERY == 0
        if not beyond and not sampled:
            return result
        twin = copy.deepcopy(self.planner)
        twin.configure(replace(twin.config, {"iterations": _CARRIED}))
        more: PlanResult = twin.plan(state, speed, hold=False, **options)
        if beyond:
            plan = {"time": state.time, "converged": _converged(result), "limits": beyond}
            self.outside.append({**plan, "carried": _violations(more), "settled": _converged(more)})
        if sampled:
            self.carried.append(more)
        return result

    def side(self, fall: str) -> dict[str, Any]:
        """Figures of one method in a run.

        `fall`, numbers of `plans` and of those that `converged` or had `further` iterations than others, `landings`
        that are off by more than each of HEIGHTS, plans `outside`, the same of those carried on until they had
        `settled`, and the median processor `time` of a solve [s].
        """
        settled = [one for one in self.carried if _converged(one)]
        usual = self.planner.config.iterations
        return {
            "fall": fall,
            "plans": len(self.results),
            "converged": sum(_converged(one) for one in self.results),
            "further": sum(len(one.iterations) > usual and not one.cold for one in self.results),
            "landings": _landings(self.results),
            "outside": self.outside,
            "settled": {
                "carried": len(self.carried),
                "plans": len(settled),
                "landings": _landings(settled),
                "outside": [limits for limits in map(_violations, settled) if limits],
            },
            "time": float(np.median(self.times)) if self.times else None,
        }


def _landings(results: Sequence[PlanResult]) -> list[int]:
    return [sum(one.touchdown_error > height for one in results) for height in HEIGHTS]


def _converged(result: PlanResult) -> bool:
    return result.status == Termination.CONVERGED.name


def _violations(result: PlanResult) -> Limits:
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
    return {**mixture(seed, k, DURATION), **own, **steering}


def runs(options: argparse.Namespace) -> list[Case]:
    """All runs, without the method."""
    number = 4 if options.quick else options.runs
    own = {**SENSOR_ERRORS, "controller.stand.ramp_time": STANDING, **dict(options.set)}
    unlike = {f"#{k}": random_run(options.seed, k) for k in range(number)}
    return cases(bounding(own, duration=DURATION), {"random": unlike})


def run(case: Case) -> Figures:
    """Both methods in one run, tick by tick, each until it falls, and the median ratio of simultaneous solves."""
    loops, planners, falls = {}, {}, dict.fromkeys(CONSTRAINTS, "")
    for method in CONSTRAINTS:
        options = changed(case.options, {"planner.constraint.method": method})
        loops[method], planners[method] = loop_with(options, WatchedPlanner)
    duration, ticking = case.options.duration, True
    while ticking:
        ticking = False
        for method, loop in loops.items():
            if not falls[method] and loop.plant.time < duration - 1e-9:
                falls[method], ticking = _tick(loop), True
    hard, relaxed = (np.array(planners[method].times) for method in (INTERIOR_POINT, PENALTIES))
    both = min(hard.size, relaxed.size)
    ratio = float(np.median(hard[:both] / relaxed[:both])) if both else None
    sides = {method: planners[method].side(falls[method]) for method in CONSTRAINTS}
    return {"fall": "", "sides": sides, "ratio": ratio}


def _tick(loop: ClosedLoop) -> str:
    """One tick; why the run ends with it, or nothing."""
    try:
        loop.tick()
    except ContactDdpError as error:
        return f"failed: {error}"
    fault = loop.controller.fault
    return "" if fault is None else f"{fault.time:.2f} s: {fault}"


@dataclass(frozen=True)
class Tally:
    """Plans of all runs with one method that are outside one kind of limit.

    Attributes:
        method, limit: names.
        plans: how many there are, by LOOP and SETTLED.
        beyond: by the same, how many are outside by more than the two bounds.
    """

    method: str
    limit: str
    plans: dict[str, int]
    beyond: dict[str, list[int]]

    def part(self, kind: str, index: int) -> Proportion:
        """Share of the plans of a kind that are beyond bound number `index`."""
        return wilson(self.beyond[kind][index], self.plans[kind])


def tallies(found: Sequence[Figures]) -> list[Tally]:
    """By method: any inequality, each kind of them, touchdown heights."""
    outside = {method: _outside(_sides(found, method)) for method in CONSTRAINTS}
    names = sorted({limit for own in outside.values() for all_ in own.values() for limits in all_ for limit in limits})
    rows = []
    for method in CONSTRAINTS:
        own = {LOOP: _sides(found, method), SETTLED: [one["settled"] for one in _sides(found, method)]}
        plans = {kind: sum(one["plans"] for one in sides) for kind, sides in own.items()}
        for limit in (ANY, *names):
            beyond = {kind: _beyond(all_, limit) for kind, all_ in outside[method].items()}
            rows.append(Tally(method, limit, plans, beyond))
        landings = {kind: [sum(one["landings"][i] for one in sides) for i in range(2)] for kind, sides in own.items()}
        rows.append(Tally(method, TOUCHDOWN, plans, landings))
    return rows


def _sides(found: Sequence[Figures], method: str) -> list[dict[str, Any]]:
    return [one["sides"][method] for one in found]


def _outside(sides: Sequence[Mapping[str, Any]]) -> dict[str, list[Limits]]:
    """The limits of the plans outside; a plan of the loop that converged there counts as both."""
    followed = [one for side in sides for one in side["outside"]]
    settled = [limits for side in sides for limits in side["settled"]["outside"]]
    return {
        LOOP: [one["limits"] for one in followed],
        SETTLED: settled + [one["limits"] for one in followed if one["converged"]],
    }


def _beyond(outside: Sequence[Limits], limit: str) -> list[int]:
    none = [0.0, 0.0]
    amounts = [max(limits.values())[0] if limit == ANY else limits.get(limit, none)[0] for limits in outside]
    return [sum(amount > bound for amount in amounts) for bound in BOUNDS]


def _cell(part: Proportion) -> str:
    """Number and share in per cent, with its interval."""
    if not part.trials:
        return "none made"
    return f"{part.successes} ({100 * part.share:.3f} %, {100 * part.lower:.3f} to {100 * part.upper:.3f})"


def table(rows: Sequence[Tally]) -> Table:
    """Plans outside by method and limit, with 95 % intervals."""
    columns = {"method": lambda row: row.method.replace("_", " "), "limit": lambda row: row.limit} | {
        f"{kind}, > {word}": lambda row, kind=kind, index=index: _cell(row.part(kind, index))  # type: ignore[misc]
        for kind in (LOOP, SETTLED)
        for index, word in enumerate(f"{bound:g}" for bound in BOUNDS)
    }
    return table_of("Plans outside a limit", rows, columns, whole_names=False, text=True)


def run_table(found: Sequence[Figures]) -> Table:
    """By method: runs, falls, plans, plans outside and what became of them when carried on, time of a solve."""

    def standing(method: str) -> str:
        held = share(not one["fall"] for one in _sides(found, method))
        return f"{held.successes} ({held.percent})"

    def carried(method: str) -> str:
        outside = [one for side in _sides(found, method) for one in side["outside"]]
        inside, settled = sum(not one["carried"] for one in outside), sum(one["settled"] for one in outside)
        return f"{len(outside)}: {inside} inside, {settled} converged"

    def sampled(method: str) -> str:
        own = [side["settled"] for side in _sides(found, method)]
        return f"{sum(one['carried'] for one in own)}: {sum(one['plans'] for one in own)} converged"

    def time(method: str) -> str:
        times = [1e3 * side["time"] for side in _sides(found, method) if side["time"] is not None]
        return f"{Spread.of(times).median:.2f} ms" if times else "–"

    columns: dict[str, Callable[[str], object]] = {
        "method": lambda method: method.replace("_", " "),
        "runs": lambda _: len(found),
        "without a fall (95 %)": standing,
        "plans": lambda method: sum(side["plans"] for side in _sides(found, method)),
        "with further iterations": lambda method: sum(side["further"] for side in _sides(found, method)),
        "outside, carried on": carried,
        "one of 25, carried on": sampled,
        "solve, median": time,
    }
    return table_of("Runs", CONSTRAINTS, columns, whole_names=False, text=True)


def draw(rows: Sequence[Tally], path: Path) -> None:
    """Draw the shares of the loop's plans that are outside each limit, with their intervals."""
    with figure(path, 9.0, 0.42 * len(rows) + 1.4, "Plans of the loop outside a limit") as drawn:
        for index, (axes, bound) in enumerate(zip(drawn.subplots(1, 2), BOUNDS, strict=True)):
            parts = {f"{one.limit}, {one.method.replace('_', ' ')}": one.part(LOOP, index) for one in rows}
            parts = {name: part for name, part in parts.items() if TOUCHDOWN not in name}
            colours = [FOOT_COLOURS["interior" in name] for name in parts]
            intervals = [(100 * one.lower, 100 * one.upper) for one in parts.values()]
            bars(axes, {name: 100 * one.share for name, one in parts.items()}, colours, intervals, size=7)
            axes.set_xlabel(f"by more than {bound:g} of its scale [%], line: 95 % interval")


def metrics(found: Sequence[Figures], rows: Sequence[Tally]) -> list[Metric]:
    """The figures that have targets."""
    hard = next(row for row in rows if row.method == INTERIOR_POINT and row.limit == ANY)
    ratios = [one["ratio"] for one in found if one["ratio"] is not None]
    figures = [Metric("converged plans outside an inequality, interior point", hard.beyond[SETTLED][0], 0.0)]
    if ratios:
        figures.append(Metric("time of a solve, interior point / relaxed barriers", Spread.of(ratios), SLOWER))
    return figures


def report(groups: Sequence[Group], options: argparse.Namespace) -> Findings:
    """Tallies of the plans outside; the exit code is 0 where no converged one of the interior point is."""
    (group,) = groups
    rows, targets = tallies(group.figures), metrics(group.figures, tallies(group.figures))
    falls = [[not one["fall"] for one in _sides(group.figures, method)] for method in (INTERIOR_POINT, PENALTIES)]
    against = paired(*falls)
    return Findings(
        results={"tallies": rows, "bounds": BOUNDS, "heights": HEIGHTS, "held": against},
        title="Hard limits",
        metrics=targets,
        tables=[run_table(group.figures), table(rows)],
        remarks=[
            f"Held by the interior point only: {against.first} runs, by relaxed barriers only: {against.second} "
            f"(sign test: p = {against.p_value:.2g}). Touchdown heights count beyond {HEIGHTS[0]:g} and "
            f"{HEIGHTS[1]:g} m."
        ],
        drawings={"limits.png": lambda path: draw(rows, path)},
        exit_code=0 if targets[0].met else 1,
    )


BENCHMARK = Study(runs, run, report).benchmark(
    "limits", __doc__, "4 runs", count("--runs", 1000, "random runs"), add_seed
)
