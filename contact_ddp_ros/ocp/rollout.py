"""The loops forward over the horizon: rollout and first-order expansion. Compiled, without the interpreter lock.

See eq. (12) of docs/mathematics.md.
"""

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.ocp.linear_algebra import INLINE
from contact_ddp_ros.ocp.node_function import function_at
from contact_ddp_ros.ocp.numba_views import borrow
from contact_ddp_ros.ocp.protocol import (
    DATA,
    DERIVATIVES,
    FIRST_TYPE,
    FLAGS,
    MATRIX,
    STEP_TYPE,
    TENSOR,
)
from contact_ddp_ros.ocp.slacks import share_left

STATE_BOUND, _PER_SIZE = 1e6, 1e3
"""Least bound on |x_i| beyond which a rollout has diverged, and its ratio to larger states; stopping there avoids
overflow in the kernels."""


def state_bound(x0: NDArray[np.float64], xs: NDArray[np.float64]) -> float:
    """Bound on |x_i| of a solve's rollouts, for an initial state (n_x,) and a guess's states (N+1, n_x)."""
    return max(STATE_BOUND, _PER_SIZE * float(max(np.abs(x0).max(), np.abs(xs).max())))


EXPANSION = nb.types.Tuple((TENSOR, TENSOR, MATRIX, MATRIX, TENSOR, TENSOR, TENSOR))
"""DERIVATIVES of every node, stacked along the first axis."""

_step_at, _first_at = (function_at(kind) for kind in (STEP_TYPE, FIRST_TYPE))


@njit(DERIVATIVES(EXPANSION, nb.int64), **INLINE)
def _node_views(expansion, k):
    fx, fu, lx, lu, lxx, lux, luu = expansion
    return fx[k], fu[k], lx[k], lu[k], lxx[k], lux[k], luu[k]


@njit(
    nb.types.UniTuple(nb.float64, 2)(
        *(nb.int64, DATA, FLAGS),
        *(MATRIX, MATRIX, MATRIX, TENSOR, nb.float64, MATRIX, MATRIX, nb.float64, nb.int64, nb.float64),
        *(MATRIX, MATRIX, MATRIX, MATRIX),
    ),
    error_model="numpy",
    nogil=True,
)
def rollout(
    step_address,
    data,
    has_control,
    xs,
    us,
    ks,
    gains,
    alpha,
    gaps,
    old,
    least,
    past,
    bound,
    new_xs,
    new_us,
    aux,
    residuals,
):
    """Simulate u = ū + α k + K (x − x̄) from new_xs[0]; return the total cost, infinite where |x_i| reaches the
    bound: the rollout diverges.

    Writes new_xs, new_us, aux and residuals. `gaps` (N, n_x) are those of the nominal trajectory, of which the fraction
    1 − α stays open; no rows where there are none. Where there are slacks, `old` (N+1, n_r) are the nominal residuals,
    and the least share that the step leaves of a slack is returned, too. Below `least` the cost is infinite, and the
    rollout ends where no share was less at the `past` nodes before; with 0 it goes on. One that diverges has share 1.
    """
    step = _step_at(step_address)
    n_nodes, n_u = us.shape
    n_x = xs.shape[1]
    deviation = np.empty(n_x)
    data, has_control, xs, us = borrow(data), borrow(has_control), borrow(xs), borrow(us)
    ks, gains, new_xs, new_us = borrow(ks), borrow(gains), borrow(new_xs), borrow(new_us)
    gaps, old, aux, residuals = borrow(gaps), borrow(old), borrow(aux), borrow(residuals)
    multipliers = data[4]
    has_gaps, has_slacks = gaps.shape[0] > 0, old.shape[0] > 0
    share, worst = 1.0, 0
    total = 0.0
    for k in range(n_nodes):
        x = new_xs[k]
        u = new_us[k]
        if has_control[k]:
            for j in range(n_x):
                deviation[j] = x[j] - xs[k, j]
            for i in range(n_u):
                value = us[k, i] + alpha * ks[k, i]
                for j in range(n_x):
                    value += gains[k, i, j] * deviation[j]
                u[i] = value
        else:
            u[:] = 0.0
        x_next = new_xs[k + 1]
        total += step(data, k, x, u, x_next, aux[k], residuals[k])
        for j in range(n_x):
            if not abs(x_next[j]) < bound:
                return np.inf, 1.0
        if has_slacks:
            here = share_left(multipliers[k], residuals[k], old[k], alpha)
            if here < share:
                share, worst = here, k
            elif share < least and k == worst + past:
                return np.inf, share
        if has_gaps:
            for j in range(n_x):
                x_next[j] -= (1.0 - alpha) * gaps[k, j]
    total += step(data, n_nodes, new_xs[n_nodes], new_us[0], deviation, aux[n_nodes], residuals[n_nodes])
    if not np.isfinite(total):
        return np.inf, 1.0
    return total if share >= least else np.inf, share


@njit(nb.void(nb.int64, DATA, MATRIX, MATRIX, MATRIX, EXPANSION), nogil=True, error_model="numpy")
def expand(first_address, data, xs, us, aux, expansion):
    """Write the first-order partials of every node along the nominal trajectory into `expansion`."""
    first = _first_at(first_address)
    n_nodes = us.shape[0]
    data, xs, us, aux, expansion = borrow(data), borrow(xs), borrow(us), borrow(aux), borrow(expansion)
    for k in range(n_nodes + 1):
        first(data, k, xs[k], us[min(k, n_nodes - 1)], aux[k], _node_views(expansion, k))
