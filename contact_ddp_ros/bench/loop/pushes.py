"""`contact-ddp bench pushes`: the push map, the largest impulse that is survived by direction and phase of a gait.

The robot goes at 0.5 m/s on flat ground, bounding or in each of the gaits that are asked for; a force on the trunk
acts for 0.1 s. For each direction and phase the impulses of a ladder are tried from the lowest up to the first that
fells the robot; what it survives counts only where it survives everything below, too. Survived is what neither ends in
a fault nor in anything but going on at its height three seconds later. The interval of a median over phases is that of
resampled phases.
"""

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from contact_ddp_ros.bench.benchmark import Benchmark, Findings, Run, add_setting_option, count, option
from contact_ddp_ros.bench.engine import add_engine_options, journalled
from contact_ddp_ros.bench.loop.cases import PUSH_DURATION, SPEED, bounding, push_of
from contact_ddp_ros.bench.loop.harness import advance
from contact_ddp_ros.bench.output import table_of
from contact_ddp_ros.bench.statistics import Proportion, grouped, median_interval, share
from contact_ddp_ros.closed_loop import ClosedLoop
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.errors import BenchmarkError, ContactDdpError
from contact_ddp_ros.fitting import planner_config, robot_of
from contact_ddp_ros.models.choice import MODELS
from contact_ddp_ros.mpc.config import GaitConfig
from contact_ddp_ros.mpc.reference import gait_schedule
from contact_ddp_ros.recording import FALL_HEIGHT
from contact_ddp_ros.report.charts import heat_map
from contact_ddp_ros.report.style import figure

SETTLED = 3.0
"""The first push begins in the first cycle after this time [s]."""

AFTER = 3.0
"""How long the robot is watched from a push on [s]."""

TARGET = 10.0
"""Impulse that should be survived in every direction at every phase [N s]."""

FIRST_MODE = 0
"""Of the gait's cycle; the bound's is the stance of the back feet."""

LADDER = (4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0)
QUICK_LADDER = (6.0, 10.0, 14.0)
"""Impulses that are tried [N s]."""

_GAIT = "planner.gait.name"


@dataclass(frozen=True)
class CellSearch:
    """One direction [rad, from forward to the left] and phase (share of a cycle): the way up a ladder of impulses."""

    direction: float
    phase: float
    ladder: tuple[float, ...]
    overrides: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Unique in a benchmark."""
        return f"{self.gait}, {math.degrees(self.direction):.0f}° at {self.phase:.3f}"

    @property
    def gait(self) -> str:
        """In which it goes."""
        return str(self.overrides.get(_GAIT, GaitConfig().name))

    @property
    def cost(self) -> float:
        """Simulated time at most [s]."""
        return len(self.ladder) * AFTER

    def holds(self, impulse: float) -> bool:
        """Whether the robot survives an impulse [N s]."""
        loop = _steady(json.dumps(self.overrides)).fork()
        advance(loop, loop.simulator.time + self.phase * period_of(self.overrides))
        push = push_of(impulse, self.direction, loop.simulator.time)
        loop.simulator.push(np.array(push.force), push.duration)
        try:
            advance(loop, loop.simulator.time + AFTER)
        except ContactDdpError:
            return False
        up = loop.simulator.true_state().position[2] >= FALL_HEIGHT
        return bool(up) and loop.controller.fault is None and loop.controller.mode is ControlMode.MOVE


def period_of(overrides: Mapping[str, Any]) -> float:
    """Duration of a cycle of the gait that some parameters choose [s]."""
    options = bounding(overrides)
    config = planner_config(options, robot_of(options))
    return gait_schedule(MODELS[config.model], config.gait).period


@cache
def _steady(overrides: str) -> ClosedLoop:
    """A loop that moves steadily, at the beginning of a cycle."""
    chosen = json.loads(overrides)
    loop = ClosedLoop(bounding(chosen, duration=60.0))
    advance(loop, SETTLED)
    modes = [_mode(loop)] * 2
    while not modes[0] > modes[1] == FIRST_MODE:
        if loop.controller.fault is not None or loop.simulator.time > SETTLED + 2.0 * period_of(chosen):
            raise BenchmarkError(f"it does not move before anything happens: {loop.controller.fault}")
        loop.tick()
        modes = [modes[1], _mode(loop)]
    return loop


def _mode(loop: ClosedLoop) -> int:
    """Which mode of the gait the policy is in; -1 where none is followed."""
    sample = loop.controller.sample(loop.simulator.time)
    return -1 if sample is None else sample.mode


def run(search: CellSearch) -> dict[str, float | None]:
    """The largest impulse `held` below which all are (0 where none is), and the one that was `lost` after it [N s]."""
    held = 0.0
    for impulse in search.ladder:
        if not search.holds(impulse):
            return {"held": held, "lost": impulse}
        held = impulse
    return {"held": held, "lost": None}


@dataclass(frozen=True)
class PushMap:
    """What was found of one gait.

    Attributes:
        directions: (D,) [rad]. phases: (P,) shares of a cycle.
        held: (D, P) largest impulse that was survived, with all below it [N s]. ladder: the impulses tried [N s].
    """

    gait: str
    directions: NDArray[np.float64]
    phases: NDArray[np.float64]
    held: NDArray[np.float64]
    ladder: tuple[float, ...]


def searches(directions: int, phases: int, ladder: tuple[float, ...], overrides: dict[str, Any]) -> list[CellSearch]:
    """All of a map, direction by direction."""
    return [
        CellSearch(2.0 * math.pi * k / directions, phase / phases, ladder, overrides)
        for k in range(directions)
        for phase in range(phases)
    ]


def table(maps: Sequence[PushMap]) -> Table:
    """Gait by gait and direction by direction: worst, median and best of the phases, how many survive the target."""

    def largest(value: float, found: PushMap) -> str:
        return f"{value:.1f}" if value < found.ladder[-1] else f"≥ {value:.1f}"

    def median(row: Any) -> str:
        found, _, held = row
        low, high = median_interval(held)
        return f"{largest(float(np.median(held)), found)} ({low:.1f} to {high:.1f})"

    def of_target(one: Proportion) -> str:
        return f"{one.successes} of {one.trials} ({one.percent})"

    columns = {
        "gait": lambda row: row[0].gait,
        "direction": lambda row: row[1],
        "worst": lambda row: largest(row[2].min(), row[0]),
        "median (95 %)": median,
        "best": lambda row: largest(row[2].max(), row[0]),
        f"cells that survive {TARGET:g} N s (95 %)": lambda row: of_target(share(row[2].ravel() >= TARGET)),
    }
    rows = []
    for found in maps:
        degrees = (f"{math.degrees(direction):.0f}°" for direction in found.directions)
        rows += [(found, name, held) for name, held in zip(degrees, found.held, strict=True)]
        rows.append((found, "all", found.held))
    return table_of("Largest impulse that is survived [N s]", rows, columns)


def draw(found: PushMap, path: Path) -> None:
    """Draw the map by phase, and by direction around the robot seen from above, which looks up."""
    title = f"Largest push of {PUSH_DURATION:g} s that is survived at {SPEED:g} m/s, {found.gait} [N s]"
    with figure(path, 10.0, 4.6, title) as drawn:
        grid = drawn.add_gridspec(1, 2, width_ratios=(1.5, 1.0))
        cells = drawn.add_subplot(grid[0])
        names = [_name(direction) for direction in found.directions]
        phases = [f"{phase:.2f}" for phase in found.phases]
        image = heat_map(cells, found.held, names, phases, (0.0, found.ladder[-1]), form="{:.0f}".format)
        cells.set_xlabel("phase of the gait at which the push begins (0: its first mode)")
        cells.set_ylabel("direction of the push")
        drawn.colorbar(image, ax=cells)
        _draw_around(drawn.add_subplot(grid[1], projection="polar"), found)


def _draw_around(axes: Any, found: PushMap) -> None:
    closed = [*range(found.directions.size), 0]
    angles = found.directions[closed]
    worst, median, best = (measure(found.held, axis=1)[closed] for measure in (np.min, np.median, np.max))
    axes.set_theta_zero_location("N")
    axes.fill_between(angles, worst, best, color="#56b4e9", alpha=0.3, label="worst to best phase")
    axes.plot(angles, median, color="#0072b2", label="median phase")
    axes.plot(
        angles, np.full(angles.size, TARGET), "--", color="#c0392b", linewidth=0.9, label=f"target, {TARGET:g} N s"
    )
    axes.set_xticks(found.directions, [_name(direction) for direction in found.directions], fontsize=7)
    axes.set_ylim(0.0, found.ladder[-1])
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, -0.28), fontsize=7)


def _name(direction: float) -> str:
    words = {0: "forward", 45: "ahead left", 90: "left", 135: "back left", 180: "backward"}
    words |= {225: "back right", 270: "right", 315: "ahead right"}
    degrees = round(math.degrees(direction))
    return words.get(degrees, f"{degrees}°")


def _gaits(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The parameters of each map; ParameterError for a gait that does not exist or that the model cannot move."""
    chosen = dict(options.set)
    found = [{**chosen, _GAIT: gait} for gait in dict.fromkeys(options.gait)] if options.gait else [chosen]
    for overrides in found:
        period_of(overrides)
    return found


def _measure(run_of: Run) -> Findings:
    options = run_of.options
    directions, phases = (4, 2) if options.quick else (options.directions, options.phases)
    ladder = QUICK_LADDER if options.quick else options.ladder
    items = [cell for overrides in _gaits(options) for cell in searches(directions, phases, ladder, overrides)]
    settings = {"directions": directions, "phases": phases, "ladder": list(ladder)}
    settings |= {"overrides": dict(options.set), "gaits": options.gait}
    limits: list[dict[str, Any]] = journalled(run, items, run_of, settings, dict)
    found = grouped(zip(items, limits, strict=True), lambda pair: pair[0].gait)
    maps = [
        PushMap(
            gait,
            np.array([item.direction for item, _ in own[::phases]]),
            np.array([item.phase for item, _ in own[:phases]]),
            np.array([limit["held"] for _, limit in own]).reshape(directions, phases),
            ladder,
        )
        for gait, own in found.items()
    ]
    names = ["pushes.png" if len(maps) == 1 else f"pushes_{one.gait}.png" for one in maps]
    return Findings(
        settings=settings,
        results={item.name: limit for item, limit in zip(items, limits, strict=True)},
        tables=[table(maps)],
        remarks=[f"Tried from below up to the first that fells it: {', '.join(f'{one:g}' for one in ladder)} N s."],
        drawings={name: partial(draw, one) for name, one in zip(names, maps, strict=True)},
        exit_code=0 if all(one.held.min() >= TARGET for one in maps) else 1,
    )


def ladder_of(text: str) -> tuple[float, ...]:
    """Impulses in words, "12,16,20"; an error of the option where they do not rise from above zero."""
    try:
        found = tuple(float(one) for one in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(low < high < math.inf for low, high in pairwise((0.0, *found))):
        raise argparse.ArgumentTypeError(f"{text!r} is no ladder; allowed: rising impulses [N s], as 12,16,20")
    return found


OPTIONS = (
    count("--directions", 8, "of the push"),
    count("--phases", 12, "of the gait"),
    option("--gait", action="append", metavar="NAME", help="in which it goes, in place of the bound; repeatable"),
    option(
        "--ladder",
        type=ladder_of,
        default=LADDER,
        metavar="LIST",
        help="impulses that are tried [N s], as 12,16,20 (default: 4 to 24 in steps of 2)",
    ),
    add_engine_options,
    add_setting_option,
)

BENCHMARK = Benchmark("pushes", __doc__, "4 directions, 2 phases, coarser", _measure, OPTIONS, _gaits, resumable=True)
