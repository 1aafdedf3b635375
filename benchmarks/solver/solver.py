"""`contact-ddp bench solver`: what a DDP iteration costs and what it buys, as ratios taken in one run on one thread.

* one iteration of full DDP against iLQR and against DDP by tensors, split by stage, on the MPC's problem;
* the kernels of one node by themselves: first order, contracted second order, and second by tensors;
* one iteration against Crocoddyl's FDDP on the same problem and knots (left out without requirements-bench.txt);
* of the whole body also over Cafe-MPC's horizon, 25 knots of 10 ms and 10 of a rigid body of 50 ms;
* iterations from the cold guess to the optimum;
* what the solver does in the closed loop: share of iterations at full curvature, sweeps, time per solve;
* time from a fresh process to a planner that can plan, with and without anything to compile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from benchmarks.benchmark import Benchmark, Findings, Run, option
from benchmarks.dynamics import kernel_times
from benchmarks.dynamics.partial_costs import PAPER_RATIO
from benchmarks.loop.budget import measure_in_loop, time_ratio
from benchmarks.output import Metric, number, panel
from benchmarks.peers import MISSING_CROCODDYL
from benchmarks.ros import startup
from benchmarks.ros.startup import STEPS, StartupTimes
from benchmarks.solver.case import VARIANTS, Cases, mpc_cases, planner_kernels, shared_cases
from benchmarks.solver.iteration import (
    ITERATION,
    SOLVE,
    SPEEDS,
    STAGES,
    ColdSolve,
    crocoddyl,
    crocoddyl_solve,
    measure_cold,
    measure_tail,
    our_solve,
    ours,
)
from benchmarks.solver.paper_optimisation import PAPER_DDP, PAPER_TENSOR
from benchmarks.timing import Candidate, Progress, Spread, Times, interleave
from contact_ddp_ros.base.choices import MODEL_NAMES
from contact_ddp_ros.base.compiled.compiler import flags
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.runs.report.progress import progress_bar, say
from contact_ddp_ros.runs.report.style import LIMIT, MUTED, POINT_COLOURS, figure, legend, name_rows

TARGET_COLD, TARGET_WARM = 60.0, 1.0
"""Seconds until a planner can plan."""

TARGET_ILQR, TARGET_CROCODDYL = 1.35, 0.3
"""Of the time of an iteration."""

FORMULATIONS = ("lean", "exact")
"""Settings of the problem for Crocoddyl, see :mod:`benchmarks.peers.crocoddyl_bound`."""

_LABELS = {
    "ilqr": "iLQR",
    "ddp": "DDP, mRNEAc",
    "ddp_tensor": "DDP, tensors",
    "ddp, shared": "DDP, shared problem",
    "lean": "Crocoddyl FDDP, lean",
    "exact": "Crocoddyl FDDP, exact",
}

_SMALLEST = 1e-12
"""Relative distance to the optimum below which a curve ends."""


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


class Task(NamedTuple):
    """What a part of the benchmark gets."""

    effort: Effort
    run: Run
    progress: Progress

    @property
    def tensor(self) -> bool:
        """True if the tensor variant takes part: in the plane, if at all."""
        return not self.run.options.no_tensor and self.run.options.model == PlanarModel.name


def _measure_iteration(task: Task) -> tuple[Any, list[Metric]]:
    model = task.run.options.model
    mpc, shared = mpc_cases(model=model), shared_cases(model=model)
    stages: dict[str, Candidate] = {variant: ours(mpc.optimum, variant) for variant in ("ilqr", "ddp")}
    solves: dict[str, Candidate] = {}
    if task.tensor:
        stages["ddp_tensor"] = ours(mpc_cases("ddp_tensor", model=model).optimum, "ddp_tensor")
    stages["ddp, shared"] = ours(shared.optimum, "ddp")
    peers = _add_peers(shared, stages, solves, task.run)
    starts = {"warm": shared.warm, "cold": shared.cold}
    solves |= {
        f"{variant}, {start}": our_solve(starts[start], variant) for variant in ("ilqr", "ddp") for start in starts
    }
    effort, progress = task.effort, task.progress
    times = interleave(stages, effort.rounds, effort.repeats, lambda share: progress(0.6 * share))
    solve_times = interleave(solves, effort.solve_rounds, effort.repeats, lambda share: progress(0.6 + 0.2 * share))
    found = _own_metrics(times) + (_peer_metrics(times, solve_times) if peers else [])
    tailed: Any = None
    if model == WholeBodyModel.name:
        tailed, more = measure_tail(effort.rounds, effort.repeats, lambda share: progress(0.8 + 0.2 * share))
        found += more
    relative = {
        name: {stage: times.ratio((name, stage), ("ddp", ITERATION)) for stage in (*STAGES, ITERATION)}
        for name in stages
    }
    return {"relative_to_ddp_iteration": relative, "crocoddyl": peers, "tail": tailed}, found


def _add_peers(shared: Cases, stages: dict[str, Candidate], solves: dict[str, Candidate], run: Run) -> bool:
    """Add Crocoddyl's candidates; False, with a word to the user, where it is not installed."""
    try:
        from benchmarks.peers.crocoddyl_bound import CrocoddylBound
    except ModuleNotFoundError as error:
        if error.name != "crocoddyl":
            raise
        say(run.terminal, MISSING_CROCODDYL)
        return False
    for formulation in FORMULATIONS:
        stages[formulation] = crocoddyl(CrocoddylBound(shared.optimum, formulation), shared.optimum)
        for start, case in (("warm", shared.warm), ("cold", shared.cold)):
            solves[f"{formulation}, {start}"] = crocoddyl_solve(CrocoddylBound(case, formulation), case)
    return True


def _own_metrics(times: Times) -> list[Metric]:
    def ratio(of: str, to: str, stage: str) -> Spread:
        return times.ratio((of, stage), (to, stage))

    found = [
        Metric("DDP / iLQR, one iteration", ratio("ddp", "ilqr", ITERATION), TARGET_ILQR, f"paper {PAPER_DDP}"),
        Metric("    backward sweep with second order / without", ratio("ddp", "ilqr", "sweep")),
    ]
    if "ddp_tensor" in times.parts:
        whole, paper = ratio("ddp_tensor", "ddp", ITERATION), f"paper {PAPER_TENSOR / PAPER_DDP:.1f}"
        found += [
            Metric("DDP by tensors / DDP by mRNEAc, one iteration", whole, None, paper),
            Metric("    backward sweep", ratio("ddp_tensor", "ddp", "sweep")),
        ]
    return found


def _peer_metrics(times: Times, solves: Times) -> list[Metric]:
    found = []
    for formulation in FORMULATIONS:
        name = f"DDP / Crocoddyl FDDP ({formulation})"
        whole = times.ratio(("ddp, shared", ITERATION), (formulation, ITERATION))
        found.append(Metric(f"{name}, one iteration", whole, TARGET_CROCODDYL))
        for stage in STAGES:
            found.append(Metric(f"    {stage}", times.ratio(("ddp, shared", stage), (formulation, stage))))
        for start in ("warm", "cold"):
            ratio = solves.ratio((f"ddp, {start}", SOLVE), (f"{formulation}, {start}", SOLVE))
            found.append(Metric(f"    solve of one iteration, {start} start", ratio))
    return found


def _measure_kernels(task: Task) -> tuple[Any, list[Metric]]:
    kernels = planner_kernels("ddp_tensor" if task.tensor else "ddp")
    modes = {"in contact": "back_stance", "in the air": "front_flight"}
    levels = ("first", "second", "tensor") if task.tensor else ("first", "second")
    names = [f"{level}/{mode}" for mode in modes.values() for level in levels]
    candidates = {name: kernel_times.candidate(kernels, name) for name in names}
    times = interleave(candidates, task.effort.solve_rounds, task.effort.repeats, task.progress)

    def ratio(of: str, to: str, mode: str) -> Spread:
        return times.ratio((f"{of}/{mode}", kernel_times.KERNEL), (f"{to}/{mode}", kernel_times.KERNEL))

    found = []
    for where, mode in modes.items():
        name, paper = f"kernel {where}: second order / first order", f"paper at most {PAPER_RATIO}"
        found.append(Metric(name, ratio("second", "first", mode), None, paper))
        if task.tensor:
            found.append(Metric("    second order by tensors / by mRNEAc", ratio("tensor", "second", mode)))
    return {name: times.spread(name, kernel_times.KERNEL) for name in names}, found


def _measure_convergence(task: Task) -> tuple[Any, list[Metric]]:
    solves = measure_cold(progress=task.progress)
    found = []
    for speed in SPEEDS:
        full, gauss = (next(s for s in solves if (s.speed, s.variant) == (speed, v)) for v in ("ddp", "ilqr"))
        same = abs(full.final - gauss.final) <= 1e-6 * gauss.final
        note = f"{full.iterations} / {gauss.iterations}" + ("" if same else ", different optima")
        name = f"iterations from cold, DDP / iLQR, {speed:g} m/s"
        found.append(Metric(name, full.iterations / gauss.iterations, None, note))
    return solves, found


def _measure_loop(task: Task) -> tuple[Any, list[Metric]]:
    runs = measure_in_loop(task.effort.loop_duration, VARIANTS, task.progress)
    full, gauss = runs["ddp"], runs["ilqr"]
    note = f"{full.solves} solves of {full.iterations:.2f} iterations"
    return runs, [
        Metric("in the loop: iterations at full curvature", full.full_curvature, None, note),
        Metric("    sweeps per iteration", full.sweeps),
        Metric("    processor time of a solve, DDP / iLQR", time_ratio(full, gauss)),
    ]


def _measure_startup(task: Task) -> tuple[Any, list[Metric]]:
    warm = startup.warm(task.effort.warm_starts)
    task.progress(0.3)
    elapsed, processor = (Spread.of([getattr(one, what) for one in warm]) for what in ("ready", "ready_processor"))

    def beside(seconds: float) -> str:
        return f"processor {number(seconds)} s"

    found = [Metric("warm start until ready", elapsed, TARGET_WARM, beside(processor.median), "s")]
    results: dict[str, Any] = {"warm": warm, "cold": None}
    if not task.run.options.quick:
        cold = startup.cold()
        results["cold"] = cold
        found.append(Metric("cold start until ready", cold.ready, TARGET_COLD, beside(cold.ready_processor), "s"))
        for name, step in (("CasADi graphs and C compiler", "kernels"), ("Numba", "first plan")):
            found.append(Metric(f"    {name}", cold.elapsed[step], None, beside(cold.processor[step]), "s"))
    task.progress(1.0)
    return results, found


PARTS = {
    "iteration": _measure_iteration,
    "kernels": _measure_kernels,
    "convergence": _measure_convergence,
    "loop": _measure_loop,
    "startup": _measure_startup,
}


def draw(results: dict[str, Any], path: Path) -> None:
    """Draw what was measured."""
    with figure(path, 11.0, 6.5, "Solver, one thread") as drawn:
        stages, curves, starts, breakdown = drawn.subplots(2, 2).ravel()
        startup = results.get("startup", {})
        panel(stages, "One iteration", results.get("iteration"), _draw_stages)
        panel(curves, "From the cold guess", results.get("convergence"), _draw_convergence)
        panel(starts, "Warm start", startup.get("warm"), _draw_start)
        panel(breakdown, "Cold start", startup.get("cold"), lambda axes, start: _draw_start(axes, [start]))


def _draw_stages(axes: Axes, measured: Mapping[str, Any]) -> None:
    relative = measured["relative_to_ddp_iteration"]
    names = [name for name in _LABELS if name in relative]
    left = np.zeros(len(names))
    for stage, colour in zip(STAGES, POINT_COLOURS, strict=False):
        widths = np.array([relative[name][stage].median for name in names])
        axes.barh(range(len(names)), widths, left=left, color=colour, label=stage, height=0.65)
        left = left + widths
    for row, name in enumerate(names):
        whole = relative[name][ITERATION]
        axes.plot([whole.lower, whole.upper], [row, row], color="black", linewidth=2.0)
        axes.text(max(left[row], whole.upper), row, f" {whole.median:.2f}", va="center", fontsize=8)
    name_rows(axes, [_LABELS[name] for name in names])
    axes.set_xlabel("processor time over that of DDP by mRNEAc; lines: quartiles")
    legend(axes)


def _draw_convergence(axes: Axes, measured: Sequence[ColdSolve]) -> None:
    speeds = sorted({solve.speed for solve in measured})
    for solve in measured:
        costs = np.array(solve.costs)
        distance = (costs - costs.min()) / costs.min()
        distance = distance[: int(np.argmax(distance < _SMALLEST)) + 1 if (distance < _SMALLEST).any() else None]
        style = "-" if solve.variant == "ddp" else "--"
        colour = POINT_COLOURS[speeds.index(solve.speed)]
        axes.semilogy(
            np.maximum(distance, _SMALLEST), style, color=colour, label=f"{VARIANTS[solve.variant]} {solve.speed:g} m/s"
        )
    axes.axhline(1e-8, color=LIMIT, linewidth=0.8)
    axes.set_xlabel("iteration")
    axes.set_ylabel("relative distance to the final cost")
    axes.legend(fontsize=7)


def _draw_start(axes: Axes, starts: Sequence[StartupTimes]) -> None:
    steps = STEPS[:-1]
    for offset, which, colour in ((-0.2, "elapsed", POINT_COLOURS[0]), (0.2, "processor", MUTED)):
        medians = [float(np.median([getattr(start, which)[step] for start in starts])) for step in steps]
        axes.barh(
            np.arange(len(steps)) + offset, medians, height=0.38, color=colour, label=f"{which} {sum(medians):.2f} s"
        )
    name_rows(axes, list(steps))
    axes.set_xlabel("until the planner is ready [s]")
    legend(axes)


def _measure(run: Run) -> Findings:
    effort, only = QUICK if run.options.quick else FULL, run.options.only
    results: dict[str, Any] = {}
    found: list[Metric] = []
    parts = PARTS if run.options.model == PlanarModel.name else ("iteration",)
    for part in parts if only is None else (only,):
        with progress_bar(run.terminal, part) as advance:
            results[part], metrics = PARTS[part](Task(effort, run, advance))
        found += metrics
    return Findings(
        settings={
            "flags": flags(),
            "quick": run.options.quick,
            "only": only,
            "model": run.options.model,
            **asdict(effort),
        },
        results=results,
        title="Solver, one thread",
        metrics=found,
        drawings={"solver.png": lambda path: draw(results, path)},
    )


OPTIONS = (
    option("--only", choices=tuple(PARTS), help="one part"),
    option(
        "--model",
        choices=MODEL_NAMES,
        default=PlanarModel.name,
        help="whose problem; of the whole body: iterations only",
    ),
    option("--no-tensor", action="store_true", help="leave out the tensor variant and its compilation"),
)

BENCHMARK = Benchmark("solver", __doc__, "fewer samples, and no cold start, in under a minute", _measure, OPTIONS)
