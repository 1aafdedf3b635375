"""Groups of options that several words of the command line share."""

import argparse
from pathlib import Path
from typing import Any

from contact_ddp_ros.apps.cli.values import (
    parse_delay,
    parse_gait,
    parse_payload,
    parse_push,
    parse_robot,
    parse_speed,
    parse_state_error,
    parse_step,
)
from contact_ddp_ros.base.choices import TERRAIN_WORDS, VARIANTS
from contact_ddp_ros.base.config import parse_setting
from contact_ddp_ros.plants.engines import add_engine_option
from contact_ddp_ros.runs.options import SECTIONS, STATES, RunOptions

DEFAULTS = RunOptions()


def add_run_output(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the options of a run's output."""
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
    """Add the options of the commands and of the clock."""
    group = parser.add_argument_group("course of the run")
    group.add_argument("--duration", type=float, default=DEFAULTS.duration, metavar="S", help="simulated time [s]")
    group.add_argument(
        "--speed",
        type=parse_speed,
        default=DEFAULTS.speed,
        metavar="V|T:V,...",
        help="forward speed [m/s], or breakpoints time:speed, each held until the next (default: 0.5)",
    )
    group.add_argument("--left", type=float, default=0.0, metavar="V", help="velocity to the left [m/s]")
    group.add_argument("--turn", type=float, default=0.0, metavar="W", help="rate of the heading [rad/s]")
    group.add_argument("--ramp", action="store_true", help="change linearly between the breakpoints instead")
    group.add_argument(
        "--stand-time", type=float, default=0.0, metavar="S", help="time until which the robot stands at least [s]"
    )
    group.add_argument(
        "--stop-time", type=float, metavar="S", help="time at which the robot is to stand again [s] (default: never)"
    )
    group.add_argument("--recover", action="store_true", help="a robot that has fallen gets up and moves on")
    clock = group.add_mutually_exclusive_group()
    clock.add_argument(
        "--lockstep",
        action="store_true",
        default=DEFAULTS.lockstep,
        help="physics waits for planner and controller: deterministic (default)",
    )
    clock.add_argument("--realtime", dest="lockstep", action="store_false", help="follow the wall clock")
    group.add_argument("--seed", type=int, default=DEFAULTS.seed, metavar="N", help="seed of all random numbers")


def add_push(group: Any) -> None:
    """Pushes of the trunk."""
    group.add_argument(
        "--push",
        type=parse_push,
        action="append",
        default=[],
        metavar="T,FX,FY,FZ,DT[,TX,TY,TZ]",
        help="from time T [s], push the trunk with a force [N] (x forward, y left, z up) for DT [s], and a moment [N m]"
        " about the same axes; repeatable",
    )


def add_world(parser: argparse.ArgumentParser) -> None:
    """The simulated world, of which the planner knows nothing."""
    group = add_ground(parser)
    add_push(group)
    group.add_argument(
        "--state",
        choices=STATES,
        default=DEFAULTS.state,
        help="state that planner and controller get: the simulator's, or the estimate from IMU and joints alone "
        "(default: %(default)s)",
    )
    group.add_argument(
        "--planner-delay",
        type=float,
        default=0.0,
        metavar="S",
        help="age of a policy when the controller gets it, in lock-step [s]",
    )


def add_simulated(parser: argparse.ArgumentParser) -> Any:
    """Ground and loads, which every engine has; the group, for more of the kind."""
    group = parser.add_argument_group("what the planner does not know")
    group.add_argument(
        "--friction",
        type=float,
        default=DEFAULTS.friction,
        metavar="MU",
        help=f"friction coefficient of the simulated ground (default: {DEFAULTS.friction})",
    )
    group.add_argument(
        "--trunk-mass-scale", type=float, default=1.0, metavar="X", help="simulated trunk mass over the nominal one"
    )
    ground = group.add_mutually_exclusive_group()
    ground.add_argument(
        "--ground",
        default=DEFAULTS.terrain,
        metavar="SHAPE",
        help=f"{TERRAIN_WORDS}; a positive slope climbs along the heading (default: flat)",
    )
    ground.add_argument(
        "--step",
        dest="ground",
        type=parse_step,
        metavar="X,H",
        help="from x = X [m] on the ground is higher by H [m]; the same as --ground step:X,H",
    )
    group.add_argument(
        "--payload",
        type=parse_payload,
        metavar="KG,X,Y",
        help="a mass on the trunk, X ahead and Y left of its origin [m]",
    )
    return group


def add_ground(parser: argparse.ArgumentParser) -> Any:
    """Ground, loads, delays and errors of the state; the group, for more of the kind."""
    group = add_simulated(parser)
    group.add_argument(
        "--delay",
        type=parse_delay,
        metavar="NAME=S,...",
        help="state, command, torque, planner: age of measured states, time to the drives and within them, age of a "
        "policy when the controller gets it, in lock-step [s]",
    )
    group.add_argument(
        "--state-error",
        type=parse_state_error,
        metavar="NAME=X,...",
        help="constant errors of the measured state: z [m], roll, pitch, yaw [rad]",
    )
    add_engine_option(group)
    return group


def add_robot(parser: argparse.ArgumentParser) -> None:
    """Add the option of the robot."""
    parser.add_argument(
        "--robot",
        type=parse_robot,
        default=DEFAULTS.robot,
        metavar="NAME",
        help=f"a robot of config/robots, or the path of a .yaml file like those (default: {DEFAULTS.robot})",
    )


def add_common(parser: argparse.ArgumentParser, *, setting: bool = True) -> None:
    """Variant and parameters; without `setting`, `--set` is the job's own."""
    group = parser.add_argument_group("parameters")
    group.add_argument(
        "--variant", choices=VARIANTS, default=DEFAULTS.variant, help=f"solver (default: {DEFAULTS.variant})"
    )
    group.add_argument(
        "--gait",
        type=parse_gait,
        default=(),
        metavar="NAME|T:NAME,...",
        help="bound, pronk or another of config/gaits, or the path of a .yaml file; or changes time:name, each at the "
        "end of a cycle: 0:bound,4:pronk (default: bound)",
    )
    group.add_argument("--config", type=Path, metavar="FILE", help="ROS parameter file on top of the packaged one")
    if not setting:
        return
    group.add_argument(
        "--set",
        type=parse_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"one parameter, with its section ({', '.join(SECTIONS)}) before the first dot; repeatable",
    )
