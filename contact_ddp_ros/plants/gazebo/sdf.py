"""The robot and its world as SDF for Gazebo Sim, generated from the URDF.

Bodies, axes, limits, damping and dry friction are copied; a link fixed to another becomes part of it, so a foot is a
collision sphere of its shank. Joint angles are those of the URDF. Gazebo starts with all of them at zero, the legs
straight, so the model is placed higher than a standing robot.

Drives. With `drive_damping` the joints carry the damping of the drives beside the robot's own:
:mod:`contact_ddp_ros.plants.gazebo.efforts` explains why. The efforts sent to them then exceed the actuators' limits by
as much, so the effort limits in the SDF are wider.

Rotors: :mod:`contact_ddp_ros.plants.bodies` says how a drive's armature becomes part of a link.

Plugins: ApplyJointForce for each joint, TriggeredPublisher that acknowledges the efforts, joint states, odometry
(three-dimensional, at every step), IMU, contacts; or, for ros2_control, the plugin of gz_ros2_control instead of the
first two.
"""

from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.config import validate
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.bodies import bodies_of
from contact_ddp_ros.plants.gazebo.config import OF_ROBOT, OF_WORLD, WORLD, Names, refuse_others
from contact_ddp_ros.plants.gazebo.efforts import largest_effort
from contact_ddp_ros.plants.gazebo.plugins import (
    add,
    add_friction,
    add_ground,
    add_material,
    add_model_plugins,
    add_pose,
    add_world_plugins,
    number,
    numbers,
    to_text,
)
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.terrain.words import parse_terrain
from contact_ddp_ros.robot.joints import BASE_LINK, FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.model import Robot, foot_positions
from contact_ddp_ros.robot.shapes import SIZES, Shape
from contact_ddp_ros.robot.tree import Joint

Array = NDArray[np.float64]

SDF_VERSION: Final = "1.9"
"""Read by Harmonic, Ionic and Jetty."""

IMU_RATE: Final = 1000.0
"""Rate of the IMU's messages [Hz]; the state does not come from them."""

_FASTEST = 100.0
"""Largest real-time factor: no machine keeps it."""


def world_sdf(
    robot: Robot,
    options: SimOptions | None = None,
    *,
    rotors: bool = True,
    controllers: str = "",
    drive_damping: Array | None = None,
    real_time_factor: float = 1.0,
) -> str:
    """A world with ground, sun and the robot standing on straight legs at the origin.

    Args:
        robot: to be simulated.
        options: time step, ground, friction, trunk's mass and payload of the simulated world.
        rotors: whether to add the rotors' discs to the links; without them the links have the inertia of the URDF.
        controllers: parameter file of ros2_control, which then drives the joints instead of ApplyJointForce.
        drive_damping: (12,) damping of the drives to add to the joints, for a world that is not stepped [N m s/rad].
        real_time_factor: simulated time over wall time while the world runs.

    Raises:
        ModelError: the URDF has a collision shape without an SDF primitive.
        ParameterError: an option is out of its range, or asks for what a world of Gazebo does not have.
    """
    options = SimOptions() if options is None else options
    refuse_others(options, OF_WORLD, "a world of Gazebo")
    check_real_time_factor(real_time_factor)
    root = Element("sdf", version=SDF_VERSION)
    world = add(root, "world", name=WORLD)
    _add_physics(world, options, real_time_factor)
    add(world, "gravity", numbers(robot.tree.gravity))
    add_world_plugins(world)
    _add_scene(world)
    add_ground(world, options.terrain, options.friction)
    world.append(_model(robot, options, rotors, controllers, drive_damping))
    return to_text(root)


def model_sdf(
    robot: Robot,
    options: SimOptions | None = None,
    *,
    rotors: bool = True,
    controllers: str = "",
    drive_damping: Array | None = None,
) -> str:
    """The robot alone, for insertion into another world, which has its own ground; otherwise as :func:`world_sdf`.

    That world needs the plugins Physics, Imu and Contact and a step of `options.timestep`.
    """
    options = SimOptions() if options is None else options
    refuse_others(options, OF_ROBOT, "a model without a world")
    root = Element("sdf", version=SDF_VERSION)
    root.append(_model(robot, options, rotors, controllers, drive_damping))
    return to_text(root)


def check_real_time_factor(factor: float) -> None:
    """Check simulated time over wall time.

    Raises:
        ParameterError: it is out of its range.
    """
    if not 0.0 < factor <= _FASTEST:
        raise ParameterError(f"real-time factor {factor}; allowed: above 0 to {_FASTEST:g}")


def straight_height(robot: Robot) -> float:
    """Height of the trunk's origin above the ground when all joint angles are zero and the feet touch it [m]."""
    return robot.foot_radius - float(min(foot_positions(robot, np.zeros(robot.n_joints))[:, 2]))


def _model(robot: Robot, options: SimOptions, rotors: bool, controllers: str, drive_damping: Array | None) -> Element:
    validate(options)
    model = Element("model", name=robot.tree.name, canonical_link=BASE_LINK)
    axes = parse_terrain(options.terrain).axes
    add_pose(model, straight_height(robot) * axes[:, 2], axes)
    add(model, "self_collide", "false")
    damping = np.zeros(robot.n_joints) if drive_damping is None else drive_damping
    poses: dict[str, tuple[Array, Array]] = {}
    names = Names(model=robot.tree.name)
    for body in bodies_of(robot, options, rotors=rotors):
        joint = body.joint
        rotation, origin = poses.get(body.parent, (np.eye(3), np.zeros(3)))
        if body.parent:
            rotation, origin = rotation @ joint.rotation, origin + rotation @ joint.translation
        poses[body.name] = rotation, origin
        link = _add_link(model, body.name, poses[body.name])
        _add_inertial(link, body.mass, body.com, body.inertia)
        _add_shapes(link, body.shapes, options.friction, names)
        if body.parent:
            _add_joint(model, joint, float(damping[JOINT_NAMES.index(joint.name)]), body.parent, body.name)
        else:
            _add_imu(link, names)
    add_model_plugins(model, robot, options, controllers, drive_damping)
    return model


def _add_physics(world: Element, options: SimOptions, real_time_factor: float) -> None:
    """DART with the engine's own defaults, spelled out: an empty <dart> element would choose other ones."""
    physics = add(world, "physics", name="dart", type="dart")
    add(physics, "max_step_size", number(options.timestep))
    add(physics, "real_time_factor", number(real_time_factor))
    dart = add(physics, "dart")
    add(add(dart, "solver"), "solver_type", "dantzig")
    add(dart, "collision_detector", "ode")


def _add_scene(world: Element) -> None:
    light = add(world, "light", type="directional", name="sun")
    add_pose(light, np.array([-2.0, -3.0, 10.0]), np.eye(3))
    add(light, "cast_shadows", "true")
    add(light, "diffuse", "0.8 0.8 0.8 1")
    add(light, "specular", "0.2 0.2 0.2 1")
    add(light, "direction", "0.25 0.3 -1")


def _add_link(model: Element, name: str, pose: tuple[Array, Array]) -> Element:
    """A link at its pose (rotation, origin) in the model with all joints at zero."""
    rotation, origin = pose
    link = add(model, "link", name=name)
    add_pose(link, origin, rotation)
    return link


def _add_inertial(link: Element, mass: float, com: Array, tensor: Array) -> None:
    """Mass [kg], centre of mass (3,) [m], and inertia (3, 3) about it, in the link's axes [kg m^2]."""
    inertial = add(link, "inertial")
    add_pose(inertial, com, np.eye(3))
    add(inertial, "mass", number(mass))
    inertia = add(inertial, "inertia")
    for row, first in enumerate("xyz"):
        for column, second in enumerate("xyz"):
            if column >= row:
                add(inertia, f"i{first}{second}", number(tensor[row, column]))


def _add_joint(model: Element, joint: Joint, drive_damping: float, parent: str, child: str) -> None:
    """A revolute joint at the child's origin, its axis in the child's frame, with its drive's damping [N m s/rad]."""
    element = add(model, "joint", name=joint.name, type="revolute")
    add(element, "parent", parent)
    add(element, "child", child)
    axis = add(element, "axis")
    add(axis, "xyz", numbers(joint.axis))
    limit = add(axis, "limit")
    for tag, value in (
        ("lower", joint.lower),
        ("upper", joint.upper),
        ("effort", largest_effort(joint, drive_damping)),
        ("velocity", joint.velocity_limit),
    ):
        add(limit, tag, number(value))
    dynamics = add(axis, "dynamics")
    add(dynamics, "damping", number(joint.damping + drive_damping))
    add(dynamics, "friction", number(joint.dry_friction))


def _add_shapes(link: Element, shapes: Sequence[Shape], friction: float, names: Names) -> None:
    """Shapes under the name of the URDF's link that has them, numbered where it has several; contacts of the feet."""
    counts: dict[str, int] = {}
    for shape in shapes:
        name = f"{shape.link}_{shape.purpose}"
        counts[name] = counts.get(name, 0) + 1
        element = add(link, shape.purpose, name=name if counts[name] == 1 else f"{name}_{counts[name]}")
        add_pose(element, shape.translation, shape.rotation)
        geometry = add(add(element, "geometry"), shape.kind)
        if shape.kind == "box":
            add(geometry, "size", numbers(shape.size))
        else:
            for tag, value in zip(SIZES[shape.kind], shape.size, strict=True):
                add(geometry, tag, number(value))
        if shape.purpose == "collision":
            add_friction(element, friction)
            if shape.link in FOOT_NAMES:
                _add_contact_sensor(link, names, shape.link, element.get("name", ""))
        elif shape.colour is not None:
            add_material(element, shape.colour)


def _add_imu(link: Element, names: Names) -> None:
    sensor = add(link, "sensor", name="imu", type="imu")
    add(sensor, "always_on", "true")
    add(sensor, "update_rate", number(IMU_RATE))
    add(sensor, "topic", names.imu)


def _add_contact_sensor(link: Element, names: Names, foot: str, collision: str) -> None:
    sensor = add(link, "sensor", name=f"{foot}_contact", type="contact")
    add(sensor, "always_on", "true")
    contact = add(sensor, "contact")
    add(contact, "collision", collision)
    add(contact, "topic", names.contact(foot))
