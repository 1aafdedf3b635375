"""Phase portraits: each coordinate against its rate, one loop for each cycle of the gait."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from contact_ddp_ros.runs.recording import analysis
from contact_ddp_ros.runs.recording.record import Array
from contact_ddp_ros.runs.recording.recording import Recording

_MOST = 6000
"""Points of a portrait."""

_COLOURS = "viridis_r"


def draw(figure: Figure, recording: Recording) -> bool:
    """Pitch, height and the pairs' hips; False where the robot did not move."""
    rows = np.flatnonzero(analysis.bounding(recording))
    if len(rows) < 2:
        return False
    rows = rows[:: max(1, len(rows) // _MOST)]
    axes = figure.subplots(2, 2)
    drawn = None
    for panel, (title, unit, position, rate) in zip(axes.flat, _portraits(recording)):
        drawn = _portrait(panel, recording.ticks["time"][rows], position[rows], rate[rows])
        panel.set(xlabel=f"{title} [{unit}]", ylabel=f"its rate [{unit}/s]")
    if drawn is not None:
        figure.colorbar(drawn, ax=axes, label="time [s]", fraction=0.04)
    return True


def _portraits(recording: Recording) -> list[tuple[str, str, Array, Array]]:
    ticks, velocity = recording.ticks, recording.heading_velocity
    per_leg = ticks["joint_positions"].shape[1] // len(recording.info.foot_names)
    found = [
        ("pitch", "°", np.rad2deg(recording.rpy[:, 1]), np.rad2deg(ticks["angular_velocity"][:, 1])),
        ("trunk height", "m", recording.height, velocity[:, 2]),
    ]
    for name, legs in (("front hips, mean", (0, 1)), ("back hips, mean", (2, 3))):
        columns = [per_leg * leg + per_leg - 2 for leg in legs]
        angles = [np.rad2deg(ticks[key][:, columns].mean(axis=1)) for key in ("joint_positions", "joint_velocities")]
        found.append((name, "°", angles[0], angles[1]))
    return found


def _portrait(axes: Axes, time: NDArray[Any], position: Array, rate: Array) -> LineCollection:
    points = np.stack([position, rate], axis=1)
    segments = list(np.stack([points[:-1], points[1:]], axis=1))
    lines = LineCollection(segments, cmap=_COLOURS, array=time[:-1], linewidths=0.9, alpha=0.8)
    axes.add_collection(lines)
    axes.autoscale_view()
    return lines
