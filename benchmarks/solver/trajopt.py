"""`contact-ddp bench trajopt`: the paper's bound optimised from many perturbed first trajectories by every variant.

Nganga and Wensing, section 5.2: 50 first trajectories, 50 iterations, iLQR beside DDP by mRNEAc and by tensors
(:mod:`benchmarks.solver.paper_optimisation`). Variants take turns start by start; times are ratios to
iLQR's from the same start.
"""

from collections.abc import Sequence

import numpy as np

from benchmarks.benchmark import Benchmark, Findings, Run, at_least, count, option
from benchmarks.output import Metric
from benchmarks.solver import trajopt_figure
from benchmarks.solver.paper_optimisation import (
    CONTINUATION,
    CYCLES,
    ITERATION,
    ITERATIONS,
    PAPER_DDP,
    PAPER_TENSOR,
    SOLVE,
    TARGET_TIME,
    TARGET_TOUCHDOWN,
    Optimisation,
    VariantComparison,
)
from benchmarks.timing import Progress, Spread, Times, watched
from contact_ddp_ros.runs.report.progress import progress_bar
from contact_ddp_ros.runs.study.study import grouped

VARIANTS = ("ilqr", "ddp", "ddp_tensor")
STARTS, QUICK_STARTS = 50, 6

TARGET_COST = 1e-8
"""DDP's final cost over iLQR's, less one."""

_MILLIMETRES = 1e3


def measure(comparison: VariantComparison, seeds: Sequence[int], progress: Progress | None = None) -> Times:
    """Every start by every variant; (seeds,) times."""
    turns = [comparison.run(seed) for seed in watched(seeds, progress)]
    return Times(
        {
            variant: {
                part: np.concatenate([turn.parts[variant][part] for turn in turns]) for part in (SOLVE, ITERATION)
            }
            for variant in comparison.bounds
        }
    )


def metrics(times: Times, found: Sequence[Optimisation]) -> list[Metric]:
    """What the table shows."""
    by_variant = grouped(found, lambda one: one.variant)
    names = {"ddp": "DDP / iLQR", "ddp_tensor": "DDP by tensors / iLQR"}
    rows = []
    for variant, paper, target in (("ddp", PAPER_DDP, TARGET_TIME), ("ddp_tensor", PAPER_TENSOR, None)):
        if variant in times.parts:
            iteration, solve = (times.ratio((variant, part), ("ilqr", part)) for part in (ITERATION, SOLVE))
            rows += [
                Metric(f"{names[variant]}, time of an iteration", iteration, target, f"paper {paper}"),
                Metric(f"{names[variant]}, time of a solve", solve, target),
            ]
    for variant, runs in by_variant.items():
        share = sum(one.feasible for one in runs) / len(runs)
        rows += [
            Metric(f"{variant}: share that ends feasible", share, 1.0, f"of {len(runs)}", at_least=True),
            Metric(f"    iterations, at most {ITERATIONS}", Spread.of([one.iterations for one in runs])),
            Metric("    sweeps per iteration", Spread.of([one.sweeps / one.iterations for one in runs])),
        ]
    for variant in [name for name in names if name in by_variant]:
        pairs = zip(by_variant[variant], by_variant["ilqr"], strict=True)
        worst = max(mine.cost / other.cost - 1.0 for mine, other in pairs)
        rows.append(Metric(f"{names[variant]}, final cost less one, worst start", worst, TARGET_COST))

    def largest(what: str) -> float:
        return float(max(getattr(one, what) for one in found))

    height, allowed = _MILLIMETRES * largest("touchdown"), _MILLIMETRES * TARGET_TOUCHDOWN
    return [
        *rows,
        Metric("height at touchdown, largest of all", height, allowed, unit="mm"),
        Metric("    drift of a stance foot's height", _MILLIMETRES * largest("drift"), unit="mm"),
        Metric("    foot in the air below the ground", _MILLIMETRES * largest("penetration"), unit="mm"),
        Metric("torque, largest share of the limit", largest("torque"), 1.0),
        Metric("force outside the friction cone, largest", largest("cone_excess"), 0.0, unit="N"),
    ]


def _measure(run: Run) -> Findings:
    options = run.options
    starts = options.starts or (QUICK_STARTS if options.quick else STARTS)
    comparison = VariantComparison(VARIANTS[:-1] if options.no_tensor else VARIANTS, options.cycles)
    comparison.run(None)
    nominal, comparison.found = comparison.found, []
    with progress_bar(run.terminal, "starts") as advance:
        times = measure(comparison, range(starts), advance)
    return Findings(
        settings={
            "starts": starts,
            "cycles": options.cycles,
            "iterations": ITERATIONS,
            "continuation": CONTINUATION,
        },
        results={
            "times": times.parts,
            "nominal": nominal,
            "outcomes": comparison.found,
        },
        title=f"The paper's bound, {starts} starts, {options.cycles} cycle(s), one thread",
        metrics=metrics(times, comparison.found),
        remarks=[
            f"Start {one.seed} by {one.variant} is not feasible after {one.iterations} iterations in {one.passes} "
            f"passes ({one.termination}): touchdown {one.touchdown:.1e} m, inequalities {one.inequality:.1e}"
            for one in comparison.found
            if not one.feasible
        ],
        drawings={
            "trajopt.png": lambda path: trajopt_figure.draw_comparison(comparison, times, path),
            "trajopt_motion.png": lambda path: trajopt_figure.draw_motion(comparison, path),
        },
    )


OPTIONS = (
    option("--starts", type=at_least(1), metavar="N", help="number of perturbed first trajectories"),
    count("--cycles", CYCLES, "gait cycles"),
    option("--no-tensor", action="store_true", help="leave out the tensor variant and its compilation"),
)

BENCHMARK = Benchmark("trajopt", __doc__, f"{QUICK_STARTS} starts instead of {STARTS}", _measure, OPTIONS)
