r"""Contact force tracking ½‖λ − λ_ref‖²_S of the feet on the ground, a cost rate."""

import numpy as np

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc.horizon import GaitHorizon
from contact_ddp_ros.mpc.layout import Sizes
from contact_ddp_ros.mpc.terms.term import COMPILED, FORCE, FORCE_HESSIAN, Argument, Array, Block, PackagedTerm
from contact_ddp_ros.ocp.multipliers import quadratic


@njit(FORCE, **COMPILED)
def _derivatives(place, cost, foot, n_f, n_a, row, parameters, multipliers, penalty, nu, begin, gradient, first):
    reference = place.row + foot * n_a
    for a in range(n_a):
        value, slope, _ = quadratic(row[reference + n_f * n_a + a], nu[begin + a] - row[reference + a])
        cost += value
        gradient[first + a] += slope
    return cost


@njit(FORCE_HESSIAN, **COMPILED)
def _hessian(place, foot, n_f, n_a, row, parameters, multipliers, penalty, nu, begin, hessian, first):
    weight = place.row + (n_f + foot) * n_a
    for a in range(n_a):
        hessian[first + a, a] += row[weight + a]


def _size(sizes: Sizes) -> int:
    return sizes.n_f * sizes.n_a


def _weights(horizon: GaitHorizon) -> Array:
    n_a = horizon.forces.shape[1] // len(horizon.pair_share)
    return np.repeat(horizon.config.weight.force / horizon.pair_share, n_a)


FORCE_TRACKING = PackagedTerm(
    name="contact_force",
    argument=Argument.FORCE,
    derivatives=_derivatives,
    hessian=_hessian,
    rows=(
        Block("forces", _size, lambda horizon: horizon.forces),
        Block("force_weights", _size, _weights),
    ),
)
