"""Leg finder: joints of a URDF that are the legs of a quadruped, by structure and place; names do not matter.

A leg is a chain of three revolute joints that begins at the trunk: abduction about x, hip and knee across it, the
trunk's x pointing forward and z up. Front and hind, left and right are told apart by where the hips are. What moves
beside them is locked: arms, wheels, ankles, and joints above the trunk.

Numbers of the joints that a URDF lacks or fills with placeholders, and the Mini Cheetah's for a robot of that size.

Estimates follow dynamic similarity: with legs λ times as long and a mass μ times as large, torques are λ μ times, rotor
inertias λ² μ times and speeds 1/√λ times as large; angles are the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.joints import BASE_JOINTS, LEG_JOINTS, LEG_NAMES
from contact_ddp_ros.robot.mjcf import is_mjcf
from contact_ddp_ros.robot.model import home_robot
from contact_ddp_ros.robot.profile import Leg
from contact_ddp_ros.robot.shapes import Outline, outline_of
from contact_ddp_ros.robot.straight_legs import joint_axis
from contact_ddp_ros.robot.symmetry import leg_length
from contact_ddp_ros.robot.third_party_urdf import foot_sphere
from contact_ddp_ros.robot.trunk_frame import set_trunk_frame
from contact_ddp_ros.robot.urdf import REVOLUTE, joint_extras, parse
from contact_ddp_ros.robot.urdf_check.feet import foot_link, foot_place
from contact_ddp_ros.robot.urdf_repair import add_foot, read_xml, repair, repair_bodies

Array = NDArray[np.float64]

_ALIKE = 0.9
"""Cosine between axes that are meant to be the same."""

_DIRECTIONS = (1, 1, -1, -1)
"""Signs of the hips' places along x, in the order of LEG_NAMES."""


@dataclass(frozen=True)
class FoundLegs:
    """Legs that were found, and obstacles.

    Attributes:
        path: of the URDF.
        root: its XML, repaired.
        model: pinocchio's fixed-base model.
        outline: its shapes.
        legs: by LEG_NAMES; empty unless all four were found.
        xacro: arguments with which the file was expanded.
        lock: joints that move and are of no leg, with the positions at which they stay.
        problems: what is wrong, by the names of links and joints, each with what is needed.
        notes: what was repaired.
    """

    path: Path
    root: Element
    model: pin.Model
    outline: Outline
    legs: dict[str, Leg] = field(default_factory=dict)
    xacro: dict[str, str] = field(default_factory=dict)
    lock: dict[str, float] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def find_legs(path: Path, xacro: Mapping[str, str] = MappingProxyType({})) -> FoundLegs:
    """Read a URDF, or a xacro file with these arguments, repair it, and find its legs.

    Raises:
        ModelError: the file cannot be read, is no URDF, or has a mass, an axis or a number that cannot be.
    """
    root = read_xml(path, xacro)
    notes = repair(path, root)
    lock = _legs_of(path, root).surplus()
    notes += repair(path, root, lock) if lock else []
    search = _legs_of(path, root)
    chains = search.chains()
    if len(chains) == len(LEG_NAMES):
        notes += set_trunk_frame(search.root, search.model, [joint for chain in chains for joint in chain])
        search = _legs_of(path, search.root)
        notes += repair_bodies(search.model, chains)
    legs, model, outline = search.legs(), search.model, search.outline
    if any(leg.place for leg in legs.values()):
        for leg in legs.values():
            add_foot(search.root, leg)
        with_feet = _legs_of(path, search.root)
        model, outline = with_feet.model, with_feet.outline
        repair_bodies(model, chains)
    return FoundLegs(
        path,
        search.root,
        model,
        outline,
        legs=legs,
        xacro=dict(xacro),
        lock=lock,
        problems=tuple(search.problems),
        notes=(*notes, *search.notes),
    )


def _legs_of(path: Path, root: Element) -> "_Search":
    root, model = parse(path, ElementTree.tostring(root, encoding="unicode"))
    try:
        return _Search(path, root, model, outline_of(path, root, strict=False))
    except ValueError as error:
        raise ModelError(f"{path}: a shape, its size or its origin has a word instead of a number: {error}") from error


class _Search:
    """Poses of all bodies at zero angles, and the problems met on the way."""

    def __init__(self, path: Path, root: Element, model: pin.Model, outline: Outline) -> None:
        self._path, self.root, self.model, self.outline = path, root, model, outline
        self.problems, self.notes = list[str](), list[str]()
        self.data = model.createData()
        pin.framesForwardKinematics(model, self.data, pin.neutral(model))
        self.children = {body: [i for i in range(1, model.njoints) if model.parents[i] == body] for body in self.bodies}
        self.trunk = max(self.bodies, key=lambda body: len(self.children[body]))
        """The body that carries most."""

    @property
    def bodies(self) -> range:
        return range(self.model.njoints)

    def surplus(self) -> dict[str, float]:
        """Joints that move and are of no leg: above the trunk, of arms, ankles and wheels. None without four legs.

        Each with the position at which it is locked: zero, or the nearest that its limits allow.
        """
        legs, model = self.chains(), self.model
        used = {0, *(joint for chain in legs for joint in chain)}
        names = {model.names[one]: one for one in self.bodies if one not in used and len(legs) == len(LEG_NAMES)}
        return {name: self._nearest_to_zero(one) for name, one in names.items()}

    def _nearest_to_zero(self, joint: int) -> float:
        at = self.model.idx_qs[joint]
        low, high = float(self.model.lowerPositionLimit[at]), float(self.model.upperPositionLimit[at])
        return min(max(0.0, low), high) if self.model.nqs[joint] == 1 and low <= high else 0.0

    def legs(self) -> dict[str, Leg]:
        found = self.chains()
        if len(found) != len(LEG_NAMES):
            known = {chain[0] for chain in found}
            groups = [[one for one in self._first() if (one in known) is of] for of in (True, False)]
            legs, others = (
                "; ".join(", ".join(self.model.names[joint] for joint in self._longest(one)) for one in group) or "none"
                for group in groups
            )
            self.problems.append(
                f"{len(found)} chains of joints on the trunk are legs: {legs}; no legs: {others}; needed: four legs, "
                f"each with {', '.join(LEG_JOINTS)}; hip and knee turn about one axis, across abduction's"
            )
            return {}
        named = self._named(found)
        ends = {leg: self._leg(leg, chain) for leg, chain in named.items()}
        for leg, chain in named.items():
            self._check_joints(leg, chain)
            self._check_bodies(leg, chain)
        complete = {leg: found for leg, found in ends.items() if found is not None}
        return complete if len(complete) == len(LEG_NAMES) else {}

    def _first(self) -> list[int]:
        return self.children[self.trunk]

    def _longest(self, first: int) -> list[int]:
        """The longest chain of joints from `first` on."""
        return [first, *max((self._longest(child) for child in self.children[first]), key=len, default=[])]

    def chains(self) -> list[list[int]]:
        """Four chains of joints like legs on the trunk, or fewer: of more those whose first axes are most alike."""
        chains = [self._longest(first)[: len(LEG_JOINTS)] for first in self._first()]
        legs = [chain for chain in chains if self._is_leg(chain)]
        axes = np.array([self.data.oMi[chain[0]].rotation @ joint_axis(self.model, chain[0]) for chain in legs])
        alike = np.abs(axes @ axes.T).sum(axis=1) if legs else np.zeros(0)
        return [legs[one] for one in sorted(np.argsort(-alike, kind="stable")[: len(LEG_NAMES)])]

    def _is_leg(self, chain: list[int]) -> bool:
        """True if three joints turn: the second across the first, and the third like the second."""
        if len(chain) != len(LEG_JOINTS) or any(self.model.joints[one].shortname() not in REVOLUTE for one in chain):
            return False
        first, second, third = (self.data.oMi[joint].rotation @ joint_axis(self.model, joint) for joint in chain)
        return bool(abs(second @ first) < 1.0 - _ALIKE and abs(third @ second) > _ALIKE)

    def _named(self, chains: list[list[int]]) -> dict[str, list[int]]:
        """The chains by the names of their legs; none where two are in the same corner."""
        hips = {chain[1]: np.asarray(self.data.oMi[chain[1]].translation) for chain in chains}
        middle = np.mean(list(hips.values()), axis=0)
        corners = [tuple(np.where(hips[chain[1]][:2] > middle[:2], 1, -1).tolist()) for chain in chains]
        wanted = {(ahead, 1 if leg.endswith("l") else -1): leg for leg, ahead in zip(LEG_NAMES, _DIRECTIONS)}
        if set(corners) != set(wanted):
            places = ", ".join(f"{self.model.names[one]} at {np.round(at, 3).tolist()}" for one, at in hips.items())
            self.problems.append(
                f"hips are not in four corners: {places}; needed: one front and one hind leg on each side, the trunk's "
                "x forward and y to the left"
            )
            return {}
        legs = {wanted[corner]: chain for corner, chain in zip(corners, chains)}
        return {leg: legs[leg] for leg in LEG_NAMES}

    def _check_joints(self, leg: str, chain: list[int]) -> None:
        for name in (self.model.names[joint] for joint in chain):
            mimic = self.root.find(f"joint[@name='{name}']/mimic")
            if mimic is not None:
                self.problems.append(
                    f"leg {leg}: joint {name} mimics {mimic.get('joint')}; needed: a drive of its own for every joint"
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

    def _leg(self, leg: str, chain: list[int]) -> Leg | None:
        """A leg with its foot; None where none is found."""
        knee, joints = chain[-1], tuple(self.model.names[joint] for joint in chain)
        link = foot_link(self.model, self.outline, knee)
        if link is not None:
            return Leg(joints, link)
        place = foot_place(self._path, self.root, self.model, self.outline, knee)
        if place is not None:
            self.notes.append(f"leg {leg} has no link for its foot; it is at the end of the shank: {list(place)} m")
            return Leg(joints, f"{leg}_foot_in_place", place)
        carrier = self.outline.moved_links[self.model.names[knee]]
        self.problems.append(
            f"leg {leg}: no foot on link {carrier}, which {self.model.names[knee]} moves, and no shape that could be "
            'read; needed: a link at the foot\'s centre on a joint of type="fixed", with a collision sphere'
        )
        return None


_PLACEHOLDER = 10.0
"""A torque or speed this many times the estimate, or this small a part of it, was not measured on a motor."""

_MOST_ANGLE = 2.0 * np.pi
"""A limit beyond one turn is none [rad]."""


@dataclass(frozen=True)
class Scale:
    """The robot over the Mini Cheetah: leg length λ, mass μ."""

    length: float
    mass: float


@dataclass(frozen=True)
class Estimate:
    """Triples for a key of `joints` in the robot's file, and why the URDF's are not taken, or not all of them."""

    key: str
    values: tuple[float, ...]
    reason: str


def scale_of(found: FoundLegs) -> Scale:
    """Scale of the robot over the home robot. Its legs must have been found."""
    reference = home_robot()
    model = found.model
    leg = found.legs[LEG_NAMES[0]]
    knee = model.getJointId(leg.joints[-1])
    thigh = float(np.linalg.norm(model.jointPlacements[knee].translation))
    shank = float(np.linalg.norm(foot_sphere(model, found.outline, leg)[0]))
    total = sum(float(body.mass) for body in model.inertias)
    return Scale((thigh + shank) / leg_length(reference.tree), total / reference.mass)


def estimates(found: FoundLegs, scale: Scale) -> list[Estimate]:
    """Estimated properties that the URDF does not give, for the robot's file."""
    result = []
    reference = home_robot()
    drives = reference.tree.joints[len(BASE_JOINTS) : len(BASE_JOINTS) + len(LEG_JOINTS)]
    length, mass = scale.length, scale.mass
    armature = tuple(joint.armature * length**2 * mass for joint in drives)
    effort = tuple(joint.effort_limit * length * mass for joint in drives)
    velocity = tuple(joint.velocity_limit / np.sqrt(length) for joint in drives)
    written = {"effort": np.array(_of(found, "effortLimit")), "velocity": np.array(_of(found, "velocityLimit"))}
    extras = [joint_extras(found.path, found.root, name) for leg in found.legs.values() for name in leg.joints]
    if not any(one.armature for one in extras) and not is_mjcf(found.path):  # its body has none
        result.append(Estimate("armature", armature, "the file has no rotor inertia (an armature of <dynamics>)"))
    for key, guess in (("effort", effort), ("velocity", velocity)):
        columns = list(zip(LEG_JOINTS, written[key].T, guess, strict=True))
        reasons = {kind: _unfit(column, one) for kind, column, one in columns}
        unfit = [kind for kind, reason in reasons.items() if reason]
        if unfit:
            values = tuple(one if reasons[kind] else float(column.min()) for kind, column, one in columns)
            of = "" if len(unfit) == len(columns) else f" for {' and '.join(unfit)}"
            result.append(Estimate(key, values, reasons[unfit[0]] + of))
    lower, upper = np.array(_of(found, "lowerPositionLimit")), np.array(_of(found, "upperPositionLimit"))
    wide = np.maximum(np.abs(lower), np.abs(upper)) > _MOST_ANGLE
    if wide.any() or not (lower < upper).all():
        reason = "limits of angle beyond one turn" if wide.any() else "lower limits that are not below the upper ones"
        result.append(Estimate("lower", tuple(joint.lower for joint in drives), f"the file has {reason}"))
        result.append(Estimate("upper", tuple(joint.upper for joint in drives), f"the file has {reason}"))
    return result


def foot_radii(found: FoundLegs) -> list[float | None]:
    """Radius of each foot that has a round collision shape [m], None for others."""
    return [foot_sphere(found.model, found.outline, leg)[1] for leg in found.legs.values()]


def _unfit(written: Array, guess: float) -> str:
    """Why limits (4,) of the legs' joints cannot be taken; empty where they can."""
    if not (np.isfinite(written).all() and (written > 0.0).all()):
        return "the file has none (zero)"
    if (written > _PLACEHOLDER * guess).any():
        return f"the file's look like placeholders (up to {written.max():g})"
    if (written < guess / _PLACEHOLDER).any():
        return f"the file's look like placeholders (down to {written.min():g})"
    return ""


def _of(found: FoundLegs, attribute: str) -> list[list[float]]:
    """An array of pinocchio's model, (4, 3) by leg and joint."""
    model: pin.Model = found.model
    values = getattr(model, attribute)
    index = model.idx_qs if "Position" in attribute else model.idx_vs
    return [[float(values[index[model.getJointId(name)]]) for name in leg.joints] for leg in found.legs.values()]
