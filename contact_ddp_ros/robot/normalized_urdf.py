"""A quadruped's URDF in other names and signs, written anew with those of :mod:`contact_ddp_ros.robot.joints`.

What everything above counts on is a tree of thirteen bodies whose frames are parallel to the trunk's when all joints
are at zero, the legs hanging straight down, and a trunk whose origin is amid the legs; abductions turn about +x,
hips and knees about -y, or about +y where the knee bends forwards (:mod:`contact_ddp_ros.robot.straight_legs`). So the
robot is read once by pinocchio, which merges links that are fixed to each other, and each body is written in its new
frame: with R the rotation of the old frame in the trunk, the legs straight, a centre of mass c becomes R c, an inertia
I becomes R I R', and limits count from the straight leg. No number changes but by that. Shapes go along.

The shapes of a foreign robot's bodies in the frames of its canonical URDF.

Those with a formula are kept. Where a body has others (meshes), its collision shapes are shown instead, and bars from
joint to joint where it has none of those either.
"""

from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.joints import BASE_LINK, LEG_JOINTS, LEG_NAMES
from contact_ddp_ros.robot.profile import Leg
from contact_ddp_ros.robot.shapes import add_shape, text_of
from contact_ddp_ros.robot.straight_legs import AXIS_TOLERANCE
from contact_ddp_ros.robot.third_party_urdf import ForeignRobot, foot_sphere
from contact_ddp_ros.robot.urdf import joint_extras

Array = NDArray[np.float64]

COLOURS = {"base": "0.82 0.84 0.86 1", "abad": "0.13 0.14 0.16 1", "hip": "0.82 0.84 0.86 1"}
COLOURS |= {"knee": "0.55 0.58 0.62 1", "foot": "0.05 0.05 0.05 1"}
"""Colours (red, green, blue, opacity) of bodies whose shapes have none."""

_SMALLEST_SHAPE = 0.005
"""Shapes no larger than this in any direction mark a place and are not drawn [m]."""

_SHARE = 0.25
"""Trunks whose shapes are all smaller than this, over the way between the abductions, get a box: these are sensors."""

_BAR_WIDTH = 0.02
"""Width of the bars that stand for links without a shape [m]."""


def add_shapes(link: Element, source: ForeignRobot, joint: int, kind: str) -> None:
    """Give a link the shapes of a body."""
    feet = {leg.foot for leg in source.profile.legs.values()}
    carrier = source.carrier(joint)
    own = [one for one in source.outline.shapes if one.carrier == carrier and one.link not in feet]
    solid = [one for one in own if max(one.size) > _SMALLEST_SHAPE]
    colliding = [one for one in solid if one.purpose == "collision"]
    seen = [one for one in solid if one.purpose == "visual"]
    hidden = [at for purpose, at in source.outline.unread if purpose == "visual" and at not in feet]
    meshes = any(source.outline.carriers[at][0] == carrier for at in hidden)
    seen += colliding if meshes or not seen else []
    rotation = source.rotations[joint]
    for purpose, shapes in (("visual", seen), ("collision", colliding)):
        for one in shapes:
            colour = COLOURS[kind] if one.colour is None or purpose == "collision" else text_of(one.colour)
            turned, moved = rotation @ one.rotation, rotation @ one.translation
            add_shape(link, purpose, one.kind, one.size, turned, moved, colour)
    least = _SHARE * _trunk_size(source)[0] if joint == 0 else 0.0
    if not any(max(one.size) > least for one in seen) or (meshes and joint and not colliding):
        _add_bars(link, source, joint, kind)
    if joint == 0 and not any(max(one.size) > least for one in colliding):
        add_shape(link, "collision", "box", _trunk_size(source), np.eye(3), np.zeros(3), "")


def _add_bars(link: Element, source: ForeignRobot, joint: int, kind: str) -> None:
    """Bars from a body's joint to what it carries, or a box between the abductions for the trunk: to be looked at."""
    if joint == 0:
        add_shape(link, "visual", "box", _trunk_size(source), np.eye(3), np.zeros(3), COLOURS[kind])
        return
    for end in source.carried(joint):
        way = source.rotations[joint] @ end
        size = tuple(max(abs(float(part)), _BAR_WIDTH) for part in way)
        add_shape(link, "visual", "box", size, np.eye(3), 0.5 * way, COLOURS[kind])


def _trunk_size(source: ForeignRobot) -> tuple[float, float, float]:
    """Edges of a box between the abductions [m]; as high as a quarter of its length."""
    places = np.array(source.carried(0))
    length, width = np.ptp(places[:, 0]), np.ptp(places[:, 1])
    return float(length), float(width), 0.25 * float(length)


AXES: Final = {"abad": (1.0, 0.0, 0.0), "hip": (0.0, -1.0, 0.0), "knee": (0.0, -1.0, 0.0)}
"""Axis of every joint of a leg whose knee bends backwards, in the trunk's directions."""

_FOOT_SHARE = 1.0 / 64.0
"""Share of the shank's inertia that the foot's link gets: readers give a link without one 1 kg. A power of two."""


def canonical_urdf(source: ForeignRobot) -> str:
    """The text of the robot's URDF with the names and signs of this package.

    Raises:
        ModelError: a leg is not abduction, hip and knee, one after the other, or does not end in its foot.
    """
    profile = source.profile
    robot = Element("robot", name=profile.name)
    trunk = _link(robot, BASE_LINK, source.model.inertias[0], np.eye(3))
    add_shapes(trunk, source, 0, "base")
    for name in LEG_NAMES:
        _add_leg(robot, source, name, profile.legs[name])
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding="unicode")


def _add_leg(robot: Element, source: ForeignRobot, name: str, leg: Leg) -> None:
    """The bodies of a leg from the trunk down, and its foot."""
    model, path = source.model, source.profile.urdf
    parent, parent_link = 0, BASE_LINK
    for index, kind in enumerate(LEG_JOINTS):
        joint = model.getJointId(leg.joints[index])
        if model.parents[joint] != parent:
            raise ModelError(
                f"{path}: joint {leg.joints[index]} is carried by {model.names[model.parents[joint]]}; the joints of a "
                f"leg must follow each other from the trunk: {', '.join(leg.joints)}"
            )
        link_name = f"{name}_{kind}"
        _add_joint(robot, source, link_name, parent_link, joint, index)
        share = 1.0 - _FOOT_SHARE if kind == LEG_JOINTS[-1] else 1.0
        link = _link(robot, link_name, model.inertias[joint], source.rotations[joint], share)
        add_shapes(link, source, joint, kind)
        parent, parent_link = joint, link_name
    _add_foot(robot, source, name, leg, parent)


def _add_joint(robot: Element, source: ForeignRobot, link: str, parent_link: str, joint: int, index: int) -> None:
    model, given, kind = source.model, source.profile.joints, LEG_JOINTS[index]
    name, at, leg = model.names[joint], model.idx_vs[joint], link.partition("_")[0]
    here = source.joint_map.names.index(name)
    sign, zero = source.joint_map.signs[here], source.joint_map.zeros[here]
    lower, upper = sorted(
        float(sign * (limit[model.idx_qs[joint]] - zero))
        for limit in (model.lowerPositionLimit, model.upperPositionLimit)
    )
    extras = joint_extras(source.profile.urdf, source.root, name)
    parent = model.parents[joint]
    origin = source.rotations[parent] @ np.asarray(model.jointPlacements[joint].translation)
    origin = _below(origin) if kind == LEG_JOINTS[-1] else origin
    axis = np.array(AXES[kind]) * (-1.0 if index and source.joint_map.forward[leg] else 1.0)
    element = SubElement(robot, "joint", name=f"{link}_joint", type="revolute")
    SubElement(element, "parent", link=parent_link)
    SubElement(element, "child", link=link)
    SubElement(element, "origin", xyz=text_of(origin))
    SubElement(element, "axis", xyz=text_of(axis))

    def said(key: str, of_urdf: float) -> str:
        return repr(given[key][index] if key in given else of_urdf)

    SubElement(
        element,
        "limit",
        lower=said("lower", lower),
        upper=said("upper", upper),
        effort=said("effort", float(model.effortLimit[at])),
        velocity=said("velocity", float(model.velocityLimit[at])),
    )
    SubElement(
        element,
        "dynamics",
        armature=said("armature", extras.armature),
        damping=said("damping", extras.damping),
        friction=said("dry_friction", extras.dry_friction),
        gear=said("gear", extras.gear),
    )


def _add_foot(robot: Element, source: ForeignRobot, name: str, leg: Leg, shank: int) -> None:
    """A sphere about the middle of the URDF's collision sphere, or about the origin of the foot's link."""
    model = source.model
    frame = model.frames[model.getFrameId(leg.foot)]
    if frame.parentJoint != shank:
        raise ModelError(
            f"{source.profile.urdf}: {leg.foot} is not fixed to the shank; leg {name} must end in its foot"
        )
    centre, found = foot_sphere(model, source.outline, leg)
    radius = source.profile.foot_radius or found
    if radius is None:
        raise ModelError(
            f"{source.profile.urdf}: link {leg.foot} has no collision sphere; say foot_radius in {source.profile.path}"
        )
    rotation = source.rotations[shank]
    link_name = f"{name}_foot"
    joint = SubElement(robot, "joint", name=f"{link_name}_joint", type="fixed")
    SubElement(joint, "parent", link=f"{name}_{LEG_JOINTS[-1]}")
    SubElement(joint, "child", link=link_name)
    SubElement(joint, "origin", xyz=text_of(_below(rotation @ centre)))
    body = model.inertias[shank]
    there = pin.Inertia(body.mass, np.asarray(body.lever) - centre, body.inertia)
    link = _link(robot, link_name, there, rotation, _FOOT_SHARE)
    for purpose in ("visual", "collision"):
        add_shape(link, purpose, "sphere", (radius,), np.eye(3), np.zeros(3), COLOURS["foot"])


def _below(place: Array) -> Array:
    """The place of a knee or a foot straight below, but for what axes that are not quite across the trunk leave."""
    return place * (0.0, 1.0, 1.0) if abs(place[0]) <= AXIS_TOLERANCE * abs(place[2]) else place


def _link(robot: Element, name: str, body: pin.Inertia, rotation: Array, share: float = 1.0) -> Element:
    """A link with a share of a body, its axes turned by `rotation`."""
    inertia = rotation @ np.asarray(body.inertia) @ rotation.T
    link = SubElement(robot, "link", name=name)
    element = SubElement(link, "inertial")
    SubElement(element, "mass", value=repr(share * float(body.mass)))
    SubElement(element, "origin", xyz=text_of(rotation @ np.asarray(body.lever)))
    entries = {f"i{a}{b}": inertia[i, j] for i, a in enumerate("xyz") for j, b in enumerate("xyz") if i <= j}
    SubElement(element, "inertia", {key: repr(share * float(value)) for key, value in entries.items()})
    return link
