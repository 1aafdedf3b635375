"""A robot as a YAML file: where its URDF is, which of its joints are which, and what a URDF does not say.

    package: example-robot-data       # on PyPI; without it `urdf` is a path from the file's folder
    urdf: go1_description/urdf/go1.urdf
    legs:                             # abduction, hip and knee joint, and the foot's link, as the URDF calls them
      fr: [FR_hip_joint, FR_thigh_joint, FR_calf_joint, FR_foot]
      ...
    joints:                           # of abduction, hip and knee, with the signs of this package; else the URDF's
      armature: [0.0045, 0.0045, 0.0101]
    lock: [arm_joint]
    knees: {hr: forward, hl: forward}
    asymmetry: 0.005
    parameters:
      planner: {reference: {clearance: 0.06}}

docs/robots.md describes every key.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import yaml

from contact_ddp_ros.base.choices import ROBOT_SUFFIXES
from contact_ddp_ros.base.config import dotted
from contact_ddp_ros.base.errors import ModelError, ParameterError, did_you_mean, no_such
from contact_ddp_ros.base.files import packaged
from contact_ddp_ros.robot.joints import LEG_JOINTS, LEG_NAMES

FOLDER = "config/robots"
"""Folder of the packaged robots."""

JOINT_KEYS: Final = ("armature", "damping", "dry_friction", "gear", "effort", "velocity", "lower", "upper")
"""Properties that a file may give for the joints of a leg, as triples."""

PARAMETER_SECTIONS: Final = ("planner", "controller", "simulator")
"""Nodes whose parameters a robot's file may set."""

_OF_THE_RUN = ("friction", "trunk_mass_scale", "seed")
"""Parameters of the simulator that are options of a run, whatever the robot."""

_KEYS = (
    "package",
    "urdf",
    "xacro",
    "legs",
    "lock",
    "knees",
    "joints",
    "foot_radius",
    "standing_height",
    "asymmetry",
    "parameters",
)


KNEES: Final = ("backward", "forward")
"""Ways in which a knee may bend."""


@dataclass(frozen=True)
class Leg:
    """Names in the URDF of a leg's joints, from the trunk down, and of its foot's link.

    Attributes:
        place: of the foot's centre in the shank's link [m], where the URDF has no link for the foot.
    """

    joints: tuple[str, ...]
    foot: str
    place: tuple[float, ...] | None = None


@dataclass(frozen=True)
class RobotProfile:
    """Content of a robot's file.

    Attributes:
        name: of the robot.
        path: of the file.
        urdf: the robot description.
        legs: by name of the leg; empty where the URDF has the names and signs of this package.
        xacro: arguments of a xacro file, by name.
        lock: angle [rad] or length [m] at which joints of no leg stay, by name.
        knees: by leg, one of KNEES, where limits do not tell.
        joints: of JOINT_KEYS those given: of abduction, hip and knee of every leg.
        foot_radius: [m]; None for that of the URDF's collision spheres.
        standing_height: of the trunk's origin [m]; None for legs as bent as the Mini Cheetah's.
        asymmetry: how far left and right may differ, as a share; see :mod:`contact_ddp_ros.robot.symmetry`.
        parameters: by section and dotted name, on top of the defaults for a robot of its size.
    """

    name: str
    path: Path
    urdf: Path
    legs: Mapping[str, Leg] = field(default_factory=dict)
    xacro: Mapping[str, str] = field(default_factory=dict)
    lock: Mapping[str, float] = field(default_factory=dict)
    knees: Mapping[str, str] = field(default_factory=dict)
    joints: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    foot_radius: float | None = None
    standing_height: float | None = None
    asymmetry: float = 0.0
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def load_profile(name: str | Path) -> RobotProfile:
    """The packaged robot of that name, or that of a YAML file, whose name ends with .yaml.

    Raises:
        ParameterError: there is no such robot, or its file says what it may not; the text names what is allowed.
        ModelError: the PyPI package with its URDF is not installed, or lacks the file.
    """
    path = Path(name)
    if path.suffix not in ROBOT_SUFFIXES:
        packaged = packaged_robots()
        if str(name) not in packaged:
            raise ParameterError(no_such("robot", str(name), packaged))
        path = packaged[str(name)]
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ParameterError(f"robot file {path} cannot be read: {' '.join(str(error).split())}") from error
    return profile_of(path, content)


def packaged_robots() -> dict[str, Path]:
    """Files of the robots that come with the package, by name."""
    return packaged(FOLDER)


def profile_of(path: Path, content: Any) -> RobotProfile:
    """Profile of a robot from the content of its file, which is at `path`; raises as :func:`load_profile`."""
    try:
        return _profile(path, content)
    except ParameterError as error:
        raise ParameterError(f"robot file {path}: {error}") from error


def _profile(path: Path, content: Any) -> RobotProfile:
    given = _mapping("the file", content, _KEYS)
    for key in ("package", "urdf"):
        if not isinstance(given.get(key, ""), str):
            raise ParameterError(f"{key} is {given[key]!r}; allowed: a name")
    if not given.get("urdf"):
        raise ParameterError("urdf is missing; needed: the path of the robot description")
    lock, legs = _lock(given.get("lock", [])), _legs(given.get("legs", {}))
    _check_lock(lock, legs)
    sections = _mapping("parameters", given.get("parameters", {}), PARAMETER_SECTIONS)
    for section, values in sections.items():
        if not isinstance(values, dict):
            raise ParameterError(f"parameters.{section} is {values!r}; allowed: a mapping of parameters")
    chosen = sorted(set(sections.get("simulator", {})) & set(_OF_THE_RUN))
    if chosen:
        raise ParameterError(f"parameters.simulator has {', '.join(chosen)}, which every run chooses; leave it out")
    return RobotProfile(
        name=path.stem,
        path=path,
        urdf=_urdf(path, given.get("package"), given["urdf"]),
        legs=legs,
        xacro=_xacro(given),
        lock=lock,
        knees=_knees(given),
        joints={key: _triple(key, value) for key, value in _joints(given).items()},
        foot_radius=_positive(given, "foot_radius", 1.0),
        standing_height=_positive(given, "standing_height", 3.0),
        asymmetry=_positive(given, "asymmetry", 1.0) or 0.0,
        parameters={section: dotted(values) for section, values in sections.items()},
    )


def _xacro(given: Mapping[str, Any]) -> dict[str, str]:
    arguments: Any = given.get("xacro", {})
    if not (isinstance(arguments, dict) and all(isinstance(one, str | int | float) for one in arguments.values())):
        raise ParameterError(f"xacro is {arguments!r}; allowed: a mapping of arguments' names to values")
    return {
        str(name): str(value).lower() if isinstance(value, bool) else str(value) for name, value in arguments.items()
    }


def _lock(given: Any) -> dict[str, float]:
    if isinstance(given, list) and all(isinstance(one, str) for one in given):
        return dict.fromkeys(given, 0.0)
    if not (isinstance(given, dict) and all(isinstance(name, str) and _is_number(given[name]) for name in given)):
        raise ParameterError(f"lock is {given!r}; allowed: a list of joints' names, or a mapping of them to angles")
    return {name: float(angle) for name, angle in given.items()}


def _check_lock(lock: Mapping[str, float], legs: Mapping[str, Leg]) -> None:
    """Check that locked joints are of no leg, and that the file names the legs."""
    of_legs = sorted(set(lock) & {joint for leg in legs.values() for joint in leg.joints})
    if of_legs:
        raise ParameterError(f"lock has {', '.join(of_legs)}, of legs; allowed: joints of no leg")
    if lock and not legs:
        raise ParameterError("lock needs legs; without legs the URDF has no other joint that moves")


def _knees(given: Mapping[str, Any]) -> dict[str, str]:
    knees = _mapping("knees", given.get("knees", {}), LEG_NAMES)
    for leg, way in knees.items():
        if way not in KNEES:
            raise ParameterError(f"knees.{leg} is {way!r}; allowed: {' or '.join(KNEES)}")
    if knees and not given.get("legs"):
        raise ParameterError("knees needs legs; without legs the URDF has this package's signs")
    return knees


def _joints(given: Mapping[str, Any]) -> dict[str, Any]:
    joints = _mapping("joints", given.get("joints", {}), JOINT_KEYS)
    if not given.get("legs") and (joints or "foot_radius" in given):
        raise ParameterError("joints and foot_radius need legs; without legs the URDF says everything about its joints")
    return joints


def _urdf(path: Path, package: str | None, urdf: str) -> Path:
    """Path of the URDF: beside the robot's file, or among the descriptions of an installed PyPI package."""
    if package is None:
        return (path.parent / urdf).resolve()
    remedy = f"install it with `pip install {package}` (./run does so where --robot is given)"
    try:
        files = metadata.distribution(package).files
    except metadata.PackageNotFoundError:
        raise ModelError(
            f"robot file {path}: the PyPI package {package}, which has {urdf}, is not installed; {remedy}"
        ) from None
    found = [file for file in files or () if f"/{file.as_posix()}".endswith(f"/{urdf}")]
    if len(found) != 1:
        raise ModelError(
            f"robot file {path}: {len(found)} files of the PyPI package {package} end with {urdf}; needed: one"
        )
    return Path(str(found[0].locate()))


def _legs(given: Any) -> dict[str, Leg]:
    if given == {}:
        return {}
    legs = _mapping("legs", given, LEG_NAMES)
    if set(legs) != set(LEG_NAMES):
        raise ParameterError(f"legs has {', '.join(legs)}; needed: {', '.join(LEG_NAMES)}")
    found = {leg: _leg(leg, legs[leg]) for leg in LEG_NAMES}
    names = [name for leg in found.values() for name in (*leg.joints, leg.foot)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ParameterError(f"legs names {', '.join(twice)} more than once; needed: different joints and feet")
    return found


def _leg(leg: str, given: Any) -> Leg:
    size = len(LEG_JOINTS) + 1
    if isinstance(given, list) and len(given) == size and all(isinstance(one, str) for one in given[:-1]):
        joints, foot = tuple(given[:-1]), given[-1]
        if isinstance(foot, str):
            return Leg(joints, foot)
        if isinstance(foot, list) and len(foot) == 3 and all(map(_is_number, foot)):
            return Leg(joints, f"{leg}_foot_in_place", tuple(map(float, foot)))
    raise ParameterError(
        f"legs.{leg} is {given!r}; needed: names of the joints {', '.join(LEG_JOINTS)}, and the foot's link or its "
        "place [x, y, z] in the shank's link"
    )


def _mapping(what: str, content: Any, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ParameterError(f"{what} holds {type(content).__name__}; allowed: a mapping of {', '.join(known)}")
    unknown = [str(key) for key in content if key not in known]
    if unknown:
        raise ParameterError(f"{what} has the unknown key {unknown[0]}; {did_you_mean(unknown[0], known)}")
    return content


def _triple(key: str, value: Any) -> tuple[float, ...]:
    fine = isinstance(value, list) and len(value) == len(LEG_JOINTS) and all(_is_number(one) for one in value)
    signed = key in ("lower", "upper")
    if not fine or not (signed or min(value) >= 0.0):
        sign = "" if signed else " that are not negative"
        raise ParameterError(f"joints.{key} is {value!r}; allowed: numbers of {', '.join(LEG_JOINTS)}{sign}")
    return tuple(map(float, value))


def _positive(given: Mapping[str, Any], key: str, most: float) -> float | None:
    if key not in given:
        return None
    value: Any = given[key]
    if not _is_number(value) or not 0.0 < value <= most:
        raise ParameterError(f"{key} is {value!r}; allowed: a positive number up to {most:g}")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
