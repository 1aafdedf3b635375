"""`contact-ddp bench world`: bounding where the world is not what the plan believes.

Slopes, steps, stairs, boxes, errors and delays of the state, loads, wind, weak motors and random mixtures of them, in
lock-step, spread over the cores. A row holds where no run of it falls (where it is knocked down: where it gets up),
all move at the end, and its figure stays within the target. What chance decides (places, phases, mixtures, sensor
noise) follows from `--seed`.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from contact_ddp_ros.bench.benchmark import Benchmark, Findings, Run, add_setting_option, at_least
from contact_ddp_ros.bench.engine import add_engine_options, chosen_engine, run_all
from contact_ddp_ros.bench.journal import Journal
from contact_ddp_ros.bench.loop.world_rows import QUICK, Extent, Row, WorldRun, rows
from contact_ddp_ros.bench.output import new_table
from contact_ddp_ros.bench.statistics import wilson
from contact_ddp_ros.closed_loop import ClosedLoop
from contact_ddp_ros.errors import ContactDdpError
from contact_ddp_ros.recording.record import CONTROL_MODES
from contact_ddp_ros.report.style import FOOT_COLOURS, LIMIT, figure, name_rows
from contact_ddp_ros.robot.rotation import quaternion_to_rpy

AT_LAST = 2.0
"""It must have moved for so long at the end [s]: a robot that does not begin to does not fall, either."""

SETTLED = 5.0
"""Figures count from here on [s]."""


@dataclass(frozen=True)
class WorldOutcome:
    """What became of it: why it fell or failed, and figures after SETTLED [m/s, m, rad]."""

    row: str
    fall: str = ""
    speed: float = math.nan
    side: float = math.nan
    line: float = math.nan
    roll: float = math.nan
    lateral: float = math.nan


def run(item: WorldRun) -> dict[str, Any]:
    """Run one closed loop and look at what became of it: the fields of a WorldOutcome."""
    return asdict(_outcome(item))


def _outcome(item: WorldRun) -> WorldOutcome:
    try:
        loop = ClosedLoop(item.options)
        loop.controller.steer(item.turn, item.lateral)
        ticks = (recording := loop.run()).ticks
    except ContactDdpError as error:
        return WorldOutcome(item.row, f"failed: {error}")
    fault = next((event for event in recording.events if event.fault), None)
    if fault is not None and not item.options.recover:
        return WorldOutcome(item.row, f"{fault.time:.2f} s: {fault.text}")
    at_last = ticks["control_mode"][ticks["time"] > item.options.duration - AT_LAST]
    if (at_last != CONTROL_MODES.index("move")).any():
        return WorldOutcome(item.row, f"not moving: {fault.text if fault else loop.controller.waiting_for}")
    late = ticks["time"] >= min(SETTLED, 0.6 * item.options.duration)
    time, position = ticks["time"][late], ticks["position"][late]
    velocity = (position[-1, :2] - position[0, :2]) / (time[-1] - time[0])
    commanded = item.options.speed_at(float(time[-1]))
    roll = np.array([quaternion_to_rpy(one)[0] for one in ticks["orientation"][late]])
    return WorldOutcome(
        item.row,
        speed=abs(float(velocity[0]) - commanded) / commanded,
        side=abs(float(velocity[1])),
        line=float(np.abs(position[:, 1]).max()),
        roll=abs(float(roll.mean())),
        lateral=abs(float(ticks["linear_velocity"][late, 1].mean()) - item.lateral),
    )


def held(row: Row, outcomes: Sequence[WorldOutcome]) -> bool:
    """Whether no run fell and the figure stays within its target."""
    if any(one.fall for one in outcomes):
        return False
    return row.figure is None or all(getattr(one, row.figure.name) <= row.figure.target for one in outcomes)


def _table(found: Sequence[tuple[Row, Sequence[WorldOutcome]]]) -> Table:
    table = new_table("Worlds", "row", "runs", "held", "95 %", "figure", "target", whole_names=True)
    table.add_column("")
    for row, outcomes in found:
        standing = sum(not one.fall for one in outcomes)
        interval = wilson(standing, len(outcomes))
        figure_text = target = ""
        if row.figure is not None:
            values = [getattr(one, row.figure.name) for one in outcomes if not one.fall]
            figure_text = f"{row.figure.name} {max(values, default=math.nan):.3f} {row.figure.unit}".rstrip()
            target = f"{row.figure.target:g} {row.figure.unit}".rstrip()
        first = next((one.fall for one in outcomes if one.fall), "")
        verdict = "[green]held[/]" if held(row, outcomes) else f"[red]{first or 'beyond its target'}[/]"
        bounds = f"{100 * interval.lower:.0f} to {100 * interval.upper:.0f} %"
        table.add_row(row.name, str(len(outcomes)), str(standing), bounds, figure_text, target, verdict)
    return table


def draw(found: Sequence[tuple[Row, Sequence[WorldOutcome]]], path: Path) -> None:
    """Draw the share of runs without a fall, with its interval, row by row."""
    with figure(path, 9.0, 0.28 * len(found) + 1.2, "Bounding in worlds that the plan does not know") as drawn:
        axes = drawn.subplots()
        for k, (row, outcomes) in enumerate(found):
            standing = wilson(sum(not one.fall for one in outcomes), len(outcomes))
            colour = FOOT_COLOURS[0] if held(row, outcomes) else LIMIT
            axes.barh(k, 100 * standing.share, color=colour, height=0.6)
            axes.plot([100 * standing.lower, 100 * standing.upper], [k, k], color="black", linewidth=1.0)
        name_rows(axes, [row.name for row, _ in found], size=8)
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
    with Journal.begin_or_resume(
        run_of.folder, {**settings, "only": options.only}, resume=options.resume is not None
    ) as journal:
        outcomes = [
            WorldOutcome(**one) for one in run_all(run, items, chosen_engine(options), run_of.terminal, journal)
        ]
    found, begin = [], 0
    for row in wanted:
        found.append((row, outcomes[begin : begin + len(row.runs)]))
        begin += len(row.runs)
    return Findings(
        settings=settings,
        results={row.name: {"held": held(row, own), "outcomes": [asdict(one) for one in own]} for row, own in found},
        tables=[_table(found)],
        drawings={"world.png": lambda path: draw(found, path)},
        exit_code=0 if all(held(row, own) for row, own in found) else 1,
    )


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", action="append", metavar="WORD", help="rows whose names hold a word; repeatable")
    parser.add_argument("--seeds", type=at_least(1), default=Extent.seeds, metavar="N", help="of random grounds")
    parser.add_argument("--mixtures", type=at_least(1), default=Extent.mixtures, metavar="N", help="random mixtures")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all that is random (default: 0)")
    add_engine_options(parser)
    add_setting_option(parser)


BENCHMARK = Benchmark("world", __doc__, "one run of each row, shorter", _measure, _add_options, resumable=True)
