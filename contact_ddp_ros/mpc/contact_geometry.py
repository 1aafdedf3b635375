r"""Geometry of the contact between feet and ground for Numba code: heights above the ground, its normal and tangents.

Each foot has a ground of its own at each node, a plane m . x = d in the node's row (:mod:`contact_ddp_ros.mpc.layout`);
a sagittal model has no y. Everything that depends on where the ground is or how it is inclined, but for the contact
dynamics' own kernels, asks here: the terms on heights (:mod:`contact_ddp_ros.mpc.grounds`), the friction cone
(:mod:`contact_ddp_ros.mpc.terms.friction_cone`).

Linear algebra of a node's contact dynamics in C, compiled for its sizes: factor of K, solutions, partials, products.

The code is contact_algebra.c. Small systems, and all of them where there is no C compiler, are left to Numba
(:mod:`contact_ddp_ros.mpc.linear_system`); results agree to rounding.
"""

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numba as nb
from numba import types

from contact_ddp_ros.base.compiled.cache import Library, compiled_for
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.ocp.protocol import VECTOR

VECTOR_3 = types.UniTuple(nb.float64, 3)
"""(x, y, z); of a sagittal model y is 0."""


@njit(nb.float64(VECTOR, nb.int64, nb.int64, nb.int64), inline="always", error_model="numpy")
def height_slope(row, foot, n_a, axis):
    """Derivative of a foot's height by its coordinate along one of the n_a axes, the vertical last."""
    begin = at.GROUNDS + at.GROUND_SIZE * foot + 1
    return row[begin + 2] if axis == n_a - 1 else row[begin + axis]


@njit(nb.float64(VECTOR, nb.int64, nb.int64, VECTOR, nb.int64), inline="always", error_model="numpy")
def height_of(row, foot, n_a, values, begin):
    """Height above a foot's ground of the point whose coordinates (n_a,) are values[begin : begin + n_a] [m]."""
    height = -row[at.GROUNDS + at.GROUND_SIZE * foot]
    for a in range(n_a):
        height += height_slope(row, foot, n_a, a) * values[begin + a]
    return height


@njit(VECTOR_3(VECTOR, nb.int64, nb.int64), inline="always", error_model="numpy")
def normal_of(row, foot, n_a):
    """Unit normal of a foot's ground, upwards."""
    x, y, z = height_slope(row, foot, n_a, 0), 0.0, height_slope(row, foot, n_a, n_a - 1)
    if n_a == 3:
        y = height_slope(row, foot, n_a, 1)
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@njit(VECTOR_3(VECTOR_3, nb.boolean), inline="always", error_model="numpy")
def tangent_of(n, second):
    """A unit tangent of ground with normal n: the first world axis laid onto it, or the `second`, at right angles."""
    length = math.sqrt(n[0] * n[0] + n[2] * n[2])
    x, y, z = n[2] / length, 0.0, -n[0] / length
    if second:
        x, y, z = n[1] * z - n[2] * y, n[2] * x - n[0] * z, n[0] * y - n[1] * x
    return x, y, z


@njit(VECTOR_3(nb.int64, VECTOR, nb.int64), inline="always", error_model="numpy")
def in_space(n_a, values, begin):
    """The vector (x, y, z) whose n_a entries begin at values[begin]."""
    return values[begin], values[begin + 1] if n_a == 3 else 0.0, values[begin + n_a - 1]


FUNCTIONS = ("factorise", "solve", "contact_partials", "impact_partials", "curvature")

_SOURCE = Path(__file__).with_name("contact_algebra.c")

_SMALLEST, _LARGEST = 6, 64
"""Least number of joints in C, whose compilation takes a second, once; most, for working space is on the stack."""


def algebra_of(n: int, n_u: int, n_c: int) -> Mapping[str, int]:
    """Addresses of the functions by name, for n joints, n_u controls and n_c contact rows; none where Numba does it."""
    library = _library(n, n_u, n_c) if _SMALLEST <= n <= _LARGEST else None
    return {} if library is None else library.addresses


@cache
def _library(n: int, n_u: int, n_c: int) -> Library | None:
    return compiled_for(_SOURCE, FUNCTIONS, {"NJ": n, "NU": n_u, "NC": n_c})
