"""Report of a motion's run: its table, and its figure: where the trunk went, and what the motors had to give."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich import box
from rich.table import Table

from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.runs.motions.result import MotionResult
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.report.style import LIMIT, MEASURED, PLANNED, POINT_COLOURS, legend

_PAIRS = ("front hip", "front knee", "hind hip", "hind knee")
_JOINTS = [JOINT_NAMES.index(f"{leg}_{joint}_joint") for leg in ("fr", "hr") for joint in ("hip", "knee")]
"""Joints of the right legs that are drawn."""


def draw(drawn: Figure, recording: Recording) -> None:
    """Panels of the trunk's height, turn and way, and of forces, torques and joint speeds; nothing without a motion."""
    if not recording.motion:
        return
    run = MotionResult(recording)
    task = run.task
    sideways = abs(task.left) > abs(task.displacement)
    axes = drawn.subplots(3, 2, sharex="col")
    for panel, index, scale, label in (
        (axes[0, 0], run.model.height, 1.0, "trunk height [m]"),
        (axes[1, 0], run.turning, np.degrees(1.0), "roll [°]" if task.roll else "pitch [°]"),
        (axes[2, 0], int(sideways), 1.0, "to the left [m]" if sideways else "forward [m]"),
    ):
        _followed(panel, run, index, scale)
        panel.set_ylabel(label)
    legend(axes[0, 0])
    _forces(axes[0, 1], run)
    _torques(axes[1, 1], run)
    _speeds(axes[2, 1], run)
    for panel in axes.flat:
        for begin, end in task.flights:
            panel.axvspan(begin, end, color="#f0f0f0", zorder=0, linewidth=0)
        panel.set_xlim(-0.1, task.duration + 0.5)
    for panel in axes[-1]:
        panel.set_xlabel("time from the beginning [s]; grey: planned flights")


def _followed(axes: Axes, run: MotionResult, index: int, scale: float) -> None:
    moving = run.moving
    time = run.times - run.begun
    axes.plot(time[moving], scale * run.planned[moving, index], color=PLANNED, label="planned")
    axes.plot(time, scale * run.coordinates[:, index], color=MEASURED, label="executed")


def _forces(axes: Axes, run: MotionResult) -> None:
    time = run.times - run.begun
    for colour, name, feet in zip(POINT_COLOURS, ("front", "hind"), ((0, 1), (2, 3))):
        axes.plot(time, run.forces[:, feet, 2].sum(axis=1), color=colour, label=f"{name} feet", linewidth=0.9)
    pairs = run.forces[:, :, 2].reshape(len(time), 2, 2).sum(axis=2)
    top, peak = 1.5 * float(np.percentile(pairs.sum(axis=1), 99.0)), float(pairs.max())
    axes.set(ylabel="normal force [N]", ylim=(0.0, top))
    if peak > top:
        _note(axes, f"cut at {top:.0f} N: impacts reach {peak:.0f} N,\nset by the simulator's stiff contact")
    legend(axes)


def _torques(axes: Axes, run: MotionResult) -> None:
    limits = run.model.robot.effort_limits
    for colour, name, joint in zip(POINT_COLOURS, _PAIRS, _JOINTS):
        axes.plot(run.times - run.begun, run.torques[:, joint] / limits[joint], color=colour, label=name, linewidth=0.8)
    for limit in (-1.0, 1.0):
        axes.axhline(limit, color=LIMIT, linestyle="--", linewidth=1.0)
    axes.set(ylabel="torque / limit, right legs [-]")
    legend(axes)


def _speeds(axes: Axes, run: MotionResult) -> None:
    limits = run.model.robot.velocity_limits
    for colour, name, joint in zip(POINT_COLOURS, _PAIRS, _JOINTS):
        speeds = run.velocities[:, joint] / limits[joint]
        axes.plot(run.times - run.begun, speeds, color=colour, label=name, linewidth=0.8)
    for limit in (-1.0, 1.0):
        axes.axhline(limit, color=LIMIT, linestyle="--", linewidth=1.0)
    axes.set(ylabel="joint speed / limit [-]")
    _note(axes, f"largest of all joints: {run.speed_share:.2f}\nfor {1e3 * run.overspeed:.0f} ms above 1 at a stretch")


def _note(axes: Axes, text: str) -> None:
    axes.text(0.99, 0.97, text, transform=axes.transAxes, ha="right", va="top", fontsize=7, color="#555555")


def _rows(run: MotionResult) -> list[tuple[str, str, str]]:
    """Name, value, what was wanted."""
    task = run.task
    late = [round(1e3 * delay) for delay in run.delays]
    felt = " to ".join(f"{one:+d} ms" for one in sorted({min(late), max(late)})) if late else "never"
    return [
        ("end", run.outcome, ""),
        ("trunk raised by", f"{run.height:.3f} m", ""),
        ("displacement", f"{run.displacement:.3f} m", f"{task.displacement:.3f} m"),
        *([("to the left", f"{run.left:.3f} m", f"{task.left:.3f} m")] if task.left else []),
        ("rotation", f"{math.degrees(run.rotation):.1f}°", f"{math.degrees(task.turns):.0f}°"),
        ("peak torque / limit", f"{run.torque_share:.2f}", "≤ 1"),
        ("beyond the torque-speed curve", f"{run.torque_excess:.1f} N m", "0 at every command"),
        ("peak joint speed / limit", f"{run.speed_share:.2f}, {1e3 * run.overspeed:.0f} ms", "≤ 1.2 by the drives"),
        ("touchdown felt", felt, "0 ms"),
        ("forward in longest flight", f"{run.flight_speed:.2f} m/s", ""),
        ("from touchdown to rest", f"{run.time_to_stand:.2f} s", ""),
        ("lowest trunk", f"{run.lowest:.3f} m", ""),
    ]


def table(recording: Recording) -> Table:
    """Table of the figures of a motion for the console, with what was wanted."""
    shown = Table(box=box.SIMPLE_HEAD, padding=0)
    for heading in ("", "executed", "wanted"):
        shown.add_column(heading, no_wrap=True, justify="left" if not heading else "right")
    for row in _rows(MotionResult(recording)):
        shown.add_row(*row)
    return shown
