"""The figure of `bench integrators`: error against step, and against the time of an iteration."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from contact_ddp_ros.bench.integrators import DEFAULT, NAMES, SCHEMES, STEP, label
from contact_ddp_ros.bench.iteration import ITERATION
from contact_ddp_ros.bench.timing import Times
from contact_ddp_ros.report.style import MUTED, POINT_COLOURS, figure

_MARKERS = ("s", "^", "o")
_OFFSETS = ((5, 5), (4, 5), (-26, -9))
"""Of the steps' names from their points, by scheme [points]."""


def draw(steps: Sequence[float], errors: Mapping[str, Sequence[float]], times: Times, path: Path) -> None:
    """Draw what was measured."""
    with figure(path, 9.5, 4.0, "Integration schemes over one gait cycle") as drawn:
        accuracy, price = drawn.subplots(1, 2, sharey=True)
        _accuracy(accuracy, np.array(steps), errors)
        _price(price, steps, errors, times)


def _accuracy(axes: Axes, steps: np.ndarray, errors: Mapping[str, Sequence[float]]) -> None:
    for scheme, colour, marker in zip(SCHEMES, POINT_COLOURS, _MARKERS, strict=False):
        axes.loglog(1e3 * steps, 1e3 * np.array(errors[scheme]), marker=marker, color=colour, label=NAMES[scheme])
    for power, scheme in ((1, DEFAULT), (2, SCHEMES[-1])):
        guide = 0.5e3 * errors[scheme][-1] * (steps / steps[-1]) ** power
        axes.loglog(1e3 * steps, guide, ":", color=MUTED, linewidth=0.9, label=f"slope {power}")
    axes.set(title="Against the step", xlabel="step [ms]", ylabel="error of the trunk's position [mm]")
    axes.set_xticks(1e3 * steps, [f"{1e3 * step:g}" for step in steps])
    axes.minorticks_off()
    axes.legend(loc="lower right")


def _price(axes: Axes, steps: Sequence[float], errors: Mapping[str, Sequence[float]], times: Times) -> None:
    unit = (label(DEFAULT, STEP), ITERATION)
    for scheme, colour, marker, offset in zip(SCHEMES, POINT_COLOURS, _MARKERS, _OFFSETS, strict=False):
        known = [i for i, step in enumerate(steps) if label(scheme, step) in times.parts]
        ratios = [times.ratio((label(scheme, steps[i]), ITERATION), unit).median for i in known]
        found = [1e3 * errors[scheme][i] for i in known]
        axes.loglog(ratios, found, marker=marker, color=colour)
        for i, x, y in zip(known, ratios, found, strict=True):
            axes.annotate(f"{1e3 * steps[i]:g} ms", (x, y), xytext=offset, textcoords="offset points", fontsize=7)
    axes.set(title="Against the price", xlabel=f"time of an iteration over {NAMES[DEFAULT]}'s, {1e3 * STEP:g} ms")
    axes.set_xticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
    axes.minorticks_off()
