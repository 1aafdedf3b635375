r"""The node functions of problems from CasADi: compiled kernels, and barriers about bounds and inequalities.

At a node with control, with the kernels of :mod:`contact_ddp_ros.library.casadi_problem`,

    x⁺ = f(x, u, p)
    ℓ  = ℓ_user(x, u, p) + w ε [ Σ_i B_δ((u_i − lower_i)/s_i) + B_δ((upper_i − u_i)/s_i) + Σ_j B_δ(h_j(x, u, p)) ]

with the scale s_i of a bound, the weight w of the barriers and the solver's (δ, ε). At the end ℓ_N and the augmented
Lagrangian of c(x, p) = 0, which the kernels hold as they are smooth. Derivatives of a barrier of h by the chain rule:

    gradient   w ε B' h_z        Gauss-Newton   w ε B'' h_zᵀ h_z        what that leaves out   w ε B' h_zz

integers        number of inequalities, addresses of the kernels
parameters      w, lower (n_u), 1/s of it (n_u), upper (n_u), 1/s of it (n_u); 1/s is 0 where there is no bound
node_parameters (N+1, n_p): p
aux             cost, h (n_h), w ε B'(h) (n_h), h_z (n_h, n_x + n_u)
"""

import numba as nb
from numba import types

from contact_ddp_ros.dynamics.native import call_kernel
from contact_ddp_ros.solver.borrowed import address, table
from contact_ddp_ros.solver.linear_algebra import clear
from contact_ddp_ros.solver.penalties import relaxed_barrier
from contact_ddp_ros.solver.protocol import DERIVATIVES, FIRST, MATRIX, SECOND, STEP, VECTOR

N_INEQUALITIES, NODE_STEP, NODE_FIRST, NODE_SECOND, END, END_FIRST, END_SECOND = range(7)
"""Entries of `integers`."""

_SIGMA, _DELTA, _EPSILON = 0, 1, 2
_COST, _VALUES = 0, 1


@nb.njit(types.UniTuple(nb.int64, 3)(nb.int64, nb.int64), cache=True, inline="always")
def aux_offsets(n_h, n_z):
    """Offsets into aux: (slopes of the barriers, Jacobian of the inequalities, size)."""
    slopes = _VALUES + n_h
    jacobian = slopes + n_h
    return slopes, jacobian, jacobian + n_h * n_z


@nb.njit(nb.float64(nb.float64, nb.float64, nb.float64), cache=True, inline="always", error_model="numpy")
def _distance(u, bound, inverse):
    return (u - bound) * inverse


@nb.njit(types.void(VECTOR, nb.float64, nb.float64, VECTOR, VECTOR, MATRIX), cache=True, error_model="numpy")
def _add_bounds(parameters, weight, delta, u, lu, luu):
    """The barriers about the control's bounds: diagonal."""
    n_u = u.size
    for side in range(2):
        sign = 1.0 - 2.0 * side
        for i in range(n_u):
            at = 1 + 2 * side * n_u + i
            inverse = sign * parameters[at + n_u]
            if inverse != 0.0:
                _, slope, bend = relaxed_barrier(_distance(u[i], parameters[at], inverse), delta)
                lu[i] += weight * slope * inverse
                luu[i, i] += weight * bend * inverse * inverse


@nb.njit(types.void(nb.int64, nb.float64, nb.float64, VECTOR, DERIVATIVES), cache=True, error_model="numpy")
def _add_inequalities(n_h, weight, delta, aux, d):
    """The barriers about the inequalities; their slopes stay in aux for `second`."""
    _, _, lx, lu, lxx, lux, luu = d
    n_x, n_u = lx.size, lu.size
    slopes, jacobian, _ = aux_offsets(n_h, n_x + n_u)
    rows = table(aux, jacobian, n_h, n_x + n_u)
    for j in range(n_h):
        if weight <= 0.0:
            aux[slopes + j] = 0.0
            continue
        _, slope, bend = relaxed_barrier(aux[_VALUES + j], delta)
        aux[slopes + j] = weight * slope
        row = rows[j]
        by_x, by_u = row[:n_x], row[n_x:]
        for i in range(n_x):
            lx[i] += weight * slope * by_x[i]
            for m in range(n_x):
                lxx[i, m] += weight * bend * by_x[i] * by_x[m]
        for i in range(n_u):
            lu[i] += weight * slope * by_u[i]
            for m in range(n_x):
                lux[i, m] += weight * bend * by_u[i] * by_x[m]
            for m in range(n_u):
                luu[i, m] += weight * bend * by_u[i] * by_u[m]


@nb.njit(STEP, cache=True, nogil=True, error_model="numpy")
def step(data, k, x, u, x_next, aux, residual):
    """One node forward, or the end; see the module's text for the cost."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    p = address(node_parameters, k * node_parameters.shape[1])
    for i in range(residual.size):
        residual[i] = 0.0
    if k == node_integers.shape[0] - 1:
        y = address(multipliers, k * multipliers.shape[1])
        arguments = (address(x, 0), p, y, address(penalty, _SIGMA))
        call_kernel(integers[END], arguments, (address(aux, _COST), address(residual, 0)), 0, 0)
        residual[-1] = 0.0
        return aux[_COST]

    n_u, n_h = u.size, integers[N_INEQUALITIES]
    results = (address(x_next, 0), address(aux, _COST), address(aux, _VALUES))
    call_kernel(integers[NODE_STEP], (address(x, 0), address(u, 0), p), results, 0, 0)
    delta, weight = penalty[_DELTA], parameters[0] * penalty[_EPSILON]
    cost, least = 0.0, 0.0
    for side in range(2):
        sign = 1.0 - 2.0 * side
        for i in range(n_u):
            at = 1 + 2 * side * n_u + i
            inverse = sign * parameters[at + n_u]
            if inverse != 0.0:
                z = _distance(u[i], parameters[at], inverse)
                least = min(least, z)
                if weight > 0.0:
                    value, _, _ = relaxed_barrier(z, delta)
                    cost += value
    for j in range(n_h):
        z = aux[_VALUES + j]
        least = min(least, z)
        if weight > 0.0:
            value, _, _ = relaxed_barrier(z, delta)
            cost += value
    residual[-1] = -least
    return aux[_COST] + weight * cost


@nb.njit(FIRST, cache=True, nogil=True, error_model="numpy")
def first(data, k, x, u, aux, d):
    """First-order partials of a node and the Gauss-Newton Hessian of its cost."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    fx, fu, lx, lu, lxx, lux, luu = d
    p = address(node_parameters, k * node_parameters.shape[1])
    if k == node_integers.shape[0] - 1:
        y = address(multipliers, k * multipliers.shape[1])
        arguments = (address(x, 0), p, y, address(penalty, _SIGMA))
        call_kernel(integers[END_FIRST], arguments, (address(lx, 0), address(lxx, 0)), 0, 0)
        return
    n_h = integers[N_INEQUALITIES]
    _, jacobian, _ = aux_offsets(n_h, x.size + u.size)
    motion = (address(fx, 0), address(fu, 0))
    cost = (address(lx, 0), address(lu, 0), address(lxx, 0), address(lux, 0), address(luu, 0))
    results = (*motion, *cost, address(aux, jacobian))
    call_kernel(integers[NODE_FIRST], (address(x, 0), address(u, 0), p), results, 0, 0)
    weight = parameters[0] * penalty[_EPSILON]
    if weight > 0.0:
        _add_bounds(parameters, weight, penalty[_DELTA], u, lu, luu)
    _add_inequalities(n_h, weight, penalty[_DELTA], aux, d)


@nb.njit(SECOND, cache=True, nogil=True, error_model="numpy")
def second(data, k, x, u, aux, vx, hxx, hux, huu):
    """V'ₓ·f_zz and what Gauss-Newton leaves out of the cost."""
    integers, node_integers, _, node_parameters, multipliers, penalty = data
    p = address(node_parameters, k * node_parameters.shape[1])
    if k == node_integers.shape[0] - 1:
        clear(hux)
        clear(huu)
        y = address(multipliers, k * multipliers.shape[1])
        arguments = (address(x, 0), p, y, address(penalty, _SIGMA))
        call_kernel(integers[END_SECOND], arguments, (address(hxx, 0),), 0, 0)
        return
    slopes, _, _ = aux_offsets(integers[N_INEQUALITIES], x.size + u.size)
    arguments = (address(x, 0), address(u, 0), p, address(vx, 0), address(aux, slopes))
    call_kernel(integers[NODE_SECOND], arguments, (address(hxx, 0), address(hux, 0), address(huu, 0)), 0, 0)
