r"""Torques ½‖u‖²_R, a cost rate."""

import numba as nb

from contact_ddp_ros.mpc.layout import NODE_OFFSETS
from contact_ddp_ros.mpc.terms.solved import SolvedNodes
from contact_ddp_ros.solver.penalties import TRIPLE, quadratic
from contact_ddp_ros.solver.protocol import VECTOR


@nb.njit(TRIPLE(VECTOR, NODE_OFFSETS, nb.int64, VECTOR), cache=True, inline="always", error_model="numpy")
def torque_tracking(row, of, a, u):
    """(value, slope, bend) by torque a."""
    return quadratic(row[of.u_weight + a], u[a])


def recorded(solved: SolvedNodes) -> float:
    """Its cost in a solution."""
    return float(0.5 * solved.h @ (solved.torque_weights * solved.us**2).sum(axis=1))
