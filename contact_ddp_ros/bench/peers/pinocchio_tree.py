"""The planar tree as a pinocchio model, in the forms that cost pinocchio and Crocoddyl least.

Joints about a negative axis get a frame turned by half a revolution, so that pinocchio's specialised joints about +x,
+y, +z serve instead of its slower general ones. The base comes in two forms:

* "chain": one joint per coordinate, so configuration, velocity and torque are exactly those of the tree;
* "planar": pinocchio's own planar joint, which is a little faster. Its configuration is (x, −z, cos pitch, sin pitch)
  and its velocity is that of the trunk in its own axes (:func:`planar_state`).

A composite of the three base joints would look simpler, but pinocchio's derivatives do not hold for composite joints.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.errors import ModelError
from contact_ddp_ros.models.planar_tree import PLANAR_BASE_JOINTS
from contact_ddp_ros.robot.tree import Joint, RigidBodyTree

Array = NDArray[np.float64]

ROOT_JOINT = "root_joint"
"""The name of the planar base, by which Crocoddyl knows what has no motor."""

_ALIGNED: Mapping[str, tuple[Callable[[], object], ...]] = {
    "prismatic": (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ),
    "revolute": (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ),
}

_PLANE = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""Axes of the planar joint in the world, as columns: forward, down, left."""


def pinocchio_model(tree: RigidBodyTree, base: str = "chain") -> pin.Model:
    """The tree, with a frame named after every contact point at its centre.

    Joint damping and the radius of the feet have no counterpart in pinocchio's dynamics and are left out.

    Raises:
        ModelError: the tree's base is not x, z and pitch, or a joint's axis is not one of its frame's axes.
    """
    n_base = len(PLANAR_BASE_JOINTS)
    if tuple(joint.name for joint in tree.joints[:n_base]) != PLANAR_BASE_JOINTS:
        raise ModelError(f"{tree.name}: its base is {tree.joints[:n_base]}; allowed is {PLANAR_BASE_JOINTS}")
    model = pin.Model()
    model.name = tree.name
    model.gravity = pin.Motion(np.asarray(tree.gravity, dtype=float), np.zeros(3))
    indices: dict[int, int] = {-1: 0}
    offsets = {-1: pin.SE3.Identity()}
    first = 0
    if base == "planar":
        into_plane = pin.SE3(_PLANE, np.zeros(3))
        trunk, first = n_base - 1, n_base
        indices[trunk] = model.addJoint(0, pin.JointModelPlanar(), into_plane, ROOT_JOINT)
        offsets[trunk] = into_plane.inverse()
        model.appendBodyToJoint(indices[trunk], _inertia(tree.joints[trunk]), offsets[trunk])
    for i, joint in enumerate(tree.joints[first:], start=first):
        turn = pin.SE3(_turn(joint), np.zeros(3))
        placement = offsets[joint.parent] * pin.SE3(joint.rotation, joint.translation) * turn
        indices[i] = model.addJoint(indices[joint.parent], _aligned_joint(joint), placement, joint.name)
        offsets[i] = turn.inverse()
        model.appendBodyToJoint(indices[i], _inertia(joint), offsets[i])
    model.armature = np.array([joint.armature for joint in tree.joints])
    model.effortLimit = np.array([joint.effort_limit for joint in tree.joints])
    for point in tree.contacts:
        placement = offsets[point.body] * pin.SE3(np.eye(3), point.position)
        model.addFrame(pin.Frame(point.name, indices[point.body], 0, placement, pin.FrameType.OP_FRAME))
    return model


def planar_state(x: Array) -> Array:
    """(2n+1,) state of the model with the planar base for a state (2n,) of the tree."""
    n = len(x) // 2
    c, s = np.cos(x[2]), np.sin(x[2])
    forward, down = x[n], -x[n + 1]
    return np.concatenate([[x[0], -x[1], c, s], x[3:n], [c * forward + s * down, -s * forward + c * down], x[n + 2 :]])


def _aligned_joint(joint: Joint) -> object:
    """Pinocchio's specialised joint about the positive axis."""
    axis = int(np.argmax(np.abs(joint.axis)))
    if not np.isclose(abs(joint.axis[axis]), 1.0):
        raise ModelError(f"{joint.name} moves along {joint.axis}; allowed are the axes of its own frame")
    return _ALIGNED[joint.kind][axis]()


def _turn(joint: Joint) -> Array:
    """(3, 3) rotation that turns the positive axis onto the joint's: half a revolution across it, or none."""
    axis = int(np.argmax(np.abs(joint.axis)))
    if joint.axis[axis] > 0.0:
        return np.eye(3)
    turn = -np.eye(3)
    across = (axis + 1) % 3
    turn[across, across] = 1.0
    return turn


def _inertia(joint: Joint) -> pin.Inertia:
    return pin.Inertia(joint.mass, joint.com, joint.inertia)
