"""Trunk frame of a quadruped's URDF: origin amid the abductions at the height of the hips, x forward, y left, z up.

A URDF's root link may be a footprint on the ground, a plate at the head, or drawn with y up. Legs say what is where:
abductions turn about the forward axis, hips about the one across, and knees hang below. All heights of the trunk are
heights of the hips then, by which robots of unlike build compare. Where the root link's axes are others, names of
joints say which legs are in front; without such names the root link is turned as little as possible.
"""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.robot.joints import LEG_JOINTS
from contact_ddp_ros.robot.rotation import matrix_to_rpy
from contact_ddp_ros.robot.straight_legs import AXIS_TOLERANCE, joint_axis

Array = NDArray[np.float64]

TRUNK_LINK = "trunk_amid_the_legs"
"""Link that becomes the root of the URDF."""

_ALONG = 1.0 - 0.5 * AXIS_TOLERANCE**2
"""Cosine of the root link's axes to the legs' above which they are taken for the same."""

_NEAR = 1e-6
"""An origin this close to the middle of the legs is there [m]."""

_FRONT = re.compile(r"(^|[^a-z])(front|[lr]?f[lr]?)([^a-z]|$)", re.IGNORECASE)
"""Names of front legs: front_left, FL, LF, rf."""


def set_trunk_frame(root: Element, model: pin.Model, joints: Sequence[int]) -> list[str]:
    """Hang a URDF on a new root link with the trunk's frame, in place; what was done, in words.

    Args:
        root: the XML.
        model: pinocchio's fixed-base model of it.
        joints: (12,) abduction, hip and knee of four legs, leg by leg.
    """
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    places = np.array([data.oMi[joint].translation for joint in joints]).reshape(-1, len(LEG_JOINTS), 3)
    axes = np.array([data.oMi[joint].rotation @ joint_axis(model, joint) for joint in joints]).reshape(places.shape)
    middle = places[:, 0].mean(axis=0)
    hips = places[:, 1].mean(axis=0)
    ways = _ways(_direction(axes[:, 0]), _direction(axes[:, 1]))
    rotation = np.eye(3)
    if ways and all(np.diag(way).min() < _ALONG for way in ways):
        front = [bool(_FRONT.search(model.names[joint])) for joint in joints[:: len(LEG_JOINTS)]]
        ahead = places[front, 0].mean(axis=0) - middle if any(front) else np.zeros(3)
        down = (places[:, -1] - places[:, 0]).mean(axis=0)
        rotation = max(
            ways, key=lambda way: 4.0 * np.sign(ahead @ way[:, 0]) - 8.0 * np.sign(down @ way[:, 2]) + np.trace(way)
        )
    middle = middle + (hips - middle) @ rotation[:, 2] * rotation[:, 2]
    if np.linalg.norm(middle) < _NEAR and np.array_equal(rotation, np.eye(3)):
        return []
    children = {child.get("link") for child in root.findall("joint/child")}
    top = next(link.get("name", "") for link in root.findall("link") if link.get("name") not in children)
    SubElement(root, "link", name=TRUNK_LINK)
    joint = SubElement(root, "joint", name=f"{TRUNK_LINK}_joint", type="fixed")
    SubElement(joint, "parent", link=TRUNK_LINK)
    SubElement(joint, "child", link=top)
    turned = np.ascontiguousarray(rotation.T)
    place, angles = (" ".join(repr(float(one)) for one in part) for part in (-turned @ middle, matrix_to_rpy(turned)))
    SubElement(joint, "origin", xyz=place, rpy=angles)
    said = [f"{np.round(middle, 4).tolist()} m from the root link {top}, amid the legs"]
    if not np.array_equal(rotation, np.eye(3)):
        said.append(f"x forward and z up are {rotation[:, 0].round(3).tolist()} and {rotation[:, 2].round(3).tolist()}")
    return [f"the trunk's origin is {'; '.join(said)}"]


def _direction(axes: Array) -> Array:
    """(3,) common direction of axes (n, 3) whatever their signs."""
    return np.asarray(np.linalg.eigh(axes.T @ axes)[1][:, -1])


def _ways(forward: Array, across: Array) -> list[Array]:
    """(3, 3) rotations with x along the one axis and y along the other, four of them; none where they are parallel."""
    across = across - (across @ forward) * forward
    length = float(np.linalg.norm(across))
    pairs = [(a * forward, b * across / length) for a in (1, -1) for b in (1, -1)] if length > 0.5 else []
    return [np.column_stack([x, y, np.cross(x, y)]) for x, y in pairs]
