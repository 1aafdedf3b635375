r"""Geometry of the contact between feet and ground for Numba code: heights above the ground, its normal and tangents.

The ground is one plane z = height + slopeᵀ(x, y), in the model parameters of a problem; in a sagittal model there is no
y. Everything that depends on where the ground is or how it is inclined, but for the contact dynamics' own kernels, asks
here: the terms on heights (:mod:`contact_ddp_ros.mpc.foot_heights`), the friction cone
(:mod:`contact_ddp_ros.mpc.terms.friction_cone`).
"""

import math

import numba as nb
from numba import types

from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.solver.protocol import VECTOR

VECTOR_3 = types.UniTuple(nb.float64, 3)
"""(x, y, z); of a sagittal model y is 0."""


@nb.njit(nb.float64(VECTOR, nb.int64, VECTOR, nb.int64), cache=True, inline="always", error_model="numpy")
def height_of(parameters, n_a, values, begin):
    """Height above the ground's slope through the origin of a point whose coordinates (n_a,) begin there [m]."""
    height = values[begin + n_a - 1]
    for a in range(n_a - 1):
        height -= parameters[at.GROUND_SLOPE + a] * values[begin + a]
    return height


@nb.njit(nb.float64(VECTOR, nb.int64, nb.int64), cache=True, inline="always", error_model="numpy")
def height_slope(parameters, n_a, axis):
    """Derivative of that height by a point's coordinate along one of the n_a axes, the vertical last."""
    return 1.0 if axis == n_a - 1 else -parameters[at.GROUND_SLOPE + axis]


@nb.njit(VECTOR_3(VECTOR, nb.int64), cache=True, inline="always", error_model="numpy")
def normal_of(parameters, n_a):
    """The ground's unit normal, upwards."""
    along = parameters[at.GROUND_SLOPE]
    aside = parameters[at.GROUND_SLOPE + 1] if n_a == 3 else 0.0
    length = math.sqrt(along * along + aside * aside + 1.0)
    return -along / length, -aside / length, 1.0 / length


@nb.njit(VECTOR_3(VECTOR_3, nb.boolean), cache=True, inline="always", error_model="numpy")
def tangent_of(n, second):
    """A unit tangent of ground with normal n: the first world axis laid onto it, or the `second`, at right angles."""
    length = math.sqrt(n[0] * n[0] + n[2] * n[2])
    x, y, z = n[2] / length, 0.0, -n[0] / length
    if second:
        x, y, z = n[1] * z - n[2] * y, n[2] * x - n[0] * z, n[0] * y - n[1] * x
    return x, y, z


@nb.njit(VECTOR_3(nb.int64, VECTOR, nb.int64), cache=True, inline="always", error_model="numpy")
def in_space(n_a, values, begin):
    """The vector (x, y, z) whose n_a entries begin at values[begin]."""
    return values[begin], values[begin + 1] if n_a == 3 else 0.0, values[begin + n_a - 1]
