r"""The robot and its world as SDF for Gazebo Sim, generated from the URDF; nothing about the robot is typed here.

Bodies, axes, limits, damping and dry friction go over one to one; links fixed to another are part of it, so a foot is
a collision sphere of its shank. Joint angles are those of the URDF: Gazebo starts with all of them at zero, legs
straight, which is why the model stands higher at the start than the robot does.

Drives. With `drive_damping` the joints carry the damping of the drives beside the robot's own:
:mod:`contact_ddp_ros.gazebo.drives` says why. What is sent to them exceeds the actuators' limit by as much, so theirs
is wider.

Rotors. Neither SDF nor DART knows an armature, a kinetic energy :math:`\frac12 A \dot q^2` of the joint rate alone.
A thin disc of the moment A about the joint's axis, fixed to the link that the joint moves, has instead

.. math:: \tfrac12 A (\omega_p + \dot q)^2 + \tfrac14 A |\omega_\perp|^2

with the parent's rate :math:`\omega_p` about the axis: right for what the drive feels while the parent turns slowly,
and part of a body that can exist, which SDF insists on. Without it a shank would be ten times lighter to its drive
than it is. docs/gazebo.md says what else was tried, and what was measured.

Plugins: ApplyJointForce for each joint, TriggeredPublisher that acknowledges the efforts, joint states, odometry
(three-dimensional, at every step), IMU, contacts; or, for ros2_control, the plugin of gz_ros2_control instead of the
first two.
"""

from collections.abc import Iterable
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.config import validate
from contact_ddp_ros.errors import ParameterError
from contact_ddp_ros.gazebo.drives import largest_effort
from contact_ddp_ros.gazebo.names import DAMPED, PLAIN, WORLD, Names
from contact_ddp_ros.robot.joints import BASE_LINK, FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.model import BASE_JOINTS, Robot, foot_positions
from contact_ddp_ros.robot.rotation import matrix_to_rpy
from contact_ddp_ros.robot.shapes import SIZES, Shape, read_outline
from contact_ddp_ros.robot.tree import Joint
from contact_ddp_ros.sim.options import SimOptions

Array = NDArray[np.float64]

SDF_VERSION: Final = "1.9"
"""Read by Harmonic, Ionic and Jetty."""

ODOM_FRAME: Final = "odom"

IMU_RATE: Final = 250.0
"""Of the IMU's messages [Hz]; the state does not come from them."""

_ODOMETRY_RATE = 2.0
"""Largest rate of the odometry over that of the physics: above one, so that every step is told."""

_FASTEST = 100.0
"""Largest real-time factor: no machine keeps it."""

_GROUND_SIZE = 100.0
"""Edge of the visible ground [m]; the collision plane has no end."""

_WORLD_PLUGINS = (
    ("physics", "Physics"),
    ("user-commands", "UserCommands"),
    ("scene-broadcaster", "SceneBroadcaster"),
    ("imu", "Imu"),
    ("contact", "Contact"),
    ("apply-link-wrench", "ApplyLinkWrench"),
)
"""File and class of the plugins of a world, as in `gz-sim-physics-system` and `gz::sim::systems::Physics`."""


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
        options: time step, friction and what else the planner does not know; its noise does not apply.
        rotors: whether the links carry the discs that stand for the rotors; without them their inertia is the URDF's.
        controllers: parameter file of ros2_control; where it is given, that has the joints instead of ApplyJointForce.
        drive_damping: (12,) of the drives, for joints that are to carry it: in a world that runs by itself [N m s/rad].
        real_time_factor: pace of simulated time where it runs, over the wall clock.

    Raises:
        ModelError: the URDF has a shape that SDF has no primitive for.
        ParameterError: an option is out of its range, or asks for ground that is not flat.
    """
    options = SimOptions() if options is None else options
    if not 0.0 < real_time_factor <= _FASTEST:
        raise ParameterError(f"real-time factor {real_time_factor}; allowed: above 0 to {_FASTEST:g}")
    if options.ground_step.height != 0.0:
        raise ParameterError(f"ground_step.height is {options.ground_step.height} m; this world's ground is flat: 0")
    root = Element("sdf", version=SDF_VERSION)
    world = _add(root, "world", name=WORLD)
    _add_physics(world, options, real_time_factor)
    _add(world, "gravity", _numbers(robot.tree.gravity))
    add_world_plugins(world)
    _add_scene(world)
    _add_ground(world, options)
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
    """The robot alone, to be put into another world; arguments and errors as :func:`world_sdf`.

    That world needs the plugins Physics, Imu and Contact and a step of `options.timestep`.
    """
    root = Element("sdf", version=SDF_VERSION)
    root.append(_model(robot, options or SimOptions(), rotors, controllers, drive_damping))
    return to_text(root)


def add_world_plugins(world: Element) -> None:
    """Add those plugins of the world that it does not have yet."""
    present = {plugin.get("name") for plugin in world.findall("plugin")}
    for file, kind in _WORLD_PLUGINS:
        if f"gz::sim::systems::{kind}" not in present:
            _plugin(world, file, kind)


def straight_height(robot: Robot) -> float:
    """Height of the trunk's origin above the ground when all joint angles are zero and the feet touch it [m]."""
    return robot.foot_radius - float(min(foot_positions(robot, np.zeros(robot.n_joints))[:, 2]))


def rotor_disc(joint: Joint) -> Array:
    """(3, 3) inertia of the thin disc about a joint's axis that stands for its armature [kg m^2]."""
    return 0.5 * joint.armature * (np.eye(3) + np.outer(joint.axis, joint.axis))


def _model(robot: Robot, options: SimOptions, rotors: bool, controllers: str, drive_damping: Array | None) -> Element:
    validate(options)
    model = Element("model", name=robot.tree.name, canonical_link=BASE_LINK)
    _pose(model, np.array([0.0, 0.0, straight_height(robot)]), np.eye(3))
    _add(model, "self_collide", "false")
    outline, damping = read_outline(robot.urdf), (np.zeros(robot.n_joints) if drive_damping is None else drive_damping)
    trunk = len(BASE_JOINTS) - 1
    poses = {trunk: (np.eye(3), np.zeros(3))}
    links = dict(enumerate((BASE_LINK, *(outline.moved_links[name] for name in JOINT_NAMES)), start=trunk))
    for index, link_name in links.items():
        joint = robot.tree.joints[index]
        if index != trunk:
            rotation, origin = poses[joint.parent]
            poses[index] = rotation @ joint.rotation, origin + rotation @ joint.translation
        scale = options.trunk_mass_scale if index == trunk else 1.0
        inertia = scale * joint.inertia + (rotor_disc(joint) if rotors else 0.0)
        link = _add_link(model, link_name, poses[index])
        _add_inertial(link, scale * joint.mass, joint.com, inertia)
        _add_shapes(link, [shape for shape in outline.shapes if shape.carrier == link_name], options.friction)
        if index == trunk:
            _add_imu(link)
        else:
            _add_joint(model, joint, float(damping[JOINT_NAMES.index(joint.name)]), links[joint.parent], link_name)
    _add_model_plugins(model, robot, options, controllers, drive_damping)
    return model


def _add_physics(world: Element, options: SimOptions, real_time_factor: float) -> None:
    """DART with the engine's own defaults, spelled out: an empty <dart> element would choose other ones."""
    physics = _add(world, "physics", name="dart", type="dart")
    _add(physics, "max_step_size", _number(options.timestep))
    _add(physics, "real_time_factor", _number(real_time_factor))
    dart = _add(physics, "dart")
    _add(_add(dart, "solver"), "solver_type", "dantzig")
    _add(dart, "collision_detector", "ode")


def _add_scene(world: Element) -> None:
    light = _add(world, "light", type="directional", name="sun")
    _pose(light, np.array([-2.0, -3.0, 10.0]), np.eye(3))
    _add(light, "cast_shadows", "true")
    _add(light, "diffuse", "0.8 0.8 0.8 1")
    _add(light, "specular", "0.2 0.2 0.2 1")
    _add(light, "direction", "0.25 0.3 -1")


def _add_ground(world: Element, options: SimOptions) -> None:
    model = _add(world, "model", name="ground")
    _add(model, "static", "true")
    link = _add(model, "link", name="ground")
    for purpose in ("collision", "visual"):
        element = _add(link, purpose, name=purpose)
        plane = _add(_add(element, "geometry"), "plane")
        _add(plane, "normal", "0 0 1")
        _add(plane, "size", _numbers([_GROUND_SIZE, _GROUND_SIZE]))
        if purpose == "collision":
            _add_friction(element, options.friction)
        else:
            _add_material(element, (0.75, 0.77, 0.78, 1.0))


def _add_link(model: Element, name: str, pose: tuple[Array, Array]) -> Element:
    """A link at its pose (rotation, origin) in the model with all joints at zero."""
    rotation, origin = pose
    link = _add(model, "link", name=name)
    _pose(link, origin, rotation)
    return link


def _add_inertial(link: Element, mass: float, com: Array, tensor: Array) -> None:
    """Mass [kg], centre of mass (3,) [m], and inertia (3, 3) about it, in the link's axes [kg m^2]."""
    inertial = _add(link, "inertial")
    _pose(inertial, com, np.eye(3))
    _add(inertial, "mass", _number(mass))
    inertia = _add(inertial, "inertia")
    for row, first in enumerate("xyz"):
        for column, second in enumerate("xyz"):
            if column >= row:
                _add(inertia, f"i{first}{second}", _number(tensor[row, column]))


def _add_joint(model: Element, joint: Joint, drive_damping: float, parent: str, child: str) -> None:
    """A revolute joint at the child's origin, its axis in the child's frame, with its drive's damping [N m s/rad]."""
    element = _add(model, "joint", name=joint.name, type="revolute")
    _add(element, "parent", parent)
    _add(element, "child", child)
    axis = _add(element, "axis")
    _add(axis, "xyz", _numbers(joint.axis))
    limit = _add(axis, "limit")
    for tag, value in (
        ("lower", joint.lower),
        ("upper", joint.upper),
        ("effort", largest_effort(joint, drive_damping)),
        ("velocity", joint.velocity_limit),
    ):
        _add(limit, tag, _number(value))
    dynamics = _add(axis, "dynamics")
    _add(dynamics, "damping", _number(joint.damping + drive_damping))
    _add(dynamics, "friction", _number(joint.dry_friction))


def _add_shapes(link: Element, shapes: list[Shape], friction: float) -> None:
    """Shapes under the name of the URDF's link that has them, numbered where it has several; contacts of the feet."""
    counts: dict[str, int] = {}
    for shape in shapes:
        name = f"{shape.link}_{shape.purpose}"
        counts[name] = counts.get(name, 0) + 1
        element = _add(link, shape.purpose, name=name if counts[name] == 1 else f"{name}_{counts[name]}")
        _pose(element, shape.translation, shape.rotation)
        geometry = _add(_add(element, "geometry"), shape.kind)
        if shape.kind == "box":
            _add(geometry, "size", _numbers(shape.size))
        else:
            for tag, value in zip(SIZES[shape.kind], shape.size, strict=True):
                _add(geometry, tag, _number(value))
        if shape.purpose == "collision":
            _add_friction(element, friction)
            if shape.link in FOOT_NAMES:
                _add_contact_sensor(link, shape.link, element.get("name", ""))
        elif shape.colour is not None:
            _add_material(element, shape.colour)


def _add_friction(collision: Element, coefficient: float) -> None:
    """DART takes the smaller coefficient of a pair, in both directions, from the element of ODE."""
    ode = _add(_add(_add(collision, "surface"), "friction"), "ode")
    for tag in ("mu", "mu2"):
        _add(ode, tag, _number(coefficient))


def _add_material(visual: Element, colour: tuple[float, ...]) -> None:
    material = _add(visual, "material")
    for tag in ("ambient", "diffuse"):
        _add(material, tag, _numbers(colour))


def _add_imu(link: Element) -> None:
    sensor = _add(link, "sensor", name="imu", type="imu")
    _add(sensor, "always_on", "true")
    _add(sensor, "update_rate", _number(IMU_RATE))
    _add(sensor, "topic", Names().imu.removeprefix("/"))


def _add_contact_sensor(link: Element, foot: str, collision: str) -> None:
    sensor = _add(link, "sensor", name=f"{foot}_contact", type="contact")
    _add(sensor, "always_on", "true")
    contact = _add(sensor, "contact")
    _add(contact, "collision", collision)
    _add(contact, "topic", Names().contact(foot))


def _add_model_plugins(
    model: Element, robot: Robot, options: SimOptions, controllers: str, drive_damping: Array | None
) -> None:
    if controllers:
        file, name = "gz_ros2_control-system", "gz_ros2_control::GazeboSimROS2ControlPlugin"
        _add(_add(model, "plugin", filename=file, name=name), "parameters", controllers)
    else:
        for joint_name in JOINT_NAMES:
            _add(_plugin(model, "apply-joint-force", "ApplyJointForce"), "joint_name", joint_name)
        _add_acknowledgement(model, Names(model=robot.tree.name), PLAIN if drive_damping is None else DAMPED)
    _plugin(model, "joint-state-publisher", "JointStatePublisher")
    odometry = _plugin(model, "odometry-publisher", "OdometryPublisher")
    _add(odometry, "odom_frame", ODOM_FRAME)
    _add(odometry, "robot_base_frame", BASE_LINK)
    _add(odometry, "odom_publish_frequency", _number(_ODOMETRY_RATE / options.timestep))
    _add(odometry, "dimensions", "3")


def _add_acknowledgement(model: Element, names: Names, kind: int) -> None:
    """The server answers a message that follows the efforts; :mod:`contact_ddp_ros.gazebo.efforts` says what for."""
    plugin = _plugin(model, "triggered-publisher", "TriggeredPublisher")
    _add(plugin, "input", type="gz.msgs.Double", topic=names.efforts_sent)
    _add(plugin, "output", f"data: {kind}", type="gz.msgs.Double", topic=names.efforts_received)


def _plugin(parent: Element, file: str, kind: str) -> Element:
    return _add(parent, "plugin", filename=f"gz-sim-{file}-system", name=f"gz::sim::systems::{kind}")


def _add(parent: Element, tag: str, text: str | None = None, **attributes: str) -> Element:
    element = ElementTree.SubElement(parent, tag, attributes)
    element.text = text
    return element


def _pose(parent: Element, translation: Array, rotation: Array) -> None:
    """Position [m], then roll, pitch, yaw [rad]."""
    _add(parent, "pose", _numbers([*translation, *matrix_to_rpy(rotation)]))


def _numbers(values: Iterable[float]) -> str:
    return " ".join(_number(value) for value in values)


def _number(value: float) -> str:
    """Twelve digits; adding 0.0 removes negative zeros."""
    return f"{round(float(value), 15) + 0.0:.12g}"


def to_text(root: Element) -> str:
    """A document as text, indented."""
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
