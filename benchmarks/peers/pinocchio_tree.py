"""A model's tree as a pinocchio model, in the forms that cost pinocchio and Crocoddyl least.

Joints about a negative axis get a frame turned by half a revolution, so that pinocchio's specialised joints about +x,
+y, +z serve instead of its slower general ones. The base comes in two forms:

* "chain": one joint per coordinate, so configuration, velocity and torque are exactly those of the tree;
* "natural": one joint of pinocchio's own for the base, which is a little faster. The planar one's configuration is
  (x, −z, cos pitch, sin pitch), the free flyer's place and quaternion; velocities are the trunk's in its own axes
  (:func:`natural_state`).

A composite of the three base joints would look simpler, but pinocchio's derivatives do not hold for composite joints.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.joints import BASE_JOINTS
from contact_ddp_ros.robot.models.planar import PLANAR_BASE_JOINTS
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.robot.tree import Joint, RigidBodyTree

Array = NDArray[np.float64]

ROOT_JOINT = "root_joint"
"""The name of the natural base, by which Crocoddyl knows what has no motor."""

_ALIGNED: Mapping[str, tuple[Callable[[], object], ...]] = {
    "prismatic": (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ),
    "revolute": (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ),
}

BASES = (PLANAR_BASE_JOINTS, tuple(name for name, _, _ in BASE_JOINTS))

_PLANE = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""Axes of the planar joint in the world, as columns: forward, down, left."""


def pinocchio_model(tree: RigidBodyTree, base: str = "chain") -> pin.Model:
    """The tree, with a frame named after every contact point at its centre.

    Joint damping and the radius of the feet have no counterpart in pinocchio's dynamics and are left out.

    Raises:
        ModelError: the tree's base is neither the plane's nor the whole body's, or a joint's axis is not one of its
            frame's axes.
    """
    planar = base_of(tree) == PLANAR_BASE_JOINTS
    n_base = len(base_of(tree))
    model = pin.Model()
    model.name = tree.name
    model.gravity = pin.Motion(np.asarray(tree.gravity, dtype=float), np.zeros(3))
    indices: dict[int, int] = {-1: 0}
    offsets = {-1: pin.SE3.Identity()}
    first = 0
    if base == "natural":
        into_base = pin.SE3(_PLANE, np.zeros(3)) if planar else pin.SE3.Identity()
        kind = pin.JointModelPlanar() if planar else pin.JointModelFreeFlyer()
        trunk, first = n_base - 1, n_base
        indices[trunk] = model.addJoint(0, kind, into_base, ROOT_JOINT)
        offsets[trunk] = into_base.inverse()
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


def base_of(tree: RigidBodyTree) -> tuple[str, ...]:
    """Names of the joints of the base; ModelError where it is none of BASES."""
    for names in BASES:
        if tuple(joint.name for joint in tree.joints[: len(names)]) == names:
            return names
    raise ModelError(f"{tree.name}: its base is {tree.joints[:6]}; allowed are {BASES}")


def natural_state(tree: RigidBodyTree, x: Array) -> Array:
    """(2n+1,) state of the model with the natural base for a state (2n,) of the tree."""
    n = len(x) // 2
    if base_of(tree) != PLANAR_BASE_JOINTS:
        yaw, pitch, roll = x[3:6]
        orientation = rpy_to_quaternion(roll, pitch, yaw)
        turn = quaternion_to_matrix(orientation)
        axes = np.array([turn[2], [0.0, np.cos(roll), -np.sin(roll)], [1.0, 0.0, 0.0]])  # of yaw, pitch, roll
        rates = x[n + 3 : n + 6] @ axes
        return np.concatenate([x[:3], orientation, x[6:n], turn.T @ x[n : n + 3], rates, x[n + 6 :]])
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
