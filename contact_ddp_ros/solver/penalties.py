r"""Quadratic cost, relaxed barrier and augmented Lagrangian of a scalar with derivatives, for node costs.

Relaxed barrier (Hauser and Saccon 2006; Feller and Ebenbauer 2017), C² everywhere, finite outside the feasible set:

    B_δ(z) = −ln z                                   z > δ
             ½ [((z − 2δ)/δ)² − 1] − ln δ            otherwise

Augmented Lagrangian of c = 0: y c + ½ σ c², multiplier update y ← y + σ c.

See eqs. (19) and (20) of docs/mathematics.md.
"""

import math

import numba as nb
from numba import types

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


@nb.njit(TRIPLE(nb.float64, nb.float64, nb.float64), cache=True, inline="always", error_model="numpy")
def augmented_lagrangian(c, multiplier, sigma):
    """(value, first, second derivative with respect to c) of y c + ½ σ c²."""
    return (multiplier + 0.5 * sigma * c) * c, multiplier + sigma * c, sigma
