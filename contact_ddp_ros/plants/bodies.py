r"""The bodies of the simulated robot for engines that do not read its URDF: with rotors, a payload and shapes.

Neither SDF nor DART nor Bullet knows an armature, a kinetic energy :math:`\frac12 A \dot q^2` of the joint rate alone.
A thin disc of the moment A about the joint's axis, fixed to the link that the joint moves, has instead

.. math:: \tfrac12 A (\omega_p + \dot q)^2 + \tfrac14 A |\omega_\perp|^2

with the parent's rate :math:`\omega_p` about the axis. This is correct for the drive while the parent turns slowly, and
a physically consistent inertia, which engines require. Without it the inertia of a shank at its drive would be ten
times too small. docs/gazebo.md lists alternatives and measurements.

World of engines other than MuJoCo, from the simulated world's options.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import SimulationError
from contact_ddp_ros.plants.gazebo.config import OF_SENSORS, OF_WORLD, refuse_others
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.sensing import LOW, loaded
from contact_ddp_ros.plants.simulator import PhysicsSimulator
from contact_ddp_ros.robot.joints import BASE_JOINTS, BASE_LINK, JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.shapes import Shape, outline_of
from contact_ddp_ros.robot.tree import Joint

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Body:
    """A rigid body: the trunk, or a link with the joint that moves it.

    Attributes:
        name: of the link.
        joint: that moves it, its frame in the parent's and its axis; of the trunk, the last joint of the free base.
        parent: name of the link that the joint is mounted on; empty for the trunk.
        mass: [kg].
        com: (3,) centre of mass in the link's frame [m].
        inertia: (3, 3) about it, in the link's axes [kg m^2].
        shapes: that collide or are looked at.
    """

    name: str
    joint: Joint
    parent: str
    mass: float
    com: Array
    inertia: Array
    shapes: tuple[Shape, ...]


def bodies_of(robot: Robot, options: SimOptions, *, rotors: bool = True) -> Iterator[Body]:
    """Trunk and links, parents first, with the options' trunk mass and payload.

    Args:
        robot: whose bodies.
        options: of the simulated world.
        rotors: whether to add the rotors' discs to the links; without them the links have the inertia of the URDF.

    Raises:
        ModelError: the URDF has a collision shape without a formula.
    """
    outline = outline_of(robot.urdf, ElementTree.fromstring(robot.description))
    trunk = len(BASE_JOINTS) - 1
    links = dict(enumerate((BASE_LINK, *(outline.moved_links[name] for name in JOINT_NAMES)), start=trunk))
    for index, name in links.items():
        joint = robot.tree.joints[index]
        scale = options.trunk_mass_scale if index == trunk else 1.0
        body = scale * joint.mass, joint.com, scale * joint.inertia + (rotor_disc(joint) if rotors else 0.0)
        shapes = tuple(shape for shape in outline.shapes if shape.carrier == name)
        if index == trunk:
            body = loaded(*body, options.payload, trunk_top(robot))
        yield Body(name, joint, links.get(joint.parent, ""), *body, shapes)


def rotor_disc(joint: Joint) -> Array:
    """(3, 3) inertia of the thin disc about a joint's axis that stands for its armature [kg m^2]."""
    return 0.5 * joint.armature * (np.eye(3) + np.outer(joint.axis, joint.axis))


def trunk_top(robot: Robot) -> float:
    """Height of the trunk's upper side above its origin, as its boxes have it [m]."""
    outline = outline_of(robot.urdf, ElementTree.fromstring(robot.description))
    boxes = [shape for shape in outline.shapes if shape.kind == "box" and shape.link == BASE_LINK]
    return max((float(shape.translation[2] + 0.5 * shape.size[2]) for shape in boxes), default=LOW)


_AROUND: Final = ("engine", "delay.", "torque_scale", "imu.", *OF_SENSORS)
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
