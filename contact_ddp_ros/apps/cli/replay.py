"""`contact-ddp replay BAG`: plan again from the states of a recorded run and say how far the policies differ."""

import argparse
from dataclasses import asdict
from pathlib import Path

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from contact_ddp_ros.apps.cli.options import run_options
from contact_ddp_ros.base import versions as provenance
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.files import kept_unless_empty, new_folder, write_json
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.runs.replay import Comparison, replay
from contact_ddp_ros.runs.report import style
from contact_ddp_ros.runs.report.progress import progress_bar, say
from contact_ddp_ros.runs.scenario import scenario

RESULT_FILE, FIGURE_FILE = "replay.json", "replay.png"


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 where every pair of policies agrees within the tolerance and there is one, 1 otherwise."""
    from contact_ddp_ros.ros.bag import recorded_solves

    if arguments.tolerance < 0.0:
        raise ParameterError(f"--tolerance is {arguments.tolerance:g} N m; allowed: 0 or more")
    found = scenario(run_options(arguments))
    solves, missing = recorded_solves(arguments.bag)
    console = Console()
    with (
        kept_unless_empty(new_folder("replay", arguments.out)) as folder,
        progress_bar(console, "Planning again") as advance,
    ):
        compared = replay(Planner(WholeBodyModel(found.robot), found.planner), solves, advance)
    agree = compared.agrees(arguments.tolerance)
    write_json(
        folder / RESULT_FILE,
        {
            "bag": str(arguments.bag),
            "versions": provenance.versions(),
            "machine": provenance.machine(),
            "tolerance": arguments.tolerance,
            "agree": agree,
            "solves_without_state": missing,
            **asdict(compared),
        },
    )
    _draw(compared, folder / FIGURE_FILE)
    console.print(_table(compared, missing, arguments.tolerance, agree))
    say(console, f"Saved in {folder}")
    return 0 if agree else 1


def _table(compared: Comparison, missing: int, tolerance: float, agree: bool) -> Table:
    table = Table(title="Recorded and repeated policies", box=box.SIMPLE_HEAD, title_justify="left")
    for heading in ("", "median", "largest", "unit"):
        table.add_column(heading, justify="left" if heading in ("", "unit") else "right")
    for name, values, unit in (
        ("difference of a control", compared.torque, "N m"),
        ("difference of a state", compared.state, "m, rad, m/s, rad/s"),
        ("difference of a gain", compared.gain, "of the largest gain"),
        ("solve, recorded", 1e3 * compared.recorded_time, "ms"),
        ("solve, repeated", 1e3 * compared.repeated_time, "ms"),
    ):
        known = values[~np.isnan(values)]
        cells = (f"{np.median(known):.3g}", f"{known.max():.3g}") if known.size else ("-", "-")
        table.add_row(name, *cells, unit)
    verdict = "[green]agree[/]" if agree else "[red]differ[/]"
    gaps = f"{missing} left out for want of their state"
    if missing:
        gaps += ", so that the plans after each had another one to begin with"
    table.caption = (
        f"{len(compared.times)} solves, {compared.disagreeing} with a policy on one side only, {gaps}; "
        f"{verdict} within {tolerance:g} N m"
    )
    return table


def _draw(compared: Comparison, path: Path) -> None:
    with style.figure(path, 8.0, 4.5, "Recorded and repeated policies") as figure:
        upper, lower = figure.subplots(2, 1, sharex=True)
        upper.semilogy(compared.times, np.maximum(compared.torque, 1e-16), ".", color=style.PLANNED)
        upper.set_ylabel("largest difference\nof a control [N m]")
        lower.plot(compared.times, 1e3 * compared.recorded_time, ".", color=style.MEASURED, label="recorded")
        lower.plot(compared.times, 1e3 * compared.repeated_time, ".", color=style.PLANNED, label="repeated")
        lower.set_ylabel("solve [ms]")
        lower.set_xlabel("time [s]")
        lower.legend()
