"""Numbers of the joints that a URDF lacks or fills with placeholders, and the Mini Cheetah's for a robot of that size.

Estimates follow dynamic similarity: with legs λ times as long and a mass μ times as large, torques are λ μ times, rotor
inertias λ² μ times and speeds 1/√λ times as large; angles are the same.
"""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.robot.joints import LEG_JOINTS, LEG_NAMES
from contact_ddp_ros.robot.model import BASE_JOINTS, load_robot
from contact_ddp_ros.robot.symmetry import leg_length
from contact_ddp_ros.robot.urdf import joint_extras
from contact_ddp_ros.robot.urdf_check.legs import FoundLegs

Array = NDArray[np.float64]

_PLACEHOLDER = 10.0
"""A torque or speed this many times the estimate was not measured on a motor."""

_MOST_ANGLE = 2.0 * np.pi
"""A limit beyond one turn is none [rad]."""


@dataclass(frozen=True)
class Scale:
    """The robot over the Mini Cheetah: leg length λ, mass μ."""

    length: float
    mass: float


@dataclass(frozen=True)
class Estimate:
    """Triples for a key of `joints` in the robot's file, and why the URDF's are not taken."""

    key: str
    values: tuple[float, ...]
    reason: str


def scale_of(found: FoundLegs) -> Scale:
    """How large the robot is. Its legs must have been found."""
    reference = load_robot()
    model = found.model
    leg = found.legs[LEG_NAMES[0]]
    knee = model.getJointId(leg.joints[-1])
    thigh = float(np.linalg.norm(model.jointPlacements[knee].translation))
    shank = float(np.linalg.norm(model.frames[model.getFrameId(leg.foot)].placement.translation))
    if leg.foot == found.outline.moved_links[leg.joints[-1]]:  # the sphere is the shank's own
        spheres = [one for one in found.outline.shapes if one.link == leg.foot and one.kind == "sphere"]
        shank = max(float(np.linalg.norm(one.translation)) for one in spheres)
    total = sum(float(body.mass) for body in model.inertias)
    return Scale((thigh + shank) / leg_length(reference.tree), total / reference.mass)


def estimates(found: FoundLegs, scale: Scale) -> list[Estimate]:
    """What the robot's file has to say because the URDF does not."""
    result = []
    reference = load_robot()
    drives = reference.tree.joints[len(BASE_JOINTS) : len(BASE_JOINTS) + len(LEG_JOINTS)]
    length, mass = scale.length, scale.mass
    armature = tuple(joint.armature * length**2 * mass for joint in drives)
    effort = tuple(joint.effort_limit * length * mass for joint in drives)
    velocity = tuple(joint.velocity_limit / np.sqrt(length) for joint in drives)
    written = {"effort": np.array(_of(found, "effortLimit")), "velocity": np.array(_of(found, "velocityLimit"))}
    extras = [joint_extras(found.path, found.root, name) for leg in found.legs.values() for name in leg.joints]
    if not any(one.armature for one in extras):
        result.append(Estimate("armature", armature, "the URDF has no rotor inertia (an armature of <dynamics>)"))
    for key, guess in (("effort", effort), ("velocity", velocity)):
        reason = _unfit(written[key], np.array(guess))
        if reason:
            result.append(Estimate(key, guess, reason))
    lower, upper = np.array(_of(found, "lowerPositionLimit")), np.array(_of(found, "upperPositionLimit"))
    wide = np.maximum(np.abs(lower), np.abs(upper)) > _MOST_ANGLE
    if wide.any() or not (lower < upper).all():
        reason = "limits of angle beyond one turn" if wide.any() else "lower limits that are not below the upper ones"
        result.append(Estimate("lower", tuple(joint.lower for joint in drives), f"the URDF has {reason}"))
        result.append(Estimate("upper", tuple(joint.upper for joint in drives), f"the URDF has {reason}"))
    return result


def has_spheres(found: FoundLegs) -> bool:
    """Whether every foot has a collision sphere, which says its radius."""
    spheres = {one.link for one in found.outline.shapes if one.purpose == "collision" and one.kind == "sphere"}
    return all(leg.foot in spheres for leg in found.legs.values())


def _unfit(written: Array, guess: Array) -> str:
    """Why limits (4, 3) of the URDF cannot be taken; empty where they can."""
    if not (np.isfinite(written).all() and (written > 0.0).all()):
        return "the URDF has none (zero)"
    if (written > _PLACEHOLDER * guess).any():
        return f"the URDF's look like placeholders (up to {written.max():g})"
    return ""


def _of(found: FoundLegs, attribute: str) -> list[list[float]]:
    """An array of pinocchio's model, (4, 3) by leg and joint."""
    model: pin.Model = found.model
    values = getattr(model, attribute)
    index = model.idx_qs if "Position" in attribute else model.idx_vs
    return [[float(values[index[model.getJointId(name)]]) for name in leg.joints] for leg in found.legs.values()]
