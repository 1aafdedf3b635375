"""The feet in the side plane: their paths over the ground, stills of the robot, and the strip of footfalls."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from contact_ddp_ros.runs.recording import cycles
from contact_ddp_ros.runs.recording.record import Array
from contact_ddp_ros.runs.recording.recording import Recording
from contact_ddp_ros.runs.report import panels
from contact_ddp_ros.runs.report.kinematics import Kinematics, along
from contact_ddp_ros.runs.report.style import FOOT_COLOURS, MUTED, legend, stretches

STILLS = 6
"""Pictures of the robot over the last cycle."""

_ROOM = 0.06
"""Around a still [m]."""


def draw(figure: Figure, recording: Recording) -> bool:
    """Paths above, stills below them, the strip at the bottom; False where the robot did not move."""
    rows = np.flatnonzero(panels.close_up(recording))
    if len(rows) < 2 or not np.isfinite(recording.ticks["joint_positions"][rows]).all():
        return False
    kinematics = Kinematics(recording)
    soles = kinematics.soles(rows)
    upper, middle, lower = list(figure.subfigures(3, 1, height_ratios=(1.2, 0.75, 1.0), squeeze=False).flat)
    stills = _instants(recording, rows)
    _paths(upper.subplots(), recording, rows, soles, stills)
    _stills(list(middle.subplots(1, len(stills), sharey=True, squeeze=False).flat), recording, kinematics, stills)
    strip = lower.subplots()
    panels.gait(strip, recording)
    for number, row in enumerate(stills, 1):
        time = recording.ticks["time"][row]
        strip.axvline(time, color=MUTED, linewidth=0.8, linestyle=":")
        strip.annotate(
            str(number), (time, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=7
        )
    return True


def _instants(recording: Recording, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Ticks of the stills: evenly over the last whole cycle, or over the rows where there is none."""
    whole = [one for one in cycles.cycles(recording) if one.start >= rows[0]]
    begin, end = (whole[-1].start, whole[-1].stop) if whole else (int(rows[0]), int(rows[-1]))
    return np.linspace(begin, end, STILLS, endpoint=False).astype(np.int64)


def _paths(axes: Axes, recording: Recording, rows: NDArray[np.int64], soles: Array, stills: NDArray[np.int64]) -> None:
    row = int(rows[0])
    trunk = recording.ticks["position"][rows]
    origin = float(along(recording, trunk[:1], row)[0])
    axes.plot(along(recording, trunk, row) - origin, trunk[:, 2], color=MUTED, label="trunk")
    time = recording.ticks["time"][rows]
    touching = recording.ticks["contact_forces"][rows][:, :, 2] > panels.CONTACT_FORCE
    for foot, name in enumerate(recording.info.foot_names):
        x, z = along(recording, soles[:, foot], row) - origin, soles[:, foot, 2]
        colour = FOOT_COLOURS[foot % len(FOOT_COLOURS)]
        axes.plot(x, z, color=colour, linewidth=1.0, label=name.removesuffix("_foot"), zorder=3 - foot % 2)
        stands = [touching[:, foot] & (time >= a) & (time <= b) for a, b in stretches(time, touching[:, foot])]
        for stand in stands:
            axes.plot(x[stand].mean(), z[stand].mean(), "^", color=colour, markersize=7 - 2 * (foot % 2), zorder=4)
    inside = np.isin(rows, stills)
    axes.plot(along(recording, trunk[inside], row) - origin, trunk[inside, 2], "o", color=MUTED, markersize=3.5)
    for number, point in enumerate(trunk[inside], 1):
        place = (float(along(recording, point, row)) - origin, point[2])
        axes.annotate(str(number), place, xytext=(0, 4), textcoords="offset points", ha="center", fontsize=7)
    axes.set(
        xlabel="along the heading [m]", ylabel="height [m]", title="Paths of trunk and soles (triangle: where it stood)"
    )
    axes.set_aspect("equal", adjustable="datalim")
    legend(axes)


def _stills(axes: list[Axes], recording: Recording, kinematics: Kinematics, stills: NDArray[np.int64]) -> None:
    first = float(recording.ticks["time"][stills[0]])
    for number, (panel, row) in enumerate(zip(axes, stills), 1):
        skeleton = kinematics.skeleton(int(row))
        origin = float(along(recording, skeleton.trunk, int(row)))
        x, z = along(recording, skeleton.legs, int(row)) - origin, skeleton.legs[..., 2]
        forces = recording.ticks["contact_forces"][row][:, 2]
        for leg in (1, 0, 3, 2):
            colour = FOOT_COLOURS[leg % len(FOOT_COLOURS)]
            panel.plot(x[leg], z[leg], color=colour, linewidth=2.2 if leg % 2 == 0 else 1.2, solid_capstyle="round")
            if forces[leg] > panels.CONTACT_FORCE:
                panel.plot(x[leg, -1], z[leg, -1], "o", color=colour, markersize=6, alpha=0.6)
        hips = [float(np.mean(values[[0, 1], 0])) for values in (x, z)], [float(np.mean(v[[2, 3], 0])) for v in (x, z)]
        panel.plot(*zip(*hips), color="#444444", linewidth=5.0, solid_capstyle="round", zorder=0)
        ground = float(skeleton.trunk[2] - recording.height[row])
        panel.axhline(ground, color=MUTED, linewidth=1.0)
        panel.set_aspect("equal")
        panel.set(
            xlim=(x.min() - _ROOM, x.max() + _ROOM), ylim=(ground - 0.03, ground + 1.25 * float(z.max() - ground))
        )
        panel.set_title(f"{number}: +{1e3 * (recording.ticks['time'][row] - first):.0f} ms", fontsize=9)
        panel.set_axis_off()
