r"""Torques ½‖u‖²_R, a cost rate."""

import numpy as np

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc.horizon import GaitHorizon
from contact_ddp_ros.mpc.terms.term import COMPILED, ENTRY, Argument, Array, Block, PackagedTerm
from contact_ddp_ros.ocp.multipliers import quadratic


@njit(ENTRY, **COMPILED)
def _derivatives(place, scale, i, z, n, row, parameters, multipliers, penalty):
    return quadratic(scale * row[place.row + i], z)


def _weights(horizon: GaitHorizon) -> Array:
    weight, joints_per_foot = horizon.config.weight, len(horizon.torque_limits) // len(horizon.pair_share)
    weights = np.where(horizon.stance, weight.torque, weight.swing_torque) / horizon.pair_share
    return np.repeat(weights, joints_per_foot, axis=1)


TORQUE_TRACKING = PackagedTerm(
    name="torque",
    argument=Argument.TORQUE,
    derivatives=_derivatives,
    rows=(Block("torque_weights", lambda sizes: sizes.n_u, _weights),),
)
