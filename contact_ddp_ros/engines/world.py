"""What engines other than MuJoCo build of the simulated world's options."""

from typing import Final

from contact_ddp_ros.errors import SimulationError
from contact_ddp_ros.gazebo.options import OF_SENSORS, OF_WORLD, refuse_others
from contact_ddp_ros.sim.options import SimOptions

_AROUND: Final = ("engine", "delay.", "torque_scale", *OF_SENSORS)
"""Beginnings of the names of what lies around the physics, the same with every engine."""


def no_copy(options: SimOptions) -> SimulationError:
    """The error of whoever wants an independent copy of a running world."""
    return SimulationError(f"a world of the engine {options.engine} cannot be copied; allowed: mujoco")


def physical(options: SimOptions) -> SimOptions:
    """The options of the world itself, all others at their defaults.

    Raises:
        ParameterError: one is MuJoCo's alone, such as its models of the contact.
    """
    refuse_others(options, (*OF_WORLD, *_AROUND), f"the engine {options.engine}")
    return SimOptions(
        timestep=options.timestep,
        friction=options.friction,
        trunk_mass_scale=options.trunk_mass_scale,
        terrain=options.terrain,
        payload=options.payload,
    )
