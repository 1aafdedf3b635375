"""Third-party robot in MuJoCo: the body of an MJCF file with its own masses, shapes, contacts, joints and actuators.

Joints get this package's names, signs and zeros, so that angles are those of
:data:`contact_ddp_ros.robot.joints.JOINT_NAMES`; nothing else changes. A joint whose actuator takes a torque or a
target angle is driven through that actuator, whose limits count; others get a motor.
"""

import itertools
import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.base.mujoco_engine import mujoco
from contact_ddp_ros.robot.joints import BASE_LINK, FOOT_NAMES, JOINT_NAMES, LEG_JOINTS, LEG_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.mjcf import read_spec, round_ends, trunk_of
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.profile import Leg
from contact_ddp_ros.robot.rotation import matrix_to_quaternion
from contact_ddp_ros.robot.straight_legs import JointMap

Array = NDArray[np.float64]

_PREFIX = "theirs_"
"""Before the names in the file, so that they are not those of the world."""

_HIDDEN = 3
"""MuJoCo draws shapes of groups below this."""

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


@dataclass(frozen=True)
class AddedRobot:
    """A robot of an MJCF file that was put into a world.

    Attributes:
        compiled: MuJoCo's model of the file.
        names: names of its bodies in the world, by those in the file.
    """

    compiled: mujoco.MjModel
    names: Mapping[str, str]

    def complete(self, model: mujoco.MjModel, trunk_mass_scale: float) -> None:
        """Give the world's compiled model the file's masses, which settings of its compiler may have changed.

        Those of the trunk, and of what is fixed to it, are scaled.
        """
        trunk = model.body_weldid[model.body(BASE_LINK).id]
        for theirs, ours in self.names.items():
            here, there = model.body(ours).id, self.compiled.body(theirs).id
            scale = trunk_mass_scale if model.body_weldid[here] == trunk else 1.0
            model.body_mass[here] = scale * self.compiled.body_mass[there]
            model.body_inertia[here] = scale * self.compiled.body_inertia[there]
        mujoco.mj_setConst(model, mujoco.MjData(model))


def add_robot(spec: mujoco.MjSpec, path: Path, planned: Robot) -> AddedRobot:
    """Put the robot of an MJCF file into a world, as a free body named like the trunk.

    Its cameras, lights, tendons, other actuators and keyframes are left out, and joints of no leg are fixed.

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
    for part in (*theirs.keys, *theirs.sensors, *theirs.tuples, *theirs.tendons, *theirs.cameras, *theirs.lights):
        theirs.delete(part)
    _fix_joints(theirs, compiled, {*robot.joint_map.names}, robot.profile.lock)
    _place(trunk, np.zeros(3), np.eye(3))
    for one in list(theirs.actuators):
        if one.trntype not in _JOINT or one.target not in robot.joint_map.names:
            theirs.delete(one)
        elif _is_plain(one):
            one.ctrlrange, one.inheritrange = compiled.actuator(one.name).ctrlrange, 0.0
    spec.option.impratio = theirs.option.impratio
    rotation, origin = robot.joint_map.root
    base = spec.worldbody.add_body(name=BASE_LINK)
    base.add_freejoint(name="floating_base")
    frame = base.add_frame(pos=origin, quat=np.roll(matrix_to_quaternion(rotation), 1))
    frame.attach_body(trunk, _PREFIX, "")
    _adopt_joints(spec, robot.joint_map)
    for name, limit in zip(JOINT_NAMES, planned.effort_limits.tolist(), strict=True):
        if not any(one.name == name for one in spec.actuators):
            add_motor(spec, name, limit)
    _adopt_feet(spec, path, robot.profile.legs, robot.foot_radius, compiled)
    own = [geom for body in spec.bodies[1:] for geom in body.geoms]
    if all(geom.group >= _HIDDEN for geom in own):
        for geom in own:
            geom.group = 0
    return AddedRobot(compiled, _names(spec, compiled, robot.joint_map))


def _adopt_feet(
    spec: mujoco.MjSpec, path: Path, legs: Mapping[str, Leg], radius: float, compiled: mujoco.MjModel
) -> None:
    """Name the shape of every foot; legs that end in no sphere, wheel or foot body get a sphere of a radius [m]."""
    ends = round_ends(compiled)
    for leg, name in zip(LEG_NAMES, FOOT_NAMES, strict=True):
        foot, place = legs[leg].foot, legs[leg].place
        end, body = ends.get(foot), spec.body(_PREFIX + foot)
        if place is not None:
            shank = spec.joint(f"{leg}_{LEG_JOINTS[-1]}_joint").parent
            _add_foot(shank, name, compiled.joint(legs[leg].joints[-1]).pos + place, radius)
            continue
        if end is not None:
            shape = spec.geom(_PREFIX + compiled.geom(end.shape).name)
            if shape.type == mujoco.mjtGeom.mjGEOM_CAPSULE:
                _add_foot(shape.parent, name, end.place, end.radius)
                continue
        elif body is None or not _colliding(body):
            raise ModelError(f"{path}: {foot}, the foot of leg {leg}, has no shape that collides; needed: one")
        else:
            shape = _colliding(body)[0]
        shape.contype = shape.contype or 1  # one that only collides with the file's own ground
        _rename(shape, name, (spec.pairs, "geomname"))


def _names(spec: mujoco.MjSpec, compiled: mujoco.MjModel, joint_map: JointMap) -> dict[str, str]:
    """Names of bodies in the world by those in the file, of bodies that were attached."""
    joints = zip(joint_map.names, JOINT_NAMES, strict=True)
    own = {compiled.body(compiled.jnt_bodyid[compiled.joint(one).id]).name: _body_of(name) for one, name in joints}
    here = {body.name for body in spec.bodies}
    names = [compiled.body(index).name for index in range(1, compiled.nbody)]
    found = {name: own.get(name, _PREFIX + name) for name in names}
    return {name: ours for name, ours in found.items() if ours in here}


def _fix_joints(
    spec: mujoco.MjSpec, compiled: mujoco.MjModel, legs: Container[str], positions: Mapping[str, float]
) -> None:
    """Fix all joints but those of legs where they are at positions [rad, m], or where the file has them."""
    data = mujoco.MjData(compiled)
    for name, position in positions.items():
        data.joint(name).qpos[0] = position
    mujoco.mj_kinematics(compiled, data)
    for joint in [one for one in spec.joints if one.name not in legs]:
        body = joint.parent
        here, above = data.body(body.name), data.body(body.parent.name)
        rotation = above.xmat.reshape(3, 3).T
        _place(body, rotation @ (here.xpos - above.xpos), rotation @ here.xmat.reshape(3, 3))
        spec.delete(joint)


def _add_foot(body: mujoco.MjsBody, name: str, place: Array, radius: float) -> None:
    """Give a body that has no sphere for a foot one at a place (3,) [m]; its other shapes touch nothing then."""
    for shape in _colliding(body):
        shape.contype = shape.conaffinity = 0
    sphere = mujoco.mjtGeom.mjGEOM_SPHERE
    body.add_geom(name=name, type=sphere, size=[radius, 0.0, 0.0], pos=place, mass=0.0, condim=3)


def _place(body: mujoco.MjsBody, position: Array, rotation: Array) -> None:
    """Put a body at a position (3,) [m] and rotation (3, 3) in its parent, however the file says its pose."""
    body.set_frame(body.parent.add_frame())
    body.pos, body.quat = position, np.roll(matrix_to_quaternion(np.ascontiguousarray(rotation)), 1)
    body.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT


def _rename(part: Any, name: str, *users: tuple[Iterable[Any], str]) -> None:
    """Rename a part of a model and where others refer to it, by two attributes that end with 1 and 2."""
    for others, reference in users:
        for one, number in itertools.product(others, "12"):
            if getattr(one, reference + number) == part.name:
                setattr(one, reference + number, name)
    part.name = name


def _body_of(joint: str) -> str:
    """Name of the body that a joint of JOINT_NAMES moves."""
    return joint.removesuffix("_joint")


def _colliding(body: mujoco.MjsBody) -> list[mujoco.MjsGeom]:
    return [geom for geom in body.geoms if geom.contype or geom.conaffinity]


def _adopt_joints(spec: mujoco.MjSpec, joint_map: JointMap) -> None:
    """Give joints, their bodies, and the one actuator that each has, this package's names, signs and zeros."""
    of_joints = [one for one in spec.equalities if one.type == mujoco.mjtEq.mjEQ_JOINT]
    of_bodies = [one for one in spec.equalities if one.objtype == mujoco.mjtObj.mjOBJ_BODY]
    adopted = set()
    for name, theirs, sign, zero in zip(JOINT_NAMES, joint_map.names, joint_map.signs, joint_map.zeros, strict=True):
        joint = spec.joint(_PREFIX + theirs)
        offset = zero * (math.degrees(1.0) if joint.compiler.degree else 1.0)
        actuators = [one for one in spec.actuators if one.target == joint.name and one.trntype in _JOINT]
        _rename(joint.parent, _body_of(name), (spec.excludes, "bodyname"), (of_bodies, "name"))
        _rename(joint, name, (of_joints, "name"))
        joint.axis = sign * np.asarray(joint.axis)
        joint.range = sorted(sign * (np.asarray(joint.range) - offset))
        joint.actfrcrange = sorted(sign * np.asarray(joint.actfrcrange))
        joint.ref, joint.springref = sign * (joint.ref - offset), sign * (joint.springref - offset)
        for one in actuators:
            if len(actuators) == 1 and _is_plain(one):
                one.name, one.target = name, name
                one.biasprm[0] += one.biasprm[1] * one.gear[0] * zero
                one.gear[0] *= sign
                adopted.add(name)
            else:
                joint.armature += one.armature * one.gear[0] ** 2
                joint.damping = np.asarray(joint.damping) + np.asarray(one.damping) * one.gear[0] ** 2
    for one in [one for one in spec.actuators if one.name not in adopted]:
        spec.delete(one)


def _is_plain(actuator: mujoco.MjsActuator) -> bool:
    """True if the actuator's force is known from its control, and the joint's angle and velocity."""
    fixed = actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED and actuator.dyntype == mujoco.mjtDyn.mjDYN_NONE
    known = fixed and actuator.biastype in _BIAS and actuator.delay == 0.0
    return bool(known and actuator.gainprm[0] and actuator.gear[0])


def add_motor(spec: mujoco.MjSpec, joint: str, limit: float) -> None:
    """Give a joint a motor of its name with a limited torque [N m]."""
    actuator = spec.add_actuator(
        name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT, ctrlrange=[-limit, limit], ctrllimited=True
    )
    actuator.set_to_motor()
