"""Small optimal control problems with known answers, written against the solver's protocol."""

import numba as nb
import numpy as np

from contact_ddp_ros.ocp.protocol import FIRST, SECOND, STEP, Problem


@nb.njit(STEP, cache=True)
def _lqr_step(data, k, x, u, x_next, aux, residual):
    """parameters = A (n_x, n_x), B (n_x, n_u), Q, R, terminal Q, all row-major."""
    n_x, n_u = x.size, u.size
    p = data[2]
    a = p[: n_x * n_x].reshape(n_x, n_x)
    b = p[n_x * n_x : n_x * (n_x + n_u)].reshape(n_x, n_u)
    weights = p[n_x * (n_x + n_u) :]
    q = weights[: n_x * n_x].reshape(n_x, n_x)
    r = weights[n_x * n_x : n_x * n_x + n_u * n_u].reshape(n_u, n_u)
    q_end = weights[n_x * n_x + n_u * n_u :].reshape(n_x, n_x)
    residual[:] = 0.0
    if k == data[1].shape[0] - 1:
        return 0.5 * x @ q_end @ x
    x_next[:] = a @ x + b @ u
    return 0.5 * (x @ q @ x + u @ r @ u)


@nb.njit(FIRST, cache=True)
def _lqr_first(data, k, x, u, aux, d):
    n_x, n_u = x.size, u.size
    p = data[2]
    weights = p[n_x * (n_x + n_u) :]
    fx, fu, lx, lu, lxx, lux, luu = d
    if k == data[1].shape[0] - 1:
        lxx[:, :] = weights[n_x * n_x + n_u * n_u :].reshape(n_x, n_x)
        lx[:] = lxx @ x
        return
    fx[:, :] = p[: n_x * n_x].reshape(n_x, n_x)
    fu[:, :] = p[n_x * n_x : n_x * (n_x + n_u)].reshape(n_x, n_u)
    lxx[:, :] = weights[: n_x * n_x].reshape(n_x, n_x)
    luu[:, :] = weights[n_x * n_x : n_x * n_x + n_u * n_u].reshape(n_u, n_u)
    lux[:, :] = 0.0
    lx[:] = lxx @ x
    lu[:] = luu @ u


@nb.njit(SECOND, cache=True)
def _no_curvature(data, k, x, u, aux, vx, hxx, hux, huu):
    hxx[:, :] = 0.0
    hux[:, :] = 0.0
    huu[:, :] = 0.0


def lqr(a, b, q, r, q_end, n_nodes: int) -> Problem:
    """Discrete-time LQR."""
    parameters = np.concatenate([m.ravel() for m in (a, b, q, r, q_end)])
    return Problem(
        n_x=a.shape[0],
        n_u=b.shape[1],
        n_e=1,
        n_aux=1,
        has_control=np.ones(n_nodes, dtype=bool),
        integers=np.zeros(1, dtype=np.int64),
        node_integers=np.zeros((n_nodes + 1, 1), dtype=np.int64),
        parameters=parameters,
        node_parameters=np.zeros((n_nodes + 1, 1)),
        step=_lqr_step,
        first=_lqr_first,
        second=_no_curvature,
    )
