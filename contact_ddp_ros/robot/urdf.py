"""The robot description as pinocchio reads it, and the attributes beside it that pinocchio does not read.

pinocchio builds the kinematic tree with its inertias and limits. The reflected rotor inertia (`armature`, an attribute
of `<dynamics>` that other readers skip) and the radius of the foot spheres come straight from the XML.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.base.files import share_places
from contact_ddp_ros.robot.joints import FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.tree import Joint

Array = NDArray[np.float64]

URDF_NAME = "mini_cheetah.urdf"

_INERTIA_TOLERANCE = 1e-9
"""Relative slack of the triangle inequality: written numbers are rounded."""

_UNIT_TOLERANCE = 1e-3
"""Tolerance of a written axis's length about one."""

_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
"""Types of a URDF's joints."""

_NUMBERS = {"limit": ("lower", "upper", "effort", "velocity"), "dynamics": ("damping", "friction")}
"""Attributes of a joint's elements that are numbers."""

REVOLUTE = ("JointModelRX", "JointModelRY", "JointModelRZ", "JointModelRevoluteUnaligned")
"""Pinocchio's joints with one angle and limits."""


@dataclass(frozen=True)
class JointExtras:
    """Joint dynamics that pinocchio leaves out: armature [kg m^2], damping [N m s/rad], dry friction [N m], gear ratio.

    The gear ratio is the motor's turns over the joint's, 0 where it is not given.
    """

    armature: float
    damping: float
    dry_friction: float
    gear: float


@dataclass(frozen=True)
class RobotDescription:
    """A checked robot description.

    Attributes:
        path: of the URDF file.
        text: of the URDF, with the names and signs of :mod:`contact_ddp_ros.robot.joints`.
        model: pinocchio's fixed-base model of it; the root link's inertia is in `inertias[0]`.
        extras: per joint name of JOINT_NAMES.
        foot_radius: [m], of all feet.
    """

    path: Path
    text: str
    model: pin.Model
    extras: dict[str, JointExtras]
    foot_radius: float


def default_urdf() -> Path:
    """Path of the home robot's description: in the source checkout, else in the installed package's share folder.

    Raises:
        ModelError: it is in none of the places looked at, which the text lists.
    """
    places = share_places(f"urdf/{URDF_NAME}")
    for place in places:
        if place.is_file():
            return place
    listed = ", ".join(str(place) for place in places)
    raise ModelError(f"the robot description {URDF_NAME} is in none of: {listed}; install the package or name a file")


def read_description(path: Path) -> RobotDescription:
    """Read and check a URDF file.

    Raises:
        ModelError: the file cannot be read, is not a URDF, lacks a joint or a foot, or has a body that cannot exist.
    """
    return description_of(path, read_text(path))


def description_of(path: Path, text: str) -> RobotDescription:
    """Check the text of a URDF; `path` is where it comes from.

    Raises:
        ModelError: as :func:`read_description`.
    """
    root, model = parse(path, text)
    _check_joints(path, model)
    _check_inertias(path, model)
    extras = {name: joint_extras(path, root, name) for name in JOINT_NAMES}
    return RobotDescription(path, text, model, extras, _foot_radius(path, root))


def has_own_names(path: Path) -> bool:
    """True if the joints that move in a URDF have the names of this package. Raises ModelError where it has no text."""
    if path.suffix == ".xacro":
        return False
    text = read_text(path)
    return all(f'name="{name}"' in text for name in JOINT_NAMES)


def read_text(path: Path) -> str:
    """The text of a URDF file, in any encoding that its first line names. Raises ModelError where it cannot be read."""
    try:
        content = path.read_bytes()
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return ElementTree.tostring(ElementTree.fromstring(content), encoding="unicode")
    except (OSError, LookupError, ValueError, ElementTree.ParseError) as error:
        raise ModelError(f"cannot read the robot description {path}: {error}; name a readable URDF file") from error


def parse(path: Path, text: str) -> tuple[ElementTree.Element, pin.Model]:
    """The XML of a URDF and pinocchio's fixed-base model of it.

    Raises:
        ModelError: it is no URDF, a link has a negative mass, or the axis of a joint no unit length.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ModelError(f"{path} is not well-formed XML: {error}; mend the file") from error
    if root.tag != "robot":
        raise ModelError(f"{path} has the root element <{root.tag}>; a URDF has <robot>")
    _check_written(path, root)
    try:
        return root, pin.buildModelFromXML(text)
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"pinocchio cannot build a model from {path}: {error}") from error


def joint_of(model: pin.Model, joint_id: int, parent: int, extras: JointExtras) -> Joint:
    """One of pinocchio's joints with the body it moves; `parent` is the index of its parent body in the tree.

    Raises:
        ModelError: the joint is neither revolute nor prismatic.
    """
    name, index = model.names[joint_id], model.idx_vs[joint_id]
    kind, axis = _motion(name, model.joints[joint_id])
    bounded = model.nqs[joint_id] == 1  # a continuous joint has a cosine and a sine, and no limits
    position = model.idx_qs[joint_id]
    placement, body = model.jointPlacements[joint_id], model.inertias[joint_id]
    return Joint(
        name=name,
        kind=kind,
        axis=axis,
        parent=parent,
        rotation=placement.rotation.copy(),
        translation=placement.translation.copy(),
        mass=float(body.mass),
        com=body.lever.copy(),
        inertia=body.inertia.copy(),
        armature=extras.armature,
        damping=extras.damping,
        dry_friction=extras.dry_friction,
        lower=float(model.lowerPositionLimit[position]) if bounded else -np.inf,
        upper=float(model.upperPositionLimit[position]) if bounded else np.inf,
        velocity_limit=float(model.velocityLimit[index]),
        effort_limit=float(model.effortLimit[index]),
    )


def _motion(name: str, joint: pin.JointModel) -> tuple[Literal["revolute", "prismatic"], Array]:
    """Kind and axis of a joint from its motion subspace, whichever of pinocchio's types it has."""
    if joint.nv != 1:
        raise ModelError(f"joint {name!r} has {joint.nv} degrees of freedom; only revolute and prismatic are modelled")
    data = joint.createData()
    joint.calc(data, np.zeros(joint.nq) if joint.nq == 1 else np.array([1.0, 0.0]))
    subspace = np.asarray(data.S).reshape(6)
    linear, angular = subspace[:3], subspace[3:]
    if np.any(linear) and np.any(angular):
        raise ModelError(f"joint {name!r} is a screw; only revolute and prismatic joints are modelled")
    return ("revolute", angular.copy()) if np.any(angular) else ("prismatic", linear.copy())


def _check_written(path: Path, root: ElementTree.Element) -> None:
    """Check of what pinocchio would hide or not name: it adds up fixed links and normalises every axis."""
    _check_tree(path, root)
    for link in root.findall("link"):
        mass = link.find("inertial/mass")
        if mass is not None and number(path, f"the mass of link {link.get('name')}", mass.get("value", "")) < 0.0:
            raise ModelError(
                f"{path}: link {link.get('name')} has a mass of {mass.get('value')} kg; it must not be negative"
            )
    for joint in root.findall("joint"):
        axis = joint.find("axis")
        if axis is None or joint.get("type") == "fixed":
            continue
        words = axis.get("xyz", "").split()
        length = math.hypot(*(number(path, f"the axis of {joint.get('name')}", word) for word in words))
        if len(words) != 3 or abs(length - 1.0) > _UNIT_TOLERANCE:
            raise ModelError(f"{path}: joint {joint.get('name')} has the axis {words}; it must have length 1")


def _check_tree(path: Path, root: ElementTree.Element) -> None:
    """Names, numbers and links of the joints, each told by name."""
    links = [link.get("name", "") for link in root.findall("link")]
    children = [_link_of(joint, "child") for joint in root.findall("joint")]
    for joint in root.findall("joint"):
        name, kind = joint.get("name", ""), joint.get("type", "")
        if kind not in _TYPES:
            raise ModelError(f"{path}: joint {name} is of type {kind!r}; allowed: {', '.join(_TYPES)}")
        for end in ("parent", "child"):
            if _link_of(joint, end) not in links:
                raise ModelError(f"{path}: joint {name} has the {end} {_link_of(joint, end)!r}, which is no link there")
        for part, keys in _NUMBERS.items():
            element = joint.find(part)
            for key in keys if element is not None else ():
                number(path, f"{key} of joint {name}", element.get(key, "0"))  # type: ignore[union-attr]
    twice = sorted({name for name in links if links.count(name) > 1 or children.count(name) > 1})
    tops = [name for name in links if name not in children]
    if twice or (links and len(tops) != 1):
        found = f"links {twice} more than once, or on two joints" if twice else f"the root links {tops}"
        raise ModelError(f"{path} has {found}; every link but one hangs on one joint")
    for owner in (*root.findall("link"), *root.findall("joint")):
        for origin in owner.iter("origin"):
            for key in ("xyz", "rpy"):
                words = origin.get(key, "0 0 0").split()
                numbers = [number(path, f"{key} of an origin of {owner.get('name')}", word) for word in words]
                if len(numbers) != 3:
                    raise ModelError(f"{path}: {key} of an origin of {owner.get('name')} is {words}; needed: 3 numbers")


def _link_of(joint: ElementTree.Element, end: str) -> str:
    element = joint.find(end)
    return "" if element is None else element.get("link", "")


def _check_joints(path: Path, model: pin.Model) -> None:
    """The twelve joints by name, nothing else that moves, and the four feet."""
    found = set(list(model.names)[1:])
    missing = [name for name in JOINT_NAMES if name not in found]
    surplus = sorted(found - set(JOINT_NAMES))
    if missing or surplus:
        raise ModelError(
            f"{path}: joints missing {missing}, joints not known {surplus}; it must have exactly {list(JOINT_NAMES)}"
        )
    kinds = {name: model.joints[model.getJointId(name)].shortname() for name in JOINT_NAMES}
    unfit = {name: kind for name, kind in kinds.items() if kind not in REVOLUTE}
    if unfit:
        raise ModelError(f"{path}: joints of another kind: {unfit}; every joint must be revolute with limits")
    feet = [name for name in FOOT_NAMES if not model.existFrame(name)]
    if feet:
        raise ModelError(f"{path}: foot links missing: {feet}; each leg ends in one of {list(FOOT_NAMES)}")
    limits = np.concatenate(
        [model.lowerPositionLimit, model.upperPositionLimit, model.velocityLimit, model.effortLimit]
    )
    ordered = (model.lowerPositionLimit < model.upperPositionLimit).all()
    positive = (model.velocityLimit > 0.0).all() and (model.effortLimit > 0.0).all()
    if not (np.isfinite(limits).all() and ordered and positive):
        raise ModelError(f"{path}: joint limits must be finite, lower < upper, velocity and effort positive")


def _check_inertias(path: Path, model: pin.Model) -> None:
    """Every body must be one that a mass distribution can have (Wensing et al. 2018, the triangle inequality)."""
    for name, body in zip(model.names, model.inertias, strict=True):
        body_name = "the root link" if name == "universe" else f"the body moved by {name}"
        if not (math.isfinite(body.mass) and body.mass > 0.0):
            raise ModelError(f"{path}: {body_name} has a mass of {body.mass} kg; it must be positive")
        if not (np.isfinite(body.inertia).all() and np.isfinite(body.lever).all()):
            raise ModelError(f"{path}: {body_name} has an inertia or centre of mass that is not finite")
        moments = np.linalg.eigvalsh(body.inertia)
        slack = _INERTIA_TOLERANCE * moments[-1]
        if not (moments[0] > 0.0 and moments[0] + moments[1] >= moments[-1] - slack):
            raise ModelError(
                f"{path}: {body_name} has principal moments of inertia {moments} kg m^2; a body has positive ones, "
                "none larger than the sum of the other two"
            )


def joint_extras(path: Path, root: ElementTree.Element, name: str) -> JointExtras:
    """Attributes of a joint's <dynamics>, zero where they are not given; ModelError where they are no such numbers."""
    element = root.find(f"joint[@name='{name}']/dynamics")
    attributes = {} if element is None else element.attrib
    values = []
    for key in ("armature", "damping", "friction", "gear"):
        value = number(path, f"{name} {key}", attributes.get(key, "0"))
        if value < 0.0:
            raise ModelError(f"{path}: {name} {key} is {value}; it must not be negative")
        values.append(value)
    return JointExtras(*values)


def _foot_radius(path: Path, root: ElementTree.Element) -> float:
    """Radius of the collision spheres of the feet, which must be equal."""
    radii = []
    for name in FOOT_NAMES:
        sphere = root.find(f"link[@name='{name}']/collision/geometry/sphere")
        if sphere is None:
            raise ModelError(
                f"{path}: link {name} has no collision sphere; a foot is a sphere around its link's origin"
            )
        radii.append(number(path, f"{name} radius", sphere.get("radius", "")))
    if not (radii[0] > 0.0 and all(radius == radii[0] for radius in radii)):
        raise ModelError(f"{path}: foot radii {radii}; all feet must have the same positive radius")
    return radii[0]


def number(path: Path, what: str, text: str) -> float:
    """A number of a file. Raises ModelError, naming `what` it is, where it is none or not finite."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ModelError(f"{path}: {what} is {text!r}; it must be a finite number")
    return value
