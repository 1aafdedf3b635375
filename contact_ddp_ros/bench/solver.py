"""`contact-ddp bench solver`: what a DDP iteration costs and what it buys, as ratios taken in one run on one thread.

* one iteration of full DDP against iLQR and against DDP by tensors, split by stage, on the MPC's planar problem;
* the kernels of one node by themselves: first order, contracted second order, and second by tensors;
* one iteration against Crocoddyl's FDDP on the same problem and knots (left out without requirements-bench.txt);
* iterations from the cold guess to the optimum;
* what the solver does in the closed loop: share of iterations at full curvature, sweeps, time per solve;
* time from a fresh process to a planner that can plan, with and without anything to compile.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from contact_ddp_ros.bench import cold_solves, in_loop, kernel_times, startup
from contact_ddp_ros.bench.arguments import benchmark_parser
from contact_ddp_ros.bench.case import mpc_cases, planner_kernels, shared_cases
from contact_ddp_ros.bench.iteration import ITERATION, SOLVE, STAGES, crocoddyl, crocoddyl_solve, our_solve, ours
from contact_ddp_ros.bench.output import (
    Figure,
    console,
    number,
    print_figures,
    save_record,
)
from contact_ddp_ros.bench.peers import MISSING_CROCODDYL, TARGET_CROCODDYL
from contact_ddp_ros.bench.timing import Candidate, Spread, Times, interleave
from contact_ddp_ros.files import new_folder
from contact_ddp_ros.report.terminal import progress_bar, say

PAPER_DDP, PAPER_TENSOR = 3.32, 28.3
"""Time of DDP by mRNEAc and by tensors over iLQR's, 50 iterations from 50 starts, as the paper measured it."""

PAPER_SECOND = 1.39
"""Largest ratio of the time of second-order partials by mRNEAc to that of first-order partials there."""

TARGET_ILQR = 1.5
TARGET_COLD, TARGET_WARM = 60.0, 1.0
"""Seconds until a planner can plan."""

PARTS = ("iteration", "kernels", "convergence", "loop", "startup")

FORMULATIONS = ("lean", "exact")
"""Of the problem for Crocoddyl, see :mod:`contact_ddp_ros.bench.peers.crocoddyl_bound`."""


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    rounds: int
    repeats: int
    solve_rounds: int
    warm_starts: int
    loop_duration: float


FULL = Effort(rounds=400, repeats=8, solve_rounds=100, warm_starts=9, loop_duration=10.0)
QUICK = Effort(rounds=60, repeats=5, solve_rounds=20, warm_starts=3, loop_duration=3.5)


def main(arguments: Sequence[str]) -> int:
    """Measure, print, save; the exit code is 0 whether targets are met or not."""
    options = _parse(arguments)
    effort = QUICK if options.quick else FULL
    folder = new_folder("bench-solver", options.out)
    terminal = console()
    results: dict[str, Any] = {}
    figures: list[Figure] = []
    for part in PARTS if options.only is None else (options.only,):
        with progress_bar(terminal, part) as advance:
            results[part], found = _MEASURES[part](effort, options, terminal, advance)
        figures += found
    save_record(folder, "solver", {"quick": options.quick, "only": options.only, **asdict(effort)}, results, figures)
    print_figures(terminal, "Solver, one thread", figures)
    from contact_ddp_ros.bench import solver_figure

    solver_figure.draw(results, folder / "solver.png")
    say(terminal, f"Saved in {folder}")
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = benchmark_parser("solver", __doc__, quick="fewer samples, and no cold start, in under a minute")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--no-tensor", action="store_true", help="leave out the tensor variant and its compilation")
    return parser.parse_args(arguments)


def _measure_iteration(effort: Effort, options: argparse.Namespace, terminal: Console, progress: Any) -> Any:
    mpc, shared = mpc_cases(), shared_cases()
    stages: dict[str, Candidate] = {variant: ours(mpc.optimum, variant) for variant in ("ilqr", "ddp")}
    solves: dict[str, Candidate] = {}
    if not options.no_tensor:
        stages["ddp_tensor"] = ours(mpc_cases("ddp_tensor").optimum, "ddp_tensor")
    stages["ddp, shared"] = ours(shared.optimum, "ddp")
    peers = _peers(shared, stages, solves, terminal)
    starts = {"warm": shared.warm, "cold": shared.cold}
    solves |= {
        f"{variant}, {start}": our_solve(starts[start], variant) for variant in ("ilqr", "ddp") for start in starts
    }
    times = interleave(stages, effort.rounds, effort.repeats, lambda share: progress(0.8 * share))
    solve_times = interleave(solves, effort.solve_rounds, effort.repeats, lambda share: progress(0.8 + 0.2 * share))
    figures = _own_figures(times) + (_peer_figures(times, solve_times) if peers else [])
    relative = {
        name: {stage: times.ratio((name, stage), ("ddp", ITERATION)).as_json() for stage in (*STAGES, ITERATION)}
        for name in stages
    }
    return {"relative_to_ddp_iteration": relative, "crocoddyl": peers}, figures


def _peers(shared: Any, stages: dict[str, Candidate], solves: dict[str, Candidate], terminal: Console) -> bool:
    """Add Crocoddyl's candidates; False, with a word to the user, where it is not installed."""
    try:
        from contact_ddp_ros.bench.peers.crocoddyl_bound import CrocoddylBound
    except ModuleNotFoundError as error:
        if error.name != "crocoddyl":
            raise
        say(terminal, MISSING_CROCODDYL)
        return False
    for formulation in FORMULATIONS:
        stages[formulation] = crocoddyl(CrocoddylBound(shared.optimum, formulation), shared.optimum)
        for start, case in (("warm", shared.warm), ("cold", shared.cold)):
            solves[f"{formulation}, {start}"] = crocoddyl_solve(CrocoddylBound(case, formulation), case)
    return True


def _own_figures(times: Times) -> list[Figure]:
    def stage(name: str) -> Spread:
        return times.ratio(("ddp", name), ("ilqr", name))

    figures = [
        Figure(
            "DDP / iLQR, one iteration",
            times.ratio(("ddp", ITERATION), ("ilqr", ITERATION)),
            TARGET_ILQR,
            f"paper {PAPER_DDP}",
        ),
        Figure("    backward sweep with second order / without", stage("sweep")),
    ]
    if "ddp_tensor" in times.parts:
        against = times.ratio(("ddp_tensor", ITERATION), ("ddp", ITERATION))
        figures.append(
            Figure(
                "DDP by tensors / DDP by mRNEAc, one iteration", against, None, f"paper {PAPER_TENSOR / PAPER_DDP:.1f}"
            )
        )
        sweep = times.ratio(("ddp_tensor", "sweep"), ("ddp", "sweep"))
        figures.append(Figure("    backward sweep", sweep))
    return figures


def _peer_figures(times: Times, solves: Times) -> list[Figure]:
    figures = []
    for formulation in FORMULATIONS:
        name = f"DDP / Crocoddyl FDDP ({formulation})"
        whole = times.ratio(("ddp, shared", ITERATION), (formulation, ITERATION))
        figures.append(Figure(f"{name}, one iteration", whole, TARGET_CROCODDYL))
        for stage in STAGES:
            figures.append(Figure(f"    {stage}", times.ratio(("ddp, shared", stage), (formulation, stage))))
        for start in ("warm", "cold"):
            ratio = solves.ratio((f"ddp, {start}", SOLVE), (f"{formulation}, {start}", SOLVE))
            figures.append(Figure(f"    solve of one iteration, {start} start", ratio))
    return figures


def _measure_kernels(effort: Effort, options: argparse.Namespace, terminal: Console, progress: Any) -> Any:
    variant = "ddp" if options.no_tensor else "ddp_tensor"
    kernels = planner_kernels(variant)
    modes = {"in contact": "back_stance", "in the air": "front_flight"}
    levels = ("first", "second") if options.no_tensor else ("first", "second", "tensor")
    names = [f"{level}/{mode}" for mode in modes.values() for level in levels]
    candidates = {name: kernel_times.candidate(kernels, name) for name in names}
    times = interleave(candidates, effort.solve_rounds, effort.repeats, progress)

    def ratio(of: str, to: str, mode: str) -> Spread:
        return times.ratio((f"{of}/{mode}", kernel_times.KERNEL), (f"{to}/{mode}", kernel_times.KERNEL))

    figures = []
    for where, mode in modes.items():
        second = ratio("second", "first", mode)
        figures.append(
            Figure(f"kernel {where}: second order / first order", second, None, f"paper at most {PAPER_SECOND}")
        )
        if not options.no_tensor:
            figures.append(Figure("    second order by tensors / by mRNEAc", ratio("tensor", "second", mode)))
    return {name: times.spread(name, kernel_times.KERNEL).as_json() for name in names}, figures


def _measure_convergence(effort: Effort, options: argparse.Namespace, terminal: Console, progress: Any) -> Any:
    solves = cold_solves.measure(progress=progress)
    figures = []
    for speed in cold_solves.SPEEDS:
        full, gauss = (next(s for s in solves if (s.speed, s.variant) == (speed, v)) for v in ("ddp", "ilqr"))
        same = abs(full.final - gauss.final) <= 1e-6 * gauss.final
        note = f"{full.iterations} / {gauss.iterations}" + ("" if same else ", different optima")
        figures.append(
            Figure(f"iterations from cold, DDP / iLQR, {speed:g} m/s", full.iterations / gauss.iterations, None, note)
        )
    return [asdict(solve) | {"final": solve.final} for solve in solves], figures


def _measure_loop(effort: Effort, options: argparse.Namespace, terminal: Console, progress: Any) -> Any:
    runs = {}
    for i, variant in enumerate(in_loop.VARIANTS):
        runs[variant] = in_loop.measure(effort.loop_duration, variant)
        progress((i + 1) / len(in_loop.VARIANTS))
    full, gauss = runs["ddp"], runs["ilqr"]
    note = f"{full.solves} solves of {full.iterations:.2f} iterations"
    figures = [
        Figure("in the loop: iterations at full curvature", full.full_curvature, None, note),
        Figure("    sweeps per iteration", full.sweeps),
        Figure("    processor time of a solve, DDP / iLQR", full.processor_time / gauss.processor_time),
    ]
    return {variant: asdict(run) for variant, run in runs.items()}, figures


def _measure_startup(effort: Effort, options: argparse.Namespace, terminal: Console, progress: Any) -> Any:
    import numpy as np

    warm = startup.warm(effort.warm_starts)
    progress(0.3)
    elapsed, processor = (
        Spread.of(np.array(values)) for values in zip(*[(s.ready, s.ready_processor) for s in warm], strict=True)
    )
    figures = [
        Figure("warm start until ready", elapsed, TARGET_WARM, f"processor {number(processor.median)} s", "s"),
    ]
    results: dict[str, Any] = {"warm": [asdict(one) for one in warm], "cold": None}
    if not options.quick:
        cold = startup.cold()
        results["cold"] = asdict(cold)
        note = f"processor {number(cold.ready_processor)} s"
        figures.append(Figure("cold start until ready", cold.ready, TARGET_COLD, note, "s"))
        for name, step in (("CasADi graphs and C compiler", "kernels"), ("Numba", "own code")):
            figures.append(
                Figure(f"    {name}", cold.elapsed[step], None, f"processor {number(cold.processor[step])} s", "s")
            )
    progress(1.0)
    return results, figures


_MEASURES = {
    "iteration": _measure_iteration,
    "kernels": _measure_kernels,
    "convergence": _measure_convergence,
    "loop": _measure_loop,
    "startup": _measure_startup,
}
