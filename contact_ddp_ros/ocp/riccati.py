"""The backward sweep with a node's algebra in C, compiled for its sizes: products by register blocks, symmetric halves.

The equations are those of :mod:`contact_ddp_ros.ocp.backward`, the code is riccati.c. Its gains and value functions
agree with Numba's to rounding.
"""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba as nb
import numpy as np

from contact_ddp_ros.base.compiled.cache import Library, compiled_for
from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.ocp.linear_algebra import add_scaled, shift_gradient, symmetrise
from contact_ddp_ros.ocp.node_function import function_at
from contact_ddp_ros.ocp.numba_views import address, borrow, keep_alive
from contact_ddp_ros.ocp.protocol import DATA, FLAGS, MATRIX, SECOND_TYPE, TENSOR, VECTOR
from contact_ddp_ros.ocp.rollout import EXPANSION

SWEPT = nb.types.Tuple((nb.int64, nb.float64, nb.float64, nb.float64))
ARGUMENTS = (
    *(nb.int64, DATA, FLAGS, VECTOR),
    *(MATRIX, MATRIX, MATRIX, EXPANSION, MATRIX),
    *(nb.float64, nb.float64),
    *(MATRIX, TENSOR, MATRIX, TENSOR),
)
"""Types of result and arguments of a sweep, see :func:`contact_ddp_ros.ocp.backward.backward_of`."""

_SOURCE = Path(__file__).with_name("riccati.c")
_LARGEST = 256
"""Most states and controls in C, whose working space is on the stack."""

_second_at = function_at(SECOND_TYPE)


def sweep_of(n_x: int, n_u: int, halved: bool) -> Callable[..., Any] | None:
    """The sweep for a number of states and controls; None where there is no C compiler, or the problem is too large."""
    library = _library(n_x, n_u, halved) if n_x + n_u <= _LARGEST else None
    return None if library is None else partial(_sweep, library.addresses["riccati"])


@cache
def _library(n_x: int, n_u: int, halved: bool) -> Library | None:
    return compiled_for(_SOURCE, ("riccati",), {"NX": n_x, "NU": n_u, "HALVED": int(halved)})


@njit(SWEPT(nb.int64, *ARGUMENTS), error_model="numpy", nogil=True)
def _sweep(
    riccati,
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
    second = _second_at(second_address)
    n_nodes, n_u = us.shape
    n_x = xs.shape[1]
    data, has_control, xs, us, aux = borrow(data), borrow(has_control), borrow(xs), borrow(us), borrow(aux)
    ks, gains, vx_all, vxx_all = borrow(ks), borrow(gains), borrow(vx_all), borrow(vxx_all)
    gaps, position_steps = borrow(gaps), borrow(position_steps)
    fxs, fus, lxs, lus, lxxs, luxs, luus = borrow(expansion)
    owners = (
        np.empty((n_x, n_x)),
        np.empty((n_u, n_x)),
        np.empty((n_u, n_u)),
        np.empty(n_x),
        np.zeros(3),
        np.zeros(4),
    )
    sxx, sux, suu, shifted, sums, numbers = borrow(owners)
    linear = 0.0
    numbers[1], numbers[2] = theta, rho

    vx_all[n_nodes, :] = lxs[n_nodes]
    symmetrise(lxxs[n_nodes], vxx_all[n_nodes])
    if theta > 0.0:
        second(data, n_nodes, xs[n_nodes], us[0], aux[n_nodes], vx_all[n_nodes], sxx, sux, suu)
        symmetrise(sxx, sxx)
        add_scaled(sxx, theta, vxx_all[n_nodes])

    for k in range(n_nodes - 1, -1, -1):
        vx = vx_all[k + 1]
        if gaps.shape[0] > 0:
            linear += shift_gradient(vx, vxx_all[k + 1], gaps[k], shifted)
            vx = shifted
        if theta > 0.0:
            second(data, k, xs[k], us[k], aux[k], vx, sxx, sux, suu)
        numbers[0] = position_steps[k] if position_steps.size > 0 else 0.0
        numbers[3] = 1.0 if has_control[k] else 0.0
        failed = call_kernel(
            riccati,
            (
                *(address(fxs[k], 0), address(fus[k], 0), address(lxs[k], 0), address(lus[k], 0)),
                *(address(lxxs[k], 0), address(luxs[k], 0), address(luus[k], 0)),
                *(address(vx, 0), address(vxx_all[k + 1], 0)),
                *(address(sxx, 0), address(sux, 0), address(suu, 0), address(numbers, 0)),
            ),
            (
                *(address(ks[k], 0), address(gains[k], 0)),
                *(address(vx_all[k], 0), address(vxx_all[k], 0), address(sums, 0)),
            ),
            0,
            0,
        )
        if failed != 0:
            return k, 0.0, 0.0, 0.0
    swept = -1, linear + sums[0], sums[1], sums[2]
    keep_alive(owners)
    return swept
