r"""State tracking ½‖x − x_ref‖²_Q: h times that in a time step of length h, once at a switch and at the end."""

import numpy as np

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc.horizon import GaitHorizon
from contact_ddp_ros.mpc.terms.term import COMPILED, ENTRY, Argument, Array, Block, PackagedTerm
from contact_ddp_ros.ocp.multipliers import quadratic


@njit(ENTRY, **COMPILED)
def _derivatives(place, scale, i, z, n, row, parameters, multipliers, penalty):
    return quadratic(scale * row[place.row + n + i], z - row[place.row + i])


def _weights(horizon: GaitHorizon) -> Array:
    scale = np.ones(len(horizon.times))
    scale[:-1][horizon.switches] = horizon.config.weight.switch
    scale[-1] = terminal = horizon.config.weight.terminal
    weights = scale[:, None] * horizon.state_weights
    if horizon.near is not None:
        near, n = horizon.near, len(horizon.coordinates)
        joints = np.arange(n - len(horizon.torque_limits), n)
        joints = np.concatenate([joints, n + joints])
        weights[near:, joints] = 0.0  # but for their end, whose cost the first step of the tail integrates
        weights[near, joints] = (
            terminal / (horizon.times[near + 1] - horizon.times[near]) * horizon.state_weights[joints]
        )
    return weights


STATE_TRACKING = PackagedTerm(
    name="state",
    argument=Argument.STATE,
    derivatives=_derivatives,
    rows=(
        Block("states", lambda sizes: 2 * sizes.n, lambda horizon: horizon.states),
        Block("state_weights", lambda sizes: 2 * sizes.n, _weights),
    ),
)
