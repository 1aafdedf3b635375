"""The defaults of a node's parameters, fitted to the robot that `node.urdf` names when it starts."""

from dataclasses import replace
from typing import Any, TypeVar

from rclpy.node import Node

from contact_ddp_ros.control.config import ControllerConfig, DriveConfig
from contact_ddp_ros.mpc.config import PlannerConfig, for_model
from contact_ddp_ros.plants.gazebo.config import BridgeConfig
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.model import has_profile, load_robot
from contact_ddp_ros.ros.rclpy_internals import given_parameters
from contact_ddp_ros.runs.robot_scaling import fitted_config

Config = TypeVar("Config")

_SECTIONS = {"planner": PlannerConfig, "controller": ControllerConfig, "simulator": SimOptions}


def fitted(node: Node, defaults: Config) -> Config:
    """Fit `defaults` to the robot, and the model of it, that the command line or a parameter file names.

    Nodes that simulate the drives get the controller's gains. A bare URDF changes only the name of the model in Gazebo,
    which is the robot's.

    Raises:
        ContactDdpError: there is no such robot, or its file or its description cannot be used.
    """
    given = given_parameters(node)
    fit = _to_robot(given["node.urdf"].value if "node.urdf" in given else None, defaults)
    if isinstance(fit, PlannerConfig) and "model" in given:
        return for_model(fit, given["model"].value)
    return fit


def _to_robot(source: Any, defaults: Config) -> Config:
    if not isinstance(source, str) or not source:
        return defaults
    if isinstance(getattr(defaults, "gazebo", None), BridgeConfig):
        defaults = _with_model(defaults, load_robot(source).tree.name)
    if not has_profile(source):
        return defaults
    robot = load_robot(source)
    for section, kind in _SECTIONS.items():
        if isinstance(defaults, kind):
            defaults = fitted_config(defaults, robot, section)
    drive = fitted_config(ControllerConfig(), robot, "controller").drive
    return _with_drive(defaults, drive)


def _with_model(config: Any, name: str) -> Any:
    """A configuration of the bridge to Gazebo with this name of the model."""
    return replace(config, gazebo=replace(config.gazebo, model=name))


def _with_drive(config: Any, drive: DriveConfig) -> Any:
    """A configuration with these drives, where it or its node's group has any."""
    if isinstance(getattr(config, "drive", None), DriveConfig):
        return replace(config, drive=drive)
    node: Any = getattr(config, "node", None)
    if isinstance(getattr(node, "drive", None), DriveConfig):
        return replace(config, node=replace(node, drive=drive))
    return config
