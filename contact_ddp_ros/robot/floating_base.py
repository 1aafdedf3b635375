"""The robot on a free-flyer joint in pinocchio, and what follows from its mass matrix."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

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
