"""The figure of `bench latency`: where the time goes, and how often it takes how long."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from contact_ddp_ros.report.style import LIMIT, POINT_COLOURS, figure, name_rows

Array = NDArray[np.float64]

_SHOWN = (50.0, 90.0, 99.0)
_STYLES = ("-", "--", ":")


def draw(hops: Mapping[str, Array], ways: Mapping[str, Sequence[Array]], period: float, path: Path) -> None:
    """Draw hops, (samples,) each, and ways, rounds of (samples,) each [ms], beside the control period [ms]."""
    with figure(path, 11.0, 4.2, "From a state to the torque that answers it") as drawn:
        left, right = drawn.subplots(1, 2)
        _draw_hops(left, hops)
        _draw_ways(right, {name: np.concatenate(times) for name, times in ways.items()}, period)


def _draw_hops(axes: Axes, hops: Mapping[str, Array]) -> None:
    """A bar per hop: its median, with a line to the 90th and a dot at the 99th percentile; numbers: median and 99th."""
    axes.set_title("Hops")
    for row, (times, colour) in enumerate(zip(hops.values(), POINT_COLOURS)):
        median, most, nearly_all = np.percentile(times, _SHOWN)
        axes.barh(row, median, color=colour, height=0.6)
        axes.plot([median, most], [row, row], color="black", linewidth=1.5)
        axes.plot(nearly_all, row, "o", color="black", markersize=4)
        axes.text(nearly_all, row, f"   {median:.2f} / {nearly_all:.2f} ms", va="center", fontsize=8)
    name_rows(axes, list(hops))
    axes.margins(x=0.3)
    axes.set_xlabel("elapsed [ms]; bar: median, line: to the 90th percentile, dot: 99th")


def _draw_ways(axes: Axes, ways: Mapping[str, Array], period: float) -> None:
    """How large a share of the words took longer than a time."""
    axes.set_title("Whole ways")
    for (name, times), style, colour in zip(ways.items(), _STYLES, POINT_COLOURS):
        ordered = np.sort(times)
        longer = 1.0 - np.arange(ordered.size) / ordered.size
        axes.plot(ordered, longer, style, color=colour, label=name, drawstyle="steps-post")
    axes.axvline(period, color=LIMIT, linewidth=0.9)
    axes.text(period, 1.0, " control period", color=LIMIT, fontsize=8, va="bottom")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("elapsed [ms]")
    axes.set_ylabel("share that took longer")
    axes.legend(loc="lower left")
