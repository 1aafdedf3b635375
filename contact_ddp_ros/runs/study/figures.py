"""The figures of a study: a line with its spread over one axis, heat maps over two, falls marked."""

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from contact_ddp_ros.runs.figures import OF_FALLS
from contact_ddp_ros.runs.report.panels import heat_map
from contact_ddp_ros.runs.report.style import LIMIT, MEASURED, PLANNED, figure
from contact_ddp_ros.runs.study.axes import Axis
from contact_ddp_ros.runs.study.grid import Grid
from contact_ddp_ros.runs.study.study import Group

MOST_MAPS = 12
"""Heat maps in one figure; a study with more has its numbers alone."""

_MOST_TEXTS = 150
"""Cells of a heat map that still have their number written into them."""

_CELL = (0.75, 0.5)
"""Size of a cell of a heat map [inch]."""

_COLOURS = "viridis"


def file_name(metric: str) -> str:
    """File name of the figure of a metric."""
    return f"{metric.replace('.', '_')}.png"


def draw(study: Grid, found: Sequence[Group], metric: str, path: Path, subject: str) -> bool:
    """Draw a metric; False where there are more heat maps than a figure holds.

    Args:
        study: what was run.
        found: its points.
        metric: name of the figure.
        path: of the file.
        subject: what the study has in common, for the title.
    """
    axes = [axis for axis in study.axes if len(axis.values) > 1]
    if len(axes) <= 1:
        _line(study, axes[0] if axes else study.axes[0], found, metric, path, subject)
        return True
    return _maps(study, axes, found, metric, path, subject)


def counted(metric: str) -> str:
    """Over which runs the mean of a figure is taken."""
    if metric == "fell":
        return "share of the runs that fell"
    return "mean of the runs that fell" if metric in OF_FALLS else "mean of the runs that did not fall"


def _line(study: Grid, axis: Axis, found: Sequence[Group], metric: str, path: Path, subject: str) -> None:
    places = np.array(axis.values, dtype=float) if axis.numeric else np.arange(len(axis.values), dtype=float)
    spreads = [point.spread(metric) for point in found]
    mean = np.array([one.mean for one in spreads])
    with figure(path, 9.0, 4.0, f"{metric} over {axis.name}\n{subject}") as drawn:
        panel = drawn.subplots()
        if study.seeds > 1:
            low, high = np.array([one.low for one in spreads]), np.array([one.high for one in spreads])
            label = f"smallest to largest of {study.seeds} seeds"
            panel.fill_between(places, low, high, color=PLANNED, alpha=0.2, linewidth=0, label=label)
            for place, point in zip(places, found):
                known = point.counted(metric)
                panel.plot([place] * len(known), known, ".", color=PLANNED, alpha=0.5)
        panel.plot(places, mean, "o-", color=MEASURED, markersize=4, label=counted(metric))
        if not axis.numeric:
            panel.set_xticks(places, [axis.label(value) for value in axis.values])
        panel.set(xlabel=axis.name, ylabel=metric)
        _mark_falls(panel, places, found)
        handles = panel.get_legend_handles_labels()[0]
        panel.legend(handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderaxespad=0.1)


def _mark_falls(panel: Axes, places: NDArray[np.float64], found: Sequence[Group]) -> None:
    """A cross on the lower edge where runs fell, with how many of how many."""
    falls = [(place, point) for place, point in zip(places, found) if point.falls]
    across = panel.get_xaxis_transform()
    if falls:
        xs = [place for place, _ in falls]
        style: dict[str, Any] = {"color": LIMIT, "markersize": 8, "markeredgewidth": 2.0, "clip_on": False}
        panel.plot(xs, [0.0] * len(xs), "x", transform=across, label="fell (of so many runs)", zorder=5, **style)
    for place, point in falls:
        text = f"{point.falls}/{len(point.figures)}"
        panel.annotate(
            text, (place, 0.0), xycoords=across, xytext=(0, 7), textcoords="offset points", ha="center", color=LIMIT
        )


def _maps(study: Grid, axes: Sequence[Axis], found: Sequence[Group], metric: str, path: Path, subject: str) -> bool:
    """A heat map over the first two axes for every combination of the others."""
    across, up, others = axes[0], axes[1], axes[2:]
    combinations = list(product(*(axis.values for axis in others)))
    if len(combinations) > MOST_MAPS:
        return False
    by_values = {tuple(map(repr, point.values.values())): point for point in found}
    names = [axis.name for axis in study.axes]
    single = {axis.name: axis.values[0] for axis in study.axes if len(axis.values) == 1}
    means = [point.spread(metric).mean for point in found]
    known = [mean for mean in means if math.isfinite(mean)]
    scale = Normalize(min(known, default=0.0), max(known, default=1.0))
    columns = min(len(combinations), 3)
    rows = -(-len(combinations) // columns)
    width, height = max(3.2, _CELL[0] * len(across.values) + 1.2), max(2.4, _CELL[1] * len(up.values) + 1.1)
    size = max(columns * width + 1.2, 7.5), rows * height + 1.2
    with figure(path, *size, f"{metric}\n{subject}") as drawn:
        panels = list(drawn.subplots(rows, columns, squeeze=False).flat)
        for panel, combination in zip(panels, combinations):
            fixed = {**single, **{axis.name: value for axis, value in zip(others, combination)}}
            table = [
                [by_values[_key(names, {**fixed, across.name: x, up.name: y})] for x in across.values]
                for y in up.values
            ]
            _map(panel, across, up, table, metric, scale)
            panel.set_title(", ".join(f"{axis.name} {axis.label(v)}" for axis, v in zip(others, combination)))
        for empty in panels[len(combinations) :]:
            empty.remove()
        colours = mpl.cm.ScalarMappable(scale, _COLOURS)
        drawn.colorbar(colours, ax=panels[: len(combinations)], label=counted(metric))
        if any(point.falls for point in found):
            mark = Line2D([], [], color=LIMIT, marker="x", linestyle="", markersize=8, markeredgewidth=2.0)
            drawn.legend([mark], ["fell, of so many runs; grey: all fell"], loc="outside lower left", fontsize=8)
    return True


def _key(names: Sequence[str], values: dict[str, Any]) -> tuple[str, ...]:
    return tuple(repr(values[name]) for name in names)


def _map(panel: Axes, across: Axis, up: Axis, table: Sequence[Sequence[Group]], metric: str, scale: Normalize) -> None:
    values = np.array([[point.spread(metric).mean for point in row] for row in table])
    rows, columns = ([axis.label(value) for value in axis.values] for axis in (up, across))
    form = "{:.3g}".format if values.size <= _MOST_TEXTS else None
    heat_map(panel, values, rows, columns, (float(scale.vmin or 0.0), float(scale.vmax or 0.0)), _COLOURS, form)
    panel.invert_yaxis()
    box = {"facecolor": "w", "edgecolor": "none", "pad": 1.5}
    for (row, column), _ in np.ndenumerate(values):
        point = table[row][column]
        if point.falls:
            text, place = f"× {point.falls}/{len(point.figures)}", (column - 0.44, row + 0.42)
            panel.text(*place, text, color=LIMIT, fontsize=7, va="top", weight="bold", bbox=box)
    panel.set(xlabel=across.name, ylabel=up.name)
