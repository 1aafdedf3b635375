"""`contact-ddp bench limits`: plans outside a hard limit, by the interior point beside relaxed barriers.

Random runs of some seconds, each with both methods (`planner.constraint.method`), which take turns tick by tick: worlds
as the random mixtures of `bench world`, a command that changes, and a push. A plan is outside where an inequality is
violated by more than 10⁻⁶ of its scale. Those of the loop have few iterations; one of 25, and each one that is outside,
is carried on from where it is until it converges, so that it is known whether more iterations bring it inside, or its
measured state cannot keep the limit. The exit code is 0 where no converged plan of the interior point is outside.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, add_seed, add_setting_option, count
from benchmarks.engine import add_engine_options, journalled
from benchmarks.loop.limit_runs import BOUNDS, HEIGHTS, Compared, Limits, Side, run, runs
from benchmarks.output import Metric, table_of
from benchmarks.timing import Spread
from contact_ddp_ros.base.choices import CONSTRAINTS, INTERIOR_POINT, PENALTIES
from contact_ddp_ros.runs.report.panels import bars
from contact_ddp_ros.runs.report.style import FOOT_COLOURS, figure
from contact_ddp_ros.runs.study.statistics import Proportion, paired, share, wilson

ANY, TOUCHDOWN = "any inequality", "touchdown height"
"""Limits of a table besides the inequalities' own kinds."""

SLOWER = 1.2
"""Largest ratio of the time of a solve that is allowed, hard over relaxed."""


LOOP, SETTLED = "in the loop", "converged"
"""Plans as they are followed, and plans that were carried on until they converged."""


@dataclass(frozen=True)
class Tally:
    """Plans of all runs with one method that are outside one kind of limit.

    Attributes:
        method, limit: which.
        plans: how many there are, by LOOP and SETTLED.
        beyond: by the same, how many are outside by more than the two bounds.
    """

    method: str
    limit: str
    plans: dict[str, int]
    beyond: dict[str, list[int]]

    def part(self, kind: str, index: int) -> Proportion:
        """Of the plans of a kind those beyond bound number `index`."""
        return wilson(self.beyond[kind][index], self.plans[kind])


def tallies(found: Sequence[Compared]) -> list[Tally]:
    """By method: any inequality, each kind of them, touchdown heights."""
    sides = {method: [run.sides[method] for run in found] for method in CONSTRAINTS}
    outside = {method: _outside(own) for method, own in sides.items()}
    every = [limits for of_method in outside.values() for own in of_method.values() for limits in own]
    names = sorted({limit for limits in every for limit in limits})
    rows = []
    for method, own in sides.items():
        plans = {LOOP: sum(one.plans for one in own), SETTLED: sum(one.settled.plans for one in own)}
        for limit in (ANY, *names):
            rows.append(
                Tally(method, limit, plans, {kind: _beyond(all_, limit) for kind, all_ in outside[method].items()})
            )
        landings = {
            LOOP: [sum(one.landings[i] for one in own) for i in range(2)],
            SETTLED: [sum(one.settled.landings[i] for one in own) for i in range(2)],
        }
        rows.append(Tally(method, TOUCHDOWN, plans, landings))
    return rows


def _outside(sides: Sequence[Side]) -> dict[str, list[Limits]]:
    """The limits of the plans outside; a plan of the loop that converged there counts as both."""
    followed = [one for side in sides for one in side.outside]
    settled = [limits for side in sides for limits in side.settled.outside]
    return {
        LOOP: [one.limits for one in followed],
        SETTLED: settled + [one.limits for one in followed if one.converged],
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


def run_table(found: Sequence[Compared]) -> Table:
    """By method: runs, falls, plans, plans outside and what became of them when carried on, time of a solve."""
    columns = {
        "method": lambda method: method.replace("_", " "),
        "runs": lambda _: len(found),
        "without a fall (95 %)": lambda method: _standing(found, method),
        "plans": lambda method: sum(run.sides[method].plans for run in found),
        "with further iterations": lambda method: sum(run.sides[method].further for run in found),
        "outside, carried on": lambda method: _carried(found, method),
        "one of 25, carried on": lambda method: _sampled(found, method),
        "solve, median": lambda method: f"{1e3 * Spread.of([run.sides[method].time for run in found]).median:.2f} ms",
    }
    return table_of("Runs", CONSTRAINTS, columns, whole_names=False, text=True)


def _standing(found: Sequence[Compared], method: str) -> str:
    standing = share(not run.sides[method].fall for run in found)
    return f"{standing.successes} ({standing.percent})"


def _carried(found: Sequence[Compared], method: str) -> str:
    outside = [one for run in found for one in run.sides[method].outside]
    inside, settled = sum(not one.carried for one in outside), sum(one.settled for one in outside)
    return f"{len(outside)}: {inside} inside, {settled} converged"


def _sampled(found: Sequence[Compared], method: str) -> str:
    carried, settled = (sum(getattr(run.sides[method].settled, name) for run in found) for name in ("carried", "plans"))
    return f"{carried}: {settled} converged"


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


def metrics(found: Sequence[Compared], rows: Sequence[Tally]) -> list[Metric]:
    """The figures that have targets."""
    hard = next(row for row in rows if row.method == INTERIOR_POINT and row.limit == ANY)
    ratios = [run.ratio for run in found if run.ratio == run.ratio]
    figures = [Metric("converged plans outside an inequality, interior point", hard.beyond[SETTLED][0], 0.0)]
    if ratios:
        figures.append(Metric("time of a solve, interior point / relaxed barriers", Spread.of(ratios), SLOWER))
    return figures


def _measure(run_of: Run) -> Findings:
    options = run_of.options
    number = 4 if options.quick else options.runs
    overrides = dict(options.set)
    settings = {"runs": number, "seed": options.seed, "overrides": overrides, "bounds": BOUNDS, "heights": HEIGHTS}
    items = runs(number, options.seed, overrides)
    raw: list[dict[str, Any]] = journalled(run, items, run_of, settings, dict)
    found = [Compared.read(**one) for one in raw]
    rows = tallies(found)
    falls = {method: [not run.sides[method].fall for run in found] for method in (INTERIOR_POINT, PENALTIES)}
    against = paired(*falls.values())
    return Findings(
        settings=settings,
        results={
            "tallies": rows,
            "runs": {item.name: one for item, one in zip(items, raw, strict=True)},
            "falls": {"interior_point_only_held": against.first, "penalties_only_held": against.second},
        },
        title="Hard limits",
        metrics=metrics(found, rows),
        tables=[run_table(found), table(rows)],
        remarks=[
            f"Held by the interior point only: {against.first} runs, by relaxed barriers only: {against.second} "
            f"(sign test: p = {against.p_value:.2g}). Touchdown heights count beyond {HEIGHTS[0]:g} and "
            f"{HEIGHTS[1]:g} m."
        ],
        drawings={"limits.png": lambda path: draw(rows, path)},
        exit_code=0 if all(one.met for one in metrics(found, rows)[:1]) else 1,
    )


OPTIONS = (count("--runs", 1000, "random runs"), add_seed, add_engine_options, add_setting_option)

BENCHMARK = Benchmark("limits", __doc__, "4 runs", _measure, OPTIONS, resumable=True)
