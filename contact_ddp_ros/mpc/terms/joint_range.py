r"""Joints near the ends of their ranges: ½ w d², a cost rate, d how far q is within a margin of an end or beyond it.

Zero elsewhere, so that it asks nothing of a motion that stays within the range. w is `planner.weight.joint_range`.
"""

import numba as nb
import numpy as np

from contact_ddp_ros.mpc.horizon import GaitHorizon
from contact_ddp_ros.mpc.terms.term import COMPILED, ENTRY, Argument, Array, Block, PackagedTerm
from contact_ddp_ros.solver.penalties import quadratic

MARGIN = 0.1
"""How far from an end of its range a joint is near it [rad]."""


@nb.njit(ENTRY, **COMPILED)
def _derivatives(place, scale, i, z, n, row, parameters, multipliers, penalty):
    weight = row[place.row]
    if weight == 0.0 or 2 * i >= n:
        return 0.0, 0.0, 0.0
    first, last = parameters[place.parameters + 2 * i], parameters[place.parameters + 2 * i + 1]
    if first <= z <= last:
        return 0.0, 0.0, 0.0
    return quadratic(scale * weight, z - (first if z < first else last))


def _weights(horizon: GaitHorizon) -> Array:
    weights = np.full((len(horizon.times), 1), horizon.config.weight.joint_range)
    weights[:-1][horizon.switches] = 0.0  # they have no duration, nor has the end
    weights[-1 if horizon.near is None else horizon.near :] = 0.0  # and the tail has no joints
    return weights


def _ranges(horizon: GaitHorizon) -> Array:
    return np.ravel(horizon.joint_ranges + MARGIN * np.array([1.0, -1.0]))


JOINT_RANGE = PackagedTerm(
    name="joint_range",
    argument=Argument.STATE,
    derivatives=_derivatives,
    rows=(Block("joint_range_weight", lambda sizes: 1, _weights),),
    parameters=(Block("joint_ranges", lambda sizes: 2 * sizes.n, _ranges),),
)
