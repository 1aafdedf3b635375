"""`contact-ddp motion`: a jump or a flip, optimised offline and executed in the simulator, recorded and reported."""

import argparse
from typing import TYPE_CHECKING, Any

from rich.console import Console

from contact_ddp_ros.apps.cli.report import EXIT_FELL, save_and_report
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.files import kept_unless_empty, new_folder, write_json
from contact_ddp_ros.plants.engines import check_installed
from contact_ddp_ros.runs.options import OPTIONS
from contact_ddp_ros.runs.report.progress import say

if TYPE_CHECKING:
    from contact_ddp_ros.control.motion_controller import ExecutionConfig
    from contact_ddp_ros.mpc.motions.optimizer import MotionPlan

TRIALS_FILE = "trials.json"


def motion(arguments: argparse.Namespace) -> int:
    """Optimise, execute, save and report; returns the exit code.

    Raises:
        ParameterError: there is no such motion, or an option is out of its range.
        SolverError: no motion within the limits was found.
        SimulationError: the physics diverged.
    """
    from contact_ddp_ros.control.motion_controller import ExecutionConfig
    from contact_ddp_ros.mpc.motions.optimizer import optimise_motion
    from contact_ddp_ros.robot.load import load_robot
    from contact_ddp_ros.robot.motion import load_motion
    from contact_ddp_ros.runs.motions.execution import execute_motion, motion_options
    from contact_ddp_ros.runs.motions.result import MotionResult

    console = Console()
    for name, count in (("trials", arguments.trials), ("seed", arguments.first_seed)):
        if count < 0:
            raise ParameterError(f"--{name} is {count}; allowed: 0 or more")
    execution = ExecutionConfig(feedback=(0.0, 0.0, 0.0)) if arguments.no_feedback else ExecutionConfig()
    wanted, given = load_motion(arguments.name), {name: one for name, one in vars(arguments).items() if name in OPTIONS}
    options = motion_options(wanted, **given)
    variant, engine = options.in_effect("variant"), options.in_effect("engine")
    check_installed(engine)
    with kept_unless_empty(new_folder("motion", arguments.out)) as folder:
        plan = optimise_motion(wanted, load_robot(), variant=variant)
        say(console, _of_plan(plan))
        recording = execute_motion(plan, options, execution)
        save_and_report(recording, folder, console, film=not arguments.no_video)
        if arguments.trials:
            trials = _try_out(plan, execution, engine, arguments.trials, arguments.first_seed, console)
            write_json(folder / TRIALS_FILE, trials)
    return 0 if MotionResult(recording).landed else EXIT_FELL


def _of_plan(plan: "MotionPlan") -> str:
    first, second = (len(one.solution.iterations) for one in (plan.first, plan.found))
    solution = plan.found.solution
    short = "" if plan.is_optimum else f"; within all limits, but no optimum: {solution.message}"
    return (
        f"{plan.task.name}: optimised in {first} + {second} iterations, {plan.solve_time:.1f} s; cost "
        f"{solution.cost:.4g}, up to {100 * plan.torque_share:.0f} % of the motors' torque at their speed{short}"
    )


def _try_out(
    plan: "MotionPlan", execution: "ExecutionConfig", engine: str, trials: int, seed: int, console: Console
) -> list[dict[str, Any]]:
    """Execute in so many perturbed worlds, and say how often it landed."""
    from contact_ddp_ros.runs.motions.trials import perturbed_run
    from contact_ddp_ros.runs.study.study import wilson

    found = []
    for one in range(seed, seed + trials):
        run = perturbed_run(plan, one, execution=execution, engine=engine)
        found.append({"seed": one, **run.figures()})
        say(console, f"seed {one}: {run.outcome}")
    landed = wilson(sum(one["landed"] for one in found), trials)
    interval = f"95 % interval {100 * landed.lower:.0f} to {100 * landed.upper:.0f} %"
    say(console, f"{landed.successes} of {trials} perturbed starts landed and stand ({interval})")
    return found
