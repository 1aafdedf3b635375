"""Groups of options that several words of the command line share."""

import argparse
from pathlib import Path
from typing import Any

from contact_ddp_ros.cli.values import parse_push, parse_speed, parse_step
from contact_ddp_ros.config import parse_setting
from contact_ddp_ros.options import SECTIONS, VARIANTS, RunOptions

DEFAULTS = RunOptions()


def add_run_output(parser: argparse.ArgumentParser, name: str) -> None:
    """Where a run's output goes."""
    output = parser.add_argument_group("output")
    output.add_argument("--out", type=Path, metavar="FOLDER", help=f"new or empty folder (default: out/{name}-<time>)")
    output.add_argument("--no-video", action="store_true", help="do not render a video")
    output.add_argument(
        "--record-plans",
        type=int,
        default=DEFAULTS.record_plans,
        metavar="N",
        help="keep the plan (states, torques, gains) of every Nth solve and the cost by term of all; 1 takes 5 MB per "
        "second of the run, 0 keeps neither (default: %(default)s)",
    )


def add_course(parser: argparse.ArgumentParser) -> None:
    """What the robot is to do, and on which clock."""
    group = parser.add_argument_group("course of the run")
    group.add_argument("--duration", type=float, default=DEFAULTS.duration, metavar="S", help="simulated time [s]")
    group.add_argument(
        "--speed",
        type=parse_speed,
        default=DEFAULTS.speed,
        metavar="V|T:V,...",
        help="forward speed [m/s], or breakpoints time:speed, each held until the next (default: 0.5)",
    )
    group.add_argument("--ramp", action="store_true", help="change linearly between the breakpoints instead")
    group.add_argument("--stand-time", type=float, default=0.0, metavar="S", help="stand at least until then [s]")
    group.add_argument("--stop-time", type=float, metavar="S", help="come back to a stand then [s] (default: never)")
    clock = group.add_mutually_exclusive_group()
    clock.add_argument(
        "--lockstep",
        action="store_true",
        default=DEFAULTS.lockstep,
        help="physics waits for planner and controller: deterministic (default)",
    )
    clock.add_argument("--realtime", dest="lockstep", action="store_false", help="follow the wall clock")
    group.add_argument("--seed", type=int, default=DEFAULTS.seed, metavar="N", help="of all that is random")


def add_push(group: Any) -> None:
    """Pushes of the trunk."""
    group.add_argument(
        "--push",
        type=parse_push,
        action="append",
        default=[],
        metavar="T,FX,FY,FZ,DT",
        help="from time T [s], push the trunk with a force [N] (x forward, y left, z up) for DT [s]; repeatable",
    )


def add_world(parser: argparse.ArgumentParser) -> None:
    """The simulated world, of which the planner knows nothing."""
    group = parser.add_argument_group("what the planner does not know")
    add_push(group)
    group.add_argument(
        "--friction",
        type=float,
        default=DEFAULTS.friction,
        metavar="MU",
        help=f"of the simulated ground (default: {DEFAULTS.friction})",
    )
    group.add_argument(
        "--trunk-mass-scale", type=float, default=1.0, metavar="X", help="simulated trunk mass over the nominal one"
    )
    group.add_argument(
        "--step",
        type=parse_step,
        metavar="X,H",
        help="from x = X [m] on the ground is higher by H [m]; negative leads down (default: flat ground)",
    )
    group.add_argument(
        "--planner-delay",
        type=float,
        default=0.0,
        metavar="S",
        help="age of a policy when the controller gets it, in lock-step [s]",
    )


def add_common(parser: argparse.ArgumentParser) -> None:
    """Variant and parameters."""
    group = parser.add_argument_group("parameters")
    group.add_argument(
        "--variant", choices=VARIANTS, default=DEFAULTS.variant, help=f"solver (default: {DEFAULTS.variant})"
    )
    group.add_argument("--config", type=Path, metavar="FILE", help="ROS parameter file on top of the packaged one")
    group.add_argument(
        "--set",
        type=parse_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"one parameter, with its section ({', '.join(SECTIONS)}) before the first dot; repeatable",
    )
