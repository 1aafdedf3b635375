"""The planar model: the sagittal plane, in which left and right legs move alike, and the maps to it and back.

The plane is the vertical one through the trunk's heading: its frame is `odom` turned by the yaw of the ZYX Euler
angles. What leaves the plane (y, roll, yaw, abductions, differences of left and right) is dropped.

The tree of the planar model, reduced from the robot by code.

A bound moves left and right legs alike and the abductions not at all. Then the robot moves in its sagittal plane as

    q = (x, z, pitch, front hip, front knee, back hip, back knee)

with x, z of the trunk's origin, pitch about +y (nose down is positive) and hips and knees about -y as in the URDF.
The abduction links, at angle zero, are part of the trunk; the left and right link of a pair move as one rigid body, so
their masses, inertias, rotor inertias, frictions and torques add up. The reduction is exact: on symmetric motions the
planar dynamics are those of the whole robot.

See eq. (24) of docs/mathematics.md.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.joints import BASE_JOINTS, joint_index
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.model import OwnFrame
from contact_ddp_ros.robot.rotation import (
    COMPILED,
    READ,
    WRITTEN,
    quaternion_to_matrix,
    quaternion_to_rpy,
    rpy_rates,
    rpy_to_quaternion,
)
from contact_ddp_ros.robot.state import RobotState
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
"""Tolerance between left and right [m, kg, kg m^2] for the planar reduction to count as exact."""

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
    """Body seen from a frame displaced by -shift."""
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


AXES = (0, 2)
"""World axes of a planar contact: x and the normal z."""

LEGS_OF: Mapping[str, tuple[str, ...]] = dict(zip(PLANAR_FOOT_NAMES, PAIRS.values(), strict=True))
"""The legs that a contact point of the plane stands for."""


class PlanarModel:
    """A robot in its sagittal plane; see :class:`contact_ddp_ros.robot.models.model.Model`."""

    name = "planar"
    axes = AXES
    coordinates = PLANAR_JOINT_NAMES
    legs_of = LEGS_OF
    height = 1
    chart = Chart.YAW_PITCH_ROLL
    second_order_below = 1e-2  # which takes a sixth less time

    def __init__(self, robot: Robot) -> None:
        """Model of a robot; its planar tree raises ModelError where left and right are not mirror images."""
        self.robot = robot
        self.pairs: NDArray[np.int64] = np.array(
            [[joint_index(leg, joint) for leg in legs] for legs in PAIRS.values() for joint in PLANAR_LEG_JOINTS]
        )
        """(4, 2) joint-array indices of each planar leg joint's right and left joint."""
        self.torque_limits: Array = robot.effort_limits[self.pairs].sum(axis=1)

    @cached_property
    def tree(self) -> RigidBodyTree:
        """The rigid bodies that are planned for (n = 7)."""
        return reduce_to_plane(self.robot)

    def state(self, state: RobotState) -> Array:
        """(14,) position along the heading, height, pitch, means of the pairs, and their rates."""
        return _planar_state(
            state.position,
            state.orientation,
            state.linear_velocity,
            state.angular_velocity,
            state.joint_positions,
            state.joint_velocities,
            self.pairs,
        )

    def frame(self, state: RobotState, heading: float) -> OwnFrame:
        """The plane along the robot's own heading, whose x counts from the foot of `odom`'s origin."""
        x, y, _ = state.position.tolist()
        return OwnFrame(x, y, float(quaternion_to_rpy(state.orientation)[2]))

    def forward_velocity(self, x: Array) -> float:
        """Velocity of the trunk's origin along the plane [m/s]."""
        return float(x[self.tree.n])

    def robot_state(self, x: Array, actual: RobotState, time: float = 0.0) -> RobotState:
        """The robot in a planar state, in the plane of its actual one; velocities are zero."""
        yaw = float(quaternion_to_rpy(actual.orientation)[2])
        cos, sin = math.cos(yaw), math.sin(yaw)
        side = cos * actual.position[1] - sin * actual.position[0]
        along, up, pitch = (float(number) for number in x[:3])
        joints, _ = self.joint_state(x)
        return RobotState(
            time=time,
            position=np.array([cos * along - sin * side, sin * along + cos * side, up]),
            orientation=rpy_to_quaternion(0.0, pitch, yaw),
            linear_velocity=np.zeros(3),
            angular_velocity=np.zeros(3),
            joint_positions=joints,
            joint_velocities=np.zeros_like(joints),
        )

    def joint_state(self, x: Array) -> tuple[Array, Array]:
        """(12,) joint positions [rad] and (12,) velocities [rad/s] of a state; abductions are zero."""
        positions, velocities, _ = self.joint_targets(x, np.zeros(len(self.pairs)))
        return positions, velocities

    def joint_targets(self, x: Array, u: Array) -> tuple[Array, Array, Array]:
        """Joint positions, velocities and torques (12,) of a planar state and torques `u` (4,) [N m]."""
        return _joint_targets(x, u, self.pairs, self.robot.n_joints)


@njit(WRITTEN(READ, READ, READ, READ, READ, READ, nb.int64[:, ::1]), **COMPILED)
def _planar_state(
    position: Array,
    orientation: Array,
    linear_velocity: Array,
    angular_velocity: Array,
    joint_positions: Array,
    joint_velocities: Array,
    pairs: NDArray[np.int64],
) -> Array:
    n_base, n_joints = 3, len(pairs)
    n = n_base + n_joints
    x = np.empty(2 * n)
    angles = quaternion_to_rpy(orientation)
    rotation = quaternion_to_matrix(orientation)
    cosine, sine = math.cos(angles[2]), math.sin(angles[2])
    x[0] = cosine * position[0] + sine * position[1]
    x[1] = position[2]
    x[2] = angles[1]
    x[n : n + n_base] = 0.0
    for k in range(3):
        x[n] += (cosine * rotation[0, k] + sine * rotation[1, k]) * linear_velocity[k]
        x[n + 1] += rotation[2, k] * linear_velocity[k]
    x[n + 2] = rpy_rates(orientation, angular_velocity)[1]
    for joint in range(n_joints):
        right, left = pairs[joint, 0], pairs[joint, 1]
        x[n_base + joint] = 0.5 * (joint_positions[right] + joint_positions[left])
        x[n + n_base + joint] = 0.5 * (joint_velocities[right] + joint_velocities[left])
    return x


@njit(nb.types.UniTuple(WRITTEN, 3)(READ, READ, nb.int64[:, ::1], nb.int64), **COMPILED)
def _joint_targets(x, u, pairs, size):  # type: ignore[no-untyped-def]
    positions, velocities, torques = np.zeros(size), np.zeros(size), np.zeros(size)
    n, n_pairs = len(x) // 2, len(pairs)
    for joint in range(n_pairs):
        for leg in pairs[joint]:
            positions[leg] = x[n - n_pairs + joint]
            velocities[leg] = x[2 * n - n_pairs + joint]
            torques[leg] = 0.5 * u[joint]
    return positions, velocities, torques
