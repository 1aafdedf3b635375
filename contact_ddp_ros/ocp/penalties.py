r"""Quadratic cost, relaxed barrier and augmented Lagrangian of a scalar with derivatives, for node costs.

Relaxed barrier (Hauser and Saccon 2006; Feller and Ebenbauer 2017), C² everywhere, finite outside the feasible set:

    B_δ(z) = −ln z                                   z > δ
             ½ [((z − 2δ)/δ)² − 1] − ln δ            otherwise

Augmented Lagrangian of c = 0: y c + ½ σ c², multiplier update y ← y + σ c.

Interior point, of z ≥ 0 with a slack s > 0 and a multiplier y > 0 (:mod:`contact_ddp_ros.ocp.interior_point`): the
Newton step on z − s = 0, y s = μ leaves, once s and y are eliminated, a quadratic in z,

    ψ(z) = ½ Σ (z − s)² − (μ/s) (z − s),    Σ = y/s.

See eqs. (19), (20) and (27) of docs/mathematics.md.
"""

import math

import numba as nb
from numba import types

SIGMA, DELTA, EPSILON, MU = range(4)
"""Entries of the penalty: augmented-Lagrangian penalty, width and weight of the relaxed barriers, barrier parameter."""

_VECTOR = types.Array(nb.float64, 1, "C")

TRIPLE = types.UniTuple(nb.float64, 3)
"""(value, first, second derivative)."""


@nb.njit(TRIPLE(nb.float64, nb.float64), cache=True, inline="always", error_model="numpy")
def quadratic(weight, error):
    """½ w e² and its derivatives with respect to e."""
    return 0.5 * weight * error * error, weight * error, weight


@nb.njit(TRIPLE(nb.float64, nb.float64), cache=True, inline="always", error_model="numpy")
def relaxed_barrier(z, delta):
    """(B, B', B'') of the relaxed barrier of z ≥ 0."""
    if z > delta:
        inverse = 1.0 / z
        return -math.log(z), -inverse, inverse * inverse
    scaled = (z - 2.0 * delta) / delta
    return 0.5 * (scaled * scaled - 1.0) - math.log(delta), scaled / delta, 1.0 / (delta * delta)


@nb.njit(TRIPLE(nb.float64, _VECTOR, nb.int64, _VECTOR), cache=True, inline="always", error_model="numpy")
def inequality(z, multipliers, at, penalty):
    """(value, first, second derivative) of what z ≥ 0 adds: ψ where μ > 0, else ε B_δ.

    The slack and the multiplier are multipliers[at] and multipliers[at + 1].
    """
    mu = penalty[MU]
    if mu > 0.0:
        slack = multipliers[at]
        bend = multipliers[at + 1] / slack
        gap = z - slack
        return (0.5 * bend * gap - mu / slack) * gap, bend * gap - mu / slack, bend
    epsilon = penalty[EPSILON]
    if not epsilon > 0.0:
        return 0.0, 0.0, 0.0
    value, slope, bend = relaxed_barrier(z, penalty[DELTA])
    return epsilon * value, epsilon * slope, epsilon * bend


@nb.njit(TRIPLE(nb.float64, nb.float64, nb.float64), cache=True, inline="always", error_model="numpy")
def augmented_lagrangian(c, multiplier, sigma):
    """(value, first, second derivative with respect to c) of y c + ½ σ c²."""
    return (multiplier + 0.5 * sigma * c) * c, multiplier + sigma * c, sigma
