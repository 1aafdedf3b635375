"""The plugins of Gazebo that a world and the robot's model need, as elements of SDF."""

import re
from typing import Final
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.gazebo.elements import add, number
from contact_ddp_ros.plants.gazebo.names import DAMPED, PLAIN, Names
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.joints import BASE_LINK, JOINT_NAMES
from contact_ddp_ros.robot.model import Robot

Array = NDArray[np.float64]

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
