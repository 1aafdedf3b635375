"""The plugins of Gazebo that a world and the robot's model need, as elements of SDF.

Elements of SDF, and numbers in them.

The ground of a world as elements of SDF: a plane without end, tilted where it slopes, and boxes that stand on it.

They are the shapes that MuJoCo gets (:mod:`contact_ddp_ros.plants.terrain`), in a model that does not move.

The robot description for gz_ros2_control: the URDF with the joints' interfaces, as that plugin reads them.

The plugin in the world (`controllers=` of :func:`contact_ddp_ros.plants.gazebo.sdf.world_sdf`) takes what the joints
offer from the robot description that robot_state_publisher holds: an effort to command, position, velocity and effort
to read. Unlike the SDF it can say where the joints are at the start.
"""

import re
from collections.abc import Iterable
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.gazebo.config import DAMPED, PLAIN, Names
from contact_ddp_ros.plants.gazebo.efforts import largest_effort
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.terrain.words import FLAT, parse_terrain
from contact_ddp_ros.robot.joints import BASE_LINK, JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import matrix_to_rpy

Array = NDArray[np.float64]


def add(parent: Element, tag: str, text: str | None = None, **attributes: str) -> Element:
    """Add an element; return it."""
    element = ElementTree.SubElement(parent, tag, attributes)
    element.text = text
    return element


def add_pose(parent: Element, translation: Array, rotation: Array) -> None:
    """Position [m], then roll, pitch, yaw [rad]."""
    add(parent, "pose", numbers([*translation, *matrix_to_rpy(rotation)]))


def numbers(values: Iterable[float]) -> str:
    """Several as :func:`number`, with spaces between them."""
    return " ".join(number(value) for value in values)


def number(value: float) -> str:
    """Twelve digits; adding 0.0 removes negative zeros."""
    return f"{round(float(value), 15) + 0.0:.12g}"


def add_friction(collision: Element, coefficient: float) -> None:
    """DART takes the smaller coefficient of a pair, in both directions, from the element of ODE."""
    ode = add(add(add(collision, "surface"), "friction"), "ode")
    for tag in ("mu", "mu2"):
        add(ode, tag, number(coefficient))


def add_material(visual: Element, colour: tuple[float, ...]) -> None:
    """One colour in every light."""
    material = add(visual, "material")
    for tag in ("ambient", "diffuse"):
        add(material, tag, numbers(colour))


def to_text(root: Element) -> str:
    """Serialise a document as indented text."""
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


_HARDWARE = "gz_ros2_control/GazeboSimSystem"


def ros2_control_urdf(robot: Robot, *, drive_damping: Array | None = None) -> str:
    """The robot's URDF with its joints as ros2_control hardware, standing at the start.

    Args:
        robot: to be simulated.
        drive_damping: as in :func:`contact_ddp_ros.plants.gazebo.sdf.world_sdf`; the efforts' limits are wider then.
    """
    root = ElementTree.fromstring(robot.description)
    system = ElementTree.SubElement(root, "ros2_control", name=robot.tree.name, type="system")
    ElementTree.SubElement(ElementTree.SubElement(system, "hardware"), "plugin").text = _HARDWARE
    damping = np.zeros(robot.n_joints) if drive_damping is None else drive_damping
    drives = {joint.name: joint for joint in robot.tree.joints}
    for name, own, angle in zip(JOINT_NAMES, damping.tolist(), robot.standing, strict=True):
        limit = largest_effort(drives[name], own)
        joint = ElementTree.SubElement(system, "joint", name=name)
        effort = ElementTree.SubElement(joint, "command_interface", name="effort")
        _parameter(effort, "min", -limit)
        _parameter(effort, "max", limit)
        position = ElementTree.SubElement(joint, "state_interface", name="position")
        _parameter(position, "initial_value", angle)
        for interface in ("velocity", "effort"):
            ElementTree.SubElement(joint, "state_interface", name=interface)
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _parameter(parent: ElementTree.Element, name: str, value: float) -> None:
    ElementTree.SubElement(parent, "param", name=name).text = f"{float(value):.12g}"


_GROUND_SIZE = 100.0
"""Edge of the visible plane [m]; the one that is collided with has no end."""

_PLANE_TINT = (0.75, 0.77, 0.78, 1.0)
_RAISED_TINT = (0.80, 0.72, 0.60, 1.0)


def add_ground(world: Element, word: str, friction: float) -> None:
    """Add the ground of a word of :mod:`contact_ddp_ros.plants.terrain`, with one coefficient of friction all over.

    Raises:
        ParameterError: there is no such ground, or it is more than a plane and boxes.
    """
    terrain = parse_terrain(word)
    if terrain.field is not None:
        raise ParameterError(
            f"ground {word!r}: worlds of SDF have planes and boxes; allowed: the other grounds, or MuJoCo"
        )
    model = add(world, "model", name="ground")
    add(model, "static", "true")
    link = add(model, "link", name="ground")
    for purpose in ("collision", "visual"):
        element = add(link, purpose, name=purpose)
        if word != FLAT:
            add_pose(element, np.array([0.0, 0.0, terrain.height]), terrain.axes)
        plane = add(add(element, "geometry"), "plane")
        add(plane, "normal", "0 0 1")
        add(plane, "size", numbers([_GROUND_SIZE, _GROUND_SIZE]))
        _finish(element, friction, _PLANE_TINT)
    for number, box in enumerate(terrain.boxes, start=1):
        for purpose in ("collision", "visual"):
            element = add(link, purpose, name=f"{purpose}_{number}")
            add_pose(element, np.array(box.centre), box.axes)
            add(add(add(element, "geometry"), "box"), "size", numbers(2.0 * half for half in box.half))
            _finish(element, friction, _RAISED_TINT)


def _finish(element: Element, friction: float, tint: tuple[float, ...]) -> None:
    if element.tag == "collision":
        add_friction(element, friction)
    else:
        add_material(element, tint)


ODOM_FRAME: Final = "odom"

_ODOMETRY_RATE = 2.0
"""Largest rate of the odometry over that of the physics: above one, so that every step is told."""

_WORLD_PLUGINS = (
    ("physics", "Physics"),
    ("user-commands", "UserCommands"),
    ("scene-broadcaster", "SceneBroadcaster"),
    ("imu", "Imu"),
    ("contact", "Contact"),
    ("apply-link-wrench", "ApplyLinkWrench"),
)
"""File and class of the plugins of a world, as in `gz-sim-physics-system` and `gz::sim::systems::Physics`."""

_SYSTEM: Final = re.compile(r"(?:gz::sim|ignition::gazebo)(?:::v\d+)?::systems::(\w+)")
"""Name of a plugin of Gazebo's own, of every spelling that servers load, and its class."""


def add_world_plugins(world: Element) -> None:
    """Add the plugins of a world that it lacks; of two of a kind both would act."""
    named = [_SYSTEM.fullmatch(plugin.get("name", "").strip()) for plugin in world.findall("plugin")]
    present = {system[1] for system in named if system}
    for file, kind in _WORLD_PLUGINS:
        if kind not in present:
            _add_plugin(world, file, kind)


def add_model_plugins(
    model: Element, robot: Robot, options: SimOptions, controllers: str, drive_damping: Array | None
) -> None:
    """Add those of the robot's model; arguments as of :func:`contact_ddp_ros.plants.gazebo.sdf.world_sdf`."""
    if controllers:
        file, name = "gz_ros2_control-system", "gz_ros2_control::GazeboSimROS2ControlPlugin"
        add(add(model, "plugin", filename=file, name=name), "parameters", controllers)
    else:
        for joint_name in JOINT_NAMES:
            add(_add_plugin(model, "apply-joint-force", "ApplyJointForce"), "joint_name", joint_name)
        _add_acknowledgement(model, Names(model=robot.tree.name), PLAIN if drive_damping is None else DAMPED)
    _add_plugin(model, "joint-state-publisher", "JointStatePublisher")
    odometry = _add_plugin(model, "odometry-publisher", "OdometryPublisher")
    add(odometry, "odom_frame", ODOM_FRAME)
    add(odometry, "robot_base_frame", BASE_LINK)
    add(odometry, "odom_publish_frequency", number(_ODOMETRY_RATE / options.timestep))
    add(odometry, "dimensions", "3")


def _add_acknowledgement(model: Element, names: Names, kind: int) -> None:
    """The server answers a message that follows the efforts; :mod:`contact_ddp_ros.plants.gazebo.efforts` says what
    for.
    """
    plugin = _add_plugin(model, "triggered-publisher", "TriggeredPublisher")
    add(plugin, "input", type="gz.msgs.Double", topic=names.efforts_sent)
    add(plugin, "output", f"data: {kind}", type="gz.msgs.Double", topic=names.efforts_received)


def _add_plugin(parent: Element, file: str, kind: str) -> Element:
    return add(parent, "plugin", filename=f"gz-sim-{file}-system", name=f"gz::sim::systems::{kind}")
