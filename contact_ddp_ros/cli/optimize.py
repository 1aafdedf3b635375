"""`contact-ddp optimize`: one offline trajectory optimisation from a standing start, told iteration by iteration.

Outer passes update the touchdown multipliers of the augmented Lagrangian; within a pass the DDP runs until it
converges or reaches its limit. The problem, the solver and the warm start are those of the receding horizon.
"""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from contact_ddp_ros import provenance
from contact_ddp_ros.cli.output import new_folder
from contact_ddp_ros.config import replace
from contact_ddp_ros.errors import ParameterError, SolverError
from contact_ddp_ros.files import write_json
from contact_ddp_ros.options import RunOptions

if TYPE_CHECKING:
    from contact_ddp_ros.mpc.planner import BoundingPlanner, PlanResult
    from contact_ddp_ros.robot.state import RobotState

_MAX_PASSES = 10
"""Updates of the multipliers at most."""

_TOUCHDOWN_TOLERANCE = 1e-6
"""Touchdown error at which the passes end [m]."""


def optimize(arguments: argparse.Namespace) -> int:
    """Optimise, print, save `summary.json` and the plots; returns the exit code."""
    for name in ("cycles", "iterations"):
        if getattr(arguments, name) < 1:
            raise ParameterError(f"--{name} is {getattr(arguments, name)}; it must be at least 1")
    options = RunOptions(
        speed=((0.0, arguments.speed),),
        variant=arguments.variant,
        config=arguments.config,
        overrides=dict(arguments.set),
    )
    values = options.parameters("planner")
    from contact_ddp_ros.mpc.config import PlannerConfig
    from contact_ddp_ros.mpc.planner import BoundingPlanner
    from contact_ddp_ros.robot.model import load_robot

    fixed = {
        "variant": options.variant,
        "iterations": arguments.iterations,
        "first_iterations": arguments.iterations,
        "gait.horizon_cycles": float(arguments.cycles),
    }
    config = replace(PlannerConfig(), {**values, **fixed})
    console = Console()
    folder = new_folder("optimize", arguments.out)
    robot = load_robot()
    with console.status("Preparing the kernels"):
        planner = BoundingPlanner(robot, config)
    passes = solve(planner, robot.standing_state(), options.speed_at(0.0))
    last = passes[-1]
    console.print(_table(passes))
    console.print(
        f"{last.message}; cost {last.cost:.6g}, touchdown error {1e6 * last.touchdown_error:.2f} µm, "
        f"friction violation {last.friction_violation:.2f} N",
        highlight=False,
        soft_wrap=True,
    )
    _save(passes, planner, folder, options)
    console.print(f"Saved in {folder}", highlight=False, soft_wrap=True)
    return 0


def solve(planner: "BoundingPlanner", state: "RobotState", speed: float) -> tuple["PlanResult", ...]:
    """Outer passes from a state until the plan lands and the solve has converged.

    Raises:
        SolverError: a solve diverged.
    """
    from contact_ddp_ros.robot.planar import PlanarMap

    start = PlanarMap().planar_state(state)
    planner.reset(state.time)
    passes: list[PlanResult] = []
    while len(passes) < _MAX_PASSES and not (passes and _converged(passes[-1])):
        result = planner.plan_planar(start, state.time, speed)
        if result.policy is None:
            raise SolverError(f"the optimisation failed: {result.message}; try another speed or a shorter horizon")
        passes.append(result)
    return tuple(passes)


def _converged(result: "PlanResult") -> bool:
    """Whether the solve converged and the plan lands on the ground."""
    return result.status == "CONVERGED" and result.touchdown_error <= _TOUCHDOWN_TOLERANCE


def _table(passes: tuple["PlanResult", ...]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("pass", "it.", "cost", "expected", "actual", "step", "θ", "ρ", "feet [µm]", "ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for number, one in enumerate(passes, start=1):
        for count, it in enumerate(one.iterations, start=1):
            seconds = it.partials_time + it.sweep_time + it.rollout_time
            table.add_row(
                str(number),
                str(count),
                f"{it.cost:.6g}",
                f"{it.expected:.2e}",
                f"{it.actual:.2e}",
                f"{it.step:.3g}",
                f"{it.theta:.2g}",
                f"{it.rho:.1e}",
                f"{1e6 * it.equality:.1f}",
                f"{1e3 * seconds:.2f}",
            )
        table.add_section()
    return table


def _save(passes: tuple["PlanResult", ...], planner: "BoundingPlanner", folder: Path, options: RunOptions) -> None:
    from contact_ddp_ros.cli import optimize_plots

    last = passes[-1]
    summary = {
        "job": "optimize",
        "variant": options.variant,
        "commanded_speed": options.speed_at(0.0),
        "status": last.status,
        "converged": _converged(passes[-1]),
        "cost": last.cost,
        "touchdown_error_max_m": last.touchdown_error,
        "friction_violation_max_n": last.friction_violation,
        "solve_ms": [1e3 * one.solve_time for one in passes],
        "iterations": [[asdict(iteration) for iteration in one.iterations] for one in passes],
        "versions": provenance.versions(),
        "machine": provenance.machine(),
    }
    write_json(folder / "summary.json", summary)
    assert last.policy is not None
    tree = planner.tree
    drawing = optimize_plots.Drawing(
        policy=last.policy,
        iterations=tuple(iteration for one in passes for iteration in one.iterations),
        passes=tuple(len(one.iterations) for one in passes),
        joint_names=tuple(joint.name for joint in tree.joints),
        actuated=tree.actuated,
        effort_limits=tuple(tree.joints[i].effort_limit for i in tree.actuated),
        feet=planner.problem.feet,
        friction=planner.config.constraint.friction,
    )
    optimize_plots.save(drawing, folder)
