r"""The node functions of problems from CasADi: compiled kernels, and what bounds and inequalities add.

At a node with control, with the kernels of :mod:`contact_ddp_ros.ocp.casadi_problem`,

    x⁺ = f(x, u, p)
    ℓ  = ℓ_user(x, u, p) + w [ Σ_i b((u_i − lower_i)/s_i) + b((upper_i − u_i)/s_i) + Σ_j b(h_j(x, u, p)) ]

with the scale s_i of a bound, the weight w and b of :func:`contact_ddp_ros.ocp.multipliers.inequality`, in which the
inequalities are counted in this order: lower bounds, upper bounds, h. Equalities g(x, u, p) = 0 of the node add their
augmented Lagrangian yᵀg + ½ σ‖g‖². At the end ℓ_N and the augmented Lagrangian of c(x, p) = 0, which the kernels hold
as they are smooth; of the equalities g come first. Derivatives of b(h) by the chain rule, those of g's term likewise:

    gradient   w b' h_z        Gauss-Newton   w b'' h_zᵀ h_z        what that leaves out   w b' h_zz

integers        number of inequalities h, addresses of the kernels, number of equalities, of these g
parameters      w, lower (n_u), 1/s of it (n_u), upper (n_u), 1/s of it (n_u); 1/s is 0 where there is no bound; then
                the units of x, u, ℓ, g, h, c, in which all other numbers here are (:mod:`contact_ddp_ros.ocp.units`)
node_parameters (N+1, n_p): p
aux             cost, (h, g), (w b'(h), y + σ g), [h_z; g_z] (n_h + n_g, n_x + n_u)
"""

import numba as nb
import numpy as np
from numba import types

from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.ocp.linear_algebra import clear
from contact_ddp_ros.ocp.multipliers import SIGMA, augmented_lagrangian, inequality
from contact_ddp_ros.ocp.numba_views import address, table
from contact_ddp_ros.ocp.protocol import DERIVATIVES, FIRST, INTEGERS, MATRIX, SECOND, STEP, VECTOR

N_INEQUALITIES, NODE_STEP, NODE_FIRST, NODE_SECOND, END, END_FIRST, END_SECOND, N_EQUALITIES, N_MIXED = range(9)
"""Entries of `integers`."""

_COST, _VALUES = 0, 1


@njit(types.UniTuple(nb.int64, 3)(nb.int64, nb.int64), inline="always")
def aux_offsets(n_c, n_z):
    """Offsets into aux for n_c = n_h + n_g constraints: (their slopes, their Jacobian, size)."""
    slopes = _VALUES + n_c
    jacobian = slopes + n_c
    return slopes, jacobian, jacobian + n_c * n_z


@njit(nb.float64(nb.float64, nb.float64, nb.float64), inline="always", error_model="numpy")
def _distance(u, bound, inverse):
    return (u - bound) * inverse


@njit(types.void(VECTOR, VECTOR, VECTOR, nb.int64, VECTOR, VECTOR, MATRIX), error_model="numpy")
def _add_bounds(parameters, penalty, multipliers, dual, u, lu, luu):
    """Add the control bounds' part of the Hessian, which is diagonal."""
    n_u, weight = u.size, parameters[0]
    for side in range(2):
        sign = 1.0 - 2.0 * side
        for i in range(n_u):
            at = 1 + 2 * side * n_u + i
            inverse = sign * parameters[at + n_u]
            if inverse != 0.0:
                z = _distance(u[i], parameters[at], inverse)
                _, slope, bend = inequality(z, multipliers, dual + 2 * (side * n_u + i), penalty)
                lu[i] += weight * slope * inverse
                luu[i, i] += weight * bend * inverse * inverse


@njit(types.void(nb.float64, nb.float64, VECTOR, DERIVATIVES), inline="always", error_model="numpy")
def _add_outer(slope, bend, row, d):
    """Add slope · row to the gradient and bend · rowᵀ row to the Hessian; the row is a derivative by (x, u)."""
    _, _, lx, lu, lxx, lux, luu = d
    n_x, n_u = lx.size, lu.size
    for i in range(n_x):
        lx[i] += slope * row[i]
        for m in range(n_x):
            lxx[i, m] += bend * row[i] * row[m]
    for i in range(n_u):
        across = row[n_x + i]
        lu[i] += slope * across
        for m in range(n_x):
            lux[i, m] += bend * across * row[m]
        for m in range(n_u):
            luu[i, m] += bend * across * row[n_x + m]


@njit(types.void(INTEGERS, nb.float64, VECTOR, VECTOR, VECTOR, DERIVATIVES), error_model="numpy")
def _add_constraints(integers, weight, penalty, multipliers, aux, d):
    """Add the part of inequalities h and equalities g."""
    n_z, n_u = d[2].size + d[3].size, d[3].size
    n_h, n_e, n_g = integers[N_INEQUALITIES], integers[N_EQUALITIES], integers[N_MIXED]
    _, jacobian, _ = aux_offsets(n_h + n_g, n_z)
    rows = table(aux, jacobian, n_h + n_g, n_z)
    for j in range(n_h):
        _, slope, bend = inequality(aux[_VALUES + j], multipliers, n_e + 4 * n_u + 2 * j, penalty)
        _add_outer(weight * slope, weight * bend, rows[j], d)
    for j in range(n_g):
        _, slope, bend = augmented_lagrangian(aux[_VALUES + n_h + j], multipliers[j], penalty[SIGMA])
        _add_outer(slope, bend, rows[n_h + j], d)


@njit(types.void(INTEGERS, nb.float64, VECTOR, VECTOR, VECTOR, nb.int64, nb.int64), error_model="numpy")
def _write_slopes(integers, weight, penalty, multipliers, aux, slopes, n_u):
    """Write what the curvature of h and g is contracted with."""
    n_h, n_g = integers[N_INEQUALITIES], integers[N_MIXED]
    first = integers[N_EQUALITIES] + 4 * n_u
    for j in range(n_h):
        _, slope, _ = inequality(aux[_VALUES + j], multipliers, first + 2 * j, penalty)
        aux[slopes + j] = weight * slope
    for j in range(n_g):
        _, aux[slopes + n_h + j], _ = augmented_lagrangian(aux[_VALUES + n_h + j], multipliers[j], penalty[SIGMA])


@njit(STEP, nogil=True, error_model="numpy")
def step(data, k, x, u, x_next, aux, residual):
    """One node forward, or the end; see the module's text for the cost."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    p = address(node_parameters, k * node_parameters.shape[1])
    units = address(parameters, 1 + 4 * u.size)
    n_e, n_g = integers[N_EQUALITIES], integers[N_MIXED]
    for i in range(residual.size):
        residual[i] = 0.0 if i < n_e else np.inf
    if k == node_integers.shape[0] - 1:
        y = address(multipliers, k * multipliers.shape[1] + n_g)
        arguments = (address(x, 0), p, units, y, address(penalty, SIGMA))
        call_kernel(integers[END], arguments, (address(aux, _COST), address(residual, n_g)), 0, 0)
        residual[-1] = 0.0
        return aux[_COST]

    n_u, n_h = u.size, integers[N_INEQUALITIES]
    results = (address(x_next, 0), address(aux, _COST), address(aux, _VALUES))
    call_kernel(integers[NODE_STEP], (address(x, 0), address(u, 0), p, units), results, 0, 0)
    cost, least, equalities = 0.0, 0.0, 0.0
    for side in range(2):
        sign = 1.0 - 2.0 * side
        for i in range(n_u):
            at = 1 + 2 * side * n_u + i
            inverse = sign * parameters[at + n_u]
            if inverse != 0.0:
                z = _distance(u[i], parameters[at], inverse)
                least = min(least, z)
                residual[n_e + side * n_u + i] = z
                value, _, _ = inequality(z, multipliers[k], n_e + 2 * (side * n_u + i), penalty)
                cost += value
    for j in range(n_h):
        z = aux[_VALUES + j]
        least = min(least, z)
        residual[n_e + 2 * n_u + j] = z
        value, _, _ = inequality(z, multipliers[k], n_e + 4 * n_u + 2 * j, penalty)
        cost += value
    residual[-1] = -least
    for j in range(n_g):
        residual[j] = aux[_VALUES + n_h + j]
        value, _, _ = augmented_lagrangian(residual[j], multipliers[k, j], penalty[SIGMA])
        equalities += value
    return aux[_COST] + parameters[0] * cost + equalities


@njit(FIRST, nogil=True, error_model="numpy")
def first(data, k, x, u, aux, d):
    """First-order partials of a node and the Gauss-Newton Hessian of its cost."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    fx, fu, lx, lu, lxx, lux, luu = d
    p = address(node_parameters, k * node_parameters.shape[1])
    units = address(parameters, 1 + 4 * u.size)
    if k == node_integers.shape[0] - 1:
        y = address(multipliers, k * multipliers.shape[1] + integers[N_MIXED])
        arguments = (address(x, 0), p, units, y, address(penalty, SIGMA))
        call_kernel(integers[END_FIRST], arguments, (address(lx, 0), address(lxx, 0)), 0, 0)
        return
    _, jacobian, _ = aux_offsets(integers[N_INEQUALITIES] + integers[N_MIXED], x.size + u.size)
    motion = (address(fx, 0), address(fu, 0))
    cost = (address(lx, 0), address(lu, 0), address(lxx, 0), address(lux, 0), address(luu, 0))
    results = (*motion, *cost, address(aux, jacobian))
    call_kernel(integers[NODE_FIRST], (address(x, 0), address(u, 0), p, units), results, 0, 0)
    _add_bounds(parameters, penalty, multipliers[k], integers[N_EQUALITIES], u, lu, luu)
    _add_constraints(integers, parameters[0], penalty, multipliers[k], aux, d)


@njit(SECOND, nogil=True, error_model="numpy")
def second(data, k, x, u, aux, vx, hxx, hux, huu):
    """V'ₓ·f_zz and what Gauss-Newton leaves out of the cost."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    p = address(node_parameters, k * node_parameters.shape[1])
    units = address(parameters, 1 + 4 * u.size)
    if k == node_integers.shape[0] - 1:
        clear(hux)
        clear(huu)
        y = address(multipliers, k * multipliers.shape[1] + integers[N_MIXED])
        arguments = (address(x, 0), p, units, y, address(penalty, SIGMA))
        call_kernel(integers[END_SECOND], arguments, (address(hxx, 0),), 0, 0)
        return
    slopes, _, _ = aux_offsets(integers[N_INEQUALITIES] + integers[N_MIXED], x.size + u.size)
    _write_slopes(integers, parameters[0], penalty, multipliers[k], aux, slopes, u.size)
    arguments = (address(x, 0), address(u, 0), p, units, address(vx, 0), address(aux, slopes))
    call_kernel(integers[NODE_SECOND], arguments, (address(hxx, 0), address(hux, 0), address(huu, 0)), 0, 0)
