"""`contact-ddp robot check`: what the package understands of a URDF, and a robot's file to start from."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from contact_ddp_ros.base.choices import ROBOT_SUFFIXES
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.files import write_text
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.urdf_check.inspection import Inspection, inspect, knee_share, triples
from contact_ddp_ros.runs.report.progress import say

if TYPE_CHECKING:
    from contact_ddp_ros.robot.model import Robot

EXIT_UNFIT = 1
"""The robot cannot be used as its URDF is, or does not walk."""


def check(arguments: argparse.Namespace) -> int:
    """Print what is understood and what is missing; write the starting file where one is asked for."""
    target: Path | None = arguments.out
    if target is not None:
        _check_target(target, force=arguments.force)
    pairs = [word.partition(":=")[::2] for word in arguments.xacro]
    if not all(name and value for name, value in pairs):
        raise ParameterError(f"{' '.join(arguments.xacro)} is not NAME:=VALUE, as arguments of a xacro file are given")
    result = inspect(arguments.urdf, dict(pairs))
    console = Console()
    console.print(_table(result))
    for note in result.notes:
        say(console, f"note: {escape(note)}")
    for problem in result.problems:
        say(console, f"problem: {escape(problem)}")
    if target is not None and result.found.legs:
        write_text(target, result.starting_file(target.absolute().parent))
        say(console, f"Wrote {escape(str(target))}")
    if not result.fits:
        say(console, "This robot cannot be used as it is described.")
        return EXIT_UNFIT
    if pairs and target is None:
        say(console, "It fits. Arguments are kept in a robot's file: give -o my_robot.yaml to run it")
        return 0
    source = str(target or arguments.urdf)
    if arguments.walk and not _walks(console, source):
        say(console, "The description fits, but the robot does not walk: see the trials above.")
        return EXIT_UNFIT
    if target is None:
        say(console, "Write a robot's file with -o my_robot.yaml, to change its parameters")
    say(console, f"Try it: contact-ddp sim --robot {escape(source)} --gait trot")
    return 0


def _walks(console: Console, source: str) -> bool:
    """Let the robot walk in MuJoCo and print how; True if it does with every gait."""
    from contact_ddp_ros.runs.robot_trial import trials  # which takes the solver and the simulator along

    table = Table(box=box.SIMPLE, title="trials in MuJoCo, most of the limits that was used")
    for column in ("gait", "speed in m/s", "torque in %", "speed in %", "range in %", "friction"):
        table.add_column(column)
    walks = True
    for one in trials(source):
        shares = [", ".join(f"{100.0 * share:.0f}" for share in part) for part in (one.torque, one.rate, one.range)]
        table.add_row(one.gait, f"{one.speed:.2f} of {one.wanted:.2f}", *shares, f"{one.friction:.2f}")
        walks = walks and not one.failure
        say(console, f"{one.gait}: {escape(one.failure) or 'walks'}")
    console.print(table)
    say(console, "Shares are of abduction, hip and knee; friction is what planned forces need.")
    return walks


def _check_target(target: Path, *, force: bool) -> None:
    if target.suffix not in ROBOT_SUFFIXES:
        raise ParameterError(f"{target} does not end with {' or '.join(ROBOT_SUFFIXES)}, as a robot's file must")
    if target.exists() and not force:
        raise ParameterError(f"{target} exists; give another name, or --force to replace it")


def _table(result: Inspection) -> Table:
    model = result.found.model
    table = Table(box=box.SIMPLE, title=escape(f"{result.found.path.name}: robot {model.name!r}"))
    for column in ("what", "abduction", "hip", "knee", "foot"):
        table.add_column(column, overflow="fold")
    for leg in LEG_NAMES:
        names = result.found.legs.get(leg)
        row = ("not found", "", "", "") if names is None else (*names.joints, names.foot)
        table.add_row(f"leg {leg}", *map(escape, row))
    table.add_section()
    if result.robot is not None:
        _add_numbers(table, result.robot)
    else:
        table.add_row("total mass", f"{sum(float(body.mass) for body in model.inertias):.2f} kg")
    return table


def _add_numbers(table: Table, robot: "Robot") -> None:
    drives = robot.tree.joints[-robot.n_joints :]
    table.add_row("limits in rad: from", *triples(robot.lower))
    table.add_row("to", *triples(robot.upper))
    table.add_row("torque limit in N m", *triples(robot.effort_limits))
    table.add_row("speed limit in rad/s", *triples(robot.velocity_limits))
    table.add_row("rotor inertia in kg m²", *triples([joint.armature for joint in drives]))
    table.add_row("mass moved in kg", *triples([joint.mass for joint in drives]))
    table.add_section()
    trunk = robot.tree.joints[-robot.n_joints - 1]
    table.add_row("mass of robot, trunk", f"{robot.mass:.2f} kg", f"{trunk.mass:.2f} kg")
    table.add_row("standing height", f"{robot.standing_height():.3f} m")
    table.add_row("foot radius", f"{robot.foot_radius:.3f} m")
    table.add_row("knee torque of a bound", "", "", f"{100.0 * knee_share(robot):.0f} %")
