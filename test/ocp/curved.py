"""One step of curved dynamics towards a point that it cannot reach: the least case of a large residual.

    x⁺ = u + ½ u²,   ℓ = ½ effort u²,   ℓ_N = ½ (x − x_end)²

With u* given, x_end follows from stationarity. At u* the Hessian is (1 + u*)² + effort of Gauss-Newton plus the
curvature S = x* − x_end = −effort u* / (1 + u*).
"""

import numba as nb
import numpy as np

from contact_ddp_ros.ocp.protocol import FIRST, SECOND, STEP, Problem


@nb.njit(STEP, cache=True)
def _step(data, k, x, u, x_next, aux, residual):
    effort, x_end = data[2]
    residual[:] = 0.0
    if k == 1:
        return 0.5 * (x[0] - x_end) ** 2
    x_next[0] = u[0] + 0.5 * u[0] ** 2
    return 0.5 * effort * u[0] ** 2


@nb.njit(FIRST, cache=True)
def _first(data, k, x, u, aux, d):
    effort, x_end = data[2]
    fx, fu, lx, lu, lxx, lux, luu = d
    if k == 1:
        lx[0], lxx[0, 0] = x[0] - x_end, 1.0
        return
    fx[0, 0], fu[0, 0] = 0.0, 1.0 + u[0]
    lx[0], lxx[0, 0], lux[0, 0] = 0.0, 0.0, 0.0
    lu[0], luu[0, 0] = effort * u[0], effort


@nb.njit(SECOND, cache=True)
def _second(data, k, x, u, aux, vx, hxx, hux, huu):
    hxx[0, 0], hux[0, 0] = 0.0, 0.0
    huu[0, 0] = vx[0] if k == 0 else 0.0


def curved(effort: float, u_best: float) -> Problem:
    """The problem whose optimum is u_best."""
    x_end = u_best + 0.5 * u_best**2 + effort * u_best / (1.0 + u_best)
    return Problem(
        n_x=1,
        n_u=1,
        n_e=0,
        n_aux=1,
        has_control=np.ones(1, dtype=bool),
        integers=np.zeros(1, dtype=np.int64),
        node_integers=np.zeros((2, 1), dtype=np.int64),
        parameters=np.array([effort, x_end]),
        node_parameters=np.zeros((2, 1)),
        step=_step,
        first=_first,
        second=_second,
    )
