"""Finds the nodes that a ROS parameter file addresses, before any node is started.

A node ignores the sections of other nodes, so a misspelt name, or a section of the root namespace for a node in another
one, has no effect and causes no message.

The defaults of a node's parameters, fitted to the robot that `node.urdf` names when it starts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import yaml
from rclpy.node import Node

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.config import ControllerConfig, DriveConfig
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.plants.gazebo.config import BridgeConfig
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.model import has_profile, load_robot
from contact_ddp_ros.ros.rclpy_internals import given_parameters
from contact_ddp_ros.runs.robot_scaling import fitted_config

_PARAMETERS = "ros__parameters"


def idle_sections(path: str | Path, nodes: Sequence[str]) -> list[str]:
    """Sections of a parameter file that address none of `nodes`, which are full names.

    Sections may be nested by namespace and hold the wildcards of rcl: `*` for one part of a name, `**` for any number.

    Raises:
        ParameterError: the file cannot be read or is not a ROS parameter file.
    """
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ParameterError(f"cannot read the parameter file {path}: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise ParameterError(f"parameter file {path}: expected a mapping of node names, found {type(content).__name__}")
    return [section for section in _sections(path, content) if not any(_addresses(section, node) for node in nodes)]


def file_that_sets(parameter: str, node: str, arguments: Sequence[str]) -> str:
    """The last parameter file of a command line that sets a parameter of `node`, a full name; empty if none does."""
    given = [path for option, path in pairwise(arguments) if option == "--params-file"]
    for path in reversed(given):
        try:
            content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
            names = {section: set(_names(_body(content, section))) for section in _sections(path, content)}
        except (OSError, UnicodeDecodeError, yaml.YAMLError, ParameterError, AttributeError):
            continue
        if any(parameter in found for section, found in names.items() if _addresses(section, node)):
            return path
    return ""


def _body(content: Mapping[Any, Any], section: str) -> Mapping[Any, Any]:
    """The parameters of a section, which :func:`_sections` has named."""
    for key, body in content.items():
        name = f"/{str(key).strip('/')}"
        if section == name:
            return dict(body[_PARAMETERS])
        if section.startswith(f"{name}/") and isinstance(body, dict) and _PARAMETERS not in body:
            return _body(body, section.removeprefix(name))
    return {}


def _names(parameters: Mapping[Any, Any], prefix: str = "") -> Iterator[str]:
    """Dotted names of nested parameters."""
    for key, value in parameters.items():
        if isinstance(value, dict):
            yield from _names(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _sections(path: str | Path, mapping: Mapping[Any, Any], prefix: str = "") -> Iterator[str]:
    """Full names, or patterns of them, that have parameters."""
    for key, body in mapping.items():
        name = f"{prefix}/{str(key).strip('/')}"
        if not isinstance(body, dict) or not isinstance(body.get(_PARAMETERS, {}), dict):
            raise ParameterError(f"parameter file {path}: section {name} has no mapping {_PARAMETERS}")
        if _PARAMETERS in body:
            yield name
        else:
            yield from _sections(path, body, name)


def _addresses(section: str, node: str) -> bool:
    parts = [part for part in section.split("/") if part]
    wildcards = {"**": "(/[^/]+)*", "*": "/[^/]+"}
    return re.fullmatch("".join(wildcards.get(part, f"/{re.escape(part)}") for part in parts), node) is not None


Config = TypeVar("Config")

_SECTIONS = {"planner": PlannerConfig, "controller": ControllerConfig, "simulator": SimOptions}


def fitted(node: Node, defaults: Config) -> Config:
    """Fit `defaults` to the robot that the command line or a parameter file names.

    Nodes that simulate the drives get the controller's gains. A bare URDF changes only the name of the model in Gazebo,
    which is the robot's.

    Raises:
        ContactDdpError: there is no such robot, or its file or its description cannot be used.
    """
    given = given_parameters(node)
    source = given["node.urdf"].value if "node.urdf" in given else None
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
