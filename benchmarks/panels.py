"""Panels of figures that may have nothing to show."""

from collections.abc import Callable
from typing import Any

from matplotlib.axes import Axes

from contact_ddp_ros.runs.report.style import nothing


def panel(
    axes: Axes, title: str, found: Any, draw: Callable[[Axes, Any], None], otherwise: str = "not measured"
) -> None:
    """Draw what was found under a title, or say why there is nothing."""
    axes.set_title(title)
    if found:
        draw(axes, found)
    else:
        nothing(axes, otherwise)
