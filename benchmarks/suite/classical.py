"""`contact-ddp bench classical`: 79 optimal control problems of textbooks and collections, by `solve` and by IPOPT.

Both get the same controls to begin with, drawn by a seed, no options but the tolerance and the limit on iterations, and
IPOPT the states that these controls lead to. Solved is what ends as converged and feasible by its own tolerance. Each
solution of ours is handed to IPOPT: confirmed are those near which it finds the same cost.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, at_least
from benchmarks.output import Metric, new_table
from benchmarks.study import add_engine_options, do
from benchmarks.suite import formulation
from benchmarks.suite.problems import instance, problems
from contact_ddp_ros.ocp.solution import Termination
from contact_ddp_ros.ocp.solve import solve
from contact_ddp_ros.runs.study.batch import Journal

STARTS, FIRST = 10, 11
"""Starts of each problem, and the seed of the first; with lower ones the solver was made."""

TOLERANCE, MAX_ITERATIONS = 1e-8, 1000
"""Tolerance and limit of both solvers; the tolerance is IPOPT's default."""

SAME = 1e-4
"""Difference of costs that counts as none, relative to the larger of a cost and 1e-3."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a problem from a start: by ours and by IPOPT whether solved, iterations, cost and time [s].

    `confirmed` tells whether IPOPT, begun at our solution, ends at its cost; True where we have none.
    """

    problem: str
    seed: int
    solved: tuple[bool, bool]
    iterations: tuple[int, int]
    costs: tuple[float, float]
    times: tuple[float, float]
    confirmed: bool
    messages: tuple[str, str]

    @property
    def optima(self) -> str:
        """Comparison of two optima: "same", "lower" where ours is, or "higher"; empty where one is missing."""
        if not all(self.solved):
            return ""
        ours, theirs = self.costs
        return "same" if same(ours, theirs) else "lower" if ours < theirs else "higher"


def same(cost: float, other: float) -> bool:
    """Test whether two costs are one optimum's."""
    return abs(cost - other) <= SAME * max(abs(other), 1e-3)


@dataclass(frozen=True)
class Entry:
    """A job: a problem and a seed."""

    problem: str
    seed: int

    @property
    def name(self) -> str:
        """Unique."""
        return f"{self.problem}, {self.seed}"

    @property
    def cost(self) -> float:
        """Order of the jobs."""
        return 1.0 / self.seed


def contest(entry: Entry) -> dict[str, Any]:
    """Do a job; the fields of an Outcome."""
    given = instance(entry.problem, entry.seed)
    problem = given.problem()
    begun = process_time()
    ours = solve(problem, given.x0, given.guess, max_iterations=MAX_ITERATIONS, tolerance=TOLERANCE)
    between = process_time()
    ipopt = partial(
        formulation.solve, exact=True, tolerance=TOLERANCE, max_iterations=MAX_ITERATIONS, scaling="gradient-based"
    )
    theirs = ipopt(given)
    ended = process_time()
    solved, confirmed = ours.feasible and ours.status is Termination.CONVERGED, True
    if solved:
        near = ipopt(given, near=(ours.xs, ours.us))
        confirmed = near.solved and same(ours.cost, near.cost)
    return asdict(
        Outcome(
            problem=entry.problem,
            seed=entry.seed,
            solved=(solved, theirs.solved),
            iterations=(len(ours.solution.iterations), theirs.iterations),
            costs=(ours.cost, theirs.cost),
            times=(between - begun, ended - between),
            confirmed=confirmed,
            messages=("" if solved else ours.solution.message, "" if theirs.solved else theirs.message),
        )
    )


def table(outcomes: Sequence[Outcome]) -> Table:
    """A row for each problem: solved, best optimum and median iterations by ours and by IPOPT."""
    shown = new_table("Classical problems", "problem", "solved", "IPOPT", "optimum", "IPOPT", "iterations", "IPOPT")
    for name in dict.fromkeys(one.problem for one in outcomes):
        runs = [one for one in outcomes if one.problem == name]
        cells: list[list[str]] = [[], [], []]
        for which in (0, 1):
            good = [one for one in runs if one.solved[which]]
            cells[0].append(f"{len(good)} of {len(runs)}")
            cells[1].append(f"{min(one.costs[which] for one in good):.6g}" if good else "")
            cells[2].append(f"{np.median([one.iterations[which] for one in good]):.0f}" if good else "")
        shown.add_row(name, *(text for pair in cells for text in pair))
    return shown


def metrics(outcomes: Sequence[Outcome]) -> list[Metric]:
    """Counts, agreement of optima, iterations and times."""
    total, both = len(outcomes), [one for one in outcomes if all(one.solved)]
    ours, theirs = (sum(one.solved[which] for one in outcomes) for which in (0, 1))
    kinds = [one.optima for one in both]
    agreement = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("same", "lower", "higher"))
    wrong = sum(not one.confirmed for one in outcomes)
    ratios = [
        [pair[0] / max(pair[1], 1e-9) for pair in pairs]
        for pairs in ([one.iterations for one in both], [one.times for one in both])
    ]
    return [
        Metric("share solved", ours / total, theirs / total, f"{ours} of {total}; IPOPT {theirs}", at_least=True),
        Metric("solutions that IPOPT does not confirm", wrong, 0, f"{wrong} of {ours}"),
        Metric("optima, ours beside IPOPT's", kinds.count("same") / max(len(both), 1), note=agreement),
        Metric("iterations over IPOPT's", float(np.median(ratios[0] or [np.nan])), note="median of ratios"),
        Metric("time over IPOPT's", float(np.median(ratios[1] or [np.nan])), note="median of ratios, processor time"),
    ]


def _measure(run: Run) -> Findings:
    options = run.options
    starts = options.starts or (1 if options.quick else STARTS)
    settings = {"starts": starts, "first": FIRST, "tolerance": TOLERANCE, "max_iterations": MAX_ITERATIONS}
    with Journal.begin_or_resume(run.folder, settings, resume=run.resumes) as journal:
        begun = journal.settings
        seeds = range(begun["first"], begun["first"] + begun["starts"])
        found = [Outcome(**one) for one in do(contest, [Entry(n, s) for n in problems() for s in seeds], run, journal)]
    return Findings(
        settings=begun,
        results={"outcomes": found},
        title=f"{len(problems())} classical problems, {begun['starts']} starts each, to {TOLERANCE:g}",
        metrics=metrics(found),
        tables=[table(found)],
        remarks=[
            f"{who} not solved: {one.problem}, seed {one.seed}: {one.messages[which]}"
            for which, who in enumerate(("Ours", "IPOPT"))
            for one in found
            if not one.solved[which]
        ],
    )


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--starts", type=at_least(1), metavar="N", help=f"of each problem (default: {STARTS})")
    add_engine_options(parser)


BENCHMARK = Benchmark("classical", __doc__, "one start", _measure, _add_options, resumable=True)
