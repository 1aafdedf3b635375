"""`contact-ddp motion`: a jump or a flip, optimised offline and executed in the simulator, told, plotted and filmed.

The figure of one executed motion: where the trunk went, and what the motors had to give.
"""

import argparse
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from rich import box
from rich.console import Console
from rich.table import Table

from contact_ddp_ros.base import versions as provenance
from contact_ddp_ros.base.config import validate
from contact_ddp_ros.base.errors import ParameterError, SimulationError
from contact_ddp_ros.base.files import kept_unless_empty, new_folder, write_json, written_whole
from contact_ddp_ros.plants.engines import chosen_engine
from contact_ddp_ros.runs.report.progress import say
from contact_ddp_ros.runs.report.style import LIMIT, MEASURED, PLANNED, POINT_COLOURS, figure, legend

if TYPE_CHECKING:
    from contact_ddp_ros.control.motion_controller import ExecutionConfig
    from contact_ddp_ros.mpc.motions.optimizer import MotionPlan
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
    """Joints of the right legs' hips and knees, each with the column of its rate among the coordinates."""
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


SUMMARY_FILE, RUN_FILE, PLOT_FILE, VIDEO_FILE = "summary.json", "motion.npz", "motion.png", "run.mp4"

EXIT_FELL = 3
"""Exit code of a motion that did not end in a stand."""


def motion(arguments: argparse.Namespace) -> int:
    """Optimise, execute, print, save; returns the exit code.

    Raises:
        ParameterError: there is no such motion, or an option is out of its range.
        SolverError: no motion within the limits was found.
        SimulationError: the physics diverged.
    """
    from contact_ddp_ros.control.motion_controller import ExecutionConfig
    from contact_ddp_ros.mpc.motions.optimizer import optimise_motion
    from contact_ddp_ros.plants.engines import check_installed
    from contact_ddp_ros.plants.options import SimOptions
    from contact_ddp_ros.robot.model import load_robot
    from contact_ddp_ros.robot.motion import load_motion
    from contact_ddp_ros.runs.motions.execution import execute_motion, terrain_of

    console = Console()
    for name in ("trials", "seed"):
        if getattr(arguments, name) < 0:
            raise ParameterError(f"--{name} is {getattr(arguments, name)}; allowed: 0 or more")
    execution = ExecutionConfig(feedback=(0.0, 0.0, 0.0)) if arguments.no_feedback else ExecutionConfig()
    wanted, robot, engine = load_motion(arguments.name), load_robot(), chosen_engine(arguments)
    check_installed(engine)
    world = SimOptions(
        engine=engine,
        terrain=terrain_of(wanted),
        friction=arguments.friction,
        trunk_mass_scale=arguments.trunk_mass_scale,
    )
    validate(world)
    with kept_unless_empty(new_folder("motion", arguments.out)) as folder:
        plan = optimise_motion(wanted, robot, variant=arguments.variant)
        say(console, _of_plan(plan))
        run = execute_motion(plan, robot, world, execution=execution)
    console.print(_table(run))
    summary = _summary(plan, run)
    if arguments.trials:
        summary["trials"] = _try_out(plan, execution, engine, arguments.trials, arguments.seed, console)
    write_json(folder / SUMMARY_FILE, summary)
    _save(run, folder)
    if not arguments.no_video:
        _film(run, folder / VIDEO_FILE, console)
    say(console, f"Saved in {folder}")
    return 0 if run.landed else EXIT_FELL


def _of_plan(plan: "MotionPlan") -> str:
    first, second = (len(one.solution.iterations) for one in (plan.first, plan.found))
    solution = plan.found.solution
    short = "" if plan.is_optimum else f"; within all limits, but no optimum: {solution.message}"
    return (
        f"{plan.task.name}: optimised in {first} + {second} iterations, {plan.solve_time:.1f} s; cost "
        f"{solution.cost:.4g}, up to {100 * plan.torque_share:.0f} % of the motors' torque at their speed{short}"
    )


def _rows(run: "MotionRun") -> list[tuple[str, str, str]]:
    """Name, value, what was wanted."""
    task = run.plan.task
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


def _table(run: "MotionRun") -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    for heading in ("", "executed", "wanted"):
        table.add_column(heading, no_wrap=True, justify="left" if not heading else "right")
    for row in _rows(run):
        table.add_row(*row)
    return table


def _summary(plan: "MotionPlan", run: "MotionRun") -> dict[str, Any]:
    """The figures of a motion; SI units."""
    return {
        "job": "motion",
        "motion": asdict(plan.task),
        "engine": run.options.engine,
        "iterations": [len(one.solution.iterations) for one in (plan.first, plan.found)],
        "cost": plan.found.solution.cost,
        "solve_time": plan.solve_time,
        "planned_torque_share": plan.torque_share,
        **_figures(run),
        "versions": provenance.versions(),
        "machine": provenance.machine(),
    }


def _figures(run: "MotionRun") -> dict[str, Any]:
    names = ("landed", "outcome", "height", "displacement", "left", "rotation", "lowest")
    more = ("torque_share", "torque_excess", "speed_share", "overspeed", "touchdowns", "flight_speed", "time_to_stand")
    return {name: getattr(run, name) for name in (*names, *more)}


def _try_out(
    plan: "MotionPlan", execution: "ExecutionConfig", engine: str, trials: int, seed: int, console: Console
) -> list[dict[str, Any]]:
    """Execute in so many perturbed worlds, and say how often it landed."""
    from contact_ddp_ros.runs.motions.trials import perturbed_run
    from contact_ddp_ros.runs.study.statistics import wilson

    found = []
    for one in range(seed, seed + trials):
        run = perturbed_run(plan, plan.problem.model.robot, one, execution=execution, engine=engine)
        found.append({"seed": one, **_figures(run)})
        say(console, f"seed {one}: {run.outcome}")
    landed = wilson(sum(one["landed"] for one in found), trials)
    interval = f"95 % interval {100 * landed.lower:.0f} to {100 * landed.upper:.0f} %"
    say(console, f"{landed.successes} of {trials} perturbed starts landed and stand ({interval})")
    return found


def _save(run: "MotionRun", folder: Path) -> None:

    names = ("times", "coordinates", "planned", "torques", "available", "forces", "ground")
    with written_whole(folder / RUN_FILE) as temporary:
        policy = {f"policy_{name}": getattr(run.plan.policy, name) for name in ("times", "states", "controls", "gains")}
        np.savez_compressed(temporary, allow_pickle=False, **{name: getattr(run, name) for name in names}, **policy)
    save_plot(run, folder / PLOT_FILE)


def _film(run: "MotionRun", path: Path, console: Console) -> None:
    from contact_ddp_ros.runs.motions.film import film_motion

    try:
        film_motion(run, path)
    except SimulationError as error:
        say(console, f"no video: {error}")
