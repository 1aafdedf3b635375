"""Swinging a pendulum up: smooth, strongly curved dynamics for what a linear problem cannot show.

x = (angle from hanging, rate), u = torque, semi-implicit Euler with step h:

    ω⁺ = ω + h (u − g sin φ − b ω),   φ⁺ = φ + h ω⁺
    ℓ = ½ h (r u² + p ω²),   ℓ_N = ½ w_φ (φ − π)² + ½ w_ω ω²
"""

import math

import numba as nb
import numpy as np

from contact_ddp_ros.ocp.protocol import FIRST, SECOND, STEP, Problem


@nb.njit(STEP, cache=True)
def _step(data, k, x, u, x_next, aux, residual):
    h, gravity, damping, r, p, w_angle, w_rate = data[2]
    residual[:] = 0.0
    if k == data[1].shape[0] - 1:
        return 0.5 * w_angle * (x[0] - math.pi) ** 2 + 0.5 * w_rate * x[1] ** 2
    x_next[1] = x[1] + h * (u[0] - gravity * math.sin(x[0]) - damping * x[1])
    x_next[0] = x[0] + h * x_next[1]
    return 0.5 * h * (r * u[0] ** 2 + p * x[1] ** 2)


@nb.njit(FIRST, cache=True)
def _first(data, k, x, u, aux, d):
    h, gravity, damping, r, p, w_angle, w_rate = data[2]
    fx, fu, lx, lu, lxx, lux, luu = d
    lxx[:, :] = 0.0
    lux[:, :] = 0.0
    if k == data[1].shape[0] - 1:
        lx[0], lx[1] = w_angle * (x[0] - math.pi), w_rate * x[1]
        lxx[0, 0], lxx[1, 1] = w_angle, w_rate
        return
    fx[1, 0], fx[1, 1] = -h * gravity * math.cos(x[0]), 1.0 - h * damping
    fx[0, 0], fx[0, 1] = 1.0 + h * fx[1, 0], h * fx[1, 1]
    fu[1, 0], fu[0, 0] = h, h * h
    lx[0], lx[1] = 0.0, h * p * x[1]
    lxx[1, 1] = h * p
    lu[0], luu[0, 0] = h * r * u[0], h * r


@nb.njit(SECOND, cache=True)
def _second(data, k, x, u, aux, vx, hxx, hux, huu):
    h, gravity = data[2][:2]
    hxx[:, :] = 0.0
    hux[:, :] = 0.0
    huu[:, :] = 0.0
    if k < data[1].shape[0] - 1:
        hxx[0, 0] = (vx[1] + h * vx[0]) * h * gravity * math.sin(x[0])


def pendulum(
    n_nodes: int = 60,
    h: float = 0.04,
    gravity: float = 9.81,
    damping: float = 0.1,
    effort: float = 0.05,
    rate: float = 0.0,
    end_angle: float = 30.0,
    end_rate: float = 3.0,
) -> Problem:
    """The problem over n_nodes steps of h seconds."""
    return Problem(
        n_x=2,
        n_u=1,
        n_e=0,
        n_aux=1,
        has_control=np.ones(n_nodes, dtype=bool),
        integers=np.zeros(1, dtype=np.int64),
        node_integers=np.zeros((n_nodes + 1, 1), dtype=np.int64),
        parameters=np.array([h, gravity, damping, effort, rate, end_angle, end_rate]),
        node_parameters=np.zeros((n_nodes + 1, 1)),
        step=_step,
        first=_first,
        second=_second,
    )
