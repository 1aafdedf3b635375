"""`contact-ddp bench peers`: the same bound by Crocoddyl, CSQP, IPOPT and FATROP, as proof and as yardstick.

* where all solvers end on one gait cycle: cost, states and torques beside ours, with and without limits; with limits
  FATROP, too, and how many starts each solves;
* processor time to a given accuracy of the cost from the same first trajectory, over speeds and disturbed starts;
* processor time of one iteration over the length of the horizon; of the bound only.

With `--model whole_body` it is the trot of the whole body, and without CSQP. Without requirements-bench.txt Crocoddyl
and CSQP are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import util
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark, Findings, Run, at_least, option
from benchmarks.output import Metric
from benchmarks.peers import CYCLE, MISSING_CROCODDYL, TARGET_CROCODDYL, peers_figure, scaling
from benchmarks.peers.comparison import (
    ACCURACIES,
    DDP,
    DDP_HASTY,
    DDP_PENALTIES,
    TARGET_AGREEMENT,
    TARGETS,
    SolverComparison,
    StartCondition,
    compare_all,
)
from benchmarks.peers.scaling import EXACT, LEAN, Scaling
from benchmarks.solver.iteration import ITERATION
from benchmarks.timing import Spread
from contact_ddp_ros.base.choices import MODEL_NAMES
from contact_ddp_ros.base.compiled.compiler import flags
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.runs.report.progress import progress_bar, say

COMMANDS: Mapping[str, Sequence[tuple[float, float]]] = {
    PlanarModel.name: ((0.5, 0.0), (1.0, 0.0), (2.0, 0.0)),
    WholeBodyModel.name: ((0.5, 0.0), (1.0, 0.0), (1.5, 0.0), (0.5, 1.0)),
}
"""By model, commanded speeds [m/s] and turns [rad/s] of the starts."""

FIRST_SEED = 1000
"""First seed of the disturbed starts. Settings of the solver were searched on smaller ones: no figure is in-sample."""


@dataclass(frozen=True)
class Effort:
    """How much is measured: starts per speed, rounds of times to accuracy and of iterations, horizons [steps]."""

    starts: int
    rounds: int
    lengths: tuple[int, ...]
    iteration_rounds: int


FULL = Effort(starts=5, rounds=5, lengths=(40, CYCLE, 180, 270, 360), iteration_rounds=20)
QUICK = Effort(starts=1, rounds=2, lengths=(40, CYCLE, 180), iteration_rounds=4)


def agreement_metrics(ends: Sequence[SolverComparison]) -> list[Metric]:
    """Per statement and solver: the largest relative difference to our DDP's cost, of the starts with one optimum."""
    found = []
    for statement, solver in _pairs(ends):
        if solver == DDP:
            continue
        whole = [end for end in ends if end.statement == statement]
        same = [end for end in whole if end.same(solver)]
        states, torques = (max((end.deviation(solver)[i] for end in same), default=float("inf")) for i in range(2))
        note = f"{len(same)} of {len(whole)} starts; states within {states:.0e}, torques within {torques:.0e} N m"
        worst = max((abs(end.difference(solver)) for end in same), default=float("inf"))
        found.append(Metric(f"optimum, {statement}: {solver} against DDP", worst, TARGET_AGREEMENT, note))
    return found


def time_metrics(ends: Sequence[SolverComparison]) -> list[Metric]:
    """Per statement, solver and accuracy: time over DDP's, spread over the starts."""
    found = []
    for statement, solver in _pairs(ends):
        if solver == DDP:
            continue
        for accuracy in ACCURACIES[statement]:
            all_ratios = [end.ratio(solver, accuracy) for end in ends if end.statement == statement]
            ratios = [one for one in all_ratios if one is not None]
            name = f"time to {accuracy:.0e}, {statement}: {solver} / DDP"
            note = f"{len(ratios)} of {len(all_ratios)} starts"
            if ratios:
                target = TARGETS.get((statement, solver), {}).get(accuracy)
                found.append(Metric(name, Spread.of(ratios), target, note, at_least=True))
    return found


def success_metrics(ends: Sequence[SolverComparison]) -> list[Metric]:
    """Per solver: share of the starts that reach 1e-6, and iterations until then."""
    found = []
    for statement, solver in _pairs(ends):
        counts = [end.reached[solver][1e-6] for end in ends if end.statement == statement]
        reached = [count for count in counts if count is not None]
        unit = "passes" if solver in (DDP_PENALTIES, DDP_HASTY) else "iterations"
        note = f"{unit} until then: median {np.median(reached):g}, most {max(reached)}" if reached else ""
        target = 1.0 if solver == DDP else None
        name = f"starts that reach 1e-06, {statement}: {solver}"
        found.append(Metric(name, len(reached) / len(counts), target, note, at_least=True))
    return found


def iteration_metrics(iterations: Scaling) -> list[Metric]:
    """One iteration over a cycle beside ours, and how each grows."""
    found = []
    for solver in iterations.solvers:
        if solver == DDP:
            continue
        ratio = iterations.times[CYCLE].ratio((DDP, ITERATION), (solver, ITERATION))
        target = TARGET_CROCODDYL if solver in (LEAN, EXACT) else None
        found.append(Metric(f"iteration over {CYCLE} steps: DDP / {solver}", ratio, target))
    first, *_, last = iterations.times
    found += [
        Metric(f"growth of {solver}'s iteration, {first} to {last} steps", iterations.slope(solver), note="exponent")
        for solver in iterations.solvers
    ]
    return found


def _pairs(ends: Sequence[SolverComparison]) -> list[tuple[str, str]]:
    """Statements with each of their solvers, in the order of the comparisons."""
    return list(dict.fromkeys((end.statement, solver) for end in ends for solver in end.courses))


def comparison_summary(end: SolverComparison) -> dict[str, Any]:
    """For the record."""
    solvers: dict[str, Mapping[str, Any]] = {}
    for name, course in end.courses.items():
        states, torques = end.deviation(name)
        solvers[name] = {
            "cost": course.costs[-1],
            "relative_to_ddp": end.difference(name),
            "states_from_ddp": states,
            "torques_from_ddp": torques,
            "iterations": course.iterations,
            "reached": end.reached[name],
            "times": end.times.parts.get(name, {}),
        }
    return {"statement": end.statement, **asdict(end.start), "optimum": end.optimum, "solvers": solvers}


def ratio_summary(ends: Sequence[SolverComparison]) -> dict[str, Any]:
    """For the record: "statement.solver.accuracy" -> time over DDP's from each start, None where there is none."""
    return {
        f"{statement}.{solver}.{accuracy:.0e}": [
            end.ratio(solver, accuracy) for end in ends if end.statement == statement
        ]
        for statement, solver in _pairs(ends)
        if solver != DDP
        for accuracy in ACCURACIES[statement]
    }


def scaling_summary(iterations: Scaling) -> dict[str, Any]:
    """For the record."""
    return {
        solver: {
            "slope": iterations.slope(solver),
            "times": {n: times.spread(solver, ITERATION) for n, times in iterations.times.items()},
        }
        for solver in iterations.solvers
    }


def _measure(run: Run) -> Findings:
    effort = QUICK if run.options.quick else FULL
    if run.options.starts:
        effort = replace(effort, starts=run.options.starts)
    crocoddyl_too = util.find_spec("crocoddyl") is not None
    if not crocoddyl_too:
        say(run.terminal, MISSING_CROCODDYL)
    model = run.options.model
    starts = [
        StartCondition(speed, seed, model, turn)
        for speed, turn in COMMANDS[model]
        for seed in range(FIRST_SEED, FIRST_SEED + effort.starts)
    ]
    with progress_bar(run.terminal, "optimum and time to it") as advance:
        ends = compare_all(starts, effort.rounds, crocoddyl_too=crocoddyl_too, progress=advance)
    settings = {
        "flags": flags(),
        "first_seed": FIRST_SEED,
        "quick": run.options.quick,
        "model": model,
        "crocoddyl": crocoddyl_too,
        "commands": COMMANDS[model],
    }
    results = {"comparisons": [comparison_summary(one) for one in ends], "time_over_ddp": ratio_summary(ends)}
    metrics = [*agreement_metrics(ends), *success_metrics(ends), *time_metrics(ends)]
    iterations = None
    if model == PlanarModel.name:
        with progress_bar(run.terminal, "length of the horizon") as advance:
            iterations = scaling.measure(
                effort.lengths, effort.iteration_rounds, crocoddyl_too=crocoddyl_too, progress=advance
            )
        results["iterations"] = scaling_summary(iterations)
        metrics += iteration_metrics(iterations)
    return Findings(
        settings={**settings, **asdict(effort)},
        results=results,
        title=peers_figure.TITLES[model],
        metrics=metrics,
        drawings={"peers.png": lambda path: peers_figure.draw(ends, iterations, path)},
    )


OPTIONS = (
    option("--starts", type=at_least(1), metavar="N", help="per command, each with a seed of its own"),
    option("--model", choices=MODEL_NAMES, default=PlanarModel.name, help="whose gait: a bound, or a trot"),
)

BENCHMARK = Benchmark("peers", __doc__, "fewer starts, rounds and lengths, in about two minutes", _measure, OPTIONS)
