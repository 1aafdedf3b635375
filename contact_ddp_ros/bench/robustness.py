"""`contact-ddp bench robustness`: what the bounding robot comes through in closed loop, and what it does not.

Runs of :mod:`contact_ddp_ros.bench.scenarios` in lock-step, spread over the cores; each depends on its options only.
The exit code is 0 where nothing fell, 1 otherwise.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.table import Table

from contact_ddp_ros.bench import outcome
from contact_ddp_ros.bench.arguments import add_setting_option, benchmark_parser
from contact_ddp_ros.bench.engine import add_engine_options, chosen_engine
from contact_ddp_ros.bench.jobs import run_all
from contact_ddp_ros.bench.outcome import Outcome
from contact_ddp_ros.bench.output import console, save_record
from contact_ddp_ros.bench.scenarios import DIRECTIONS, GROUPS, QUICK, Extent, Settings
from contact_ddp_ros.files import new_folder
from contact_ddp_ros.options import VARIANTS
from contact_ddp_ros.report.terminal import say

TARGET_SPEED = 0.1
"""Mean speed within this share of the command, or of 0.5 m/s where that is more."""

TARGET_TOUCHDOWN = 0.005
"""Largest touchdown error of a plan [m]."""


def main(arguments: Sequence[str]) -> int:
    """Run the scenarios, print, save."""
    options = _parse(arguments)
    engine = chosen_engine(options)
    settings = Settings(options.variant, options.seed, dict(options.set))
    extent = QUICK if options.quick else Extent()
    groups = GROUPS if options.only is None else {name: GROUPS[name] for name in options.only}
    scenarios = [scenario for build in groups.values() for scenario in build(settings, extent)]
    folder = new_folder("bench-robustness", options.out)
    terminal = console()
    outcomes = run_all(outcome.run, scenarios, engine, terminal, fell=lambda one: not one.survived)
    save_record(
        folder,
        "robustness",
        {"quick": options.quick, **asdict(extent), **asdict(settings)},
        {"groups": totals(outcomes), "outcomes": [_as_json(one) for one in outcomes]},
    )
    terminal.print(_table(outcomes))
    terminal.print(_group_table(outcomes))
    from contact_ddp_ros.bench import robustness_figure

    robustness_figure.draw(outcomes, folder / "robustness.png")
    say(terminal, f"Saved in {folder}")
    return 0 if all(one.survived for one in outcomes) else 1


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


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = benchmark_parser("robustness", __doc__, quick="6 phases of the gait instead of 24, shorter runs")
    parser.add_argument(
        "--only", choices=tuple(GROUPS), action="append", metavar="GROUP", help=f"of {', '.join(GROUPS)}"
    )
    parser.add_argument("--variant", choices=VARIANTS, default=Settings.variant, help="solver (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all that is random (default: 0)")
    add_engine_options(parser)
    add_setting_option(parser)
    return parser.parse_args(arguments)


def _as_json(one: Outcome) -> dict[str, Any]:
    return {**asdict(one), "survived": one.survived, "straight": one.straight}


def _table(outcomes: Sequence[Outcome]) -> Table:
    """Every run that is not a push, and of the pushes those that failed."""
    table = Table(title="Runs", box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 1, 0, 0))
    table.add_column("run", no_wrap=True)
    for heading in ("speed error", "roll", "pitch", "yaw", "plan touchdown", "sole"):
        table.add_column(heading, justify="right", no_wrap=True)
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
    table = Table(title="Groups", box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 1, 0, 0))
    table.add_column("group")
    for heading in ("runs", "survived", "straight within 2 s"):
        table.add_column(heading, justify="right")
    for name, total in totals(outcomes).items():
        straight = "" if total["straight"] is None else str(total["straight"])
        table.add_row(name, str(total["runs"]), str(total["survived"]), straight)
    return table
