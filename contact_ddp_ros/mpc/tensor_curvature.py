"""Contracted second-order partials of one node's motion by the conventional way, tensors: the baseline.

It writes what :mod:`contact_ddp_ros.mpc.contact_curvature` does, for γ at the same place.

See eq. (4) of docs/mathematics.md.
"""

from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.layout import aux_offsets, sizes_of
from contact_ddp_ros.mpc.optional_kernels import CURVATURE_BY_TENSOR
from contact_ddp_ros.ocp.linear_algebra import clear
from contact_ddp_ros.ocp.numba_views import address, part, table


@njit(CURVATURE_BY_TENSOR, error_model="numpy")
def motion_curvature_by_tensor(integers, block, impact, x, u, row, aux, hxx, hux):
    """By the conventional way: ν differentiated twice as a tensor, contracted with γ afterwards."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    clear(hux)
    tau = part(aux, own.scratch, n)
    tau[:] = 0.0
    for a in range(n_u):
        tau[integers[at.HEADER + a]] = u[a]
    start = own.scratch + n
    c_qq = table(aux, start, n, n)
    c_vq = table(aux, start + n * n, n, n)
    c_vv = table(aux, start + 2 * n * n, n, n)
    c_tau_q = table(aux, start + 3 * n * n, n, n)
    results = (address(c_qq, 0), address(c_vq, 0), address(c_vv, 0))
    if impact:
        arguments = (address(x, 0), address(x, n), address(aux, own.xi), address(row, at.MODEL))
        call_kernel(integers[block + at.IMPACT_TENSOR], arguments, results, 0, 0)
        clear(c_tau_q)
    else:
        call_kernel(
            integers[block + at.TENSOR],
            (address(x, 0), address(x, n), address(tau, 0), address(aux, own.xi), address(row, at.MODEL)),
            (address(c_qq, 0), address(c_vq, 0), address(c_vv, 0), address(c_tau_q, 0)),
            0,
            0,
        )
    for i in range(n):
        for j in range(n):
            hxx[i, j] = c_qq[i, j]
            hxx[i, n + j] = c_vq[j, i]
            hxx[n + j, i] = c_vq[j, i]
            hxx[n + i, n + j] = c_vv[i, j]
        for a in range(n_u):
            hux[a, i] = c_tau_q[integers[at.HEADER + a], i]
