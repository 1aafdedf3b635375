"""Compilation of the kernels of planner and controller at a first start, in two processes.

python -m contact_ddp_ros.runs.kernels
"""

import multiprocessing
import signal
from multiprocessing.context import SpawnProcess

from contact_ddp_ros.base import numba_cache


def load_control() -> None:
    """Load, or compile, what controller and state estimator may call, so that no tick waits for it."""
    from contact_ddp_ros.control import controller  # noqa: F401
    from contact_ddp_ros.control.estimation import state_estimator  # noqa: F401

    numba_cache.load("control", "robot")


def begin_planner() -> SpawnProcess:
    """Begin to compile what a plan calls in a process of its own, which ends with this one; gives the process."""
    process = multiprocessing.get_context("spawn").Process(target=_plan, daemon=True)
    process.start()
    return process


def _plan() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal is the parent's to handle
    from contact_ddp_ros.mpc.planner import Planner
    from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
    from contact_ddp_ros.runs.options import RunOptions
    from contact_ddp_ros.runs.scenario import scenario

    found = scenario(RunOptions())
    plan = Planner(WholeBodyModel(found.robot), found.planner).plan(found.robot.standing_state(), 0.0, hold=True)
    plan.cost_terms()


if __name__ == "__main__":
    planner = begin_planner()
    load_control()
    planner.join()
