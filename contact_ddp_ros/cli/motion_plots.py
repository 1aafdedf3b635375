"""The figure of one executed motion: where the trunk went, and what the motors had to give."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from contact_ddp_ros.report.style import LIMIT, MEASURED, PLANNED, POINT_COLOURS, figure, legend

if TYPE_CHECKING:
    from contact_ddp_ros.motions.execution import MotionRun

_PAIRS = ("front hip", "front knee", "hind hip", "hind knee")


def save_plot(run: "MotionRun", path: Path) -> None:
    """Draw into a .png file."""
    title = f"{run.plan.task.name.replace('_', ' ')}: planned and executed"
    with figure(path, 11.0, 8.0, title) as drawn:
        axes = drawn.subplots(3, 2, sharex="col")
        for panel, index, scale, label in (
            (axes[0, 0], 1, 1.0, "trunk height [m]"),
            (axes[1, 0], 2, np.degrees(1.0), "pitch [°]"),
            (axes[2, 0], 0, 1.0, "forward [m]"),
        ):
            _followed(panel, run, index, scale)
            panel.set_ylabel(label)
        legend(axes[0, 0])
        _forces(axes[0, 1], run)
        _torques(axes[1, 1], run)
        _speeds(axes[2, 1], run)
        for panel in axes.flat:
            begin, end = run.plan.task.flight
            panel.axvspan(begin, end, color="#f0f0f0", zorder=0, linewidth=0)
            panel.set_xlim(-0.1, run.plan.task.duration + 0.5)
        for panel in axes[-1]:
            panel.set_xlabel("time from the beginning [s]; grey: planned flight")


def _followed(axes: Axes, run: "MotionRun", index: int, scale: float) -> None:
    moving = run.moving
    time = run.times - run.begun
    axes.plot(time[moving], scale * run.planned[moving, index], color=PLANNED, label="planned")
    axes.plot(time, scale * run.planar[:, index], color=MEASURED, label="executed")


def _forces(axes: Axes, run: "MotionRun") -> None:
    time = run.times - run.begun
    for colour, name, feet in zip(POINT_COLOURS, ("front", "hind"), ((0, 1), (2, 3))):
        axes.plot(time, run.forces[:, feet, 2].sum(axis=1), color=colour, label=f"{name} feet", linewidth=0.9)
    largest = np.percentile(run.forces[:, :, 2].sum(axis=1), 99.0)
    axes.set(ylabel="normal force [N]", ylim=(0.0, 1.5 * largest))
    legend(axes)


def _torques(axes: Axes, run: "MotionRun") -> None:
    limits = run.plan.problem.model.robot.effort_limits
    for colour, name, joint in zip(POINT_COLOURS, _PAIRS, run.plan.problem.model.pairs[:, 0]):
        axes.plot(run.times - run.begun, run.torques[:, joint] / limits[joint], color=colour, label=name, linewidth=0.8)
    for limit in (-1.0, 1.0):
        axes.axhline(limit, color=LIMIT, linestyle="--", linewidth=1.0)
    axes.set(ylabel="torque / limit, right legs [-]")
    legend(axes)


def _speeds(axes: Axes, run: "MotionRun") -> None:
    model = run.plan.problem.model
    limits = model.robot.velocity_limits[model.pairs[:, 0]]
    for k, (colour, name) in enumerate(zip(POINT_COLOURS, _PAIRS)):
        joint = model.tree.n + model.tree.actuated[k]
        axes.plot(run.times - run.begun, run.planar[:, joint] / limits[k], color=colour, label=name, linewidth=0.8)
    for limit in (-1.0, 1.0):
        axes.axhline(limit, color=LIMIT, linestyle="--", linewidth=1.0)
    axes.set(ylabel="joint speed / limit [-]")
