"""`contact-ddp bench gaits`: every packaged gait under commands ahead, to the side and around, in lock-step.

A run holds where the robot does not fall, moves at the end, and follows: forward and sideways speed within 2 % or
0.02 m/s, the turn within 10 %. Runs have the sensor noise of `bench robustness`, and `--seeds` of it. Solve times are
wall-clock times of one thread, beside whatever else the machine does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, add_setting_option, count, option
from benchmarks.engine import add_engine_options, journalled
from benchmarks.loop.cases import Case, bounding, cases
from benchmarks.loop.harness import moved, settled, settling
from benchmarks.output import table_of
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.reference import gait_schedule
from contact_ddp_ros.robot.gaits.gait import packaged_gaits
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.runs.options import SENSOR_NOISE, RunOptions
from contact_ddp_ros.runs.report.panels import heat_map
from contact_ddp_ros.runs.report.style import figure
from contact_ddp_ros.runs.study.statistics import grouped, share

_FORWARD = (0.0, 0.5, 1.0, 1.5, 2.0, -0.5)
COMMANDS: Sequence[Mapping[str, Any]] = (
    *({"speed": ((0.0, speed),)} for speed in _FORWARD),
    {"speed": ((0.0, 0.3),), "left": 0.3},
    {"speed": ((0.0, 0.5),), "turn": 1.0},
    {"speed": ((0.0, 0.0),), "turn": -1.0},
)
"""Speed ahead and to the left [m/s], and rate of the heading [rad/s], as options of a run."""

WITHIN = {"forward": (0.02, 0.02), "left": (0.02, 0.02), "turn": (0.1, 0.05)}
"""Largest deviation from the command: as a share of it or, where that is more, as such."""


@dataclass(frozen=True)
class GaitOutcome:
    """Why it fell or failed; else means of the settled motion [m/s, rad/s] and quantiles of the solve times [ms]."""

    gait: str
    command: str
    fall: str = ""
    forward: float | None = None
    left: float | None = None
    turn: float | None = None
    follows: bool = False
    solve_median: float | None = None
    solve_p99: float | None = None


def command_of(options: RunOptions) -> str:
    """A command as it stands in tables."""
    aside = f", {options.left:g} left" if options.left else ""
    return f"{options.speed[0][1]:g} m/s{aside}" + (f", {options.turn:g} rad/s" if options.turn else "")


def run(item: Case) -> GaitOutcome:
    """Run one closed loop and look at what became of it."""
    options, about = item.options, GaitOutcome(item.group, command_of(item.options))
    recording, fall = moved(options, options.duration - settling(options.duration))
    if recording is None or fall:
        return replace(about, fall=fall)
    late = settled(recording)
    time, yaw = recording.ticks["time"][late], np.unwrap(recording.rpy[late, 2])
    forward, left = recording.heading_velocity[late, :2].mean(axis=0)
    found = {"forward": forward, "left": left, "turn": (yaw[-1] - yaw[0]) / (time[-1] - time[0])}
    wanted = {"forward": options.speed[0][1], "left": options.left, "turn": options.turn}
    follows = all(
        abs(found[name] - wanted[name]) <= max(relative * abs(wanted[name]), absolute)
        for name, (relative, absolute) in WITHIN.items()
    )
    median, p99 = np.percentile(recording.solves["solve_ms"], [50.0, 99.0])
    figures: dict[str, Any] = {name: float(value) for name, value in found.items()}
    return replace(about, **figures, follows=follows, solve_median=float(median), solve_p99=float(p99))


def moving_gaits() -> list[str]:
    """The packaged gaits but for a stand, of which no foot leaves the ground: it follows no command."""
    config = PlannerConfig().gait
    return [n for n in packaged_gaits() if len(gait_schedule(WholeBodyModel, replace(config, name=n)).modes) > 1]


def table(outcomes: Sequence[GaitOutcome]) -> Table:
    """Every gait under every command: how many runs followed, means of those that did not fall, their solve times."""

    def mean(name: str) -> Any:
        return lambda own: _of_standing(own, lambda up: f"{np.mean([getattr(one, name) for one in up]):.3f}")

    columns = {
        "gait": lambda own: own[0].gait,
        "command": lambda own: own[0].command,
        "runs": len,
        "held": lambda own: share(one.follows for one in own).successes,
        "95 %": lambda own: share(one.follows for one in own).percent,
        "forward": lambda own: mean("forward")(own) or own[0].fall,
        "left": mean("left"),
        "turn": mean("turn"),
        "solve, ms": lambda own: _of_standing(
            own, lambda up: f"{np.median([a.solve_median for a in up]):.1f}, p99 {max(a.solve_p99 for a in up):.1f}"
        ),
    }
    return table_of("Gaits", _cells(outcomes).values(), columns, whole_names=False)


def _of_standing(own: Sequence[GaitOutcome], text: Any) -> str:
    up = [one for one in own if not one.fall]
    return str(text(up)) if up else ""


def _cells(outcomes: Sequence[GaitOutcome]) -> dict[tuple[str, str], list[GaitOutcome]]:
    """By gait and command."""
    return grouped(outcomes, lambda one: (one.gait, one.command))


def draw(outcomes: Sequence[GaitOutcome], path: Path) -> None:
    """Draw which gait follows which command: share of the runs."""
    gaits, commands = (list(dict.fromkeys(getattr(one, name) for one in outcomes)) for name in ("gait", "command"))
    cells = _cells(outcomes)
    shares = np.array([[share(one.follows for one in cells.get((g, c), ())).share for c in commands] for g in gaits])
    colours = ListedColormap(["#d55e00", "#e69f00", "#009e73"])
    with figure(path, 9.0, 0.4 * len(gaits) + 2.2, "Gaits and commands") as drawn:
        axes = drawn.subplots()
        heat_map(axes, shares, gaits, commands, (0.0, 1.0), colours, lambda value: f"{100 * value:.0f} %")
        axes.tick_params(labelsize=8)
        axes.set_xticks(range(len(commands)), commands, rotation=30, ha="right")
        axes.set_xlabel("runs that follow the command without a fall")


def runs(
    gaits: Sequence[str], commands: Sequence[Mapping[str, Any]], duration: float, seeds: int, **chosen: Any
) -> list[Case]:
    """Every gait under every command with every seed; `chosen` are the user's parameters."""
    found = []
    for gait in gaits:
        base = bounding({**SENSOR_NOISE, **chosen, "planner.gait.name": gait}, duration=duration)
        for command in commands:
            name = f"{gait} {command_of(replace(base, **command))}"
            found += cases(base, {gait: {f"{name} #{seed}": {**command, "seed": seed} for seed in range(seeds)}})
    return found


def _measure(run_of: Run) -> Findings:
    options = run_of.options
    duration, seeds = (8.0, 1) if options.quick else (20.0, options.seeds)
    commands = COMMANDS[1:2] if options.quick else COMMANDS
    gaits = [gait for gait in moving_gaits() if not options.only or gait in options.only]
    items = runs(gaits, commands, duration, seeds, **dict(options.set))
    settings = {"quick": options.quick, "seeds": seeds, "overrides": dict(options.set)}
    outcomes = journalled(run, items, run_of, {**settings, "only": options.only}, GaitOutcome)
    return Findings(
        settings=settings,
        results={"outcomes": outcomes},
        tables=[table(outcomes)],
        drawings={"gaits.png": lambda path: draw(outcomes, path)},
        exit_code=0 if all(one.follows for one in outcomes) else 1,
    )


OPTIONS = (
    option("--only", action="append", metavar="GAIT", help="of the packaged gaits; repeatable"),
    count("--seeds", 3, "of the sensor noise"),
    add_engine_options,
    add_setting_option,
)

BENCHMARK = Benchmark("gaits", __doc__, "one short run of each gait", _measure, OPTIONS, resumable=True)
