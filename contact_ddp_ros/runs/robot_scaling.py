"""Defaults of parameters for a robot: fitted to its size, and the values of its file on top.

All defaults are the Mini Cheetah's. A robot with legs lambda times as long and a mass mu times as large moves alike
(Alexander's dynamic similarity, equal Froude numbers) where every length is lambda times, every time sqrt(lambda)
times and every force mu times the Mini Cheetah's, gravity being the same. A parameter's unit m^a s^b N^c says by what
its default and its bounds follow: lambda^(a + b / 2) mu^c. That holds for postures, weights of costs, gains and the
gait's period; it does not for what belongs to computers and wires: steps, rates, time-outs. For the Mini Cheetah every
factor is one.

See eq. (25) of docs/mathematics.md.
"""

import dataclasses
import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from contact_ddp_ros.base.choices import DEFAULT_ROBOT
from contact_ddp_ros.base.config import Config, flatten, replace, scaled, specs
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.config import ControllerConfig, StandConfig
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.plants.gazebo.config import BridgeConfig
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.symmetry import leg_length, shank_inertia

SIMILAR: Final[Mapping[str, tuple[str, ...]]] = {
    "planner": (
        "reference.",
        "weight.",
        "first_guess.",
        "constraint.touchdown_penalty",
        "constraint.baumgarte_rate",
    ),
    "controller": (
        "drive.",
        "stand.kp",
        "stand.kd",
        "stand.capture_",
        "move.exit_speed",
        "move.ready_height",
        "estimation.force_",
        "estimation.foothold_",
        "estimation.early_",
        "estimation.late_",
        "estimation.drives_least",
        "safety.policy_height",
    ),
}
"""Beginnings of the names of the parameters that follow the robot's size, by section."""

_DAMPING = ("drive.kd", "drive.kd_damping", "stand.kd")
"""Velocity gains of the drives, which the inertia of the lightest shank limits."""

_MOST_DAMPING = 0.6
"""Share of a joint's speed that a velocity gain may take in a step of the drives."""

_DRIVES_STEP = 0.001
"""Time between two evaluations of the drives' law [s]."""

_STRETCH, _FIRST_GUESS = "gait.stretch", "first_guess."


def for_robot(config: Config, robot: Robot) -> Config:
    """A configuration for a robot: defaults and bounds by its size, and on top the values of its file.

    Of a node that has the drives' gains or the name of the model in Gazebo, these are the robot's, too. A robot that
    was read from a URDF alone changes nothing but that name.

    Raises:
        ParameterError: a name or a value in the robot's file is not allowed.
    """
    gazebo = getattr(config, "gazebo", None)
    if isinstance(gazebo, BridgeConfig):
        config = dataclasses.replace(config, gazebo=dataclasses.replace(gazebo, model=robot.tree.name))  # type: ignore[type-var]
    profile = robot.profile
    if profile is None:
        return config
    section = next((name for name, kind in _KINDS.items() if isinstance(config, kind)), "")
    if section:
        by_size = factors(robot, section)
        config = scaled(config, by_size) if any(factor != 1.0 for factor in by_size.values()) else config
        try:
            config = replace(config, {**_postures(robot, section), **profile.parameters.get(section, {})})
        except ParameterError as error:
            raise ParameterError(f"robot file {profile.path}: parameters.{section}: {error}") from error
    if isinstance(config, ControllerConfig):
        return config
    drives = [name for name in ("drive", "node.drive") if f"{name}.kp" in specs(config)]
    gains = flatten(for_robot(ControllerConfig(), robot).drive) if drives else {}
    return replace(config, {f"{place}.{name}": value for place in drives for name, value in gains.items()})


def factors(robot: Robot, section: str) -> dict[str, float]:
    """Scaling factors of the parameters of a section that follow the robot's size, by dotted name."""
    length, mass = scales(robot)
    found, defaults = {}, flatten(_KINDS[section]())
    for name, spec in specs(_KINDS[section]()).items():
        if name.startswith(SIMILAR.get(section, ())):
            of_length, of_mass = exponents(spec.unit)
            found[name] = length**of_length * mass**of_mass
            if name.startswith(_FIRST_GUESS):
                found[name] *= lightness(robot)
            if name in _DAMPING:
                largest = _MOST_DAMPING * shank_inertia(robot.tree) / _DRIVES_STEP
                found[name] = min(found[name], largest / float(np.max(defaults[name])))
    return found


def lightness(robot: Robot) -> float:
    """Inertia of the lightest shank about its knee over that of a similar Mini Cheetah, at most 1.

    The gains of the first trajectory follow it: with a lighter shank they would be unstable in the planner's steps.
    """
    length, mass = scales(robot)
    return min(1.0, shank_inertia(robot.tree) / (_tuned_for()[2] * length**2 * mass))


def scales(robot: Robot) -> tuple[float, float]:
    """Length and mass of a robot over those of the Mini Cheetah; ones where it was read from a URDF alone."""
    if robot.profile is None:
        return 1.0, 1.0
    length, mass, _ = _tuned_for()
    return leg_length(robot.tree) / length, robot.mass / mass


def exponents(unit: str) -> tuple[float, float]:
    """Powers of length and mass with which a quantity of that unit grows: `"N m s/rad"` → (1.5, 1).

    Raises:
        ValueError: a word of the unit is unknown.
    """
    length = mass = 0.0
    above, _, below = unit.partition("/")
    for text, sign in ((above, 1.0), (below, -1.0)):
        group, closes, power = text.rpartition(")^")
        words, outer = (group.lstrip("("), float(power)) if closes else (text, 1.0)
        for word in words.split():
            base, _, own = word.partition("^")
            if base not in _UNITS:
                raise ValueError(f"unit {unit!r} has {base!r}; known: {', '.join(_UNITS)}")
            times = sign * outer * float(own or 1.0)
            length, mass = length + times * _UNITS[base][0], mass + times * _UNITS[base][1]
    return length, mass


_UNITS: Final = {
    "1": (0.0, 0.0),
    "rad": (0.0, 0.0),
    "m": (1.0, 0.0),
    "s": (0.5, 0.0),
    "N": (0.0, 1.0),
    "kg": (0.0, 1.0),
}
"""Powers of length and mass of each unit."""


_KINDS: Final[Mapping[str, type[Any]]] = {
    "planner": PlannerConfig,
    "controller": ControllerConfig,
    "simulator": SimOptions,
}
"""Configurations that a robot's file may change, by their section."""


def _postures(robot: Robot, section: str) -> dict[str, Any]:
    """The gait's period, and the joint angles of standing and of lying folded, as far as the joints allow."""
    if section == "planner":
        return {_STRETCH: math.sqrt(scales(robot)[0])}
    if section != "controller":
        return {}
    size = len(StandConfig().fold)
    fold = [min(max(angle, low), high) for angle, low, high in zip(StandConfig().fold, robot.lower, robot.upper)]
    return {"stand.pose": tuple(robot.standing[:size].tolist()), "stand.fold": tuple(map(float, fold))}


@cache
def _tuned_for() -> tuple[float, float, float]:
    """Leg length [m], mass [kg] and shank's inertia [kg m^2] of the robot whose parameters the defaults are."""
    robot = load_robot(DEFAULT_ROBOT)
    return leg_length(robot.tree), robot.mass, shank_inertia(robot.tree)
