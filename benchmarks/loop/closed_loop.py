"""`contact-ddp bench closed-loop`: full DDP against iLQR inside the MPC, on equal time budgets.

Both variants control the simulated robot in lock-step under the same random conditions
(:mod:`benchmarks.loop.sweeps`), each with the iterations that fit the same processor time
(:mod:`benchmarks.loop.budget`):

* pushes: the largest impulse survived, over directions and phases of the gait;
* speeds: the fastest and the slowest speed that is held;
* iterations: how little time for the solver still bounds;
* friction, mass, delay, step: how often the robot survives what the planner does not know.

Every finished run is on the disk at once: after Ctrl-C or a crash, `--resume FOLDER` goes on. The exit code is 0
whatever the robot did.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, add_setting_option, at_least
from benchmarks.engine import add_engine_options, chosen_engine, do
from benchmarks.loop import closed_loop_figure, sweeps
from benchmarks.loop.budget import StageCosts, measure_costs
from benchmarks.loop.comparison import (
    Curve,
    Envelope,
    LoopComparison,
    Quality,
    SpeedLimits,
    compare,
    verdict,
)
from benchmarks.loop.sweeps import SweepExtent, SweepSettings
from benchmarks.loop.trials import SweepJob, paced_run, perform
from benchmarks.output import record_of, table_of
from benchmarks.solver.case import VARIANTS
from contact_ddp_ros.runs.report.progress import say, working
from contact_ddp_ros.runs.study.journal import Journal
from contact_ddp_ros.runs.study.statistics import Paired, Proportion

_COST_ROUNDS, _COST_REPEATS = 100, 5
"""Of the measurement of the stages' costs, which takes some seconds."""

_SAMPLE_RUN = 4.0
"""Simulated time of the run from which the duration of the whole is estimated [s]."""

_EXTENT = ("phases", "samples")
"""Fields of the extent that can be chosen."""

_UNITS = {
    "iterations": "DDP iterations per second",
    "friction": "friction coefficient",
    "mass": "trunk mass over nominal",
    "delay": "planner delay [s]",
    "step": "height of the step [m]",
}

_UNSET: Mapping[str, Any] = {"quick": False, "only": None, "seed": 0, "phases": None, "samples": None, "set": {}}
"""Options that decide what is run, and their values where they are left out."""


def _extent(kept: Mapping[str, Any]) -> SweepExtent:
    """Full or quick, with what was asked for instead."""
    extent = sweeps.QUICK if kept["quick"] else SweepExtent()
    return replace(extent, **{name: kept[name] for name in _EXTENT if kept[name] is not None})


def planned_jobs(settings: SweepSettings, extent: SweepExtent, groups: Sequence[str] | None) -> list[SweepJob]:
    """The jobs of some groups, or of all."""
    chosen = sweeps.GROUPS if groups is None else {name: sweeps.GROUPS[name] for name in groups}
    return [job for build in chosen.values() for job in build(settings, extent)]


def _measured_costs(run: Run) -> dict[str, Any]:
    """Of the solver's stages, for the budgets of a new run."""
    with working(run.terminal, "Timing the solver's stages"):
        costs, ratios = measure_costs(_COST_ROUNDS, _COST_REPEATS)
    return {"costs": costs, "ratios": ratios}


def _announce(run: Run, jobs: Sequence[SweepJob], journal: Journal, settings: SweepSettings) -> None:
    """How much there is to do; the kernels are compiled here, once for all processes of this machine."""
    ratio = journal.settings["ratios"]["iteration"]
    say(run.terminal, f"One DDP iteration takes as long as {ratio['median']:.2f} of iLQR.")
    todo = [job for job in jobs if job.name not in journal.finished]
    started = process_time()
    paced_run(replace(settings.options(0), duration=_SAMPLE_RUN), settings.arms()[0])
    seconds = sum(job.cost for job in todo) * (process_time() - started) / _SAMPLE_RUN
    done = f", {len(jobs) - len(todo)} of them done" if len(todo) < len(jobs) else ""
    time = f"{seconds / 60.0:.0f} min of processor time" if seconds > 90.0 else f"{seconds:.0f} s of processor time"
    size = chosen_engine(run.options).size
    spread = "" if size is None else f", shared by {size} processes"
    say(run.terminal, f"{len(jobs)} jobs{done}: at most about {time}{spread}.")


def _as_json(comparison: LoopComparison) -> dict[str, Any]:
    """The comparison with what follows from it."""
    return {
        "pushes": [record_of(one, "paired", "p_value", "advantage") for one in comparison.envelopes],
        "speeds": comparison.speeds,
        "curves": [record_of(one, "total", "p_value") for one in comparison.curves],
        "qualities": [record_of(one, "p_value") for one in comparison.qualities],
    }


def tables(comparison: LoopComparison) -> list[Table]:
    """All tables of what was measured."""
    found = [_envelope_table(comparison.envelopes)] if comparison.envelopes else []
    found += [_speed_table(comparison.speeds)] if comparison.speeds else []
    found += [_curve_table(curve) for curve in comparison.curves]
    found += [_group_table(comparison.curves)] if comparison.curves else []
    return [*found, _quality_table(comparison.qualities)] if comparison.qualities else found


def _each(cell: Callable[..., str]) -> dict[str, Callable[[Any], str]]:
    """A column for each variant."""
    return {name: partial(cell, variant=variant) for variant, name in VARIANTS.items()}


def _envelope_table(envelopes: Sequence[Envelope]) -> Table:
    title = "median, least and most over the phases of the gait"
    columns = {
        "direction": lambda one: one.direction,
        **_each(lambda one, variant: _range(one.held[variant])),
        "DDP / iLQR / neither better at": lambda one: f"{_either(one.paired)} / {one.paired.equal}",
        "median difference": lambda one: f"{one.advantage:+.2f}",
        "sign test": lambda one: _sign_test(one.paired),
    }
    return table_of(f"Largest impulse survived [N s], to {envelopes[0].resolution:.2g}: {title}", envelopes, columns)


def _speed_table(speeds: Sequence[SpeedLimits]) -> Table:
    title = f"Largest speed held [m/s], to {speeds[0].resolution:.2g}: median, least and most of the samples"
    columns = {
        "direction, DDP iterations per second": lambda one: f"{one.direction}, {one.iterations:g}",
        **_each(lambda one, variant: _range(one.held[variant]) + " (no limit found)" * all(one.open[variant])),
    }
    return table_of(title, speeds, columns)


def _curve_table(curve: Curve) -> Table:
    columns = {
        _UNITS[curve.group]: lambda row: f"{curve.values[row]:g}",
        **_each(lambda row, variant: _share(curve.survived[variant][row])),
        "only DDP / only iLQR": lambda row: _either(curve.paired[row]),
    }
    title = f"{curve.group.capitalize()}: share that survived, 95 % interval"
    return table_of(title, range(len(curve.values)), columns)


def _group_table(curves: Sequence[Curve]) -> Table:
    columns = {
        "group": lambda one: one.group,
        **_each(lambda one, variant: _share(one.overall(variant))),
        "only DDP / only iLQR": lambda one: _either(one.total),
        "sign test": lambda one: _sign_test(one.total),
        "budget spent, DDP / iLQR": lambda one: f"{100 * one.spent['ddp']:.0f} / {100 * one.spent['ilqr']:.0f} %",
    }
    return table_of("Survived in all", curves, columns)


def _quality_table(qualities: Sequence[Quality]) -> Table:
    columns = {
        "figure": lambda one: one.measure.replace("_", " "),
        "DDP / iLQR, median (quartiles)": lambda one: (
            f"{one.ratio.median:.3f} ({one.ratio.lower:.3f} to {one.ratio.upper:.3f})"
        ),
        "DDP / iLQR smaller in": lambda one: _either(one.paired),
        "sign test": lambda one: _sign_test(one.paired),
    }
    return table_of("Where both survived", qualities, columns)


def _sign_test(paired: Paired) -> str:
    return f"{verdict(paired)}, p = {paired.p_value:.2g}"


def _either(paired: Paired) -> str:
    """How often only the one, and how often only the other."""
    return f"{paired.first} / {paired.second}"


def _share(proportion: Proportion) -> str:
    return f"{proportion.successes}/{proportion.trials}, {proportion.percent}"


def _range(values: Sequence[float]) -> str:
    return f"{np.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def _measure(run: Run) -> Findings:
    options = run.options
    wanted = {name: getattr(options, name) for name in _UNSET} | {"set": dict(options.set)}
    with Journal.begin_or_resume(
        run.folder, wanted, lambda: _measured_costs(run), resume=run.resumes, unset=_UNSET
    ) as journal:
        kept = journal.settings
        settings = SweepSettings(StageCosts(**kept["costs"]), kept["seed"], kept["set"])
        jobs = planned_jobs(settings, _extent(kept), kept["only"])
        _announce(run, jobs, journal, settings)
        results = do(perform, jobs, run, journal)
    comparison = compare(jobs, results)
    return Findings(
        settings=kept,
        results=_as_json(comparison),
        tables=tables(comparison),
        drawings={"closed_loop.png": lambda path: closed_loop_figure.draw(comparison, path)},
    )


def _add_options(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what is run; a resumed run keeps its own")
    what.add_argument(
        "--only", choices=tuple(sweeps.GROUPS), action="append", metavar="GROUP", help=f"of {', '.join(sweeps.GROUPS)}"
    )
    what.add_argument("--seed", type=at_least(0), default=0, metavar="N", help="of all that is random (default: 0)")
    what.add_argument(
        "--phases", type=at_least(1), metavar="N", help="of the gait, for pushes to begin at (default: 12)"
    )
    what.add_argument(
        "--samples", type=at_least(1), metavar="N", help="random runs per condition and variant (default: 20)"
    )
    add_setting_option(what)
    add_engine_options(parser)


BENCHMARK = Benchmark(
    "closed-loop", __doc__, "a few runs of each group, in under a minute", _measure, _add_options, resumable=True
)
