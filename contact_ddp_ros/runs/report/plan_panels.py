"""Panels that lay the plans over what was measured: each kept plan is a line over its horizon.

The feet in the side plane: their paths over the ground, stills of the robot, and the strip of footfalls.

Phase portraits: each coordinate against its rate, one loop for each cycle of the gait.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from contact_ddp_ros.robot.policy_kinematics import PolicyPoses
from contact_ddp_ros.runs.recording import analysis
from contact_ddp_ros.runs.recording.record import Array
from contact_ddp_ros.runs.recording.recording import Recording
from contact_ddp_ros.runs.report import panels
from contact_ddp_ros.runs.report.panels import close_up
from contact_ddp_ros.runs.report.style import COMMAND, FOOT_COLOURS, MEASURED, MUTED, PLANNED, legend, stretches
from contact_ddp_ros.runs.scene import RecordedRobot, along

_STRIDE = 2
"""Nodes of a plan from one drawn sole to the next."""

_APART = 0.6
"""Share of its horizon by which a drawn plan begins after the one before."""

_PAIRS = (("front", (0, 1)), ("back", (2, 3)))
"""Pairs of legs, in the order of the feet."""

Panel = tuple[str, str, Array, Callable[[int], Array]]
"""Title, unit, (N, k) measured courses, and what a plan by number says, one value for each of its nodes."""


def draw_plans(figure: Figure, recording: Recording) -> bool:
    """Trunk, joints and feet in three columns; False where the close-up holds no plan that was kept."""
    time, mask = recording.ticks["time"], close_up(recording)
    plans = _plans_within(recording, time[mask])
    if not plans or not PolicyPoses.knows(recording.info.plan_coordinates):
        return False
    kinematics = RecordedRobot(recording)
    columns = (_trunk(recording), *_pairs(recording, kinematics, mask))
    axes = figure.subplots(max(map(len, columns)), len(columns), sharex=True, squeeze=False)
    for column, shown in enumerate(columns):
        for row, panel in enumerate(shown):
            _draw_panel(axes[row, column], recording, panel, plans, mask)
        for empty in axes[len(shown) :, column]:
            empty.set_axis_off()
        axes[len(shown) - 1, column].set_xlabel("time [s]")
    legend(axes[0, 0])
    legend(axes[0, 1])
    axes[0, 0].set_xlim(time[mask][0], time[mask][-1])
    return True


def _plans_within(recording: Recording, times: Array) -> list[int]:
    """Numbers of the plans that say something about the times, so many that they can be told apart."""
    plans = recording.plans
    if not plans or not times.size:
        return []
    found: list[int] = []
    for k, nodes in enumerate(plans["nodes"]):
        begin, end = plans["times"][k, 0], plans["times"][k, nodes]
        apart = not found or begin - plans["times"][found[-1], 0] >= _APART * (end - begin)
        if end > times[0] and begin < times[-1] and apart:
            found.append(k)
    return found


def _draw_panel(axes: Axes, recording: Recording, panel: Panel, plans: list[int], mask: np.ndarray) -> None:
    title, unit, measured, planned = panel
    time = recording.ticks["time"][mask]
    for count, plan in enumerate(plans):
        nodes = recording.plans["times"][plan, : recording.plans["nodes"][plan] + 1]
        values = planned(plan)
        nodes = nodes[:: max(1, round(len(nodes) / len(values)))][: len(values)]
        axes.plot(nodes, values, color=PLANNED, linewidth=3.5, alpha=0.4, label=None if count else "plan, from •")
        axes.plot(nodes[0], values[0], "o", color=PLANNED, markersize=4.5)
    for index, course in enumerate(measured[mask].T):
        names = ("measured",) if measured.shape[1] == 1 else ("measured, right", "left")
        colour, style = ((MEASURED, "-"), (COMMAND, "--"))[index]
        axes.plot(time, course, style, color=colour, linewidth=1.0, label=names[index])
    axes.set(title=title, ylabel=unit)


def _coordinate(recording: Recording, name: str, plan: int, *, rate: bool = False) -> Array:
    """Values of a coordinate, or of its rate, in a plan."""
    names = recording.info.plan_coordinates
    column = names.index(name) + (len(names) if rate else 0)
    states: Array = recording.plans["states"][plan, : recording.plans["nodes"][plan] + 1, column]
    return states


def _forward(recording: Recording, plan: int) -> Array:
    """Planned velocity along the heading [m/s]."""
    ahead = _coordinate(recording, "base_x", plan, rate=True)
    if "base_yaw" not in recording.info.plan_coordinates:
        return ahead
    yaw = _coordinate(recording, "base_yaw", plan)
    return np.cos(yaw) * ahead + np.sin(yaw) * _coordinate(recording, "base_y", plan, rate=True)


def _trunk(recording: Recording) -> list[Panel]:
    position = recording.ticks["position"][:, 2]
    return [
        ("height", "m, in odom", position[:, None], partial(_coordinate, recording, "base_z")),
        ("pitch", "°", np.rad2deg(recording.rpy[:, 1:2]), partial(_degrees, recording, "base_pitch")),
        (
            "forward speed",
            "m/s",
            recording.heading_velocity[:, :1],
            partial(_forward, recording),
        ),
    ]


def _pairs(recording: Recording, kinematics: RecordedRobot, mask: np.ndarray) -> list[list[Panel]]:
    """Hip, knee and soles of each pair."""
    per_leg = len(recording.info.joint_names) // len(recording.info.foot_names)
    rows = np.flatnonzero(mask)
    soles = kinematics.soles(rows)
    found: list[list[Panel]] = []
    for pair, legs in _PAIRS:
        panels: list[Panel] = []
        for joint, offset in (("hip", per_leg - 2), ("knee", per_leg - 1)):
            coordinate = f"{pair}_{joint}"
            if coordinate not in recording.info.plan_coordinates:  # legs apart: the right one's
                coordinate = recording.info.joint_names[per_leg * legs[0] + offset]
            measured = np.rad2deg(recording.ticks["joint_positions"][:, [per_leg * leg + offset for leg in legs]])
            panels.append((f"{pair} {joint}s", "°", measured, partial(_degrees, recording, coordinate)))
        heights = np.full((len(mask), len(legs)), np.nan)
        for index, leg in enumerate(legs):
            heights[rows, index] = 1e3 * recording.info.heights(soles[:, leg])
        panels.append((f"{pair} soles", "mm above ground", heights, partial(_sole, recording, kinematics, legs[0])))
        found.append(panels)
    return found


def _degrees(recording: Recording, name: str, plan: int) -> Array:
    return np.rad2deg(_coordinate(recording, name, plan))


def _sole(recording: Recording, kinematics: RecordedRobot, leg: int, plan: int) -> Array:
    plans = recording.plans
    row = min(int(np.searchsorted(recording.ticks["time"], plans["times"][plan, 0])), len(recording.ticks["time"]) - 1)
    states = plans["states"][plan, : plans["nodes"][plan] + 1 : _STRIDE]
    return 1e3 * recording.info.heights(kinematics.planned_soles(states, row)[:, leg])


STILLS = 6
"""Pictures of the robot over the last cycle."""

_ROOM = 0.06
"""Around a still [m]."""


def draw_feet(figure: Figure, recording: Recording) -> bool:
    """Paths above, stills below them, the strip at the bottom; False where the robot did not move."""
    rows = np.flatnonzero(panels.close_up(recording))
    if len(rows) < 2 or not np.isfinite(recording.ticks["joint_positions"][rows]).all():
        return False
    kinematics = RecordedRobot(recording)
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
    whole = [one for one in analysis.cycles(recording) if one.start >= rows[0]]
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


def _stills(axes: list[Axes], recording: Recording, kinematics: RecordedRobot, stills: NDArray[np.int64]) -> None:
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


_MOST = 6000
"""Points of a portrait."""

_COLOURS = "viridis_r"


def draw_phases(figure: Figure, recording: Recording) -> bool:
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
