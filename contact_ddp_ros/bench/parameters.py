"""`contact-ddp bench parameters`: how far each parameter can be turned while the robot bounds.

In lock-step, without ROS, the robot bounds at 0.5 m/s and one parameter of planner or controller is changed live, to
each of its bounds in a run of its own (:mod:`contact_ddp_ros.bench.live_change`). Where a bound does not hold, a search
between it and the default finds the last value that does. What is not allowed is offered too, and must be refused
without a trace (:mod:`contact_ddp_ros.bench.refusals`).

The folder gets `safe_ranges.yaml`; copied to `config/`, it is what `docs/parameters.md` shows. Every finished run is on
the disk at once: after Ctrl-C or a crash, `--resume FOLDER` goes on, and what is not measured is marked. The exit code
is 0 where everything that is not allowed was refused without a trace, 1 otherwise.
"""

import argparse
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from contact_ddp_ros import __version__, safe_ranges
from contact_ddp_ros.bench.arguments import add_out_option, add_quick_option, bare_parser
from contact_ddp_ros.bench.bounding import SPEED
from contact_ddp_ros.bench.engine import add_engine_options, chosen_engine
from contact_ddp_ros.bench.jobs import run_all
from contact_ddp_ros.bench.journal import Journal
from contact_ddp_ros.bench.live_change import PUSH, Change, as_range, changes, perform, tunable
from contact_ddp_ros.bench.output import console, save_record
from contact_ddp_ros.bench.refusals import Refusals, offer
from contact_ddp_ros.config import ParameterSpec
from contact_ddp_ros.errors import BenchmarkError, ParameterError
from contact_ddp_ros.files import new_folder
from contact_ddp_ros.report.terminal import say
from contact_ddp_ros.safe_ranges import SafeRange, shown

QUICK = (
    "planner.first_iterations",
    "planner.rate",
    "planner.reference.height",
    "planner.weight.pitch",
    "planner.ground.friction",
    "controller.drive.kp",
    "controller.bound.feedback",
    "controller.bound.exit_instant",
    "controller.lateral.roll_stiffness",
    "controller.safety.roll",
)
"""One parameter of every kind: whole, number, several numbers, switch, choice; of planner, drives, stabiliser, limits;
one that does not hold all the way, one that is there to damp, one with another beside it, one with a stand after it."""

_FULL: Mapping[str, Any] = {"steps": 4, "seconds": 2.5}
_SHORT: Mapping[str, Any] = {"steps": 1, "seconds": 1.1}
"""Halvings of a search, and bounding after a change [s], full and quick: seven cycles of the gait, and three."""

Job = Change | Refusals


def main(arguments: Sequence[str]) -> int:
    """Run what is missing, print, save."""
    options = _parse(arguments)
    engine, terminal = chosen_engine(options), console()
    folder, journal = _open(options)
    with journal:
        kept = journal.settings
        jobs = planned_jobs(kept["parameters"], kept["steps"], kept["seconds"])
        try:
            run_all(work, jobs, engine, terminal, journal)
        except KeyboardInterrupt:
            _save(folder, kept, journal.finished)
            say(terminal, f"Go on with --resume {folder}")
            raise
    ranges = _save(folder, kept, journal.finished)
    terminal.print(_table(ranges))
    from contact_ddp_ros.bench import parameters_figure

    parameters_figure.draw(tunable(), ranges, folder / "parameters.png")
    refusals = journal.finished[Refusals.name]
    terminal.print(f"{refusals['offered']} values that are not allowed, offered while bounding:", end=" ")
    terminal.print(
        "[red]not all refused without a trace[/]" if refusals["found"] else "[green]refused without a trace[/]"
    )
    for finding in refusals["found"]:
        say(terminal, f"[red]{finding}[/]")
    say(terminal, f"Saved in {folder}")
    return 1 if refusals["found"] else 0


def planned_jobs(parameters: Sequence[str], steps: int, seconds: float) -> list[Job]:
    """Everything to be done for some parameters."""
    table = tunable()
    found: list[Job] = [Refusals(tuple(parameters))]
    return found + [change for name in parameters for change in changes(name, table[name], steps, seconds)]


def work(job: Job) -> dict[str, Any]:
    """Run a job, here or in another process."""
    return offer(job) if isinstance(job, Refusals) else perform(job)


def ranges_of(parameters: Sequence[str], finished: Mapping[str, Any], steps: int) -> dict[str, SafeRange | None]:
    """Every parameter there is, in the order of declaration; None where a run of it is missing."""
    return {
        name: _range(name, spec, finished, steps) if name in parameters else None for name, spec in tunable().items()
    }


def _range(name: str, spec: ParameterSpec, finished: Mapping[str, Any], steps: int) -> SafeRange | None:
    wanted = changes(name, spec, steps, 0.0)
    if any(change.name not in finished for change in wanted):
        return None
    return as_range(spec, {change.towards: finished[change.name] for change in wanted})


def _save(folder: Path, kept: Mapping[str, Any], finished: Mapping[str, Any]) -> dict[str, SafeRange | None]:
    """The record and the safe ranges, of what has been finished."""
    ranges = ranges_of(kept["parameters"], finished, kept["steps"])
    method = f"{kept['seconds']:g} s at {SPEED:g} m/s, controller's with {PUSH:g} N s sideways"
    safe_ranges.write(folder / safe_ranges.FILE_NAME, ranges, method)
    save_record(folder, "parameters", dict(kept), {"runs": dict(finished)})
    return ranges


def _table(ranges: Mapping[str, SafeRange | None]) -> Table:
    table = Table(title=f"Changed while bounding at {SPEED:g} m/s", box=box.SIMPLE_HEAD, title_justify="left")
    for heading in ("parameter", "default", "allowed", "held", "beyond"):
        table.add_column(heading, overflow="fold")
    for name, spec in tunable().items():
        one = ranges[name]
        if one is not None:
            numeric = not isinstance(spec.default, bool | str)
            allowed = f"{spec.low:g} to {spec.high:g}" if numeric else ", ".join(spec.choices) or "true, false"
            held = (" to " if numeric else ", ").join(shown(value) for value in one.held)
            lost = "; ".join(f"{side}: {why}" for side, why in one.lost.items())
            table.add_row(name, shown(spec.default), allowed, held, lost)
    return table


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = bare_parser("parameters", __doc__)
    what = parser.add_argument_group("what is run; a resumed run keeps its own")
    add_quick_option(what, "some parameters of every kind, shorter runs, coarser searches, in under a minute")
    what.add_argument(
        "--only", action="append", metavar="PATTERN", help="parameters by name, such as 'planner.weight.*'; repeatable"
    )
    where = parser.add_argument_group("where")
    add_engine_options(where)
    add_out_option(where, "parameters")
    where.add_argument("--resume", type=Path, metavar="FOLDER", help="of a run that was cut off: go on with it")
    options = parser.parse_args(arguments)
    if options.resume is not None and (options.out is not None or options.quick or options.only):
        raise ParameterError("--resume goes on in its own folder with its own settings: no --out, --quick or --only")
    return options


def _open(options: argparse.Namespace) -> tuple[Path, Journal]:
    """The folder and the journal of a new run, or of one that is resumed."""
    if options.resume is None:
        settings = {
            "quick": options.quick,
            "parameters": _chosen(options.quick, options.only),
            **(_SHORT if options.quick else _FULL),
            "version": __version__,
        }
        folder = new_folder("bench-parameters", options.out)
        return folder, Journal.create(folder, settings)
    journal = Journal.resume(options.resume)
    if journal.settings.get("version") != __version__:
        journal.close()
        raise BenchmarkError(f"{options.resume} was begun with another version than {__version__}; start anew")
    return options.resume, journal


def _chosen(quick: bool, patterns: Sequence[str] | None) -> list[str]:
    names = list(QUICK) if quick else list(tunable())
    if not patterns:
        return names
    found = [name for name in tunable() if any(fnmatchcase(name, pattern) for pattern in patterns)]
    if not found:
        raise ParameterError(f"--only {' '.join(patterns)} matches none of the parameters, such as {names[0]}")
    return found
