"""MJCF reader: the robot of a MuJoCo file as a URDF, by MuJoCo's own compiler.

Bodies become links and hinges become revolute joints, with the same angles: a joint's reference stays in its origin.
Limits of torque are those of the actuators. Spheres that collide become links of their own, fixed to their bodies, as
feet are in a URDF. The ground and whatever else is fixed to the world is left out.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.rotation import matrix_to_rpy, quaternion_to_matrix, rotation_vector_to_quaternion
from contact_ddp_ros.robot.shapes import add_shape, text_of

if TYPE_CHECKING:
    from contact_ddp_ros.base.mujoco_engine import mujoco

Array = NDArray[np.float64]

_FREE, _BALL, _SLIDE, _HINGE = range(4)
"""MuJoCo's types of joints."""

_SPHERE, _CAPSULE, _CYLINDER, _BOX = 2, 3, 5, 6
"""MuJoCo's types of shapes that a URDF has, too."""

_SIZES: Final[dict[int, tuple[str, Callable[[Array], tuple[float, ...]]]]] = {
    _SPHERE: ("sphere", lambda size: (float(size[0]),)),
    _CAPSULE: ("cylinder", lambda size: (float(size[0]), 2.0 * float(size[1]))),
    _CYLINDER: ("cylinder", lambda size: (float(size[0]), 2.0 * float(size[1]))),
    _BOX: ("box", lambda size: tuple((2.0 * size).tolist())),
}
"""Kinds of shapes in a URDF and their sizes there, from MuJoCo's half sizes."""

_ROUND = 0.02
"""Share by which the wide sides of a disc's bounding box may differ."""


def is_mjcf(path: Path) -> bool:
    """True if the root element of an XML file is that of MuJoCo's."""
    try:
        return next(ElementTree.iterparse(path, events=("start",)))[1].tag == "mujoco"
    except ElementTree.ParseError:  # of comments that MuJoCo reads, too
        text = path.read_text(encoding="utf-8", errors="replace")
        return "<mujoco" in text and "<robot" not in text
    except (OSError, StopIteration):
        return False


def read_spec(path: Path) -> "mujoco.MjSpec":
    """The robot of an MJCF file, every body, joint, shape and actuator with a name.

    Raises:
        ModelError: the file cannot be read.
    """
    from contact_ddp_ros.base.mujoco_engine import mujoco

    try:
        spec = mujoco.MjSpec.from_file(str(path))
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"MuJoCo cannot read {path}: {' '.join(str(error).split())}") from error
    named = {"body": spec.bodies, "joint": spec.joints, "shape": spec.geoms, "actuator": spec.actuators}
    for kind, parts in named.items():
        taken = {part.name for part in parts}
        free = (name for name in (f"{kind}_{index}" for index in itertools.count()) if name not in taken)
        for part in parts:
            part.name = part.name or next(free)
    return spec


def trunk_of(spec: "mujoco.MjSpec", path: Path) -> Any:
    """The body that moves freely. Raises ModelError where there is none or more than one."""
    free = [body for body in spec.bodies if any(joint.type == _FREE for joint in body.joints)]
    if len(free) != 1:
        names = ", ".join(body.name for body in free) or "none"
        raise ModelError(f"{path} has {len(free)} bodies with a free joint: {names}; needed: one, the trunk")
    return free[0]


@dataclass(frozen=True)
class RoundEnd:
    """Sphere that collides, or an end of a capsule, which may be a foot.

    Attributes:
        shape: index of MuJoCo's shape.
        place: (3,) of the centre in its body [m].
        radius: [m].
    """

    shape: int
    place: Array
    radius: float


def round_ends(model: "mujoco.MjModel") -> dict[str, RoundEnd]:
    """Spheres that collide by the names of their links, and ends of capsules on last bodies that have no sphere."""
    taken = {model.body(index).name for index in range(model.nbody)}
    links: dict[str, RoundEnd] = {}

    def add(name: str, shape: int, place: Array) -> None:
        while name in taken:
            name += "_sphere"
        taken.add(name)
        links[name] = RoundEnd(shape, place.copy(), float(model.geom_size[shape, 0]))

    colliding = [index for index in range(model.ngeom) if _collides(model, index)]
    spheres = [index for index in colliding if model.geom_type[index] == _SPHERE]
    for index in spheres:
        add(model.geom(index).name, index, model.geom_pos[index])
    inner = {*model.body_parentid.tolist(), *(model.geom_bodyid[index] for index in spheres)}
    for index in colliding:
        if model.geom_type[index] == _CAPSULE and model.geom_bodyid[index] not in inner:
            half = _pose(model.geom_quat[index])[:, 2] * model.geom_size[index, 1]
            for side, sign in (("below", -1.0), ("above", 1.0)):
                add(f"{model.geom(index).name}_{side}", index, model.geom_pos[index] + sign * half)
    return links


def urdf_of_mjcf(path: Path) -> Element:
    """The XML of a URDF with the robot of an MJCF file.

    Raises:
        ModelError: the file cannot be read, has no trunk that moves freely, or MuJoCo refuses it.
    """
    spec = read_spec(path)
    trunk = trunk_of(spec, path).name
    try:
        model = spec.compile()
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"MuJoCo refuses {path}: {' '.join(str(error).split())}") from error
    return _Urdf(model, model.body(trunk).id).robot


class _Urdf:
    """The URDF of a compiled model's body and of those that it carries."""

    def __init__(self, model: "mujoco.MjModel", trunk: int) -> None:
        self._model = model
        self.robot = Element("robot", name=model.names[: model.names.index(b"\0")].decode() or "robot")
        self._ends = round_ends(model)
        shifts = {trunk: np.zeros(3)}  # origin of each body's link in the body's frame
        self._add_link(trunk, shifts[trunk])
        for body in range(trunk + 1, model.nbody):
            parent = int(model.body_parentid[body])
            if parent in shifts:
                shifts[body] = self._add_joints(body, parent, shifts[parent])
                self._add_link(body, shifts[body])

    def _add_joints(self, body: int, parent: int, parent_shift: Array) -> Array:
        """Joints from a body's parent to its link, links without mass between them; the link's origin in the body."""
        model = self._model
        rotation, place = _pose(model.body_quat[body]), model.body_pos[body] - parent_shift
        link, shift = model.body(parent).name, np.zeros(3)
        joints = list(range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]))
        for joint in joints:
            anchor, axis = model.jnt_pos[joint], model.jnt_axis[joint]
            kind, name = int(model.jnt_type[joint]), model.joint(joint).name
            back = -float(model.qpos0[model.jnt_qposadr[joint]]) if kind in (_HINGE, _SLIDE) else 0.0
            place = place + rotation @ (anchor - shift)
            shift = np.array(anchor)
            if kind == _HINGE:
                rotation = rotation @ quaternion_to_matrix(rotation_vector_to_quaternion(back * axis))
            elif kind == _SLIDE:
                place = place + rotation @ axis * back
            child = model.body(body).name if joint == joints[-1] else f"{name}_carrier"
            if joint != joints[-1]:
                SubElement(self.robot, "link", name=child)
            self._add_joint(joint, name, link, child, place, rotation)
            link, rotation, place = child, np.eye(3), np.zeros(3)
        if not joints:
            name = model.body(body).name
            self._fix(f"{name}_fixed", link, name, place, rotation)
        return shift

    def _add_joint(self, joint: int, name: str, parent: str, child: str, place: Array, rotation: Array) -> None:
        model, kind = self._model, int(self._model.jnt_type[joint])
        limited = bool(model.jnt_limited[joint])
        words = {_HINGE: "revolute" if limited else "continuous", _SLIDE: "prismatic", _FREE: "floating"}
        element = self._fix(name, parent, child, place, rotation)
        if kind == _BALL:
            return  # locked, as other joints that are of no leg
        element.set("type", words[kind])
        if kind == _FREE:
            return
        dof = model.jnt_dofadr[joint]
        SubElement(element, "axis", xyz=text_of(model.jnt_axis[joint]))
        low, high = model.jnt_range[joint] if limited else (0.0, 0.0)
        SubElement(
            element,
            "limit",
            lower=repr(float(low)),
            upper=repr(float(high)),
            effort=repr(_effort(model, joint)),
            velocity="0",
        )
        SubElement(
            element,
            "dynamics",
            armature=repr(float(model.dof_armature[dof]) + _added(model, joint, "armature")),
            damping=repr(float(model.dof_damping[dof]) + _added(model, joint, "damping")),
            friction=repr(float(model.dof_frictionloss[dof])),
        )

    def _fix(self, name: str, parent: str, child: str, place: Array, rotation: Array) -> Element:
        """A joint that does not move."""
        element = SubElement(self.robot, "joint", name=name, type="fixed")
        SubElement(element, "parent", link=parent)
        SubElement(element, "child", link=child)
        SubElement(element, "origin", xyz=text_of(place), rpy=_rpy(rotation))
        return element

    def _add_link(self, body: int, shift: Array) -> None:
        """A body with its inertia and shapes; spheres that collide on links of their own."""
        model, name = self._model, self._model.body(body).name
        link = SubElement(self.robot, "link", name=name)
        if model.body_mass[body] > 0.0:
            inertial = SubElement(link, "inertial")
            rotation = _pose(model.body_iquat[body])
            SubElement(inertial, "mass", value=repr(float(model.body_mass[body])))
            SubElement(inertial, "origin", xyz=text_of(model.body_ipos[body] - shift))
            inertia = rotation @ np.diag(model.body_inertia[body]) @ rotation.T
            entries = {f"i{a}{b}": inertia[i, j] for i, a in enumerate("xyz") for j, b in enumerate("xyz") if i <= j}
            SubElement(inertial, "inertia", {key: repr(float(value)) for key, value in entries.items()})
        ends = {one.shape for one in self._ends.values()}
        for index in range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body]):
            if index not in ends or model.geom_type[index] == _CAPSULE:
                self._add_shape(link, index, model.geom_pos[index] - shift)
        for end, one in self._ends.items():
            if model.geom_bodyid[one.shape] == body:
                self._fix(f"{end}_fixed", name, end, one.place - shift, np.eye(3))
                colour = text_of(model.geom_rgba[one.shape])
                own = SubElement(self.robot, "link", name=end)
                add_shape(own, "collision", "sphere", (one.radius,), np.eye(3), np.zeros(3), colour)

    def _add_shape(self, link: Element, index: int, place: Array) -> None:
        """A shape of a body; meshes that collide by their bounding boxes, or as the discs that fill these."""
        model, rotation = self._model, _pose(self._model.geom_quat[index])
        collides, kind, size = _collides(model, index), int(model.geom_type[index]), model.geom_size[index]
        if kind not in _SIZES and not collides:
            SubElement(SubElement(SubElement(link, "visual"), "geometry"), "mesh", filename=model.geom(index).name)
            return
        if kind not in _SIZES:
            middle, size, kind = model.geom_aabb[index, :3], model.geom_aabb[index, 3:], _BOX
            place = place + rotation @ middle
            thin, *wide = np.argsort(size)
            if np.ptp(size[wide]) < _ROUND * size[wide].max():
                rotation = rotation @ np.eye(3)[:, [(thin + 1) % 3, (thin + 2) % 3, thin]]
                kind, size = _CYLINDER, np.array([size[wide].mean(), size[thin]])
        name, sizes = _SIZES[kind]
        purpose = "collision" if collides else "visual"
        add_shape(link, purpose, name, sizes(size), rotation, place, text_of(model.geom_rgba[index]))


def _collides(model: "mujoco.MjModel", index: int) -> bool:
    paired = index in model.pair_geom1 or index in model.pair_geom2
    return bool(model.geom_contype[index] or model.geom_conaffinity[index] or paired)


def _effort(model: "mujoco.MjModel", joint: int) -> float:
    """Largest torque or force that actuators give a joint, as limits have it; 0 where there is no limit."""
    limits = []
    for index in _actuators(model, joint):
        most, control = np.inf, int(model.actuator_ctrladr[index])
        if model.actuator_forcelimited[index]:
            most = float(np.abs(model.actuator_forcerange[index]).max())
        if control >= 0 and model.actuator_ctrllimited[control] and not model.actuator_biastype[index]:
            reach = float(np.abs(model.actuator_ctrlrange[control] * model.actuator_gainprm[index, 0]).max())
            most = min(most, reach)
        limits.append(most * abs(float(model.actuator_gear[index, 0])))
    found = sum(limits) if limits else np.inf
    if model.jnt_actfrclimited[joint]:
        found = min(found, float(np.abs(model.jnt_actfrcrange[joint]).max()))
    return found if np.isfinite(found) else 0.0


def _actuators(model: "mujoco.MjModel", joint: int) -> list[int]:
    """Actuators of a joint; MuJoCo counts controls, of which some have several."""
    to_joint = np.isin(model.actuator_trntype, (0, 1)) & (model.actuator_trnid[:, 0] == joint)
    return [int(index) for index in np.flatnonzero(to_joint)]


def _added(model: "mujoco.MjModel", joint: int, of: str) -> float:
    """Armature [kg m^2] or damping [N m s/rad] that actuators add to a joint's."""
    values, gears = getattr(model, f"actuator_{of}"), model.actuator_gear[:, 0]
    return sum(float(values[index] * gears[index] ** 2) for index in _actuators(model, joint))


def _pose(quaternion: Array) -> Array:
    """(3, 3) rotation of a quaternion in MuJoCo's order."""
    return quaternion_to_matrix(np.roll(quaternion, -1))


def _rpy(rotation: Array) -> str:
    return text_of(matrix_to_rpy(np.ascontiguousarray(rotation)))
