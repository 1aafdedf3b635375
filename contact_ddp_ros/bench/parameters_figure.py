"""Allowed and safe range of every parameter, a row each, normalised to what is allowed."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contact_ddp_ros.config import ParameterSpec
from contact_ddp_ros.report import style
from contact_ddp_ros.safe_ranges import SafeRange

_ROW, _MARGIN = 0.2, 1.3
"""Height of a row and of what is not rows [inch]."""

_DECADES = 100.0
"""A default this many times smaller than its bound is drawn on a logarithmic scale."""


def draw(table: Mapping[str, ParameterSpec], ranges: Mapping[str, SafeRange | None], path: Path) -> None:
    """Numbers only; of several, the entry whose default is furthest from zero."""
    measured = {
        name: one for name, one in ranges.items() if one is not None and not isinstance(table[name].default, bool | str)
    }
    sections = [[name for name in measured if name.startswith(f"{section}.")] for section in ("planner", "controller")]
    columns = [names for names in sections if names]
    height = _MARGIN + _ROW * max((len(names) for names in columns), default=1)
    with style.figure(path, 6.0 * max(len(columns), 1), height, "What holds while bounding at 0.5 m/s") as figure:
        for index, names in enumerate(columns):
            _column(figure.add_subplot(1, len(columns), index + 1), names, table, measured)
        _legend(figure)


def _column(axes: Axes, names: list[str], table: Mapping[str, ParameterSpec], ranges: Mapping[str, SafeRange]) -> None:
    for row, name in enumerate(names):
        spec = table[name]
        place = _scale(spec)
        held = [_entry(spec, value) for value in ranges[name].held]
        axes.plot([0.0, 1.0], [row, row], color=style.MUTED, linewidth=1.0, zorder=1)
        left, right = place(held[0]), place(held[1])
        axes.barh(row, right - left, left=left, height=0.55, color=style.PLANNED, alpha=0.75, zorder=2)
        axes.plot(place(_entry(spec, spec.default)), row, "o", color=style.COMMAND, markersize=4, zorder=3)
        for bound, align, x in ((spec.low, "right", -0.015), (spec.high, "left", 1.015)):
            axes.text(x, row, f"{bound:g}", ha=align, va="center", fontsize=6.5, color=style.MEASURED)
    labels = [f"{name.partition('.')[2]}{' (log)' if _logarithmic(table[name]) else ''}" for name in names]
    axes.set_yticks(range(len(names)), labels, fontsize=7.5)
    axes.tick_params(axis="y", length=0, pad=28)
    axes.set_xticks([0.0, 0.5, 1.0], ["lowest", "", "highest"])
    axes.set_xlim(-0.02, 1.12)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_title(names[0].partition(".")[0])
    axes.set_xlabel("value within what is allowed")


def _legend(figure: Figure) -> None:
    axes = figure.axes[0] if figure.axes else figure.add_subplot()
    axes.plot([], [], color=style.MUTED, linewidth=1.0, label="allowed")
    axes.barh([np.nan], [0.0], color=style.PLANNED, alpha=0.75, label="held")
    axes.plot([], [], "o", color=style.COMMAND, markersize=4, label="default")
    figure.legend(*axes.get_legend_handles_labels(), loc="upper right", ncols=3)


def _entry(spec: ParameterSpec, value: object) -> float:
    """The number itself, or of several the one whose default is furthest from zero."""
    if not isinstance(spec.default, tuple):
        return float(value)  # type: ignore[arg-type]
    index = int(np.argmax(np.abs(spec.default)))
    return float(value[index])  # type: ignore[index]


def _logarithmic(spec: ParameterSpec) -> bool:
    assert spec.high is not None
    default = _entry(spec, spec.default)
    return default > 0.0 and spec.high / default >= _DECADES


def _scale(spec: ParameterSpec) -> Callable[[float], float]:
    """From a value to its place in [0, 1]; a logarithm from 0 on begins two decades below the default."""
    assert spec.low is not None and spec.high is not None
    low, high = spec.low, spec.high
    if not _logarithmic(spec):
        return lambda value: (value - low) / (high - low)
    least = low if low > 0.0 else _entry(spec, spec.default) / _DECADES
    return lambda value: math.log(max(value, least) / least) / math.log(high / least)
