r"""Feet that land do not pull: Λ_n/(F h) ≥ 0 of the impulse along the normal of their ground, h times.

The inelastic impact brings a foot to rest that rises as well as one that comes down, and ground does not. F is the mean
normal force of a foot, h how long the impulse takes. Along the ground nothing is asked: on impact a foot may slide.
"""

import numpy as np

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc.terms.term import COMPILED, ENTRY, ENTRY_LIMITS, Argument, Block, PackagedTerm
from contact_ddp_ros.ocp.multipliers import inequality


@njit(ENTRY, **COMPILED)
def _derivatives(place, scale, i, z, n, row, parameters, multipliers, penalty):
    inverse_scale = 1.0 / parameters[place.parameters]
    value, slope, bend = inequality(z * inverse_scale, multipliers, place.dual + 2 * i, penalty)
    return scale * value, scale * inverse_scale * slope, scale * inverse_scale * inverse_scale * bend


@njit(ENTRY_LIMITS, **COMPILED)
def _limits(place, i, z, n, parameters, residual):
    residual[place.residual + i] = z / parameters[place.parameters]
    return max(0.0, -residual[place.residual + i])


TOUCHDOWN_IMPULSE = PackagedTerm(
    name="touchdown_impulse",
    argument=Argument.LANDING_FORCE,
    derivatives=_derivatives,
    limits=_limits,
    parameters=(Block("impulse_scale", lambda sizes: 1, lambda horizon: np.array([horizon.mean_force])),),
    constraints=lambda n_a: ("touchdown impulse of {}",),
)
