r"""Torque limits |u| ≤ u_max as relaxed barriers ε Σ B_δ(1 ± u/u_max), a cost rate."""

import numba as nb
from numba import types

from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.terms.solved import SolvedNodes, barrier
from contact_ddp_ros.solver.penalties import relaxed_barrier
from contact_ddp_ros.solver.protocol import VECTOR

_FOUR = types.UniTuple(nb.float64, 4)


@nb.njit(_FOUR(VECTOR, VECTOR, nb.int64, VECTOR), cache=True, inline="always", error_model="numpy")
def torque_limit(parameters, penalty, a, u):
    """(value, slope, bend) by torque a, and by how much it exceeds its limit, relative to that."""
    limit = parameters[at.LIMITS + a]
    ratio = u[a] / limit
    epsilon = penalty[at.EPSILON]
    if not epsilon > 0.0:
        return 0.0, 0.0, 0.0, abs(ratio) - 1.0
    lower, lower_slope, lower_bend = relaxed_barrier(1.0 + ratio, penalty[at.DELTA])
    upper, upper_slope, upper_bend = relaxed_barrier(1.0 - ratio, penalty[at.DELTA])
    slope = epsilon * (lower_slope - upper_slope) / limit
    bend = epsilon * (lower_bend + upper_bend) / (limit * limit)
    return epsilon * (lower + upper), slope, bend, abs(ratio) - 1.0


def recorded(solved: SolvedNodes) -> float:
    """Its cost in a solution."""
    ratio = solved.us / solved.torque_limits
    both = barrier(1.0 + ratio, solved.delta) + barrier(1.0 - ratio, solved.delta)
    return float(solved.epsilon * solved.h @ both.sum(axis=1))
