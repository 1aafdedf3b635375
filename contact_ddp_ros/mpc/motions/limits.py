"""Hard limits of a planar motion beside torque and friction: motors, joints, and what must not touch the ground.

Each is a :class:`contact_ddp_ros.mpc.custom_term.Constraint`, of which the interior point keeps every row positive.
"""

from collections.abc import Sequence
from typing import Any

import casadi as cs
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.mpc.custom_term import Constraint, NodeSymbols
from contact_ddp_ros.mpc.horizon import Horizon
from contact_ddp_ros.mpc.planar_reference import PlanarLeg
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

_LENGTH = 0.1
"""Length by which distances are divided [m]."""

_EDGE_WIDTH = 0.02
"""Over about twice this much the ground that is kept clear of rises before an edge [m]."""


class JointRange(Constraint):
    """lower ≤ q ≤ upper of the actuated joints, and knees that stay bent [rad]."""

    name = "joint_range"

    def __init__(self, tree: RigidBodyTree, margin: float, knees: Sequence[int], bend: float) -> None:
        """Limits of the tree's joints, `margin` [rad] further in; `knees` at `bend` [rad] or more."""
        joints = [tree.joints[index] for index in tree.actuated]
        self._joints = list(tree.actuated)
        self._lower = np.array([joint.lower for joint in joints]) + margin
        self._upper = np.array([joint.upper for joint in joints]) - margin
        bent = np.isin(tree.actuated, knees)
        self._lower[bent] = np.maximum(self._lower[bent], bend)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """(n_u,) least and largest angles of the actuated joints [rad]."""
        return self._lower, self._upper

    def residual(self, knot: NodeSymbols) -> Any:
        """A row in rad for each side of each joint."""
        q = knot.q[self._joints]
        return cs.vertcat(q - self._lower, self._upper - q)


class TorqueSpeedLimit(Constraint):
    r"""A share s of what the motors have: all torque up to one speed, from there linearly down to none.

    ± u / (s u_max) ≤ min(1, (idle ∓ v) / (idle − full)), with a share of its own at every node.
    """

    name = "torque_speed"
    parameters = ("torque_share",)

    def __init__(self, tree: RigidBodyTree, torques: Array, full: Array, idle: Array, shares: Array) -> None:
        """`torques` (n_u,) at low speed [N m]; speeds (n_u,) with all and none of it [rad/s]; `shares` (N+1,)."""
        self._joints = list(tree.actuated)
        self._torques, self._range, self._idle = torques, idle - full, idle
        self._shares = shares

    def residual(self, knot: NodeSymbols) -> Any:
        """Two rows for each direction of each joint, in shares of what may be used."""
        share, v = knot.u / (self._torques * knot.parameters["torque_share"]), knot.v[self._joints]
        below, above = (self._idle - v) / self._range - share, (self._idle + v) / self._range + share
        return cs.vertcat(1.0 - share, 1.0 + share, below, above)

    def values(self, horizon: Horizon) -> Array:
        """(N+1, 1) the shares."""
        return self._shares[:, None]


class Clearance(Constraint):
    """Hips and knees above the ground, and feet in flight; the ground may rise at an edge.

    The hips are the corners of the trunk: drives about their axes reach further out than what is between.
    """

    name = "clearance"

    def __init__(
        self,
        legs: Sequence[PlanarLeg],
        *,
        rise: float,
        edge: float,
        hip_margin: float,
        knee_margin: float,
        foot_clearance: Array,
    ) -> None:
        """Distances in m.

        Args:
            legs: of the planar tree.
            rise: of the ground beyond the edge. edge: its x.
            hip_margin, knee_margin: least heights of their axes.
            foot_clearance: (N+1, n_f) least height of the feet, by node.
        """
        self._legs, self._rise, self._edge = tuple(legs), rise, edge
        self._hip_margin, self._knee_margin = hip_margin, knee_margin
        self._feet = foot_clearance
        self.parameters = tuple(f"{leg.foot}_clearance" for leg in legs)  # type: ignore[misc]

    def residual(self, knot: NodeSymbols) -> Any:
        """A row of height / 0.1 m for the hip, knee and foot of each leg."""
        x, z, pitch = knot.q[0], knot.q[1], knot.q[2]
        rows = []

        def place(along: Any, up: Any) -> tuple[Any, Any]:
            return x + cs.cos(pitch) * along + cs.sin(pitch) * up, z + cs.cos(pitch) * up - cs.sin(pitch) * along

        for leg, parameter in zip(self._legs, self.parameters, strict=True):
            hip_x, hip_z = place(leg.hip_x, leg.hip_z)
            rows.append(self._height(hip_x, hip_z) - self._hip_margin)
            thigh = leg.bend * knot.q[leg.hip] - pitch
            knee = hip_x + leg.thigh * cs.sin(thigh), hip_z - leg.thigh * cs.cos(thigh)
            rows.append(self._height(*knee) - self._knee_margin)
            foot = cs.vertsplit(knot.feet[leg.foot])
            rows.append(self._height(*foot) - knot.parameters[parameter])
        return cs.vertcat(*rows) / _LENGTH

    def values(self, horizon: Horizon) -> Array:
        """(N+1, n_f) least heights of the feet [m]."""
        return self._feet

    def _height(self, x: Any, z: Any) -> Any:
        if self._rise == 0.0:
            return z
        return z - 0.5 * self._rise * (1.0 + cs.tanh((x - self._edge) / _EDGE_WIDTH))
