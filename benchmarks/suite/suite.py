"""`contact-ddp bench suite`: five published problems with 100 instances each, by our interior point and by IPOPT.

The problems are those of FilterDDP (Xu, Gould and Shames, arXiv 2504.08278), with the parameters that its authors drew:
contact and friction as complementarity conditions, obstacles, bounds; all but the dynamics are equalities of a node.
Every solver has the same first controls, tolerance and number of iterations; states are rolled out for those who need
some. The published counts of DDPs are of a horizon with one more control, whose cost and constraints IPOPT's statement
there, and this one, leave out.
"""

import argparse
from collections.abc import Sequence

import numpy as np
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, at_least
from benchmarks.output import Metric, new_table
from benchmarks.study import add_engine_options, do
from benchmarks.suite.contest import (
    EXACT,
    GAUSS_NEWTON,
    IPOPT_BFGS,
    IPOPT_EXACT,
    MAX_ITERATIONS,
    PROBLEMS,
    SOLVERS,
    TOLERANCE,
    Entry,
    Outcome,
    solve,
)
from benchmarks.suite.formulation import N_SEEDS
from contact_ddp_ros.runs.study.batch import Journal
from contact_ddp_ros.runs.study.study import wilson

QUICK_SEEDS, BFGS_SEEDS = 3, 20

TARGET = 0.992
"""Share solved that FilterDDP reports: 496 of 500."""

PUBLISHED = {EXACT: "FilterDDP", GAUSS_NEWTON: "ProxDDP", IPOPT_EXACT: "IPOPT, exact", IPOPT_BFGS: "IPOPT, L-BFGS"}
"""Whose published count stands beside whose."""


def of(outcomes: Sequence[Outcome], solver: str, problem: str | None = None) -> list[Outcome]:
    """Those of a solver, and of a problem where one is named."""
    return [one for one in outcomes if one.solver == solver and problem in (None, one.problem)]


def table(outcomes: Sequence[Outcome]) -> Table:
    """Counts, iterations and times by problem and solver, beside the published counts."""
    shown = new_table("Solved", "problem", "solver", "solved", "95 %", "published", "iterations", "time [s]")
    for problem, suite in PROBLEMS.items():
        for solver in SOLVERS:
            runs = of(outcomes, solver, problem)
            if not runs:
                continue
            count = wilson(sum(one.solved for one in runs), len(runs))
            good = [one for one in runs if one.solved]
            middle, low, high = np.percentile([float(one.iterations) for one in good] or [np.nan], [50, 25, 75])
            shown.add_row(
                problem,
                solver,
                f"{count.successes} of {count.trials}",
                f"{count.lower:.2f} to {count.upper:.2f}",
                f"{suite.published[PUBLISHED[solver]]} of {N_SEEDS}",
                f"{middle:.0f} ({low:.0f} to {high:.0f})" if good else "",
                f"{np.median([one.time for one in runs]):.2f}",
            )
    return shown


def metrics(outcomes: Sequence[Outcome]) -> list[Metric]:
    """Shares solved over all problems, and where costs differ of those that both solve."""
    rows = []
    for solver in SOLVERS:
        runs = of(outcomes, solver)
        if runs:
            count = wilson(sum(one.solved for one in runs), len(runs))
            note = f"{count.successes} of {count.trials}; 95 %: {count.lower:.3f} to {count.upper:.3f}"
            target = TARGET if solver == EXACT else None
            rows.append(Metric(f"share solved: {solver}", count.share, target, note, at_least=True))
    costs = {(one.problem, one.seed): one.cost for one in of(outcomes, IPOPT_EXACT) if one.solved}
    pairs = [
        (one.cost, costs[one.problem, one.seed])
        for one in of(outcomes, EXACT)
        if one.solved and (one.problem, one.seed) in costs
    ]
    if pairs:
        mine, theirs = np.array(pairs).T
        for words, holds in (
            ("within 1e-3 of IPOPT's", np.abs(mine / theirs - 1.0) <= 1e-3),
            ("lower than that", mine < (1.0 - 1e-3) * theirs),
        ):
            rows.append(Metric(f"optima {words}", float(holds.mean()), note=f"{holds.sum()} of {len(pairs)}"))
    return rows


def _entries(seeds: int, others: int, bfgs: int) -> list[Entry]:
    most = {EXACT: seeds, GAUSS_NEWTON: others, IPOPT_EXACT: others, IPOPT_BFGS: bfgs}
    return [
        Entry(problem, solver, seed)
        for problem in PROBLEMS
        for solver in SOLVERS
        for seed in range(1, 1 + min(most[solver], seeds))
    ]


def _measure(run: Run) -> Findings:
    options = run.options
    seeds = options.seeds or (QUICK_SEEDS if options.quick else N_SEEDS)
    bfgs = (1 if options.quick else BFGS_SEEDS) if options.bfgs is None else options.bfgs
    others = seeds if options.others is None else options.others
    settings = {
        "seeds": seeds,
        "others": others,
        "bfgs": bfgs,
        "tolerance": TOLERANCE,
        "max_iterations": MAX_ITERATIONS,
    }
    with Journal.begin_or_resume(run.folder, settings, resume=run.resumes) as journal:
        begun = journal.settings
        entries = _entries(begun["seeds"], begun["others"], begun["bfgs"])
        found = [Outcome(**one) for one in do(solve, entries, run, journal)]
    return Findings(
        settings=begun,
        results={
            "solved": {
                solver: {name: sum(one.solved for one in of(found, solver, name)) for name in PROBLEMS}
                for solver in SOLVERS
            },
            "published": {name: problem.published for name, problem in PROBLEMS.items()},
            "outcomes": found,
        },
        title=f"The suite, {begun['seeds']} seeds, to {TOLERANCE:g} within {MAX_ITERATIONS} iterations",
        metrics=metrics(found),
        tables=[table(found)],
        remarks=[
            f"Not solved: {one.problem}, seed {one.seed}: {one.message}" for one in of(found, EXACT) if not one.solved
        ],
    )


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seeds", type=at_least(1), metavar="N", help=f"of each problem (default: {N_SEEDS})")
    for name, words in (
        ("others", "by Gauss-Newton and by IPOPT (default: all of them)"),
        ("bfgs", f"by IPOPT with L-BFGS, which takes longest (default: {BFGS_SEEDS})"),
    ):
        parser.add_argument(f"--{name}", type=at_least(0), metavar="N", help=f"how many of the seeds {words}")
    add_engine_options(parser)


BENCHMARK = Benchmark("suite", __doc__, "3 seeds, one by L-BFGS", _measure, _add_options, resumable=True)
