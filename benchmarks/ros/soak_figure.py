"""The figure of `bench soak`: memory of each process and the rates over simulated time."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from benchmarks.fits import Trend
from benchmarks.ros.soak_tally import Sample, rates, series
from contact_ddp_ros.runs.report.style import COMMAND, LIMIT, MEASURED, MUTED, POINT_COLOURS, figure, legend

Array = NDArray[np.float64]

_STYLES = ("-", "--", "-.", ":")


def draw(samples: Sequence[Sample], growth: Mapping[str, Trend], warm: float, limit: float, path: Path) -> None:
    """Draw the samples; `growth` [MB/h] is that from `warm` [s] on, `limit` what is allowed."""
    times = np.array([sample.time for sample in samples])
    with figure(path, 11.0, 6.4, f"Bounding for {times[-1]:.0f} simulated seconds") as drawn:
        axes = drawn.subplots(2, 2, sharex=True)
        _draw_memory(axes[0, 0], times, samples, growth, warm, limit)
        _draw_work(axes[0, 1], times, samples)
        _draw_rates(axes[1, 0], times, samples)
        _draw_speed(axes[1, 1], times, samples)
        for one in axes.flat:
            one.axvspan(0.0, warm, color="#f3f3f3", zorder=0, linewidth=0)
            one.set_xlim(0.0, times[-1])
        for one in axes[1]:
            one.set_xlabel("simulated time [s]; grey: warm-up")


def _draw_memory(
    axes: Axes, times: Array, samples: Sequence[Sample], growth: Mapping[str, Trend], warm: float, limit: float
) -> None:
    """Resident memory relative to that at the end of the warm-up; what came before may leave the panel."""
    axes.set_title("Memory since the warm-up")
    begin, largest = int(np.searchsorted(times, warm)), limit
    for (name, one), style, colour in zip(growth.items(), _STYLES, POINT_COLOURS):
        memory = series(samples, name, "memory")
        largest = max(largest, float(np.abs(memory[begin:] - memory[begin]).max()))
        label = f"{name}: {memory[begin]:.0f} MB, {one.slope:+.2f} MB/h"
        axes.plot(times, memory - memory[begin], style, color=colour, label=label)
    span = times[-1] - warm
    axes.plot([warm, times[-1]], [0.0, limit * span / 3600.0], color=LIMIT, linewidth=0.9, label=f"{limit:g} MB/h")
    axes.set_ylabel("resident [MB]")
    axes.set_ylim(-2.2 * largest, 1.2 * largest)
    axes.legend(loc="lower right")


def _draw_work(axes: Axes, times: Array, samples: Sequence[Sample]) -> None:
    """Processor time per simulated time, which other work on the machine disturbs less than the wall clock."""
    axes.set_title("Processor time")
    for name, style, colour in zip(samples[0].vitals, _STYLES, POINT_COLOURS):
        used = series(samples, name, "processor_time")
        axes.plot(times[1:], np.diff(used) / np.diff(times), style, color=colour, label=name)
    axes.set_ylabel("per simulated time [s / s]")
    axes.set_ylim(bottom=0.0)
    legend(axes)


def _draw_rates(axes: Axes, times: Array, samples: Sequence[Sample]) -> None:
    """Ticks and solves per simulated second, and the real-time factor."""
    axes.set_title("Rates")
    found = rates(samples)
    axes.plot(times[1:], found["ticks"], "-", color=POINT_COLOURS[0], label="ticks")
    axes.plot(times[1:], found["solves"], "--", color=POINT_COLOURS[1], label="solves")
    axes.set_ylabel("per simulated second [Hz]")
    axes.set_ylim(bottom=0.0)
    factor = axes.twinx()
    factor.plot(times[1:], found["real time"], color=MUTED, linewidth=0.9)
    factor.set_ylabel("simulated / wall-clock time", color=MUTED)
    factor.set_ylim(bottom=0.0)
    factor.grid(visible=False)
    legend(axes)


def _draw_speed(axes: Axes, times: Array, samples: Sequence[Sample]) -> None:
    """Speed over ground between two looks beside the command."""
    axes.set_title("Speed")
    position = np.array([sample.position for sample in samples])
    speed = np.linalg.norm(np.diff(position, axis=0), axis=1) / np.diff(times)
    axes.plot(times, [sample.commanded_speed for sample in samples], color=COMMAND, label="commanded")
    axes.plot(times[1:], speed, color=MEASURED, linewidth=0.9, label="over ground")
    axes.set_ylabel("[m/s]")
    legend(axes)
