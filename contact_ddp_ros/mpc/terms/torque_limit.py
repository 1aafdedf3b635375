r"""Torque limits |u| ≤ u_max as inequalities 1 ± u/u_max ≥ 0, by relaxed barriers ε B_δ a cost rate."""

import numba as nb
from numba import types

from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.terms.solved import SolvedNodes, barrier
from contact_ddp_ros.solver.penalties import inequality
from contact_ddp_ros.solver.protocol import VECTOR

_FOUR = types.UniTuple(nb.float64, 4)


@nb.njit(_FOUR(VECTOR, VECTOR, VECTOR, nb.int64, nb.int64, VECTOR), cache=True, inline="always", error_model="numpy")
def torque_limit(parameters, penalty, multipliers, n_f, a, u):
    """(value, slope, bend) by torque a, and the torque relative to its limit."""
    limit = parameters[at.LIMITS + a]
    ratio = u[a] / limit
    lower, lower_slope, lower_bend = inequality(1.0 + ratio, multipliers, n_f + 4 * a, penalty)
    upper, upper_slope, upper_bend = inequality(1.0 - ratio, multipliers, n_f + 4 * a + 2, penalty)
    slope = (lower_slope - upper_slope) / limit
    bend = (lower_bend + upper_bend) / (limit * limit)
    return lower + upper, slope, bend, ratio


def recorded(solved: SolvedNodes) -> float:
    """Its cost in a solution."""
    ratio = solved.us / solved.torque_limits
    both = barrier(1.0 + ratio, solved.delta) + barrier(1.0 - ratio, solved.delta)
    return float(solved.epsilon * solved.h @ both.sum(axis=1))
