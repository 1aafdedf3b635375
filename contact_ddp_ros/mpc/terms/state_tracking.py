r"""State tracking ½‖x − x_ref‖²_Q: h times that in a time step of length h, once at a switch and at the end."""

import numba as nb

from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.layout import NODE_OFFSETS
from contact_ddp_ros.mpc.terms.solved import SolvedNodes
from contact_ddp_ros.solver.penalties import TRIPLE, quadratic
from contact_ddp_ros.solver.protocol import VECTOR


@nb.njit(TRIPLE(nb.float64, VECTOR, NODE_OFFSETS, nb.int64, VECTOR), cache=True, inline="always", error_model="numpy")
def state_tracking(scale, row, of, i, x):
    """(value, slope, bend) by entry i of the state, with the weight multiplied by `scale`."""
    return quadratic(scale * row[of.x_weight + i], x[i] - row[at.X_REFERENCE + i])


def recorded(solved: SolvedNodes) -> float:
    """Its cost in a solution."""
    return float(0.5 * solved.lengths @ (solved.state_weights * solved.errors**2).sum(axis=1))
