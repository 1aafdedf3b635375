"""Full DDP against iLQR on jumps and flips: every packaged motion with other flights and other ways, in turn.

Each variant of a motion is optimised as `contact-ddp motion` does it, by both variants of the solver, which take turns
in beginning: iterations, processor time of the thread and the cost of the optimum. `--trials` adds how often the plan
of the motion itself lands in perturbed worlds, with the policy's feedback gains and without.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from time import thread_time

import numpy as np
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, at_least
from benchmarks.output import new_table
from contact_ddp_ros.base.arguments import add_option
from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.control.motion_controller import ExecutionConfig
from contact_ddp_ros.mpc.motions.optimizer import optimise_motion
from contact_ddp_ros.plants.options import ENGINES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.motion import MotionSpec, load_motion, packaged_motions
from contact_ddp_ros.runs.motions.trials import Spread, perturbed_run
from contact_ddp_ros.runs.options import OPTIONS
from contact_ddp_ros.runs.study.study import wilson

VARIANTS = ("ddp", "ilqr")
LONGER, FURTHER = (-0.04, -0.02, 0.0, 0.02, 0.04), (-0.1, 0.0, 0.1)
"""By how much the flight is longer [s] and the way further [m]."""

_SAME = 1e-4
"""Relative difference of costs below which two optima are one."""


@dataclass(frozen=True)
class MotionSolve:
    """One optimisation of a motion by a variant of the solver.

    Attributes:
        motion, variant: names. flight: its duration [s]. displacement: of the trunk [m].
        iterations: of both passes; 0 where it failed. cost: of the optimum; NaN where it failed.
        processor_time: of the thread [s]. reason: why it failed.
    """

    motion: str
    flight: float
    displacement: float
    variant: str
    iterations: int
    cost: float
    processor_time: float
    reason: str = ""


@dataclass(frozen=True)
class Landings:
    """How many of so many perturbed starts landed."""

    motion: str
    feedback: bool
    landed: int
    trials: int


def variants_of(task: MotionSpec, longer: Sequence[float], further: Sequence[float]) -> list[MotionSpec]:
    """The motion with other durations of its longest flight and other displacements."""
    at, found = task.longest, []
    for time in longer:
        phases = list(task.phases)
        phases[at] = replace(phases[at], duration=round(phases[at].duration + time, 6))
        found += [replace(task, phases=tuple(phases), displacement=task.displacement + way) for way in further]
    return found


def solve(task: MotionSpec, variant: str) -> MotionSolve:
    """Optimise once."""
    flight = task.flight[1] - task.flight[0]
    started = thread_time()
    try:
        plan = optimise_motion(task, load_robot(), variant=variant)
    except SolverError as error:
        spent = thread_time() - started
        return MotionSolve(task.name, flight, task.displacement, variant, 0, float("nan"), spent, str(error))
    spent, cost = thread_time() - started, plan.found.solution.cost
    return MotionSolve(task.name, flight, task.displacement, variant, plan.iterations, cost, spent)


def land(task: MotionSpec, trials: int, spread: float, engine: str) -> list[Landings]:
    """Landings in worlds of an engine perturbed by a multiple of the usual, with the gains and without."""
    found, worlds = [], Spread().scaled(spread)
    plan = optimise_motion(task, load_robot())
    for feedback in (True, False):
        execution = ExecutionConfig() if feedback else ExecutionConfig(feedback=(0.0, 0.0, 0.0))
        runs = (perturbed_run(plan, seed, worlds, execution, engine=engine) for seed in range(trials))
        landed = sum(run.landed for run in runs)
        found.append(Landings(task.name, feedback, landed, trials))
    return found


def measure(run: Run) -> Findings:
    """Every motion."""
    options = run.options
    longer, further = ((0.0,), (0.0,)) if options.quick else (LONGER, FURTHER)
    solves: list[MotionSolve] = []
    landings: list[Landings] = []
    engine = options.engine
    tasks = [load_motion(name) for name in options.motion or packaged_motions()]
    for task in tasks:
        for variant in VARIANTS:
            solve(task, variant)  # which loads what is compiled
        for turn, one in enumerate(variants_of(task, longer, further)):
            order = VARIANTS if turn % 2 == 0 else VARIANTS[::-1]
            solves += [solve(one, variant) for variant in order]
        if options.trials:
            landings += land(task, options.trials, options.spread, engine)
    names = [task.name for task in tasks]
    return Findings(
        settings={
            "motions": names,
            "longer": longer,
            "further": further,
            "trials": options.trials,
            "spread": options.spread,
            "engine": engine,
        },
        results={"solves": [asdict(one) for one in solves], "landings": [asdict(one) for one in landings]},
        tables=[_solver_table(names, solves), *([_landing_table(landings)] if landings else [])],
    )


def _solver_table(names: Sequence[str], solves: Sequence[MotionSolve]) -> Table:
    headings = (
        "solver",
        "solved",
        "iterations, median (10 to 90 %)",
        "processor time (s), median",
        "lower cost",
        "fewer iterations",
    )
    table = new_table("Optimisations", "motion", *headings)
    for name in names:
        of = {variant: [one for one in solves if (one.motion, one.variant) == (name, variant)] for variant in VARIANTS}
        for variant, other in zip(VARIANTS, VARIANTS[::-1]):
            table.add_row(name, variant, *_cells(of[variant], of[other]))
    return table


def _cells(own: Sequence[MotionSolve], others: Sequence[MotionSolve]) -> list[str]:
    """Of one variant of the solver beside the other, whose solves are of the same problems."""
    done = [one for one in own if not one.reason]
    pairs = [(one, other) for one, other in zip(own, others, strict=True) if not (one.reason or other.reason)]
    low, middle, high = np.percentile([one.iterations for one in done], [10, 50, 90]) if done else (np.nan,) * 3
    cheaper = sum(one.cost < (1.0 - _SAME) * other.cost for one, other in pairs)
    fewer = sum(one.iterations < other.iterations for one, other in pairs)
    return [
        f"{len(done)} of {len(own)}",
        f"{middle:.0f} ({low:.0f} to {high:.0f})",
        f"{np.median([one.processor_time for one in own]):.2f}",
        f"{cheaper} of {len(pairs)}",
        f"{fewer} of {len(pairs)}",
    ]


def _landing_table(landings: Sequence[Landings]) -> Table:
    table = new_table("Perturbed starts", "motion", "feedback gains", "landed", "95 % interval")
    for one in landings:
        share = wilson(one.landed, one.trials)
        interval = f"{100 * share.lower:.0f} to {100 * share.upper:.0f} %"
        table.add_row(one.motion, "yes" if one.feedback else "no", f"{one.landed} of {one.trials}", interval)
    return table


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--motion",
        action="append",
        default=[],
        metavar="NAME",
        help="one of them only, or the path of a .yaml file; repeatable",
    )
    add_option(parser, OPTIONS["engine"], default=ENGINES[0])
    parser.add_argument("--trials", type=at_least(0), default=0, metavar="N", help="perturbed starts (default: none)")
    parser.add_argument(
        "--spread", type=float, default=1.0, metavar="FACTOR", help="of the perturbations, friction and noise excepted"
    )


BENCHMARK = Benchmark("motions", __doc__ or "", "each motion as it is, once", measure, _add_options)
