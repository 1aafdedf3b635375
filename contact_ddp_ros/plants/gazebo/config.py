"""Parameters of the bridge to Gazebo.

Which parameters of the simulated world a Gazebo world has; others are refused by name, not passed over.
"""

from dataclasses import dataclass
from typing import Final

from contact_ddp_ros.base.config import flatten, parameter
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.gazebo.names import MODEL, WORLD
from contact_ddp_ros.plants.options import SimOptions

OF_ROBOT: Final = ("timestep", "friction", "trunk_mass_scale", "payload.", "seed")
"""Beginnings of the names of what the robot's model holds; the seed is of what nobody simulates there."""

OF_WORLD: Final = (*OF_ROBOT, "terrain")
"""The same for a whole world."""

OF_SENSORS: Final = ("noise.", "error.", "seed")
"""The same for what reads the states: errors of the sensors need no world of their own."""


def refuse_others(options: SimOptions, known: tuple[str, ...], what: str) -> None:
    """Refuse a parameter that differs from its default and is not known to `what`.

    Raises:
        ParameterError: there is one; the text names it.
    """
    plain = flatten(SimOptions())
    for name, value in flatten(options).items():
        if value != plain.get(name, value) and not name.startswith(known):
            taken = ", ".join(dict.fromkeys(word + "*" * word.endswith(".") for word in known))
            raise ParameterError(f"simulator.{name} is {value!r}; {what} takes {taken} alone")


@dataclass(frozen=True)
class BridgeConfig:
    """How to find the robot in Gazebo, and what its drives do there."""

    world: str = parameter(WORLD, description="name of the world in Gazebo", structural=True)
    model: str = parameter(MODEL, description="name of the robot's model in it", structural=True)
    timestep: float = parameter(
        0.001, low=0.0001, high=0.01, unit="s", description="length of that world's physics step", structural=True
    )
    differences: bool = parameter(
        True,
        description="compute the trunk's velocity from its poses, since the odometry's twist lags",
        structural=True,
    )
    command_timeout: float = parameter(
        0.02, low=0.002, high=1.0, unit="s", description="time without a command after which the drives damp"
    )
    push_duration: float = parameter(
        0.1, low=0.001, high=10.0, unit="s", description="how long a force on the topic push acts"
    )
    answer_timeout: float = parameter(
        5.0, low=0.1, high=120.0, unit="s", description="wall-clock time in which Gazebo must answer", structural=True
    )
    server_timeout: float = parameter(
        120.0,
        low=0.1,
        high=3600.0,
        unit="s",
        description="wall-clock time in which a server must have come up",
        structural=True,
    )
    settle: bool = parameter(
        True, description="reset the world at the start and put the robot on bent legs", structural=True
    )
