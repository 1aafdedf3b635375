"""Checked values from the words of the command line."""

import argparse
import math
from pathlib import Path
from typing import Any

from contact_ddp_ros.base.choices import GAIT_SUFFIXES, ROBOT_SUFFIXES
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.options import RunOptions

PLANNER_DELAY = "planner_delay"
"""The delay that is an option of the run, not a parameter of the simulator."""


def run_options(namespace: argparse.Namespace) -> RunOptions:
    """The options of a run from parsed arguments. Raises ParameterError where one is out of range."""
    return RunOptions(
        duration=namespace.duration,
        speed=namespace.speed,
        left=namespace.left,
        turn=namespace.turn,
        gaits=namespace.gait[1:],
        ramp=namespace.ramp,
        stand_time=namespace.stand_time,
        stop_time=namespace.stop_time,
        recover=namespace.recover,
        variant=namespace.variant,
        robot=namespace.robot,
        backend=namespace.backend,
        composed=namespace.composed,
        lockstep=namespace.lockstep,
        pushes=tuple(namespace.push),
        seed=namespace.seed,
        friction=namespace.friction,
        trunk_mass_scale=namespace.trunk_mass_scale,
        terrain=_terrain(namespace.ground),
        state=namespace.state,
        planner_delay=(getattr(namespace, "delay", None) or {}).get(PLANNER_DELAY, namespace.planner_delay),
        record_plans=namespace.record_plans,
        video=not namespace.no_video,
        out=namespace.out,
        config=namespace.config,
        overrides=overrides(namespace),
    )


def _terrain(word: str) -> str:
    """The word for a ground, which is one. Raises ParameterError."""
    if word != RunOptions.terrain:
        from contact_ddp_ros.plants.terrain.shapes import SCENE_SUFFIX
        from contact_ddp_ros.plants.terrain.words import parse_terrain

        parse_terrain(word)
        if word.endswith(SCENE_SUFFIX):  # nodes and reports may be elsewhere
            return str(Path(word).absolute())
    return word


def overrides(namespace: argparse.Namespace) -> dict[str, Any]:
    """The parameters that options set, the first gait and the simulated world's troubles among them."""
    first = {"planner.gait.name": namespace.gait[0][1]} if namespace.gait else {}
    set_ = dict(namespace.set)
    for name, value in first.items():
        if set_.get(name, value) != value:
            raise ParameterError(f"{name} is {value} by an option and {set_[name]} by --set; allowed: one of them")
    return {**_troubles(namespace), **set_, **first}


def simulated_world(namespace: argparse.Namespace) -> dict[str, Any]:
    """The parameters of the simulator where there is a world and no run. Raises ParameterError."""
    return RunOptions(
        friction=namespace.friction,
        trunk_mass_scale=namespace.trunk_mass_scale,
        terrain=_terrain(namespace.ground),
        overrides={**_troubles(namespace), **dict(namespace.set)},
    ).simulator_parameters()


def _troubles(namespace: argparse.Namespace) -> dict[str, Any]:
    world: dict[str, Any] = {}
    for group in ("payload", "delay", "state_error"):
        world |= getattr(namespace, group, None) or {}
    world.pop(PLANNER_DELAY, None)
    return world


def parse_speed(text: str) -> tuple[tuple[float, float], ...]:
    """`"0.5"` → ((0, 0.5),); `"0:0,2:1"` → ((0, 0), (2, 1))."""
    if ":" not in text:
        return ((0.0, _number(text, "a speed")),)
    points = [part.split(":") for part in text.split(",")]
    if any(len(point) != 2 for point in points):
        raise argparse.ArgumentTypeError(f"{text!r} is not a speed profile like 0:0,2:1.0,8:0")
    return tuple((_number(time, "a time"), _number(speed, "a speed")) for time, speed in points)


def parse_push(text: str) -> Push:
    """`"3,0,40,0,0.1"` → a push at 3 s of (0, 40, 0) N for 0.1 s; three numbers more are a moment."""
    parts = text.split(",")
    if len(parts) not in (5, 8):
        raise argparse.ArgumentTypeError(f"{text!r} has {len(parts)} numbers; a push is T,FX,FY,FZ,DT[,TX,TY,TZ]")
    return Push.from_numbers([_number(part, "a number") for part in parts])


def parse_step(text: str) -> str:
    """`"2,0.02"` → the ground 2 cm higher from x = 2 m on."""
    if len([_number(part, "a number") for part in text.split(",")]) != 2:
        raise argparse.ArgumentTypeError(f"{text!r} does not have two numbers; a step is X,H")
    return f"step:{text}"


def parse_payload(text: str) -> dict[str, float]:
    """`"2,0.1,0"` → 2 kg, 10 cm ahead of the trunk's origin, as parameters of the simulator."""
    numbers = [_number(part, "a number") for part in text.split(",")]
    if len(numbers) != 3:
        raise argparse.ArgumentTypeError(f"{text!r} has {len(numbers)} numbers; a payload is KG,X,Y")
    return {f"simulator.payload.{name}": number for name, number in zip(("mass", "x", "y"), numbers)}


def parse_delay(text: str) -> dict[str, float]:
    """`"state=0.01,planner=0.02"` → delays as parameters of the simulator, and the planner's as "planner_delay"."""
    delays = _named(text, "simulator.delay", ("state", "command", "torque", "planner"))
    planner = delays.pop("simulator.delay.planner", None)
    return delays if planner is None else {**delays, PLANNER_DELAY: planner}


def parse_state_error(text: str) -> dict[str, float]:
    """`"z=0.02,pitch=0.07"` → constant errors of the measured state as parameters of the simulator."""
    return _named(text, "simulator.error", ("z", "roll", "pitch", "yaw"))


def _named(text: str, prefix: str, names: tuple[str, ...]) -> dict[str, float]:
    values = {}
    for part in text.split(","):
        name, equals, number = part.partition("=")
        if name not in names or not equals:
            raise argparse.ArgumentTypeError(f"{part!r} is not NAME=NUMBER with a name of {', '.join(names)}")
        values[f"{prefix}.{name}"] = _number(number, "a number")
    return values


def parse_gait(text: str) -> tuple[tuple[float, str], ...]:
    """`"pronk"` → ((0, "pronk"),); `"0:bound,4:my.yaml"` → ((0, "bound"), (4, "/…/my.yaml")).

    The path of a file becomes absolute, as nodes may start elsewhere.
    """
    if Path(text).exists() or ":" not in text:
        return ((0.0, _gait(text)),)
    points = [part.split(":", 1) for part in text.split(",")]
    if any(len(point) != 2 for point in points):
        raise argparse.ArgumentTypeError(f"{text!r} is not a sequence of gaits like 0:bound,4:pronk")
    changes = tuple((_number(time, "a time"), _gait(name)) for time, name in points)
    if changes[0][0] != 0.0:
        raise argparse.ArgumentTypeError(f"{text!r} does not begin with the gait at 0 s, like 0:bound,4:pronk")
    return changes


def _gait(name: str) -> str:
    return str(Path(name).absolute()) if Path(name).suffix in GAIT_SUFFIXES else name


def parse_rate(text: str) -> float:
    """Updates of a page per second: 1 to 60."""
    rate = _number(text, "a rate")
    if not 1.0 <= rate <= 60.0:
        raise argparse.ArgumentTypeError(f"{text} Hz is not allowed; give 1 to 60")
    return rate


def parse_pace(text: str) -> float:
    """Simulated over real time: 0.02 to 1."""
    pace = _number(text, "a pace")
    if not 0.02 <= pace <= 1.0:
        raise argparse.ArgumentTypeError(f"a pace of {text} is not allowed; give 0.02 to 1")
    return pace


def parse_port(text: str) -> int:
    """The number of a TCP port."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give a number from 1 to 65535")
    return int(text)


def parse_whole(text: str) -> int:
    """A count: a whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def parse_robot(text: str) -> str:
    """The name of a robot; the path of a file becomes absolute, as nodes may start elsewhere."""
    return str(Path(text).absolute()) if Path(text).suffix in ROBOT_SUFFIXES else text


def parse_number(text: str) -> float:
    """`"1e-3"` → 0.001: a finite number."""
    return _number(text, "a number")


def parse_integer(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def _number(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}, like 0.5 or 1e-3") from None
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not finite; give {what}, like 0.5 or 1e-3")
    return number
