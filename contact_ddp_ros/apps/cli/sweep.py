"""`contact-ddp sweep`: a study over parameters, in parallel, that goes on where it was cut off."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from contact_ddp_ros.apps.cli.options import run_options
from contact_ddp_ros.base import versions as provenance
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.runs.figures import check_metrics
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.report.progress import say
from contact_ddp_ros.runs.scenario import scenario
from contact_ddp_ros.runs.study import figures
from contact_ddp_ros.runs.study.axes import Axis
from contact_ddp_ros.runs.study.grid import CSV_FILE, NOISE, Grid, folder_name, run_grid, save, with_noise
from contact_ddp_ros.runs.study.study import Group

DEFAULT_METRIC = "mean_speed"

_WIDTH = 130
"""Width of a table that goes to a file [columns]."""

_MOST_ROWS = 60
"""Groups in the printed table; of larger studies only the CSV has all."""


def sweep(arguments: argparse.Namespace) -> int:
    """Check, run what is not finished, save and draw."""
    metrics = list(arguments.metric) or [DEFAULT_METRIC]
    check_metrics(metrics)
    study = _study(arguments)
    study.check()
    folder = arguments.out or Path("out") / folder_name(study)
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    found = run_grid(study, folder, console, processes=arguments.jobs, keep=arguments.keep)
    save(folder, study, found, metrics)
    console.print(_table(study, found, metrics))
    _draw(console, study, found, metrics, folder)
    say(console, f"Saved in {folder}")
    return 0


def _study(arguments: argparse.Namespace) -> Grid:
    """Axes of one value are settings of every run."""
    axes: Sequence[Axis] = arguments.axes
    names = [axis.name for axis in axes]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(f"--set {name} is given {names.count(name)} times; list its values in one")
    options = run_options(arguments)
    if arguments.noise:
        options = with_noise(options)
    return Grid(options, tuple(axes), arguments.seeds)


def _table(study: Grid, found: Sequence[Group], metrics: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for axis in study.axes:
        table.add_column(escape(axis.name), justify="right")
    metrics = [metric for metric in metrics if metric != "fell"]
    for metric in metrics:
        table.add_column(metric, justify="right")
    table.add_column("fell", justify="right")
    for point in found[:_MOST_ROWS]:
        values = [escape(axis.label(point.values[axis.name])) for axis in study.axes]
        falls = f"[red]{point.falls} of {len(point.figures)}[/]" if point.falls else ""
        table.add_row(*values, *(_words(point, metric) for metric in metrics), falls)
    if len(found) > _MOST_ROWS:
        table.caption = f"and {len(found) - _MOST_ROWS} more points in {CSV_FILE}"
    return table


def _words(point: Group, metric: str) -> str:
    spread = point.spread(metric)
    if not spread.runs:
        return "–"
    alike = spread.high - spread.low < 1e-9
    return f"{spread.mean:.4g}" + ("" if alike else f" ({spread.low:.3g} to {spread.high:.3g})")


def _draw(
    console: Console,
    study: Grid,
    found: Sequence[Group],
    metrics: Sequence[str],
    folder: Path,
) -> None:
    subject = _subject(study)
    for metric in metrics:
        if not any(point.spread(metric).runs for point in found):
            say(console, f"No run has {metric}: it is not drawn.")
        elif not figures.draw(study, found, metric, folder / figures.file_name(metric), subject):
            say(console, f"More than {figures.MOST_MAPS} heat maps: {metric} is not drawn, {CSV_FILE} has it.")


def _subject(study: Grid) -> str:
    """Settings that all runs have in common, in a line."""
    options: RunOptions = study.options
    varied = {axis.name for axis in study.axes}
    planner = scenario(options).planner
    terrain = options.in_effect("terrain")
    parts = {
        "robot": Path(options.robot).stem,
        "gait": Path(planner.gait.name).stem,
        "variant": planner.variant,
        "speed": f"{options.speed[0][1]:g} m/s" if len(options.speed) == 1 else "changing speed",
        "ground": "" if terrain == "flat" else terrain,
    }
    common = [text for name, text in parts.items() if text and name not in varied]
    common += ["with noise"] * any(name.startswith(NOISE) for name in options.overrides)
    common += [f"{len(options.pushes)} pushes" if len(options.pushes) > 1 else "a push"] * bool(options.pushes)
    commit = provenance.commit()
    common += [f"commit {commit[:7]}{'+' * commit.endswith('+')}"] * bool(commit)
    return ", ".join([*common, f"{options.duration:g} s each, {study.seeds * len(study.points)} runs"])
