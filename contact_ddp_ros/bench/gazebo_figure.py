"""One figure: the last cycles of the bound in each physics, laid over each other at the start of the back stance."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.recording import Recording
from contact_ddp_ros.report.style import COMMAND, MEASURED, MUTED, PLANNED, figure
from contact_ddp_ros.robot.joints import joint_index

Array = NDArray[np.float64]

_CYCLES = 2
_STYLES = ((MEASURED, "-"), (PLANNED, "-"), (COMMAND, "--"), (MUTED, ":"))
_LEG = "hr"


def draw(recordings: Mapping[str, Recording], path: Path) -> None:
    """Height, pitch, and angle and torque of one knee over the last cycles."""
    knee = joint_index(_LEG, "knee")
    with figure(path, 9.0, 6.0, "Bounding in two physics engines") as drawn:
        axes = drawn.subplots(2, 2, sharex=True)
        panels = ("trunk height [m]", "pitch [°]", f"{_LEG} knee angle [rad]", f"{_LEG} knee torque [N m]")
        for ax, title in zip(axes.flat, panels, strict=True):
            ax.set_title(title)
        for (name, recording), (colour, line) in zip(recordings.items(), _STYLES, strict=True):
            rows = last_cycles(recording)
            if rows.size == 0:
                continue
            ticks = recording.ticks
            time = ticks["time"][rows] - ticks["time"][rows[0]]
            series = (
                ticks["position"][rows, 2],
                np.degrees(recording.rpy[rows, 1]),
                ticks["joint_positions"][rows, knee],
                ticks["torques"][rows, knee],
            )
            for ax, values in zip(axes.flat, series, strict=True):
                ax.plot(time, values, line, color=colour, label=name)
        for ax in axes[1]:
            ax.set_xlabel("time since a back stance began [s]")
        handles, labels = axes.flat[0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)


def last_cycles(recording: Recording) -> NDArray[np.int64]:
    """Rows of the last whole cycles; none where there were not so many."""
    mode = recording.ticks["mode"]
    starts = np.flatnonzero((mode[1:] == 0) & (mode[:-1] != 0)) + 1
    if len(starts) <= _CYCLES:
        return np.arange(0)
    return np.arange(starts[-1 - _CYCLES], starts[-1])
