r"""Slacks and multipliers of a horizon's constraints: the compiled loops of the interior point.

`residuals` (N+1, n_e + n_i + 1) are a problem's, `multipliers` (N+1, n_e + 2 n_i) those of
:data:`contact_ddp_ros.ocp.protocol.DATA`, `weights` (N,) the inequalities' weights w per node. An inequality that is
∞ does not exist. See :mod:`contact_ddp_ros.ocp.interior_point` for the equations.

Models of a restoration: a step to the linearised constraints that keeps off the limits, and multipliers afterwards.

Where the filter refuses every step, one needs a point of less violation. With the barrier B = −Σ w ln s, the restoring
step minimises ½ κ |Δu|² + μ_R B's quadratic model subject to the linearised f and g: among the steps that solve them to
first order the shortest, in a metric that grows towards the limits. μ_R is at least the largest violation.

Multipliers of the equalities by least squares minimise |∂L/∂u|² at the adjoint; they are the ψ of a sweep with the unit
matrix for a Hessian and g = 0 (Wächter and Biegler 2006, Sections 3.3 and 3.6).

Both are sweeps over expansions that are put together here of two of the run's own: `plain`, without inequalities, and
`unit`, with the barrier of μ = 1 added.
"""

import math

import numba as nb
import numpy as np
from numba import types
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.ocp.multipliers import MU, SIGMA
from contact_ddp_ros.ocp.protocol import MATRIX, VECTOR

_FOUR, _FIVE = types.UniTuple(nb.float64, 4), types.UniTuple(nb.float64, 5)

_TINY = 1e-300
_SMALL = 1e-150
"""Products of slacks below have their logarithm taken, which costs more than the rest, before they underflow."""

_SPREAD = 1e6
"""y s stays within this factor of μ (Wächter and Biegler 2006, Eq. (16))."""

_FLOOR, _SHRINK = 0.3, 0.99
"""A slack does not fall below this share of a violation, or only to this share of itself: Σ = y/s, without bound
otherwise, would drown the cost."""


@njit(nb.float64(MATRIX, MATRIX, VECTOR, nb.int64, nb.int64, nb.float64), nogil=True)
def begin(residuals, multipliers, weights, n_e, n_i, least):
    """Set slacks to z, at least to `least` and half a violation; multipliers to 1/s.

    Returns Σ w of the inequalities that exist.
    """
    total = 0.0
    for k in range(weights.size):
        for i in range(n_i):
            z, at = residuals[k, n_e + i], n_e + 2 * i
            slack = max(z, least, -0.5 * z)
            multipliers[k, at] = slack
            multipliers[k, at + 1] = 1.0 / slack
            if math.isfinite(z):
                total += weights[k]
    return total


@njit(nb.void(MATRIX, nb.int64, nb.int64, MATRIX), nogil=True, error_model="numpy")
def as_slopes(multipliers, n_e, n_i, into):
    """Write multipliers for which ψ' is −y at μ = 1, wherever z is: slacks 1/y, Σ = 0."""
    for k in range(multipliers.shape[0]):
        for i in range(n_e):
            into[k, i] = multipliers[k, i]
        for at in range(n_e, n_e + 2 * n_i, 2):
            into[k, at] = 1.0 / max(multipliers[k, at + 1], _TINY)
            into[k, at + 1] = 0.0


@njit(_FIVE(MATRIX, MATRIX, VECTOR, VECTOR, nb.int64, nb.int64), nogil=True, error_model="numpy")
def measure(residuals, multipliers, weights, penalty, n_e, n_i):
    """Σ w|z − s|; slope −Σ w μ (z − s)/s and bend Σ w Σ (z − s)² that they add to the merit along a full step.

    Then Σ y c + ½ σ c² of the equalities, and the largest |c|.
    """
    total, slope, bend = 0.0, 0.0, 0.0
    for k in range(weights.size):
        for i in range(n_i):
            z, at = residuals[k, n_e + i], n_e + 2 * i
            gap = z - multipliers[k, at]
            if gap != 0.0 and math.isfinite(z):
                inverse = 1.0 / multipliers[k, at]
                total += weights[k] * abs(gap)
                slope -= weights[k] * penalty[MU] * gap * inverse
                bend += weights[k] * multipliers[k, at + 1] * inverse * gap * gap
    equalities, worst = 0.0, 0.0
    for k in range(residuals.shape[0]):
        for i in range(n_e):
            c = residuals[k, i]
            equalities += (multipliers[k, i] + 0.5 * penalty[SIGMA] * c) * c
            worst = max(worst, abs(c))
    return total, slope, bend, equalities, worst


@njit(inline="always", error_model="numpy")
def share_left(multipliers, residuals, old, alpha):
    """The least share that a step α leaves of a node's slacks; `old` are the node's residuals before it."""
    n_i = multipliers.size - residuals.size + 1
    n_e = residuals.size - 1 - n_i
    least = 1.0
    for i in range(n_i):
        z, slack = residuals[n_e + i], multipliers[n_e + 2 * i]
        if math.isfinite(z):
            left = z + (1.0 - alpha) * (slack - old[n_e + i]) if alpha < 1.0 else z
            least = min(least, left / slack)
    return least


@njit(
    _FOUR(MATRIX, MATRIX, MATRIX, VECTOR, VECTOR, nb.int64, nb.int64, nb.float64, nb.float64, MATRIX),
    nogil=True,
    error_model="numpy",
)
def trial(residuals, nominal, multipliers, weights, penalty, n_e, n_i, alpha, boundary, slacks):
    """Write the slacks s(α) of a trial's residuals, no further towards zero than the boundary.

    Returns Σ w|z − s(α)|; Σ w ψ that the trial's cost contains; Σ w ln s(α); Σ y c + ½ σ c² of the equalities.
    """
    apart, psi, total, equalities, mu = 0.0, 0.0, 0.0, 0.0, penalty[MU]
    for k in range(weights.size):
        here = 1.0
        for i in range(n_i):
            z, at = residuals[k, n_e + i], n_e + 2 * i
            slacks[k, i] = z
            if math.isfinite(z):
                slack = multipliers[k, at]
                if alpha < 1.0:
                    slacks[k, i] += (1.0 - alpha) * (slack - nominal[k, n_e + i])
                slacks[k, i] = max(slacks[k, i], (1.0 - boundary) * slack, min(_SHRINK * slack, -_FLOOR * z))
                apart += weights[k] * abs(z - slacks[k, i])
                gap = z - slack
                psi += weights[k] * (0.5 * multipliers[k, at + 1] * gap - mu) * gap / slack
                here *= slacks[k, i]
                if here < _SMALL:
                    total += weights[k] * math.log(here)
                    here = 1.0
        total += weights[k] * math.log(here)
    for k in range(residuals.shape[0]):
        for i in range(n_e):
            equalities += (multipliers[k, i] + 0.5 * penalty[SIGMA] * residuals[k, i]) * residuals[k, i]
    return apart, psi, total, equalities


@njit(nb.float64(MATRIX, VECTOR, nb.int64, nb.int64), nogil=True, error_model="numpy")
def logarithms(multipliers, weights, n_e, n_i):
    """Σ w ln s."""
    total = 0.0
    for k in range(weights.size):
        for i in range(n_i):
            slack = multipliers[k, n_e + 2 * i]
            if math.isfinite(slack):
                total += weights[k] * math.log(slack)
    return total


@njit(
    nb.void(MATRIX, MATRIX, MATRIX, VECTOR, nb.int64, nb.int64, nb.float64, nb.float64, MATRIX, nb.boolean),
    nogil=True,
    error_model="numpy",
)
def advance(residuals, previous, multipliers, penalty, n_e, n_i, alpha, boundary, slacks, common):
    """Take over the slacks of a step α; step multipliers, those of inequalities no further than the boundary.

    Each for itself, or all by the `common` share of their steps that the boundary allows.
    """
    mu, sigma = penalty[MU], penalty[SIGMA]
    length = 1.0
    for keep in range(0 if common else 1, 2):
        for k in range(slacks.shape[0]):
            for i in range(n_i):
                z, at = residuals[k, n_e + i], n_e + 2 * i
                if not math.isfinite(z):
                    continue
                slack, y, old = multipliers[k, at], multipliers[k, at + 1], previous[k, n_e + i]
                ahead = old + (z - old) / alpha
                change = (mu - y * (ahead - slack)) / slack - y
                if keep == 0:
                    if change < -boundary * y:
                        length = min(length, -boundary * y / change)
                    continue
                multipliers[k, at] = slacks[k, i]
                centre = mu / slacks[k, i]
                stepped = y + length * change if common else max(y + change, (1.0 - boundary) * y)
                multipliers[k, at + 1] = min(max(stepped, centre / _SPREAD), centre * _SPREAD)
    for k in range(residuals.shape[0]):
        for i in range(n_e):
            old = previous[k, i]
            multipliers[k, i] += alpha * sigma * (old + (residuals[k, i] - old) / alpha)


Array = NDArray[np.float64]
Expansion = tuple[Array, ...]
"""DERIVATIVES of every node: fx, fu, lx, lu, lxx, lux, luu."""


def restoring(plain: Expansion, unit: Expansion, mu: float, kappa: float) -> Expansion:
    """Expansion of μ_R B + ½ κ |Δu|²."""
    lx, lu, lxx, lux, luu = (mu * (whole - without) for whole, without in zip(unit[2:], plain[2:], strict=True))
    return plain[0], plain[1], lx, lu, lxx, lux, luu + kappa * np.eye(luu.shape[-1])


def least_squares(plain: Expansion, unit: Expansion, mu: float) -> Expansion:
    """Expansion of J + μ B with the unit matrix for its Hessian by the controls, 0 otherwise."""
    lx, lu = (one + mu * (whole - one) for whole, one in zip(unit[2:4], plain[2:4], strict=True))
    lxx, lux, luu = (np.zeros_like(one) for one in plain[4:])
    return plain[0], plain[1], lx, lu, lxx, lux, luu + np.eye(luu.shape[-1])
