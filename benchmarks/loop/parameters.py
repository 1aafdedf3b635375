"""`contact-ddp bench parameters`: how far each parameter can be turned while the robot bounds.

In lock-step, without ROS, the robot bounds at 0.5 m/s and one parameter of planner or controller is changed live, to
each of its bounds in a run of its own (:mod:`benchmarks.loop.live_change`). Where a bound does not hold, a
search between it and the default finds the last value that does. What is not allowed is offered too, and must be
refused without a trace (:mod:`benchmarks.loop.refusals`).

The folder gets `safe_ranges.yaml`; copied to `config/`, it is what `docs/parameters.md` shows. Every finished run is on
the disk at once: after Ctrl-C or a crash, `--resume FOLDER` goes on, and what is not measured is marked. The exit code
is 0 where everything that is not allowed was refused without a trace, 1 otherwise.
"""

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, option
from benchmarks.engine import add_engine_options, do
from benchmarks.loop.cases import SPEED
from benchmarks.loop.live_change import PUSH, Change, as_range, changes, perform, tunable
from benchmarks.loop.refusals import Refusals, offer
from benchmarks.output import save_record, table_of
from contact_ddp_ros.base import safe_ranges
from contact_ddp_ros.base.config import ParameterSpec
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.safe_ranges import SafeRange, shown
from contact_ddp_ros.runs.report import style
from contact_ddp_ros.runs.study.journal import Journal

QUICK = (
    "planner.first_iterations",
    "planner.rate",
    "planner.reference.height",
    "planner.weight.pitch",
    "planner.ground.friction",
    "controller.drive.kp",
    "controller.move.feedback",
    "controller.move.exit_instant",
    "controller.stand.kd",
    "controller.safety.roll",
)
"""One parameter of every kind: whole, number, several numbers, switch, choice; of planner, drives, stand, limits;
one that does not hold all the way, one that is there to damp, one with another beside it, one with a stand after it."""

_FULL: Mapping[str, Any] = {"steps": 4, "seconds": 2.5}
_SHORT: Mapping[str, Any] = {"steps": 1, "seconds": 1.1}
"""Halvings of a search, and bounding after a change [s], full and quick: seven cycles of the gait, and three."""

_ROW, _MARGIN = 0.2, 1.3
"""Height of a row and of what is not rows [inch]."""

_DECADES = 100.0
"""A default this many times smaller than its bound is drawn on a logarithmic scale."""

Job = Change | Refusals


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


def _write_ranges(folder: Path, kept: Mapping[str, Any], finished: Mapping[str, Any]) -> dict[str, SafeRange | None]:
    """The safe ranges, of what has been finished."""
    ranges = ranges_of(kept["parameters"], finished, kept["steps"])
    method = f"{kept['seconds']:g} s at {SPEED:g} m/s, with {PUSH:g} N s sideways"
    safe_ranges.write(folder / safe_ranges.FILE_NAME, ranges, method)
    return ranges


def _table(ranges: Mapping[str, SafeRange | None]) -> Table:
    columns: Mapping[str, Callable[[tuple[str, ParameterSpec, SafeRange]], str]] = {
        "parameter": lambda row: row[0],
        "default": lambda row: shown(row[1].default),
        "allowed": lambda row: _allowed(row[1]),
        "held": lambda row: (" to " if _numeric(row[1]) else ", ").join(shown(value) for value in row[2].held),
        "beyond": lambda row: "; ".join(f"{side}: {why}" for side, why in row[2].lost.items()),
    }
    rows = [(name, spec, one) for name, spec in tunable().items() if (one := ranges[name]) is not None]
    return table_of(f"Changed while bounding at {SPEED:g} m/s", rows, columns, text=True, whole_names=False)


def _numeric(spec: ParameterSpec) -> bool:
    return not isinstance(spec.default, bool | str)


def _allowed(spec: ParameterSpec) -> str:
    return f"{spec.low:g} to {spec.high:g}" if _numeric(spec) else ", ".join(spec.choices) or "true, false"


def _refusal_remarks(refusals: Mapping[str, Any]) -> list[str]:
    verdict = "[red]not all refused[/]" if refusals["found"] else "[green]refused[/]"
    text = f"{refusals['offered']} values that are not allowed, offered while bounding: {verdict} without a trace"
    return [text, *(f"[red]{finding}[/]" for finding in refusals["found"])]


def _chosen(quick: bool, patterns: Sequence[str] | None) -> list[str]:
    names = list(QUICK) if quick else list(tunable())
    if not patterns:
        return names
    found = [name for name in tunable() if any(fnmatchcase(name, pattern) for pattern in patterns)]
    if not found:
        raise ParameterError(f"--only {' '.join(patterns)} matches none of the parameters, such as {names[0]}")
    return found


def draw(table: Mapping[str, ParameterSpec], ranges: Mapping[str, SafeRange | None], path: Path) -> None:
    """Numbers only; of several, the entry whose default is furthest from zero."""
    measured = {name: one for name, one in ranges.items() if one is not None and _numeric(table[name])}
    sections = [[name for name in measured if name.startswith(f"{section}.")] for section in ("planner", "controller")]
    columns = [names for names in sections if names]
    height = _MARGIN + _ROW * max((len(names) for names in columns), default=1)
    with style.figure(path, 6.0 * max(len(columns), 1), height, "What holds while bounding at 0.5 m/s") as figure:
        for index, names in enumerate(columns):
            _column(figure.add_subplot(1, len(columns), index + 1), names, table, measured)
        _legend(figure)


def _column(axes: Axes, names: list[str], table: Mapping[str, ParameterSpec], ranges: Mapping[str, SafeRange]) -> None:
    for row, name in enumerate(names):
        spec = table[name]
        place = _scale(spec)
        held = [_entry(spec, value) for value in ranges[name].held]
        axes.plot([0.0, 1.0], [row, row], color=style.MUTED, linewidth=1.0, zorder=1)
        left, right = place(held[0]), place(held[1])
        axes.barh(row, right - left, left=left, height=0.55, color=style.PLANNED, alpha=0.75, zorder=2)
        axes.plot(place(_entry(spec, spec.default)), row, "o", color=style.COMMAND, markersize=4, zorder=3)
        for bound, align, x in ((spec.low, "right", -0.015), (spec.high, "left", 1.015)):
            axes.text(x, row, f"{bound:g}", ha=align, va="center", fontsize=6.5, color=style.MEASURED)
    labels = [f"{name.partition('.')[2]}{' (log)' if _logarithmic(table[name]) else ''}" for name in names]
    axes.set_yticks(range(len(names)), labels, fontsize=7.5)
    axes.tick_params(axis="y", length=0, pad=28)
    axes.set_xticks([0.0, 0.5, 1.0], ["lowest", "", "highest"])
    axes.set_xlim(-0.02, 1.12)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_title(names[0].partition(".")[0])
    axes.set_xlabel("value within what is allowed")


def _legend(figure: Figure) -> None:
    axes = figure.axes[0] if figure.axes else figure.add_subplot()
    axes.plot([], [], color=style.MUTED, linewidth=1.0, label="allowed")
    axes.barh([np.nan], [0.0], color=style.PLANNED, alpha=0.75, label="held")
    axes.plot([], [], "o", color=style.COMMAND, markersize=4, label="default")
    figure.legend(*axes.get_legend_handles_labels(), loc="upper right", ncols=3)


def _entry(spec: ParameterSpec, value: object) -> float:
    """The number itself, or of several the one whose default is furthest from zero."""
    if not isinstance(spec.default, tuple):
        return float(value)  # type: ignore[arg-type]
    index = int(np.argmax(np.abs(spec.default)))
    return float(value[index])  # type: ignore[index]


def _logarithmic(spec: ParameterSpec) -> bool:
    assert spec.high is not None
    default = _entry(spec, spec.default)
    return default > 0.0 and spec.high / default >= _DECADES


def _scale(spec: ParameterSpec) -> Callable[[float], float]:
    """From a value to its place in [0, 1]; a logarithm from 0 on begins two decades below the default."""
    assert spec.low is not None and spec.high is not None
    low, high = spec.low, spec.high
    if not _logarithmic(spec):
        return lambda value: (value - low) / (high - low)
    least = low if low > 0.0 else _entry(spec, spec.default) / _DECADES
    return lambda value: math.log(max(value, least) / least) / math.log(high / least)


def _measure(run: Run) -> Findings:
    options = run.options
    effort = _SHORT if options.quick else _FULL
    settings = {"quick": options.quick, "parameters": _chosen(options.quick, options.only), **effort}
    with Journal.begin_or_resume(run.folder, settings, resume=run.resumes) as journal:
        kept, finished = journal.settings, journal.finished
        jobs = planned_jobs(kept["parameters"], kept["steps"], kept["seconds"])
        try:
            do(work, jobs, run, journal)
        except KeyboardInterrupt:
            _write_ranges(run.folder, kept, finished)
            save_record(run.folder, BENCHMARK.name, kept, {"runs": finished})
            raise
    ranges, refusals = _write_ranges(run.folder, kept, finished), finished[Refusals.name]
    return Findings(
        settings=kept,
        results={"runs": finished},
        tables=[_table(ranges)],
        remarks=_refusal_remarks(refusals),
        drawings={"parameters.png": lambda path: draw(tunable(), ranges, path)},
        exit_code=1 if refusals["found"] else 0,
    )


def _check(options: argparse.Namespace) -> None:
    if options.resume is not None and (options.quick or options.only):
        raise ParameterError("--resume goes on with the settings of its run: no --quick or --only")
    _chosen(options.quick, options.only)


OPTIONS = (
    option(
        "--only",
        action="append",
        metavar="PATTERN",
        help="parameters by name, such as 'planner.weight.*'; repeatable",
    ),
    add_engine_options,
)

BENCHMARK = Benchmark(
    "parameters",
    __doc__,
    "some parameters of every kind, shorter runs, coarser searches, in under a minute",
    _measure,
    OPTIONS,
    _check,
    resumable=True,
)
