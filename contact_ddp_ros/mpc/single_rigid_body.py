r"""The robot as one rigid body that the feet's forces move: the model of the horizon's tail.

Legs count by their mass alone, at a posture that is kept. With q = (position of the trunk's origin, angles φ), the
force F_f of the ground on foot f at the place r_f, mass m, centre c and inertia I about it in the trunk's axes, and the
trunk's orientation R(φ), velocity ω = E(φ) φ̇ in its own axes:

    p_c = p + R c,      p̈_c = Σ_f F_f / m + g,      I ω̇ + ω × I ω = Rᵀ Σ_f (r_f − p_c) × F_f

so that v̇ is explicit in (q, v, F). It is linear in F. The places r_f are those of the reference, not variables.

See eqs. (34) and (35) of docs/mathematics.md.
"""

from dataclasses import dataclass

import casadi as cs
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.compiled.casadi_functions import compile_functions
from contact_ddp_ros.base.compiled.kernel_set import KernelSet
from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.dynamics.spatial import cross, rotation_about
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc import optional_kernels as node_parts
from contact_ddp_ros.mpc.layout import N_BODY
from contact_ddp_ros.robot.ground import Payload
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rotation_vector_to_quaternion
from contact_ddp_ros.robot.tree import Joint, RigidBodyTree

Array = NDArray[np.float64]

_STIFFNESS, _DAMPING = 25.0, 10.0
"""Per inertia, of the guess [1/s², 1/s]."""

_REGULAR = 1e-3
"""Keeps the guess's forces small in directions that the feet hardly reach, such as a moment about the line of two."""

BODY, BODY_FIRST, BODY_SECOND = "body", "body_first", "body_second"
"""Names of the kernels: (q, v, F, r, b) → v̇; its Jacobian by (q, v, F), row-major; with γ, the Hessian of γᵀv̇."""


@dataclass(frozen=True)
class RigidBody:
    """Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m²], in the trunk's axes from its origin."""

    mass: float
    com: Array
    inertia: Array

    def carrying(self, payload: Payload) -> "RigidBody":
        """The body with a payload."""
        mass, *place = payload.array()
        total = self.mass + mass
        com = (self.mass * self.com + mass * np.array(place)) / total
        inertia = self.inertia + _about(self.mass, self.com - com) + _about(mass, place - com)
        return RigidBody(total, com, inertia)

    def array(self) -> Array:
        """(N_BODY,) as the kernels read it."""
        i = self.inertia
        return np.array([self.mass, *self.com, i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])


@dataclass(frozen=True)
class SingleRigidBodyModel:
    """Single rigid-body model (SRBD) of a horizon's far part: compiled kernels, and the body."""

    kernels: KernelSet
    body: RigidBody

    @classmethod
    def of(cls, tree: RigidBodyTree, axes: tuple[int, ...], posture: Array) -> "SingleRigidBodyModel":
        """Model of a robot whose joints keep a posture (n,) [rad].

        Raises:
            ModelError: the robot has no floating base, or the feet more force components than there are motors, whose
                places in u the forces take.
        """
        if len(tree.contacts) * len(axes) > len(tree.actuated):
            raise ModelError(
                f"{tree.name} has {len(tree.actuated)} motors and {len(tree.contacts) * len(axes)} force components; a "
                "horizon's tail of a rigid body needs at least as many motors"
            )
        return cls(body_kernels(tree, axes), lumped(tree, posture))

    def link(self, header: NDArray[np.int64]) -> None:
        """Write the addresses of what these nodes call into the header of a problem's `integers`."""
        node_parts.link(node_parts.RIGID_BODY, header)
        for name, slot in ((BODY, at.BODY), (BODY_FIRST, at.BODY_FIRST), (BODY_SECOND, at.BODY_SECOND)):
            header[slot] = self.kernels.address(name)

    @staticmethod
    def footholds(integers: NDArray[np.int64], modes: NDArray[np.int64], rows: Array, xs: Array) -> Array:
        """(N, n_f n_a) places of the feet at states xs (N, 2n) of nodes with modes (N,) and rows of parameters [m]."""
        from contact_ddp_ros.mpc.single_rigid_body_nodes import footholds  # compiled where there is a tail

        return np.asarray(footholds(integers, modes, rows, xs))


def base_of(tree: RigidBodyTree) -> int:
    """Number of joints, the first ones, that carry the trunk.

    Raises:
        ModelError: they are no chain of prismatic joints and then revolute ones, all other joints having motors.
    """
    n_base = min(tree.actuated, default=tree.n)
    base = tree.joints[:n_base]
    kinds = [joint.kind for joint in base]
    chained = all(joint.parent == k - 1 for k, joint in enumerate(base))
    placed = all(not joint.translation.any() and np.array_equal(joint.rotation, np.eye(3)) for joint in base)
    if not (chained and placed and kinds == sorted(kinds)) or tree.n - n_base != len(tree.actuated):
        raise ModelError(f"{tree.name} does not begin with a floating base, which a single rigid body needs")
    return n_base


def lumped(tree: RigidBodyTree, posture: Array) -> RigidBody:
    """All bodies of a robot as one, with its joints at a posture (n,) [rad]."""
    trunk = base_of(tree) - 1
    rotations, origins = [np.eye(3)] * tree.n, [np.zeros(3)] * tree.n
    for k, joint in enumerate(tree.joints[trunk + 1 :], start=trunk + 1):
        rotation, origin = rotations[joint.parent], origins[joint.parent]
        origins[k] = origin + rotation @ joint.translation
        rotations[k] = rotation @ joint.rotation @ _turn(joint, float(posture[k]))
    bodies = range(trunk, tree.n)
    masses = np.array([tree.joints[k].mass for k in bodies])
    centres = np.array([origins[k] + rotations[k] @ tree.joints[k].com for k in bodies])
    com = masses @ centres / masses.sum()
    inertia = np.zeros((3, 3))
    for k, mass, arm in zip(bodies, masses, centres - com, strict=True):
        inertia += rotations[k] @ tree.joints[k].inertia @ rotations[k].T
        inertia += _about(mass, arm)
    return RigidBody(float(masses.sum()), com, inertia)


def _about(mass: float, arm: Array) -> Array:
    """(3, 3) inertia of a point mass at the end of an arm (3,) [kg m²]."""
    return mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))


def _turn(joint: Joint, angle: float) -> Array:
    if joint.kind != "revolute":
        raise ModelError(f"joint {joint.name} is {joint.kind}; a single rigid body takes revolute legs")
    return quaternion_to_matrix(rotation_vector_to_quaternion(angle * joint.axis))


def body_kernels(tree: RigidBodyTree, axes: tuple[int, ...]) -> KernelSet:
    """The compiled kernels of a tree's base, forces along the world's `axes`; from the cache or compiled now."""
    n_base, n_forces = base_of(tree), len(tree.contacts) * len(axes)
    q, v = cs.SX.sym("q", n_base), cs.SX.sym("v", n_base)
    forces, places, body = cs.SX.sym("F", n_forces), cs.SX.sym("r", n_forces), cs.SX.sym("b", N_BODY)
    gamma = cs.SX.sym("gamma", n_base)
    a = _acceleration(tree.joints[:n_base], tree.gravity, axes, q, v, forces, places, body)
    z, arguments = cs.vertcat(q, v, forces), [q, v, forces, places, body]
    jacobian, hessian = cs.jacobian(a, z).T, cs.hessian(cs.dot(gamma, a), z)[0]
    outputs = {BODY: (arguments, a), BODY_FIRST: (arguments, jacobian), BODY_SECOND: ([*arguments, gamma], hessian)}
    return compile_functions(
        [cs.Function(name, given, [cs.densify(cs.cse([one])[0])]) for name, (given, one) in outputs.items()]
    )


def _acceleration(
    base: tuple[Joint, ...],
    gravity: Array,
    axes: tuple[int, ...],
    q: cs.SX,
    v: cs.SX,
    forces: cs.SX,
    places: cs.SX,
    body: cs.SX,
) -> cs.SX:
    """(n_base,) v̇."""
    mass, com = body[0], body[1:4]
    inertia = cs.vertcat(
        cs.horzcat(body[4], body[7], body[8]),
        cs.horzcat(body[7], body[5], body[9]),
        cs.horzcat(body[8], body[9], body[6]),
    )
    shifts = [k for k, joint in enumerate(base) if joint.kind == "prismatic"]
    turns = [k for k, joint in enumerate(base) if joint.kind == "revolute"]
    position, rotation, spins = cs.SX.zeros(3), cs.SX.eye(3), []
    for k in shifts:
        position += cs.DM(base[k].axis) * q[k]
    for k in turns:
        spins.append(cs.mtimes(rotation, cs.DM(base[k].axis)))
        rotation = cs.mtimes(rotation, rotation_about(base[k].axis, q[k]))
    phi, phi_rate = q[turns], v[turns]
    arm = cs.mtimes(rotation, com)
    spin = cs.mtimes(rotation.T, cs.horzcat(*spins))  # E
    omega = cs.mtimes(spin, phi_rate)
    total, moment = cs.SX.zeros(3), cs.SX.zeros(3)
    n_a = len(axes)
    for first in range(0, forces.numel(), n_a):
        force, place = _in_space(axes, forces[first : first + n_a]), _in_space(axes, places[first : first + n_a])
        total += force
        moment += cross(place - position - arm, force)
    bent = cs.jtimes(omega, phi, phi_rate)  # Ė φ̇
    rest = cs.mtimes(rotation.T, moment) - cross(omega, cs.mtimes(inertia, omega)) - cs.mtimes(inertia, bent)
    turning = cs.mtimes([cs.inv(cs.mtimes([spin.T, inertia, spin])), spin.T, rest])
    along = cs.jtimes(cs.jtimes(arm, phi, phi_rate), phi, phi_rate) + cs.jtimes(arm, phi, turning)
    moving = total / mass + cs.DM(gravity) - along
    a = cs.SX.zeros(q.numel())
    a[turns] = turning
    for k in shifts:
        a[k] = cs.dot(cs.DM(base[k].axis), moving)
    return a


def _in_space(axes: tuple[int, ...], components: cs.SX) -> cs.SX:
    vector = [cs.SX(0.0)] * 3
    for k, axis in enumerate(axes):
        vector[axis] = components[k]
    return cs.vertcat(*vector)


def balancing_gains(
    tail: SingleRigidBodyModel, tree: RigidBodyTree, axes: tuple[int, ...], feet: Array, place: Array
) -> Array:
    """(n_forces, 2 n_base) gains of feet at `feet` (n_forces,) [m] that bring the trunk back to `place` (3,) [m].

    The forces have the least norm whose resultant is that of a spring and a damper on each coordinate of the trunk, as
    far as the feet can give it; axes are those of the trunk without turning.
    """
    base, n_a = tree.joints[: base_of(tree)], len(axes)
    arms = np.zeros((len(feet) // n_a, 3))
    arms[:, axes] = feet.reshape(-1, n_a)
    arms -= (place + tail.body.com) * np.isin(range(3), axes)
    of_forces, inertia = np.zeros((len(base), len(feet))), np.full(len(base), tail.body.mass)
    for k, joint in enumerate(base):
        along = np.tile(joint.axis, (len(arms), 1))
        if joint.kind == "revolute":
            along, inertia[k] = np.cross(along, arms), joint.axis @ tail.body.inertia @ joint.axis
        of_forces[k] = along[:, axes].ravel()
    wanted = np.hstack([-_STIFFNESS * np.diag(inertia), -_DAMPING * np.diag(inertia)])
    square = of_forces @ of_forces.T + _REGULAR * np.eye(len(base))
    return np.asarray(of_forces.T @ np.linalg.solve(square, wanted))
