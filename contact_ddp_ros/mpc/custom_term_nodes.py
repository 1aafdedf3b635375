"""The user's cost terms and constraints for Numba code: their kernels, and the chain rule from s = (x, u, λ) to (x, u).

Every function is to be called only where `integers` has their addresses. What they need of the node, ν and ν_z, is in
its aux.
"""

import numba as nb

from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.layout import aux_offsets, sizes_of
from contact_ddp_ros.mpc.optional_kernels import ADD_OWN_COST, ADD_OWN_CURVATURE, ADD_OWN_FORCE_SLOPES, OWN_COST
from contact_ddp_ros.mpc.term_sums import place_of
from contact_ddp_ros.mpc.terms import TERMS
from contact_ddp_ros.ocp.numba_views import address, part, table
from contact_ddp_ros.ocp.protocol import INTEGERS, MATRIX, VECTOR

_N_PACKAGED = len(TERMS)


@njit(nb.int64(INTEGERS, nb.int64, nb.int64, nb.int64, nb.int64), inline="always", error_model="numpy")
def _row_of(integers, block, n_z, n_a, c):
    """Index in s of contact row c."""
    return n_z + integers[block + at.MODE_HEADER + c // n_a] * n_a + c % n_a


@njit(nb.void(INTEGERS, nb.int64, VECTOR), error_model="numpy")
def _gather_forces(integers, block, aux):
    """Write λ of all feet, zero in the air, where scratch begins."""
    n, n_u, n_f, n_a = sizes_of(integers)
    forces = part(aux, aux_offsets(n, n_u, n_f, n_a).scratch, n_f * n_a)
    for i in range(n_f * n_a):
        forces[i] = 0.0
    for c in range(integers[block + at.CONTACTS]):
        foot = integers[block + at.MODE_HEADER + c]
        for a in range(n_a):
            forces[foot * n_a + a] = aux[n + c * n_a + a]


@njit(OWN_COST, error_model="numpy")
def own_cost(integers, block, row, penalty, multipliers, x, u, aux, residual):
    """The terms' cost rate, and the largest violation of the constraints among them, whose values go to residual."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    _gather_forces(integers, block, aux)
    place = place_of(integers, _N_PACKAGED)
    value = part(aux, own.scratch + n_f * n_a, 2)
    call_kernel(
        integers[at.TERMS],
        (
            address(x, 0),
            address(u, 0),
            address(aux, own.scratch),
            address(row, place.row),
            address(penalty, 0),
            address(multipliers, place.dual),
        ),
        (address(value, 0), address(value, 1), address(residual, place.residual)),
        0,
        0,
    )
    return value[0], value[1]


@njit(
    nb.void(INTEGERS, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX),
    error_model="numpy",
)
def _own_first(integers, block, row, penalty, multipliers, x, u, aux, gradient, hessian):
    """Gradient and Gauss-Newton Hessian of the cost rate by s."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    _gather_forces(integers, block, aux)
    place = place_of(integers, _N_PACKAGED)
    call_kernel(
        integers[at.TERMS_FIRST],
        (
            address(x, 0),
            address(u, 0),
            address(aux, own.scratch),
            address(row, place.row),
            address(penalty, 0),
            address(multipliers, place.dual),
        ),
        (address(gradient, 0), address(hessian, 0)),
        0,
        0,
    )


@njit(nb.void(INTEGERS, nb.int64, nb.float64, MATRIX, VECTOR, MATRIX, MATRIX, MATRIX), error_model="numpy")
def _add_through_forces(integers, block, h, of_s, aux, xx, ux, uu):
    """Add h Zᵀ M Z of a symmetric M by s, with Z = ∂s/∂(x, u), whose last rows are λ_z."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    n_x, n_z, n_c = 2 * n, 2 * n + n_u, integers[block + at.CONTACTS] * n_a
    n_e = n_z + n_f * n_a
    lam_z = table(aux, own.derivatives + n * n_z, n_c, n_z)
    product = table(aux, own.scratch + n_f * n_a + n_e + n_e * n_e, n_e, n_z)  # M Z
    for i in range(n_e):
        for j in range(n_z):
            product[i, j] = of_s[i, j]
        for c in range(n_c):
            factor = of_s[i, _row_of(integers, block, n_z, n_a, c)]
            for j in range(n_z):
                product[i, j] += factor * lam_z[c, j]
    for c in range(n_c):
        through = product[_row_of(integers, block, n_z, n_a, c)]
        for i in range(n_z):
            factor = lam_z[c, i]
            for j in range(n_z):
                product[i, j] += factor * through[j]
    for i in range(n_x):
        for j in range(n_x):
            xx[i, j] += h * product[i, j]
    for a in range(n_u):
        for j in range(n_x):
            ux[a, j] += h * product[n_x + a, j]
        for b in range(n_u):
            uu[a, b] += h * product[n_x + a, n_x + b]


@njit(ADD_OWN_COST, error_model="numpy")
def add_own_cost(integers, block, h, row, penalty, multipliers, x, u, aux, lx, lu, lxx, lux, luu):
    """Add the terms to the cost's gradient and Gauss-Newton Hessian."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    n_x, n_z, n_c = 2 * n, 2 * n + n_u, integers[block + at.CONTACTS] * n_a
    n_e = n_z + n_f * n_a
    gradient = part(aux, own.scratch + n_f * n_a, n_e)
    hessian = table(aux, own.scratch + n_f * n_a + n_e, n_e, n_e)
    _own_first(integers, block, row, penalty, multipliers, x, u, aux, gradient, hessian)
    lam_z = table(aux, own.derivatives + n * n_z, n_c, n_z)
    for i in range(n_x):
        lx[i] += h * gradient[i]
    for a in range(n_u):
        lu[a] += h * gradient[n_x + a]
    for c in range(n_c):
        slope = h * gradient[_row_of(integers, block, n_z, n_a, c)]
        for i in range(n_x):
            lx[i] += slope * lam_z[c, i]
        for a in range(n_u):
            lu[a] += slope * lam_z[c, n_x + a]
    _add_through_forces(integers, block, h, hessian, aux, lxx, lux, luu)


@njit(ADD_OWN_FORCE_SLOPES, error_model="numpy")
def add_own_force_slopes(integers, block, row, penalty, multipliers, x, u, aux, slopes):
    """Add ∂/∂λ of the cost rate, contact row by contact row: part of the γ of a node."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    n_z = 2 * n + n_u
    n_e = n_z + n_f * n_a
    gradient = part(aux, own.scratch + n_f * n_a, n_e)
    hessian = table(aux, own.scratch + n_f * n_a + n_e, n_e, n_e)
    _own_first(integers, block, row, penalty, multipliers, x, u, aux, gradient, hessian)
    for c in range(integers[block + at.CONTACTS] * n_a):
        slopes[c] += gradient[_row_of(integers, block, n_z, n_a, c)]


@njit(ADD_OWN_CURVATURE, error_model="numpy")
def add_own_curvature(integers, block, h, row, penalty, multipliers, x, u, aux, hxx, hux, huu):
    """Add what Gauss-Newton leaves out of the terms' Hessian, at fixed λ(x, u)'s own curvature."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    n_e = 2 * n + n_u + n_f * n_a
    curvature = table(aux, own.scratch + n_f * n_a + n_e, n_e, n_e)
    _gather_forces(integers, block, aux)
    place = place_of(integers, _N_PACKAGED)
    call_kernel(
        integers[at.TERMS_SECOND],
        (
            address(x, 0),
            address(u, 0),
            address(aux, own.scratch),
            address(row, place.row),
            address(penalty, 0),
            address(multipliers, place.dual),
        ),
        (address(curvature, 0),),
        0,
        0,
    )
    _add_through_forces(integers, block, h, curvature, aux, hxx, hux, huu)
