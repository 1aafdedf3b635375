"""The robot in somebody else's world: an SDF file of a world gets the robot and the plugins that the bridge needs.

Put into the file, not spawned into a running server: a reset of Gazebo takes everything away that has come later, and
the bridge begins with one.
"""

from dataclasses import dataclass, replace
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.config import validate
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.gazebo.config import OF_ROBOT, WORLD, refuse_others
from contact_ddp_ros.plants.gazebo.plugins import add_world_plugins, to_text
from contact_ddp_ros.plants.gazebo.sdf import check_real_time_factor, model_sdf, world_sdf
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.model import Robot

Array = NDArray[np.float64]

_TIMESTEP = 0.001
"""Time step of a world whose file names none [s]."""


@dataclass(frozen=True)
class RobotWorld:
    """A world with the robot in it.

    Attributes:
        text: the SDF.
        name: of the world.
        timestep: of its physics [s].
    """

    text: str
    name: str
    timestep: float


def own_world(robot: Robot, options: SimOptions, *, real_time_factor: float | None = None) -> RobotWorld:
    """The world of :func:`contact_ddp_ros.plants.gazebo.sdf.world_sdf`, in the same terms; errors as there."""
    factor = 1.0 if real_time_factor is None else real_time_factor
    return RobotWorld(world_sdf(robot, options, real_time_factor=factor), WORLD, options.timestep)


def with_robot(
    sdf: str,
    robot: Robot,
    options: SimOptions | None = None,
    *,
    rotors: bool = True,
    controllers: str = "",
    drive_damping: Array | None = None,
    real_time_factor: float | None = None,
) -> RobotWorld:
    """Put the robot, at the origin on straight legs, into the world of an SDF file.

    A world that has the robot already keeps it and gets the plugins that it lacks.

    Args:
        sdf: text of the file.
        robot: to be simulated.
        options: of the robot: friction of its feet, scale of its trunk's mass, payload; the world keeps its ground and
            its time step.
        rotors: as in :func:`contact_ddp_ros.plants.gazebo.sdf.world_sdf`.
        controllers, drive_damping: as there.
        real_time_factor: pace of simulated time over the wall clock; None for the file's own.

    Raises:
        ParameterError: the text is no world, an option is out of its range, or is one that would change nothing.
        ModelError: the URDF has a shape that SDF has no primitive for.
    """
    try:
        root = ElementTree.fromstring(sdf)
    except ElementTree.ParseError as error:
        raise ParameterError(f"the world's file is no SDF: {error}") from error
    world = root.find("world")
    if world is None or not world.get("name"):
        raise ParameterError("the world's file has no <world name=…> within <sdf>; a model alone is not enough")
    physics = _physics(world)
    options = _with_step_of(physics, options or SimOptions())
    refuse_others(options, OF_ROBOT, "a robot that is put into a world")
    if real_time_factor is not None:
        check_real_time_factor(real_time_factor)
        if physics is None:
            raise ParameterError("the world's file has no <physics>, which the real-time factor would go into; add one")
        _child(physics, "real_time_factor").text = f"{real_time_factor:g}"
    add_world_plugins(world)
    if any(element.get("name") == robot.tree.name for element in world.findall("model")):
        found = f"has the model {robot.tree.name!r} already (removed there, it is put in anew)"
        refuse_others(options, ("timestep",), f"a world's file that {found}")
        if not rotors or controllers or drive_damping is not None:
            raise ParameterError(f"the world's file {found}; rotors, controllers and drive damping are the model's own")
    else:
        made = model_sdf(robot, options, rotors=rotors, controllers=controllers, drive_damping=drive_damping)
        model = ElementTree.fromstring(made).find("model")
        assert model is not None
        world.append(model)
    return RobotWorld(to_text(root), world.get("name", ""), options.timestep)


def _physics(world: Element) -> Element | None:
    """The physics that a server takes: that called the default, else the first."""
    found = world.findall("physics")
    return next((one for one in found if one.get("default") in ("true", "1")), found[0] if found else None)


def _with_step_of(physics: Element | None, options: SimOptions) -> SimOptions:
    """The options with the file's own time step.

    Raises:
        ParameterError: it is none, or the options ask for another one.
    """
    text = None if physics is None else physics.findtext("max_step_size")
    try:
        timestep = _TIMESTEP if text is None else float(text)
        validate(SimOptions(timestep=timestep))
    except (ValueError, ParameterError) as error:
        raise ParameterError(f"<max_step_size> of the world's file is {text!r}: {error}; 0.001 s is usual") from None
    if options.timestep not in (SimOptions().timestep, timestep):
        raise ParameterError(
            f"simulator.timestep is {options.timestep:g} s, and the world's file says {timestep:g} s in "
            "<physics><max_step_size>; allowed: one of them, changed there"
        )
    return replace(options, timestep=timestep)


def _child(parent: Element, tag: str) -> Element:
    child = parent.find(tag)
    return ElementTree.SubElement(parent, tag) if child is None else child
