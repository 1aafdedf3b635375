"""`contact-ddp bench world`: bounding where the world is not what the plan believes.

Slopes, steps, stairs, boxes, errors and delays of the state, loads, wind, weak motors and random mixtures of them, in
lock-step, spread over the cores. A row holds where no run of it falls (where it is knocked down: where it gets up),
all move at the end, and its figure stays within the target. What chance decides (places, phases, mixtures, sensor
noise) follows from `--seed`.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, add_seed, add_setting_option, count, option
from benchmarks.engine import add_engine_options, journalled
from benchmarks.loop.cases import Case
from benchmarks.loop.harness import moved, settled
from benchmarks.loop.world_rows import QUICK, Extent, Row, rows
from benchmarks.output import table_of
from contact_ddp_ros.runs.report.panels import bars
from contact_ddp_ros.runs.report.style import FOOT_COLOURS, LIMIT, figure
from contact_ddp_ros.runs.study.statistics import grouped, share

AT_LAST = 2.0
"""It must have moved for so long at the end [s]."""


@dataclass(frozen=True)
class WorldOutcome:
    """What became of it: why it fell or failed, and figures of the settled motion [m/s, m, rad]."""

    row: str
    fall: str = ""
    speed: float = math.nan
    side: float = math.nan
    line: float = math.nan
    roll: float = math.nan
    lateral: float = math.nan


Found = tuple[Row, Sequence[WorldOutcome]]


def run(item: Case) -> WorldOutcome:
    """Run one closed loop and look at what became of it."""
    recording, fall = moved(item.options, AT_LAST)
    if recording is None or fall:
        return WorldOutcome(item.group, fall)
    ticks, late = recording.ticks, settled(recording)
    time, position = ticks["time"][late], ticks["position"][late]
    velocity = (position[-1, :2] - position[0, :2]) / (time[-1] - time[0])
    commanded = item.options.speed_at(float(time[-1]))
    return WorldOutcome(
        item.group,
        speed=abs(float(velocity[0]) - commanded) / commanded,
        side=abs(float(velocity[1])),
        line=float(np.abs(position[:, 1]).max()),
        roll=abs(float(recording.rpy[late, 0].mean())),
        lateral=abs(float(ticks["linear_velocity"][late, 1].mean()) - item.options.left),
    )


def held(row: Row, outcomes: Sequence[WorldOutcome]) -> bool:
    """Whether no run fell and the figure stays within its target."""
    if any(one.fall for one in outcomes):
        return False
    return row.figure is None or all(getattr(one, row.figure.name) <= row.figure.target for one in outcomes)


def _figure(found: Found) -> str:
    row, outcomes = found
    if row.figure is None:
        return ""
    values = [getattr(one, row.figure.name) for one in outcomes if not one.fall]
    return f"{row.figure.name} {max(values, default=math.nan):.3f} {row.figure.unit}".rstrip()


def _target(found: Found) -> str:
    row, _ = found
    return "" if row.figure is None else f"{row.figure.target:g} {row.figure.unit}".rstrip()


def _verdict(found: Found) -> str:
    first = next((one.fall for one in found[1] if one.fall), "")
    return "[green]held[/]" if held(*found) else f"[red]{first or 'beyond its target'}[/]"


def table(found: Sequence[Found]) -> Table:
    """Row by row: how many runs held, their worst figure, and whether all of it holds."""
    columns = {
        "row": lambda one: one[0].name,
        "runs": lambda one: len(one[1]),
        "held": lambda one: _standing(one).successes,
        "95 %": lambda one: _standing(one).percent,
        "figure": _figure,
        "target": _target,
        "": _verdict,
    }
    return table_of("Worlds", found, columns)


def _standing(found: Found) -> Any:
    return share(not one.fall for one in found[1])


def draw(found: Sequence[Found], path: Path) -> None:
    """Draw the share of runs without a fall, with its interval, row by row."""
    standing = {one[0].name: _standing(one) for one in found}
    colours = [FOOT_COLOURS[0] if held(*one) else LIMIT for one in found]
    with figure(path, 9.0, 0.28 * len(found) + 1.2, "Bounding in worlds that the plan does not know") as drawn:
        axes = drawn.subplots()
        intervals = [(100 * one.lower, 100 * one.upper) for one in standing.values()]
        bars(axes, {name: 100 * one.share for name, one in standing.items()}, colours, intervals, size=8)
        axes.set_xlim(0.0, 100.0)
        axes.set_xlabel("runs without a fall [%], line: 95 % interval; red: a fall, or the figure beyond its target")


def _measure(run_of: Run) -> Findings:
    options = run_of.options
    extent = QUICK if options.quick else Extent(seeds=options.seeds, mixtures=options.mixtures)
    wanted = rows(options.seed, extent, dict(options.set))
    if options.only:
        wanted = [row for row in wanted if any(word in row.name for word in options.only)]
    items = [item for row in wanted for item in row.runs]
    settings = {"quick": options.quick, "seed": options.seed, **asdict(extent), "overrides": dict(options.set)}
    outcomes = journalled(run, items, run_of, {**settings, "only": options.only}, WorldOutcome)
    by_row = grouped(outcomes, lambda one: one.row)
    found = [(row, by_row[row.name]) for row in wanted]
    return Findings(
        settings=settings,
        results={row.name: {"held": held(row, own), "outcomes": own} for row, own in found},
        tables=[table(found)],
        drawings={"world.png": lambda path: draw(found, path)},
        exit_code=0 if all(held(row, own) for row, own in found) else 1,
    )


OPTIONS = (
    option("--only", action="append", metavar="WORD", help="rows whose names hold a word; repeatable"),
    count("--seeds", Extent.seeds, "of random grounds"),
    count("--mixtures", Extent.mixtures, "random mixtures"),
    add_seed,
    add_engine_options,
    add_setting_option,
)

BENCHMARK = Benchmark("world", __doc__, "one run of each row, shorter", _measure, OPTIONS, resumable=True)
