"""`contact-ddp bench closed-loop`: full DDP against iLQR inside the MPC, on equal time budgets.

Both variants control the simulated robot in lock-step under the same random conditions
(:mod:`contact_ddp_ros.bench.sweeps`), each with the iterations that fit the same processor time
(:mod:`contact_ddp_ros.bench.budget`):

* pushes: the largest impulse survived, over directions and phases of the gait;
* speeds: the fastest and the slowest speed that is held;
* iterations: how little time for the solver still bounds;
* friction, mass, delay, step: how often the robot survives what the planner does not know.

Every finished run is on the disk at once: after Ctrl-C or a crash, `--resume FOLDER` goes on. The exit code is 0
whatever the robot did.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from time import process_time
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from contact_ddp_ros import __version__
from contact_ddp_ros.bench import sweeps
from contact_ddp_ros.bench.arguments import add_setting_option
from contact_ddp_ros.bench.budget import StageCosts, measure_costs
from contact_ddp_ros.bench.comparison import Comparison, Curve, compare, verdict
from contact_ddp_ros.bench.engine import Engine, add_engine_options, chosen_engine
from contact_ddp_ros.bench.jobs import run_all
from contact_ddp_ros.bench.journal import Journal
from contact_ddp_ros.bench.output import console, save_record
from contact_ddp_ros.bench.statistics import Proportion
from contact_ddp_ros.bench.trials import SweepJob, fell, paced_run, perform
from contact_ddp_ros.errors import BenchmarkError, ParameterError
from contact_ddp_ros.files import new_folder, plain

_COST_ROUNDS, _COST_REPEATS = 100, 5
"""Of the measurement of the stages' costs, which takes some seconds."""

_SAMPLE_RUN = 4.0
"""Simulated time of the run from which the duration of the whole is estimated [s]."""

_EXTENT = ("phases", "samples")
"""Fields of the extent that can be chosen."""

_UNSET: Mapping[str, Any] = {"quick": False, "only": None, "seed": 0, "phases": None, "samples": None, "set": {}}
"""Options that decide what is run, and their values where they are left out."""

_UNITS = {
    "iterations": "DDP iterations per second",
    "friction": "friction coefficient",
    "mass": "trunk mass over nominal",
    "delay": "planner delay [s]",
    "step": "height of the step [m]",
}


def main(arguments: Sequence[str]) -> int:
    """Run what is missing, compare, print, save."""
    options = _parse(arguments)
    engine = chosen_engine(options)
    terminal = console()
    folder, journal = _open(options, terminal)
    with journal:
        kept = journal.settings
        settings = sweeps.Settings(StageCosts(**kept["costs"]), kept["seed"], kept["set"])
        jobs = planned_jobs(settings, _extent(kept), kept["only"])
        _announce(terminal, jobs, journal, settings, engine)
        try:
            results = run_all(perform, jobs, engine, terminal, journal, fell)
        except KeyboardInterrupt:
            terminal.print(f"Go on with --resume {folder}", highlight=False, soft_wrap=True)
            raise
    comparison = compare(jobs, results)
    save_record(folder, "closed-loop", dict(kept), _as_json(comparison))
    _print(terminal, comparison)
    from contact_ddp_ros.bench import closed_loop_figure

    closed_loop_figure.draw(comparison, folder / "closed_loop.png")
    terminal.print(f"Saved in {folder}", highlight=False, soft_wrap=True)
    return 0


def _extent(kept: Mapping[str, Any]) -> sweeps.Extent:
    """Full or quick, with what was asked for instead."""
    extent = sweeps.QUICK if kept["quick"] else sweeps.Extent()
    return replace(extent, **{name: kept[name] for name in _EXTENT if kept[name] is not None})


def planned_jobs(settings: sweeps.Settings, extent: sweeps.Extent, groups: Sequence[str] | None) -> list[SweepJob]:
    """The jobs of some groups, or of all."""
    chosen = sweeps.GROUPS if groups is None else {name: sweeps.GROUPS[name] for name in groups}
    return [job for build in chosen.values() for job in build(settings, extent)]


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="contact-ddp bench closed-loop", description=__doc__.split("\n")[0])
    what = parser.add_argument_group("what is run; a resumed run keeps its own")
    what.add_argument("--quick", action="store_true", help="a few runs of each group, in under a minute")
    what.add_argument(
        "--only", choices=tuple(sweeps.GROUPS), action="append", metavar="GROUP", help=f"of {', '.join(sweeps.GROUPS)}"
    )
    what.add_argument("--seed", type=int, default=0, metavar="N", help="of all that is random (default: 0)")
    what.add_argument("--phases", type=int, metavar="N", help="of the gait, at which pushes begin (default: 12)")
    what.add_argument("--samples", type=int, metavar="N", help="random runs per condition and variant (default: 20)")
    add_setting_option(what)
    where = parser.add_argument_group("where")
    add_engine_options(where)
    where.add_argument(
        "--out", type=Path, metavar="FOLDER", help="new or empty folder (default: out/bench-closed-loop-<time>)"
    )
    where.add_argument("--resume", type=Path, metavar="FOLDER", help="of a run that was cut off: go on with it")
    options = parser.parse_args(list(arguments))
    for name, least in (("seed", 0), ("phases", 1), ("samples", 1)):
        value = getattr(options, name)
        if value is not None and value < least:
            raise ParameterError(f"--{name} is {value}; it must be at least {least}")
    if options.out is not None and options.resume is not None:
        raise ParameterError("--out and --resume exclude each other: a resumed run goes on in its own folder")
    return options


def _open(options: argparse.Namespace, terminal: Console) -> tuple[Path, Journal]:
    """The folder and the journal of a new run, with the costs measured now, or of one that is resumed."""
    wanted = {name: getattr(options, name) for name in _UNSET} | {"set": dict(options.set)}
    if options.resume is None:
        folder = new_folder("bench-closed-loop", options.out)
        with terminal.status("Timing the solver's stages"):
            costs, ratios = measure_costs(_COST_ROUNDS, _COST_REPEATS)
        measured = {
            "costs": asdict(costs),
            "ratios": {stage: ratio.as_json() for stage, ratio in ratios.items()},
        }
        return folder, Journal.create(folder, {**wanted, **measured, "version": __version__})
    journal = Journal.resume(options.resume)
    try:
        _check_resumed(options.resume, wanted, journal.settings)
    except BenchmarkError:
        journal.close()
        raise
    return options.resume, journal


def _check_resumed(folder: Path, wanted: Mapping[str, Any], kept: Mapping[str, Any]) -> None:
    """What is asked for beside --resume must be what the run was begun with."""
    if kept.get("version") != __version__:
        raise BenchmarkError(
            f"{folder} was begun with version {kept.get('version')}, this is {__version__}; start anew"
        )
    differing = [name for name, value in plain(wanted).items() if value not in (_UNSET[name], kept.get(name))]
    if differing:
        words = ", ".join(f"--{name} {wanted[name]} (it has {kept.get(name)})" for name in differing)
        raise BenchmarkError(f"{folder} was begun with other settings than {words}; leave them out, or start anew")


def _announce(
    terminal: Console, jobs: Sequence[SweepJob], journal: Journal, settings: sweeps.Settings, engine: Engine
) -> None:
    """How much there is to do; the kernels are compiled here, once for all processes of this machine."""
    ratio = journal.settings["ratios"]["iteration"]
    terminal.print(f"One DDP iteration takes as long as {ratio['median']:.2f} of iLQR.", highlight=False)
    todo = [job for job in jobs if job.name not in journal.finished]
    started = process_time()
    paced_run(replace(settings.options(0), duration=_SAMPLE_RUN), settings.arms()[0])
    seconds = sum(job.cost for job in todo) * (process_time() - started) / _SAMPLE_RUN
    done = f", {len(jobs) - len(todo)} of them done" if len(todo) < len(jobs) else ""
    time = f"{seconds / 60.0:.0f} min of processor time" if seconds > 90.0 else f"{seconds:.0f} s of processor time"
    spread = "" if engine.size is None else f", shared by {engine.size} processes"
    terminal.print(f"{len(jobs)} jobs{done}: at most about {time}{spread}.", highlight=False, soft_wrap=True)


def _print(terminal: Console, comparison: Comparison) -> None:
    if comparison.envelopes:
        terminal.print(_envelope_table(comparison))
    if comparison.speeds:
        terminal.print(_speed_table(comparison))
    for curve in comparison.curves:
        terminal.print(_curve_table(curve))
    if comparison.curves:
        terminal.print(_group_table(comparison))
    if comparison.qualities:
        terminal.print(_quality_table(comparison))


def _table(title: str, first: str, *headings: str) -> Table:
    table = Table(title=escape(title), box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 1, 0, 0))
    table.add_column(escape(first), no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _envelope_table(comparison: Comparison) -> Table:
    resolution = comparison.envelopes[0].resolution
    table = _table(
        f"Largest impulse survived [N s], to {resolution:.2g}: median, least and most over the phases of the gait",
        "direction",
        "DDP",
        "iLQR",
        "DDP / iLQR / neither better at",
        "median difference",
        "sign test",
    )
    for one in comparison.envelopes:
        ranges = [_range(one.held[variant]) for variant in ("ddp", "ilqr")]
        result = one.paired
        table.add_row(
            one.direction,
            *ranges,
            f"{result.first} / {result.second} / {result.equal}",
            f"{one.advantage:+.2f}",
            f"{verdict(result)}, p = {result.p_value:.2g}",
        )
    return table


def _speed_table(comparison: Comparison) -> Table:
    table = _table(
        f"Largest speed held [m/s], to {comparison.speeds[0].resolution:.2g}: median, least and most of the samples",
        "direction, DDP iterations per second",
        "DDP",
        "iLQR",
    )
    for one in comparison.speeds:
        cells = [
            _range(one.held[variant]) + (" (no limit found)" if all(one.open[variant]) else "")
            for variant in ("ddp", "ilqr")
        ]
        table.add_row(f"{one.direction}, {one.iterations:g}", *cells)
    return table


def _curve_table(curve: Curve) -> Table:
    unit = _UNITS[curve.group]
    table = _table(
        f"{curve.group.capitalize()}: share that survived, 95 % interval", unit, "DDP", "iLQR", "only DDP / only iLQR"
    )
    for value, ddp, ilqr, result in zip(curve.values, *_both(curve), curve.paired, strict=True):
        table.add_row(f"{value:g}", _share(ddp), _share(ilqr), f"{result.first} / {result.second}")
    return table


def _group_table(comparison: Comparison) -> Table:
    table = _table(
        "Survived in all", "group", "DDP", "iLQR", "only DDP / only iLQR", "sign test", "budget spent, DDP / iLQR"
    )
    for curve in comparison.curves:
        result = curve.total
        table.add_row(
            curve.group,
            *(_share(curve.overall(variant)) for variant in ("ddp", "ilqr")),
            f"{result.first} / {result.second}",
            f"{verdict(result)}, p = {result.p_value:.2g}",
            f"{100 * curve.spent['ddp']:.0f} / {100 * curve.spent['ilqr']:.0f} %",
        )
    return table


def _quality_table(comparison: Comparison) -> Table:
    table = _table(
        "Where both survived", "figure", "DDP / iLQR, median (quartiles)", "DDP / iLQR smaller in", "sign test"
    )
    for one in comparison.qualities:
        table.add_row(
            one.measure.replace("_", " "),
            f"{one.ratio.median:.3f} ({one.ratio.lower:.3f} to {one.ratio.upper:.3f})",
            f"{one.paired.first} / {one.paired.second}",
            f"{verdict(one.paired)}, p = {one.paired.p_value:.2g}",
        )
    return table


def _both(curve: Curve) -> tuple[Sequence[Proportion], Sequence[Proportion]]:
    return curve.survived["ddp"], curve.survived["ilqr"]


def _share(proportion: Proportion) -> str:
    interval = f"{100 * proportion.lower:.0f} to {100 * proportion.upper:.0f}"
    return f"{proportion.successes}/{proportion.trials}, {interval} %"


def _range(values: Sequence[float]) -> str:
    ordered = sorted(values)
    middle = 0.5 * (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2])
    return f"{middle:.3g} ({ordered[0]:.3g} to {ordered[-1]:.3g})"


def _as_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison with what follows from it."""
    return {
        "pushes": [
            {**asdict(one), "paired": asdict(one.paired), "p_value": one.paired.p_value, "advantage": one.advantage}
            for one in comparison.envelopes
        ],
        "speeds": [asdict(one) for one in comparison.speeds],
        "curves": [
            {**asdict(one), "total": asdict(one.total), "p_value": one.total.p_value} for one in comparison.curves
        ],
        "qualities": [{**asdict(one), "p_value": one.paired.p_value} for one in comparison.qualities],
    }
