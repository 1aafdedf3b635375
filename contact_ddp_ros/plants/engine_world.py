"""World of engines other than MuJoCo, from the simulated world's options."""

from typing import Final

from contact_ddp_ros.base.errors import SimulationError
from contact_ddp_ros.plants.gazebo.config import OF_SENSORS, OF_WORLD, refuse_others
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.simulator import PhysicsSimulator

_AROUND: Final = ("engine", "delay.", "torque_scale", *OF_SENSORS)
"""Beginnings of the names of what lies around the physics, the same with every engine."""


def check_new(simulator: PhysicsSimulator, options: SimOptions) -> None:
    """Check that a world has not begun to move: such a one alone has a copy, which is built anew.

    Raises:
        SimulationError: it has.
    """
    if simulator.time > 0.0:
        raise SimulationError(
            f"a running world of the engine {options.engine} cannot be copied; allowed: mujoco, or before a step"
        )


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
