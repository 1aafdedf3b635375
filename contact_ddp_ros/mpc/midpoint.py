r"""Implicit midpoint rule of one node for Numba code, with first and second order through the same contraction.

    q⁺ = q + h v_m,   v⁺ = v + h v̇,       v_m = v + ½h v̇,   q_m = ½(q + q⁺) = q + ½h v + ¼h² v̇,
    r(q_m, v_m, ν) = K(q_m) ν + b(q_m, v_m) = [Sᵀu; 0],        ν = (v̇, λ),

of second order in h where the explicit schemes are of first, and symmetric in time: a step of −h undoes one of h, and
the energy of a passive motion hardly drifts. The contact's constraint holds at the middle, where its force acts. Only ν
is unknown; (q_m, v_m) follow from its v̇.

Newton. ∂/∂ν of the left side is

    K̃ = K(q_m) + [ ¼h² r_q + ½h r_v , 0 ],

its second block being the columns of v̇. It starts from the explicit ν at (q + ½h v, v), whose error is of order h. A
correction after a small one keeps its K̃, whose error is of that one's order, so that errors still shrink by that factor
at least; it ends where a correction is within TOLERANCE of ν. After MAX_CORRECTIONS, and so with numbers that are not
finite, the step has failed and costs infinity. Elimination without pivoting is safe for K, which is quasi-definite, and
for K̃ while a step is short against the motion; where it is not, corrections do not shrink.

First order. With the partials of r at the middle:

    ν_q = −K̃⁻¹ r_q,      ν_v = −K̃⁻¹ (r_v + ½h r_q),      ν_u = K̃⁻¹ [Sᵀ; 0].

Second order. Differentiate the residual twice along z, y ∈ {q, v, u}, with q_m and v_m linear in z and ν:

    K̃ ν_zy + D²r[(Q_z, V_z, ν_z), (Q_y, V_y, ν_y)] = 0,
    Q_z = ∂q_m/∂z = [1  ½h  0] + ¼h² v̇_z,      V_z = ∂v_m/∂z = [0  1  0] + ½h v̇_z.

Contracted with γ through ξ = −K̃⁻ᵀγ, D²r becomes the Hessian of s = ξᵀr = mRNEAc(q_m, v_m, ν, ξ), which the explicit
schemes take from the same kernel, and no tensor is formed:

    γᵀν_zy = Q_zᵀ s_qq Q_y + V_zᵀ s_vv V_y + (Q_zᵀ (s_qv V_y + s_qν ν_y) + its transpose),      s_vν = s_νν = 0.

Unlike there γᵀν_uu is not zero, since the torque moves the middle, and K̃ is not symmetric.

See eq. (9) of docs/mathematics.md.
"""

import numba as nb
import numpy as np

from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_motion import residual_partials, solve_motion
from contact_ddp_ros.mpc.layout import aux_offsets, sizes_of
from contact_ddp_ros.mpc.linear_system import factorise, solve_matrix, solve_transposed_vector, solve_vector
from contact_ddp_ros.mpc.optional_kernels import MIDPOINT_CURVATURE, MIDPOINT_PARTIALS, SOLVE_MIDPOINT
from contact_ddp_ros.ocp.linear_algebra import add_transpose_multiply, clear, multiply
from contact_ddp_ros.ocp.numba_views import address, part, table
from contact_ddp_ros.ocp.protocol import INTEGERS, MATRIX, VECTOR

TOLERANCE = 1e-8
"""Largest last correction, relative to the largest entry of ν."""

SMALL = 0.1
"""A correction that small leaves K̃ as it is for the next."""

MAX_CORRECTIONS = 12
"""A step that needs more has failed."""


@njit(nb.void(INTEGERS, nb.float64, VECTOR, VECTOR), inline="always", error_model="numpy")
def _to_middle(integers, h, x, aux):
    """Write (q_m, v_m) of the present v̇ into aux."""
    n, n_u, n_f, n_a = sizes_of(integers)
    middle = aux_offsets(n, n_u, n_f, n_a).middle
    for i in range(n):
        aux[middle + n + i] = x[n + i] + 0.5 * h * aux[i]
        aux[middle + i] = x[i] + 0.5 * h * aux[middle + n + i]


@njit(nb.void(INTEGERS, nb.int64, VECTOR, VECTOR, MATRIX, VECTOR), inline="always", error_model="numpy")
def _system(integers, block, row, aux, k, bias):
    """Write K and b of the middle in aux."""
    n, n_u, n_f, n_a = sizes_of(integers)
    middle = aux_offsets(n, n_u, n_f, n_a).middle
    call_kernel(
        integers[block + at.SYSTEM],
        (address(aux, middle), address(aux, middle + n), address(row, at.MODEL)),
        (address(k, 0), address(bias, 0)),
        0,
        0,
    )


@njit(nb.void(INTEGERS, nb.int64, nb.float64, VECTOR, VECTOR, MATRIX), error_model="numpy")
def _factorise(integers, block, h, row, aux, k):
    """Turn K of the middle in aux into the factor of K̃; leaves [−r_q  −r_v  Sᵀ] where ν_z goes."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    middle = part(aux, own.middle, 2 * n)
    n_s = k.shape[0]
    residual_partials(integers, block, False, middle, row, aux)
    right = table(aux, own.derivatives, n_s, 2 * n + n_u)
    for i in range(n_s):
        for j in range(n):
            k[i, j] -= 0.25 * h * h * right[i, j] + 0.5 * h * right[i, n + j]
    factorise(k, n)


@njit(SOLVE_MIDPOINT, error_model="numpy")
def solve_midpoint(integers, block, h, x, u, row, aux):
    """Solve for ν of a step; leave it and the middle in aux. False where that fails."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    n_s = n + integers[block + at.CONTACTS] * n_a
    nu, lu, residual = part(aux, 0, n_s), table(aux, own.factor, n_s, n_s), part(aux, own.xi, n_s)
    beside = table(aux, own.derivatives, n_s, n_s)  # fits: with more constraints than joints K would be singular
    middle = part(aux, own.middle, 2 * n)
    for i in range(n):
        middle[i] = x[i] + 0.5 * h * x[n + i]
        middle[n + i] = x[n + i]
    solve_motion(integers, block, False, middle, u, row, aux)
    correction = np.inf
    for _ in range(MAX_CORRECTIONS):
        fresh = not correction <= SMALL
        k = lu if fresh else beside
        _to_middle(integers, h, x, aux)
        _system(integers, block, row, aux, k, residual)
        for i in range(n_s):
            for j in range(n_s):
                residual[i] += k[i, j] * nu[j]
        for a in range(n_u):
            residual[integers[at.HEADER + a]] -= u[a]
        if fresh:
            _factorise(integers, block, h, row, aux, lu)
        solve_vector(lu, residual, n)
        correction, size = 0.0, 1.0
        for i in range(n_s):
            nu[i] -= residual[i]
            correction += abs(residual[i])
            size = max(size, abs(nu[i]))
        correction /= size
        if correction <= TOLERANCE:
            _to_middle(integers, h, x, aux)
            return True
    return False


@njit(MIDPOINT_PARTIALS, error_model="numpy")
def midpoint_partials(integers, block, h, row, aux):
    """ν_z for z = (q, v, u) into aux, as `motion_partials` of the explicit schemes leaves it, and the factor of K̃."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    n_s = n + integers[block + at.CONTACTS] * n_a
    lu, nu_z = table(aux, own.factor, n_s, n_s), table(aux, own.derivatives, n_s, 2 * n + n_u)
    _system(integers, block, row, aux, lu, part(aux, own.xi, n_s))
    _factorise(integers, block, h, row, aux, lu)
    for i in range(n_s):
        for j in range(n):
            nu_z[i, n + j] += 0.5 * h * nu_z[i, j]
    solve_matrix(lu, nu_z, n)


@njit(MIDPOINT_CURVATURE, error_model="numpy")
def midpoint_curvature(integers, block, h, row, aux, hxx, hux, huu):
    """Write γᵀν_zy for the γ that the caller leaves where ξ goes; needs the factor of K̃, the middle and ν_z in aux."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    n_s = n + integers[block + at.CONTACTS] * n_a
    n_x, n_z = 2 * n, 2 * n + n_u
    nu_z = table(aux, own.derivatives, n_s, n_z)
    xi = part(aux, own.xi, n_s)
    for i in range(n_s):
        xi[i] = -xi[i]
    solve_transposed_vector(table(aux, own.factor, n_s, n_s), xi, n)

    s_qq = table(aux, own.scratch, n, n)
    s_qv = table(aux, own.scratch + n * n, n, n)
    s_vv = table(aux, own.scratch + 2 * n * n, n, n)
    start = own.scratch + 3 * n * n
    s_nuq = table(aux, start, n_s, n)
    start += n_s * n
    q_z = table(aux, start, n, n_z)
    v_z = table(aux, start + n * n_z, n, n_z)
    product = table(aux, start + 2 * n * n_z, n, n_z)
    half = table(aux, start + 3 * n * n_z, n_z, n_z)
    call_kernel(
        integers[block + at.SECOND],
        (address(xi, 0), address(aux, own.shared)),
        (address(s_qq, 0), address(s_qv, 0), address(s_vv, 0), address(s_nuq, 0)),
        0,
        0,
    )
    for i in range(n):
        for j in range(n_z):
            v_z[i, j] = 0.5 * h * nu_z[i, j]
            q_z[i, j] = 0.5 * h * v_z[i, j]
        v_z[i, n + i] += 1.0
        q_z[i, i] += 1.0
        q_z[i, n + i] += 0.5 * h
        for j in range(n):
            s_qq[i, j] *= 0.5
            s_vv[i, j] *= 0.5
    # Half of what is symmetric by itself and one of each pair of transposes; its transpose adds the rest.
    clear(half)
    multiply(s_qv, v_z, product, n)
    add_transpose_multiply(s_qq, q_z, product)
    add_transpose_multiply(s_nuq, nu_z, product)
    add_transpose_multiply(q_z, product, half)
    clear(product)
    add_transpose_multiply(s_vv, v_z, product)
    add_transpose_multiply(v_z, product, half)
    for i in range(n_x):
        for j in range(n_x):
            hxx[i, j] = half[i, j] + half[j, i]
    for a in range(n_u):
        for j in range(n_x):
            hux[a, j] = half[n_x + a, j] + half[j, n_x + a]
        for b in range(n_u):
            huu[a, b] = half[n_x + a, n_x + b] + half[n_x + b, n_x + a]
