"""`contact-ddp bench convergence`: observed order of convergence near an optimum, across impacts and constraints.

Nganga and Wensing leave open whether DDP's quadratic rate holds for hybrid systems. Here the solver starts near an
optimum of the paper's bound and is followed on its way (:mod:`benchmarks.solver.near_optimum`): from starts
on the scale of the optimum's distance to the limits, which tell the order, one per direction of the start; and from
fixed distances, which tell how far off it lasts. The outer loop has the usual multiplier update, or the one that learns
the dual's curvature.

At last the interior point, where hard limits are active (:mod:`benchmarks.solver.interior_order`).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from benchmarks.benchmark import Benchmark, Findings, Run
from benchmarks.output import Metric, number
from benchmarks.solver import interior_order
from benchmarks.solver.near_optimum import (
    REACH,
    ROUNDING,
    Descent,
    Outer,
    Setting,
    follow,
    needed,
    order,
    outer_loop,
    rate,
    settings,
)
from benchmarks.timing import Progress, Spread, watched
from contact_ddp_ros.runs.report.progress import progress_bar
from contact_ddp_ros.runs.report.style import LIMIT, MUTED, POINT_COLOURS, figure
from contact_ddp_ros.runs.study.study import grouped

VARIANTS = {"ilqr": "iLQR", "ddp": "DDP"}

TARGET_DDP, TARGET_ILQR = 1.8, 1.2
_SHARES = (0.1, 0.03, 0.01, 0.003)
"""Sizes of the starts over the clearance of the optimum, on which scale the barriers' curvature changes."""

_DISTANCES, FAR = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1), 1e-3
"""Sizes from which the iterations are counted, relative to the limits, and the one in the table."""

_FAR_ITERATIONS = 60
_SIGMAS = (1e4, 1e5, 1e6)
_STEPS = (1e-3, 4e-3)
"""Of integration, where limits are hard [s]."""


@dataclass(frozen=True)
class Effort:
    """How much is measured: directions of the starts, and of those that tell how far from the optimum it lasts."""

    directions: int
    far_directions: int


FULL, QUICK = Effort(directions=20, far_directions=3), Effort(directions=4, far_directions=1)

_COLOURS = ("#1b1b1b", *POINT_COLOURS, "#e69f00")
"""One per setting."""

_MARKERS = {"ddp": "o", "ilqr": "x"}
_STYLES = {"ddp": "-", "ilqr": "--"}


def measure(
    solved: Sequence[Setting], effort: Effort, progress: Progress | None = None
) -> tuple[list[Descent], list[Descent]]:
    """(runs within the clearance, runs from fixed distances)."""
    near: list[Descent] = []
    far: list[Descent] = []
    for setting in watched(solved, progress):
        sizes = [share * setting.clearance for share in _SHARES]
        for variant in VARIANTS:
            near += [follow(setting, variant, d, size) for d in range(effort.directions) for size in sizes]
            far += [
                follow(setting, variant, d, size, _FAR_ITERATIONS)
                for d in range(effort.far_directions)
                for size in _DISTANCES
            ]
    return near, far


def _of(runs: Sequence[Descent], setting: str, variant: str) -> list[Descent]:
    return [run for run in runs if (run.setting, run.variant) == (setting, variant)]


def metrics(near: Sequence[Descent], far: Sequence[Descent], outer: Sequence[Outer]) -> list[Metric]:
    """What the table shows."""
    rows = []
    for setting in grouped(near, lambda run: run.setting):
        for variant, name, target in (
            ("ddp", f"{setting}: order of DDP", TARGET_DDP),
            ("ilqr", "    order of iLQR", TARGET_ILQR),
        ):
            runs = _of(near, setting, variant)
            orders = [order(own) for own in grouped(runs, lambda run: run.direction).values()]
            whole = sum(run.full for run in runs) / len(runs)
            left = f"leaves {number(rate(runs))} of the error per iteration; " if variant == "ilqr" else ""
            note = f"{left}full steps from {100.0 * whole:.0f} % of starts"
            rows.append(Metric(name, Spread.of(orders), target, note, at_least=variant == "ddp"))
        counts = [needed(_of(far, setting, variant), FAR) for variant in ("ddp", "ilqr")]
        note = f"{counts[0]:g} / {counts[1]:g}"
        rows.append(Metric(f"    iterations from {FAR:g} off, DDP / iLQR", counts[0] / counts[1], None, note))
    for sigma, (usual, learning) in grouped(outer, lambda one: one.sigma).items():
        note = f"{_reached(learning)} with the dual's curvature learnt, {_reached(usual)} without"
        share = usual.residuals[-1] / usual.residuals[-2]
        rows.append(Metric(f"outer loop, σ = {sigma:.0e}: share of residual left", share, None, note))
    return rows


def _reached(one: Outer) -> str:
    return f"{one.residuals[-1]:.0e} m after {len(one.residuals)} passes"


def draw(near: Sequence[Descent], far: Sequence[Descent], outer: Sequence[Outer], path: Path) -> None:
    """Draw what was measured."""
    colours = dict(zip(dict.fromkeys(run.setting for run in near), _COLOURS, strict=False))
    with figure(path, 12.0, 8.5, "Convergence near the optimum of the paper's bound") as drawn:
        steps, curves, basins, passes = drawn.subplots(2, 2).ravel()
        _steps(steps, near, colours)
        _curves(curves, near, colours)
        _basins(basins, far, colours)
        _passes(passes, outer)


def _steps(axes: Axes, near: Sequence[Descent], colours: dict[str, str]) -> None:
    for setting, colour in colours.items():
        for variant, marker in _MARKERS.items():
            runs = _of(near, setting, variant)
            pairs = [(a, b) for run in runs for a, b in zip(run.errors, run.errors[1:], strict=False)]
            label = setting if variant == "ddp" else None
            axes.loglog(*np.array(pairs).T, marker, color=colour, ms=3, alpha=0.5, label=label, linestyle="none")
    before = np.array([1e-13, 1.0])
    for power, at, text in ((1, 0.2, "order 1"), (2, 1.0, "order 2")):
        axes.loglog(before, at * before**power, color=MUTED, linewidth=1.0, linestyle=":")
        x = 10.0 ** (-11.4 if power == 1 else -5.0)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        axes.text(x, at * x**power, text, color=MUTED, ha="center", va="center", fontsize=8, bbox=box)
    axes.axhline(ROUNDING, color=LIMIT, linewidth=0.8)
    axes.set(title="One iteration (o: DDP, x: iLQR)", xlabel="error before", ylabel="error after")
    axes.set_xlim(1e-12, 1.0)
    axes.set_ylim(1e-15, 1.0)
    axes.legend(loc="lower right", fontsize=7, markerscale=2)


def _curves(axes: Axes, near: Sequence[Descent], colours: dict[str, str]) -> None:
    for setting, colour in colours.items():
        for variant, style in _STYLES.items():
            runs = _of(near, setting, variant)
            largest = max(run.size for run in runs)
            for run in runs:
                if run.size == largest and run.direction < 3:
                    axes.semilogy(run.errors, style, color=colour, linewidth=0.9, alpha=0.8)
    for variant, style in _STYLES.items():
        axes.plot([], [], style, color=MUTED, label=VARIANTS[variant])
    axes.axhline(ROUNDING, color=LIMIT, linewidth=0.8, label="not looked at below")
    axes.set(title="From the farthest near starts, three directions", xlabel="iteration", ylabel="error")
    axes.legend(loc="upper right")


def _basins(axes: Axes, far: Sequence[Descent], colours: dict[str, str]) -> None:
    for setting, colour in colours.items():
        for variant, style in _STYLES.items():
            runs = _of(far, setting, variant)
            sizes = sorted({run.size for run in runs})
            counts = [needed(runs, size) for size in sizes]
            label = setting if variant == "ddp" else None
            axes.semilogx(sizes, counts, style, marker=_MARKERS[variant], ms=4, color=colour, label=label)
    axes.set(
        title=f"Iterations to an error of {REACH:g} (solid: DDP, dashed: iLQR)",
        xlabel="size of the disturbance, relative to the torque limits",
        ylabel="iterations",
    )
    axes.set_ylim(bottom=0.0)
    axes.legend(loc="upper left", fontsize=7)


def _passes(axes: Axes, outer: Sequence[Outer]) -> None:
    for (sigma, ones), colour in zip(grouped(outer, lambda one: one.sigma).items(), POINT_COLOURS, strict=False):
        for one in ones:
            style, update = ("-o", "curvature learnt") if one.learning else ("--x", "usual update")
            passes = range(1, len(one.residuals) + 1)
            label = f"σ = {sigma:.0e}, {update}"
            axes.semilogy(passes, np.maximum(one.residuals, 1e-16), style, color=colour, ms=4, label=label)
    axes.set(title="Outer loop", xlabel="pass", ylabel="height at touchdown [m]")
    axes.legend(loc="lower left", fontsize=7)


def _measure(run: Run) -> Findings:
    effort = QUICK if run.options.quick else FULL
    with progress_bar(run.terminal, "starts") as advance:
        solved = settings()
        near, far = measure(solved, effort, advance)
        outer = [outer_loop(solved[-1].bound, sigma, learning) for sigma in _SIGMAS for learning in (False, True)]
    with progress_bar(run.terminal, "hard limits") as advance:
        cases, hard = interior_order.measure(_STEPS[:1] if run.options.quick else _STEPS, progress=advance)
    return Findings(
        settings={"quick": run.options.quick, **asdict(effort)},
        results={
            "clearance": {setting.name: setting.clearance for setting in solved},
            "near": near,
            "far": far,
            "outer": outer,
            "hard_limits": hard,
        },
        title="Observed order of convergence near the optimum",
        metrics=[*metrics(near, far, outer), *interior_order.metrics(cases, hard)],
        drawings={"convergence.png": lambda path: draw(near, far, outer, path)},
    )


BENCHMARK = Benchmark("convergence", __doc__, "fewer starts", _measure)
