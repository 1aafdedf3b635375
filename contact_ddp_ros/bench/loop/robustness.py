"""`contact-ddp bench robustness`: what the bounding robot comes through in closed loop, and what it does not.

Runs of :mod:`contact_ddp_ros.bench.loop.scenarios` in lock-step, spread over the cores; each depends on its options
only. The exit code is 0 where nothing fell, 1 otherwise.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from rich.table import Table

from contact_ddp_ros.bench.benchmark import Benchmark, Findings, Run, add_setting_option
from contact_ddp_ros.bench.engine import add_engine_options, chosen_engine, run_all
from contact_ddp_ros.bench.loop import outcome
from contact_ddp_ros.bench.loop.outcome import LATERAL_BAND, ROLL_BAND, YAW_BAND, Outcome
from contact_ddp_ros.bench.loop.scenarios import DIRECTIONS, GROUPS, QUICK, Extent, Settings
from contact_ddp_ros.bench.output import new_table
from contact_ddp_ros.bench.panels import panel
from contact_ddp_ros.options import VARIANTS
from contact_ddp_ros.report.style import FOOT_COLOURS, LIMIT, figure, legend, name_rows

TARGET_SPEED = 0.1
"""Mean speed within this share of the command, or of 0.5 m/s where that is more."""

TARGET_TOUCHDOWN = 0.005
"""Largest touchdown error of a plan [m]."""

_SMALLEST = 1e-6
"""Zero, on a logarithmic axis."""

_STYLES = ("-", "--")
"""Alternate, so that mirror images, which coincide, both show."""


def totals(outcomes: Sequence[Outcome]) -> dict[str, dict[str, Any]]:
    """Per group, of pushes per direction: runs, survivors, and those straight again (None without pushes)."""
    groups: dict[str, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(_group(one), []).append(one)
    return {
        name: {
            "runs": len(members),
            "survived": sum(one.survived for one in members),
            "straight": None if members[0].straight is None else sum(bool(one.straight) for one in members),
        }
        for name, members in groups.items()
    }


def _group(one: Outcome) -> str:
    direction = next((word for word in DIRECTIONS if f"push {word}" in one.name), None)
    return one.group if direction is None else f"push {direction}"


def _table(outcomes: Sequence[Outcome]) -> Table:
    """Every run that is not a push, and of the pushes those that failed."""
    table = new_table("Runs", "run", "speed error", "roll", "pitch", "yaw", "plan touchdown", "sole", whole_names=True)
    table.add_column("")
    for one in outcomes:
        if one.straight:
            continue
        table.add_row(
            one.name,
            f"{one.speed_error:.3f} m/s",
            *(f"{angle:.3f}" for angle in (one.roll_max, one.pitch_max, one.yaw_drift)),
            f"{1e3 * one.touchdown_error:.1f} mm",
            f"{1e3 * one.touchdown_height:.1f} mm",
            _verdict(one),
        )
    return table


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
    table = new_table("Groups", "group", "runs", "survived", "straight within 2 s")
    for name, total in totals(outcomes).items():
        straight = "" if total["straight"] is None else str(total["straight"])
        table.add_row(name, str(total["runs"]), str(total["survived"]), straight)
    return table


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
    axes.barh(range(len(runs)), [1e3 * np.nan_to_num(one.speed_error) for one in runs], color=colours)
    name_rows(axes, [one.name for one in runs], size=7)
    axes.set_xlabel("largest error of the mean speed [mm/s]; red: fell")


def _measure(run: Run) -> Findings:
    options = run.options
    settings = Settings(options.variant, options.seed, dict(options.set))
    extent = QUICK if options.quick else Extent()
    groups = GROUPS if options.only is None else {name: GROUPS[name] for name in options.only}
    scenarios = [scenario for build in groups.values() for scenario in build(settings, extent)]
    engine = chosen_engine(options)
    outcomes = run_all(outcome.run, scenarios, engine, run.terminal)
    records = [{**asdict(one), "survived": one.survived, "straight": one.straight} for one in outcomes]
    return Findings(
        settings={"quick": options.quick, **asdict(extent), **asdict(settings)},
        results={"groups": totals(outcomes), "outcomes": records},
        tables=[_table(outcomes), _group_table(outcomes)],
        drawings={"robustness.png": lambda path: draw(outcomes, path)},
        exit_code=0 if all(one.survived for one in outcomes) else 1,
    )


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--only", choices=tuple(GROUPS), action="append", metavar="GROUP", help=f"of {', '.join(GROUPS)}"
    )
    parser.add_argument("--variant", choices=VARIANTS, default=Settings.variant, help="solver (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all that is random (default: 0)")
    add_engine_options(parser)
    add_setting_option(parser)


BENCHMARK = Benchmark("robustness", __doc__, "6 phases of the gait instead of 24, shorter runs", _measure, _add_options)
