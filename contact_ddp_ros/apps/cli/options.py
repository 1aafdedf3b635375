"""Options of a run on the command line, made from their declarations, and the run's options from what was parsed.

Some options are short for one parameter, `--payload`, `--delay` and `--state-error` for several, `--set` for any: these
leave pairs of a name and a value in `set`.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from contact_ddp_ros.base.arguments import add_option, reader
from contact_ddp_ros.base.choices import URDF_SUFFIXES
from contact_ddp_ros.base.config import number, parse_setting
from contact_ddp_ros.base.errors import ParameterError, did_you_mean
from contact_ddp_ros.runs.options import OPTIONS, SECTIONS, RunOptions

Pairs = list[tuple[str, Any]]

_RUN = "run."
"""Beginning of the names of the run's own options among all parameters."""

_HIDDEN = "what the planner does not know"
_TITLES = {
    "robot": "robot",
    "course": "course of the run",
    "simulated": _HIDDEN,
    "troubles": _HIDDEN,
    "engine": _HIDDEN,
    "world": _HIDDEN,
    "parameters": "parameters",
    "nodes": "nodes",
    "output": "output",
}
"""Titles in the help by group of options."""

WORLD = ("simulated", "troubles", "engine")
RUN = ("robot", "course", *WORLD, "world", "parameters", "output")
"""Groups that a simulated world has, and a run in it."""


def add_word(
    words: Any, name: str, job: str, summary: str, description: str, epilog: str | None = None
) -> argparse.ArgumentParser:
    """Add a word of the command line; `job` is "module:function" of :mod:`contact_ddp_ros.apps.cli`."""
    parser: argparse.ArgumentParser = words.add_parser(
        name,
        help=summary,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter if epilog else argparse.HelpFormatter,
    )
    parser.set_defaults(job=job)
    return parser


def run_options(arguments: argparse.Namespace, **changes: Any) -> RunOptions:
    """The options of a run from what was parsed, and further ones.

    Raises:
        ParameterError: an option does not exist or is out of range.
    """
    given = {name: value for name, value in vars(arguments).items() if name in OPTIONS}
    overrides: dict[str, Any] = {}
    for name, value in arguments.set:
        if not name.startswith(_RUN):
            overrides[name] = value
        elif name.removeprefix(_RUN) in OPTIONS:
            given[name.removeprefix(_RUN)] = value
        else:
            raise ParameterError(f"unknown parameter {name}; {did_you_mean(name, [_RUN + one for one in OPTIONS])}")
    options = RunOptions(**{**given, **changes}, overrides=overrides)
    if Path(options.robot).suffix in URDF_SUFFIXES:
        from contact_ddp_ros.robot.load import load_robot

        for note in load_robot(options.robot).notes:
            print(f"note: {note}", file=sys.stderr)
    return options


def add_options(parser: argparse.ArgumentParser, *groups: str, without: Sequence[str] = ()) -> None:
    """Add the options of some groups, but for some, to a parser."""
    parser.set_defaults(set=[])
    places: dict[str, Any] = {}
    for group in groups:
        title = _TITLES[group]
        place = places[title] = places.get(title) or parser.add_argument_group(title)
        for name, spec in OPTIONS.items():
            if spec.option is None or spec.option.group != group or name in without:
                continue
            also = _ALSO.get(name)
            both = place.add_mutually_exclusive_group() if also else place
            add_option(both, spec)
            if also:
                also(both)
        for flag, metavar, text, convert in _SEVERAL.get(group, ()):
            if flag not in without:
                place.add_argument(
                    flag, dest="set", type=reader(convert), action="extend", default=[], metavar=metavar, help=text
                )


def _add_step(group: Any) -> None:
    text = "from x = X [m] on the ground is higher by H [m]; the same as --ground step:X,H"
    convert = reader(parse_step)
    group.add_argument("--step", dest="terrain", type=convert, default=argparse.SUPPRESS, metavar="X,H", help=text)


def _add_urdf(group: Any) -> None:
    text = "robot description of a quadruped, .urdf, .xacro or .xml (MJCF); the same as --robot FILE.urdf"
    group.add_argument("--urdf", dest="robot", default=argparse.SUPPRESS, metavar="FILE", help=text)


_ALSO: dict[str, Callable[[Any], None]] = {"terrain": _add_step, "robot": _add_urdf}
"""Other ways to give an option."""


def parse_step(text: str) -> str:
    """`"2,0.02"` → the ground 2 cm higher from x = 2 m on."""
    if len([number(part) for part in text.split(",")]) != 2:
        raise ParameterError(f"{text!r} does not have two numbers; a step is X,H")
    return f"step:{text}"


def _payload(text: str) -> Pairs:
    """`"2,0.1,0"` → 2 kg, 10 cm ahead of the trunk's origin."""
    numbers = [number(part) for part in text.split(",")]
    if len(numbers) != 3:
        raise ParameterError(f"{text!r} has {len(numbers)} numbers; a payload is KG,X,Y")
    return [(f"simulator.payload.{name}", one) for name, one in zip(("mass", "x", "y"), numbers)]


def _named(**names: str) -> Callable[[str], Pairs]:
    """Reader of `NAME=NUMBER,...` for parameters by the words that stand for them."""

    def read(text: str) -> Pairs:
        found = []
        for part in text.split(","):
            name, equals, value = part.partition("=")
            if name not in names or not equals:
                raise ParameterError(f"{part!r} is not NAME=NUMBER with a name of {', '.join(names)}")
            found.append((names[name], number(value)))
        return found

    return read


_DELAYS = {name: f"simulator.delay.{name}" for name in ("state", "command", "torque")}
_ERRORS = {name: f"simulator.error.{name}" for name in ("z", "roll", "pitch", "yaw")}

_SEVERAL: dict[str, list[tuple[str, str, str, Callable[[str], Pairs]]]] = {
    "simulated": [
        ("--payload", "KG,X,Y", "a mass on the trunk, X ahead and Y left of its origin [m]", _payload),
    ],
    "troubles": [
        (
            "--delay",
            "NAME=S,...",
            "state, command, torque, planner: age of measured states, time to the drives and within them, age of a "
            "policy when the controller gets it, in lock-step [s]",
            _named(**_DELAYS, planner="run.planner_delay"),
        ),
        (
            "--state-error",
            "NAME=X,...",
            "constant errors of the state, with --state true: z [m], roll, pitch, yaw [rad]",
            _named(**_ERRORS),
        ),
    ],
    "parameters": [
        (
            "--set",
            "NAME=VALUE",
            f"one parameter, with its section (run, {', '.join(SECTIONS)}) before the first dot; repeatable",
            lambda text: [parse_setting(text)],
        ),
    ],
}
"""Options that set parameters by name, by group: flag, word for the value, help, reader."""
