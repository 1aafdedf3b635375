"""`contact-ddp bench pushes`: the push map, the largest impulse that is survived by direction and phase of a gait.

The robot goes on flat ground, at 0.5 m/s straight ahead or at each of the speeds and turns that are asked for, bounding
or in each of the gaits; a force on the trunk, at an angle to the heading at which it begins, acts for 0.1 s. For each
direction and phase the impulses of a ladder are tried from the lowest up to the first that fells the robot; what it
survives counts only where it survives everything below, too. Survived is what neither ends in a fault nor in anything
but going on at its height three seconds later. The interval of a median over phases is that of resampled phases.
"""

import argparse
import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.benchmark import Findings, count, option
from benchmarks.loop.harness import PUSH_DURATION, SPEED, advance, bounding, push_of
from benchmarks.output import table_of
from benchmarks.study import Study, counted
from benchmarks.timing import median_interval
from contact_ddp_ros.base.errors import BenchmarkError, ContactDdpError
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.mpc.config import GaitConfig
from contact_ddp_ros.mpc.reference import gait_schedule
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import FALL_HEIGHT
from contact_ddp_ros.runs.report.panels import heat_map
from contact_ddp_ros.runs.report.style import figure
from contact_ddp_ros.runs.scenario import scenario
from contact_ddp_ros.runs.study.study import Case, Figures, Group, share

Array = NDArray[np.float64]

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


def motion(overrides: Mapping[str, Any], speed: float = SPEED, turn: float = 0.0) -> RunOptions:
    """Steady motion that is disturbed: parameters, among them the gait, speed [m/s] and rate of the heading [rad/s]."""
    return bounding(overrides, speed, turn=turn, duration=60.0)


def name_of(options: RunOptions) -> str:
    """Gait, speed and turn of a motion for people."""
    turning = f", {options.turn:g} rad/s" if options.turn else ""
    return f"{options.overrides.get(_GAIT, GaitConfig().name)}, {options.speed[0][1]:g} m/s{turning}"


def period_of(options: RunOptions) -> float:
    """Duration of a cycle of a motion's gait [s]."""
    config = scenario(options).planner
    return gait_schedule(WholeBodyModel, config.gait).period


_STEADY: dict[str, ClosedLoop] = {}


def steady(options: RunOptions) -> ClosedLoop:
    """The loop in a motion, at the beginning of a cycle: one for all pushes in a process, to be forked."""
    key = repr(options)
    if key not in _STEADY:
        _STEADY.clear()
        _STEADY[key] = _settled(options)
    return _STEADY[key]


def _settled(options: RunOptions) -> ClosedLoop:
    loop = ClosedLoop(options)
    settled = SETTLED + max(abs(options.speed[0][1]) - SPEED, 0.0)
    advance(loop, settled)
    latest = settled + 2.0 * period_of(options)
    modes = [_mode(loop)] * 2
    while not modes[0] > modes[1] == FIRST_MODE:
        if loop.controller.fault is not None or loop.plant.time > latest:
            raise BenchmarkError(f"it does not move before anything happens: {loop.controller.fault}")
        loop.tick()
        modes = [modes[1], _mode(loop)]
    return loop


def _mode(loop: ClosedLoop) -> int:
    """Index of the gait's mode that the policy is in; -1 where none is followed."""
    sample = loop.controller.sample(loop.plant.time)
    return -1 if sample is None else sample.mode


def holds(options: RunOptions, direction: float, phase: float, impulse: float) -> bool:
    """Survival of an impulse [N s] in a direction [rad, from the heading to the left] at a phase of the gait."""
    loop = steady(options).fork()
    advance(loop, loop.plant.time + phase * period_of(options))
    heading = float(quaternion_to_rpy(loop.plant.truth().state.orientation)[2])
    push = push_of(impulse, heading + direction, loop.plant.time)
    loop.plant.push(np.array(push.force), push.duration)
    try:
        advance(loop, loop.plant.time + AFTER)
    except ContactDdpError:
        return False
    up = loop.plant.truth().state.position[2] >= FALL_HEIGHT
    return bool(up) and loop.controller.fault is None and loop.controller.mode is ControlMode.MOVE


def run(case: Case) -> Figures:
    """The largest impulse `held` below which all are (0 where none is), and the one that was `lost` after it [N s]."""
    held = 0.0
    for impulse in case.values["ladder"]:
        if not holds(case.options, case.values["direction"], case.values["phase"], impulse):
            return {"fall": "", "held": held, "lost": impulse}
        held = impulse
    return {"fall": "", "held": held, "lost": None}


def motions(options: argparse.Namespace) -> list[RunOptions]:
    """The motion of each map; ParameterError for a gait that does not exist or that the model cannot move."""
    chosen = dict(options.set)
    gaits = [{**chosen, _GAIT: gait} for gait in dict.fromkeys(options.gait)] if options.gait else [chosen]
    found = [motion(overrides, speed, turn) for overrides in gaits for turn in options.turn for speed in options.speed]
    for one in found:
        period_of(one)
    return found


def cell(options: RunOptions, direction: float, phase: float, ladder: Sequence[float]) -> Case:
    """The way up a ladder of impulses in one direction at one phase."""
    name, place = name_of(options), f"{math.degrees(direction):.0f}° at {phase:.3f}"
    values = {"direction": direction, "phase": phase, "ladder": ladder}
    return Case(name, f"{name}, {place}", options, values, runs=len(ladder) * AFTER / options.duration)


def cells(options: argparse.Namespace) -> list[Case]:
    """Every motion, direction and phase."""
    directions, phases, ladder = options.directions, options.phases, options.ladder
    if options.quick:
        directions, phases, ladder = 4, 2, QUICK_LADDER
    return [
        cell(one, 2.0 * math.pi * k / directions, phase / phases, ladder)
        for one in motions(options)
        for k in range(directions)
        for phase in range(phases)
    ]


def held_map(group: Group) -> Array:
    """(directions, phases) largest impulse of a motion that was survived, with all below it [N s]."""
    return np.array([one["held"] for one in group.figures]).reshape(len(_distinct(group, "direction")), -1)


def _distinct(group: Group, name: str) -> list[float]:
    return list(dict.fromkeys(case.values[name] for case in group.cases))


def report(groups: Sequence[Group], options: argparse.Namespace) -> Findings:
    """The maps of all motions; the exit code is 0 where every cell survives the target."""
    ladder = groups[0].values["ladder"]
    columns = len(groups) // max(len(options.gait or ()), 1)
    return Findings(
        tables=[table(groups, options.target)],
        remarks=[f"Tried from below up to the first that fells it: {', '.join(f'{one:g}' for one in ladder)} N s."],
        drawings={"pushes.png": partial(draw, groups, columns)},
        exit_code=0 if all(held_map(group).min() >= options.target for group in groups) else 1,
    )


def table(groups: Sequence[Group], target: float) -> Table:
    """Motion by motion and direction by direction: worst, median and best phase, how many survive a target [N s]."""

    def largest(value: float, group: Group) -> str:
        return f"{value:.1f}" if value < group.values["ladder"][-1] else f"≥ {value:.1f}"

    def median(row: Any) -> str:
        group, _, held = row
        low, high = median_interval(held)
        return f"{largest(float(np.median(held)), group)} ({low:.1f} to {high:.1f})"

    columns = {
        "motion": lambda row: row[0].name,
        "direction": lambda row: row[1],
        "worst": lambda row: largest(row[2].min(), row[0]),
        "median (95 %)": median,
        "best": lambda row: largest(row[2].max(), row[0]),
        f"cells that survive {target:g} N s (95 %)": lambda row: counted(share(row[2].ravel() >= target)),
    }
    rows = []
    for group in groups:
        held, degrees = held_map(group), (f"{math.degrees(one):.0f}°" for one in _distinct(group, "direction"))
        rows += [(group, name, own) for name, own in zip(degrees, held, strict=True)]
        rows.append((group, "all", held))
    return table_of("Largest impulse that is survived [N s]", rows, columns)


def draw(groups: Sequence[Group], columns: int, path: Path) -> None:
    """Draw the maps by direction and phase, so many beside each other."""
    columns = min(columns, len(groups))
    rows = math.ceil(len(groups) / columns)
    title = f"Largest push of {PUSH_DURATION:g} s that is survived [N s]"
    with figure(path, max(1.0 + 3.6 * columns, 6.0), 0.9 + 2.7 * rows, title) as drawn:
        for index, group in enumerate(groups):
            axes, directions = drawn.add_subplot(rows, columns, index + 1), _distinct(group, "direction")
            names = [_name(one) if index % columns == 0 else "" for one in directions]
            phases = [f"{phase:.2f}" for phase in _distinct(group, "phase")]
            limits = (0.0, group.values["ladder"][-1])
            image = heat_map(axes, held_map(group), names, phases, limits, form="{:.0f}".format)
            axes.tick_params(axis="x", labelsize=6)
            axes.set_title(group.name, fontsize=9)
        drawn.colorbar(image, ax=drawn.axes)
        drawn.supxlabel("phase of the gait at which the push begins (0: its first mode)", fontsize=9)


def _name(direction: float) -> str:
    words = {0: "forward", 45: "ahead left", 90: "left", 135: "back left", 180: "backward"}
    words |= {225: "back right", 270: "right", 315: "ahead right"}
    degrees = round(math.degrees(direction))
    return words.get(degrees, f"{degrees}°")


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


BENCHMARK = Study(cells, run, report).benchmark(
    "pushes",
    __doc__,
    "4 directions, 2 phases, coarser",
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
    check=motions,
)
