"""The URDF of a quadruped in its own names, as pinocchio and the outline of its shapes have it, checked."""

from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.profile import RobotProfile
from contact_ddp_ros.robot.shapes import Outline, outline_of
from contact_ddp_ros.robot.urdf import REVOLUTE, parse, read_text

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ForeignRobot:
    """A description as it is; joints and bodies by pinocchio's indices, 0 for the trunk.

    Attributes:
        profile: what the robot's file says.
        root: the XML.
        model: pinocchio's fixed-base model.
        rotations: (3, 3) of each body's frame in the trunk, all joints at zero.
        outline: shapes with a formula, and where the others are.
    """

    profile: RobotProfile
    root: Element
    model: pin.Model
    rotations: tuple[Array, ...]
    outline: Outline

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
    root, model = parse(path, read_text(path))
    known = set(list(model.names)[1:])
    wanted = [joint for leg in profile.legs.values() for joint in leg.joints]
    missing, surplus = [name for name in wanted if name not in known], sorted(known - set(wanted))
    if missing or surplus:
        raise ModelError(
            f"{path}: joints missing {missing}, joints that move and are of no leg {surplus}; "
            f"legs in {profile.path} must name every joint that moves, and no other"
        )
    kinds = {name: model.joints[model.getJointId(name)].shortname() for name in wanted}
    unfit = {name: kind for name, kind in kinds.items() if kind not in REVOLUTE}
    if unfit:
        raise ModelError(f"{path}: joints of another kind: {unfit}; every joint must be revolute with limits")
    feet = [leg.foot for leg in profile.legs.values() if not model.existFrame(leg.foot)]
    if feet:
        raise ModelError(f"{path}: foot links missing: {feet}; legs in {profile.path} must name links that it has")
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    rotations = tuple(_free_of_rounding(np.asarray(pose.rotation)) for pose in data.oMi)
    return ForeignRobot(profile, root, model, rotations, outline_of(path, root, strict=False))


def _free_of_rounding(rotation: Array) -> Array:
    return np.eye(3) if np.allclose(rotation, np.eye(3), atol=1e-12) else rotation.copy()
