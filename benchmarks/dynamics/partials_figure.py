"""The figure of `bench partials`: times and operations against n, ratios, and the two kinds of joint angles."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from benchmarks.dynamics.coordinates import ABSOLUTE, MAPPED, RELATIVE
from benchmarks.dynamics.knot_partials import EXPANSION, FIRST, SECOND, TENSOR
from benchmarks.dynamics.partial_costs import ALL, NAMES, PAPER_RATIO, PAPER_SLOPES
from benchmarks.panels import panel
from contact_ddp_ros.runs.report.style import LIMIT, MUTED, POINT_COLOURS, figure

_COLOURS = dict(zip((FIRST, SECOND, TENSOR), POINT_COLOURS, strict=False))
_MARKERS = {FIRST: "o", SECOND: "s", TENSOR: "^"}
_MICROSECONDS = 1e6
_ROBOT_N = 7
"""Degrees of freedom of the planar Mini Cheetah: where its marks stand."""


def draw(results: dict[str, Any], path: Path) -> None:
    """Draw what was measured."""
    with figure(path, 12.0, 8.5, "Partials of one knot, one thread") as drawn:
        times, counts, ratios, angles = drawn.subplots(2, 2).ravel()
        scaling, robot = results.get("scaling"), results.get("robot")
        panel(times, "Time, n-link pendubot", scaling, partial(_draw_growth, what="time"))
        panel(counts, "Operations of the graphs, n-link pendubot", scaling, partial(_draw_growth, what="operations"))
        title = "Second order by mRNEAc over first order"
        panel(ratios, title, scaling or robot, lambda axes, _: _draw_ratios(axes, scaling, robot))
        title = "Joint angles: size beside that with relative ones"
        panel(angles, title, results.get("coordinates"), _draw_angles)


def _draw_growth(axes: Axes, measured: Any, what: str) -> None:
    """A log-log panel with the fitted power laws; `what` is "time" or "operations"."""
    for level, name in NAMES.items():
        if what == "time":
            spreads = {n: m["time"][level] for n, m in measured["models"].items() if level in m["time"]}
            n, y = np.array(list(spreads)), _MICROSECONDS * np.array([one.median for one in spreads.values()])
        else:
            counted = measured["operations"][level]
            n, y = np.array(list(counted)), np.array(list(counted.values()), dtype=float)
        law = measured["slopes"][what][level][ALL]
        label = f"{name}: {law.exponent:.2f} ({law.lower:.2f} to {law.upper:.2f})"
        if what == "time":
            label += f", paper {PAPER_SLOPES[level]}"
        axes.loglog(n, y, _MARKERS[level], color=_COLOURS[level], markersize=5, label=label)
        scale = _MICROSECONDS if what == "time" else 1.0
        axes.loglog(n, scale * law.at(n), color=_COLOURS[level], linewidth=0.9)
    _n_axis(axes, list(measured["models"]))
    axes.set_ylabel("processor time [µs]" if what == "time" else "arithmetic operations")
    axes.legend(loc="lower right", title="slope (95 % interval)", title_fontsize=8)


def _draw_ratios(axes: Axes, measured: Any, robot: Any) -> None:
    kinds = {
        "all of it": ("ratio", FIRST),
        "over the first order after a rollout (K's factor and ν known)": ("ratio", EXPANSION),
        "compiled graphs alone": ("kernel_ratio", FIRST),
    }
    for (label, (table, level)), colour in zip(kinds.items(), POINT_COLOURS, strict=False):
        key = f"{SECOND} over {level}"
        if measured:
            models = measured["models"]
            spreads = [model[table][key] for model in models.values()]
            axes.semilogx(list(models), [one.median for one in spreads], "o-", color=colour, label=label, ms=4)
            lower, upper = ([getattr(one, end) for one in spreads] for end in ("lower", "upper"))
            axes.fill_between(list(models), lower, upper, color=colour, alpha=0.2, linewidth=0)
        medians = [model[table][key].median for model in (robot or {}).values()]
        axes.plot([_ROBOT_N] * len(medians), medians, "D", color=colour, markerfacecolor="white", markersize=6)
    axes.plot([], [], "D", color=MUTED, markerfacecolor="white", label="planar Mini Cheetah, each mode (n = 7)")
    axes.axhline(PAPER_RATIO, color=LIMIT, linewidth=1.0)
    axes.annotate(
        f"the paper's largest, {PAPER_RATIO}", (2, PAPER_RATIO), (0, 3), textcoords="offset points", color=LIMIT
    )
    axes.set_ylim(0.0, 2.4)
    axes.set_ylabel("ratio of times; bands: quartiles")
    _n_axis(axes, list(measured["models"]) if measured else [_ROBOT_N])
    axes.legend(loc="upper left")


def _draw_angles(axes: Axes, measured: Any) -> None:
    rows = {
        "Hessian's operations, absolute": (ABSOLUTE, "hessian"),
        "Hessian's operations, ours (mapped)": (MAPPED, "hessian"),
        "Hessian's nonzeros, absolute": (ABSOLUTE, "nonzeros"),
        "operations of the equations of motion, absolute": (ABSOLUTE, "residual"),
    }
    pendulums = measured["pendulum"]
    for (label, (which, part)), colour in zip(rows.items(), POINT_COLOURS, strict=True):
        share = [getattr(sizes[which], part) / getattr(sizes[RELATIVE], part) for sizes in pendulums.values()]
        axes.semilogx(list(pendulums), share, "o-", color=colour, label=label, markersize=4)
        robots = [getattr(sizes[which], part) / getattr(sizes[RELATIVE], part) for sizes in measured["robot"].values()]
        axes.plot([_ROBOT_N] * len(robots), robots, "D", color=colour, markerfacecolor="white", markersize=6)
    axes.plot([], [], "D", color=MUTED, markerfacecolor="white", label="planar Mini Cheetah, each mode (n = 7)")
    axes.axhline(1.0, color=LIMIT, linewidth=1.0)
    axes.set_ylim(0.0, 1.7)
    axes.set_ylabel("over relative angles")
    _n_axis(axes, list(pendulums), "links n of the free pendulum")
    axes.legend(loc="upper left")


def _n_axis(axes: Axes, n: list[int], label: str = "links n") -> None:
    """Ticks at the n that were measured."""
    axes.xaxis.set_major_locator(FixedLocator(n))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([str(one) for one in n])
    axes.set_xlabel(label)
