r"""Multiple shooting: gaps (defects) between the nodes of a nominal trajectory, and the merit that closes them.

The gaps are d_k = f_k(x̄_k, ū_k) − x̄_{k+1}, at resets as at time steps; single shooting is the case d = 0. The sweep and
the rollout of :mod:`contact_ddp_ros.ocp.rollout` close them along the direction (Δx, Δu) that leads to the optimum
with d = 0 in one step where the problem is linear and quadratic.

Sweep. Node k leads to x̄_{k+1} + d_k + fx δx + fu δu + ½ δzᵀ f_zz δz + …, while V' is known about x̄_{k+1}. Its gradient
at the state that node k leads to,

    V⁺x = V'x + V'xx d_k,

takes the place of V'x everywhere, and so in what the dynamics' curvature is contracted with: that makes Q the expansion
to second order of ℓ + V'(f). V'x itself, the costate of a state that the node does not lead to, would put S wrong by
V'xx d_k · f_zz, which is large where gaps are. (Near a solution, where gaps are as small as the error, either keeps
DDP's rate.) V'xᵀd + ½ dᵀV'xx d joins the change that a full step is expected to make.

Rollout. x_{k+1} = f_k(x_k, u_k) − (1 − α) d_k with u = ū + α k + K (x − x̄), as in FDDP (Mastalli et al. 2020). Every
gap shrinks by exactly 1 − α, however curved the dynamics. α = 1 leaves none, and from then on this is single shooting.
Steps along the linear model, x = x̄ + α Δx, would leave gaps of the order of the step squared, which an ℓ1 merit may
refuse however close the solution is (Maratos); here nothing of the kind can happen.

Merit. φ = J + ω Σ|d| (ℓ1), which a step α is expected to change by

    α J'(0) + α² (M − J'(0)) − α ω Σ|d|,

J'(0) = Σ ℓxᵀΔx + ℓuᵀΔu the slope of the cost along the direction (:func:`slope`) and M the sweep's change at α = 1. ω
only grows, to the least that makes both J'(0) − ω Σ|d| and M − ω Σ|d| at most −κ ω Σ|d|,

    ω ≥ max(J'(0), M) / ((1 − κ) Σ|d|)            (Nocedal and Wright 2006, Eq. (18.36)).

Then every α in (0, 1] is expected to reduce φ, and Armijo's rule on φ is met by some: φ has the slope
J'(0) − ω Σ|d| < 0 at α = 0. With ω bounded and the accepted steps bounded away from zero Σ|d| vanishes; what remains
is single shooting's descent: the guarantee of SQP with a line search (ibid., Chapter 18). FDDP's own rule, which lets
the cost rise by at most twice what the model expects, is Armijo's with κ = ½ and an ω that may fall again, and carries
no such guarantee. As all gaps change by a common factor, neither the norm nor the units in it matter.

See eqs. (17) and (18) of docs/mathematics.md.
"""

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.ocp.node_function import function_at
from contact_ddp_ros.ocp.numba_views import borrow
from contact_ddp_ros.ocp.protocol import DATA, FLAGS, MATRIX, STEP_TYPE, TENSOR
from contact_ddp_ros.ocp.rollout import EXPANSION

MARGIN = 0.5
"""κ: share of ω Σ|d| by which the merit is expected to fall at least."""

Array = NDArray[np.float64]

_step_at = function_at(STEP_TYPE)


class Defects:
    """Defects of a nominal trajectory and their weight in the merit.

    Attributes:
        d: (N, n_x) f_k(x̄_k, ū_k) − x̄_{k+1}; no rows where all gaps are zero.
        total: Σ|d|. weight: ω.
    """

    def __init__(self, n_x: int) -> None:
        self._none = np.zeros((0, n_x))
        self.d = self._none
        self.total = 0.0
        self.weight = 0.0

    def set(self, d: Array) -> None:
        """Set the gaps d (N, n_x) of a new trajectory, and ω to zero."""
        self.total = float(np.abs(d).sum())
        self.d = d if self.total > 0.0 else self._none
        self.weight = 0.0

    @property
    def are_open(self) -> bool:
        """True if any gap differs from zero."""
        return len(self.d) > 0

    @property
    def largest(self) -> float:
        """Largest |d|, in the state's units."""
        return float(np.abs(self.d).max(initial=0.0))

    def raise_weight(self, slope: float, change: float) -> None:
        """Raise ω to its least value for J'(0) = `slope` and M = `change` (equation above); never lower it."""
        needed = max(slope, change) / ((1.0 - MARGIN) * self.total)
        if needed > self.weight:
            self.weight = needed

    def merit_reduction(self, alpha: float) -> float:
        """Reduction α ω Σ|d| of the merit by the gaps that a step α closes."""
        return alpha * self.weight * self.total

    def shrink(self, alpha: float) -> None:
        """Multiply the gaps by 1 − α after a step α."""
        if alpha < 1.0:
            self.d = (1.0 - alpha) * self.d
            self.total *= 1.0 - alpha
        else:
            self.d, self.total = self._none, 0.0


@njit(
    nb.float64(nb.int64, DATA, nb.float64, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX),
    error_model="numpy",
    nogil=True,
)
def evaluate(step_address, data, bound, xs, us, aux, residuals, gaps):
    """Evaluate every node of a trajectory: write its gaps (N, n_x), return the total cost, infinite where
    |f_k| reaches the bound.

    The row of `gaps` of the node that diverges holds f_k; the rows after it are left as they are.
    """
    step = _step_at(step_address)
    n_nodes, n_x = gaps.shape
    data, xs, us, aux = borrow(data), borrow(xs), borrow(us), borrow(aux)
    residuals, gaps = borrow(residuals), borrow(gaps)
    unused = np.empty(n_x)
    total = 0.0
    for k in range(n_nodes):
        gap = gaps[k]
        total += step(data, k, xs[k], us[k], gap, aux[k], residuals[k])
        for j in range(n_x):
            if not abs(gap[j]) < bound:
                return np.inf
            gap[j] -= xs[k + 1, j]
    total += step(data, n_nodes, xs[n_nodes], us[0], unused, aux[n_nodes], residuals[n_nodes])
    return total if np.isfinite(total) else np.inf


@njit(nb.float64(FLAGS, EXPANSION, MATRIX, TENSOR, MATRIX), error_model="numpy", nogil=True)
def slope(has_control, expansion, ks, gains, gaps):
    """J'(0): slope of the cost along δu = k + K δx, δx' = fx δx + fu δu + d."""
    n_nodes, n_u = ks.shape
    n_x = gaps.shape[1]
    has_control, ks, gains, gaps = borrow(has_control), borrow(ks), borrow(gains), borrow(gaps)
    fxs, fus, lxs, lus, _, _, _ = borrow(expansion)
    dx, following, du = np.zeros(n_x), np.empty(n_x), np.zeros(n_u)
    total = 0.0
    for k in range(n_nodes):
        for j in range(n_x):
            total += lxs[k, j] * dx[j]
            following[j] = gaps[k, j]
        if has_control[k]:
            for i in range(n_u):
                du[i] = ks[k, i]
                for j in range(n_x):
                    du[i] += gains[k, i, j] * dx[j]
                total += lus[k, i] * du[i]
            for j in range(n_x):
                for i in range(n_u):
                    following[j] += fus[k, j, i] * du[i]
        for j in range(n_x):
            for i in range(n_x):
                following[j] += fxs[k, j, i] * dx[i]
        for j in range(n_x):
            dx[j] = following[j]
    for j in range(n_x):
        total += lxs[n_nodes, j] * dx[j]
    return total
