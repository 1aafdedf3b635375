r"""Touchdown of the feet that land as augmented Lagrangian y c + ½ σ c² of their height c above the ground, once."""

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc.terms.term import COMPILED, ENTRY, ENTRY_LIMITS, Argument, PackagedTerm
from contact_ddp_ros.ocp.multipliers import SIGMA, augmented_lagrangian


@njit(ENTRY, **COMPILED)
def _derivatives(place, scale, i, z, n, row, parameters, multipliers, penalty):
    return augmented_lagrangian(z, multipliers[place.dual + i], penalty[SIGMA])


@njit(ENTRY_LIMITS, **COMPILED)
def _limits(place, i, z, n, parameters, residual):
    residual[place.residual + i] = z
    return 0.0


TOUCHDOWN = PackagedTerm(
    name="touchdown",
    argument=Argument.LANDING_HEIGHT,
    derivatives=_derivatives,
    limits=_limits,
    constraints=lambda n_a: ("touchdown height of {}",),
    equality=True,
)
