r"""Touchdown of the feet that land as augmented Lagrangian y c + ½ σ c² of their height c above the ground, once."""

import numba as nb

from contact_ddp_ros.mpc.terms.solved import SolvedNodes
from contact_ddp_ros.solver.penalties import SIGMA, TRIPLE, augmented_lagrangian
from contact_ddp_ros.solver.protocol import VECTOR


@nb.njit(TRIPLE(nb.float64, nb.float64, VECTOR), cache=True, inline="always", error_model="numpy")
def touchdown(height, multiplier, penalty):
    """(value, slope, bend) by the height of a landing foot above the ground [m]."""
    return augmented_lagrangian(height, multiplier, penalty[SIGMA])


def recorded(solved: SolvedNodes) -> float:
    """Its cost in a solution."""
    c = solved.touchdown_errors
    return float(((solved.multipliers + 0.5 * solved.sigma * c) * c).sum())
