"""`contact-ddp optimize`: one offline trajectory optimisation from a standing start, told iteration by iteration."""

import argparse
import time as clock
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from contact_ddp_ros.apps.cli.options import run_options
from contact_ddp_ros.base import versions as provenance
from contact_ddp_ros.base.choices import PLANAR
from contact_ddp_ros.base.config import replace
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.files import kept_unless_empty, new_folder, write_json, written_whole
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.report.progress import say

if TYPE_CHECKING:
    from contact_ddp_ros.mpc.offline import OfflineOptimiser, OfflineResult

SUMMARY_FILE, TRAJECTORY_FILE = "summary.json", "trajectory.npz"


def optimize(arguments: argparse.Namespace) -> int:
    """Optimise, print, save `summary.json`, `trajectory.npz` and the plots; returns the exit code.

    Raises:
        ParameterError: an option or a parameter is out of range.
        SolverError: the optimisation diverged.
    """
    options = run_options(arguments)
    console = Console()
    optimiser, start = _prepare(arguments, options, console)
    with kept_unless_empty(new_folder("optimize", arguments.out)) as folder:
        started = clock.perf_counter()
        result = optimiser.solve(start, options.speed_at(0.0))
        elapsed = clock.perf_counter() - started
    summary = _summary(result, optimiser, options, elapsed)
    write_json(folder / SUMMARY_FILE, summary)
    _save_trajectory(result, optimiser, folder)
    console.print(_table(result))
    say(console, _sentence(summary))
    _draw(result, optimiser, folder)
    say(console, f"Saved in {folder}")
    return 0


def _prepare(arguments: argparse.Namespace, options: RunOptions, console: Console) -> tuple["OfflineOptimiser", Any]:
    """The optimiser and the state (2n,) of the standing robot."""
    if options.gaits:
        raise ParameterError("--gait changes in the middle; one trajectory is optimised in one gait")
    for name in ("cycles", "iterations"):
        if getattr(arguments, name) < 1:
            raise ParameterError(f"--{name} is {getattr(arguments, name)}; it must be at least 1")
    from contact_ddp_ros.mpc.offline import OfflineOptimiser
    from contact_ddp_ros.robot.models.choice import model_of
    from contact_ddp_ros.robot.models.planar import averaged
    from contact_ddp_ros.runs.scenario import check_gait, check_speed, scenario

    found = scenario(options, arguments.model)
    robot, planner = found.robot, found.planner
    check_gait(planner, arguments.model)
    difference = averaged(robot) if arguments.model == PLANAR else None
    if difference is not None:
        words = "the planar model averages left and right; they differ at most in the"
        say(console, f"{robot.tree.name}: {words} {difference}")
    check_speed(arguments.speed, planner)
    chosen = {"first_iterations": arguments.iterations, "gait.horizon_cycles": float(arguments.cycles)}
    config = replace(planner, chosen)
    model = model_of(arguments.model, robot)
    optimiser = OfflineOptimiser(model, config, robot.model_hash, arguments.shooting, arguments.constraints)
    return optimiser, model.state(robot.standing_state())


def _summary(
    result: "OfflineResult", optimiser: "OfflineOptimiser", options: RunOptions, elapsed: float
) -> dict[str, Any]:
    """The figures of an optimisation; SI units but for milliseconds."""
    from contact_ddp_ros.robot.ground import cone_excess

    solution, forces = result.outcome.solution, result.policy.forces
    pressed = forces.reshape(len(forces), len(optimiser.builder.feet), -1)
    pressed = pressed[(pressed != 0.0).any(axis=2)]
    return {
        "job": "optimize",
        "variant": optimiser.config.variant,
        "robot": options.robot,
        "shooting": optimiser.shooting,
        "constraints": optimiser.constraints,
        "commanded_speed": options.speed_at(0.0),
        "status": solution.termination.name,
        "message": solution.message,
        "feasible": result.outcome.feasible,
        "cost": solution.cost,
        "gap_max": solution.gap,
        "touchdown_error_max_m": solution.equality_violation,
        "friction_violation_max_n": max(0.0, cone_excess(pressed, optimiser.config.ground.friction).max(initial=0)),
        "solve_ms": 1e3 * elapsed,
        "iterations": result.outcome.n_iterations,
        "passes": [
            {
                "penalty": {"sigma": one.penalty[0], "delta": one.penalty[1], "epsilon": one.penalty[2]},
                "status": one.solution.termination.name,
                "iterations": [asdict(iteration) for iteration in one.solution.iterations],
            }
            for one in result.outcome.passes
        ],
        "versions": provenance.versions(),
        "machine": provenance.machine(),
    }


def _save_trajectory(result: "OfflineResult", optimiser: "OfflineOptimiser", folder: Path) -> None:
    """The plan as arrays; docs/recording.md describes them."""
    names = ("times", "states", "controls", "gains", "modes", "forces")
    arrays = {name: getattr(result.policy, name) for name in names}
    coordinates = np.array([joint.name for joint in optimiser.model.tree.joints])
    with written_whole(folder / TRAJECTORY_FILE) as temporary:
        np.savez_compressed(temporary, allow_pickle=False, coordinates=coordinates, **arrays)


def _sentence(summary: dict[str, Any]) -> str:
    feasible = "all constraints hold" if summary["feasible"] else "not every constraint holds within its tolerance"
    return (
        f"{summary['message']}; {feasible}. {summary['iterations']} iterations in {summary['solve_ms']:.1f} ms, "
        f"cost {summary['cost']:.6g}, touchdown error {1e6 * summary['touchdown_error_max_m']:.2f} µm, "
        f"friction violation {summary['friction_violation_max_n']:.2f} N"
    )


def _table(result: "OfflineResult") -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    for heading in ("pass.it", "cost", "expected", "actual", "step", "θ", "ρ", "gap", "feet [µm]", "excess", "ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for number, one in enumerate(result.outcome.passes, start=1):
        for count, it in enumerate(one.solution.iterations, start=1):
            table.add_row(
                f"{number}.{count}",
                f"{it.cost:.6g}",
                f"{it.expected:.1e}",
                f"{it.actual:.1e}",
                f"{it.step:.3g}",
                f"{it.hessian_blend:.2g}",
                f"{it.rho:.0e}",
                f"{it.gap:.1e}" if it.gap > 0.0 else "",
                f"{1e6 * it.equality:.1f}",
                f"{it.inequality:.0e}",
                f"{1e3 * (it.partials_time + it.sweep_time + it.rollout_time):.2f}",
            )
        table.add_section()
    return table


def _draw(result: "OfflineResult", optimiser: "OfflineOptimiser", folder: Path) -> None:
    from contact_ddp_ros.apps.cli import optimize_plots

    tree = optimiser.model.tree
    drawing = optimize_plots.Drawing(
        policy=result.policy,
        passes=tuple(one.solution.iterations for one in result.outcome.passes),
        joint_names=tuple(joint.name for joint in tree.joints),
        actuated=tree.actuated,
        effort_limits=tuple(tree.joints[i].effort_limit for i in tree.actuated),
        feet=optimiser.builder.feet,
        friction=optimiser.config.ground.friction,
    )
    optimize_plots.save(drawing, folder)
