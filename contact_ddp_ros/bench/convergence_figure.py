"""The figure of `bench convergence`: error after over error before, error by iteration, basins, and the outer loop."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from contact_ddp_ros.bench.near_optimum import REACH, ROUNDING, Outer, Run, needed
from contact_ddp_ros.report.style import LIMIT, MUTED, POINT_COLOURS, figure

_COLOURS = ("#1b1b1b", *POINT_COLOURS, "#e69f00")
"""One per setting."""

_MARKERS = {"ddp": "o", "ilqr": "x"}
_STYLES = {"ddp": "-", "ilqr": "--"}
_NAMES = {"ddp": "DDP", "ilqr": "iLQR"}


def draw(near: Sequence[Run], far: Sequence[Run], outer: Sequence[Outer], path: Path) -> None:
    """Draw what was measured."""
    colours = dict(zip(dict.fromkeys(run.setting for run in near), _COLOURS, strict=False))
    with figure(path, 12.0, 8.5, "Convergence near the optimum of the paper's bound") as drawn:
        steps, curves, basins, passes = drawn.subplots(2, 2).ravel()
        _steps(steps, near, colours)
        _curves(curves, near, colours)
        _basins(basins, far, colours)
        _passes(passes, outer)


def _steps(axes: Axes, near: Sequence[Run], colours: dict[str, str]) -> None:
    for setting, colour in colours.items():
        for variant, marker in _MARKERS.items():
            runs = [run for run in near if (run.setting, run.variant) == (setting, variant)]
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


def _curves(axes: Axes, near: Sequence[Run], colours: dict[str, str]) -> None:
    for setting, colour in colours.items():
        for variant, style in _STYLES.items():
            runs = [run for run in near if (run.setting, run.variant) == (setting, variant)]
            largest = max(run.size for run in runs)
            for run in runs:
                if run.size == largest and run.direction < 3:
                    axes.semilogy(run.errors, style, color=colour, linewidth=0.9, alpha=0.8)
    for variant, style in _STYLES.items():
        axes.plot([], [], style, color=MUTED, label=_NAMES[variant])
    axes.axhline(ROUNDING, color=LIMIT, linewidth=0.8, label="not looked at below")
    axes.set(title="From the farthest near starts, three directions", xlabel="iteration", ylabel="error")
    axes.legend(loc="upper right")


def _basins(axes: Axes, far: Sequence[Run], colours: dict[str, str]) -> None:
    for setting, colour in colours.items():
        for variant, style in _STYLES.items():
            runs = [run for run in far if (run.setting, run.variant) == (setting, variant)]
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
    for sigma, colour in zip(dict.fromkeys(one.sigma for one in outer), POINT_COLOURS, strict=False):
        for one in outer:
            if one.sigma == sigma:
                label = f"σ = {sigma:.0e}, {'curvature learnt' if one.learning else 'usual update'}"
                residuals = np.maximum(one.residuals, 1e-16)
                axes.semilogy(
                    range(1, len(residuals) + 1),
                    residuals,
                    "-o" if one.learning else "--x",
                    color=colour,
                    ms=4,
                    label=label,
                )
    axes.set(title="Outer loop", xlabel="pass", ylabel="height at touchdown [m]")
    axes.legend(loc="lower left", fontsize=7)
