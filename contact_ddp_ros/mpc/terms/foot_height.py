r"""Heights of the feet in the air above their grounds: ½‖height − height_ref‖²_P, a cost rate.

The weight of a foot on the ground is zero.
"""

import numpy as np

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc.horizon import GaitHorizon
from contact_ddp_ros.mpc.terms.term import COMPILED, ENTRY, Argument, Array, Block, PackagedTerm
from contact_ddp_ros.ocp.multipliers import quadratic


@njit(ENTRY, **COMPILED)
def _derivatives(place, scale, i, z, n, row, parameters, multipliers, penalty):
    return quadratic(scale * row[place.row + n + i], z - row[place.row + i])


def _weights(horizon: GaitHorizon) -> Array:
    weights = horizon.pair_share * horizon.config.weight.foot_height
    return np.where(horizon.swinging & ~horizon.stance, weights, 0.0)


FOOT_HEIGHT = PackagedTerm(
    name="foot_height",
    argument=Argument.FOOT_HEIGHT,
    derivatives=_derivatives,
    rows=(
        Block("heights", lambda sizes: sizes.n_f, lambda horizon: horizon.clearances),
        Block("height_weights", lambda sizes: sizes.n_f, _weights),
    ),
)
