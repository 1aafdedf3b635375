r"""Height of the feet in the air ½‖height − height_ref‖²_P, a cost rate; the weight is zero on the ground."""

import numba as nb

from contact_ddp_ros.mpc.layout import NODE_OFFSETS
from contact_ddp_ros.mpc.terms.solved import SolvedNodes
from contact_ddp_ros.solver.penalties import TRIPLE, quadratic
from contact_ddp_ros.solver.protocol import VECTOR


@nb.njit(
    TRIPLE(nb.float64, VECTOR, NODE_OFFSETS, nb.int64, nb.float64), cache=True, inline="always", error_model="numpy"
)
def foot_height(scale, row, of, f, height):
    """(value, slope, bend) by the height of foot f [m], with the weight multiplied by `scale`."""
    return quadratic(scale * row[of.height_weight + f], height - row[of.height_reference + f])


def recorded(solved: SolvedNodes) -> float:
    """Its cost in a solution."""
    return float(0.5 * solved.h @ (solved.height_weights * solved.height_errors**2).sum(axis=1))
