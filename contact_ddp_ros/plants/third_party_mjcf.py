"""Third-party robot in MuJoCo: the body of an MJCF file with its own masses, shapes, contacts, joints and actuators.

Joints get this package's names, signs and zeros, so that angles are those of
:data:`contact_ddp_ros.robot.joints.JOINT_NAMES`; nothing else changes. A joint whose actuator takes a torque or a
target angle is driven through that actuator, whose limits count; others get a motor.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.base.mujoco_engine import mujoco
from contact_ddp_ros.robot.joints import BASE_LINK, FOOT_NAMES, JOINT_NAMES, LEG_JOINTS, LEG_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.mjcf import read_spec, sphere_links, trunk_of
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import (
    matrix_to_quaternion,
    quaternion_to_matrix,
    rotation_vector_to_quaternion,
)
from contact_ddp_ros.robot.straight_legs import JointMap

Array = NDArray[np.float64]

_PREFIX = "theirs_"
"""Before the names in the file, so that they are not those of the world."""

_JOINT = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
_BIAS = (mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE)


@dataclass(frozen=True)
class Actuators:
    """Actuators of the twelve joints: torque = gear (gain ctrl + bias0 + bias1 gear q + bias2 gear qd).

    Attributes:
        indices: (12,) in MuJoCo's model.
        gear: (12,) joint torque over actuator force.
        gain: (12,) force over control.
        bias: (12, 3).
    """

    indices: NDArray[np.int64]
    gear: Array
    gain: Array
    bias: Array

    @classmethod
    def of(cls, model: mujoco.MjModel) -> "Actuators":
        """Actuators with the names of JOINT_NAMES."""
        indices = np.array([model.actuator(name).id for name in JOINT_NAMES])
        gear, gain = model.actuator_gear[indices, 0], model.actuator_gainprm[indices, 0]
        return cls(indices, gear.copy(), gain.copy(), model.actuator_biasprm[indices, :3].copy())

    def control(self, torques: Array, positions: Array, velocities: Array) -> Array:
        """(12,) controls that give the torques (12,) [N m] at joint positions [rad] and velocities [rad/s], (12,)."""
        own = self.bias[:, 0] + self.gear * (self.bias[:, 1] * positions + self.bias[:, 2] * velocities)
        return (torques / self.gear - own) / self.gain


def add_robot(spec: mujoco.MjSpec, path: Path, planned: Robot) -> mujoco.MjsBody:
    """Put the robot of an MJCF file into a world, as a free body named like the trunk; the body with the trunk's mass.

    Args:
        spec: the world.
        path: of the file.
        planned: the robot that is planned for; motors have its torques.

    Raises:
        ModelError: the file cannot be read, or its robot is no quadruped that the package can use.
    """
    robot = planned if planned.urdf == path else load_robot(path)
    if robot.joint_map is None or robot.profile is None:
        raise ModelError(f"{path} is no MJCF file of a quadruped")
    theirs = read_spec(path)
    trunk, compiled = trunk_of(theirs, path), theirs.compile()
    feet = {link: compiled.geom(index).name for link, index in sphere_links(compiled).items()}
    for part in (*theirs.keys, *theirs.sensors, *trunk.joints):
        theirs.delete(part)
    for joint in [one for one in theirs.joints if one.name not in robot.joint_map.names]:
        _lock(theirs, compiled, joint, robot.profile.lock.get(joint.name))
    for one in theirs.actuators:
        one.ctrlrange, one.inheritrange = compiled.actuator(one.name).ctrlrange, 0.0
    spec.option.impratio = theirs.option.impratio
    _place(trunk, np.zeros(3), np.eye(3))
    rotation, origin = robot.joint_map.root
    base = spec.worldbody.add_body(name=BASE_LINK)
    base.add_freejoint(name="floating_base")
    frame = base.add_frame(pos=origin, quat=np.roll(matrix_to_quaternion(rotation), 1))
    body = frame.attach_body(trunk, _PREFIX, "")
    _adopt_joints(spec, robot.joint_map, degrees=bool(theirs.compiler.degree))
    for name, limit in zip(JOINT_NAMES, planned.effort_limits.tolist(), strict=True):
        if not any(one.name == name for one in spec.actuators):
            add_motor(spec, name, limit)
    for leg, name in zip(LEG_NAMES, FOOT_NAMES, strict=True):
        foot, place = robot.profile.legs[leg].foot, robot.profile.legs[leg].place
        if place is not None:
            _add_foot(spec, leg, np.array(place), robot.foot_radius)
            continue
        shapes = [spec.geom(_PREFIX + feet[foot])] if foot in feet else _colliding(spec.body(_PREFIX + foot))
        if not shapes:
            raise ModelError(f"{path}: {foot}, the foot of leg {leg}, has no shape that collides; needed: one")
        _rename(spec.pairs, ("geomname1", "geomname2"), shapes[0], name)
    return body


def _lock(spec: mujoco.MjSpec, compiled: mujoco.MjModel, joint: mujoco.MjsJoint, position: float | None) -> None:
    """Fix a joint at an angle [rad] or length [m], without one where it is, and take its actuators away."""
    name, body, index = joint.name, joint.parent, compiled.body(joint.parent.name).id
    at = compiled.qpos0[compiled.joint(name).qposadr[0]]
    way = (0.0 if position is None else position - at) * compiled.joint(name).axis
    rotation = quaternion_to_matrix(np.roll(compiled.body_quat[index], -1))
    if joint.type == mujoco.mjtJoint.mjJNT_SLIDE:
        _place(body, compiled.body_pos[index] + rotation @ way, rotation)
    elif joint.type == mujoco.mjtJoint.mjJNT_HINGE:
        turned = rotation @ quaternion_to_matrix(rotation_vector_to_quaternion(way))
        _place(body, compiled.body_pos[index] + (rotation - turned) @ compiled.joint(name).pos, turned)
    for one in [one for one in spec.actuators if one.target == name and one.trntype in _JOINT]:
        spec.delete(one)
    spec.delete(joint)


def _add_foot(spec: mujoco.MjSpec, leg: str, place: Array, radius: float) -> None:
    """Give a shank that has no foot one at a place (3,) from its knee [m]; its other shapes touch nothing then."""
    knee = spec.joint(f"{leg}_{LEG_JOINTS[-1]}_joint")
    for shape in _colliding(knee.parent):
        shape.contype = shape.conaffinity = 0
    knee.parent.add_geom(
        name=f"{leg}_foot",
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[radius, 0.0, 0.0],
        pos=np.asarray(knee.pos) + place,
        mass=0.0,
        condim=3,
    )


def _place(body: mujoco.MjsBody, position: Array, rotation: Array) -> None:
    """Put a body at a position (3,) [m] and rotation (3, 3) in its parent, however the file says its pose."""
    body.pos, body.quat = position, np.roll(matrix_to_quaternion(rotation), 1)
    body.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT


def _rename(users: Iterable[Any], references: Sequence[str], part: Any, name: str) -> None:
    """Rename a part of a model and where others refer to it."""
    for one in users:
        for reference in references:
            if getattr(one, reference) == part.name:
                setattr(one, reference, name)
    part.name = name


def _colliding(body: mujoco.MjsBody) -> list[mujoco.MjsGeom]:
    return [geom for geom in body.geoms if geom.contype or geom.conaffinity]


def _adopt_joints(spec: mujoco.MjSpec, joint_map: JointMap, *, degrees: bool) -> None:
    """Give joints, their bodies, and the one actuator that each has, this package's names, signs and zeros."""
    unit = math.degrees(1.0) if degrees else 1.0
    for name, theirs, sign, zero in zip(JOINT_NAMES, joint_map.names, joint_map.signs, joint_map.zeros, strict=True):
        joint, offset = spec.joint(_PREFIX + theirs), zero * unit
        actuators = [one for one in spec.actuators if one.target == joint.name and one.trntype in _JOINT]
        _rename(spec.excludes, ("bodyname1", "bodyname2"), joint.parent, name.removesuffix("_joint"))
        _rename(spec.equalities, ("name1", "name2"), joint, name)
        joint.axis = sign * np.asarray(joint.axis)
        joint.range = sorted(sign * (np.asarray(joint.range) - offset))
        joint.ref, joint.springref = sign * (joint.ref - offset), sign * (joint.springref - offset)
        for one in actuators:
            if len(actuators) == 1 and _is_plain(one):
                one.name, one.target = name, name
                one.biasprm[0] += one.biasprm[1] * one.gear[0] * zero
                one.gear[0] *= sign
            else:
                spec.delete(one)


def _is_plain(actuator: mujoco.MjsActuator) -> bool:
    """True if the actuator's force is known from its control, and the joint's angle and velocity."""
    fixed = actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED and actuator.dyntype == mujoco.mjtDyn.mjDYN_NONE
    return bool(fixed and actuator.biastype in _BIAS and actuator.gainprm[0] and actuator.gear[0])


def add_motor(spec: mujoco.MjSpec, joint: str, limit: float) -> None:
    """Give a joint a motor of its name with a limited torque [N m]."""
    actuator = spec.add_actuator(
        name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT, ctrlrange=[-limit, limit], ctrllimited=True
    )
    actuator.set_to_motor()
