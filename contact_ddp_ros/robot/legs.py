"""Kinematics of three-joint legs relative to the trunk: contact points and their Jacobians.

A leg is the chain trunk -> abad -> hip -> knee -> foot of the rigid-body tree. For contact point p on the last body,
with o_j the origin and a_j the axis of joint j, all in trunk axes, the geometric Jacobian is (Featherstone 2008, ch. 4)

    J[:, j] = a_j x (p - o_j),    dp/dt = J qd,    tau = -J' F

where F is the force that the ground exerts on the foot while the trunk is taken as fixed. The foot is a sphere, so the
point that touches the ground lies one radius below its centre, along the world's vertical.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

JOINTS_PER_LEG = 3

JACOBIAN_DAMPING = 0.02
"""Damping of the inverse of a leg's Jacobian [m]."""


@njit("void(f8[:,::1], f8[:,::1], f8[:,::1])")
def _product(a, b, out):  # type: ignore[no-untyped-def]
    for r in range(3):
        for c in range(3):
            out[r, c] = a[r, 0] * b[0, c] + a[r, 1] * b[1, c] + a[r, 2] * b[2, c]


@njit("void(f8[::1], f8, f8[:,::1])")
def _rodrigues(a, angle, out):  # type: ignore[no-untyped-def]
    s, c = np.sin(angle), np.cos(angle)
    for row in range(3):
        for col in range(3):
            out[row, col] = (1.0 - c) * a[row] * a[col]
        out[row, row] += c
    out[0, 1] -= s * a[2]
    out[1, 0] += s * a[2]
    out[0, 2] += s * a[1]
    out[2, 0] -= s * a[1]
    out[1, 2] -= s * a[0]
    out[2, 1] += s * a[0]


@njit("Tuple((f8[:,:], f8[:,:,:]))(f8[::1], f8[:,:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[::1])")
def points_and_jacobians(q, rotations, translations, axes, feet, offset):  # type: ignore[no-untyped-def]
    """:meth:`LegGeometry.points_and_jacobians`, with the contact point `offset` (3,) [m] from the foot's centre."""
    n_legs = feet.shape[0]
    points = np.empty((n_legs, 3))
    jacobians = np.empty((n_legs, 3, 3))
    origin = np.empty((3, 3))
    axis = np.empty((3, 3))
    turned = np.empty((3, 3))
    rotation = np.empty((3, 3))
    turn = np.empty((3, 3))
    for leg in range(n_legs):
        position = np.zeros(3)
        rotation[:] = np.eye(3)
        for j in range(3):
            for r in range(3):
                for c in range(3):
                    position[r] += rotation[r, c] * translations[leg, j, c]
            _product(rotation, rotations[leg, j], turned)
            a = axes[leg, j]
            for r in range(3):
                origin[j, r] = position[r]
                axis[j, r] = turned[r, 0] * a[0] + turned[r, 1] * a[1] + turned[r, 2] * a[2]
            _rodrigues(a, q[3 * leg + j], turn)
            _product(turned, turn, rotation)
        for r in range(3):
            points[leg, r] = position[r] + offset[r]
            for c in range(3):
                points[leg, r] += rotation[r, c] * feet[leg, c]
        for j in range(3):
            x = points[leg, 0] - origin[j, 0]
            y = points[leg, 1] - origin[j, 1]
            z = points[leg, 2] - origin[j, 2]
            jacobians[leg, 0, j] = axis[j, 1] * z - axis[j, 2] * y
            jacobians[leg, 1, j] = axis[j, 2] * x - axis[j, 0] * z
            jacobians[leg, 2, j] = axis[j, 0] * y - axis[j, 1] * x
    return points, jacobians


@dataclass(frozen=True)
class LegGeometry:
    """Constant geometry of L legs, in the order of the contact points asked for.

    Attributes:
        rotations: (L, 3, 3, 3) orientation of each joint frame in its parent body.
        translations: (L, 3, 3) origin of each joint frame in its parent body [m]; the first row lies in the trunk.
        axes: (L, 3, 3) joint axes in the joint frames.
        feet: (L, 3) foot centres in the last bodies [m].
        radius: of the feet [m].
        joints: (L, 3) indices of the legs' joints in the tree.
        trunk: index of the trunk's body in the tree.
    """

    rotations: Array
    translations: Array
    axes: Array
    feet: Array
    radius: float
    joints: NDArray[np.int64]
    trunk: int

    @classmethod
    def from_tree(cls, tree: RigidBodyTree, feet: tuple[str, ...]) -> "LegGeometry":
        """Walk from each foot up to the trunk.

        Raises:
            ModelError: the legs do not start at one trunk, or their joints are not revolute.
        """
        contacts = [tree.contact(name) for name in feet]
        chains = []
        for contact in contacts:
            chain = [contact.body]
            while len(chain) < JOINTS_PER_LEG:
                chain.append(tree.joints[chain[-1]].parent)
            chains.append(chain[::-1])
        trunks = {tree.joints[chain[0]].parent for chain in chains}
        if len(trunks) != 1 or -1 in trunks:
            raise ModelError(f"legs of {tree.name} start at bodies {sorted(trunks)}; allowed: one trunk")
        members = [[tree.joints[index] for index in chain] for chain in chains]
        for joint in (joint for chain in members for joint in chain):
            if joint.kind != "revolute":
                raise ModelError(f"leg joint {joint.name} is {joint.kind}; allowed: revolute")
        return cls(
            np.array([[joint.rotation for joint in chain] for chain in members]),
            np.array([[joint.translation for joint in chain] for chain in members]),
            np.array([[joint.axis for joint in chain] for chain in members]),
            np.array([contact.position for contact in contacts]),
            max(contact.radius for contact in contacts),
            np.array(chains),
            trunks.pop(),
        )

    def points_and_jacobians(self, joint_positions: Array, down: Array) -> tuple[Array, Array]:
        """Contact points (L, 3) [m] and Jacobians (L, 3, 3) [m/rad] in trunk axes.

        `joint_positions` is (3 L,), leg after leg [rad]; `down` is the (3,) unit vector along gravity in trunk axes.
        """
        return points_and_jacobians(
            np.array(joint_positions, np.float64),  # a writable copy, as the compiled signature wants it
            self.rotations,
            self.translations,
            self.axes,
            self.feet,
            self.radius * down,
        )
