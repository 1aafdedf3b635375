r"""Contact force tracking ½‖λ − λ_ref‖²_S of the feet on the ground, a cost rate."""

import numba as nb

from contact_ddp_ros.mpc.layout import NODE_OFFSETS
from contact_ddp_ros.mpc.terms.solved import SolvedNodes
from contact_ddp_ros.solver.penalties import quadratic
from contact_ddp_ros.solver.protocol import MATRIX, VECTOR


@nb.njit(
    nb.float64(nb.float64, VECTOR, NODE_OFFSETS, nb.int64, nb.int64, VECTOR, nb.int64, VECTOR, nb.int64),
    cache=True,
    inline="always",
    error_model="numpy",
)
def add_force_tracking(cost, row, of, foot, n_a, nu, begin, gradient, first):
    """Write the gradient by a foot's force, nu[begin:], at gradient[first:]; returns the cost with the term's added."""
    for a in range(n_a):
        entry = foot * n_a + a
        value, slope, _ = quadratic(row[of.force_weight + entry], nu[begin + a] - row[of.force_reference + entry])
        cost += value
        gradient[first + a] = slope
    return cost


@nb.njit(
    nb.void(VECTOR, NODE_OFFSETS, nb.int64, nb.int64, MATRIX, nb.int64),
    cache=True,
    inline="always",
    error_model="numpy",
)
def force_tracking_hessian(row, of, foot, n_a, hessian, first):
    """Write the block of a foot's force into the rows of `hessian` from `first` on."""
    for a in range(n_a):
        for b in range(n_a):
            hessian[first + a, b] = 0.0
        hessian[first + a, a] = row[of.force_weight + foot * n_a + a]


def recorded(solved: SolvedNodes) -> float:
    """Its cost in a solution."""
    weights = solved.force_weights * solved.down[:, :, None]
    return float(0.5 * solved.h @ (weights * solved.force_errors**2).sum(axis=(1, 2)))
