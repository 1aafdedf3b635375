"""Cost of the contact forces of one node for Numba code: the sum of the terms on them, and the chain rule to (x, u).

λ = g(x, u) is a result of the dynamics, so its cost enters by the chain rule: λ_zᵀ ℓ_λ and λ_zᵀ ℓ_λλ λ_y.
"""

import numba as nb

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.layout import aux_offsets, sizes_of
from contact_ddp_ros.mpc.term_sums import ForceSums
from contact_ddp_ros.mpc.terms.term import COMPILED
from contact_ddp_ros.ocp.linear_algebra import clear
from contact_ddp_ros.ocp.numba_views import part, table
from contact_ddp_ros.ocp.protocol import INTEGERS, MATRIX, VECTOR

_sums = ForceSums()
_add, _add_hessian, _limits, _costs = _sums.derivatives, _sums.hessian, _sums.limits, _sums.costs


@njit(nb.float64(INTEGERS, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR), **COMPILED)
def force_cost(integers, block, row, parameters, penalty, multipliers, nu, gradient):
    """The terms on the contact forces: returns their cost, writes its gradient."""
    n, _, n_f, n_a = sizes_of(integers)
    cost = 0.0
    for c in range(integers[block + at.CONTACTS]):
        foot, first = integers[block + at.MODE_HEADER + c], c * n_a
        for a in range(n_a):
            gradient[first + a] = 0.0
        cost = _add(
            *(cost, integers, foot, n_f, n_a, row, parameters, multipliers, penalty, nu, n + first, gradient, first)
        )
    return cost


@njit(nb.float64(INTEGERS, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR), **COMPILED)
def force_limits(integers, block, row, parameters, nu, residual):
    """Write the constraints of the forces of the feet on the ground into a node's residual; their largest violation."""
    n, _, n_f, n_a = sizes_of(integers)
    violation = 0.0
    for c in range(integers[block + at.CONTACTS]):
        foot = integers[block + at.MODE_HEADER + c]
        violation = _limits(violation, integers, foot, n_f, n_a, row, parameters, nu, n + c * n_a, residual)
    return violation


@njit(nb.void(INTEGERS, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX), **COMPILED)
def force_hessian(integers, block, row, parameters, penalty, multipliers, nu, hessian):
    """ℓ_λλ of one contact after the other: rows of `hessian` are (contact rows), columns the axes of that contact."""
    n, _, n_f, n_a = sizes_of(integers)
    clear(hessian)
    for c in range(integers[block + at.CONTACTS]):
        foot, first = integers[block + at.MODE_HEADER + c], c * n_a
        _add_hessian(*(integers, foot, n_f, n_a, row, parameters, multipliers, penalty, nu, n + first, hessian, first))


@njit(
    nb.void(INTEGERS, nb.int64, nb.float64, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR),
    error_model="numpy",
)
def note_force_costs(integers, block, h, row, parameters, penalty, multipliers, nu, gradient, costs):
    """Add h times the cost of each term on the contact forces to its entry of `costs`; the gradient is scratch."""
    n, _, n_f, n_a = sizes_of(integers)
    for c in range(integers[block + at.CONTACTS]):
        foot = integers[block + at.MODE_HEADER + c]
        _costs(
            *(costs, h, integers, foot, n_f, n_a, row, parameters, multipliers, penalty, nu, n + c * n_a, gradient, 0)
        )


@njit(
    nb.void(MATRIX, MATRIX, nb.int64, nb.int64, nb.int64, nb.int64, VECTOR),
    inline="always",
    error_model="numpy",
    fastmath={"contract"},
)
def _add_row(lam_z, weighted, c, n_a, i, first, row):
    """Add λ_iᵀ (ℓ_λλ λ_z) of one contact, which begins at row c, to a row; its columns begin at `first`."""
    if n_a == 3:
        f0, f1, f2 = lam_z[c, i], lam_z[c + 1, i], lam_z[c + 2, i]
        w0, w1, w2 = weighted[c], weighted[c + 1], weighted[c + 2]
        for j in range(row.size):
            row[j] += f0 * w0[first + j] + f1 * w1[first + j] + f2 * w2[first + j]
        return
    for a in range(n_a):
        factor, other = lam_z[c + a, i], weighted[c + a]
        for j in range(row.size):
            row[j] += factor * other[first + j]


@njit(
    nb.void(
        *(INTEGERS, nb.int64, nb.float64, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR),
        *(MATRIX, MATRIX, MATRIX),
    ),
    **COMPILED,
)
def add_force_terms(integers, block, h, row, parameters, penalty, multipliers, aux, lx, lu, lxx, lux, luu):
    """Add λ_zᵀ ℓ_λ to the cost's gradient and λ_zᵀ ℓ_λλ λ_y to its Gauss-Newton Hessian."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    n_x, n_z = 2 * n, 2 * n + n_u
    n_c = integers[block + at.CONTACTS] * n_a
    if n_c == 0:
        return
    lam_z = table(aux, own.derivatives + n * n_z, n_c, n_z)
    gradient = part(aux, own.scratch, n_f * n_a)
    start = own.scratch + n_f * n_a
    hessian = table(aux, start, n_c, n_a)
    start += n_c * n_a
    weighted = table(aux, start, n_c, n_z)
    force_cost(integers, block, row, parameters, penalty, multipliers, aux, gradient)
    force_hessian(integers, block, row, parameters, penalty, multipliers, aux, hessian)
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
    for c in range(0, n_c, n_a):
        for i in range(n_x):
            _add_row(lam_z, weighted, c, n_a, i, 0, lxx[i])
        for a in range(n_u):
            _add_row(lam_z, weighted, c, n_a, n_x + a, 0, lux[a])
            _add_row(lam_z, weighted, c, n_a, n_x + a, n_x, luu[a])
