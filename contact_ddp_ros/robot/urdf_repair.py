"""Repair of a third-party URDF or xacro: what other readers mind is made plain before the robot is read.

- A floating or planar joint is fixed: the trunk moves freely anyway.
- A continuous joint becomes one with limits far beyond a turn, which a check takes for none.
- An axis of another length than one is made one long.
- Joints to be locked are fixed where they are at zero, with what they carry.

Files may be in any encoding that their first line names, and xacro files are expanded.
"""

import math
import os
from collections.abc import Iterable
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.urdf import number

NO_LIMIT = 10.0 * math.pi
"""Limit of a continuous joint, either way [rad]."""

_FREE = ("floating", "planar")


def read_xml(path: Path) -> Element:
    """The XML of a URDF or xacro file.

    Raises:
        ModelError: it cannot be read, is not well-formed, or its xacro cannot be expanded; the text says why.
    """
    try:
        root = _expanded(path) if path.suffix == ".xacro" else ElementTree.fromstring(path.read_bytes())
    except OSError as error:
        raise ModelError(f"cannot read the robot description {path}: {error}; name a readable URDF file") from error
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise ModelError(f"{path} is not well-formed XML: {error}; mend the file") from error
    return root


def repair(path: Path, root: Element, locked: Iterable[str] = ()) -> list[str]:
    """Repair the XML of a URDF in place, which comes from `path`; what was done, in words.

    Raises:
        ModelError: a joint to be locked does not exist, or an axis is no direction.
    """
    notes, locked = list[str](), set(locked)
    missing = sorted(locked - {joint.get("name", "") for joint in root.findall("joint")})
    if missing:
        raise ModelError(f"{path}: no joint is called {', '.join(missing)}, which lock names; leave it out")
    for joint in root.findall("joint"):
        name, kind = joint.get("name", ""), joint.get("type", "")
        if kind in _FREE:
            notes.append(f"joint {name} is {kind}; it is left out, as the trunk moves freely")
        elif name in locked:
            notes.append(f"joint {name} is locked at zero")
        elif kind == "continuous":
            _limit(joint)
        if kind in _FREE or name in locked:
            joint.set("type", "fixed")
        elif kind != "fixed":
            notes += _unit_axis(path, joint)
    return notes


def _unit_axis(path: Path, joint: Element) -> list[str]:
    """Make the axis of a joint one long; what was done."""
    axis, name = joint.find("axis"), joint.get("name")
    words = [] if axis is None else axis.get("xyz", "").split()
    numbers = [number(path, f"the axis of {name}", word) for word in words]
    length = math.hypot(*numbers)
    if axis is None or len(numbers) != 3 or length == 0.0 or abs(length - 1.0) < 1e-3:
        return []
    axis.set("xyz", " ".join(repr(one / length) for one in numbers))
    return [f"joint {name} has an axis of length {length:.4g}; its direction is taken"]


def _limit(joint: Element) -> None:
    """Make a revolute joint of a continuous one."""
    joint.set("type", "revolute")
    limit = joint.find("limit")
    if limit is None:
        limit = ElementTree.SubElement(joint, "limit", effort="0", velocity="0")
    limit.set("lower", repr(-NO_LIMIT))
    limit.set("upper", repr(NO_LIMIT))


def _expanded(path: Path) -> Element:
    """The URDF that a xacro file stands for; packages that it names are looked for above it, then in ROS 2."""
    import xacro.substitution_args

    def find(package: str) -> str:
        for folder in path.resolve().parents:
            for one in (folder, folder / package):
                if one.name == package and one.is_dir():
                    return os.fspath(one)
        try:
            from ament_index_python.packages import get_package_share_directory

            return str(get_package_share_directory(package))
        except (ImportError, LookupError) as error:
            raise ModelError(
                f"{path} names the package {package}, which is neither above it nor in a sourced ROS 2"
            ) from error

    try:
        with mock.patch.object(xacro.substitution_args, "_eval_find", find):
            text = xacro.process_file(os.fspath(path)).toxml()
    except ModelError:
        raise
    except Exception as error:  # xacro raises its own, the parser's and whatever an expression in the file raises
        raise ModelError(f"{path}: xacro cannot expand it: {' '.join(str(error).split())}") from error
    return ElementTree.fromstring(text)
