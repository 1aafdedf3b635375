"""Leg finder: joints of a URDF that are the legs of a quadruped, by structure and place; names do not matter.

A leg is a chain of three revolute joints that begins at the trunk and does not branch: abduction about x, hip and knee
about y, the trunk's x pointing forward and z up. Front and hind, left and right are told apart by where the hips are.

Numbers of the joints that a URDF lacks or fills with placeholders, and the Mini Cheetah's for a robot of that size.

Estimates follow dynamic similarity: with legs λ times as long and a mass μ times as large, torques are λ μ times, rotor
inertias λ² μ times and speeds 1/√λ times as large; angles are the same.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.joints import BASE_JOINTS, LEG_JOINTS, LEG_NAMES
from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.robot.profile import Leg
from contact_ddp_ros.robot.shapes import Outline, outline_of
from contact_ddp_ros.robot.symmetry import leg_length
from contact_ddp_ros.robot.urdf import REVOLUTE, joint_extras, parse, read_text

Array = NDArray[np.float64]

_AXIS_TOLERANCE = 1e-6
"""Largest component of an axis beside x or y."""

_NEAR_KNEE = 0.3
"""A link no further from the knee than this share of the thigh is no foot."""

_DIRECTIONS = (1, 1, -1, -1)
"""Signs of the hips' places along x, in the order of LEG_NAMES."""


@dataclass(frozen=True)
class FoundLegs:
    """Legs that were found, and obstacles.

    Attributes:
        path: of the URDF.
        root: its XML.
        model: pinocchio's fixed-base model.
        outline: its shapes.
        legs: by LEG_NAMES; empty unless all four were found.
        problems: what is wrong, by the names of links and joints, each with what is needed.
    """

    path: Path
    root: Element
    model: pin.Model
    outline: Outline
    legs: dict[str, Leg] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def find_legs(path: Path) -> FoundLegs:
    """Read a URDF and find its legs.

    Raises:
        ModelError: the file cannot be read, is no URDF, or has a mass, an axis or a number that cannot be.
    """
    root, model = parse(path, read_text(path))
    try:
        outline = outline_of(path, root, strict=False)
    except ValueError as error:
        raise ModelError(f"{path}: a shape, its size or its origin has a word instead of a number: {error}") from error
    search = _Search(path, root, model, outline)
    legs = search.legs()
    return FoundLegs(path, root, model, outline, legs, tuple(search.problems))


class _Search:
    """Poses of all bodies at zero angles, and the problems met on the way."""

    def __init__(self, path: Path, root: Element, model: pin.Model, outline: Outline) -> None:
        self.model, self.outline, self.problems = model, outline, list[str]()
        self.data = model.createData()
        pin.framesForwardKinematics(model, self.data, pin.neutral(model))
        self.children = {body: [i for i in range(1, model.njoints) if model.parents[i] == body] for body in self.bodies}

    @property
    def bodies(self) -> range:
        return range(self.model.njoints)

    def legs(self) -> dict[str, Leg]:
        trunk = max(self.bodies, key=lambda body: len(self.children[body]))
        if trunk:
            self.problems.append(
                f"the trunk is moved by joint {self.model.names[trunk]}; needed: the trunk as the root of the URDF, "
                "without a joint above it"
            )
            return {}
        chains = [self._chain(first) for first in self.children[trunk]]
        found = [chain for chain in chains if len(chain) == len(LEG_JOINTS) and self._is_straight(chain)]
        found = sorted(found, key=lambda chain: self._height(chain[-1]))[: len(LEG_NAMES)]
        if len(found) < len(LEG_NAMES):
            seen = "; ".join(", ".join(self.model.names[joint] for joint in chain) for chain in chains) or "none"
            self.problems.append(
                f"{len(found)} of the chains of joints on the trunk have three joints: {seen}; needed: four legs, each "
                f"with {', '.join(LEG_JOINTS)} and no other joint that moves"
            )
            return {}
        self._report_surplus({joint for chain in found for joint in chain})
        named = self._named(found)
        feet = {leg: self._foot(leg, chain) for leg, chain in named.items()}
        for leg, chain in named.items():
            self._check_axes(leg, chain)
            self._check_bodies(leg, chain)
        if not named or None in feet.values():
            return {}
        return {leg: Leg(tuple(self.model.names[joint] for joint in named[leg]), str(feet[leg])) for leg in LEG_NAMES}

    def _chain(self, first: int) -> list[int]:
        """Joints from `first` on, depth first."""
        return [first, *(joint for child in self.children[first] for joint in self._chain(child))]

    def _is_straight(self, chain: list[int]) -> bool:
        """True if each joint carries the next and none carries two."""
        return all(self.children[joint] == [after] for joint, after in pairwise(chain))

    def _height(self, body: int) -> float:
        return float(self.data.oMi[body].translation[2])

    def _report_surplus(self, used: set[int]) -> None:
        surplus = [self.model.names[joint] for joint in self.bodies if joint and joint not in used]
        if surplus:
            self.problems.append(
                f'joints that move and are of no leg: {", ".join(surplus)}; needed: type="fixed" in the URDF'
            )

    def _named(self, chains: list[list[int]]) -> dict[str, list[int]]:
        """The chains by the names of their legs; none where two are in the same corner."""
        hips = {chain[1]: np.asarray(self.data.oMi[chain[1]].translation) for chain in chains}
        middle = np.mean([place[0] for place in hips.values()])
        corners = [(1 if hips[chain[1]][0] > middle else -1, 1 if hips[chain[1]][1] > 0 else -1) for chain in chains]
        wanted = {(ahead, 1 if leg.endswith("l") else -1): leg for leg, ahead in zip(LEG_NAMES, _DIRECTIONS)}
        if set(corners) != set(wanted):
            places = ", ".join(f"{self.model.names[one]} at {np.round(at, 3).tolist()}" for one, at in hips.items())
            self.problems.append(
                f"hips are not in four corners about the trunk's origin: {places}; needed: one front and one hind leg "
                "on each side, the trunk's x forward and y to the left"
            )
            return {}
        legs = {wanted[corner]: chain for corner, chain in zip(corners, chains)}
        return {leg: legs[leg] for leg in LEG_NAMES}

    def _check_axes(self, leg: str, chain: list[int]) -> None:
        names = [self.model.names[joint] for joint in chain]
        kinds = [self.model.joints[joint].shortname() for joint in chain]
        for name, kind in zip(names, kinds):
            if kind not in REVOLUTE:
                short = kind.removeprefix("JointModel")
                self.problems.append(f"leg {leg}: joint {name} is {short}; needed: a revolute joint with limits")
        for name, joint, kind, role in zip(names, chain, kinds, LEG_JOINTS):
            if kind not in REVOLUTE:
                continue
            moving = self.model.joints[joint].createData()
            self.model.joints[joint].calc(moving, np.zeros(1))
            axis = self.data.oMi[joint].rotation @ np.asarray(moving.S).reshape(6)[3:]
            along, letter = (0, "x") if role == LEG_JOINTS[0] else (1, "y")
            if abs(abs(float(axis[along])) - 1.0) > _AXIS_TOLERANCE:
                self.problems.append(
                    f"leg {leg}: joint {name}, its {role}, turns about {(np.round(axis, 4) + 0.0).tolist()}; needed: "
                    f"{letter} of the trunk (x forward, z up), all joints at zero"
                )

    def _check_bodies(self, leg: str, chain: list[int]) -> None:
        for joint in chain:
            body = self.model.inertias[joint]
            if not (body.mass > 0.0 and np.linalg.eigvalsh(body.inertia)[0] > 0.0):
                link = self.outline.moved_links[self.model.names[joint]]
                moments = np.linalg.eigvalsh(body.inertia).tolist()
                self.problems.append(
                    f"leg {leg}: link {link}, with what is fixed to it, has a mass of {body.mass:g} kg and principal "
                    f"moments of inertia {moments} kg m^2; needed: positive ones"
                )

    def _foot(self, leg: str, chain: list[int]) -> str | None:
        """The link at the end of a leg: the farthest with a collision sphere, else the farthest from the knee."""
        model, shank = self.model, chain[-1]
        thigh = float(np.linalg.norm(model.jointPlacements[shank].translation))
        carrier = self.outline.moved_links[model.names[shank]]
        places = {link: at for link, (carried_by, _, at) in self.outline.carriers.items() if carried_by == carrier}
        spheres = {
            one.link: one.translation
            for one in self.outline.shapes
            if one.link in places and one.purpose == "collision" and one.kind == "sphere"
        }
        for candidates in (spheres, places):
            far = {link: float(np.linalg.norm(at)) for link, at in candidates.items()}
            far = {link: distance for link, distance in far.items() if distance > _NEAR_KNEE * thigh}
            if far:
                return max(far, key=lambda link: far[link])
        self.problems.append(
            f"leg {leg}: no foot on link {carrier}, which {model.names[shank]} moves; needed: a link at the foot's "
            'centre on a joint of type="fixed", with a collision sphere'
        )
        return None


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
    """Scale of the robot over the home robot. Its legs must have been found."""
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
    """Estimated properties that the URDF does not give, for the robot's file."""
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
    """True if every foot has a collision sphere, which says its radius."""
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
