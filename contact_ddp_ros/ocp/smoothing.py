r"""Slacks and multipliers by one number each: the smoothed complementarity of the crossover, compiled.

Of an inequality only w = s − κ y is kept. The pair on the hyperbola y s = μ with that difference,

    s = ½ (w + √(w² + 4 κ μ)),    y = μ / s,

is a zero of the smoothed natural residual (Chen and Harker 1993; Kanzow 1996)

    φ(s, y) = s + κ y − √((s − κ y)² + 4 κ μ),

and Newton's step on φ = 0, z − s = 0 from there is the interior point's. Neither s nor y need be positive after it, so
no step to the boundary is needed: w < 0 says that the inequality counts as active. With μ → 0 this is the primal-dual
active-set method (Hintermüller, Ito and Kunisch 2003).

Arrays are those of :mod:`contact_ddp_ros.ocp.slacks`; `differences` (N, n_i) are the w.
"""

import math

import numba as nb
from numba import types

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.ocp.multipliers import MU
from contact_ddp_ros.ocp.protocol import MATRIX, VECTOR

_OPTIONS = {"nogil": True, "error_model": "numpy"}


@njit(types.UniTuple(nb.float64, 2)(MATRIX, VECTOR, nb.int64, nb.float64, MATRIX), **_OPTIONS)
def differences_of(multipliers, weights, n_e, kappa, differences):
    """Write the differences of slacks and multipliers; return Σ w y s and Σ w of the active inequalities."""
    total, weight = 0.0, 0.0
    for k in range(differences.shape[0]):
        for i in range(differences.shape[1]):
            slack, y = multipliers[k, n_e + 2 * i], multipliers[k, n_e + 2 * i + 1]
            differences[k, i] = slack - kappa * y if math.isfinite(slack) else math.inf
            if differences[k, i] < 0.0:
                total += weights[k] * y * slack
                weight += weights[k]
    return total, weight


@njit(nb.void(MATRIX, VECTOR, nb.int64, nb.float64, MATRIX), **_OPTIONS)
def project(differences, penalty, n_e, kappa, multipliers):
    """Write the slacks and multipliers with y s = μ."""
    mu = penalty[MU]
    for k in range(differences.shape[0]):
        for i in range(differences.shape[1]):
            w, at = differences[k, i], n_e + 2 * i
            if math.isfinite(w):
                root = math.sqrt(w * w + 4.0 * kappa * mu)
                slack = 0.5 * (w + root) if w > 0.0 else 2.0 * kappa * mu / (root - w)
                multipliers[k, at] = slack
                multipliers[k, at + 1] = mu / slack


@njit(
    types.Tuple((nb.int64, nb.float64, nb.float64, nb.float64))(
        MATRIX, MATRIX, VECTOR, VECTOR, nb.int64, nb.float64, MATRIX
    ),
    **_OPTIONS,
)
def predict(residuals, multipliers, weights, penalty, n_e, kappa, differences):
    """Write the differences that Newton's step leads to, by a trial's residuals.

    Returns how many inequalities change between active and not; Σ w ψ that the trial's cost contains; the trial's
    violation Σ w max(0, −z); Σ w |y z − μ| of the pairs that Newton's step leads to.
    """
    changed, psi, outside, left, mu = 0, 0.0, 0.0, 0.0, penalty[MU]
    for k in range(differences.shape[0]):
        for i in range(differences.shape[1]):
            z, at = residuals[k, n_e + i], n_e + 2 * i
            if math.isfinite(z):
                slack, y = multipliers[k, at], multipliers[k, at + 1]
                bend, gap = y / slack, z - slack
                psi += weights[k] * (0.5 * bend * gap - mu / slack) * gap
                outside += weights[k] * max(0.0, -z)
                y = mu / slack - bend * gap
                left += weights[k] * abs(y * z - mu)
                ahead = z - kappa * y
                if (ahead < 0.0) != (differences[k, i] < 0.0):
                    changed += 1
                differences[k, i] = ahead
    return changed, psi, outside, left
