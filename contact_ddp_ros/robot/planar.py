"""The planar model, reduced from the robot by code, and the maps between the plane and three dimensions.

A bound moves left and right legs alike and the abductions not at all. Then the robot moves in its sagittal plane as

    q = (x, z, pitch, front hip, front knee, back hip, back knee)

with x, z of the trunk's origin, pitch about +y (nose down is positive) and hips and knees about -y as in the URDF.
The abduction links, at angle zero, are part of the trunk; the left and right link of a pair move as one rigid body, so
their masses, inertias, rotor inertias, frictions and torques add up. The reduction is exact: on symmetric motions the
planar dynamics are those of the whole robot.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.errors import ModelError
from contact_ddp_ros.robot.joints import N_JOINTS, joint_index
from contact_ddp_ros.robot.model import BASE_JOINTS, Robot
from contact_ddp_ros.robot.rotation import COMPILED, READ, WRITTEN, quaternion_to_matrix, quaternion_to_rpy, rpy_rates
from contact_ddp_ros.robot.state import RobotState
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
"""How far left and right may differ [m, kg, kg m^2] for the reduction to count as exact."""


@dataclass(frozen=True)
class _Body:
    """Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2], in axes parallel to the trunk's."""

    mass: float
    com: Array
    inertia: Array


def reduce_to_plane(robot: Robot) -> RigidBodyTree:
    """The planar tree (n = 7) of the robot, with the contact points of PLANAR_FOOT_NAMES.

    Its joints are PLANAR_JOINT_NAMES; effort limits, frictions and armatures are those of both legs together.

    Raises:
        ModelError: left and right are not mirror images, or the legs do not move in the sagittal plane.
    """
    names = {joint.name: index for index, joint in enumerate(robot.tree.joints)}
    kinds = {name: (kind, axis) for name, kind, axis in BASE_JOINTS}
    joints = [
        Joint(name, kinds[name][0], np.array(kinds[name][1]), parent)
        for parent, name in enumerate(PLANAR_BASE_JOINTS, start=-1)
    ]
    trunk = len(joints) - 1
    carried = [_moved(_body(robot.tree.joints[names["base_roll"]]), np.zeros(3))]
    contacts = []
    for pair, legs in PAIRS.items():
        abads = [robot.tree.joints[names[f"{leg}_abad_joint"]] for leg in legs]
        carried += [_moved(_body(abad), abad.translation) for abad in abads]
        offsets = [abad.translation for abad in abads]
        parent = trunk
        for joint in PLANAR_LEG_JOINTS:
            sides = [robot.tree.joints[names[f"{leg}_{joint}_joint"]] for leg in legs]
            merged, offsets = _merge(f"{pair}_{joint}", sides, offsets, parent)
            parent = len(joints)
            joints.append(merged)
        contacts.append(_merge_feet(pair, [robot.tree.contact(f"{leg}_foot") for leg in legs], offsets, parent))
    whole = _sum(carried)
    _check_balanced("the trunk with the abductions", whole)
    joints[trunk] = replace(joints[trunk], mass=whole.mass, com=whole.com, inertia=whole.inertia)
    tree = RigidBodyTree(f"{robot.tree.name}_planar", tuple(joints), tuple(contacts), robot.tree.gravity)
    assert tuple(joint.name for joint in joints) == PLANAR_JOINT_NAMES
    return tree


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
        raise ModelError(f"{name}: right origin {right} m and left origin {left} m must mirror each other in y = 0")


def _check_balanced(name: str, body: _Body) -> None:
    """Raises ModelError where motion in the plane would push the body out of it."""
    out_of_plane = np.array([body.com[1], body.inertia[0, 1], body.inertia[1, 2]])
    if not (np.abs(out_of_plane) < _SYMMETRY_TOLERANCE).all():
        raise ModelError(
            f"{name}: left and right are not mirror images: centre of mass y, inertia xy and yz are {out_of_plane}, "
            "not zero"
        )


def _body(joint: Joint) -> _Body:
    return _Body(joint.mass, joint.com, joint.inertia)


def _moved(body: _Body, shift: Array) -> _Body:
    """The same body seen from a frame displaced by -shift."""
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


def _pair_indices() -> NDArray[np.int64]:
    return np.array(
        [[joint_index(leg, joint) for leg in legs] for legs in PAIRS.values() for joint in PLANAR_LEG_JOINTS]
    )


@dataclass(frozen=True)
class PlanarMap:
    """Between the robot's state in three dimensions and the planar model's x = (q, v).

    The plane is the vertical one through the trunk's heading: its frame is `odom` turned by the yaw of the ZYX Euler
    angles. What leaves the plane (y, roll, yaw, abductions, differences of left and right) is dropped.

    Attributes:
        pairs: (4, 2) joint-array indices of each planar leg joint's right and left joint.
    """

    pairs: NDArray[np.int64] = field(default_factory=_pair_indices)

    def planar_state(self, state: RobotState) -> Array:
        """(14,) planar state: position along the heading, height, pitch, means of the pairs, and their rates."""
        return _planar_state(
            state.position,
            state.orientation,
            state.linear_velocity,
            state.angular_velocity,
            state.joint_positions,
            state.joint_velocities,
            self.pairs,
        )

    def joint_state(self, x: Array) -> tuple[Array, Array]:
        """(12,) joint positions [rad] and (12,) velocities [rad/s] of a planar state (14,); abductions are zero."""
        n = len(x) // 2
        n_legs = len(self.pairs)
        return self._spread(x[n - n_legs : n]), self._spread(x[2 * n - n_legs :])

    def joint_torques(self, u: Array) -> Array:
        """(12,) joint torques [N m] of planar torques (4,): half to each leg of a pair, none to the abductions."""
        return self._spread(0.5 * np.asarray(u))

    def _spread(self, values: Array) -> Array:
        return _spread(np.asarray(values), self.pairs, N_JOINTS)


@nb.njit(WRITTEN(READ, READ, READ, READ, READ, READ, nb.int64[:, ::1]), **COMPILED)
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


@nb.njit(WRITTEN(READ, nb.int64[:, ::1], nb.int64), **COMPILED)
def _spread(values: Array, pairs: NDArray[np.int64], size: int) -> Array:
    spread = np.zeros(size)
    for joint in range(len(pairs)):
        spread[pairs[joint, 0]] = spread[pairs[joint, 1]] = values[joint]
    return spread
