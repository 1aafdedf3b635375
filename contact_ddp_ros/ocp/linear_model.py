"""Linear model of a step: adjoint, stationarity, slopes, and multipliers along a rollout.

Companions of :mod:`contact_ddp_ros.ocp.constrained_riccati`; `expansion` is that of every node
(:data:`contact_ddp_ros.ocp.rollout.EXPANSION`).
"""

from typing import Any

import numba as nb
import numpy as np
from numba import types
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.ocp.multipliers import SIGMA
from contact_ddp_ros.ocp.numba_views import table
from contact_ddp_ros.ocp.protocol import FLAGS, MATRIX, TENSOR, Problem
from contact_ddp_ros.ocp.rollout import EXPANSION

_OPTIONS = {"nogil": True, "error_model": "numpy"}


@njit(nb.void(EXPANSION, MATRIX), **_OPTIONS)
def adjoint(expansion, costates):
    """Write λ_N = ℓ_x, λ_k = ℓ_x + f_xᵀ λ_{k+1} into `costates` (N+1, n_x): the dynamics' multipliers."""
    fx, _, lx, _, _, _, _ = expansion
    n_nodes, n_x = lx.shape[0] - 1, lx.shape[1]
    for j in range(n_x):
        costates[n_nodes, j] = lx[n_nodes, j]
    for k in range(n_nodes - 1, -1, -1):
        for j in range(n_x):
            value = lx[k, j]
            for i in range(n_x):
                value += fx[k, i, j] * costates[k + 1, i]
            costates[k, j] = value


@njit(nb.float64(EXPANSION, MATRIX, FLAGS), **_OPTIONS)
def stationarity(expansion, costates, has_control):
    """Largest |ℓ_u + f_uᵀ λ|."""
    _, fu, _, lu, _, _, _ = expansion
    worst = 0.0
    for k in range(has_control.size):
        if has_control[k]:
            for j in range(lu.shape[1]):
                value = lu[k, j]
                for i in range(fu.shape[1]):
                    value += fu[k, i, j] * costates[k + 1, i]
                worst = max(worst, abs(value))
    return worst


@njit(
    types.UniTuple(nb.float64, 2)(FLAGS, EXPANSION, MATRIX, MATRIX, TENSOR, MATRIX, MATRIX),
    **_OPTIONS,
)
def slope(has_control, expansion, gaps, ks, gains, aux, forces):
    """Along the linearised step: ΣℓᵀΔz of the expansion's ℓ, and the part Σ forcesᵀ g_z Δz of it; forces (N, n_g)."""
    fxs, fus, lxs, lus, _, _, _ = expansion
    n_nodes, n_u = ks.shape
    n_x, n_g = lxs.shape[1], forces.shape[1]
    dx, following, du = np.zeros(n_x), np.zeros(n_x), np.zeros(n_u)
    total, turned = 0.0, 0.0
    for k in range(n_nodes):
        for i in range(n_u):
            du[i] = ks[k, i]
            for j in range(n_x):
                du[i] += gains[k, i, j] * dx[j]
            total += lus[k, i] * du[i]
        if has_control[k]:
            jacobian = table(aux[k], aux.shape[1] - n_g * (n_x + n_u), n_g, n_x + n_u)
            for g in range(n_g):
                value = 0.0
                for j in range(n_x):
                    value += jacobian[g, j] * dx[j]
                for j in range(n_u):
                    value += jacobian[g, n_x + j] * du[j]
                turned += forces[k, g] * value
        for i in range(n_x):
            total += lxs[k, i] * dx[i]
            following[i] = gaps[k, i] if gaps.shape[0] > 0 else 0.0
            for j in range(n_x):
                following[i] += fxs[k, i, j] * dx[j]
            for j in range(n_u):
                following[i] += fus[k, i, j] * du[j]
        dx[:] = following
    for i in range(n_x):
        total += lxs[n_nodes, i] * dx[i]
    return total, turned


@njit(nb.void(MATRIX, MATRIX, MATRIX, TENSOR, nb.float64, MATRIX), **_OPTIONS)
def step_multipliers(xs, new_xs, psis, omegas, alpha, multipliers):
    """Replace the first n_g columns of the multipliers by y + α ψ + Ω (x − x̄)."""
    for k in range(psis.shape[0]):
        for g in range(psis.shape[1]):
            value = alpha * psis[k, g]
            for j in range(xs.shape[1]):
                value += omegas[k, g, j] * (new_xs[k, j] - xs[k, j])
            multipliers[k, g] += value


@njit(MATRIX(EXPANSION, MATRIX, MATRIX, TENSOR), **_OPTIONS)
def linear_states(expansion, gaps, ks, gains):
    """(N+1, n_x) the states' changes along the linearised step, which closes gaps (N, n_x), or none without rows."""
    fxs, fus = expansion[0], expansion[1]
    n_nodes, n_u = ks.shape
    n_x = fxs.shape[1]
    states, du = np.zeros((n_nodes + 1, n_x)), np.zeros(n_u)
    for k in range(n_nodes):
        for i in range(n_u):
            du[i] = ks[k, i]
            for j in range(n_x):
                du[i] += gains[k, i, j] * states[k, j]
        for i in range(n_x):
            states[k + 1, i] = gaps[k, i] if gaps.shape[0] > 0 else 0.0
            for j in range(n_x):
                states[k + 1, i] += fxs[k, i, j] * states[k, j]
            for j in range(n_u):
                states[k + 1, i] += fus[k, i, j] * du[j]
    return states


def terminal_jacobian(
    problem: Problem, data: tuple[Any, ...], x: NDArray[np.float64], u: NDArray[np.float64], aux: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(n_terminal, n_x) c_x of the equalities at the end: what a multiplier of 1 adds to the cost's gradient there."""
    n, n_x, n_e, node = problem.n_nodes, problem.n_x, problem.n_e, problem.derivatives()
    y, gradients = data[4][n, :n_e], []
    kept, sigma = y.copy(), data[5][SIGMA]
    data[5][SIGMA] = 0.0
    for i in range(n_e - problem.n_terminal - 1, n_e):
        y[:] = 0.0
        if i >= n_e - problem.n_terminal:
            y[i] = 1.0
        problem.first(data, n, x, u, aux, node)
        gradients.append(node[2].copy())
    y[:], data[5][SIGMA] = kept, sigma
    return np.array(gradients[1:]).reshape(-1, n_x) - gradients[0]
