"""A rigid-body tree prepared for small expression graphs, without changing its dynamics.

Three classical reformulations are made once, in numbers:

1. Base inertial parameters (Khalil & Dombre, Modeling, Identification and Control of Robots, 2002, ch. 9): whatever
   part of a body's inertia is the same whether fixed to the body or to its parent is moved to the parent. The links of
   a leg lose their masses, which then act at the trunk.
2. Shared frames: consecutive revolute joints with parallel axes (a "run": pitch, hip and knee of a planar robot) keep
   one expression frame, in which the axis is constant and nothing needs to be rotated from body to body.
3. Absolute coordinates: the angle of a joint in a run is measured from the run's frame, the sum of the signed joint
   angles up to it. With `q` the joint coordinates, the absolute ones are `T q`, T constant with entries 0 and +-1;
   rates, accelerations and multipliers map alike, and generalised forces map back with T'.

Every algorithm of this room works in absolute coordinates; `contact`, `impact` and `partials` map from and to joints.
"""

from dataclasses import dataclass

import casadi as cs
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.dynamics.spatial import SpatialInertia, tidy
from contact_ddp_ros.robot.tree import Joint, RigidBodyTree

Array = NDArray[np.float64]

_WORLD = -1
_PARALLEL = 1.0 - 1e-12
"""Axes whose cosine exceeds this are parallel."""


@dataclass(frozen=True)
class Link:
    """A body, with its constants in the frame that its vectors are expressed in.

    Attributes:
        parent: index of the parent body, -1 for the world.
        prismatic: kind of the joint; revolute otherwise.
        frame: index of its expression frame in `Mechanism.frames`.
        axis: (3,) joint axis, constant in the expression frame for a revolute joint. For a prismatic joint it is given,
            like `offset`, in the parent's `posture`.
        angle: index of the absolute coordinate that turns the body in its expression frame, or -1 if none does.
        turning: (3,) axis of that turning, constant in the expression frame.
        posture: (3, 3) orientation of the body in its expression frame where that angle is zero.
        predecessor: joint whose absolute coordinate is part of this one's, or -1.
        sign: of the joint coordinate in the absolute coordinate.
        offset: (3,) origin in the parent's body frame.
        inertia: what the body keeps of its inertia, in the body frame.
    """

    parent: int
    prismatic: bool
    frame: int
    axis: Array
    angle: int
    turning: Array
    posture: Array
    predecessor: int
    sign: float
    offset: Array
    inertia: SpatialInertia


@dataclass(frozen=True)
class Foot:
    """A contact point: carrying body, (3,) centre in the body frame [m], radius [m]."""

    name: str
    body: int
    position: Array
    radius: float


@dataclass(frozen=True)
class Mechanism:
    """The prepared tree.

    Attributes:
        links: one per joint, parents first.
        frames: of each expression frame the body whose axes it is; -1, the world, for the first.
        feet: all contact points.
        gravity: (3,) [m/s^2].
        armature: (n,) added to the diagonal of H in joint coordinates.
        damping: (n,) viscous friction in joint coordinates.
        motors: (n,) 1 for each joint that has one, else 0.
        carrier: the body of a payload: of a floating base the trunk, else the first one.
    """

    links: tuple[Link, ...]
    frames: tuple[int, ...]
    feet: tuple[Foot, ...]
    gravity: Array
    armature: Array
    damping: Array
    motors: Array
    carrier: int

    @property
    def n(self) -> int:
        """Number of degrees of freedom."""
        return len(self.links)

    def absolute(self, joint: cs.SX) -> cs.SX:
        """T x: absolute coordinates, rates or multipliers from (n,) joint ones."""
        values: list[cs.SX] = []
        for i, link in enumerate(self.links):
            own = joint[i] if link.sign > 0 else -joint[i]
            values.append(own if link.predecessor < 0 else values[link.predecessor] + own)
        return cs.vertcat(*values)

    def transform(self) -> Array:
        """(n, n) T."""
        rows = np.zeros((self.n, self.n))
        for i, link in enumerate(self.links):
            rows[i, i] = link.sign
            if link.predecessor >= 0:
                rows[i] += rows[link.predecessor]
        return rows

    def pull_back(self, absolute: cs.SX) -> cs.SX:
        """T' X: joint rows from the (n, m) rows of absolute coordinates; forces, or derivatives by coordinates."""
        rows = [absolute[i, :] for i in range(self.n)]
        for i in reversed(range(self.n)):
            link = self.links[i]
            if link.predecessor >= 0:
                rows[link.predecessor] = rows[link.predecessor] + rows[i]
            if link.sign < 0:
                rows[i] = -rows[i]
        return cs.vertcat(*rows)

    def path(self, body: int) -> list[int]:
        """The bodies from the root to a body, that one the last."""
        parent = self.links[body].parent
        return [*([] if parent == _WORLD else self.path(parent)), body]

    def select(self, names: tuple[str, ...]) -> tuple[Foot, ...]:
        """The feet of these names, in that order; ModelError for an unknown one."""
        known = {foot.name: foot for foot in self.feet}
        for name in names:
            if name not in known:
                raise ModelError(f"no contact point {name!r} in the model; it has {sorted(known)}")
        return tuple(known[name] for name in names)


_ORTHONORMAL = 1e-6
"""Tolerance of an axis's length about 1, and of a frame's R R' about the identity."""

_NEGATIVE_INERTIA = 1e-9
"""Slack for rounding of the least principal moment of inertia, relative to the largest entry [or to 1 kg m^2]."""


def prepare(tree: RigidBodyTree) -> Mechanism:
    """Prepare a tree.

    Raises:
        ModelError: a parent comes after its child, a joint is neither revolute nor prismatic, or its axis, its frame or
            its body's inertia is none.
    """
    for i, joint in enumerate(tree.joints):
        if not _WORLD <= joint.parent < i:
            raise ModelError(f"joint {joint.name!r} has index {i} and parent {joint.parent}; parents must come first")
        if joint.kind not in ("revolute", "prismatic"):
            raise ModelError(f"joint {joint.name!r} is {joint.kind!r}; only revolute and prismatic joints are modelled")
        _check(joint)
    frames = [_WORLD]
    links: list[Link] = []
    for joint, inertia in zip(tree.joints, _regroup(tree.joints), strict=True):
        links.append(_link(joint, inertia, links, frames))
    return Mechanism(
        links=tuple(links),
        frames=tuple(frames),
        feet=tuple(Foot(p.name, p.body, tidy(p.position), float(p.radius)) for p in tree.contacts),
        gravity=tidy(tree.gravity),
        armature=np.array([joint.armature for joint in tree.joints]),
        damping=np.array([joint.damping for joint in tree.joints]),
        motors=np.isin(np.arange(tree.n), tree.actuated).astype(float),
        carrier=next((i for i, joint in enumerate(tree.joints) if joint.mass > 0.0), 0),
    )


def _check(joint: Joint) -> None:
    """Numbers that would give a wrong dynamics in silence."""
    length = float(np.linalg.norm(joint.axis))
    if not abs(length - 1.0) < _ORTHONORMAL:
        raise ModelError(f"joint {joint.name!r} has an axis of length {length:.6g}; allowed: 1")
    skew = float(np.abs(joint.rotation @ joint.rotation.T - np.eye(3)).max())
    if not (skew < _ORTHONORMAL and np.linalg.det(joint.rotation) > 0.0):
        raise ModelError(f"joint {joint.name!r} has a frame that is no rotation: R R' differs from 1 by {skew:.3g}")
    for what, value in (("mass", joint.mass), ("armature", joint.armature), ("damping", joint.damping)):
        if not 0.0 <= value < np.inf:
            raise ModelError(f"joint {joint.name!r} has a {what} of {value}; allowed: a finite number, not negative")
    if not (np.isfinite(joint.com).all() and np.isfinite(joint.translation).all()):
        raise ModelError(f"joint {joint.name!r} has a centre of mass or an origin that is not finite")
    lowest = float(np.linalg.eigvalsh(joint.inertia).min()) if np.isfinite(joint.inertia).all() else np.nan
    if not lowest >= -_NEGATIVE_INERTIA * max(float(np.abs(joint.inertia).max()), 1.0):
        raise ModelError(f"the body of joint {joint.name!r} has a least moment of inertia of {lowest:.3g} kg m^2")


def _regroup(joints: tuple[Joint, ...]) -> list[SpatialInertia]:
    """Inertias after everything that may be has been moved towards the root; what reaches the world is dropped."""
    inertias = [SpatialInertia.of_body(joint.mass, joint.com, joint.inertia) for joint in joints]
    for i in reversed(range(len(joints))):
        joint = joints[i]
        parent = None if joint.parent == _WORLD else joints[joint.parent]
        # A massless body of a floating base would only become heavier to compute by anything but a point mass.
        bare = parent is not None and parent.kind == "revolute" and parent.mass == 0.0
        movable = _movable(joint, inertias[i], point_only=bare)
        inertias[i] = (inertias[i] - movable).tidied()
        if parent is not None:
            origin = joint.translation if joint.kind == "revolute" else np.zeros(3)
            inertias[joint.parent] = inertias[joint.parent] + movable.in_parent(joint.rotation, origin)
    return inertias


def _movable(joint: Joint, inertia: SpatialInertia, point_only: bool) -> SpatialInertia:
    """The part of a body's inertia that its joint's motion does not distinguish from the parent's."""
    nothing = np.zeros((3, 3))
    if joint.kind == "prismatic":
        return SpatialInertia(0.0, np.zeros(3), nothing if point_only else inertia.rotational)
    if point_only:
        return SpatialInertia(inertia.mass, np.zeros(3), nothing)
    # Mass on the axis does not feel the turning: a point mass, a first and a second moment along the axis.
    axis = tidy(joint.axis)
    along = axis @ inertia.second_moment @ axis
    return SpatialInertia(
        inertia.mass, (axis @ inertia.first_moment) * axis, along * (np.eye(3) - np.outer(axis, axis))
    )


def _link(joint: Joint, inertia: SpatialInertia, links: list[Link], frames: list[int]) -> Link:
    """The next link, in its parent's expression frame where that keeps its axis constant; may open a new frame."""
    parent = links[joint.parent] if joint.parent != _WORLD else None
    rotation, own_axis = np.asarray(joint.rotation), np.asarray(joint.axis)
    posture = rotation if parent is None else parent.posture @ rotation
    frame = 0 if parent is None else parent.frame
    axis = posture @ own_axis
    angle, turning, predecessor, sign = len(links), axis, -1, 1.0
    prismatic = joint.kind == "prismatic"
    if prismatic:
        axis = rotation @ own_axis
        angle, turning = (-1, np.zeros(3)) if parent is None else (parent.angle, parent.turning)
    elif parent is not None and parent.angle >= 0:
        cosine = float(axis @ parent.turning)
        if abs(cosine) > _PARALLEL:
            axis = turning = parent.turning
            predecessor, sign = parent.angle, float(np.sign(cosine))
        else:
            if joint.parent not in frames:
                frames.append(joint.parent)
            frame, posture = frames.index(joint.parent), rotation
            axis = turning = rotation @ own_axis
    return Link(
        parent=joint.parent,
        prismatic=prismatic,
        frame=frame,
        axis=tidy(axis),
        angle=angle,
        turning=tidy(turning),
        posture=tidy(posture),
        predecessor=predecessor,
        sign=sign,
        offset=tidy(joint.translation),
        inertia=inertia,
    )
