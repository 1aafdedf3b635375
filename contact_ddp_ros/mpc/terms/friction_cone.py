r"""Contact forces within the friction cone about the ground's normal n, as inequalities, by relaxed barriers ε B_δ.

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

from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.terms.solved import SolvedNodes, barrier
from contact_ddp_ros.solver.penalties import MU, inequality
from contact_ddp_ros.solver.protocol import MATRIX, VECTOR

_PAIR = types.UniTuple(nb.float64, 2)
_TRIPLE = types.UniTuple(nb.float64, 3)
_SIDE = types.Tuple((nb.float64, _TRIPLE))


TIP = 0.05
"""η of the second-order cone over F."""


@nb.njit(nb.boolean(VECTOR, nb.int64), cache=True, inline="always")
def is_second_order(parameters, n_a):
    """Whether the second inequality is the whole cone."""
    return n_a == 3 and parameters[at.PYRAMID] == 0.0


@nb.njit(nb.int64(VECTOR, nb.int64), cache=True, inline="always")
def _count(parameters, n_a):
    return 2 if is_second_order(parameters, n_a) else 2 * n_a - 1


@nb.njit(_TRIPLE(VECTOR, nb.int64), cache=True, inline="always", error_model="numpy")
def _normal(parameters, n_a):
    """The ground's normal; in the plane its second entry is 0."""
    along = parameters[at.GROUND_SLOPE]
    aside = parameters[at.GROUND_SLOPE + 1] if n_a == 3 else 0.0
    length = math.sqrt(along * along + aside * aside + 1.0)
    return -along / length, -aside / length, 1.0 / length


@nb.njit(_TRIPLE(nb.int64, VECTOR, nb.int64), cache=True, inline="always", error_model="numpy")
def _force(n_a, nu, begin):
    """λ of the foot whose rows begin at nu[begin]; in the plane its second entry is 0."""
    return nu[begin], nu[begin + 1] if n_a == 3 else 0.0, nu[begin + n_a - 1]


@nb.njit(_SIDE(VECTOR, nb.int64, nb.int64, _TRIPLE, _TRIPLE), cache=True, inline="always", error_model="numpy")
def _side(parameters, n_a, i, n, force):
    """Inequality i and its gradient by λ, before it is scaled."""
    normal = n[0] * force[0] + n[1] * force[1] + n[2] * force[2]
    if i == 0:
        return normal, n
    friction = parameters[at.FRICTION]
    if is_second_order(parameters, n_a):
        x, y, z = force[0] - n[0] * normal, force[1] - n[1] * normal, force[2] - n[2] * normal
        tip = TIP * parameters[at.FORCE_SCALE]
        reach = math.sqrt(x * x + y * y + z * z + tip * tip)
        gradient = (friction * n[0] - x / reach, friction * n[1] - y / reach, friction * n[2] - z / reach)
        return friction * normal - reach, gradient
    edge = friction if n_a == 2 else friction * math.sqrt(0.5)
    sign = 2.0 * ((i - 1) % 2) - 1.0
    length = math.sqrt(n[0] * n[0] + n[2] * n[2])
    x, y, z = n[2] / length, 0.0, -n[0] / length
    if i > 2:
        x, y, z = n[1] * z - n[2] * y, n[2] * x - n[0] * z, n[0] * y - n[1] * x
    gradient = (edge * n[0] + sign * x, edge * n[1] + sign * y, edge * n[2] + sign * z)
    return edge * normal + sign * (x * force[0] + y * force[1] + z * force[2]), gradient


@nb.njit(
    _PAIR(nb.float64, VECTOR, VECTOR, VECTOR, nb.int64, nb.int64, VECTOR, nb.int64, VECTOR, nb.int64),
    cache=True,
    inline="always",
    error_model="numpy",
)
def add_friction(cost, parameters, penalty, multipliers, dual, n_a, nu, begin, gradient, first):
    """Add to the gradient by a foot's force, nu[begin:], at gradient[first:]; its multipliers begin at `dual`.

    Returns the cost with the term's added, and the largest violation in multiples of F, 0 where there is none.
    """
    inverse_scale = 1.0 / parameters[at.FORCE_SCALE]
    n, force = _normal(parameters, n_a), _force(n_a, nu, begin)
    violation = 0.0
    for i in range(_count(parameters, n_a)):
        z, by_force = _side(parameters, n_a, i, n, force)
        z *= inverse_scale
        value, slope, _ = inequality(z, multipliers, dual + 2 * i, penalty)
        cost += value
        violation = max(violation, -z)
        slope *= inverse_scale
        gradient[first] += slope * by_force[0]
        if n_a == 3:
            gradient[first + 1] += slope * by_force[1]
        gradient[first + n_a - 1] += slope * by_force[2]
    return cost, violation


@nb.njit(
    nb.void(VECTOR, nb.int64, VECTOR, nb.int64, VECTOR, nb.int64), cache=True, inline="always", error_model="numpy"
)
def write_friction(parameters, n_a, nu, begin, residual, first):
    """Write the inequalities of a foot's force, nu[begin:], from residual[first] on."""
    inverse_scale = 1.0 / parameters[at.FORCE_SCALE]
    n, force = _normal(parameters, n_a), _force(n_a, nu, begin)
    for i in range(_count(parameters, n_a)):
        z, _ = _side(parameters, n_a, i, n, force)
        residual[first + i] = z * inverse_scale


@nb.njit(
    nb.void(VECTOR, VECTOR, VECTOR, nb.int64, nb.int64, VECTOR, nb.int64, MATRIX, nb.int64),
    cache=True,
    inline="always",
    error_model="numpy",
)
def add_friction_hessian(parameters, penalty, multipliers, dual, n_a, nu, begin, hessian, first):
    """Add the block of a foot's force, nu[begin:], to the rows of `hessian` from `first` on."""
    inverse_scale = 1.0 / parameters[at.FORCE_SCALE]
    n, force = _normal(parameters, n_a), _force(n_a, nu, begin)
    step = 1 if n_a == 3 else 2  # from one axis to the next of (x, y, z)
    for i in range(_count(parameters, n_a)):
        z, by_force = _side(parameters, n_a, i, n, force)
        _, slope, bend = inequality(z * inverse_scale, multipliers, dual + 2 * i, penalty)
        bend *= inverse_scale * inverse_scale
        for a in range(n_a):
            for b in range(n_a):
                hessian[first + a, b] += bend * by_force[step * a] * by_force[step * b]
        if i == 1 and is_second_order(parameters, n_a):
            if penalty[MU] > 0.0:
                slope = -multipliers[dual + 3]
            friction = parameters[at.FRICTION]
            normal = n[0] * force[0] + n[1] * force[1] + n[2] * force[2]
            weight = -slope * inverse_scale / (friction * normal - z)
            for a in range(3):
                t_a = friction * n[a] - by_force[a]
                for b in range(3):
                    projected = (1.0 if a == b else 0.0) - n[a] * n[b]
                    hessian[first + a, b] += weight * (projected - t_a * (friction * n[b] - by_force[b]))


@nb.njit(nb.void(VECTOR, MATRIX, MATRIX), cache=True)
def _write_all(parameters, forces, residuals):
    for k in range(len(forces)):
        write_friction(parameters, forces.shape[1], forces[k], 0, residuals[k], 0)


def recorded(solved: SolvedNodes) -> float:
    """Its cost in a solution."""
    n_a = solved.forces.shape[-1]
    forces = solved.forces.reshape(-1, n_a)
    residuals = np.zeros((len(forces), _count(solved.parameters, n_a)))
    _write_all(solved.parameters, forces, residuals)
    values = barrier(residuals, solved.delta).sum(axis=-1).reshape(solved.forces.shape[:-1])
    return float(solved.epsilon * solved.h @ np.where(solved.down, values, 0.0).sum(axis=1))
