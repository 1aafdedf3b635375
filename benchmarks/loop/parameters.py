"""`contact-ddp bench parameters`: how far each parameter can be turned while the robot bounds.

In lock-step, without ROS, the robot bounds at 0.5 m/s and one parameter of planner or controller is changed live, to
each of its bounds in a run of its own (:mod:`benchmarks.loop.live_change`). Where a bound does not hold, a
search between it and the default finds the last value that does. What is not allowed is offered too, and must be
refused without a trace.

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
from rich.table import Table

from benchmarks.benchmark import Findings, Run, option
from benchmarks.loop.harness import SPEED, bounding
from benchmarks.loop.live_change import BOUND_FIRST, PUSH, SIDES, directions, offer, run, search, tunable
from benchmarks.output import table_of
from benchmarks.study import Study
from contact_ddp_ros.base import safe_ranges
from contact_ddp_ros.base.config import ParameterSpec
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.safe_ranges import SafeRange, shown
from contact_ddp_ros.runs.report import style
from contact_ddp_ros.runs.study.batch import Journal
from contact_ddp_ros.runs.study.study import Case, Figures, Group, grouped

QUICK = (
    "planner.first_iterations",
    "planner.rate",
    "planner.reference.height",
    "planner.weight.pitch",
    "planner.ground.friction",
    "controller.drive.kp",
    "controller.move.feedback",
    "controller.move.exit_instant",
    "controller.safety.roll",
)
"""One parameter of every kind: whole, number, several numbers, switch, choice; of planner, drives, limits;
one that does not hold all the way, one that is there to damp, one with another beside it, one with a stand after it."""

_FULL: Mapping[str, Any] = {"steps": 4, "seconds": 2.5}
_SHORT: Mapping[str, Any] = {"steps": 1, "seconds": 1.1}
"""Halvings of a search, and bounding after a change [s], full and quick: seven cycles of the gait, and three."""

_ROW, _MARGIN = 0.2, 1.3
"""Height of a row and of what is not rows [inch]."""

_DECADES = 100.0
"""A default this many times smaller than its bound is drawn on a logarithmic scale."""

_REFUSALS = "refusals"


def cases(options: argparse.Namespace) -> list[Case]:
    """All that parameters do not allow, and every way off the default of each that is asked for."""
    names, table = _chosen(options), tunable()
    effort = _SHORT if options.quick else _FULL
    once = bounding({}, duration=BOUND_FIRST + effort["seconds"])
    found = [Case(_REFUSALS, _REFUSALS, bounding({}, duration=10.0), {"parameters": names})]
    for name in names:
        for towards in directions(table[name]):
            values = {"parameter": name, "towards": towards, **effort}
            found.append(Case(name, f"{name} {towards}", once, values))
    return found


def measure(case: Case) -> Figures:
    """Figures of a case: what was found where values are to be refused, else the result of a search."""
    values = case.values
    if case.group == _REFUSALS:
        refused = offer(values["parameters"])
        return {"fall": "; ".join(refused["found"]), **refused}
    name, seconds = values["parameter"], values["seconds"]
    found = search(tunable()[name], values["towards"], values["steps"], lambda value: run(name, value, seconds))
    return {"fall": "", **found}


def ranges_of(wanted: Sequence[Case], finished: Mapping[str, Figures]) -> dict[str, SafeRange | None]:
    """Every parameter there is, in the order of declaration; None where a case of it is missing."""
    own = grouped(wanted, lambda case: case.group)
    found: dict[str, SafeRange | None] = dict.fromkeys(tunable())
    for name, spec in tunable().items():
        if name in own and all(case.name in finished for case in own[name]):
            found[name] = as_range(spec, {case.values["towards"]: finished[case.name] for case in own[name]})
    return found


def as_range(spec: ParameterSpec, results: Mapping[str, Figures]) -> SafeRange:
    """The values that held and why not more, from the results of a parameter's searches by direction."""
    lost = {towards: f"{one['why']} at {shown(one['lost'])}" for towards, one in results.items() if one["why"]}
    if isinstance(spec.default, bool | str):
        return SafeRange([spec.default, *(one["held"] for one in results.values() if not one["why"])], lost)
    return SafeRange([results[side]["held"] if side in results else spec.default for side in SIDES], lost)


def write_ranges(run_of: Run, wanted: Sequence[Case], journal: Journal) -> None:
    """Write the safe ranges of what has been finished, so that a run that is cut off leaves them, too."""
    seconds = wanted[-1].values.get("seconds", 0.0)
    method = f"{seconds:g} s at {SPEED:g} m/s, with {PUSH:g} N s sideways"
    safe_ranges.write(run_of.folder / safe_ranges.FILE_NAME, ranges_of(wanted, journal.finished), method)


def report(groups: Sequence[Group], options: argparse.Namespace) -> Findings:
    """Ranges of every parameter that hold, and values that were not refused."""
    pairs = [pair for group in groups for pair in zip(group.cases, group.figures)]
    refusals = groups[0].figures[0]
    ranges = ranges_of([case for case, _ in pairs], {case.name: one for case, one in pairs})
    verdict = "[red]not all refused[/]" if refusals["found"] else "[green]refused[/]"
    text = f"{refusals['offered']} values that are not allowed, offered while bounding: {verdict} without a trace"
    return Findings(
        tables=[_table(ranges)],
        remarks=[text, *(f"[red]{finding}[/]" for finding in refusals["found"])],
        drawings={"parameters.png": lambda path: draw(tunable(), ranges, path)},
        exit_code=1 if refusals["found"] else 0,
    )


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


def _chosen(options: argparse.Namespace) -> list[str]:
    if not options.only:
        return list(QUICK) if options.quick else list(tunable())
    found = [name for name in tunable() if any(fnmatchcase(name, pattern) for pattern in options.only)]
    if not found:
        raise ParameterError(f"--only {' '.join(options.only)} matches none of the parameters, such as {QUICK[0]}")
    return found


def draw(table: Mapping[str, ParameterSpec], ranges: Mapping[str, SafeRange | None], path: Path) -> None:
    """Draw the ranges of numbers that held within those allowed; of several, the one whose default is largest."""
    measured = {name: one for name, one in ranges.items() if one is not None and _numeric(table[name])}
    sections = [[name for name in measured if name.startswith(f"{section}.")] for section in ("planner", "controller")]
    columns = [names for names in sections if names]
    height = _MARGIN + _ROW * max((len(names) for names in columns), default=1)
    with style.figure(path, 6.0 * max(len(columns), 1), height, "What holds while bounding at 0.5 m/s") as drawn:
        for index, names in enumerate(columns):
            axes = drawn.add_subplot(1, len(columns), index + 1)
            for row, name in enumerate(names):
                _draw_range(axes, row, table[name], measured[name])
            logs = [" (log)" * _logarithmic(table[name]) for name in names]
            labels = [f"{name.partition('.')[2]}{log}" for name, log in zip(names, logs)]
            axes.set_yticks(range(len(names)), labels, fontsize=7.5)
            axes.tick_params(axis="y", length=0, pad=28)
            axes.set_xticks([0.0, 0.5, 1.0], ["lowest", "", "highest"])
            axes.set(xlim=(-0.02, 1.12), ylim=(len(names) - 0.4, -0.6), xlabel="value within what is allowed")
            axes.grid(visible=False, axis="y")
            axes.spines["left"].set_visible(False)
            axes.set_title(names[0].partition(".")[0])
        if drawn.axes:
            entries = dict(zip(*reversed(drawn.axes[0].get_legend_handles_labels())))
            drawn.legend(entries.values(), entries, loc="upper right", ncols=3)


def _draw_range(axes: Axes, row: int, spec: ParameterSpec, found: SafeRange) -> None:
    """The range that held of one parameter, its default, and the bounds in numbers."""
    left, right, default = (_place(spec, value) for value in (*found.held, spec.default))
    axes.plot([0.0, 1.0], [row, row], color=style.MUTED, linewidth=1.0, zorder=1, label="allowed")
    axes.barh(row, right - left, left=left, height=0.55, color=style.PLANNED, alpha=0.75, zorder=2, label="held")
    axes.plot(default, row, "o", color=style.COMMAND, markersize=4, zorder=3, label="default")
    for bound, align, x in ((spec.low, "right", -0.015), (spec.high, "left", 1.015)):
        axes.text(x, row, f"{bound:g}", ha=align, va="center", fontsize=6.5, color=style.MEASURED)


def _entry(spec: ParameterSpec, value: Any) -> float:
    """The number itself, or of several the one whose default is furthest from zero."""
    return float(value[int(np.argmax(np.abs(spec.default)))] if isinstance(spec.default, tuple) else value)


def _logarithmic(spec: ParameterSpec) -> bool:
    """True for a default many times smaller than its bound."""
    default = _entry(spec, spec.default)
    return default > 0.0 and (spec.high or 0.0) / default >= _DECADES


def _place(spec: ParameterSpec, value: Any) -> float:
    """Place of a value between its bounds in [0, 1]; a logarithm from 0 on begins two decades below the default."""
    assert spec.low is not None and spec.high is not None
    number = _entry(spec, value)
    if not _logarithmic(spec):
        return (number - spec.low) / (spec.high - spec.low)
    least = spec.low if spec.low > 0.0 else _entry(spec, spec.default) / _DECADES
    return math.log(max(number, least) / least) / math.log(spec.high / least)


BENCHMARK = Study(cases, measure, report, end=write_ranges).benchmark(
    "parameters",
    __doc__,
    "some parameters of every kind, shorter runs, coarser searches, in under a minute",
    option(
        "--only",
        action="append",
        metavar="PATTERN",
        help="parameters by name, such as 'planner.weight.*'; repeatable",
    ),
    check=_chosen,
    settable=False,
)
