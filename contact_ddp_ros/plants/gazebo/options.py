"""Which parameters of the simulated world a Gazebo world has; others are refused by name, not passed over."""

from typing import Final

from contact_ddp_ros.base.config import flatten
from contact_ddp_ros.base.errors import ParameterError
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
