"""A rigid-body tree of 1-DoF joints as plain data, in Featherstone's manner.

Body i is the body that joint i moves; parents come before children. A floating base is a chain of prismatic and
revolute joints whose bodies, but for the last, have no mass. Nothing here computes: `dynamics` does.

The robot on a free-flyer joint in pinocchio, and what follows from its mass matrix.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

Array = NDArray[np.float64]

GRAVITY = 9.81
"""Acceleration of gravity [m/s^2]."""


@dataclass(frozen=True)
class Joint:
    """One joint and the body it moves.

    Attributes:
        name: joint name, as in the URDF where it comes from one.
        kind: "revolute" or "prismatic".
        axis: (3,) unit vector in the joint frame (= body frame at q = 0).
        parent: index of the parent body, -1 for the world.
        rotation: (3, 3) orientation of the joint frame in the parent's body frame (columns are its axes).
        translation: (3,) origin of the joint frame in the parent's body frame [m].
        mass: of the body [kg].
        com: (3,) centre of mass in the body frame [m].
        inertia: (3, 3) rotational inertia about the centre of mass, body axes [kg m^2].
        armature: reflected rotor inertia, added to the diagonal of H [kg m^2, or kg for a prismatic joint].
        damping: viscous friction coefficient [N m s/rad].
        dry_friction: Coulomb friction torque [N m]; simulators use it, the planner does not.
        lower, upper: position limits [rad or m].
        velocity_limit: [rad/s or m/s].
        effort_limit: [N m or N]; 0 for a joint without an actuator.
    """

    name: str
    kind: Literal["revolute", "prismatic"]
    axis: Array
    parent: int
    rotation: Array = field(default_factory=lambda: np.eye(3))
    translation: Array = field(default_factory=lambda: np.zeros(3))
    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    armature: float = 0.0
    damping: float = 0.0
    dry_friction: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    velocity_limit: float = np.inf
    effort_limit: float = 0.0


@dataclass(frozen=True)
class ContactPoint:
    """A spherical foot (a point where `radius` is 0) fixed to a body.

    Attributes:
        name: e.g. "front_foot".
        body: index of the body that carries it.
        position: (3,) centre in the body frame [m].
        radius: of the foot sphere [m]; the ground touches it that far below the centre.
    """

    name: str
    body: int
    position: Array
    radius: float = 0.0


@dataclass(frozen=True)
class RigidBodyTree:
    """Joints in topological order, the contact points they carry, and gravity.

    Attributes:
        name: of the model.
        joints: parents before children.
        contacts: every point that may touch the ground.
        gravity: (3,) acceleration of free fall in the world frame [m/s^2].
    """

    name: str
    joints: tuple[Joint, ...]
    contacts: tuple[ContactPoint, ...] = ()
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -GRAVITY]))

    @property
    def n(self) -> int:
        """Number of degrees of freedom."""
        return len(self.joints)

    @property
    def actuated(self) -> tuple[int, ...]:
        """Indices of the joints that have an actuator."""
        return tuple(i for i, joint in enumerate(self.joints) if joint.effort_limit > 0.0)

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return sum(joint.mass for joint in self.joints)

    def contact(self, name: str) -> ContactPoint:
        """The contact point of that name; KeyError otherwise."""
        for point in self.contacts:
            if point.name == name:
                return point
        raise KeyError(f"no contact point {name!r}; there are {[p.name for p in self.contacts]}")


BASE = 6
"""Joints of the tree, and velocities of the model, that belong to the base."""


@dataclass(frozen=True)
class CompositeBody:
    """The robot as one rigid body in one posture.

    Attributes:
        mass: [kg].
        com: (3,) centre of mass in trunk axes from the trunk's origin [m].
        inertia: (3, 3) about the centre of mass, trunk axes [kg m^2].
    """

    mass: float
    com: Array
    inertia: Array


def free_flyer_model(tree: RigidBodyTree) -> pin.Model:
    """A robot's tree on a free-flyer joint, joints in the tree's order."""
    model = pin.Model()
    model.gravity = pin.Motion(tree.gravity, np.zeros(3))
    ids = {BASE - 1: model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "floating_base")}
    for index, joint in enumerate(tree.joints[BASE - 1 :], start=BASE - 1):
        if index >= BASE:
            placement = pin.SE3(joint.rotation, joint.translation)
            kind = pin.JointModelRevoluteUnaligned(joint.axis)
            ids[index] = model.addJoint(ids[joint.parent], kind, placement, joint.name)
        model.appendBodyToJoint(ids[index], pin.Inertia(joint.mass, joint.com, joint.inertia), pin.SE3.Identity())
    model.armature = np.array([joint.armature for joint in tree.joints])
    return model


def composite_body(tree: RigidBodyTree, joint_positions: Array) -> CompositeBody:
    """Lump trunk and legs together at `joint_positions` (n_joints,) [rad]."""
    model = free_flyer_model(tree)
    data = model.createData()
    pin.ccrba(model, data, _configuration(model, joint_positions), np.zeros(model.nv))
    return CompositeBody(float(data.Ig.mass), data.com[0].copy(), data.Ig.inertia.copy())


def joint_inertias(tree: RigidBodyTree, joint_positions: Array) -> Array:
    """(n_joints,) inertia that each joint alone turns, the trunk held at `joint_positions`; rotor included [kg m^2]."""
    model = free_flyer_model(tree)
    matrix = pin.crba(model, model.createData(), _configuration(model, joint_positions), pin.Convention.WORLD)
    return np.diag(matrix)[BASE:].copy()


def _configuration(model: pin.Model, joint_positions: Array) -> Array:
    return np.concatenate([pin.neutral(model)[: BASE + 1], joint_positions])
