"""Left and right legs that are nearly mirror images, averaged for a model that moves them alike.

Published descriptions differ between left and right by what the drawing programs give: a trunk whose centre of mass
lies 2 mm beside the plane, a shank that was not mirrored. The mirror image of a body with mass m, centre of mass c and
inertia I is (m, M c, M I M) with M = diag(1, -1, 1); the average of a body and the mirror image of its counterpart is
symmetric. The difference is measured as a share: of lengths against the length of a leg, of masses, inertias, rotor
inertias, frictions and torques against the larger of both, of angles against one radian.

Check of the joints' zeros in a pose that a person sees: belly down, knees bent to their stops, shanks flat.

An encoder on the motor's side of the gear knows its joint up to whole turns of the motor. A joint that was switched on
in a wrong sector is read wrong by multiples of 2π / gear, and so are the feet and the pose that the robot computes from
it: nothing that the robot tells of itself shows it. In a pose that is known from outside it is seen, as long as the
joints are nearer to that pose than half a sector.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.joints import JOINT_NAMES, LEG_JOINTS, LEG_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import RobotState
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
    where = name.removesuffix("_joint").replace("base_roll", "trunk")
    text = f"{factor * away:.3g} {unit}".strip()
    return Difference(f"{_TEXTS.get(key, key.replace('_', ' '))} of {where}", share, text)


_TOLERANCE: Final = 0.4
"""Tolerance of a joint about the known pose, over its sector: less than half, with room for a person's hands."""
_LIKENESS: Final = 0.2
"""Tolerance of an explanation about the known pose, over the sector."""
_REST_SPEED: Final = 0.2
"""A joint that is slower rests [rad/s]."""
_REST_TIME: Final = 0.5
"""Time for which all joints must rest in the known pose [s]."""
_FORGET: Final = 10.0
"""Time without a state after which the drives may have been off meanwhile [s]."""


def pose_errors(robot: Robot, joint_positions: Array) -> list[str]:
    """Description of each joint that does not agree with the known pose, at joint positions (12,) [rad].

    It names a zero error, where whole turns of the motor explain the difference, or a sign error, where the mirrored
    angle agrees. Joints without a gear ratio are left out.
    """
    sectors = _sectors(robot)
    away = np.abs(joint_positions - robot.folded)
    return [
        _description(JOINT_NAMES[j], float(joint_positions[j]), float(robot.folded[j]), float(sectors[j]))
        for j in np.flatnonzero(away > _TOLERANCE * sectors)
    ]


def pose_report(robot: Robot, joint_positions: Array) -> str:
    """Comparison of the joints (12,) [rad] with the known pose, in one line for people."""
    if not robot.gears.all():
        return "not compared: no gear ratios are known"
    errors = pose_errors(robot, joint_positions)
    return "; ".join(errors) if errors else "agrees with belly down, knees bent to their stops, shanks flat"


class KnownPose:
    """Check that the joints have been seen in the known pose since the drives were switched on."""

    def __init__(self, robot: Robot) -> None:
        """Start without a state."""
        self.seen = False
        """Result of the check: all joints have rested in the known pose."""
        self._robot = robot
        self._tolerances = _TOLERANCE * _sectors(robot)
        self._state: RobotState | None = None
        self._since: float | None = None

    def watch(self, state: RobotState, *, limp: bool) -> None:
        """Process a state; `limp` where nothing but damping moves the joints, so that the pose is a person's."""
        if self._state is not None and state.time - self._state.time > _FORGET:
            self.seen, self._since = False, None
        self._state = state
        if self.seen:
            return
        there = np.abs(state.joint_positions - self._robot.folded) <= self._tolerances
        if not (limp and there.all() and np.abs(state.joint_velocities).max() < _REST_SPEED):
            self._since = None
            return
        self._since = state.time if self._since is None else min(self._since, state.time)
        self.seen = state.time - self._since >= _REST_TIME

    @property
    def obstacle(self) -> str:
        """Why the zeros are not known to be right, and what to do; empty where they are."""
        if self.seen:
            return ""
        errors = [] if self._state is None else pose_errors(self._robot, self._state.joint_positions)
        text = "; ".join(errors) or f"not at rest for {_REST_TIME} s yet"
        return f"lay it on its belly, knees bent to their stops, shanks flat, to check the joints' zeros: {text}"


def _sectors(robot: Robot) -> Array:
    """(12,) angle of a joint for one turn of its motor [rad]; infinite where the gear ratio is not known."""
    return np.divide(2.0 * math.pi, robot.gears, out=np.full(robot.n_joints, np.inf), where=robot.gears > 0.0)


def _description(name: str, measured: float, known: float, sector: float) -> str:
    turns = round((measured - known) / sector)
    zero, sign = abs(measured - known - turns * sector), abs(measured + known)
    text = f"{name} reads {measured:.2f} rad, {known:.2f} ± {_TOLERANCE * sector:.2f} expected"
    if min(zero, sign) > _LIKENESS * sector:
        return text
    if sign < zero:
        return f"{text}: a sign error, it is turned the other way"
    return f"{text}: a zero error of {turns * sector:.2f} rad, {turns:+d} turns of its motor; switch it on folded"
