"""A robot of other hands in MuJoCo: an MJCF file with the joints of the Mini Cheetah and its own everything else.

Masses, inertias, damping, friction, shapes and contacts stay as the file has them, and the planner knows nothing of
them. Names become this package's, and axes get its signs: abduction about x, hip and knee about -y.
"""

from pathlib import Path
from typing import Final

import numpy as np

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.engine import mujoco
from contact_ddp_ros.robot.joints import BASE_LINK, FOOT_NAMES, JOINT_NAMES, LEG_NAMES
from contact_ddp_ros.robot.normalized_urdf import AXES

_LEGS: Final = {"fr": "FR", "fl": "FL", "hr": "RR", "hl": "RL"}
"""Names of legs in such files, which are Unitree's mostly."""

_JOINTS: Final = ("hip_joint", "thigh_joint", "calf_joint")
"""Abduction, hip and knee there."""


def read_robot(path: Path) -> mujoco.MjSpec:
    """The robot of an MJCF file under this package's names, without its actuators.

    Raises:
        ParameterError: the file cannot be read, or its robot is none of twelve such joints on a free trunk with a
            sphere for each foot; the text says what is missing.
    """
    try:
        spec = mujoco.MjSpec.from_file(str(path))
    except (OSError, ValueError, RuntimeError) as error:
        raise ParameterError(f"simulator.mjcf: {path} cannot be read: {' '.join(str(error).split())}") from error
    if any(geom.contype or geom.conaffinity for geom in spec.worldbody.geoms):
        raise ParameterError(
            f"simulator.mjcf: {path} has a ground; give the robot alone, the ground is simulator.terrain"
        )
    trunks = [body for body in spec.worldbody.bodies if any(j.type == mujoco.mjtJoint.mjJNT_FREE for j in body.joints)]
    if len(trunks) != 1:
        raise ParameterError(f"simulator.mjcf: {path} has {len(trunks)} free bodies; allowed: one, the trunk")
    for part in (*spec.actuators, *spec.keys, *spec.sensors):
        spec.delete(part)
    trunks[0].name = BASE_LINK
    for leg, foot, names in zip(LEG_NAMES, FOOT_NAMES, np.reshape(JOINT_NAMES, (-1, 3)).tolist(), strict=True):
        for name, suffix, axis in zip(names, _JOINTS, AXES.values(), strict=True):
            _adopt(spec, path, name, f"{_LEGS[leg]}_{suffix}", axis)
        _name_foot(spec, path, names[-1], foot)
    return spec


def _adopt(spec: mujoco.MjSpec, path: Path, name: str, theirs: str, axis: tuple[float, float, float]) -> None:
    """Give a joint our name and sign."""
    joint = spec.joint(theirs)
    if joint is None:
        there = ", ".join(sorted(one.name for one in spec.joints if one.name))
        raise ParameterError(f"simulator.mjcf: {path} has no joint {theirs}; there are {there}")
    along = float(np.dot(joint.axis, axis) / np.linalg.norm(joint.axis))
    if abs(abs(along) - 1.0) > 1e-6:
        raise ParameterError(
            f"simulator.mjcf: {path}: joint {theirs} turns about {list(joint.axis)}, not about {list(axis)}"
        )
    if along < 0.0:
        joint.axis = axis
        joint.range = [-joint.range[1], -joint.range[0]]
    joint.name = name


def _name_foot(spec: mujoco.MjSpec, path: Path, knee: str, foot: str) -> None:
    """Give the sphere below a knee the foot's name."""
    todo, spheres = [spec.joint(knee).parent], []
    while todo:
        body = todo.pop()
        todo += body.bodies
        spheres += [geom for geom in body.geoms if geom.type == mujoco.mjtGeom.mjGEOM_SPHERE]
    if len(spheres) != 1:
        raise ParameterError(f"simulator.mjcf: {path} has {len(spheres)} spheres below {knee}; allowed: one, the foot")
    spheres[0].name = foot
