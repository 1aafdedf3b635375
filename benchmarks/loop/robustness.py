"""`contact-ddp bench robustness`: what the bounding robot comes through in closed loop, and what it does not.

Runs in lock-step, spread over the cores; each depends on its options only. The exit code is 0 where nothing fell, 1
otherwise.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, add_seed, add_setting_option, option
from benchmarks.engine import add_engine_options, do
from benchmarks.loop import outcome
from benchmarks.loop.cases import CYCLE, DIRECTIONS, RECOVERY, SPEED, Case, bounding, cases, push_of
from benchmarks.loop.outcome import LATERAL_BAND, ROLL_BAND, YAW_BAND, Outcome
from benchmarks.output import record_of, table_of
from benchmarks.panels import panel
from contact_ddp_ros.base.choices import VARIANTS
from contact_ddp_ros.runs.options import SENSOR_NOISE
from contact_ddp_ros.runs.report.panels import bars
from contact_ddp_ros.runs.report.style import FOOT_COLOURS, LIMIT, figure, legend
from contact_ddp_ros.runs.study.statistics import grouped

TARGET_SPEED = 0.1
"""Mean speed within this share of the command, or of 0.5 m/s where that is more."""

TARGET_TOUCHDOWN = 0.005
"""Largest touchdown error of a plan [m]."""

_SMALLEST = 1e-6
"""Zero, on a logarithmic axis."""

_STYLES = ("-", "--")
"""Alternate, so that mirror images, which coincide, both show."""


PUSH_TIME, IMPULSE = 4.0, 4.0
"""The earliest push begins two seconds into a steady bound [s]; its impulse [N s]."""

DELAY = 0.005
"""Of the planner [s]."""

SEEDS = 3
"""Runs with noise."""


@dataclass(frozen=True)
class Extent:
    """How much of everything: phases of the gait at which pushes begin, and durations of runs [s]."""

    phases: int = 24
    short: float = 10.0
    steady: float = 20.0
    long: float = 60.0


QUICK = Extent(phases=6, short=6.0, steady=8.0, long=20.0)


@dataclass(frozen=True)
class Settings:
    """What all runs share: variant, seed and parameters as "section.name" → value."""

    variant: str = "ddp"
    seed: int = 0
    overrides: Mapping[str, Any] = field(default_factory=dict)


def groups(extent: Extent, seed: int = 0) -> dict[str, dict[str, dict[str, Any]]]:
    """By group and name of a run, what of its options is unlike a steady bound."""
    short, steady = {"duration": extent.short}, {"duration": extent.steady}
    pushes = {
        f"push {direction}, phase {i}/{extent.phases}": push_of(IMPULSE, axis, PUSH_TIME + i * CYCLE / extent.phases)
        for direction, axis in DIRECTIONS.items()
        for i in range(extent.phases)
    }
    return {
        "pushes": {name: {"pushes": (push,), "duration": push.end + RECOVERY + CYCLE} for name, push in pushes.items()},
        "friction": {f"friction {mu:g}": {"friction": mu, **short} for mu in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)},
        "mass": {f"trunk mass × {scale:g}": {"trunk_mass_scale": scale, **short} for scale in (0.9, 1.1)},
        "delay": {f"planner delay {1e3 * DELAY:g} ms": {"planner_delay": DELAY, **short}},
        "speeds": {f"speed {v:g} m/s": {"speed": ((0.0, v),), **steady} for v in (-0.5, 0.5, 1.0, 2.0)},
        "changes": {"speed 0 → 1 → 0 m/s": {"speed": ((0.0, 0.0), (4.0, 1.0), (9.0, 0.0)), "duration": 14.0}},
        "stop": {"stand, bound, stand": {"stop_time": 6.0, "duration": 9.0}},
        # noise also breaks the symmetry of left and right
        "noise": {
            f"sensor noise, seed {k}": {"seed": k, "overrides": SENSOR_NOISE, **steady}
            for k in range(seed, seed + SEEDS)
        },
        "long": {f"{extent.long:g} s at {SPEED:g} m/s": {"duration": extent.long}},
    }


GROUPS = tuple(groups(QUICK))


def runs(settings: Settings, extent: Extent, only: Sequence[str] = GROUPS) -> list[Case]:
    """All runs of some groups."""
    found = groups(extent, settings.seed)
    base = bounding(settings.overrides, variant=settings.variant, seed=settings.seed)
    return cases(base, {name: found[name] for name in only})


def totals(outcomes: Sequence[Outcome]) -> dict[str, dict[str, Any]]:
    """Per group, of pushes per direction: runs, survivors, and those straight again (None without pushes)."""
    return {
        name: {
            "runs": len(members),
            "survived": sum(one.survived for one in members),
            "straight": None if members[0].straight is None else sum(bool(one.straight) for one in members),
        }
        for name, members in grouped(outcomes, _group).items()
    }


def _group(one: Outcome) -> str:
    direction = next((word for word in DIRECTIONS if f"push {word}" in one.name), None)
    return one.group if direction is None else f"push {direction}"


def _table(outcomes: Sequence[Outcome]) -> Table:
    """Every run that is not a push, and of the pushes those that failed."""
    columns = {
        "run": lambda one: one.name,
        "speed error": lambda one: f"{one.speed_error:.3f} m/s",
        "roll": lambda one: f"{one.roll_max:.3f}",
        "pitch": lambda one: f"{one.pitch_max:.3f}",
        "yaw": lambda one: f"{one.yaw_drift:.3f}",
        "plan touchdown": lambda one: f"{1e3 * one.touchdown_error:.1f} mm",
        "sole": lambda one: f"{1e3 * one.touchdown_height:.1f} mm",
        "": _verdict,
    }
    return table_of("Runs", [one for one in outcomes if not one.straight], columns)


def _verdict(one: Outcome) -> str:
    if one.failed:
        return f"[red]failed: {one.failed}[/]"
    if one.fell:
        return f"[red]fell at {one.fall}[/]"
    if not one.stood:
        return "[red]did not stand at the end[/]"
    if one.straightness is not None and not one.straight:
        crooked = one.straightness
        return (
            f"[yellow]not straight: roll {crooked.roll:.2f}, yaw {crooked.yaw:+.2f} rad, "
            f"sideways {crooked.lateral_velocity:+.2f} m/s[/]"
        )
    remarks = []
    if one.speed_error > TARGET_SPEED * max(abs(one.commanded_speed), 0.5):
        remarks.append("speed off by more than 10 %")
    if one.touchdown_error > TARGET_TOUCHDOWN:
        remarks.append("touchdown above 5 mm")
    return f"[yellow]{', '.join(remarks)}[/]" if remarks else "[green]held[/]"


def _group_table(outcomes: Sequence[Outcome]) -> Table:
    columns = {
        "group": lambda row: row[0],
        "runs": lambda row: row[1]["runs"],
        "survived": lambda row: row[1]["survived"],
        "straight within 2 s": lambda row: "" if row[1]["straight"] is None else row[1]["straight"],
    }
    return table_of("Groups", totals(outcomes).items(), columns, whole_names=False)


def draw(outcomes: Sequence[Outcome], path: Path) -> None:
    """Draw what became of the runs."""
    pushed = {word: [one for one in outcomes if f"push {word}" in one.name] for word in DIRECTIONS}
    with figure(path, 11.0, 6.5, "Robustness in closed loop, lock-step") as drawn:
        roll, pitch, after, runs = drawn.subplots(2, 2).ravel()
        for axes, title, value in (
            (roll, "Largest |roll| [rad]", lambda one: one.roll_max),
            (pitch, "|pitch| after it [rad]", lambda one: one.pushed_pitch),
            (after, "2 s after the push", _share_of_band),
        ):
            panel(axes, title, any(pushed.values()) and pushed, partial(_draw_phases, value=value), "no pushes")
        if after.lines:
            after.set_yscale("log")
            after.axhline(1.0, color=LIMIT, linewidth=0.8)
            after.set_ylabel("largest share of a band for straight")
        panel(runs, "Other runs", [one for one in outcomes if one.straightness is None], _draw_runs, "no other runs")


def _share_of_band(one: Outcome) -> float:
    """How near the nearest limit of being straight is; 1 on it."""
    if one.straightness is None:
        return float("nan")
    used = one.straightness
    shares = (used.roll / ROLL_BAND, used.lateral_velocity / LATERAL_BAND, used.yaw / YAW_BAND)
    return max(_SMALLEST, *(abs(share) for share in shares))


def _draw_phases(axes: Axes, pushed: Mapping[str, Sequence[Outcome]], value: Callable[[Outcome], float]) -> None:
    """One figure over the phase of the gait at which the push began; crosses fell."""
    for i, (word, members) in enumerate(pushed.items()):
        phase = np.arange(len(members)) / max(len(members), 1)
        values = np.array([value(one) for one in members])
        axes.plot(phase, values, _STYLES[i % 2], marker=".", color=FOOT_COLOURS[i], label=word)
        fallen = np.array([not one.survived for one in members], dtype=bool)
        if fallen.any():
            axes.plot(phase[fallen], np.nan_to_num(values[fallen], nan=1.0), "x", color=LIMIT, markersize=9)
    axes.set_xlabel("phase of the gait at the push; crosses fell")
    legend(axes)


def _draw_runs(axes: Axes, runs: Sequence[Outcome]) -> None:
    colours = [FOOT_COLOURS[0] if one.survived else LIMIT for one in runs]
    bars(axes, {one.name: 1e3 * np.nan_to_num(one.speed_error) for one in runs}, colours, size=7)
    axes.set_xlabel("largest error of the mean speed [mm/s]; red: fell")


def _measure(run: Run) -> Findings:
    options = run.options
    settings = Settings(options.variant, options.seed, dict(options.set))
    extent = QUICK if options.quick else Extent()
    outcomes = do(outcome.run, runs(settings, extent, options.only or GROUPS), run)
    return Findings(
        settings={"quick": options.quick, **asdict(extent), **asdict(settings)},
        results={
            "groups": totals(outcomes),
            "outcomes": [record_of(one, "survived", "straight") for one in outcomes],
        },
        tables=[_table(outcomes), _group_table(outcomes)],
        drawings={"robustness.png": lambda path: draw(outcomes, path)},
        exit_code=0 if all(one.survived for one in outcomes) else 1,
    )


OPTIONS = (
    option("--only", choices=GROUPS, action="append", metavar="GROUP", help=f"of {', '.join(GROUPS)}"),
    option("--variant", choices=VARIANTS, default=Settings.variant, help="solver (default: %(default)s)"),
    add_seed,
    add_engine_options,
    add_setting_option,
)

BENCHMARK = Benchmark("robustness", __doc__, "6 phases of the gait instead of 24, shorter runs", _measure, OPTIONS)
