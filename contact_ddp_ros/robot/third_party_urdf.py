"""The URDF of a quadruped in its own names, as pinocchio and the outline of its shapes have it, checked.

Any URDF as a rigid-body tree: joints in pinocchio's order, a floating base where asked for, links as contact points.

Bodies on fixed joints are part of the body they are fixed to. The coordinates are one angle or length for every joint,
a continuous joint's included, so q and v have the same size; a floating base comes first, as the six joints of
:data:`contact_ddp_ros.robot.joints.BASE_JOINTS`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError, did_you_mean
from contact_ddp_ros.robot.joints import BASE_JOINTS
from contact_ddp_ros.robot.profile import Leg, RobotProfile
from contact_ddp_ros.robot.shapes import Outline, outline_of
from contact_ddp_ros.robot.straight_legs import JointMap, straight_legs
from contact_ddp_ros.robot.tree import ContactPoint, Joint, RigidBodyTree
from contact_ddp_ros.robot.trunk_frame import TRUNK_LINK, set_trunk_frame
from contact_ddp_ros.robot.urdf import REVOLUTE, joint_extras, joint_of, parse
from contact_ddp_ros.robot.urdf_repair import add_foot, read_xml, repair, repair_bodies

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ForeignRobot:
    """A description as it is; joints and bodies by pinocchio's indices, 0 for the trunk.

    Attributes:
        profile: what the robot's file says.
        root: the XML.
        model: pinocchio's fixed-base model.
        outline: shapes with a formula, and where the others are.
        joint_map: of the URDF's joints to those of this package.
        rotations: (3, 3) of each body's frame in the trunk, the legs straight.
    """

    profile: RobotProfile
    root: Element
    model: pin.Model
    outline: Outline
    joint_map: JointMap
    rotations: tuple[Array, ...]

    def carrier(self, joint: int) -> str:
        """The link that a joint moves; for the trunk the one that all others hang on."""
        if joint:
            return self.outline.moved_links[self.model.names[joint]]
        children = set(self.outline.moved_links.values())
        return next(link.get("name", "") for link in self.root.findall("link") if link.get("name") not in children)

    def carried(self, joint: int) -> list[Array]:
        """(3,) places in a body's frame of the joints and the foot that it carries [m]."""
        model, bodies = self.model, range(1, self.model.njoints)
        feet = [model.frames[model.getFrameId(leg.foot)] for leg in self.profile.legs.values()]
        placements = [model.jointPlacements[body] for body in bodies if model.parents[body] == joint]
        placements += [frame.placement for frame in feet if frame.parentJoint == joint]
        return [np.asarray(placement.translation) for placement in placements]


def read_foreign(profile: RobotProfile) -> ForeignRobot:
    """Read the URDF that a robot's file names.

    Raises:
        ModelError: it is no URDF, lacks a joint or a foot that the file names, or has other joints that move.
    """
    path = profile.urdf
    root = read_xml(path, profile.xacro)
    repair(path, root, profile.lock)
    for leg in profile.legs.values():
        add_foot(root, leg)
    root, model = parse(path, ElementTree.tostring(root, encoding="unicode"))
    names = [joint for leg in profile.legs.values() for joint in leg.joints]
    if all(map(model.existJointName, names)):
        set_trunk_frame(root, model, [model.getJointId(name) for name in names])
        root, model = parse(path, ElementTree.tostring(root, encoding="unicode"))
    known = set(list(model.names)[1:])
    missing, surplus = [name for name in names if name not in known], sorted(known - set(names))
    if missing or surplus:
        raise ModelError(
            f"{path}: joints missing {missing}, joints that move and are of no leg {surplus}; "
            f"legs in {profile.path} must name every joint that moves, and no other"
        )
    kinds = {name: model.joints[model.getJointId(name)].shortname() for name in names}
    unfit = {name: kind for name, kind in kinds.items() if kind not in REVOLUTE}
    if unfit:
        raise ModelError(f"{path}: joints of another kind: {unfit}; every joint must be revolute with limits")
    feet = [leg.foot for leg in profile.legs.values() if not model.existFrame(leg.foot)]
    if feet:
        raise ModelError(f"{path}: foot links missing: {feet}; legs in {profile.path} must name links that it has")
    outline = outline_of(path, root, strict=False)
    legs = {name: leg.joints for name, leg in profile.legs.items()}
    centres = {name: foot_sphere(model, outline, leg)[0] for name, leg in profile.legs.items()}
    try:
        joint_map = straight_legs(model, legs, centres, profile.knees)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    repair_bodies(model, [[model.getJointId(name) for name in leg] for leg in legs.values()])
    if model.existFrame(TRUNK_LINK):
        top = model.frames[model.getFrameId(f"{TRUNK_LINK}_joint")].placement
        joint_map = replace(joint_map, root=(np.asarray(top.rotation), np.asarray(top.translation)))
    data = model.createData()
    pin.forwardKinematics(model, data, joint_map.configuration(model))
    rotations = tuple(_free_of_rounding(np.asarray(pose.rotation)) for pose in data.oMi)
    return ForeignRobot(profile, root, model, outline, joint_map, rotations)


def foot_sphere(model: pin.Model, outline: Outline, leg: Leg) -> tuple[Array, float | None]:
    """Centre of a foot in the shank's frame and its radius [m], None where the URDF has no collision sphere.

    Without a sphere the foot is about the middle of a cylinder that lies across, or the origin of its link.
    """
    round_ones = [one for one in outline.shapes if one.link == leg.foot and one.purpose == "collision"]
    for kind in ("sphere", "cylinder"):
        for one in round_ones:
            if one.kind == kind and (kind == "sphere" or one.size[1] < 2.5 * one.size[0]):
                return one.translation, one.size[0]
    return np.asarray(model.frames[model.getFrameId(leg.foot)].placement.translation), None


def _free_of_rounding(rotation: Array) -> Array:
    return np.eye(3) if np.allclose(rotation, np.eye(3), atol=1e-12) else rotation.copy()


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
    root, model = parse(path, ElementTree.tostring(read_xml(path), encoding="unicode"))
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
