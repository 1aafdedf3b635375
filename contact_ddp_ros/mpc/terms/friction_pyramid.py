r"""Contact forces within the friction pyramid as inequalities, by relaxed barriers ε B_δ a cost rate:

λ_n/F ≥ 0 and, for each tangential axis t, (friction λ_n ± λ_t)/F ≥ 0.
"""

import numba as nb
import numpy as np
from numba import types

from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.terms.solved import SolvedNodes, barrier
from contact_ddp_ros.solver.penalties import inequality
from contact_ddp_ros.solver.protocol import MATRIX, VECTOR

_PAIR = types.UniTuple(nb.float64, 2)


@nb.njit(
    _PAIR(nb.float64, VECTOR, VECTOR, VECTOR, nb.int64, nb.int64, VECTOR, nb.int64, VECTOR, nb.int64),
    cache=True,
    inline="always",
    error_model="numpy",
)
def add_friction(cost, parameters, penalty, multipliers, dual, n_a, nu, begin, gradient, first):
    """Add to the gradient by a foot's force, nu[begin:], at gradient[first:]; its multipliers begin at `dual`.

    Returns the cost with the term's added, and the largest violation in multiples of F, 0 where there is none.
    """
    friction, inverse_scale = parameters[at.FRICTION], 1.0 / parameters[at.FORCE_SCALE]
    last = n_a - 1
    normal = nu[begin + last]
    z = normal * inverse_scale
    value, slope, _ = inequality(z, multipliers, dual, penalty)
    cost += value
    violation = max(0.0, -z)
    gradient[first + last] += slope * inverse_scale
    for a in range(last):
        for side in range(2):
            sign = 2.0 * side - 1.0
            z = (friction * normal + sign * nu[begin + a]) * inverse_scale
            value, slope, _ = inequality(z, multipliers, dual + 2 + 4 * a + 2 * side, penalty)
            cost += value
            violation = max(violation, -z)
            gradient[first + a] += slope * sign * inverse_scale
            gradient[first + last] += slope * friction * inverse_scale
    return cost, violation


@nb.njit(
    nb.void(VECTOR, nb.int64, VECTOR, nb.int64, VECTOR, nb.int64), cache=True, inline="always", error_model="numpy"
)
def write_friction(parameters, n_a, nu, begin, residual, first):
    """Write the inequalities of a foot's force, nu[begin:], from residual[first] on."""
    friction, inverse_scale = parameters[at.FRICTION], 1.0 / parameters[at.FORCE_SCALE]
    last = n_a - 1
    residual[first] = nu[begin + last] * inverse_scale
    for a in range(last):
        for side in range(2):
            tangential = (2.0 * side - 1.0) * nu[begin + a]
            residual[first + 1 + 2 * a + side] = (friction * nu[begin + last] + tangential) * inverse_scale


@nb.njit(
    nb.void(VECTOR, VECTOR, VECTOR, nb.int64, nb.int64, VECTOR, nb.int64, MATRIX, nb.int64),
    cache=True,
    inline="always",
    error_model="numpy",
)
def add_friction_hessian(parameters, penalty, multipliers, dual, n_a, nu, begin, hessian, first):
    """Add the block of a foot's force, nu[begin:], to the rows of `hessian` from `first` on."""
    friction, inverse_scale = parameters[at.FRICTION], 1.0 / parameters[at.FORCE_SCALE]
    last = n_a - 1
    normal = nu[begin + last]
    scale = inverse_scale * inverse_scale
    _, _, bend = inequality(normal * inverse_scale, multipliers, dual, penalty)
    hessian[first + last, last] += scale * bend
    for a in range(last):
        for side in range(2):
            sign = 2.0 * side - 1.0
            z = (friction * normal + sign * nu[begin + a]) * inverse_scale
            _, _, bend = inequality(z, multipliers, dual + 2 + 4 * a + 2 * side, penalty)
            bend *= scale
            hessian[first + a, a] += bend
            hessian[first + a, last] += bend * sign * friction
            hessian[first + last, a] += bend * sign * friction
            hessian[first + last, last] += bend * friction * friction


def recorded(solved: SolvedNodes) -> float:
    """Its cost in a solution."""
    scaled = solved.forces / solved.force_scale
    normal, tangential = scaled[..., -1], scaled[..., :-1]
    edge = solved.friction * normal[..., None]
    values = barrier(normal, solved.delta)
    values = values + (barrier(edge + tangential, solved.delta) + barrier(edge - tangential, solved.delta)).sum(axis=-1)
    return float(solved.epsilon * solved.h @ np.where(solved.down, values, 0.0).sum(axis=1))
