"""Second-order updates of augmented-Lagrangian multipliers, estimated from successive passes (Broyden).

Where the pass with multipliers y and penalty σ ends, the gradient of the cost is held by λ = y + σ c alone, so the
residual is a function c = φ(λ) that does not know σ, and the optimum is φ(λ*) = 0. The usual update takes λ for the
next y, which converges linearly: φ changes by S = C H⁻¹Cᵀ (H the Hessian, C the constraints' Jacobian) per unit of λ,
and each pass leaves the share 1/(1 + σS) of the residual. Newton's step on the dual would be

    y⁺ = λ + D c,    D = S⁻¹.

D is built from differences of successive passes by Broyden's rank-one updates, D (c₋ − c) = λ − λ₋, from D = 0, the
usual update: superlinear (Dennis and Moré 1974) at no further cost. Where φ changes, as when barriers tighten, or a
residual does not fall, D is reset to zero.
"""

import numpy as np
from numpy.typing import NDArray

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
