"""The whole robot as data, read from its URDF: an 18-DoF tree, limits, standing pose and a fingerprint.

The floating base is a chain of single joints,

    base_x, base_y, base_z (prismatic) -> base_yaw (z) -> base_pitch (y) -> base_roll (x)

so its rotation is R_z(yaw) R_y(pitch) R_x(roll). The trunk is the body of base_roll; the five before it are massless.
The legs follow in the order of :data:`contact_ddp_ros.robot.joints.JOINT_NAMES`.
"""

import hashlib
import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.joints import BASE_JOINTS, FOOT_NAMES, JOINT_NAMES, LEG_JOINTS, LEG_NAMES
from contact_ddp_ros.robot.normalized_urdf import AXES, canonical_urdf
from contact_ddp_ros.robot.profile import RobotProfile
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.straight_legs import JointMap
from contact_ddp_ros.robot.third_party_urdf import read_foreign
from contact_ddp_ros.robot.tree import ContactPoint, Joint, RigidBodyTree
from contact_ddp_ros.robot.urdf import (
    RobotDescription,
    default_urdf,
    description_of,
    has_own_names,
    joint_of,
    read_description,
)

Array = NDArray[np.float64]

STANDING_LEG: Final = (0.0, -0.8, 1.6)
"""Abduction, hip and knee of a standing leg [rad]: the foot under the hip (Cheetah-Software's stand)."""

_MARGIN = 0.1
"""Distance from the limits of joints in which a robot that stands lower or higher than it would is [rad]."""

_HASH_BITS = 63
"""The fingerprint fits a signed 64-bit integer of a message."""


@dataclass(frozen=True)
class Robot:
    """The robot, SI units; joint arrays in the order of JOINT_NAMES.

    Attributes:
        tree: floating base and twelve joints; its contacts are the four feet, in the order of FOOT_NAMES.
        lower, upper: (12,) position limits [rad].
        velocity_limits: (12,) [rad/s].
        effort_limits: (12,) [N m].
        gears: (12,) turns of the motor over those of the joint; 0 where they are not known.
        standing: (12,) joint positions in which it stands [rad].
        mass: total [kg].
        foot_radius: [m].
        urdf: the file all of this was read from.
        description: text of the URDF, with the names and signs of this package whatever the file's are.
        model_hash: 63-bit fingerprint of every number of the tree, the same on every machine.
        profile: what the robot's file says; None where it was read from a URDF with the names of this package.
        notes: what was mended and estimated where it was read from a URDF alone.
        joint_map: of the URDF's joints to these; None where the URDF has the names and signs of this package.
    """

    tree: RigidBodyTree
    lower: Array
    upper: Array
    velocity_limits: Array
    effort_limits: Array
    gears: Array
    standing: Array
    mass: float
    foot_radius: float
    urdf: Path
    description: str
    model_hash: int
    profile: RobotProfile | None = None
    joint_map: JointMap | None = None
    notes: tuple[str, ...] = ()

    @property
    def n_joints(self) -> int:
        """Number of actuated joints."""
        return len(self.standing)

    @property
    def folded(self) -> Array:
        """(12,) joint positions of folded legs [rad]: knees bent to their stops, shanks level under a level trunk."""
        knee = self.upper[LEG_JOINTS.index("knee") :: len(LEG_JOINTS)]
        return np.stack([np.zeros_like(knee), 0.5 * math.pi - knee, knee], axis=1).ravel()

    def standing_height(self) -> float:
        """Height of the trunk's origin when it stands level on the ground in the standing pose [m]."""
        lowest = min(foot_positions(self, self.standing)[:, 2])
        return float(self.foot_radius - lowest)

    def standing_state(self, time: float = 0.0) -> RobotState:
        """At rest in the standing pose, level, feet touching the ground under the origin of `odom`."""
        return RobotState(
            time=time,
            position=np.array([0.0, 0.0, self.standing_height()]),
            orientation=np.array([0.0, 0.0, 0.0, 1.0]),
            linear_velocity=np.zeros(3),
            angular_velocity=np.zeros(3),
            joint_positions=self.standing.copy(),
            joint_velocities=np.zeros(self.n_joints),
        )


def home_robot() -> Robot:
    """The robot that comes with this package, whose parameters the defaults are; raises ModelError."""
    return _robot(read_description(default_urdf()), None)


def of_profile(profile: RobotProfile) -> Robot:
    """The robot that a robot's file describes; raises ModelError as :func:`contact_ddp_ros.robot.load.load_robot`."""
    if not profile.legs:
        return _robot(read_description(profile.urdf), profile)
    source = read_foreign(profile)
    return _robot(description_of(profile.urdf, canonical_urdf(source)), profile, source.joint_map)


def as_it_is(path: Path) -> Robot | None:
    """The robot of a URDF in the names and signs of this package; None where it has others or lacks something.

    Raises ModelError where the file cannot be read.
    """
    if not has_own_names(path):
        return None
    try:
        robot = _robot(read_description(path), None)
    except ModelError:
        return None  # whoever looks for its legs says what it lacks
    return robot if _is_normal(robot.tree) else None


def _is_normal(tree: RigidBodyTree) -> bool:
    """True if legs are straight at zero, turn about this package's axes, and begin about the trunk's origin."""
    drives = tree.joints[len(BASE_JOINTS) :]
    ends = [joint.translation[0] for joint in drives if "knee" in joint.name] + [
        point.position[0] for point in tree.contacts
    ]
    middle = np.mean([joint.translation for joint in drives[:: len(LEG_JOINTS)]], axis=0)
    drop = np.mean([joint.translation[2] for joint in drives[1 :: len(LEG_JOINTS)]])
    axes = all(np.allclose(joint.axis, AXES[LEG_JOINTS[i % 3]], atol=1e-9) for i, joint in enumerate(drives))
    turned = all(np.allclose(joint.rotation, np.eye(3), atol=1e-9) for joint in drives)
    return bool(axes and turned and np.abs([*ends, *middle, drop]).max() < 1e-9)


def _robot(description: RobotDescription, profile: RobotProfile | None, joint_map: JointMap | None = None) -> Robot:
    tree = _tree(description)
    drives = tree.joints[len(BASE_JOINTS) :]
    leg = STANDING_LEG if profile is None else _standing_leg(tree, profile)
    return Robot(
        tree=tree,
        lower=np.array([joint.lower for joint in drives]),
        upper=np.array([joint.upper for joint in drives]),
        velocity_limits=np.array([joint.velocity_limit for joint in drives]),
        effort_limits=np.array([joint.effort_limit for joint in drives]),
        gears=np.array([description.extras[joint.name].gear for joint in drives]),
        standing=np.array(leg * len(LEG_NAMES)),
        mass=tree.mass,
        foot_radius=description.foot_radius,
        urdf=description.path,
        description=description.text,
        model_hash=tree_hash(tree),
        profile=profile,
        joint_map=joint_map,
    )


def _standing_leg(tree: RigidBodyTree, profile: RobotProfile) -> tuple[float, float, float]:
    """Abduction, hip and knee that put the foot under the hip, at the standing height of the robot's file.

    Without one the foot is as far from the hip, as a share of the leg's length, as the Mini Cheetah's. A robot with
    the Mini Cheetah's names and no height of its own stands like it.

    Raises:
        ModelError: the leg does not reach so far, or its joints do not.
    """
    if not profile.legs and profile.standing_height is None:
        return STANDING_LEG
    foot = tree.contacts[0]
    knee = tree.joints[foot.body]
    hip = tree.joints[knee.parent]
    abad = tree.joints[hip.parent]
    thigh, shank = -float(knee.translation[2]), -float(foot.position[2])
    wanted = math.cos(STANDING_LEG[1]) * (thigh + shank)
    if profile.standing_height is not None:
        wanted = profile.standing_height - foot.radius + float(abad.translation[2] + hip.translation[2])
    if not abs(thigh - shank) < wanted < thigh + shank:
        raise ModelError(
            f"{profile.path}: standing puts the feet {wanted:.3f} m below the hips, which legs of {thigh:.3f} and "
            f"{shank:.3f} m do not reach; give a standing_height that they do, and places of feet in m"
        )
    angles = _angles(wanted, thigh, shank)
    if profile.standing_height is None:  # the nearest height that the limits allow
        within = [
            distance
            for distance in np.linspace(0.5, 0.95, 91) * (thigh + shank)
            if _within(tree, _angles(distance, thigh, shank))
        ]
        if within and not _within(tree, angles):
            angles = _angles(min(within, key=lambda distance: abs(distance - wanted)), thigh, shank)
    for joint, angle in zip((abad, hip, knee), angles, strict=True):
        if not joint.lower <= angle <= joint.upper:
            raise ModelError(
                f"{profile.path}: standing, {joint.name} is at {angle:.2f} rad; its limits are {joint.lower:.2f} and "
                f"{joint.upper:.2f}: give another standing_height or knees, or joints.lower and joints.upper"
            )
    return angles


def _angles(distance: float, thigh: float, shank: float) -> tuple[float, float, float]:
    """Angles of a leg [rad] whose foot is that far below its hip [m]."""
    bent = math.acos((distance**2 - thigh**2 - shank**2) / (2.0 * thigh * shank))
    return 0.0, -math.atan2(shank * math.sin(bent), thigh + shank * math.cos(bent)), bent


def _within(tree: RigidBodyTree, angles: tuple[float, float, float]) -> bool:
    """True if all legs reach these angles with a margin."""
    drives = tree.joints[len(BASE_JOINTS) :]
    wanted = angles * len(LEG_NAMES)
    return all(one.lower + _MARGIN <= angle <= one.upper - _MARGIN for one, angle in zip(drives, wanted, strict=True))


def foot_positions(robot: Robot, joint_positions: Array) -> Array:
    """Centres of the feet (n_feet, 3) in `base_link` [m] at the joint positions (12,) [rad]."""
    joints = robot.tree.joints
    root = len(BASE_JOINTS) - 1
    poses = {root: (np.eye(3), np.zeros(3))}
    for index, angle in enumerate(joint_positions, start=root + 1):
        joint = joints[index]
        rotation, origin = poses[joint.parent]
        turned = rotation @ joint.rotation @ pin.AngleAxis(float(angle), joint.axis).matrix()
        poses[index] = (turned, origin + rotation @ joint.translation)
    return np.array([poses[c.body][1] + poses[c.body][0] @ c.position for c in robot.tree.contacts])


def tree_hash(tree: RigidBodyTree) -> int:
    """A 63-bit fingerprint of a tree's names and numbers (to 12 digits), the same on every machine."""
    digest = hashlib.sha256(tree.name.encode())
    parts: tuple[Joint | ContactPoint, ...] = (*tree.joints, *tree.contacts)
    for part in parts:
        for field in fields(part):
            value = getattr(part, field.name)
            text = value if isinstance(value, str) else _digits(np.asarray(value, dtype=float))
            digest.update(f"{field.name}={text};".encode())
    digest.update(_digits(tree.gravity).encode())
    return int.from_bytes(digest.digest()[:8], "big") >> (64 - _HASH_BITS)


def _digits(values: Array) -> str:
    """Numbers as text, rounded so that the last bits of a parser do not show; adding 0.0 removes negative zeros."""
    return ",".join(f"{value + 0.0:.11e}" for value in np.round(values, 15).ravel())


def _tree(description: RobotDescription) -> RigidBodyTree:
    """The 18-DoF tree; pinocchio sorts joints by name, here they come leg by leg."""
    model = description.model
    joints = [Joint(name, kind, np.array(axis), index - 1) for index, (name, kind, axis) in enumerate(BASE_JOINTS)]
    trunk = len(joints) - 1
    root = model.inertias[0]
    name, kind, axis = BASE_JOINTS[trunk]
    joints[trunk] = Joint(
        name, kind, np.array(axis), trunk - 1, mass=root.mass, com=root.lever.copy(), inertia=root.inertia.copy()
    )
    body_of = {0: trunk}
    for joint_name in JOINT_NAMES:
        joint_id = model.getJointId(joint_name)
        if model.parents[joint_id] not in body_of:
            raise ModelError(
                f"{description.path}: joint {joint_name} hangs on {model.names[model.parents[joint_id]]}; the joints "
                f"of a leg must follow each other from the trunk: {', '.join(LEG_JOINTS)}"
            )
        body_of[joint_id] = len(joints)
        extras = description.extras[joint_name]
        joints.append(joint_of(model, joint_id, body_of[model.parents[joint_id]], extras))
    contacts = []
    for foot in FOOT_NAMES:
        frame = model.frames[model.getFrameId(foot)]
        contacts.append(
            ContactPoint(foot, body_of[frame.parentJoint], frame.placement.translation.copy(), description.foot_radius)
        )
    gravity = model.gravity.linear.copy()
    return RigidBodyTree(model.name, tuple(joints), tuple(contacts), gravity)
