r"""Contact forces within the friction pyramid, as relaxed barriers, a cost rate:

ε Σ_contacts ( B_δ(λ_n/F) + Σ_t B_δ((friction λ_n ± λ_t)/F) ).
"""

import numba as nb
import numpy as np
from numba import types

from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.terms.solved import SolvedNodes, barrier
from contact_ddp_ros.solver.penalties import relaxed_barrier
from contact_ddp_ros.solver.protocol import MATRIX, VECTOR

_PAIR = types.UniTuple(nb.float64, 2)


@nb.njit(
    _PAIR(nb.float64, VECTOR, VECTOR, nb.int64, VECTOR, nb.int64, VECTOR, nb.int64),
    cache=True,
    inline="always",
    error_model="numpy",
)
def add_friction(cost, parameters, penalty, n_a, nu, begin, gradient, first):
    """Add to the gradient by a foot's force, nu[begin:], at gradient[first:].

    Returns the cost with the term's added, and the largest violation in multiples of F, 0 where there is none.
    """
    friction, inverse_scale = parameters[at.FRICTION], 1.0 / parameters[at.FORCE_SCALE]
    delta, epsilon = penalty[at.DELTA], penalty[at.EPSILON]
    violation = 0.0
    last = n_a - 1
    if epsilon > 0.0:
        normal = nu[begin + last]
        z = normal * inverse_scale
        value, slope, _ = relaxed_barrier(z, delta)
        cost += epsilon * value
        violation = max(violation, -z)
        gradient[first + last] += epsilon * slope * inverse_scale
        for a in range(last):
            for sign in (-1.0, 1.0):
                z = (friction * normal + sign * nu[begin + a]) * inverse_scale
                value, slope, _ = relaxed_barrier(z, delta)
                cost += epsilon * value
                violation = max(violation, -z)
                gradient[first + a] += epsilon * slope * sign * inverse_scale
                gradient[first + last] += epsilon * slope * friction * inverse_scale
    return cost, violation


@nb.njit(
    nb.void(VECTOR, VECTOR, nb.int64, VECTOR, nb.int64, MATRIX, nb.int64),
    cache=True,
    inline="always",
    error_model="numpy",
)
def add_friction_hessian(parameters, penalty, n_a, nu, begin, hessian, first):
    """Add the block of a foot's force, nu[begin:], to the rows of `hessian` from `first` on."""
    friction, inverse_scale = parameters[at.FRICTION], 1.0 / parameters[at.FORCE_SCALE]
    delta, epsilon = penalty[at.DELTA], penalty[at.EPSILON]
    last = n_a - 1
    if epsilon > 0.0:
        normal = nu[begin + last]
        scale = epsilon * inverse_scale * inverse_scale
        _, _, bend = relaxed_barrier(normal * inverse_scale, delta)
        hessian[first + last, last] += scale * bend
        for a in range(last):
            for sign in (-1.0, 1.0):
                _, _, bend = relaxed_barrier((friction * normal + sign * nu[begin + a]) * inverse_scale, delta)
                hessian[first + a, a] += scale * bend
                hessian[first + a, last] += scale * bend * sign * friction
                hessian[first + last, a] += scale * bend * sign * friction
                hessian[first + last, last] += scale * bend * friction * friction


def recorded(solved: SolvedNodes) -> float:
    """Its cost in a solution."""
    scaled = solved.forces / solved.force_scale
    normal, tangential = scaled[..., -1], scaled[..., :-1]
    edge = solved.friction * normal[..., None]
    values = barrier(normal, solved.delta)
    values = values + (barrier(edge + tangential, solved.delta) + barrier(edge - tangential, solved.delta)).sum(axis=-1)
    return float(solved.epsilon * solved.h @ np.where(solved.down, values, 0.0).sum(axis=1))
