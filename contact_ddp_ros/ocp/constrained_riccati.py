r"""The backward sweep that keeps the mixed equalities g(x, u) = 0 of a node, with their own multipliers y.

With H, Qu, Qux, Qxx and V' of :mod:`contact_ddp_ros.ocp.backward`, the curvature of f contracted with λ, that of g
(and of inequalities) with their multipliers, each node solves

    [Quu + δI   g_uᵀ] [k  K]     [Qu  Qux]
    [g_u        0   ] [ψ  Ω] = − [g   g_x]        δu = k + K δx,    δy = ψ + Ω δx

and hands on Vx = Qx + Quxᵀk + g_xᵀψ, Vxx = Qxx + QuxᵀK + g_xᵀΩ. With δ = 0 this is block elimination of the whole
horizon's Newton system (Xu, Gould and Shames 2025; λ is the adjoint of the iterate, not V'x: with V'x the curvature
would depend on violations). Let n_g be the rows of g. If every node's matrix has n_g negative and no zero eigenvalues,
the Hessian plus δI on the controls is positive definite where the linearised f and g vanish, and the step descends on
every cost whose violation does not matter. δ is one for all nodes, and more at nodes that need more.

Rows of g_u that are zero, as of an equality of the state alone, and all rows where `dual` says so, since they depend on
each other, get −δ_c in the place of the lower right 0: ψ = (g + g_x δx + g_u δu)/δ_c is proximal, and exact in the end,
where ψ = 0.

A node's matrix is factored as in :mod:`contact_ddp_ros.ocp.linear_algebra`, which tells its inertia.
"""

import numba as nb
import numpy as np

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.ocp.linear_algebra import add_transpose_multiply, factorise, multiply, solve, symmetrise
from contact_ddp_ros.ocp.node_function import function_at
from contact_ddp_ros.ocp.numba_views import borrow, keep_alive, table
from contact_ddp_ros.ocp.protocol import DATA, FLAGS, INTEGERS, MATRIX, SECOND_TYPE, TENSOR, VECTOR
from contact_ddp_ros.ocp.rollout import EXPANSION

_OPTIONS = {"nogil": True, "error_model": "numpy"}

_GROW, _SHRINK, _LEAST = 4.0, 1.0 / 3.0, 1e-4
"""Factors of a node's own δ after a failure and on the last one to begin with; its least value."""

DUAL = 1e-6
"""δ_c."""

_second_at = function_at(SECOND_TYPE)


@njit(nb.void(EXPANSION, nb.int64, VECTOR, MATRIX, VECTOR, MATRIX, MATRIX, VECTOR, MATRIX), **_OPTIONS)
def _gauss_newton(expansion, k, vx, vxx, gap, f, vf, qz, qzz):
    """Write Qz and Qzz of a node without second order, whose upper right block stays unused.

    f (n_x, n_z) and vf receive f_z and V'xx f_z.
    """
    fxs, fus, lxs, lus, lxxs, luxs, luus = expansion
    n_x, n_u = fxs.shape[1], fus.shape[2]
    for i in range(n_x):
        for j in range(n_x):
            f[i, j] = fxs[k, i, j]
            qzz[i, j] = lxxs[k, i, j]
        for j in range(n_u):
            f[i, n_x + j] = fus[k, i, j]
            qzz[i, n_x + j] = 0.0
    for i in range(n_u):
        for j in range(n_x):
            qzz[n_x + i, j] = luxs[k, i, j]
        for j in range(n_u):
            qzz[n_x + i, n_x + j] = luus[k, i, j]
    multiply(vxx, f, vf, n_x)
    add_transpose_multiply(f, vf, qzz)
    for j in range(n_x + n_u):
        value = lxs[k, j] if j < n_x else lus[k, j - n_x]
        for i in range(n_x):
            value += f[i, j] * vx[i]
            if gap.size > 0:
                value += vf[i, j] * gap[i]
        qz[j] = value


@njit(nb.void(nb.float64, MATRIX, MATRIX, MATRIX, MATRIX), **_OPTIONS)
def _add_second(theta, sxx, sux, suu, qzz):
    """Add θ [sxx ·; sux suu]."""
    n_u, n_x = sux.shape
    for i in range(n_x):
        for j in range(n_x):
            qzz[i, j] += theta * sxx[i, j]
    for i in range(n_u):
        for j in range(n_x):
            qzz[n_x + i, j] += theta * sux[i, j]
        for j in range(n_u):
            qzz[n_x + i, n_x + j] += theta * suu[i, j]


@njit(nb.void(VECTOR, MATRIX, MATRIX, VECTOR, MATRIX, MATRIX), **_OPTIONS)
def _sides(qz, qzz, jacobian, g, side, b):
    """Write [Qux; g_x] into `side` and −[Qux Qu; g_x g] into b."""
    n_g, n_x = jacobian.shape[0], side.shape[1]
    n_u = side.shape[0] - n_g
    for i in range(n_u + n_g):
        for j in range(n_x):
            side[i, j] = qzz[n_x + i, j] if i < n_u else jacobian[i - n_u, j]
            b[i, j] = -side[i, j]
        b[i, n_x] = -(qz[n_x + i] if i < n_u else g[i - n_u])


@njit(nb.boolean(MATRIX, MATRIX, nb.float64, nb.boolean, MATRIX, INTEGERS, INTEGERS), **_OPTIONS)
def _factorise(qzz, jacobian, delta, dual, a, pivots, sizes):
    """Factor a node's matrix into a; whether its inertia is that of a minimum."""
    n_g, n_s = jacobian.shape[0], a.shape[0]
    n_u = n_s - n_g
    n_x = qzz.shape[0] - n_u
    for i in range(n_u):
        for j in range(i + 1):
            a[i, j] = 0.5 * (qzz[n_x + i, n_x + j] + qzz[n_x + j, n_x + i])
        a[i, i] += delta
    for i in range(n_u, n_s):
        free = False
        for j in range(n_u):
            a[i, j] = jacobian[i - n_u, n_x + j]
            free = free or a[i, j] != 0.0
        for j in range(n_u, i + 1):
            a[i, j] = 0.0
        if dual or not free:
            a[i, i] = -DUAL
    return factorise(a, pivots, sizes) == n_g


@njit(nb.void(MATRIX, MATRIX, VECTOR, MATRIX, VECTOR, MATRIX), **_OPTIONS)
def _value(side, b, qz, qzz, vx, vxx):
    """Write the value function of a node whose solution [K k; Ω ψ] is b."""
    n_s, n_x = side.shape
    for j in range(n_x):
        vx[j] = qz[j]
        for i in range(n_s):
            vx[j] += side[i, j] * b[i, n_x]
    for j in range(n_x):
        for m in range(n_x):
            value = qzz[j, m]
            for i in range(n_s):
                value += side[i, j] * b[i, m]
            qzz[j, m] = value
    symmetrise(qzz, vxx)


@njit(
    nb.int64(
        *(nb.int64, DATA, FLAGS),
        *(MATRIX, MATRIX, MATRIX, MATRIX, EXPANSION, MATRIX, MATRIX),
        *(nb.float64, nb.float64, VECTOR, nb.float64, nb.boolean),
        *(MATRIX, TENSOR, MATRIX, TENSOR, MATRIX, TENSOR),
    ),
    **_OPTIONS,
)
def backward(
    second_address,
    data,
    has_control,
    xs,
    us,
    aux,
    residuals,
    expansion,
    costates,
    gaps,
    theta,
    delta,
    deltas,
    most,
    dual,
    ks,
    gains,
    psis,
    omegas,
    vx_all,
    vxx_all,
):
    """Write ks (N, n_u), gains, ψ (N, n_g), Ω (N, n_g, n_x) and the value function; −1, or the node that fails.

    `delta` is δ of all nodes. One whose inertia is wrong gets more by itself, at first what is left in `deltas` (N,),
    up to `most`, and fails beyond; `dual` is for rows of g that depend on each other. `gaps` (N, n_x) are those of the
    trajectory, or have no rows.
    """
    second = _second_at(second_address)
    n_nodes, n_u = us.shape
    n_x, n_g = xs.shape[1], psis.shape[1]
    n_z, n_s = n_x + n_u, n_u + n_g
    owners = (
        *(np.empty((n_x, n_z)), np.empty((n_x, n_z)), np.empty((n_z, n_z))),
        *(np.empty((n_x, n_x)), np.empty((n_u, n_x)), np.empty((n_u, n_u))),
        *(np.empty((n_s, n_s)), np.empty((n_s, n_x + 1)), np.empty((n_s, n_x))),
    )
    f, vf, qzz, sxx, sux, suu, a, b, side = borrow(owners)
    qz, none = np.empty(n_z), np.empty(0)
    pivots, sizes = np.empty(n_s, dtype=np.int64), np.empty(n_s, dtype=np.int64)
    vx_all[n_nodes, :] = expansion[2][n_nodes]
    vxx_all[n_nodes, :, :] = expansion[4][n_nodes]
    if theta > 0.0:
        second(data, n_nodes, xs[n_nodes], us[0], aux[n_nodes], vx_all[n_nodes], sxx, sux, suu)
        vxx_all[n_nodes, :, :] += theta * sxx
    for k in range(n_nodes - 1, -1, -1):
        gap = gaps[k] if gaps.shape[0] > 0 else none
        _gauss_newton(expansion, k, vx_all[k + 1], vxx_all[k + 1], gap, f, vf, qz, qzz)
        if theta > 0.0:
            second(data, k, xs[k], us[k], aux[k], costates[k + 1], sxx, sux, suu)
            _add_second(theta, sxx, sux, suu, qzz)
        if not has_control[k]:
            ks[k, :], gains[k, :, :], psis[k, :], omegas[k, :, :] = 0.0, 0.0, 0.0, 0.0
            vx_all[k, :] = qz[:n_x]
            symmetrise(qzz, vxx_all[k])
            continue
        jacobian = table(aux[k], aux.shape[1] - n_g * n_z, n_g, n_z)
        here = delta
        while not _factorise(qzz, jacobian, here, dual, a, pivots, sizes):
            if not here < most:
                return k
            here = max(_GROW * here, _SHRINK * deltas[k], _LEAST)
        deltas[k] = here if here > delta else _SHRINK * deltas[k]
        _sides(qz, qzz, jacobian, residuals[k], side, b)
        solve(a, pivots, sizes, b)
        for i in range(n_s):
            if i < n_u:
                ks[k, i] = b[i, n_x]
                gains[k, i, :] = b[i, :n_x]
            else:
                psis[k, i - n_u] = b[i, n_x]
                omegas[k, i - n_u, :] = b[i, :n_x]
        _value(side, b, qz, qzz, vx_all[k], vxx_all[k])
    keep_alive(owners)
    return -1
