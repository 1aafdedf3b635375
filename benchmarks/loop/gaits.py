"""`contact-ddp bench gaits`: every packaged gait under commands ahead, to the side and around, in lock-step.

A run holds where the robot does not fall, moves at the end, and follows: forward and sideways speed within 2 % or
0.02 m/s, the turn within 10 %. Runs have the sensor noise of `bench robustness`, and `--seeds` of it. Solve times are
wall-clock times of one thread, beside whatever else the machine does.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap

from benchmarks.benchmark import count, option
from benchmarks.loop.harness import bounding, cases, moved, settled, settling
from benchmarks.study import Rows, Study
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.reference import gait_schedule
from contact_ddp_ros.robot.gaits.gait import packaged_gaits
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.runs.options import SENSOR_ERRORS, RunOptions
from contact_ddp_ros.runs.report.panels import heat_map
from contact_ddp_ros.runs.report.style import figure
from contact_ddp_ros.runs.study.study import Case, Figures, Group

COMMANDS: Sequence[Mapping[str, Any]] = (
    *({"speed": ((0.0, speed),)} for speed in (0.0, 0.5, 1.0, 1.5, 2.0, -0.5)),
    {"speed": ((0.0, 0.3),), "left": 0.3},
    {"speed": ((0.0, 0.5),), "turn": 1.0},
    {"speed": ((0.0, 0.0),), "turn": -1.0},
)
"""Speed ahead and to the left [m/s], and rate of the heading [rad/s], as options of a run."""

WITHIN = {"forward": (0.02, 0.02), "left": (0.02, 0.02), "turn": (0.1, 0.05)}
"""Largest deviation from the command: as a share of it or, where that is more, as such."""


def command_of(options: RunOptions) -> str:
    """A command as it stands in tables."""
    aside = f", {options.left:g} left" if options.left else ""
    return f"{options.speed[0][1]:g} m/s{aside}" + (f", {options.turn:g} rad/s" if options.turn else "")


def moving_gaits() -> list[str]:
    """The packaged gaits but for a stand, of which no foot leaves the ground: it follows no command."""
    config = PlannerConfig().gait
    return [n for n in packaged_gaits() if len(gait_schedule(WholeBodyModel, replace(config, name=n)).modes) > 1]


def runs(options: argparse.Namespace) -> list[Case]:
    """Every gait under every command with every seed."""
    duration, seeds, commands = (8.0, 1, COMMANDS[1:2]) if options.quick else (20.0, options.seeds, COMMANDS)
    found: list[Case] = []
    for gait in moving_gaits():
        if options.only and gait not in options.only:
            continue
        own = {**dict(options.set), "planner.gait.name": gait}
        base = bounding({**SENSOR_ERRORS, **own}, duration=duration)
        for command in commands:
            name = f"{gait} {command_of(replace(base, **command))}"
            found += cases(base, {name: {f"{name} #{seed}": {**command, "seed": seed} for seed in range(seeds)}})
    return [replace(case, values={"gait": case.options.overrides["planner.gait.name"]}) for case in found]


def run(case: Case) -> Figures:
    """Means of the settled motion of one closed loop [m/s, rad/s] and quantiles of its solve times [ms]."""
    options = case.options
    recording, fall = moved(options, options.duration - settling(options.duration))
    if recording is None or fall:
        return {"fall": fall, "follows": False}
    late = settled(recording)
    time, yaw = recording.ticks["time"][late], np.unwrap(recording.rpy[late, 2])
    forward, left = (float(one) for one in recording.heading_velocity[late, :2].mean(axis=0))
    found = {"forward": forward, "left": left, "turn": float((yaw[-1] - yaw[0]) / (time[-1] - time[0]))}
    wanted = {"forward": options.speed[0][1], "left": options.left, "turn": options.turn}
    follows = all(
        abs(found[name] - wanted[name]) <= max(relative * abs(wanted[name]), absolute)
        for name, (relative, absolute) in WITHIN.items()
    )
    median, p99 = (float(one) for one in np.percentile(recording.solves["solve_ms"], [50.0, 99.0]))
    return {"fall": "", "follows": follows, **found, "solve_median": median, "solve_p99": p99}


def follows(group: Group) -> bool:
    """Verdict: every run follows its command."""
    return all(one["follows"] for one in group.figures)


def _mean(figure_of: str) -> Callable[[Group], str]:
    return lambda group: f"{np.mean(group.counted(figure_of)):.3f}" if group.counted(figure_of) else ""


def _solve(group: Group) -> str:
    medians = group.counted("solve_median")
    return f"{np.median(medians):.1f}, p99 {max(group.counted('solve_p99')):.1f}" if medians else ""


def draw(groups: Sequence[Group], path: Path) -> None:
    """Draw which gait follows which command: share of the runs."""
    shares = {(group.values["gait"], command_of(group.cases[0].options)): group.share("follows") for group in groups}
    gaits, commands = (list(dict.fromkeys(names)) for names in zip(*shares))
    values = np.array([[shares[gait, command].share for command in commands] for gait in gaits])
    colours = ListedColormap(["#d55e00", "#e69f00", "#009e73"])
    with figure(path, 9.0, 0.4 * len(gaits) + 2.2, "Gaits and commands") as drawn:
        axes = drawn.subplots()
        heat_map(axes, values, gaits, commands, (0.0, 1.0), colours, lambda value: f"{100 * value:.0f} %")
        axes.tick_params(labelsize=8)
        axes.set_xticks(range(len(commands)), commands, rotation=30, ha="right")
        axes.set_xlabel("runs that follow the command without a fall")


REPORT = Rows(
    "Gaits",
    {
        "gait": lambda group: group.values["gait"],
        "command": lambda group: command_of(group.cases[0].options),
        "runs": lambda group: len(group.cases),
        "held": lambda group: group.share("follows").successes,
        "95 %": lambda group: group.share("follows").percent,
        "forward": lambda group: _mean("forward")(group) or group.first_fall,
        "left": _mean("left"),
        "turn": _mean("turn"),
        "solve, ms": _solve,
    },
    follows,
    {"gaits.png": draw},
)

BENCHMARK = Study(runs, run, REPORT).benchmark(
    "gaits",
    __doc__,
    "one short run of each gait",
    option("--only", action="append", metavar="GAIT", help="of the packaged gaits; repeatable"),
    count("--seeds", 3, "of the sensor noise"),
)
