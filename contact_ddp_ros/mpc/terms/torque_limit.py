r"""Torque limits |u| ≤ u_max as inequalities 1 ± u/u_max ≥ 0, by relaxed barriers ε B_δ a cost rate."""

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc.terms.term import COMPILED, ENTRY, ENTRY_LIMITS, Argument, Block, PackagedTerm
from contact_ddp_ros.ocp.multipliers import inequality


@njit(ENTRY, **COMPILED)
def _derivatives(place, scale, i, z, n, row, parameters, multipliers, penalty):
    limit = parameters[place.parameters + i]
    ratio = z / limit
    lower, lower_slope, lower_bend = inequality(1.0 + ratio, multipliers, place.dual + 4 * i, penalty)
    upper, upper_slope, upper_bend = inequality(1.0 - ratio, multipliers, place.dual + 4 * i + 2, penalty)
    slope = (lower_slope - upper_slope) / limit
    bend = (lower_bend + upper_bend) / (limit * limit)
    return scale * (lower + upper), scale * slope, scale * bend


@njit(ENTRY_LIMITS, **COMPILED)
def _limits(place, i, z, n, parameters, residual):
    ratio = z / parameters[place.parameters + i]
    residual[place.residual + 2 * i] = 1.0 + ratio
    residual[place.residual + 2 * i + 1] = 1.0 - ratio
    return abs(ratio) - 1.0


TORQUE_LIMIT = PackagedTerm(
    name="torque_barrier",
    argument=Argument.TORQUE,
    derivatives=_derivatives,
    limits=_limits,
    parameters=(
        Block(
            "torque_limits",
            lambda sizes: sizes.n_u,
            lambda horizon: horizon.config.constraint.torque_share * horizon.torque_limits,
        ),
    ),
    constraints=lambda n_a: ("lower torque limit of {}", "upper torque limit of {}"),
)
