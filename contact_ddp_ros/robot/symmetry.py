"""Left and right legs that are nearly mirror images, averaged for a model that moves them alike.

Published descriptions differ between left and right by what the drawing programs give: a trunk whose centre of mass
lies 2 mm beside the plane, a shank that was not mirrored. The mirror image of a body with mass m, centre of mass c and
inertia I is (m, M c, M I M) with M = diag(1, -1, 1); the average of a body and the mirror image of its counterpart is
symmetric. The difference is measured as a share: of lengths against the length of a leg, of masses, rotor inertias,
frictions and torques against the larger of both, of inertias against the larger of both or the body's mass at half a
leg's length, of angles against one radian.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.joints import LEG_JOINTS, LEG_NAMES
from contact_ddp_ros.robot.tree import Joint, RigidBodyTree

Array = NDArray[np.float64]

_MIRROR = np.diag([1.0, -1.0, 1.0])

_COUNTERPARTS = {"fr": "fl", "fl": "fr", "hr": "hl", "hl": "hr"}

_SHARED = ("armature", "damping", "dry_friction", "velocity_limit", "effort_limit")
"""Numbers of a joint that a mirror leaves alone."""

_TEXTS = {"com": "centre of mass", "translation": "origin", "position": "place"}


@dataclass(frozen=True)
class Difference:
    """The largest difference between left and right: of what, as a share, and in words with its unit."""

    what: str
    share: float
    text: str

    def __str__(self) -> str:
        return f"{self.what}: {self.text}"


def symmetrised(tree: RigidBodyTree, tolerance: float) -> tuple[RigidBodyTree, Difference]:
    """The tree with left and right averaged, and the largest of the differences.

    Raises:
        ModelError: a difference is larger than `tolerance`, as a share; the text says of what.
    """
    joints = {joint.name: joint for joint in tree.joints}
    averaged, differences = [], []
    length = leg_length(tree)
    for joint in tree.joints:
        other = joints[_counterpart(joint.name)]
        image = _mirrored(joint.name, other)
        differences += _differences(joint, image, length)
        averaged.append(_mean(joint, image))
    contacts = []
    for point in tree.contacts:
        place = _MIRROR @ tree.contact(_counterpart(point.name)).position
        differences.append(_difference(point.name, "position", point.position, place, length, "mm", 1e3))
        contacts.append(replace(point, position=0.5 * (point.position + place)))
    largest = max(differences, key=lambda one: one.share)
    if not largest.share <= tolerance:
        raise ModelError(
            f"left and right of {tree.name} are not mirror images: {largest}, a share of {largest.share:.2g}; "
            f"allowed: {tolerance:g}, the robot file's asymmetry"
        )
    return replace(tree, joints=tuple(averaged), contacts=tuple(contacts)), largest


def leg_length(tree: RigidBodyTree) -> float:
    """Length of thigh and shank of the first leg [m]."""
    knee = next(joint for joint in tree.joints if joint.name == f"{LEG_NAMES[0]}_{LEG_JOINTS[-1]}_joint")
    foot = tree.contact(f"{LEG_NAMES[0]}_foot")
    return abs(float(knee.translation[2])) + abs(float(foot.position[2]))


def shank_inertia(tree: RigidBodyTree) -> float:
    """Inertia of the lightest shank about its knee, that of the rotor included [kg m^2]."""
    shanks = [joint for joint in tree.joints if joint.name.endswith(f"_{LEG_JOINTS[-1]}_joint")]
    levers = [np.cross(joint.axis, joint.com) for joint in shanks]
    pairs = zip(shanks, levers, strict=True)
    return min(float(one.axis @ one.inertia @ one.axis + one.mass * arm @ arm + one.armature) for one, arm in pairs)


def body_name(joint: str) -> str:
    """Name of the body that a joint moves, for people: `trunk`, `fr_hip`."""
    return joint.removesuffix("_joint").replace("base_roll", "trunk")


def _counterpart(name: str) -> str:
    leg, _, rest = name.partition("_")
    return f"{_COUNTERPARTS[leg]}_{rest}" if leg in _COUNTERPARTS else name


def _mirrored(name: str, joint: Joint) -> Joint:
    """The mirror image: what turns about x turns the other way in it."""
    sideways = abs(float(joint.axis[0])) > 0.5
    lower, upper = (-joint.upper, -joint.lower) if sideways else (joint.lower, joint.upper)
    return replace(
        joint,
        name=name,
        translation=_MIRROR @ joint.translation,
        com=_MIRROR @ joint.com,
        inertia=_MIRROR @ joint.inertia @ _MIRROR,
        lower=lower,
        upper=upper,
    )


def _mean(joint: Joint, image: Joint) -> Joint:
    names = ("translation", "mass", "com", "inertia", *_SHARED)
    means: dict[str, Any] = {name: 0.5 * (getattr(joint, name) + getattr(image, name)) for name in names}
    return replace(joint, **means, lower=max(joint.lower, image.lower), upper=min(joint.upper, image.upper))


def _differences(joint: Joint, image: Joint, length: float) -> list[Difference]:
    name = joint.name
    found = [
        _difference(name, "translation", joint.translation, image.translation, length, "mm", 1e3),
        _difference(name, "com", joint.com, image.com, length, "mm", 1e3),
        _difference(name, "mass", joint.mass, image.mass, max(joint.mass, image.mass), "kg"),
    ]
    largest = max(float(np.abs(joint.inertia).max()), float(np.abs(image.inertia).max()))
    largest = max(largest, joint.mass * (0.5 * length) ** 2)
    found.append(_difference(name, "inertia", joint.inertia, image.inertia, largest, "kg m^2"))
    for one in _SHARED:
        ours, theirs = getattr(joint, one), getattr(image, one)
        found.append(_difference(name, one, ours, theirs, max(ours, theirs), ""))
    for one in ("lower", "upper"):
        found.append(_difference(name, one, getattr(joint, one), getattr(image, one), 1.0, "rad"))
    return found


def _difference(
    name: str,
    key: str,
    ours: Array | float,
    theirs: Array | float,
    scale: float,
    unit: str,
    factor: float = 1.0,
) -> Difference:
    away = 0.0 if np.array_equal(ours, theirs) else float(np.max(np.abs(np.asarray(ours) - theirs)))
    share = away / scale if scale > 0.0 else (0.0 if away == 0.0 else np.inf)
    where = body_name(name)
    text = f"{factor * away:.3g} {unit}".strip()
    return Difference(f"{_TEXTS.get(key, key.replace('_', ' '))} of {where}", share, text)
