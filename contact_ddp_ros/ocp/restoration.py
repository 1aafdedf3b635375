r"""Models of a restoration: a step to the linearised constraints that keeps off the limits, and multipliers afterwards.

Where the filter refuses every step, one needs a point of less violation. With the barrier B = −Σ w ln s, the restoring
step minimises ½ κ |Δu|² + μ_R B's quadratic model subject to the linearised f and g: among the steps that solve them to
first order the shortest, in a metric that grows towards the limits. μ_R is at least the largest violation.

Multipliers of the equalities by least squares minimise |∂L/∂u|² at the adjoint; they are the ψ of a sweep with the unit
matrix for a Hessian and g = 0 (Wächter and Biegler 2006, Sections 3.3 and 3.6).

Both are sweeps over expansions that are put together here of two of the run's own: `plain`, without inequalities, and
`unit`, with the barrier of μ = 1 added.
"""

import numpy as np
from numpy.typing import NDArray

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
