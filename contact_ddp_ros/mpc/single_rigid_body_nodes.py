r"""Nodes of the horizon's tail for Numba code: a time step of the robot as one rigid body, moved by forces.

State and control keep their sizes. Of x = (q, v) the trunk's part moves, by semi-implicit Euler; joints rest where the
whole model left them, and nothing depends on them: their columns of f_x, and so of V'ₓₓ, are zero. That is the reset
between the models, x_body = P x, and its derivatives. The controls are the forces F on the feet, foot by foot; those of
feet in the air do nothing and cost ½F². The cost is that of a time step of the whole model, λ = F, without torques and
the feet's heights.

Second order, contracted with γ = h V'_v + h² V'_q of the trunk:  γᵀ v̇_zy, z, y ∈ {q, v, F}.

See :mod:`contact_ddp_ros.mpc.single_rigid_body` for v̇.
"""

import numba as nb
import numpy as np

from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_forces import force_cost, force_hessian, force_limits
from contact_ddp_ros.mpc.contact_motion import locate_feet, mode_block
from contact_ddp_ros.mpc.layout import aux_offsets, sizes_of
from contact_ddp_ros.mpc.optional_kernels import BODY_FIRST, BODY_SECOND, BODY_STEP
from contact_ddp_ros.ocp.linear_algebra import clear
from contact_ddp_ros.ocp.numba_views import address, part, table
from contact_ddp_ros.ocp.protocol import DATA, INTEGERS, MATRIX, VECTOR

IDLE = 1.0
"""Weight of the force on a foot in the air [1/N²]."""


@njit(nb.int64(DATA, nb.int64, VECTOR, VECTOR), error_model="numpy")
def _apply_forces(data, k, u, aux):
    """Write λ where the contact dynamics have it, and F with zeros for feet in the air into scratch; the mode's block.

    The scratch of these nodes: F (n_f n_a), v̇ or γ (n), then results.
    """
    integers, node_integers, _, _, _, _ = data
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    block = mode_block(integers, node_integers[k, at.NODE_MODE])
    for i in range(n_f * n_a):
        aux[own.scratch + i] = 0.0
    for c in range(integers[block + at.CONTACTS]):
        foot = integers[block + at.MODE_HEADER + c]
        for a in range(n_a):
            aux[n + c * n_a + a] = u[foot * n_a + a]
            aux[own.scratch + foot * n_a + a] = u[foot * n_a + a]
    return block


@njit(nb.types.UniTuple(nb.int64, 5)(DATA, nb.int64, VECTOR, VECTOR), inline="always")
def _arguments(data, k, x, aux):
    """Addresses of the kernels' q, v, F, places of the feet and inertia, after :func:`_apply_forces`."""
    integers, _, parameters, node_parameters, _, _ = data
    n, n_u, n_f, n_a = sizes_of(integers)
    return (
        address(x, 0),
        address(x, n),
        address(aux, aux_offsets(n, n_u, n_f, n_a).scratch),
        address(node_parameters[k], integers[at.FOOTHOLDS]),
        address(parameters, integers[at.INERTIA]),
    )


@njit(BODY_STEP, error_model="numpy")
def body_step(data, k, x, u, x_next, aux, residual):
    """One node forward; the cost rate of its forces."""
    integers, _, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    row, n_b, n_c = node_parameters[k], n - n_u, n_f * n_a
    h = row[at.DURATION]
    block = _apply_forces(data, k, u, aux)
    rate = own.scratch + n_c
    call_kernel(
        integers[at.BODY],
        _arguments(data, k, x, aux),
        (address(aux, rate),),
        0,
        0,
    )
    for i in range(n):
        x_next[n + i] = x[n + i] + h * aux[rate + i] if i < n_b else 0.0
        x_next[i] = x[i] + h * x_next[n + i]
    cost = force_cost(integers, block, row, parameters, penalty, multipliers[k], aux, part(aux, rate + n, n_c))
    residual[-1] = force_limits(integers, block, row, parameters, aux, residual)
    for f in range(n_f):
        down = False
        for c in range(integers[block + at.CONTACTS]):
            down = down or integers[block + at.MODE_HEADER + c] == f
        for i in range(f * n_a, (f + 1) * n_a):
            if not down:
                cost += 0.5 * IDLE * u[i] * u[i]
    return cost


@njit(BODY_FIRST, error_model="numpy")
def body_first(data, k, x, u, aux, fx, fu, lu, luu):
    """f_x and f_u, and the forces' part of the cost's gradient and Hessian; luu, lu and the f are cleared here."""
    integers, _, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    row, n_b, n_c = node_parameters[k], n - n_u, n_f * n_a
    h = row[at.DURATION]
    block = _apply_forces(data, k, u, aux)
    n_z = 2 * n_b + n_c
    start = own.scratch + n_c
    by_z = table(aux, start, n_b, n_z)
    call_kernel(
        integers[at.BODY_FIRST],
        _arguments(data, k, x, aux),
        (address(by_z, 0),),
        0,
        0,
    )
    clear(fx)
    clear(fu)
    for i in range(n):
        fx[i, i] = 1.0
    for i in range(n_b):
        for j in range(n_b):
            fx[n + i, j] = h * by_z[i, j]
            fx[n + i, n + j] = h * by_z[i, n_b + j]
        fx[n + i, n + i] += 1.0
        for j in range(n_b):
            fx[i, j] += h * fx[n + i, j]
            fx[i, n + j] = h * fx[n + i, n + j]
    start += n_b * n_z
    gradient, hessian = part(aux, start, n_c), table(aux, start + n_c, n_c, n_a)
    force_cost(integers, block, row, parameters, penalty, multipliers[k], aux, gradient)
    force_hessian(integers, block, row, parameters, penalty, multipliers[k], aux, hessian)
    for i in range(n_u):
        lu[i] = 0.0
        luu[i, i] = h * IDLE
        if i < n_c:
            lu[i] = h * IDLE * u[i]
    for c in range(integers[block + at.CONTACTS]):
        begin = integers[block + at.MODE_HEADER + c] * n_a
        for a in range(n_a):
            lu[begin + a] = h * gradient[c * n_a + a]
            for b in range(n_a):
                luu[begin + a, begin + b] = h * hessian[c * n_a + a, b]
            for i in range(n_b):
                fu[n + i, begin + a] = h * by_z[i, 2 * n_b + begin + a]
                fu[i, begin + a] = h * fu[n + i, begin + a]


@njit(BODY_SECOND, error_model="numpy")
def body_second(data, k, x, u, aux, vx, hxx, hux):
    """γᵀv̇_zy into hxx and hux."""
    integers, _, _, node_parameters, _, _ = data
    n, n_u, n_f, n_a = sizes_of(integers)
    n_b, n_c = n - n_u, n_f * n_a
    h = node_parameters[k, at.DURATION]
    block = _apply_forces(data, k, u, aux)
    n_z = 2 * n_b + n_c
    start = aux_offsets(n, n_u, n_f, n_a).scratch + n_c
    for i in range(n_b):
        aux[start + i] = h * vx[n + i] + h * h * vx[i]
    hessian = table(aux, start + n_b, n_z, n_z)
    call_kernel(
        integers[at.BODY_SECOND],
        (*_arguments(data, k, x, aux), address(aux, start)),
        (address(hessian, 0),),
        0,
        0,
    )
    clear(hxx)
    clear(hux)
    for i in range(n_b):
        for j in range(n_b):
            hxx[i, j] = hessian[i, j]
            hxx[i, n + j] = hessian[i, n_b + j]
            hxx[n + i, j] = hessian[n_b + i, j]
            hxx[n + i, n + j] = hessian[n_b + i, n_b + j]
    for c in range(integers[block + at.CONTACTS]):
        begin = integers[block + at.MODE_HEADER + c] * n_a
        for i in range(begin, begin + n_a):
            for j in range(n_b):
                hux[i, j] = hessian[2 * n_b + i, j]
                hux[i, n + j] = hessian[2 * n_b + i, n_b + j]


@njit(MATRIX(INTEGERS, INTEGERS, MATRIX, MATRIX), error_model="numpy")
def footholds(integers, modes, rows, xs):
    """(N, n_f n_a) places of the feet at states xs (N, 2n) of nodes with modes (N,) and parameters (N, size) [m]."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    aux, found = np.zeros(own.shared), np.zeros((len(xs), n_f * n_a))
    for k in range(len(xs)):
        locate_feet(integers, mode_block(integers, modes[k]), xs[k], rows[k], aux)
        found[k] = aux[own.positions : own.positions + n_f * n_a]
    return found
