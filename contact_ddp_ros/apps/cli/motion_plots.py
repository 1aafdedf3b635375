"""The figure of one executed motion: where the trunk went, and what the motors had to give."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from contact_ddp_ros.runs.report.style import LIMIT, MEASURED, PLANNED, POINT_COLOURS, figure, legend

if TYPE_CHECKING:
    from contact_ddp_ros.runs.motions.execution import MotionRun

_PAIRS = ("front hip", "front knee", "hind hip", "hind knee")


def save_plot(run: "MotionRun", path: Path) -> None:
    """Draw into a .png file."""
    problem, task = run.plan.problem, run.plan.task
    sideways = abs(task.left) > abs(task.displacement)
    title = f"{task.name.replace('_', ' ')}: planned and executed"
    with figure(path, 11.0, 8.0, title) as drawn:
        axes = drawn.subplots(3, 2, sharex="col")
        for panel, index, scale, label in (
            (axes[0, 0], problem.model.height, 1.0, "trunk height [m]"),
            (axes[1, 0], problem.turning, np.degrees(1.0), "roll [°]" if task.roll else "pitch [°]"),
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


def _followed(axes: Axes, run: "MotionRun", index: int, scale: float) -> None:
    moving = run.moving
    time = run.times - run.begun
    axes.plot(time[moving], scale * run.planned[moving, index], color=PLANNED, label="planned")
    axes.plot(time, scale * run.coordinates[:, index], color=MEASURED, label="executed")


def _forces(axes: Axes, run: "MotionRun") -> None:
    time = run.times - run.begun
    for colour, name, feet in zip(POINT_COLOURS, ("front", "hind"), ((0, 1), (2, 3))):
        axes.plot(time, run.forces[:, feet, 2].sum(axis=1), color=colour, label=f"{name} feet", linewidth=0.9)
    pairs = run.forces[:, :, 2].reshape(len(time), 2, 2).sum(axis=2)
    top, peak = 1.5 * float(np.percentile(pairs.sum(axis=1), 99.0)), float(pairs.max())
    axes.set(ylabel="normal force [N]", ylim=(0.0, top))
    if peak > top:
        _note(axes, f"cut at {top:.0f} N: impacts reach {peak:.0f} N,\nset by the simulator's stiff contact")
    legend(axes)


def _torques(axes: Axes, run: "MotionRun") -> None:
    limits = run.plan.problem.model.robot.effort_limits
    for colour, name, (joint, _) in zip(POINT_COLOURS, _PAIRS, _joints(run)):
        axes.plot(run.times - run.begun, run.torques[:, joint] / limits[joint], color=colour, label=name, linewidth=0.8)
    for limit in (-1.0, 1.0):
        axes.axhline(limit, color=LIMIT, linestyle="--", linewidth=1.0)
    axes.set(ylabel="torque / limit, right legs [-]")
    legend(axes)


def _joints(run: "MotionRun") -> list[tuple[int, int]]:
    """Of the right legs' hips and knees, the robot's joint and the column of its rate among the coordinates."""
    problem = run.plan.problem
    tree, names = problem.model.tree, [joint.name for joint in problem.model.robot.tree.joints]
    base = len(names) - problem.model.robot.n_joints
    wanted = [names.index(f"{leg}_{joint}_joint") - base for leg in ("fr", "hr") for joint in ("hip", "knee")]
    controls = [list(problem.joints).index(joint) for joint in wanted]
    return [(joint, tree.n + tree.actuated[k]) for joint, k in zip(wanted, controls)]


def _speeds(axes: Axes, run: "MotionRun") -> None:
    limits = run.plan.problem.model.robot.velocity_limits
    for colour, name, (joint, rate) in zip(POINT_COLOURS, _PAIRS, _joints(run)):
        speeds = run.coordinates[:, rate] / limits[joint]
        axes.plot(run.times - run.begun, speeds, color=colour, label=name, linewidth=0.8)
    for limit in (-1.0, 1.0):
        axes.axhline(limit, color=LIMIT, linestyle="--", linewidth=1.0)
    axes.set(ylabel="joint speed / limit [-]")
    _note(axes, f"largest of all joints: {run.speed_share:.2f}\nfor {1e3 * run.overspeed:.0f} ms above 1 at a stretch")


def _note(axes: Axes, text: str) -> None:
    axes.text(0.99, 0.97, text, transform=axes.transAxes, ha="right", va="top", fontsize=7, color="#555555")
