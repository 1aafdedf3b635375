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

from rich.console import Console

from contact_ddp_ros import __version__
from contact_ddp_ros.bench import closed_loop_tables, sweeps
from contact_ddp_ros.bench.arguments import add_out_option, add_quick_option, add_setting_option, bare_parser
from contact_ddp_ros.bench.budget import StageCosts, measure_costs
from contact_ddp_ros.bench.comparison import Comparison, compare
from contact_ddp_ros.bench.engine import Engine, add_engine_options, chosen_engine
from contact_ddp_ros.bench.jobs import run_all
from contact_ddp_ros.bench.journal import Journal
from contact_ddp_ros.bench.output import console, save_record
from contact_ddp_ros.bench.trials import SweepJob, fell, paced_run, perform
from contact_ddp_ros.errors import BenchmarkError, ParameterError
from contact_ddp_ros.files import new_folder, plain
from contact_ddp_ros.report.terminal import say

_COST_ROUNDS, _COST_REPEATS = 100, 5
"""Of the measurement of the stages' costs, which takes some seconds."""

_SAMPLE_RUN = 4.0
"""Simulated time of the run from which the duration of the whole is estimated [s]."""

_EXTENT = ("phases", "samples")
"""Fields of the extent that can be chosen."""

_UNSET: Mapping[str, Any] = {"quick": False, "only": None, "seed": 0, "phases": None, "samples": None, "set": {}}
"""Options that decide what is run, and their values where they are left out."""


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
            say(terminal, f"Go on with --resume {folder}")
            raise
    comparison = compare(jobs, results)
    save_record(folder, "closed-loop", dict(kept), _as_json(comparison))
    closed_loop_tables.show(terminal, comparison)
    from contact_ddp_ros.bench import closed_loop_figure

    closed_loop_figure.draw(comparison, folder / "closed_loop.png")
    say(terminal, f"Saved in {folder}")
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
    parser = bare_parser("closed-loop", __doc__)
    what = parser.add_argument_group("what is run; a resumed run keeps its own")
    add_quick_option(what, "a few runs of each group, in under a minute")
    what.add_argument(
        "--only", choices=tuple(sweeps.GROUPS), action="append", metavar="GROUP", help=f"of {', '.join(sweeps.GROUPS)}"
    )
    what.add_argument("--seed", type=int, default=0, metavar="N", help="of all that is random (default: 0)")
    what.add_argument("--phases", type=int, metavar="N", help="of the gait, at which pushes begin (default: 12)")
    what.add_argument("--samples", type=int, metavar="N", help="random runs per condition and variant (default: 20)")
    add_setting_option(what)
    where = parser.add_argument_group("where")
    add_engine_options(where)
    add_out_option(where, "closed-loop")
    where.add_argument("--resume", type=Path, metavar="FOLDER", help="of a run that was cut off: go on with it")
    options = parser.parse_args(arguments)
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
    say(terminal, f"One DDP iteration takes as long as {ratio['median']:.2f} of iLQR.")
    todo = [job for job in jobs if job.name not in journal.finished]
    started = process_time()
    paced_run(replace(settings.options(0), duration=_SAMPLE_RUN), settings.arms()[0])
    seconds = sum(job.cost for job in todo) * (process_time() - started) / _SAMPLE_RUN
    done = f", {len(jobs) - len(todo)} of them done" if len(todo) < len(jobs) else ""
    time = f"{seconds / 60.0:.0f} min of processor time" if seconds > 90.0 else f"{seconds:.0f} s of processor time"
    spread = "" if engine.size is None else f", shared by {engine.size} processes"
    say(terminal, f"{len(jobs)} jobs{done}: at most about {time}{spread}.")


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
