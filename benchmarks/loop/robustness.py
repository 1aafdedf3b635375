"""`contact-ddp bench robustness`: what the bounding robot comes through in closed loop, and what it does not.

Runs in lock-step, spread over the cores; each depends on its options only. The exit code is 0 where nothing fell, 1
otherwise.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from benchmarks.benchmark import add_seed, option
from benchmarks.loop import outcome
from benchmarks.loop.harness import CYCLE, DIRECTIONS, RECOVERY, SPEED, bounding, cases, push_of
from benchmarks.loop.outcome import BANDS
from benchmarks.output import panel
from benchmarks.study import Rows, Study, worst
from contact_ddp_ros.base.choices import VARIANTS
from contact_ddp_ros.runs.options import SENSOR_ERRORS
from contact_ddp_ros.runs.report.panels import bars
from contact_ddp_ros.runs.report.style import FOOT_COLOURS, LIMIT, figure, legend
from contact_ddp_ros.runs.study.study import Case, Figures, Group

TARGET_SPEED = 0.1
"""Mean speed within this share of the command, or of 0.5 m/s where that is more."""

TARGET_TOUCHDOWN = 0.005
"""Largest touchdown error of a plan [m]."""

PUSH_TIME, IMPULSE = 4.0, 4.0
"""The earliest push begins two seconds into a steady bound [s]; its impulse [N s]."""

DELAY = 0.005
"""Delay of the planner [s]."""

SEEDS = 3
"""Runs with noise."""

FULL = {"phases": 24, "short": 10.0, "steady": 20.0, "long": 60.0}
QUICK = {"phases": 6, "short": 6.0, "steady": 8.0, "long": 20.0}
"""Phases of the gait at which pushes begin, and durations of runs [s]."""

_SMALLEST = 1e-6
"""Zero, on a logarithmic axis."""

Unlike = dict[str, dict[str, Any]]
"""Options that are unlike a steady bound, by name of a run."""


def pushes(towards: str, phases: int) -> Unlike:
    """Pushes in a direction at every phase of the gait."""
    found = {
        f"push {towards}, phase {i}/{phases}": push_of(IMPULSE, DIRECTIONS[towards], PUSH_TIME + i * CYCLE / phases)
        for i in range(phases)
    }
    return {name: {"pushes": (push,), "duration": push.end + RECOVERY + CYCLE} for name, push in found.items()}


def kinds(extent: dict[str, Any], seed: int = 0) -> dict[str, Unlike]:
    """Runs by word of `--only`."""
    short, steady = {"duration": extent["short"]}, {"duration": extent["steady"]}
    return {
        "pushes": {name: one for way in DIRECTIONS for name, one in pushes(way, extent["phases"]).items()},
        "friction": {f"friction {mu:g}": {"friction": mu, **short} for mu in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)},
        "mass": {f"trunk mass × {scale:g}": {"trunk_mass_scale": scale, **short} for scale in (0.9, 1.1)},
        "delay": {f"planner delay {1e3 * DELAY:g} ms": {"planner_delay": DELAY, **short}},
        "speeds": {f"speed {v:g} m/s": {"speed": ((0.0, v),), **steady} for v in (-0.5, 0.5, 1.0, 2.0)},
        "changes": {"speed 0 → 1 → 0 m/s": {"speed": ((0.0, 0.0), (4.0, 1.0), (9.0, 0.0)), "duration": 14.0}},
        "stop": {"stand, bound, stand": {"stop_time": 6.0, "duration": 9.0}},
        # noise also breaks the symmetry of left and right
        "noise": {
            f"sensor noise, seed {k}": {"seed": k, "overrides": SENSOR_ERRORS, **steady}
            for k in range(seed, seed + SEEDS)
        },
        "long": {f"{extent['long']:g} s at {SPEED:g} m/s": {"duration": extent["long"]}},
    }


KINDS = tuple(kinds(QUICK))


def runs(options: argparse.Namespace) -> list[Case]:
    """All runs of the kinds that are asked for: a group for each direction of a push and for each other run."""
    found = kinds(QUICK if options.quick else FULL, options.seed)
    base = bounding(dict(options.set), variant=options.variant, seed=options.seed)
    unlike = {name: one for kind in options.only or KINDS for name, one in found[kind].items()}
    grouped = {name: {name: one} for name, one in unlike.items() if "pushes" not in one}
    for way in DIRECTIONS:
        grouped[f"push {way}"] = {name: one for name, one in unlike.items() if name.startswith(f"push {way}")}
    return cases(base, grouped)


def _is_push(group: Group) -> bool:
    return bool(group.cases[0].options.pushes)


def _verdict(group: Group) -> str:
    if group.falls:
        return f"[red]{group.first_fall}[/]"
    crooked = [one["straightness"] for one in group.figures if one.get("straight") is False]
    if crooked:
        words = "roll {roll:.2f}, yaw {yaw:+.2f} rad, sideways {lateral_velocity:+.2f} m/s"
        return f"[yellow]not straight: {words.format(**crooked[0])}[/]"
    remarks = []
    if any(one["speed_error"] > TARGET_SPEED * max(abs(one["commanded_speed"]), 0.5) for one in group.figures):
        remarks.append("speed off by more than 10 %")
    if group.spread("touchdown_error_max_m").high > TARGET_TOUCHDOWN:
        remarks.append("touchdown above 5 mm")
    return f"[yellow]{', '.join(remarks)}[/]" if remarks else "[green]held[/]"


def draw(groups: Sequence[Group], path: Path) -> None:
    """Draw what became of the runs."""
    pushed = [group for group in groups if _is_push(group)]
    others = [group for group in groups if not _is_push(group)]
    with figure(path, 11.0, 6.5, "Robustness in closed loop, lock-step") as drawn:
        roll, pitch, after, runs = drawn.subplots(2, 2).ravel()
        for axes, title, value in (
            (roll, "Largest |roll| [rad]", lambda one: one.get("roll_abs_max")),
            (pitch, "|pitch| after it [rad]", lambda one: one.get("pushed_pitch")),
            (after, "2 s after the push", _share_of_band),
        ):
            panel(axes, title, pushed, partial(_draw_phases, value=value), "no pushes")
        if after.lines:
            after.set_yscale("log")
            after.axhline(1.0, color=LIMIT, linewidth=0.8)
            after.set_ylabel("largest share of a band for straight")
        panel(runs, "Other runs", others, _draw_runs, "no other runs")


def _share_of_band(one: Figures) -> float:
    """Nearness to the nearest limit of being straight; 1 on it."""
    used = {name: value for name, value in (one.get("straightness") or {}).items() if value is not None}
    return max(_SMALLEST, *(abs(value) / BANDS[name] for name, value in used.items())) if used else math.nan


def _draw_phases(axes: Axes, pushed: Sequence[Group], value: Callable[[Figures], float | None]) -> None:
    """One figure over the phase of the gait at which the push began; crosses fell.

    Line styles alternate, so that mirror images, which coincide, both show.
    """
    for i, group in enumerate(pushed):
        phase = np.arange(len(group.cases)) / len(group.cases)
        values = np.array([value(one) for one in group.figures], dtype=float)
        label = group.name.removeprefix("push ")
        axes.plot(phase, values, ("-", "--")[i % 2], marker=".", color=FOOT_COLOURS[i], label=label)
        fallen = np.array([bool(one["fall"]) for one in group.figures])
        if fallen.any():
            axes.plot(phase[fallen], np.nan_to_num(values[fallen], nan=1.0), "x", color=LIMIT, markersize=9)
    axes.set_xlabel("phase of the gait at the push; crosses fell")
    legend(axes)


def _draw_runs(axes: Axes, groups: Sequence[Group]) -> None:
    colours = [LIMIT if group.falls else FOOT_COLOURS[0] for group in groups]
    errors = {group.name: 1e3 * max(group.counted("speed_error"), default=0.0) for group in groups}
    bars(axes, errors, colours, size=7)
    axes.set_xlabel("largest error of the mean speed [mm/s]; red: fell")


REPORT = Rows(
    "Robustness, largest figures of each row",
    {
        "run": lambda group: group.name,
        "runs": lambda group: len(group.cases),
        "survived": lambda group: group.standing.successes,
        "straight within 2 s": lambda group: group.share("straight").successes if _is_push(group) else "",
        "speed error, m/s": worst("speed_error"),
        "roll": worst("roll_abs_max"),
        "pitch": worst("pitch_abs_max"),
        "yaw": worst("yaw_drift"),
        "plan touchdown, mm": worst("touchdown_error_max_m", 1, 1e3),
        "sole, mm": worst("touchdown_height_measured_max_m", 1, 1e3),
        "": _verdict,
    },
    drawings={"robustness.png": draw},
)

BENCHMARK = Study(runs, outcome.measure, REPORT).benchmark(
    "robustness",
    __doc__,
    "6 phases of the gait instead of 24, shorter runs",
    option("--only", choices=KINDS, action="append", metavar="GROUP", help=f"of {', '.join(KINDS)}"),
    option("--variant", choices=VARIANTS, default="ddp", help="solver (default: %(default)s)"),
    add_seed,
)
