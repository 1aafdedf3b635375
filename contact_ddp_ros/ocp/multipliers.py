r"""Second-order updates of augmented-Lagrangian multipliers, estimated from successive passes (Broyden).

Where the pass with multipliers y and penalty σ ends, the gradient of the cost is held by λ = y + σ c alone, so the
residual is a function c = φ(λ) that does not know σ, and the optimum is φ(λ*) = 0. The usual update takes λ for the
next y, which converges linearly: φ changes by S = C H⁻¹Cᵀ (H the Hessian, C the constraints' Jacobian) per unit of λ,
and each pass leaves the share 1/(1 + σS) of the residual. Newton's step on the dual would be

    y⁺ = λ + D c,    D = S⁻¹.

D is built from differences of successive passes by Broyden's rank-one updates, D (c₋ − c) = λ − λ₋, from D = 0, the
usual update: superlinear (Dennis and Moré 1974) at no further cost. Where φ changes, as when barriers tighten, or a
residual does not fall, D is reset to zero.

Quadratic cost, relaxed barrier and augmented Lagrangian of a scalar with derivatives, for node costs.

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
import numpy as np
from numba import types
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit

Array = NDArray[np.float64]


class AugmentedLagrangian:
    """AugmentedLagrangian of the residuals of one problem, updated pass by pass."""

    def __init__(self, y: Array) -> None:
        self.y = y
        self._terms: list[tuple[Array, Array]] = []
        self._last: tuple[Array, Array] | None = None

    def update(self, sigma: float, c: Array) -> None:
        """Update y after a pass with penalty `sigma` that ended with the residuals c, of the shape of y."""
        estimate = self.y + sigma * c
        if self._last is not None:
            last_estimate, last_c = self._last
            fall = last_c - c
            if np.abs(c).max(initial=0.0) >= np.abs(last_c).max(initial=0.0):
                self._terms.clear()
            else:
                self._terms.append(
                    (estimate - last_estimate - self._second_order_term(fall), fall / np.sum(fall * fall))
                )
        self._last = estimate, c
        self.y = estimate + self._second_order_term(c)

    def reset(self) -> None:
        """Set D to zero because the next pass minimises another cost; y stays."""
        self._terms.clear()
        self._last = None

    def _second_order_term(self, c: Array) -> Array:
        """D c."""
        total = np.zeros_like(c)
        for column, row in self._terms:
            total += column * np.sum(row * c)
        return total


SIGMA, DELTA, EPSILON, MU = range(4)
"""Entries of the penalty: augmented-Lagrangian penalty, width and weight of the relaxed barriers, barrier parameter."""

_VECTOR = types.Array(nb.float64, 1, "C")

TRIPLE = types.UniTuple(nb.float64, 3)
"""(value, first, second derivative)."""


@njit(TRIPLE(nb.float64, nb.float64), inline="always", error_model="numpy")
def quadratic(weight, error):
    """½ w e² and its derivatives with respect to e."""
    return 0.5 * weight * error * error, weight * error, weight


@njit(TRIPLE(nb.float64, nb.float64), inline="always", error_model="numpy")
def relaxed_barrier(z, delta):
    """(B, B', B'') of the relaxed barrier of z ≥ 0."""
    if z > delta:
        inverse = 1.0 / z
        return -math.log(z), -inverse, inverse * inverse
    scaled = (z - 2.0 * delta) / delta
    return 0.5 * (scaled * scaled - 1.0) - math.log(delta), scaled / delta, 1.0 / (delta * delta)


@njit(TRIPLE(nb.float64, _VECTOR, nb.int64, _VECTOR), inline="always", error_model="numpy")
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


@njit(TRIPLE(nb.float64, nb.float64, nb.float64), inline="always", error_model="numpy")
def augmented_lagrangian(c, multiplier, sigma):
    """(value, first, second derivative with respect to c) of y c + ½ σ c²."""
    return (multiplier + 0.5 * sigma * c) * c, multiplier + sigma * c, sigma
