r"""Contact forces within the friction cone about the normal n of a foot's ground, by relaxed barriers ε B_δ.

With λ_n = nᵀλ and λ_t = λ − n λ_n, scaled by F:

* λ_n ≥ 0;
* in space, the second-order cone: friction λ_n − √(‖λ_t‖² + η²) ≥ 0, with η = F/20 so that it is smooth at λ_t = 0;
  what it allows lies within the cone. It is concave, so that its curvature keeps Hessians positive and is part of the
  Gauss-Newton Hessian, too;
* in the plane, where the cone has two sides, and in space on request the inscribed pyramid, its edges on the cone:
  edge λ_n ± t_aᵀλ ≥ 0 for each tangential axis t_a, edge = friction in the plane and friction/√2 in space. t_1 is the
  first world axis laid onto the ground.

See eq. (11) of docs/mathematics.md.
"""

import math

import numba as nb
import numpy as np
from numba import types

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc.config import PYRAMID
from contact_ddp_ros.mpc.contact_geometry import VECTOR_3, in_space, normal_of, tangent_of
from contact_ddp_ros.mpc.horizon import GaitHorizon
from contact_ddp_ros.mpc.terms.term import (
    COMPILED,
    FORCE,
    FORCE_HESSIAN,
    FORCE_LIMITS,
    Argument,
    Array,
    Block,
    PackagedTerm,
)
from contact_ddp_ros.ocp.multipliers import MU, inequality
from contact_ddp_ros.ocp.protocol import VECTOR

_SIDE = types.Tuple((nb.float64, VECTOR_3))

COEFFICIENT, SCALE, IS_PYRAMID = range(3)
"""Entries of its parameters: friction coefficient, F [N], 1 for the pyramid and 0 for the cone."""

TIP = 0.05
"""η of the second-order cone over F."""


@njit(nb.boolean(VECTOR, nb.int64, nb.int64), inline="always")
def _is_second_order(parameters, own, n_a):
    """True if the second inequality is the whole cone; own parameters begin at `own`."""
    return n_a == 3 and parameters[own + IS_PYRAMID] == 0.0


@njit(nb.int64(VECTOR, nb.int64, nb.int64), inline="always")
def _count(parameters, own, n_a):
    return 2 if _is_second_order(parameters, own, n_a) else 2 * n_a - 1


@njit(_SIDE(VECTOR, nb.int64, nb.int64, nb.int64, VECTOR_3, VECTOR_3), inline="always", error_model="numpy")
def _side(parameters, own, n_a, i, n, force):
    """Inequality i and its gradient by λ, before it is scaled."""
    normal = n[0] * force[0] + n[1] * force[1] + n[2] * force[2]
    if i == 0:
        return normal, n
    friction = parameters[own + COEFFICIENT]
    if _is_second_order(parameters, own, n_a):
        x, y, z = force[0] - n[0] * normal, force[1] - n[1] * normal, force[2] - n[2] * normal
        tip = TIP * parameters[own + SCALE]
        reach = math.sqrt(x * x + y * y + z * z + tip * tip)
        gradient = (friction * n[0] - x / reach, friction * n[1] - y / reach, friction * n[2] - z / reach)
        return friction * normal - reach, gradient
    edge = friction if n_a == 2 else friction * math.sqrt(0.5)
    sign = 2.0 * ((i - 1) % 2) - 1.0
    x, y, z = tangent_of(n, i > 2)
    gradient = (edge * n[0] + sign * x, edge * n[1] + sign * y, edge * n[2] + sign * z)
    return edge * normal + sign * (x * force[0] + y * force[1] + z * force[2]), gradient


@njit(FORCE, **COMPILED)
def _derivatives(place, cost, foot, n_f, n_a, row, parameters, multipliers, penalty, nu, begin, gradient, first):
    own, dual = place.parameters, place.dual + 2 * foot * (2 * n_a - 1)
    inverse_scale = 1.0 / parameters[own + SCALE]
    n, force = normal_of(row, foot, n_a), in_space(n_a, nu, begin)
    for i in range(_count(parameters, own, n_a)):
        z, by_force = _side(parameters, own, n_a, i, n, force)
        value, slope, _ = inequality(z * inverse_scale, multipliers, dual + 2 * i, penalty)
        cost += value
        slope *= inverse_scale
        gradient[first] += slope * by_force[0]
        if n_a == 3:
            gradient[first + 1] += slope * by_force[1]
        gradient[first + n_a - 1] += slope * by_force[2]
    return cost


@njit(FORCE_LIMITS, **COMPILED)
def _limits(place, foot, n_f, n_a, row, parameters, nu, begin, residual):
    own, first = place.parameters, place.residual + foot * (2 * n_a - 1)
    inverse_scale = 1.0 / parameters[own + SCALE]
    n, force = normal_of(row, foot, n_a), in_space(n_a, nu, begin)
    violation = 0.0
    for i in range(_count(parameters, own, n_a)):
        z, _ = _side(parameters, own, n_a, i, n, force)
        residual[first + i] = z * inverse_scale
        violation = max(violation, -residual[first + i])
    return violation


@njit(FORCE_HESSIAN, **COMPILED)
def _hessian(place, foot, n_f, n_a, row, parameters, multipliers, penalty, nu, begin, hessian, first):
    own, dual = place.parameters, place.dual + 2 * foot * (2 * n_a - 1)
    inverse_scale = 1.0 / parameters[own + SCALE]
    n, force = normal_of(row, foot, n_a), in_space(n_a, nu, begin)
    step = 1 if n_a == 3 else 2  # from one axis to the next of (x, y, z)
    for i in range(_count(parameters, own, n_a)):
        z, by_force = _side(parameters, own, n_a, i, n, force)
        _, slope, bend = inequality(z * inverse_scale, multipliers, dual + 2 * i, penalty)
        bend *= inverse_scale * inverse_scale
        for a in range(n_a):
            for b in range(n_a):
                hessian[first + a, b] += bend * by_force[step * a] * by_force[step * b]
        if i == 1 and _is_second_order(parameters, own, n_a):
            if penalty[MU] > 0.0:
                slope = -multipliers[dual + 3]
            friction = parameters[own + COEFFICIENT]
            normal = n[0] * force[0] + n[1] * force[1] + n[2] * force[2]
            weight = -slope * inverse_scale / (friction * normal - z)
            for a in range(3):
                t_a = friction * n[a] - by_force[a]
                for b in range(3):
                    projected = (1.0 if a == b else 0.0) - n[a] * n[b]
                    hessian[first + a, b] += weight * (projected - t_a * (friction * n[b] - by_force[b]))


def _parameters(horizon: GaitHorizon) -> Array:
    pyramid = float(horizon.config.constraint.friction_cone == PYRAMID)
    return np.array([horizon.config.ground.friction, horizon.mean_force, pyramid])


FRICTION_CONE = PackagedTerm(
    name="friction_barrier",
    argument=Argument.FORCE,
    derivatives=_derivatives,
    hessian=_hessian,
    limits=_limits,
    parameters=(Block("friction", lambda sizes: 3, _parameters),),
    constraints=lambda n_a: ("normal force of {}",) + ("friction of {}",) * (2 * (n_a - 1)),
)
