"""Any URDF as a rigid-body tree: joints in pinocchio's order, a floating base where asked for, links as contact points.

Bodies on fixed joints are part of the body they are fixed to. The coordinates are one angle or length for every joint,
a continuous joint's included, so q and v have the same size; a floating base comes first, as the six joints of
:data:`contact_ddp_ros.robot.model.BASE_JOINTS`.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

from contact_ddp_ros.base.errors import ModelError, did_you_mean
from contact_ddp_ros.robot.model import BASE_JOINTS
from contact_ddp_ros.robot.tree import ContactPoint, Joint, RigidBodyTree
from contact_ddp_ros.robot.urdf import joint_extras, joint_of, parse, read_text


def read_tree(
    path: str | Path, contacts: Sequence[str] = (), *, floating_base: bool = False, radius: float = 0.0
) -> RigidBodyTree:
    """Read a rigid-body tree from a URDF file.

    A joint has an actuator where its effort limit is above zero. `armature`, `damping` and `friction` come from the
    attributes of its <dynamics>.

    Args:
        path: of the URDF.
        contacts: links (or joints) whose origins may touch the ground.
        floating_base: whether the root link moves freely; it is fixed to the world otherwise.
        radius: of the sphere about each contact's origin, 0 for a point [m].

    Raises:
        ModelError: the file is no URDF, a joint is neither revolute nor prismatic, a contact is unknown, or a floating
            root link has no mass.
    """
    path = Path(path)
    root, model = parse(path, read_text(path))
    joints = _base(path, model) if floating_base else []
    body_of = {0: len(joints) - 1}
    for joint_id in range(1, model.njoints):
        body_of[joint_id] = len(joints)
        extras = joint_extras(path, root, model.names[joint_id])
        joints.append(joint_of(model, joint_id, body_of[model.parents[joint_id]], extras))
    if not joints:
        raise ModelError(f"{path} has no joint that moves; a tree needs one, or a floating base")
    points = tuple(_contact(path, model, name, body_of, radius) for name in contacts)
    return RigidBodyTree(model.name, tuple(joints), points, model.gravity.linear.copy())


def _base(path: Path, model: pin.Model) -> list[Joint]:
    """The joints of a floating base, the last of which carries the root link."""
    body = model.inertias[0]
    if not body.mass > 0.0:
        raise ModelError(f"{path}: the root link has a mass of {body.mass} kg; a floating base needs a positive one")
    joints = [Joint(name, kind, np.array(axis), index - 1) for index, (name, kind, axis) in enumerate(BASE_JOINTS)]
    name, kind, axis = BASE_JOINTS[-1]
    joints[-1] = Joint(
        name,
        kind,
        np.array(axis),
        len(joints) - 2,
        mass=body.mass,
        com=body.lever.copy(),
        inertia=body.inertia.copy(),
    )
    return joints


def _contact(path: Path, model: pin.Model, name: str, body_of: dict[int, int], radius: float) -> ContactPoint:
    if not model.existFrame(name):
        known = [frame.name for frame in model.frames if frame.type == pin.FrameType.BODY]
        raise ModelError(f"{path} has no link {name!r}; {did_you_mean(name, known)}")
    frame = model.frames[model.getFrameId(name)]
    body = body_of[frame.parentJoint]
    if body < 0:
        raise ModelError(f"{path}: link {name!r} is fixed to the world; a contact point must move")
    return ContactPoint(name, body, frame.placement.translation.copy(), radius)
