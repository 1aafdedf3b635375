"""A URDF looked through as the package would use it: what is understood, what stands in the way, what was estimated.

A robot's file to start from: what was found in the URDF, and estimates, marked, for what it lacks.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import yaml
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError, ParameterError
from contact_ddp_ros.robot.gaits.gait import load_gait
from contact_ddp_ros.robot.joints import JOINT_NAMES, LEG_JOINTS, LEG_NAMES
from contact_ddp_ros.robot.model import Robot, as_it_is, home_robot, of_profile
from contact_ddp_ros.robot.models.planar import reduce_to_plane
from contact_ddp_ros.robot.profile import RobotProfile, profile_of
from contact_ddp_ros.robot.symmetry import body_name, leg_length, symmetrised
from contact_ddp_ros.robot.urdf_check.legs import Estimate, FoundLegs, estimates, find_legs, foot_radii, scale_of

MARK = "CHECK"
"""Stands in the comment of every number that was not read but estimated."""


@dataclass(frozen=True)
class Additions:
    """Additions of the file beside the legs; None and "" for nothing.

    Attributes:
        estimates: of the joints.
        foot_radius: [m], where the URDF has no collision spheres of one radius.
        radius_reason: why it is given.
        asymmetry: share by which left and right may differ.
        gait: packaged gait, where the default one asks too much.
    """

    estimates: Sequence[Estimate] = ()
    foot_radius: float | None = None
    radius_reason: str = ""
    asymmetry: float | None = None
    gait: str = ""


def text_of(found: FoundLegs, additions: Additions, *, folder: Path, with_legs: bool = True) -> str:
    """The content of the file in `folder`, which names the URDF by its path from there where it lies below.

    `with_legs` is False for a URDF in the names and signs of this package, which says everything itself.
    """
    urdf, folder = found.path.resolve(), folder.resolve()
    shown = urdf.relative_to(folder) if urdf.is_relative_to(folder) else urdf
    lines = [f"# {found.model.name}. Lines marked {MARK} are estimates: replace them by the robot's numbers."]
    lines.append(f"urdf: {_quoted(str(shown))}")
    if with_legs:
        lines.append("legs:                             # abduction, hip and knee joint, then the foot's link")
        for name in LEG_NAMES:
            leg = found.legs[name]
            foot = _quoted(leg.foot) if leg.place is None else f"[{', '.join(map(_number, leg.place))}]"
            lines.append(f"  {name}: [{', '.join(map(_quoted, leg.joints))}, {foot}]")
    if found.xacro:
        lines.append("xacro: {" + ", ".join(f"{name}: '{value}'" for name, value in found.xacro.items()) + "}")
    if found.lock:
        held = ", ".join(f"{_quoted(name)}: {_number(angle)}" for name, angle in found.lock.items())
        lines.append(f"lock: {{{held}}}  # joints of no leg, and where they are held")
    if additions.estimates:
        lines.append("joints:                           # of abduction, hip and knee")
        for one in additions.estimates:
            numbers = ", ".join(_number(value) for value in one.values)
            lines.append(f"  {one.key}: [{numbers}]  # {MARK}: {one.reason}")
    if additions.foot_radius is not None:
        lines.append(f"foot_radius: {_number(additions.foot_radius)}  # {MARK}: [m], {additions.radius_reason}")
    if additions.asymmetry is not None:
        lines.append(f"asymmetry: {additions.asymmetry:g}  # by which left and right of the URDF differ, as a share")
    if additions.gait:
        lines += ["parameters:", "  planner:", f"    gait: {{name: {additions.gait}}}  # asks less of the knees"]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    """Four digits are plenty for an estimate; with a point, so that YAML 1.1 reads a number."""
    text = f"{value:.4g}"
    return (
        text if "." in text and "e" not in text else f"{value:.6f}".rstrip("0") + ("0" if value == int(value) else "")
    )


def _quoted(word: str) -> str:
    """A name that YAML might take for something else goes in quotes."""
    plain = word.replace("_", "a").replace("/", "a").replace(".", "a").replace("-", "a").isalnum()
    return word if plain and word[0].isalpha() and word.lower() not in _WORDS else "'" + word.replace("'", "''") + "'"


_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


Array = NDArray[np.float64]

_NO_DIFFERENCE = 1e-9
"""Shares below are rounding."""

_STRONG_ENOUGH = 0.95
"""Share of a knee's torque that the mean force of a stance may need."""

_DENSITY = (3.0, 3000.0)
"""Mass over the cube of a leg's length of quadrupeds, from toys to the largest, with room [kg/m^3]."""

_GYRATION = 1.0
"""Largest radius of gyration of a body, over the length of a leg or the diagonal of the trunk."""

USUAL_GAIT, LONG_STANCE = "bound", "bound_long_stance"


@dataclass(frozen=True)
class Inspection:
    """The result.

    Attributes:
        found: the legs, and the problems met in finding them.
        robot: as a run would have it; None where it cannot be loaded.
        problems: what keeps the robot from bounding in the plane, each with what is needed.
        notes: what was estimated or deserves a look.
        additions: what the robot's file says beside its legs.
        canonical: whether the URDF has the names and signs of this package.
    """

    found: FoundLegs
    robot: Robot | None
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    additions: Additions
    canonical: bool = False

    @property
    def fits(self) -> bool:
        """True if `--robot` takes the starting file."""
        return self.robot is not None and not self.problems

    def starting_file(self, folder: Path) -> str:
        """Text of a robot's file in `folder`. Raises ModelError where the four legs were not found."""
        if not self.found.legs:
            raise ModelError(f"{self.found.path}: the legs were not found, so there is no robot's file to start from")
        return text_of(self.found, self.additions, folder=folder, with_legs=not self.canonical)


def inspect(path: Path, xacro: Mapping[str, str] = MappingProxyType({})) -> Inspection:
    """Look through a URDF, or a xacro file with these arguments.

    Raises:
        ModelError: the file cannot be read, is no URDF, or has a mass, an axis or a number that cannot be.
    """
    found = find_legs(path, xacro)
    if not found.legs or found.problems:
        return Inspection(found, None, found.problems, found.notes, Additions())
    own = as_it_is(found.path)
    canonical = own is not None
    additions = Additions() if canonical else _additions(found)
    notes = list(found.notes)
    notes += [f"joints.{one.key} is estimated from the robot's size: {one.reason}" for one in additions.estimates]
    if additions.foot_radius is not None:
        notes.append(f"foot_radius is {_number(additions.foot_radius)} m: {additions.radius_reason}")
    try:
        robot = own or _loaded(found, additions)
        additions, more = _asymmetry(robot, additions)
        notes += more
        robot = own or _loaded(found, additions)
        reduce_to_plane(robot)
    except (ModelError, ParameterError) as error:
        return Inspection(found, None, (_plain(error, found.path),), tuple(notes), additions, canonical)
    problems = implausible(robot) or _posture_problems(robot)
    if knee_share(robot) > _STRONG_ENOUGH and not canonical:
        additions = replace(additions, gait=LONG_STANCE)
        notes.append(
            f"the mean force of a stance in the default bound takes {100.0 * knee_share(robot):.0f} % of the knees' "
            f"torque: the file names the gait {LONG_STANCE}"
        )
        robot = _loaded(found, additions)
    return Inspection(found, robot, tuple(problems), tuple(notes), additions, canonical)


def knee_share(robot: Robot) -> float:
    """Torque at a knee under the mean force of a stance of the default bound, over its limit, in the standing pose."""
    thigh = abs(float(robot.tree.joints[8].translation[2]))
    arm = thigh * abs(math.sin(float(robot.standing[1])))
    stances = load_gait(USUAL_GAIT).stances.values()
    share_of_weight = 1.0 / sum(stance.lift_off - stance.touchdown for stance in stances)
    gravity = float(np.linalg.norm(robot.tree.gravity))
    return share_of_weight * robot.mass * gravity * arm / float(robot.effort_limits[2])


def _additions(found: FoundLegs) -> Additions:
    scale = scale_of(found)
    radii = foot_radii(found)
    known = [one for one in radii if one is not None]
    if len(known) < len(radii):
        radius, reason = home_robot().foot_radius * scale.length, "by size: a foot has no collision sphere"
        return Additions(estimates(found, scale), radius, reason)
    if max(known) > min(known):
        reason = f"the mean of the feet's radii, {min(known):g} to {max(known):g} m"
        return Additions(estimates(found, scale), float(np.mean(known)), reason)
    return Additions(estimates(found, scale))


def _loaded(found: FoundLegs, additions: Additions) -> Robot:
    """The robot as `--robot` reads it from the starting file."""
    text = text_of(found, additions, folder=found.path.parent)
    return of_profile(profile_of(found.path, yaml.safe_load(text)))


def _asymmetry(robot: Robot, additions: Additions) -> tuple[Additions, list[str]]:
    """Difference of left and right, rounded up to two digits, and what is to be said of it."""
    _, largest = symmetrised(robot.tree, math.inf)
    if largest.share <= _NO_DIFFERENCE:
        return additions, []
    unit = 10.0 ** (math.floor(math.log10(largest.share)) - 1)
    rounded = min(math.ceil(largest.share / unit) * unit, 1.0)
    note = f"left and right differ, and are averaged for the planar model: {largest}"
    return replace(additions, asymmetry=rounded), [note]


def implausible(robot: Robot) -> list[str]:
    """Masses and sizes that no quadruped has, as where they are in grams or millimetres; each with what is usual."""
    length, joints = leg_length(robot.tree), robot.tree.joints[-robot.n_joints - 1 :]
    density = robot.mass / length**3
    low, high = _DENSITY
    problems = []
    if not low < density < high:
        problems.append(
            f"a robot of {robot.mass:.4g} kg with legs of {length:.4g} m is no quadruped: mass over the cube of a leg "
            f"is {density:.3g} kg/m^3; needed: {low:g} to {high:g}, masses in kg and lengths in m"
        )
        return problems
    diagonal = float(np.linalg.norm(joints[1].translation - joints[-len(LEG_JOINTS)].translation))
    for joint, size in zip(joints, (diagonal, *[length] * robot.n_joints), strict=True):
        gyration = math.sqrt(float(np.linalg.eigvalsh(joint.inertia)[-1]) / joint.mass)
        if not gyration < _GYRATION * size:
            moment = gyration**2 * joint.mass
            problems.append(
                f"{body_name(joint.name)} has a mass of {joint.mass:.3g} kg and a moment of inertia {moment:.3g} "
                f"kg m^2: its radius of gyration, {gyration:.3g} m, is a larger robot's; needed: inertias in kg m^2"
            )
    return problems


def _posture_problems(robot: Robot) -> list[str]:
    """Limits that exclude standing."""
    profile: RobotProfile | None = robot.profile
    problems = []
    for index, name in enumerate(JOINT_NAMES):
        angle, lower, upper = robot.standing[index], robot.lower[index], robot.upper[index]
        if not lower <= angle <= upper:
            leg, kind = LEG_NAMES[index // 3], LEG_JOINTS[index % 3]
            own = name if profile is None or not profile.legs else profile.legs[leg].joints[index % 3]
            problems.append(
                f"leg {leg}: {own}, its {kind}, does not reach the standing pose: {angle:.2f} rad, limits {lower:.2f} "
                f"to {upper:.2f} from the straight leg; needed: other limits"
            )
    return problems


def triples(values: Sequence[float] | Array) -> list[str]:
    """Text of an array (12,): the three numbers of a leg, or a range where legs differ."""
    by_leg = np.asarray(values).reshape(len(LEG_NAMES), len(LEG_JOINTS))
    low, high = by_leg.min(axis=0), by_leg.max(axis=0)
    return [f"{a:.4g}" if a == b else f"{a:.4g} to {b:.4g}" for a, b in zip(low, high)]


def _plain(error: Exception, path: Path) -> str:
    """The text of an error without the places of temporary files."""
    text = str(error)
    for word in text.split():
        if "robot.yaml" in word:
            text = text.replace(word, "the robot's file" + (word[-1] if word[-1] in ":;" else ""))
    return text.removeprefix("the robot's file: ").removeprefix(f"{path.resolve()}: ").removeprefix(f"{path}: ")
