"""`contact-ddp bench convergence`: observed order of convergence near an optimum, across impacts and constraints.

Nganga and Wensing leave open whether DDP's quadratic rate holds for hybrid systems. Here the solver starts near an
optimum of the paper's bound and is followed on its way (:mod:`contact_ddp_ros.bench.near_optimum`): from starts on the
scale of the optimum's distance to the limits, which tell the order, one per direction of the start; and from fixed
distances, which tell how far off it lasts. The outer loop has the usual multiplier update, or the one that learns the
dual's curvature.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from contact_ddp_ros.bench.arguments import benchmark_parser
from contact_ddp_ros.bench.near_optimum import Outer, Run, Setting, follow, needed, order, outer_loop, rate, settings
from contact_ddp_ros.bench.output import Figure, console, number, print_figures, save_record
from contact_ddp_ros.bench.timing import Spread
from contact_ddp_ros.files import new_folder
from contact_ddp_ros.report.terminal import progress_bar, say

VARIANTS = ("ilqr", "ddp")

TARGET_DDP, TARGET_ILQR = 1.8, 1.2
_SHARES = (0.1, 0.03, 0.01, 0.003)
"""Sizes of the starts over the clearance of the optimum, on which scale the barriers' curvature changes."""

_DISTANCES, FAR = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1), 1e-3
"""Sizes from which the iterations are counted, relative to the limits, and the one in the table."""

_FAR_ITERATIONS = 60
_SIGMAS = (1e4, 1e5, 1e6)


@dataclass(frozen=True)
class Effort:
    """How much is measured: directions of the starts, and of those that tell how far from the optimum it lasts."""

    directions: int
    far_directions: int


FULL, QUICK = Effort(directions=20, far_directions=3), Effort(directions=4, far_directions=1)


def main(arguments: Sequence[str]) -> int:
    """Measure, print, save; the exit code is 0 whether targets are met or not."""
    options = benchmark_parser("convergence", __doc__, quick="fewer starts").parse_args(arguments)
    effort = QUICK if options.quick else FULL
    folder = new_folder("bench-convergence", options.out)
    terminal = console()
    with progress_bar(terminal, "starts") as advance:
        solved = settings()
        near, far = measure(solved, effort, advance)
        outer = [outer_loop(solved[-1].bound, sigma, learning) for sigma in _SIGMAS for learning in (False, True)]
    rows = figures(near, far, outer)
    results: dict[str, Any] = {
        "clearance": {setting.name: setting.clearance for setting in solved},
        "near": [asdict(run) for run in near],
        "far": [asdict(run) for run in far],
        "outer": [asdict(one) for one in outer],
    }
    save_record(folder, "convergence", {"quick": options.quick, **asdict(effort)}, results, rows)
    print_figures(terminal, "Observed order of convergence near the optimum", rows)
    from contact_ddp_ros.bench import convergence_figure

    convergence_figure.draw(near, far, outer, folder / "convergence.png")
    say(terminal, f"Saved in {folder}")
    return 0


def measure(
    solved: Sequence[Setting], effort: Effort, progress: Callable[[float], None] | None = None
) -> tuple[list[Run], list[Run]]:
    """(runs within the clearance, runs from fixed distances)."""
    near: list[Run] = []
    far: list[Run] = []
    for i, setting in enumerate(solved):
        sizes = [share * setting.clearance for share in _SHARES]
        for variant in VARIANTS:
            near += [follow(setting, variant, d, size) for d in range(effort.directions) for size in sizes]
            far += [
                follow(setting, variant, d, size, _FAR_ITERATIONS)
                for d in range(effort.far_directions)
                for size in _DISTANCES
            ]
        if progress is not None:
            progress((i + 1) / len(solved))
    return near, far


def figures(near: Sequence[Run], far: Sequence[Run], outer: Sequence[Outer]) -> list[Figure]:
    """What the table shows."""
    rows = []
    for setting in dict.fromkeys(run.setting for run in near):
        for variant, text in (("ddp", "DDP"), ("ilqr", "iLQR")):
            runs = [run for run in near if (run.setting, run.variant) == (setting, variant)]
            directions = sorted({run.direction for run in runs})
            orders = np.array([order([run for run in runs if run.direction == d]) for d in directions])
            whole = sum(run.full for run in runs) / len(runs)
            note = f"full steps from {100.0 * whole:.0f} % of starts"
            if variant == "ddp":
                rows.append(Figure(f"{setting}: order of DDP", Spread.of(orders), TARGET_DDP, note, at_least=True))
            else:
                note = f"leaves {number(rate(runs))} of the error per iteration; {note}"
                rows.append(Figure(f"    order of {text}", Spread.of(orders), TARGET_ILQR, note))
        counts = [
            needed([one for one in far if (one.setting, one.variant) == (setting, v)], FAR) for v in ("ddp", "ilqr")
        ]
        note = f"{counts[0]:g} / {counts[1]:g}"
        rows.append(Figure(f"    iterations from {FAR:g} off, DDP / iLQR", counts[0] / counts[1], None, note))
    for sigma in dict.fromkeys(one.sigma for one in outer):
        usual, learning = (next(o for o in outer if o.sigma == sigma and o.learning is k) for k in (False, True))
        note = f"{_reached(learning)} with the dual's curvature learnt, {_reached(usual)} without"
        share = usual.residuals[-1] / usual.residuals[-2]
        rows.append(Figure(f"outer loop, σ = {sigma:.0e}: share of residual left", share, None, note))
    return rows


def _reached(one: Outer) -> str:
    return f"{one.residuals[-1]:.0e} m after {len(one.residuals)} passes"
