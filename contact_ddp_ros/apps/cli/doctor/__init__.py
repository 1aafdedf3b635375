"""`contact-ddp doctor`: what this machine has, and what to do about each thing that is missing.

Nothing is installed, and nothing of the package that needs more than Python itself is imported here: each check looks
for what it needs, and what is broken becomes a row of the table.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial

from contact_ddp_ros.apps.cli.doctor import machine
from contact_ddp_ros.apps.cli.doctor.interpreter import MISSING, OK, WARNING, Row, packages, page, python, shortened
from contact_ddp_ros.base.requirements import BASE, checkout

EXIT_UNFIT = 1
"""Something that `sim` needs is missing."""

NEEDED = ("packages", "C compiler")
"""Rows that `sim` needs."""

_EXTRAS = {
    "robots": "sim --robot go1",
    "engines": "sim --engine dart",
    "unitree": "demo --backend unitree",
    "export": "export RUN --to mcap",
    "bench": "bench solver",
    "docs": "docs",
    "test": "test quick",
}
"""Job that installs an extra."""

CHECKS: dict[str, Callable[[], Row]] = {
    "Python": python,
    "packages": partial(packages, BASE, "sim"),
    "C compiler": machine.compiler,
    "processor": machine.processor,
    "real time": machine.real_time,
    "disk": machine.disk,
    "ROS 2": machine.ros,
    "video": machine.video,
    "[play]": page,
    **{
        f"[{group}]": partial(packages, group, job)
        for group, job in _EXTRAS.items()
        if checkout() or group not in ("bench", "docs", "test")  # for what lies in a checkout alone
    },
}
"""All checks, in the order of the table."""


def doctor(_arguments: argparse.Namespace) -> int:
    """Print the table; EXIT_UNFIT where `sim` lacks something."""
    rows = {name: _row(check) for name, check in CHECKS.items()}
    if not sys.stdout.isatty() or not _print_table(rows):
        _print_lines(rows)
    lacking = [name for name in NEEDED if name in rows and rows[name].state == MISSING]
    print(f"sim lacks: {', '.join(lacking)}" if lacking else "All that sim needs is there.")
    return EXIT_UNFIT if lacking else 0


def _row(check: Callable[[], Row]) -> Row:
    """Row of a check; an error of the check itself, too, is a row."""
    try:
        return check()
    except Exception as error:  # noqa: BLE001  (whatever is broken here is what was asked for)
        found = shortened(f"cannot be checked: {type(error).__name__}: {error}")
        return Row(MISSING, found, "mend what is missing above and call contact-ddp doctor again")


def _print_table(rows: Mapping[str, Row]) -> bool:
    """Print a table where rich can be imported; False otherwise."""
    try:
        import rich
        from rich import box, table
        from rich.text import Text
    except ImportError:
        return False
    colours = {OK: "green", WARNING: "yellow", MISSING: "red"}
    grid = table.Table("what", "state", table.Column("found → what to do", overflow="fold"), box=box.SIMPLE)
    for name, row in rows.items():
        remedy = [(f"\n→ {row.remedy}", "bold")] if row.remedy else []
        grid.add_row(Text(name), Text(row.state, colours[row.state]), Text.assemble(row.found, *remedy))
    rich.print(grid)
    return True


def _print_lines(rows: Mapping[str, Row]) -> None:
    """Print a line for each check, and one for what to do, which can be copied whole."""
    names = max(map(len, rows))
    for name, row in rows.items():
        print(f"{row.state:<8} {name:<{names}}  {row.found}")
        if row.remedy:
            print(f"{'':<8} {'':<{names}}  → {row.remedy}")
