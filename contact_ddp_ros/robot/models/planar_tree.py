"""The tree of the planar model, reduced from the robot by code.

A bound moves left and right legs alike and the abductions not at all. Then the robot moves in its sagittal plane as

    q = (x, z, pitch, front hip, front knee, back hip, back knee)

with x, z of the trunk's origin, pitch about +y (nose down is positive) and hips and knees about -y as in the URDF.
The abduction links, at angle zero, are part of the trunk; the left and right link of a pair move as one rigid body, so
their masses, inertias, rotor inertias, frictions and torques add up. The reduction is exact: on symmetric motions the
planar dynamics are those of the whole robot.

See eq. (24) of docs/mathematics.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.model import BASE_JOINTS, Robot
from contact_ddp_ros.robot.symmetry import Difference, symmetrised
from contact_ddp_ros.robot.tree import ContactPoint, Joint, RigidBodyTree

Array = NDArray[np.float64]

PAIRS: Final = {"front": ("fr", "fl"), "back": ("hr", "hl")}
"""Legs that move as one, by the name of the planar leg."""

PLANAR_BASE_JOINTS: Final = ("base_x", "base_z", "base_pitch")
PLANAR_LEG_JOINTS: Final = ("hip", "knee")
PLANAR_JOINT_NAMES: Final = (
    *PLANAR_BASE_JOINTS,
    *(f"{pair}_{joint}" for pair in PAIRS for joint in PLANAR_LEG_JOINTS),
)
"""Order of the planar coordinates; the actuated ones are those after the base."""

PLANAR_FOOT_NAMES: Final = tuple(f"{pair}_foot" for pair in PAIRS)

_SYMMETRY_TOLERANCE = 1e-9
"""How far left and right may differ [m, kg, kg m^2] for the reduction to count as exact."""

_REMEDY = "; a robot file's asymmetry allows for small differences"


@dataclass(frozen=True)
class _Body:
    """Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2], in axes parallel to the trunk's."""

    mass: float
    com: Array
    inertia: Array


def reduce_to_plane(robot: Robot) -> RigidBodyTree:
    """The planar tree (n = 7) of the robot, with the contact points of PLANAR_FOOT_NAMES.

    Its joints are PLANAR_JOINT_NAMES; effort limits, frictions and armatures are those of both legs together. Where
    the robot's file allows left and right to differ, their average is reduced.

    Raises:
        ModelError: left and right are not mirror images, or the legs do not move in the sagittal plane.
    """
    whole_robot, _ = _symmetric(robot)
    names = {joint.name: index for index, joint in enumerate(whole_robot.joints)}
    kinds = {name: (kind, axis) for name, kind, axis in BASE_JOINTS}
    joints = [
        Joint(name, kinds[name][0], np.array(kinds[name][1]), parent)
        for parent, name in enumerate(PLANAR_BASE_JOINTS, start=-1)
    ]
    trunk = len(joints) - 1
    carried = [_moved(_body(whole_robot.joints[names["base_roll"]]), np.zeros(3))]
    contacts = []
    for pair, legs in PAIRS.items():
        abads = [whole_robot.joints[names[f"{leg}_abad_joint"]] for leg in legs]
        carried += [_moved(_body(abad), abad.translation) for abad in abads]
        offsets = [abad.translation for abad in abads]
        parent = trunk
        for joint in PLANAR_LEG_JOINTS:
            sides = [whole_robot.joints[names[f"{leg}_{joint}_joint"]] for leg in legs]
            merged, offsets = _merge(f"{pair}_{joint}", sides, offsets, parent)
            parent = len(joints)
            joints.append(merged)
        contacts.append(_merge_feet(pair, [whole_robot.contact(f"{leg}_foot") for leg in legs], offsets, parent))
    whole = _sum(carried)
    _check_balanced("the trunk with the abductions", whole)
    joints[trunk] = replace(joints[trunk], mass=whole.mass, com=whole.com, inertia=whole.inertia)
    tree = RigidBodyTree(f"{robot.tree.name}_planar", tuple(joints), tuple(contacts), robot.tree.gravity)
    assert tuple(joint.name for joint in joints) == PLANAR_JOINT_NAMES
    return tree


def averaged(robot: Robot) -> Difference | None:
    """The largest difference between left and right that :func:`reduce_to_plane` averages; None where it does not.

    Raises:
        ModelError: it is larger than the robot's file allows.
    """
    _, largest = _symmetric(robot)
    return largest


def _symmetric(robot: Robot) -> tuple[RigidBodyTree, Difference | None]:
    tolerance = 0.0 if robot.profile is None else robot.profile.asymmetry
    return symmetrised(robot.tree, tolerance) if tolerance > 0.0 else (robot.tree, None)


def _merge(name: str, sides: Sequence[Joint], offsets: Sequence[Array], parent: int) -> tuple[Joint, list[Array]]:
    """One joint for the left and the right one, in a frame of its own in the plane y = 0.

    `offsets` are the origins of the two parents' frames in the frame of the merged parent; the second result is the
    same for the children.
    """
    origins = [offset + side.translation for side, offset in zip(sides, offsets, strict=True)]
    middle = np.mean(origins, axis=0)
    _check_mirrored(name, [side.axis for side in sides], [side.rotation for side in sides], origins)
    from_middle = [origin - middle for origin in origins]
    body = _sum([_moved(_body(side), shift) for side, shift in zip(sides, from_middle, strict=True)])
    _check_balanced(name, body)

    def total(value: Callable[[Joint], float]) -> float:
        return sum(value(side) for side in sides)

    merged = Joint(
        name=name,
        kind="revolute",
        axis=sides[0].axis.copy(),
        parent=parent,
        translation=middle,
        mass=body.mass,
        com=body.com,
        inertia=body.inertia,
        armature=total(lambda side: side.armature),
        damping=total(lambda side: side.damping),
        dry_friction=total(lambda side: side.dry_friction),
        lower=max(side.lower for side in sides),
        upper=min(side.upper for side in sides),
        velocity_limit=min(side.velocity_limit for side in sides),
        effort_limit=total(lambda side: side.effort_limit),
    )
    return merged, from_middle


def _merge_feet(pair: str, feet: Sequence[ContactPoint], offsets: Sequence[Array], body: int) -> ContactPoint:
    """One contact point for the two feet, in the plane y = 0."""
    centres = [foot.position + offset for foot, offset in zip(feet, offsets, strict=True)]
    _check_mirrored(f"{pair}_foot", [], [], centres)
    return ContactPoint(f"{pair}_foot", body, np.mean(centres, axis=0), feet[0].radius)


def _check_mirrored(name: str, axes: Sequence[Array], rotations: Sequence[Array], origins: Sequence[Array]) -> None:
    """Raises ModelError unless the joints turn about y, are not turned themselves, and mirror each other in y = 0."""
    sagittal = all(abs(abs(axis[1]) - 1.0) < _SYMMETRY_TOLERANCE for axis in axes)
    alike = all(np.allclose(axis, axes[0], atol=_SYMMETRY_TOLERANCE) for axis in axes)
    straight = all(np.allclose(rotation, np.eye(3), atol=_SYMMETRY_TOLERANCE) for rotation in rotations)
    if not (sagittal and alike and straight):
        raise ModelError(f"{name}: axes {axes}; both must be the same y axis, with frames not turned against the trunk")
    right, left = origins
    if not np.allclose(right * np.array([1.0, -1.0, 1.0]), left, atol=_SYMMETRY_TOLERANCE):
        raise ModelError(
            f"{name}: right origin {right} m and left origin {left} m must mirror each other in y = 0{_REMEDY}"
        )


def _check_balanced(name: str, body: _Body) -> None:
    """Raises ModelError where motion in the plane would push the body out of it."""
    out_of_plane = np.array([body.com[1], body.inertia[0, 1], body.inertia[1, 2]])
    if not (np.abs(out_of_plane) < _SYMMETRY_TOLERANCE).all():
        raise ModelError(
            f"{name}: left and right are not mirror images: centre of mass y, inertia xy and yz are {out_of_plane}, "
            f"not zero{_REMEDY}"
        )


def _body(joint: Joint) -> _Body:
    return _Body(joint.mass, joint.com, joint.inertia)


def _moved(body: _Body, shift: Array) -> _Body:
    """The same body seen from a frame displaced by -shift."""
    return replace(body, com=body.com + shift)


def _sum(bodies: Sequence[_Body]) -> _Body:
    """Rigid union: inertias about the common centre of mass by the parallel-axis theorem."""
    mass = sum(body.mass for body in bodies)
    com = np.sum([body.mass * body.com for body in bodies], axis=0) / mass
    inertia = np.zeros((3, 3))
    for body in bodies:
        d = body.com - com
        inertia = inertia + body.inertia + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return _Body(mass, com, inertia)
