"""Pinocchio as the oracle: any rigid-body tree of 1-DoF joints as a pinocchio model, and random trees to try.

Pinocchio adds the armature in rnea, aba and crba; it ignores viscous and dry friction. It wants joints in depth-first
order (the descendants of a body follow it without a gap), as :func:`random_tree` makes them.
"""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.robot.tree import ContactPoint, Joint, RigidBodyTree

Array = NDArray[np.float64]


def pinocchio_model(tree: RigidBodyTree) -> pin.Model:
    """The same tree as a pinocchio model: velocity index = joint index of the tree, q of size n.

    Every contact point becomes an operational frame of its name at its centre, with the axes of its body.
    """
    model = pin.Model()
    model.name = tree.name
    model.gravity = pin.Motion(tree.gravity, np.zeros(3))
    for index, joint in enumerate(tree.joints):
        assert joint.parent == index - 1 or _is_ancestor(tree, joint.parent, index - 1), "joints are not depth first"
        kinds = {"revolute": pin.JointModelRevoluteUnaligned, "prismatic": pin.JointModelPrismaticUnaligned}
        placement = pin.SE3(joint.rotation, joint.translation)
        joint_id = model.addJoint(joint.parent + 1, kinds[joint.kind](joint.axis), placement, joint.name)
        inertia = pin.Inertia(joint.mass, joint.com, joint.inertia)
        model.appendBodyToJoint(joint_id, inertia, pin.SE3.Identity())
        model.addBodyFrame(f"{joint.name}_body", joint_id, pin.SE3.Identity(), 0)
    model.armature = np.array([joint.armature for joint in tree.joints])
    for point in tree.contacts:
        placement = pin.SE3(np.eye(3), point.position)
        model.addFrame(pin.Frame(point.name, point.body + 1, 0, placement, pin.FrameType.OP_FRAME))
    return model


def random_tree(rng: np.random.Generator, n: int, n_contacts: int = 0, radius: float = 0.0) -> RigidBodyTree:
    """A tree of n random joints in depth-first order with random inertias, armatures and contact points.

    The first contact point sits on the last body, the others anywhere. Every body has mass, so H is well conditioned.
    """
    joints: list[Joint] = []
    for index in range(n):
        chain = [index - 1]
        while chain[-1] >= 0:
            chain.append(joints[chain[-1]].parent)
        parent = index - 1 if rng.random() < 0.6 else int(rng.choice(chain))
        joints.append(
            Joint(
                name=f"joint_{index}",
                kind="prismatic" if rng.random() < 0.3 else "revolute",
                axis=_unit(rng.normal(size=3)),
                parent=parent,
                rotation=_rotation(rng),
                translation=rng.uniform(-0.3, 0.3, 3),
                mass=float(rng.uniform(0.3, 3.0)),
                com=rng.uniform(-0.1, 0.1, 3),
                inertia=_inertia(rng),
                armature=float(rng.uniform(0.001, 0.05)),
                damping=float(rng.uniform(0.0, 0.05)),
                effort_limit=float(rng.uniform(5.0, 30.0)),
            )
        )
    bodies = [n - 1, *rng.integers(0, n, size=max(n_contacts - 1, 0))][:n_contacts]
    contacts = tuple(
        ContactPoint(f"point_{i}", int(body), rng.uniform(-0.3, 0.3, 3), radius) for i, body in enumerate(bodies)
    )
    return RigidBodyTree(f"random_{n}", tuple(joints), contacts)


def _is_ancestor(tree: RigidBodyTree, candidate: int, body: int) -> bool:
    while body >= 0 and body != candidate:
        body = tree.joints[body].parent
    return body == candidate


def _unit(vector: Array) -> Array:
    return vector / np.linalg.norm(vector)


def _rotation(rng: np.random.Generator) -> Array:
    factor, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return factor * np.sign(np.linalg.det(factor))


def _inertia(rng: np.random.Generator) -> Array:
    """A random inertia that a mass distribution can have: trace(C) I - C with a positive definite covariance C."""
    axes = _rotation(rng)
    covariance = axes @ np.diag(rng.uniform(0.002, 0.02, 3)) @ axes.T
    return np.trace(covariance) * np.eye(3) - covariance
