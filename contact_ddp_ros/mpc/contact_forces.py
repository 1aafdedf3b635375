"""Cost of the contact forces of one node for Numba code: tracking, normal force and friction pyramid.

λ = g(x, u) is a result of the dynamics, so its cost enters by the chain rule: λ_zᵀ ℓ_λ and λ_zᵀ ℓ_λλ λ_y.
"""

import numba as nb

from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.layout import aux_offsets, node_offsets
from contact_ddp_ros.solver.borrowed import part, table
from contact_ddp_ros.solver.penalties import relaxed_barrier
from contact_ddp_ros.solver.protocol import INTEGERS, MATRIX, VECTOR


@nb.njit(nb.float64(INTEGERS, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR), cache=True, error_model="numpy")
def force_cost(integers, block, weights, parameters, penalty, nu, gradient):
    """Cost of the contact forces and its gradient (per contact row); returns (cost, violation) through gradient[-2:].

    The blocks of the Hessian are evaluated where they are needed (force_hessian).
    """
    n, n_u, n_f, n_a = integers[at.N], integers[at.N_U], integers[at.N_FEET], integers[at.N_AXES]
    _, _, reference, weight, _, _, _, _ = node_offsets(n, n_u, n_f, n_a)
    friction, inverse_scale = parameters[at.FRICTION], 1.0 / parameters[at.FORCE_SCALE]
    delta, epsilon = penalty[at.DELTA], penalty[at.EPSILON]
    cost = 0.0
    violation = 0.0
    for c in range(integers[block + at.CONTACTS]):
        foot = integers[block + at.MODE_HEADER + c]
        first = c * n_a
        normal = nu[n + first + n_a - 1]
        for a in range(n_a):
            w = weights[weight + foot * n_a + a]
            error = nu[n + first + a] - weights[reference + foot * n_a + a]
            cost += 0.5 * w * error * error
            gradient[first + a] = w * error
        if epsilon > 0.0:
            z = normal * inverse_scale
            value, slope, _ = relaxed_barrier(z, delta)
            cost += epsilon * value
            violation = max(violation, -z)
            gradient[first + n_a - 1] += epsilon * slope * inverse_scale
            for a in range(n_a - 1):
                for sign in (-1.0, 1.0):
                    z = (friction * normal + sign * nu[n + first + a]) * inverse_scale
                    value, slope, _ = relaxed_barrier(z, delta)
                    cost += epsilon * value
                    violation = max(violation, -z)
                    gradient[first + a] += epsilon * slope * sign * inverse_scale
                    gradient[first + n_a - 1] += epsilon * slope * friction * inverse_scale
    gradient[-1] = violation
    return cost


@nb.njit(nb.void(INTEGERS, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX), cache=True, error_model="numpy")
def force_hessian(integers, block, weights, parameters, penalty, nu, hessian):
    """ℓ_λλ of one contact after the other: rows of `hessian` are (contact rows), columns the axes of that contact."""
    n, n_u, n_f, n_a = integers[at.N], integers[at.N_U], integers[at.N_FEET], integers[at.N_AXES]
    _, _, _, weight, _, _, _, _ = node_offsets(n, n_u, n_f, n_a)
    friction, inverse_scale = parameters[at.FRICTION], 1.0 / parameters[at.FORCE_SCALE]
    delta, epsilon = penalty[at.DELTA], penalty[at.EPSILON]
    last = n_a - 1
    for c in range(integers[block + at.CONTACTS]):
        foot = integers[block + at.MODE_HEADER + c]
        first = c * n_a
        normal = nu[n + first + last]
        for a in range(n_a):
            for b in range(n_a):
                hessian[first + a, b] = 0.0
            hessian[first + a, a] = weights[weight + foot * n_a + a]
        if epsilon > 0.0:
            scale = epsilon * inverse_scale * inverse_scale
            _, _, bend = relaxed_barrier(normal * inverse_scale, delta)
            hessian[first + last, last] += scale * bend
            for a in range(last):
                for sign in (-1.0, 1.0):
                    _, _, bend = relaxed_barrier((friction * normal + sign * nu[n + first + a]) * inverse_scale, delta)
                    hessian[first + a, a] += scale * bend
                    hessian[first + a, last] += scale * bend * sign * friction
                    hessian[first + last, a] += scale * bend * sign * friction
                    hessian[first + last, last] += scale * bend * friction * friction


@nb.njit(
    nb.void(INTEGERS, nb.int64, nb.float64, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX, MATRIX),
    cache=True,
    error_model="numpy",
)
def add_force_terms(integers, block, h, row, parameters, penalty, aux, lx, lu, lxx, lux, luu):
    """Add λ_zᵀ ℓ_λ to the cost's gradient and λ_zᵀ ℓ_λλ λ_y to its Gauss-Newton Hessian."""
    n, n_u, n_f, n_a = integers[at.N], integers[at.N_U], integers[at.N_FEET], integers[at.N_AXES]
    _, derivatives, _, _, _, scratch, _ = aux_offsets(n, n_u, n_f, n_a)
    n_x, n_z = 2 * n, 2 * n + n_u
    n_c = integers[block + at.CONTACTS] * n_a
    if n_c == 0:
        return
    lam_z = table(aux, derivatives + n * n_z, n_c, n_z)
    gradient = part(aux, scratch, n_f * n_a + 1)
    start = scratch + n_f * n_a + 1
    hessian = table(aux, start, n_c, n_a)
    start += n_c * n_a
    weighted = table(aux, start, n_c, n_z)
    force_cost(integers, block, row, parameters, penalty, aux, gradient)
    force_hessian(integers, block, row, parameters, penalty, aux, hessian)
    for c in range(n_c):
        begin = c - c % n_a
        for j in range(n_z):
            weighted[c, j] = 0.0
        for a in range(n_a):
            value = h * hessian[c, a]
            for j in range(n_z):
                weighted[c, j] += value * lam_z[begin + a, j]
        slope = h * gradient[c]
        for j in range(n_x):
            lx[j] += slope * lam_z[c, j]
        for a in range(n_u):
            lu[a] += slope * lam_z[c, n_x + a]
    for c in range(n_c):
        for i in range(n_x):
            factor = lam_z[c, i]
            for j in range(n_x):
                lxx[i, j] += factor * weighted[c, j]
        for a in range(n_u):
            factor = lam_z[c, n_x + a]
            for j in range(n_x):
                lux[a, j] += factor * weighted[c, j]
            for b in range(n_u):
                luu[a, b] += factor * weighted[c, n_x + b]
