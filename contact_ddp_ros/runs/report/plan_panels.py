"""Panels that lay the plans over what was measured: each kept plan is a line over its horizon."""

from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contact_ddp_ros.robot.policy_kinematics import PolicyPoses
from contact_ddp_ros.runs.recording.record import Array
from contact_ddp_ros.runs.recording.recording import Recording
from contact_ddp_ros.runs.report.kinematics import Kinematics
from contact_ddp_ros.runs.report.panels import close_up
from contact_ddp_ros.runs.report.style import COMMAND, MEASURED, PLANNED, legend

_STRIDE = 2
"""Nodes of a plan from one drawn sole to the next."""

_APART = 0.6
"""Share of its horizon by which a drawn plan begins after the one before."""

_PAIRS = (("front", (0, 1)), ("back", (2, 3)))
"""Pairs of legs, in the order of the feet."""

Panel = tuple[str, str, Array, Callable[[int], Array]]
"""Title, unit, (N, k) measured courses, and what a plan by number says, one value for each of its nodes."""


def draw(figure: Figure, recording: Recording) -> bool:
    """Trunk, joints and feet in three columns; False where the close-up holds no plan that was kept."""
    time, mask = recording.ticks["time"], close_up(recording)
    plans = _plans_within(recording, time[mask])
    if not plans or not PolicyPoses.knows(recording.info.plan_coordinates):
        return False
    kinematics = Kinematics(recording)
    columns = (_trunk(recording), *_pairs(recording, kinematics, mask))
    axes = figure.subplots(max(map(len, columns)), len(columns), sharex=True, squeeze=False)
    for column, panels in enumerate(columns):
        for row, panel in enumerate(panels):
            _draw_panel(axes[row, column], recording, panel, plans, mask)
        for empty in axes[len(panels) :, column]:
            empty.set_axis_off()
        axes[len(panels) - 1, column].set_xlabel("time [s]")
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


def _pairs(recording: Recording, kinematics: Kinematics, mask: np.ndarray) -> list[list[Panel]]:
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


def _sole(recording: Recording, kinematics: Kinematics, leg: int, plan: int) -> Array:
    plans = recording.plans
    row = min(int(np.searchsorted(recording.ticks["time"], plans["times"][plan, 0])), len(recording.ticks["time"]) - 1)
    states = plans["states"][plan, : plans["nodes"][plan] + 1 : _STRIDE]
    return 1e3 * recording.info.heights(kinematics.planned_soles(states, row)[:, leg])
