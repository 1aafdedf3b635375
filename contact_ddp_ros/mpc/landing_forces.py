"""Cost of the impulses of feet that land for Numba code: the sum of the terms on them, and the chain rule to (q, v).

An impulse Λ counts as the force nᵀΛ/h along the normal n of its foot's ground, over the duration h of the touchdown's
node; where that is zero impulses cost nothing. Λ(q, v) is a result of the impact, so its cost enters as that of the
contact forces does. Everything is for touchdowns only, and needs ν = (v⁺, Λ) in aux.
"""

import numba as nb
from numba import types

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_geometry import in_space, normal_of
from contact_ddp_ros.mpc.contact_motion import mode_block
from contact_ddp_ros.mpc.layout import aux_offsets, lands_of, sizes_of
from contact_ddp_ros.mpc.term_sums import EntrySums
from contact_ddp_ros.mpc.terms.term import COMPILED, Argument
from contact_ddp_ros.ocp.numba_views import part, table
from contact_ddp_ros.ocp.protocol import DATA, INTEGERS, MATRIX, VECTOR

_sums = EntrySums(Argument.LANDING_FORCE)
_terms, _limits, _costs = _sums.derivatives, _sums.limits, _sums.costs

_NORMAL = types.UniTuple(nb.float64, 3)
_LANDING = types.Tuple((nb.int64, nb.float64, _NORMAL))


@njit(_LANDING(INTEGERS, nb.int64, nb.int64, VECTOR, VECTOR), inline="always", error_model="numpy")
def _landing(integers, block, c, row, aux):
    """Foot of contact c, or −1 where it does not land; its force [N]; and n/h, that force by the impulse."""
    n, _, n_f, n_a = sizes_of(integers)
    foot = integers[block + at.MODE_HEADER + c]
    if not (row[at.DURATION] > 0.0 and row[lands_of(n_f) + foot] > 0.0):
        return -1, 0.0, (0.0, 0.0, 0.0)
    rate = 1.0 / row[at.DURATION]
    x, y, z = normal_of(row, foot, n_a)
    impulse = in_space(n_a, aux, n + c * n_a)
    return foot, rate * (x * impulse[0] + y * impulse[1] + z * impulse[2]), (rate * x, rate * y, rate * z)


@njit(types.UniTuple(nb.float64, 2)(DATA, nb.int64, VECTOR, VECTOR), **COMPILED)
def landing_cost(data, k, aux, residual):
    """Cost and largest violation of the terms; writes their constraints into the node's residual."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    row, duals, n_f = node_parameters[k], multipliers[k], integers[at.N_FEET]
    block = mode_block(integers, node_integers[k + 1, at.NODE_MODE])
    cost, violation = 0.0, 0.0
    for c in range(integers[block + at.CONTACTS]):
        foot, force, _ = _landing(integers, block, c, row, aux)
        if foot >= 0:
            cost, _, _ = _terms(cost, integers, row[at.DURATION], foot, force, n_f, row, parameters, duals, penalty)
            violation = _limits(violation, integers, foot, force, n_f, parameters, residual)
    return cost, violation


@njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, MATRIX), **COMPILED)
def add_landing_cost(data, k, aux, lx, lxx):
    """Add the terms to the cost's gradient and Gauss-Newton Hessian; needs ν_z in aux."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    row, duals = node_parameters[k], multipliers[k]
    block = mode_block(integers, node_integers[k + 1, at.NODE_MODE])
    n_x, n_z, n_c = 2 * n, 2 * n + n_u, integers[block + at.CONTACTS] * n_a
    by_z, gradient = table(aux, own.derivatives + n * n_z, n_c, n_z), part(aux, own.scratch, n_x)
    for c in range(integers[block + at.CONTACTS]):
        foot, force, by_impulse = _landing(integers, block, c, row, aux)
        if foot < 0:
            continue
        _, slope, bend = _terms(0.0, integers, row[at.DURATION], foot, force, n_f, row, parameters, duals, penalty)
        first, last = by_z[c * n_a], by_z[(c + 1) * n_a - 1]
        for i in range(n_x):
            gradient[i] = by_impulse[0] * first[i] + by_impulse[2] * last[i]
            if n_a == 3:
                gradient[i] += by_impulse[1] * by_z[c * n_a + 1, i]
        for i in range(n_x):
            lx[i] += slope * gradient[i]
            for j in range(n_x):
                lxx[i, j] += bend * gradient[i] * gradient[j]


@njit(nb.void(DATA, nb.int64, VECTOR, VECTOR), **COMPILED)
def landing_slopes(data, k, aux, slopes):
    """Write ∂/∂Λ of the cost, contact by contact: part of the γ of the node."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    _, _, n_f, n_a = sizes_of(integers)
    row, duals = node_parameters[k], multipliers[k]
    block = mode_block(integers, node_integers[k + 1, at.NODE_MODE])
    for c in range(integers[block + at.CONTACTS]):
        foot, force, by_impulse = _landing(integers, block, c, row, aux)
        slope = 0.0
        if foot >= 0:
            _, slope, _ = _terms(0.0, integers, row[at.DURATION], foot, force, n_f, row, parameters, duals, penalty)
        slopes[c * n_a] = slope * by_impulse[0]
        if n_a == 3:
            slopes[c * n_a + 1] = slope * by_impulse[1]
        slopes[(c + 1) * n_a - 1] = slope * by_impulse[2]


@njit(nb.void(DATA, nb.int64, VECTOR, VECTOR), error_model="numpy")
def note_landing_costs(data, k, aux, costs):
    """Add the cost of each term to its entry of `costs`."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    row, duals, n_f = node_parameters[k], multipliers[k], integers[at.N_FEET]
    block = mode_block(integers, node_integers[k + 1, at.NODE_MODE])
    for c in range(integers[block + at.CONTACTS]):
        foot, force, _ = _landing(integers, block, c, row, aux)
        if foot >= 0:
            _costs(costs, integers, row[at.DURATION], foot, force, n_f, row, parameters, duals, penalty)
