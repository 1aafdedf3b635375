"""`contact-ddp bench pushes`: the push map, the largest impulse that is survived by direction and phase of a gait.

The robot goes on flat ground, at 0.5 m/s straight ahead or at each of the speeds and turns that are asked for, bounding
or in each of the gaits; a force on the trunk, at an angle to the heading at which it begins, acts for 0.1 s. For each
direction and phase the impulses of a ladder are tried from the lowest up to the first that fells the robot; what it
survives counts only where it survives everything below, too. Survived is what neither ends in a fault nor in anything
but going on at its height three seconds later. The interval of a median over phases is that of resampled phases.
"""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, add_setting_option, count, option
from benchmarks.engine import add_engine_options, journalled
from benchmarks.loop.cases import PUSH_DURATION, SPEED, bounding, push_of
from benchmarks.loop.harness import advance
from benchmarks.output import table_of
from contact_ddp_ros.base.errors import BenchmarkError, ContactDdpError
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.mpc.config import GaitConfig
from contact_ddp_ros.mpc.reference import gait_schedule
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.recording import FALL_HEIGHT
from contact_ddp_ros.runs.report.panels import heat_map
from contact_ddp_ros.runs.report.style import figure
from contact_ddp_ros.runs.robot_scaling import planner_config, robot_of
from contact_ddp_ros.runs.study.statistics import Proportion, grouped, median_interval, share

SETTLED = 3.0
"""Time after which the first push begins at 0.5 m/s; at a higher speed a second later for each m/s more [s]."""

AFTER = 3.0
"""Time for which the robot is watched from a push on [s]."""

TARGET = 10.0
"""Impulse that should be survived in every direction at every phase, unless another is asked for [N s]."""

FIRST_MODE = 0
"""Phase of the gait's cycle; the bound's is the stance of the back feet."""

LADDER = (4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0)
QUICK_LADDER = (6.0, 10.0, 14.0)
"""Impulses that are tried [N s]."""

_GAIT = "planner.gait.name"


@dataclass(frozen=True)
class Travel:
    """Steady motion that is disturbed.

    Parameters, among them the gait, speed [m/s], rate of the heading [rad/s], and how late policies arrive [s].
    """

    overrides: dict[str, Any] = field(default_factory=dict)
    speed: float = SPEED
    turn: float = 0.0
    delay: float = 0.0

    @property
    def name(self) -> str:
        """Gait, speed and turn for people."""
        turning = f", {self.turn:g} rad/s" if self.turn else ""
        return f"{self.overrides.get(_GAIT, GaitConfig().name)}, {self.speed:g} m/s{turning}"

    @property
    def period(self) -> float:
        """Duration of a cycle of the gait [s]."""
        options = bounding(self.overrides)
        config = planner_config(options, robot_of(options))
        return gait_schedule(WholeBodyModel, config.gait).period

    def steady(self) -> ClosedLoop:
        """The loop that moves so, at the beginning of a cycle: one for all pushes in a process, to be forked."""
        return _steady(json.dumps(self.overrides), self.speed, self.turn, self.delay)


@dataclass(frozen=True)
class CellSearch:
    """One direction [rad, from the heading to the left] and phase (share of a cycle): the way up an impulse ladder."""

    direction: float
    phase: float
    ladder: tuple[float, ...]
    travel: Travel = field(default_factory=Travel)

    @property
    def name(self) -> str:
        """Unique in a benchmark."""
        return f"{self.travel.name}, {math.degrees(self.direction):.0f}° at {self.phase:.3f}"

    @property
    def cost(self) -> float:
        """Simulated time at most [s]."""
        return len(self.ladder) * AFTER

    def holds(self, impulse: float) -> bool:
        """Survival of an impulse [N s]: True where the robot stays up."""
        loop = self.travel.steady().fork()
        advance(loop, loop.simulator.time + self.phase * self.travel.period)
        heading = float(quaternion_to_rpy(loop.simulator.truth().state.orientation)[2])
        push = push_of(impulse, heading + self.direction, loop.simulator.time)
        loop.simulator.push(np.array(push.force), push.duration)
        try:
            advance(loop, loop.simulator.time + AFTER)
        except ContactDdpError:
            return False
        up = loop.simulator.truth().state.position[2] >= FALL_HEIGHT
        return bool(up) and loop.controller.fault is None and loop.controller.mode is ControlMode.MOVE


@lru_cache(maxsize=1)
def _steady(overrides: str, speed: float, turn: float, delay: float) -> ClosedLoop:
    chosen = json.loads(overrides)
    loop = ClosedLoop(bounding(chosen, speed=speed, turn=turn, planner_delay=delay, duration=60.0))
    settled = SETTLED + max(abs(speed) - SPEED, 0.0)
    advance(loop, settled)
    modes = [_mode(loop)] * 2
    while not modes[0] > modes[1] == FIRST_MODE:
        if loop.controller.fault is not None or loop.simulator.time > settled + 2.0 * Travel(chosen).period:
            raise BenchmarkError(f"it does not move before anything happens: {loop.controller.fault}")
        loop.tick()
        modes = [modes[1], _mode(loop)]
    return loop


def _mode(loop: ClosedLoop) -> int:
    """Index of the gait's mode that the policy is in; -1 where none is followed."""
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
    """Impulses that one steady motion survives.

    Attributes:
        name: of the motion. directions: (D,) [rad]. phases: (P,) shares of a cycle.
        held: (D, P) largest impulse that was survived, with all below it [N s]. ladder: the impulses tried [N s].
    """

    name: str
    directions: NDArray[np.float64]
    phases: NDArray[np.float64]
    held: NDArray[np.float64]
    ladder: tuple[float, ...]


def searches(directions: int, phases: int, ladder: tuple[float, ...], travel: Travel) -> list[CellSearch]:
    """All of a map, direction by direction."""
    return [
        CellSearch(2.0 * math.pi * k / directions, phase / phases, ladder, travel)
        for k in range(directions)
        for phase in range(phases)
    ]


def table(maps: Sequence[PushMap], target: float) -> Table:
    """Motion by motion and direction by direction: worst, median and best phase, how many survive a target [N s]."""

    def largest(value: float, found: PushMap) -> str:
        return f"{value:.1f}" if value < found.ladder[-1] else f"≥ {value:.1f}"

    def median(row: Any) -> str:
        found, _, held = row
        low, high = median_interval(held)
        return f"{largest(float(np.median(held)), found)} ({low:.1f} to {high:.1f})"

    def of_target(one: Proportion) -> str:
        return f"{one.successes} of {one.trials} ({one.percent})"

    columns = {
        "motion": lambda row: row[0].name,
        "direction": lambda row: row[1],
        "worst": lambda row: largest(row[2].min(), row[0]),
        "median (95 %)": median,
        "best": lambda row: largest(row[2].max(), row[0]),
        f"cells that survive {target:g} N s (95 %)": lambda row: of_target(share(row[2].ravel() >= target)),
    }
    rows = []
    for found in maps:
        degrees = (f"{math.degrees(direction):.0f}°" for direction in found.directions)
        rows += [(found, name, held) for name, held in zip(degrees, found.held, strict=True)]
        rows.append((found, "all", found.held))
    return table_of("Largest impulse that is survived [N s]", rows, columns)


def draw(maps: Sequence[PushMap], columns: int, path: Path) -> None:
    """Draw the maps by direction and phase, so many beside each other."""
    columns = min(columns, len(maps))
    rows = math.ceil(len(maps) / columns)
    title = f"Largest push of {PUSH_DURATION:g} s that is survived [N s]"
    with figure(path, max(1.0 + 3.6 * columns, 6.0), 0.9 + 2.7 * rows, title) as drawn:
        for index, found in enumerate(maps):
            cells = drawn.add_subplot(rows, columns, index + 1)
            names = [_name(direction) for direction in found.directions] if index % columns == 0 else []
            phases = [f"{phase:.2f}" for phase in found.phases]
            image = heat_map(cells, found.held, names, phases, (0.0, found.ladder[-1]), form="{:.0f}".format)
            cells.set_yticks(range(len(found.directions)), names or [""] * len(found.directions))
            cells.tick_params(axis="x", labelsize=6)
            cells.set_title(found.name, fontsize=9)
        drawn.colorbar(image, ax=drawn.axes)
        drawn.supxlabel("phase of the gait at which the push begins (0: its first mode)", fontsize=9)


def _name(direction: float) -> str:
    words = {0: "forward", 45: "ahead left", 90: "left", 135: "back left", 180: "backward"}
    words |= {225: "back right", 270: "right", 315: "ahead right"}
    degrees = round(math.degrees(direction))
    return words.get(degrees, f"{degrees}°")


def _travels(options: argparse.Namespace) -> list[Travel]:
    """The motion of each map; ParameterError for a gait that does not exist or that the model cannot move."""
    chosen = dict(options.set)
    gaits = [{**chosen, _GAIT: gait} for gait in dict.fromkeys(options.gait)] if options.gait else [chosen]
    found = [Travel(overrides, speed, turn) for overrides in gaits for turn in options.turn for speed in options.speed]
    for travel in found:
        _ = travel.period
    return found


def _measure(run_of: Run) -> Findings:
    options = run_of.options
    directions, phases = (4, 2) if options.quick else (options.directions, options.phases)
    ladder = QUICK_LADDER if options.quick else options.ladder
    travels = _travels(options)
    items = [cell for travel in travels for cell in searches(directions, phases, ladder, travel)]
    settings = {"directions": directions, "phases": phases, "ladder": list(ladder)}
    settings |= {"overrides": dict(options.set), "gaits": options.gait}
    settings |= {"speeds": list(options.speed), "turns": list(options.turn)}
    limits: list[dict[str, Any]] = journalled(run, items, run_of, settings, dict)
    found = grouped(zip(items, limits, strict=True), lambda pair: pair[0].travel.name)
    maps = [
        PushMap(
            name,
            np.array([item.direction for item, _ in own[::phases]]),
            np.array([item.phase for item, _ in own[:phases]]),
            np.array([limit["held"] for _, limit in own]).reshape(directions, phases),
            ladder,
        )
        for name, own in found.items()
    ]
    columns = len(travels) // max(len(options.gait or ()), 1)
    return Findings(
        settings=settings,
        results={item.name: limit for item, limit in zip(items, limits, strict=True)},
        tables=[table(maps, options.target)],
        remarks=[f"Tried from below up to the first that fells it: {', '.join(f'{one:g}' for one in ladder)} N s."],
        drawings={"pushes.png": partial(draw, maps, columns)},
        exit_code=0 if all(one.held.min() >= options.target for one in maps) else 1,
    )


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(one) for one in text.split(","))
    except ValueError:
        return ()


def numbers_of(text: str) -> tuple[float, ...]:
    """Finite numbers in words, "0.5,1.5", each once; an error of the option for anything else."""
    found = tuple(dict.fromkeys(_numbers(text)))
    if not found or not all(map(math.isfinite, found)):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers; allowed: finite numbers, as 0.5,1.5")
    return found


def ladder_of(text: str) -> tuple[float, ...]:
    """Impulses in words, "12,16,20"; an error of the option where they do not rise from above zero."""
    found = _numbers(text)
    if not found or not all(low < high < math.inf for low, high in pairwise((0.0, *found))):
        raise argparse.ArgumentTypeError(f"{text!r} is no ladder; allowed: rising impulses [N s], as 12,16,20")
    return found


OPTIONS = (
    count("--directions", 8, "of the push"),
    count("--phases", 12, "of the gait"),
    option("--gait", action="append", metavar="NAME", help="in which it goes, in place of the bound; repeatable"),
    option(
        "--speed", type=numbers_of, default=(SPEED,), metavar="LIST", help="speeds [m/s], as 0.5,1.5 (default: 0.5)"
    ),
    option("--turn", type=numbers_of, default=(0.0,), metavar="LIST", help="turns [rad/s], as 0,2 (default: 0)"),
    option(
        "--target", type=float, default=TARGET, metavar="IMPULSE", help="that all cells should hold [N s] (default: 10)"
    ),
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

BENCHMARK = Benchmark("pushes", __doc__, "4 directions, 2 phases, coarser", _measure, OPTIONS, _travels, resumable=True)
