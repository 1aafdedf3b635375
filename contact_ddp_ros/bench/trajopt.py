"""`contact-ddp bench trajopt`: the paper's bound optimised from many perturbed first trajectories by every variant.

Nganga and Wensing, section 5.2: 50 first trajectories, 50 iterations, iLQR beside DDP by mRNEAc and by tensors
(:mod:`contact_ddp_ros.bench.paper_optimisation`). Variants take turns start by start; times are ratios to iLQR's from
the same start.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np

from contact_ddp_ros.bench.arguments import benchmark_parser
from contact_ddp_ros.bench.output import Figure, console, print_figures, save_record
from contact_ddp_ros.bench.paper_optimisation import (
    CONTINUATION,
    CYCLES,
    ITERATION,
    ITERATIONS,
    SOLVE,
    Comparison,
    Outcome,
)
from contact_ddp_ros.bench.timing import Spread, Times
from contact_ddp_ros.files import new_folder
from contact_ddp_ros.report.terminal import progress_bar, say

VARIANTS = ("ilqr", "ddp", "ddp_tensor")
STARTS, QUICK_STARTS = 50, 6

PAPER_DDP, PAPER_TENSOR = 3.32, 28.3
TARGET_TIME, TARGET_COST, TARGET_TOUCHDOWN = 1.5, 1e-8, 1e-3
"""DDP's time over iLQR's; DDP's final cost over iLQR's, less one; height of a foot at its touchdown [m]."""


def measure(comparison: Comparison, seeds: Sequence[int], progress: Callable[[float], None] | None = None) -> Times:
    """Every start by every variant; (seeds,) times."""
    turns = []
    for i, seed in enumerate(seeds):
        turns.append(comparison.run(seed))
        if progress is not None:
            progress((i + 1) / len(seeds))
    return Times(
        {
            variant: {
                part: np.concatenate([turn.parts[variant][part] for turn in turns]) for part in (SOLVE, ITERATION)
            }
            for variant in comparison.bounds
        }
    )


def figures(times: Times, outcomes: Sequence[Outcome]) -> list[Figure]:
    """What the table shows."""
    by_variant = {variant: [one for one in outcomes if one.variant == variant] for variant in times.parts}
    names = {"ddp": "DDP / iLQR", "ddp_tensor": "DDP by tensors / iLQR"}
    rows = []
    for variant, paper in (("ddp", PAPER_DDP), ("ddp_tensor", PAPER_TENSOR)):
        if variant not in times.parts:
            continue
        target = TARGET_TIME if variant == "ddp" else None
        for part, text in ((ITERATION, "time of an iteration"), (SOLVE, "time of a solve")):
            ratio = times.ratio((variant, part), ("ilqr", part))
            rows.append(
                Figure(f"{names[variant]}, {text}", ratio, target, f"paper {paper}" if part == ITERATION else "")
            )
    for variant, runs in by_variant.items():
        share = sum(one.feasible for one in runs) / len(runs)
        rows.append(Figure(f"{variant}: share that ends feasible", share, 1.0, f"of {len(runs)}", at_least=True))
        rows.append(Figure(f"    iterations, at most {ITERATIONS}", _spread(runs, "iterations")))
        rows.append(Figure("    sweeps per iteration", Spread.of(np.array([r.sweeps / r.iterations for r in runs]))))
    for variant in [name for name in names if name in by_variant]:
        pairs = zip(by_variant[variant], by_variant["ilqr"], strict=True)
        worst = max(mine.cost / other.cost - 1.0 for mine, other in pairs)
        rows.append(Figure(f"{names[variant]}, final cost less one, worst start", worst, TARGET_COST))
    millimetres = 1e3
    worst = max(one.touchdown for one in outcomes)
    rows.append(
        Figure("height at touchdown, largest of all", millimetres * worst, millimetres * TARGET_TOUCHDOWN, unit="mm")
    )
    rows.append(Figure("    drift of a stance foot's height", millimetres * max(r.drift for r in outcomes), unit="mm"))
    rows.append(
        Figure("    foot in the air below the ground", millimetres * max(r.penetration for r in outcomes), unit="mm")
    )
    rows.append(Figure("torque, largest share of the limit", max(r.torque for r in outcomes), 1.0))
    rows.append(Figure("force outside the friction cone, largest", max(r.cone_excess for r in outcomes), 0.0, unit="N"))
    return rows


def _spread(outcomes: Sequence[Outcome], name: str) -> Spread:
    return Spread.of(np.array([getattr(one, name) for one in outcomes], dtype=float))


def main(arguments: Sequence[str]) -> int:
    """Measure, print, save; the exit code is 0 whether targets are met or not."""
    options = _parse(arguments)
    starts = options.starts or (QUICK_STARTS if options.quick else STARTS)
    folder = new_folder("bench-trajopt", options.out)
    terminal = console()
    comparison = Comparison(VARIANTS[:-1] if options.no_tensor else VARIANTS, options.cycles)
    comparison.run(None)
    nominal, comparison.outcomes = comparison.outcomes, []
    with progress_bar(terminal, "starts") as advance:
        times = measure(comparison, range(starts), advance)
    rows = figures(times, comparison.outcomes)
    save_record(
        folder,
        "trajopt",
        {"starts": starts, "cycles": options.cycles, "iterations": ITERATIONS, "continuation": asdict(CONTINUATION)},
        {
            "times": {variant: dict(parts) for variant, parts in times.parts.items()},
            "nominal": [asdict(one) for one in nominal],
            "outcomes": [asdict(one) for one in comparison.outcomes],
        },
        rows,
    )
    print_figures(terminal, f"The paper's bound, {starts} starts, {options.cycles} cycle(s), one thread", rows)
    for one in comparison.outcomes:
        if not one.feasible:
            say(
                terminal,
                f"Start {one.seed} by {one.variant} is not feasible after {one.iterations} iterations in {one.passes} "
                f"passes ({one.termination}): touchdown {one.touchdown:.1e} m, inequalities {one.inequality:.1e}",
            )
    from contact_ddp_ros.bench import trajopt_figure

    trajopt_figure.draw(comparison, times, folder)
    say(terminal, f"Saved in {folder}")
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = benchmark_parser("trajopt", __doc__, quick=f"{QUICK_STARTS} starts instead of {STARTS}")
    parser.add_argument("--starts", type=_positive, metavar="N", help="number of perturbed first trajectories")
    parser.add_argument(
        "--cycles", type=_positive, default=CYCLES, metavar="N", help="gait cycles (default: %(default)s)"
    )
    parser.add_argument("--no-tensor", action="store_true", help="leave out the tensor variant and its compilation")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value
