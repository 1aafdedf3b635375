"""Contracted second-order partials of one node's motion for Numba code, by mRNEAc.

For the vector γ of the backward sweep, which the caller leaves in the node's aux where ξ goes, it writes γᵀν_zy:
`hxx` (2n, 2n) for z, y ∈ {q, v} and `hux` (n_u, 2n) for z = u; γᵀν_uu vanishes.

See eq. (6) of docs/mathematics.md, and :mod:`contact_ddp_ros.mpc.tensor_curvature` for the conventional way.
"""

import numba as nb

from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_motion import solve_again
from contact_ddp_ros.mpc.layout import aux_offsets, sizes_of
from contact_ddp_ros.mpc.terms.term import COMPILED
from contact_ddp_ros.ocp.linear_algebra import add_transpose_multiply, clear
from contact_ddp_ros.ocp.numba_views import address, part, table
from contact_ddp_ros.ocp.protocol import INTEGERS, MATRIX, VECTOR


@njit(nb.void(INTEGERS, nb.int64, nb.boolean, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX), **COMPILED)
def motion_curvature(integers, block, impact, x, row, aux, hxx, hux):
    """Curvature by mRNEAc: ξ = −K⁻¹γ, then γᵀν_zy = s_zy + s_zν ν_y + (s_yν ν_z)ᵀ; needs K's factor and ν_z in aux."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    n_s = n + integers[block + at.CONTACTS] * n_a
    n_z = 2 * n + n_u
    nu_z = table(aux, own.derivatives, n_s, n_z)
    xi = part(aux, own.xi, n_s)
    for i in range(n_s):
        xi[i] = -xi[i]
    solve_again(integers, block, aux, xi)

    s_qq = table(aux, own.scratch, n, n)
    s_qv = table(aux, own.scratch + n * n, n, n)
    s_vv = table(aux, own.scratch + 2 * n * n, n, n)
    start = own.scratch + 3 * n * n
    s_nuq = table(aux, start, n_s, n)
    start += n_s * n
    through = table(aux, start, n, n_z)
    call_kernel(
        integers[block + at.IMPACT_SECOND] if impact else integers[block + at.SECOND],
        (address(xi, 0), address(aux, own.shared)),
        (address(s_qq, 0), address(s_qv, 0), address(s_vv, 0), address(s_nuq, 0)),
        0,
        0,
    )
    if integers[block + at.CURVATURE] != 0:
        given = (address(s_qq, 0), address(s_qv, 0), address(s_vv, 0), address(s_nuq, 0), address(nu_z, 0))
        call_kernel(integers[block + at.CURVATURE], given, (address(hxx, 0), address(hux, 0)), 0, 0)
        return
    clear(through)
    add_transpose_multiply(s_nuq, nu_z, through)
    for i in range(n):
        row, by_q, by_v, of_v = through[i], s_qq[i], s_qv[i], s_vv[i]
        upper, lower = hxx[i], hxx[n + i]
        # Loops of their own, so that the compiler turns those over contiguous memory into vector instructions.
        for j in range(n):
            upper[n + j] = by_v[j] + row[n + j]
        for j in range(n):
            lower[n + j] = of_v[j]
        for j in range(i + 1):
            value = by_q[j] + row[j] + through[j, i]
            upper[j] = value
            hxx[j, i] = value
        for j in range(n):
            hxx[n + j, i] = upper[n + j]
        for a in range(n_u):
            hux[a, i] = row[2 * n + a]
            hux[a, n + i] = 0.0
