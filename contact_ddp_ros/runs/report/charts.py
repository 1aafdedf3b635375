"""Kinds of charts that several figures have: bars by name, and maps of numbers."""

from collections.abc import Callable, Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.image import AxesImage

from contact_ddp_ros.runs.report.style import name_rows


def bars(
    axes: Axes,
    values: Mapping[str, float],
    colours: Sequence[str],
    lines: Sequence[tuple[float, float]] = (),
    size: float | None = None,
) -> None:
    """A horizontal bar for each name, the first on top, and over each a line from one value to another."""
    axes.barh(range(len(values)), list(values.values()), color=list(colours), height=0.6)
    for row, ends in enumerate(lines):
        axes.plot(ends, [row, row], color="black", linewidth=1.2)
    name_rows(axes, list(values), size=size)


def heat_map(
    axes: Axes,
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    limits: tuple[float, float],
    colours: str | Colormap = "viridis",
    form: Callable[[float], str] | None = "{:.1f}".format,
) -> AxesImage:
    """A map of (rows, columns) values between two limits of the colours, each with its number written into it.

    What is not a number is grey and empty; without a form no numbers are written.
    """
    axes.grid(visible=False)
    map_of = mpl.colormaps.get_cmap(colours).with_extremes(bad="#dddddd")
    image = axes.imshow(np.ma.masked_invalid(values), cmap=map_of, vmin=limits[0], vmax=limits[1], aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if form is not None and np.isfinite(value):
            red, green, blue, _ = map_of(image.norm(value))
            colour = "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else "black"
            axes.text(column, row, form(value), ha="center", va="center", fontsize=7, color=colour)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(range(len(columns)), columns)
    return image
