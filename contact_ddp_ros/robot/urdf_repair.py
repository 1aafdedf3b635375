"""Repair of a third-party URDF, xacro or MJCF: what other readers mind is made plain before the robot is read.

- A floating or planar joint is fixed: the trunk moves freely anyway.
- A joint without limits becomes one with limits far beyond a turn, which a check takes for none.
- An axis of another length than one is made one long.
- Joints to be locked are fixed at zero or at a given angle, with what they carry.
- Feet without a link of their own get one.
- Inertias that no body has are replaced by the nearest that one has, missing masses by those of the other legs.

Files may be in any encoding that their first line names, and xacro files are expanded.
"""

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from unittest import mock
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.mjcf import is_mjcf, urdf_of_mjcf
from contact_ddp_ros.robot.profile import Leg
from contact_ddp_ros.robot.rotation import matrix_to_rpy
from contact_ddp_ros.robot.shapes import origin_of, text_of
from contact_ddp_ros.robot.urdf import number, read_text

Array = NDArray[np.float64]

_NO_LIMIT = 10.0 * math.pi
"""Limit of a continuous joint, either way [rad]."""

_AMENT = "AMENT_PREFIX_PATH"
"""Where a sourced ROS 2 has its packages."""

_FREE = ("floating", "planar")

_ROUNDED = 1e-3
"""Positions of locked joints are written with four digits [rad, m]."""

_ONE_WAY = ("revolute", "continuous", "prismatic")
"""Types of joints with one position."""

_FLAT = 1e-4
"""Least second moment of mass of a body that is repaired, over its largest: flat, but not without thickness."""

_SHARE = 0.05
"""Mass of a body of a leg over the trunk's, where nothing else is known."""

_WIDE = (0.9, 3.0)
"""Radius of gyration of a leg's body over the length of a thigh that is a placeholder's; beyond it units are wrong."""

_SMALLEST = 0.02
"""Half the length of the smallest body [m]."""


def read_xml(path: Path, arguments: Mapping[str, str] = MappingProxyType({})) -> Element:
    """The XML of a URDF, of a xacro file with these arguments, or of the URDF that an MJCF file stands for.

    Raises:
        ModelError: it cannot be read, is not well-formed, or its xacro cannot be expanded; the text says why.
    """
    if is_mjcf(path):
        return urdf_of_mjcf(path)
    try:
        return ElementTree.fromstring(_expanded(path, arguments) if path.suffix == ".xacro" else read_text(path))
    except ElementTree.ParseError as error:
        raise ModelError(f"{path} is not well-formed XML: {error}; mend the file") from error


def repair(path: Path, root: Element, locked: Mapping[str, float] = MappingProxyType({})) -> list[str]:
    """Repair the XML of a URDF in place, which comes from `path`; what was done, in words.

    `locked` has the angle [rad] or length [m] at which joints stay.

    Raises:
        ModelError: a joint to be locked does not exist or cannot be where it is locked, or an axis is no direction.
    """
    notes = list[str]()
    missing = sorted(set(locked) - {joint.get("name", "") for joint in root.findall("joint")})
    if missing:
        raise ModelError(f"{path}: no joint is called {', '.join(missing)}, which lock names; leave it out")
    for joint in root.findall("joint"):
        name, kind = joint.get("name", ""), joint.get("type", "")
        if kind in _FREE:
            notes.append(f"joint {name} is {kind}; it is left out, as the trunk moves freely")
        elif name in locked:
            _hold(path, joint, locked[name])
            notes.append(f"joint {name} is locked at {f'{locked[name]:.4g}' if locked[name] else 'zero'}")
        elif kind == "continuous" or (kind == "revolute" and joint.find("limit") is None):
            _limit(joint)
        if kind in _FREE or name in locked:
            joint.set("type", "fixed")
        elif kind != "fixed":
            notes += _unit_axis(path, joint)
    return notes


def repair_bodies(model: pin.Model, legs: Sequence[Sequence[int]]) -> list[str]:
    """Repair masses and inertias of pinocchio's model of a URDF in place; what was done, in words.

    A body of a leg without a mass gets the mean of the same body of the other legs, else a share of the trunk's. An
    inertia of zero, or of a body wider than a leg, becomes that of a rod twice as long as the body's centre of mass is
    far from its joint.
    """
    notes, trunk = [], float(model.inertias[0].mass)
    for chain in legs:
        for kind, joint in enumerate(chain):
            if model.inertias[joint].mass > 0.0 or not trunk > 0.0:
                continue
            known = [float(model.inertias[leg[kind]].mass) for leg in legs if model.inertias[leg[kind]].mass > 0.0]
            mass = float(np.mean(known)) if known else _SHARE * trunk
            carried = chain[kind + 1] if kind + 1 < len(chain) else joint
            model.inertias[joint] = pin.Inertia(
                mass, 0.5 * np.asarray(model.jointPlacements[carried].translation), np.zeros((3, 3))
            )
            notes.append(
                f"the body moved by {model.names[joint]} has no mass; it gets {mass:.3g} kg, "
                + ("as in other legs" if known else "a guess from the trunk's")
            )
    for joint in (0, *(joint for leg in legs for joint in leg)):
        body = model.inertias[joint]
        possible = _possible(np.asarray(body.inertia), float(body.mass), np.asarray(body.lever))
        if body.mass > 0.0 and not np.allclose(possible, body.inertia, rtol=0.0, atol=1e-9 * np.trace(possible)):
            what = "the trunk" if joint == 0 else f"the body moved by {model.names[joint]}"
            moments = np.linalg.eigvalsh(body.inertia).round(9).tolist()
            notes.append(f"{what} has moments of inertia {moments} kg m^2, which no body has; the nearest are taken")
            model.inertias[joint] = pin.Inertia(float(body.mass), np.asarray(body.lever), possible)
    for chain in legs:
        thigh = float(np.linalg.norm(model.jointPlacements[chain[-1]].translation))
        for joint in (one for one in chain if model.inertias[one].mass > 0.0):
            body = model.inertias[joint]
            gyration = math.sqrt(max(float(np.linalg.eigvalsh(body.inertia)[-1]), 0.0) / float(body.mass))
            if _WIDE[0] * thigh < gyration < _WIDE[1] * thigh:
                notes.append(
                    f"the body moved by {model.names[joint]} has a radius of gyration of {gyration:.3g} m, with thighs "
                    f"of {thigh:.3g} m; it gets the inertia of a rod"
                )
                rod = _possible(np.zeros((3, 3)), float(body.mass), np.asarray(body.lever))
                model.inertias[joint] = pin.Inertia(float(body.mass), np.asarray(body.lever), rod)
    return notes


def _possible(inertia: Array, mass: float, lever: Array) -> Array:
    """The nearest inertia (3, 3) with moments that a distribution of mass can have (Wensing et al. 2018) [kg m^2]."""
    if not np.any(inertia):
        length = 2.0 * max(float(np.linalg.norm(lever)), _SMALLEST)
        return mass * length**2 / 12.0 * np.eye(3)
    second = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    values, vectors = np.linalg.eigh(0.5 * (second + second.T))
    least = _FLAT * max(float(values[-1]), 0.0)
    second = (vectors * np.maximum(values, least)) @ vectors.T if values[0] < least else second
    return np.asarray(np.trace(second) * np.eye(3) - second)


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


def _hold(path: Path, joint: Element, position: float) -> None:
    """Move the origin of a joint to where its link is at this angle [rad] or length [m]."""
    if position == 0.0:
        return
    name, kind, axis, limit = joint.get("name"), joint.get("type"), joint.find("axis"), joint.find("limit")
    if kind not in _ONE_WAY:
        raise ModelError(f"{path}: lock has {position:g} for joint {name}, which is {kind}; allowed: 0")
    written = {} if limit is None else limit.attrib
    low, high = (number(path, f"{key} of joint {name}", written.get(key, "0")) for key in ("lower", "upper"))
    if kind != "continuous" and low < high and not low - _ROUNDED <= position <= high + _ROUNDED:
        raise ModelError(
            f"{path}: lock has {position:g} for joint {name}; allowed: {low:g} to {high:g}, angles in rad, lengths in m"
        )
    words = "1 0 0" if axis is None else axis.get("xyz", "")
    direction = np.array([number(path, f"the axis of {name}", word) for word in words.split()])
    if len(direction) != 3 or not np.any(direction):
        raise ModelError(f"{path}: joint {name} has the axis {words!r}; needed: three numbers, not all of them zero")
    way = position * direction / np.linalg.norm(direction)
    try:
        rotation, place = origin_of(joint)
    except ValueError as error:
        raise ModelError(f"{path}: the origin of joint {name} has a word instead of a number: {error}") from error
    if joint.get("type") == "prismatic":
        place = place + rotation @ way
    else:
        rotation = rotation @ pin.exp3(way)
    for origin in joint.findall("origin"):
        joint.remove(origin)
    ElementTree.SubElement(joint, "origin", xyz=text_of(place), rpy=text_of(matrix_to_rpy(rotation)))


def add_foot(root: Element, leg: Leg) -> None:
    """Give a URDF a link for a foot whose place in the shank's link the robot's file says."""
    child = root.find(f"joint[@name='{leg.joints[-1]}']/child")
    if leg.place is None or child is None:  # whoever looks for the joints misses it
        return
    ElementTree.SubElement(root, "link", name=leg.foot)
    joint = ElementTree.SubElement(root, "joint", name=f"{leg.foot}_fixed", type="fixed")
    ElementTree.SubElement(joint, "parent", link=child.get("link", ""))
    ElementTree.SubElement(joint, "child", link=leg.foot)
    ElementTree.SubElement(joint, "origin", xyz=text_of(leg.place))


def _limit(joint: Element) -> None:
    """Give a joint limits that are none."""
    joint.set("type", "revolute")
    limit = joint.find("limit")
    if limit is None:
        limit = ElementTree.SubElement(joint, "limit", effort="0", velocity="0")
    limit.set("lower", repr(-_NO_LIMIT))
    limit.set("upper", repr(_NO_LIMIT))


def _expanded(path: Path, arguments: Mapping[str, str]) -> str:
    """The URDF that a xacro file stands for; packages that it names are looked for above it, then in ROS 2."""
    import xacro.substitution_args

    def find(package: str) -> str:
        above = [place for folder in path.resolve().parents for place in (folder, folder / package)]
        prefixes = [Path(prefix) for prefix in os.environ.get(_AMENT, "").split(os.pathsep) if prefix]
        for place in (*above, *(prefix / "share" / package for prefix in prefixes)):
            if place.name == package and place.is_dir():
                return os.fspath(place)
        raise ModelError(f"{path} names the package {package}, which is neither above it nor in a sourced ROS 2")

    try:
        with mock.patch.object(xacro.substitution_args, "_eval_find", find):
            return str(xacro.process_file(os.fspath(path), mappings=dict(arguments)).toxml())
    except Exception as error:  # xacro raises its own, the parser's and whatever an expression in the file raises
        if isinstance(getattr(error, "exc", error), ModelError):
            raise getattr(error, "exc", error) from error
        raise ModelError(
            f"{path}: xacro cannot expand it: {' '.join(str(error).split())}; arguments are given as NAME:=VALUE after "
            "the file, or as xacro in the robot's file"
        ) from error
