"""The figures of a run, as PNG files beside its summary."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from matplotlib.figure import Figure

from contact_ddp_ros.base.errors import ModelError, ParameterError
from contact_ddp_ros.runs.recording.recording import Recording
from contact_ddp_ros.runs.report import motion, panels, plan_panels, solver_panels
from contact_ddp_ros.runs.report.style import figure, is_idle, run_title

_IDLE_TORQUE = 1e-6
"""A joint whose torque is less all the time, in every leg, has no panel [N m]."""


def save_all(recording: Recording, folder: Path) -> tuple[Path, ...]:
    """Draw every figure that there is something for into `folder` and return the files, the overview first.

    None for an empty recording, and none that needs a robot which cannot be loaded here.
    """
    if not len(recording.ticks["time"]):
        return ()
    title = run_title(recording)
    paths = []
    for name in _OF_MOTIONS if recording.motion else _FIGURES:
        draw, width, height, heading = _FIGURES[name]
        path = folder / f"{name}.png"
        with suppress(ModelError, ParameterError), figure(path, width, height, f"{heading}\n{title}") as drawn:
            draw(drawn, recording)
        if path.exists():
            paths.append(path)
    return tuple(paths)


def _overview(drawn: Figure, recording: Recording) -> None:
    axes = drawn.subplots(4, 2)
    panels.speed(axes[0, 0], recording)
    panels.height(axes[0, 1], recording)
    panels.attitude(axes[1, 0], recording)
    panels.gait(axes[1, 1], recording)
    panels.planned_cone(axes[2, 0], recording)
    panels.normal_forces(axes[2, 1], recording)
    solver_panels.solve_times(axes[3, 0], recording)
    panels.planned_touchdowns(axes[3, 1], recording)


def _speed(drawn: Figure, recording: Recording) -> None:
    panels.speed(drawn.subplots(), recording)


def _body(drawn: Figure, recording: Recording) -> None:
    shown = [index for index in (1, 0, 2) if not panels.angle_is_idle(recording, index)]
    axes = drawn.subplots(1 + len(shown), 1, sharex=True, squeeze=False)[:, 0]
    panels.height(axes[0], recording)
    for row, index in zip(axes[1:], shown):
        panels.angle(row, recording, index)
    for row in axes[:-1]:
        row.set_xlabel("")
    panels.tell_idle_angles(axes[0], recording)


def _torques(drawn: Figure, recording: Recording) -> None:
    names, feet = recording.info.joint_names, len(recording.info.foot_names)
    per_leg = len(names) // feet
    torques = recording.ticks["torques"]
    shown = [joint for joint in range(per_leg) if not is_idle(torques[:, joint::per_leg], _IDLE_TORQUE)]
    if not shown:
        return
    axes = drawn.subplots(len(shown), feet, sharex=True, sharey="row", squeeze=False)
    for row, joint in zip(axes, shown):
        for foot, panel in enumerate(row):
            panels.torque(panel, recording, per_leg * foot + joint)
        row[0].set_ylabel("torque [N m]")
    for below in axes[-1]:
        below.set_xlabel("time [s]")


def _forces(drawn: Figure, recording: Recording) -> None:
    upper, lower = list(drawn.subfigures(2, 1, height_ratios=(1.2, 1.0), squeeze=False).flat)
    planned, measured = upper.subplots(1, 2)
    panels.planned_cone(planned, recording)
    panels.measured_cone(measured, recording)
    panels.normal_forces(lower.subplots(), recording)


def _gait(drawn: Figure, recording: Recording) -> None:
    panels.gait(drawn.subplots(), recording)


def _solve_times(drawn: Figure, recording: Recording) -> None:
    if recording.solves["time"].size:
        over_time, distribution = drawn.subplots(1, 2, width_ratios=(1.6, 1.0))
        solver_panels.solve_times(over_time, recording)
        solver_panels.solve_histogram(distribution, recording)


def _touchdowns(drawn: Figure, recording: Recording) -> None:
    drawings = (panels.planned_touchdowns, panels.measured_touchdowns)
    shown = [draw for draw, has in zip(drawings, panels.touchdowns_known(recording)) if has]
    axes = drawn.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0] if shown else ()
    for panel, draw in zip(axes, shown):
        draw(panel, recording)
    for panel in axes[:-1]:
        panel.set_xlabel("")


_FIGURES: dict[str, tuple[Callable[[Figure, Recording], object], float, float, str]] = {
    "overview": (_overview, 11.0, 10.5, "Overview"),
    "motion": (motion.draw, 11.0, 8.0, "Motion, planned and executed"),
    "speed": (_speed, 9.0, 3.4, "Speed"),
    "body": (_body, 9.0, 8.0, "Trunk"),
    "plan": (plan_panels.draw_plans, 13.0, 8.0, "Plans against what was measured, last cycles"),
    "feet": (plan_panels.draw_feet, 10.0, 8.0, "Feet in the side plane, last cycles"),
    "phase": (plan_panels.draw_phases, 9.5, 7.0, "Phase portraits"),
    "torques": (_torques, 11.0, 6.5, "Joint torques against their limits, last cycles"),
    "forces": (_forces, 10.0, 7.0, "Contact forces"),
    "gait": (_gait, 9.0, 3.2, "Gait"),
    "solve_times": (_solve_times, 10.0, 3.6, "Solve times"),
    "solver": (solver_panels.courses, 9.0, 8.0, "Planner in the loop"),
    "cost": (solver_panels.cost, 9.0, 6.5, "Cost by term"),
    "touchdowns": (_touchdowns, 9.0, 5.0, "Touchdowns"),
}
"""File name → what draws it, width and height [inch], heading."""

_OF_MOTIONS = ("motion", "body")
"""Figures of a jump or a flip, which has no gait."""
