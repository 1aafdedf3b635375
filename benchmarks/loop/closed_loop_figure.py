"""The figure of `bench closed-loop`: push envelopes as maps, survival as curves, speeds."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from benchmarks.loop.comparison import Curve, Envelope, LoopComparison, SpeedLimits
from benchmarks.panels import panel
from benchmarks.solver.case import VARIANTS
from contact_ddp_ros.runs.report.panels import heat_map
from contact_ddp_ros.runs.report.style import POINT_COLOURS, figure, legend, name_rows, nothing

_COLOURS = dict(zip(VARIANTS, POINT_COLOURS, strict=False))
_MARKERS = {"ddp": "o", "ilqr": "s"}

_AXES = {
    "iterations": ("Time for the solver", "DDP iterations per second that fit", 1.0),
    "friction": ("Friction (planner: 0.6)", "friction coefficient of the ground", 1.0),
    "mass": ("Mass", "simulated trunk mass over nominal", 1.0),
    "delay": ("Planner delay", "age of a policy on arrival [ms]", 1e3),
    "step": ("Unexpected step", "height of the step [cm]", 1e2),
}
"""Title, abscissa and scale of a curve."""

_OFFSET = 0.06
"""Of the two variants' points to either side of their value, in units of its distance to the next."""


def draw(comparison: LoopComparison, path: Path) -> None:
    """Draw what was compared."""
    with figure(path, 13.0, 9.5, "DDP and iLQR in the loop on equal time budgets") as drawn:
        maps, upper, lower = drawn.subplots(3, 3)
        _draw_maps(maps, comparison.envelopes)
        curves = {curve.group: curve for curve in comparison.curves}
        for axes, group in zip([*upper, *lower[:2]], _AXES, strict=True):
            panel(axes, _AXES[group][0], curves.get(group), _draw_curve)
        panel(lower[2], "Speed range held", comparison.speeds, _draw_speeds)


def _draw_maps(panels: Sequence[Axes], envelopes: Sequence[Envelope]) -> None:
    """Impulses survived by either variant on one scale, and how much more DDP takes."""
    if not envelopes:
        for axes in panels:
            nothing(axes, "no pushes")
        return
    held = {variant: np.array([one.held[variant] for one in envelopes]) for variant in VARIANTS}
    rows = [one.direction for one in envelopes]
    phases = [f"{phase:.2f}".lstrip("0") or "0" for phase in envelopes[0].phases]
    top = max(float(values.max()) for values in held.values())
    for axes, variant in zip(panels, VARIANTS, strict=False):
        axes.set_title(f"{VARIANTS[variant]}: largest impulse survived [N s]")
        heat_map(axes, held[variant], rows, phases, (0.0, top), "cividis")
        for row, one in enumerate(envelopes):
            for column in np.flatnonzero(one.open[variant]):
                axes.text(column + 0.42, row - 0.2, "≥", ha="right", va="center", fontsize=6, color="white")
    difference = held["ddp"] - held["ilqr"]
    span = max(float(np.abs(difference).max()), envelopes[0].resolution)
    panels[2].set_title("Difference, DDP − iLQR [N s]")
    heat_map(panels[2], difference, rows, phases, (-span, span), "PuOr", "{:+.1f}".format)
    for axes in panels:
        axes.tick_params(axis="x", labelsize=7)
        axes.set_xlabel("phase of the gait at which the push begins")


def _draw_curve(axes: Axes, curve: Curve) -> None:
    _, abscissa, scale = _AXES[curve.group]
    places = np.arange(len(curve.values))
    for sign, variant in zip((-1.0, 1.0), VARIANTS, strict=True):
        parts = curve.survived[variant]
        bars = np.array([[part.share - part.lower, part.upper - part.share] for part in parts]).T
        axes.errorbar(
            places + sign * _OFFSET,
            100.0 * np.array([part.share for part in parts]),
            100.0 * bars,
            color=_COLOURS[variant],
            marker=_MARKERS[variant],
            markersize=4,
            capsize=2,
            elinewidth=0.8,
            label=VARIANTS[variant],
        )
    axes.set_xticks(places, [f"{scale * value:g}" for value in curve.values])
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.set_ylim(-3.0, 103.0)
    axes.set_xlabel(abscissa)
    axes.set_ylabel("survived [%], 95 % intervals")
    legend(axes)


def _draw_speeds(axes: Axes, speeds: Sequence[SpeedLimits]) -> None:
    budgets = sorted({one.iterations for one in speeds})
    rows = [(variant, budget) for budget in budgets for variant in VARIANTS]
    for one in speeds:
        for variant in VARIANTS:
            row = rows.index((variant, one.iterations))
            held = (1.0 if one.direction == "forward" else -1.0) * np.array(one.held[variant])
            middle = float(np.median(held))
            axes.barh(row, middle, color=_COLOURS[variant], height=0.5, alpha=0.6)
            axes.plot(held, np.full(len(held), row), "|", color="black", markersize=10)
            mark = "≥ " if all(one.open[variant]) else ""
            axes.text(0.5 * middle, row, f"{mark}{abs(middle):.2f}", ha="center", va="center", fontsize=8)
    axes.axvline(0.0, color="black", linewidth=0.8)
    name_rows(axes, [f"{VARIANTS[variant]}, {budget:g} it./s" for variant, budget in rows])
    axes.set_xlabel("speed held [m/s]; ≥: no limit found")
