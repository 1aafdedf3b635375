r"""The backward sweep. Compiled, without the interpreter lock, for each size of the larger problems by itself.

Larger problems have a node's algebra in C (:mod:`contact_ddp_ros.ocp.riccati`). What follows here, by Numba, serves
the small ones, and the larger ones where there is no C compiler.

With V' at k + 1 (Mayne 1966; Tassa et al. 2012; Eq. (8) of Nganga and Wensing's hybrid-systems DDP):

    Qx  = ℓx + fxᵀ V'x                     Qu  = ℓu + fuᵀ V'x
    Qxx = ℓxx + fxᵀ V'xx fx + θ Sxx        Qux = ℓux + fuᵀ V'xx fx + θ Sux        Quu = ℓuu + fuᵀ V'xx fu + θ Suu
    k = −(Quu + ρI)⁻¹ Qu                   K = −(Quu + ρI)⁻¹ Qux

S collects all that Gauss-Newton leaves out (`Problem.second`). θ = 1 is full DDP and θ = 0 iLQR; ρ is Levenberg's term.
Where the nominal trajectory has gaps d, V'x above is V'x + V'xx d (:mod:`contact_ddp_ros.ocp.defects`).

Where x = (q, v) and q⁺ = q + s v⁺, as in semi-implicit Euler and at impacts (`Problem.position_steps`), the upper half
of fz follows from the lower one, B, and products of half the size are left:

    fz = [s B + [I 0 0]; B]        M = s V'qq + V'qv        W = s M + s V'vq + V'vv
    fzᵀ V'xx fz = Bᵀ W B + [I 0 0]ᵀ M B + (M B)ᵀ [I 0 0] + [I 0 0]ᵀ V'qq [I 0 0]

See eqs. (13) to (15) of docs/mathematics.md.
"""

from functools import cache
from typing import Any

import numba as nb
import numpy as np

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.ocp.linear_algebra import (
    INLINE,
    add_congruence,
    add_scaled,
    add_transpose_apply,
    add_transpose_product,
    cholesky,
    cholesky_solve,
    shift_gradient,
    symmetrise,
    write_product,
)
from contact_ddp_ros.ocp.node_function import function_at
from contact_ddp_ros.ocp.numba_views import borrow, keep_alive
from contact_ddp_ros.ocp.protocol import MATRIX, SECOND_TYPE, VECTOR
from contact_ddp_ros.ocp.riccati import ARGUMENTS, SWEPT, sweep_of

_OWN_SIZE = 12
"""Number of states from which on a size is compiled by itself, once, for seconds: loops then have known lengths."""

_second_at = function_at(SECOND_TYPE)


@njit(nb.void(MATRIX, MATRIX, nb.int64, MATRIX), **INLINE)
def _stack(fx, fu, first, f):
    """Write the rows of [fx fu] from `first` on into f."""
    n_x, n_u = fu.shape
    for i in range(n_x - first):
        for j in range(n_x):
            f[i, j] = fx[first + i, j]
        for j in range(n_u):
            f[i, n_x + j] = fu[first + i, j]


@njit(nb.void(nb.float64, MATRIX, MATRIX), **INLINE)
def _stack_value(s, vxx, mw):
    """Write M and W below it into mw (2n, n)."""
    n = mw.shape[1]
    for i in range(n):
        for j in range(n):
            upper = s * vxx[i, j] + vxx[i, n + j]
            mw[i, j] = upper
            mw[n + i, j] = s * upper + s * vxx[n + i, j] + vxx[n + i, n + j]


@njit(nb.void(nb.float64, VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, MATRIX), **INLINE)
def _add_positions(s, vx, vxx, mb, total, qz, qzz):
    """Add what is [I 0 0]ᵀ times something to qz and qzz, and write s V'q + V'v into `total` (n,).

    Of (M B)ᵀ [I 0 0] + [I 0 0]ᵀ M B the block of the states goes into its upper half twice: qzz is symmetrised later.
    """
    n = total.size
    n_x = 2 * n
    for i in range(n):
        qz[i] += vx[i]
        total[i] = s * vx[i] + vx[n + i]
        for j in range(n):
            qzz[i, j] += vxx[i, j]
        for j in range(n_x):
            qzz[i, j] += 2.0 * mb[i, j]
    for a in range(n_x, qzz.shape[0]):
        for i in range(n):
            qzz[a, i] += mb[i, a]


@njit(nb.void(VECTOR, VECTOR, MATRIX, MATRIX, MATRIX, VECTOR, MATRIX), **INLINE)
def _stack_cost(lx, lu, lxx, lux, luu, qz, qzz):
    """Write [lx; lu] into qz, and [lxx ·; lux luu] into qzz, whose upper right block stays unused."""
    n_u, n_x = lux.shape
    for i in range(n_x):
        qz[i] = lx[i]
        for j in range(n_x):
            qzz[i, j] = lxx[i, j]
    for i in range(n_u):
        qz[n_x + i] = lu[i]
        for j in range(n_x):
            qzz[n_x + i, j] = lux[i, j]
        for j in range(n_u):
            qzz[n_x + i, n_x + j] = luu[i, j]


@njit(nb.void(MATRIX, MATRIX, MATRIX, nb.float64, MATRIX), **INLINE)
def _add_stacked(hxx, hux, huu, factor, qzz):
    """Add factor · [hxx ·; hux huu] to qzz."""
    n_u, n_x = hux.shape
    for i in range(n_x):
        for j in range(n_x):
            qzz[i, j] += factor * hxx[i, j]
    for i in range(n_u):
        for j in range(n_x):
            qzz[n_x + i, j] += factor * hux[i, j]
        for j in range(n_u):
            qzz[n_x + i, n_x + j] += factor * huu[i, j]


@njit(inline="always", error_model="numpy")
def _sweep(
    n_x,
    n_u,
    halved,
    second_address,
    data,
    has_control,
    position_steps,
    xs,
    us,
    aux,
    expansion,
    gaps,
    theta,
    rho,
    ks,
    gains,
    vx_all,
    vxx_all,
):
    """See :func:`backward_of`; states and controls of any number where n_x is 0."""
    second = _second_at(second_address)
    n_nodes = us.shape[0]
    if n_x == 0:
        n_x, n_u = xs.shape[1], us.shape[1]
    data, has_control, xs, us, aux = borrow(data), borrow(has_control), borrow(xs), borrow(us), borrow(aux)
    ks, gains, vx_all, vxx_all = borrow(ks), borrow(gains), borrow(vx_all), borrow(vxx_all)
    gaps, position_steps = borrow(gaps), borrow(position_steps)
    fxs, fus, lxs, lus, lxxs, luxs, luus = borrow(expansion)
    has_gaps = gaps.shape[0] > 0
    n_z = n_x + n_u
    first = n_x // 2 if halved else 0  # row of fz from which on products are formed
    owners = (
        np.empty((n_x - first, n_z)),
        np.empty((n_x, n_x - first)),
        np.empty(n_x - first),
        np.empty((n_x, n_z)),
        np.empty((n_z, n_z)),
        np.empty((n_x, n_x)),
        np.empty((n_u, n_x)),
        np.empty((n_u, n_u)),
        np.empty((n_u, n_u)),
        np.zeros((n_u, n_u)),
        np.empty((n_u, n_x + 1)),
        np.empty((n_u, n_x)),
        np.empty(n_x),
    )
    f, mw, total, vf, qzz, sxx, sux, suu, regular, lower, solution, descent, shifted = borrow(owners)
    qz = np.empty(n_z)
    linear = 0.0
    quadratic = 0.0
    gradient = 0.0

    vx_all[n_nodes, :] = lxs[n_nodes]
    vxx_all[n_nodes, :, :] = lxxs[n_nodes]
    if theta > 0.0:
        second(data, n_nodes, xs[n_nodes], us[0], aux[n_nodes], vx_all[n_nodes], sxx, sux, suu)
        add_scaled(sxx, theta, vxx_all[n_nodes])

    for k in range(n_nodes - 1, -1, -1):
        vx = vx_all[k + 1]
        if has_gaps:
            linear += shift_gradient(vx, vxx_all[k + 1], gaps[k], shifted)
            vx = shifted
        _stack(fxs[k], fus[k], first, f)
        _stack_cost(lxs[k], lus[k], lxxs[k], luxs[k], luus[k], qz, qzz)
        vxx, ahead = vxx_all[k + 1], vx
        if halved:
            _stack_value(position_steps[k], vxx, mw)
            vxx, ahead = mw, total
        write_product(vxx, f, vf)
        if halved:
            _add_positions(position_steps[k], vx, vxx_all[k + 1], vf, total, qz, qzz)
        add_transpose_apply(f, ahead, qz)
        add_congruence(f, vf, first, n_x, qzz)
        if theta > 0.0:
            second(data, k, xs[k], us[k], aux[k], vx, sxx, sux, suu)
            _add_stacked(sxx, sux, suu, theta, qzz)
        vx_here, vxx_here = vx_all[k], vxx_all[k]
        for j in range(n_x):
            vx_here[j] = qz[j]
        if not has_control[k]:
            for i in range(n_u):
                ks[k, i] = 0.0
                for j in range(n_x):
                    gains[k, i, j] = 0.0
            symmetrise(qzz, vxx_here)
            continue

        for i in range(n_u):
            for j in range(n_u):
                regular[i, j] = 0.5 * (qzz[n_x + i, n_x + j] + qzz[n_x + j, n_x + i])
            regular[i, i] += rho
        if not cholesky(regular, lower):
            return k, 0.0, 0.0, 0.0
        for i in range(n_u):
            for j in range(n_x):
                solution[i, j] = -qzz[n_x + i, j]
            solution[i, n_x] = -qz[n_x + i]
            gradient = max(gradient, abs(qz[n_x + i]))
        cholesky_solve(lower, solution)

        # With (Quu + ρI) [K k] = −[Qux Qu] the value function of the unregularised model under the step is
        #   Vx  = Qx  + Kᵀ(Qu + Quu k) + Quxᵀk               = Qx  + Quxᵀ k − ρ Kᵀk
        #   Vxx = Qxx + KᵀQuu K + KᵀQux + QuxᵀK              = Qxx + Kᵀ(Qux − ρK)
        for i in range(n_u):
            step = solution[i, n_x]
            ks[k, i] = step
            slope = qz[n_x + i]
            linear += step * slope
            quadratic -= 0.5 * step * (slope + rho * step)
            for j in range(n_x):
                gain = solution[i, j]
                gains[k, i, j] = gain
                descent[i, j] = qzz[n_x + i, j] - rho * gain
                vx_here[j] += step * descent[i, j]
        add_transpose_product(solution, descent, qzz)
        symmetrise(qzz, vxx_here)
    keep_alive(owners)
    return -1, linear, quadratic, gradient


def backward_of(n_x: int, n_u: int, halved: bool) -> Any:
    """The sweep for a number of states and controls, `halved` where there are position_steps: a compiled function of

        second_address, data, has_control, position_steps, xs, us, aux, expansion, gaps, theta, rho, ks, gains, vx, vxx

    which writes ks, gains and the value function's Vx (N+1, n_x), Vxx (N+1, n_x, n_x) about the states.

    It returns (node where Quu + ρI is not positive definite, or −1; Σ kᵀQu; ½ Σ kᵀQuu k; max |Qu|): a step α is
    expected to change the cost by α times the second entry plus α² times the third. `position_steps` (N,) are the s of
    the module's text, or none. `gaps` (N, n_x) are those of the trajectory, or have no rows; the change by closing them
    is added to the second entry, and then only the sum of the second and third entry has a meaning.
    """
    if n_x < _OWN_SIZE:
        return _compiled(0, 0, halved)
    return sweep_of(n_x, n_u, halved) or _compiled(n_x, n_u, halved)


@cache
def _compiled(n_x: int, n_u: int, halved: bool) -> Any:
    @njit(SWEPT(*ARGUMENTS), error_model="numpy", nogil=True)
    def backward(
        address, data, has_control, position_steps, xs, us, aux, expansion, gaps, theta, rho, ks, gains, vx, vxx
    ):
        return _sweep(
            n_x,
            n_u,
            halved,
            address,
            data,
            has_control,
            position_steps,
            xs,
            us,
            aux,
            expansion,
            gaps,
            theta,
            rho,
            ks,
            gains,
            vx,
            vxx,
        )

    return backward
