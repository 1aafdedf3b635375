"""Cost of the feet's heights of one node for Numba code: clearance in the air, augmented Lagrangian at touchdown."""

import numba as nb
from numba import types

from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_geometry import height_of, height_slope
from contact_ddp_ros.mpc.contact_motion import mode_block
from contact_ddp_ros.mpc.layout import aux_offsets, lands_of, sizes_of
from contact_ddp_ros.mpc.term_sums import EntrySums
from contact_ddp_ros.mpc.terms.term import COMPILED, Argument
from contact_ddp_ros.ocp.numba_views import address, part, table
from contact_ddp_ros.ocp.protocol import DATA, INTEGERS, MATRIX, VECTOR

_swings, _landings = EntrySums(Argument.FOOT_HEIGHT), EntrySums(Argument.LANDING_HEIGHT)
_swing, _swing_limits, _swing_costs = _swings.derivatives, _swings.limits, _swings.costs
_landing, _landing_limits, _landing_costs = _landings.derivatives, _landings.limits, _landings.costs


_PAIR = types.UniTuple(nb.float64, 2)


@njit(_PAIR(DATA, nb.int64, nb.float64, VECTOR, VECTOR), **COMPILED)
def height_cost(data, k, cost, aux, residual):
    """The cost rate of a time step, or the cost of a touchdown, with that of heights added; the largest violation.

    Writes the constraints of heights into the node's residual; needs the feet's positions in aux.
    """
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    row, duals = node_parameters[k], multipliers[k]
    violation = 0.0
    for f in range(n_f):
        height = height_of(row, f, n_a, aux, own.positions + f * n_a)
        if node_integers[k, at.NODE_KIND] == at.STEP:
            cost, _, _ = _swing(cost, integers, 1.0, f, height, n_f, row, parameters, duals, penalty)
            violation = _swing_limits(violation, integers, f, height, n_f, parameters, residual)
        elif row[lands_of(n_f) + f] > 0.0:
            cost, _, _ = _landing(cost, integers, 1.0, f, height, n_f, row, parameters, duals, penalty)
            violation = _landing_limits(violation, integers, f, height, n_f, parameters, residual)
    return cost, violation


@njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, VECTOR), **COMPILED)
def height_slopes(data, k, aux, slopes, bends):
    """First and second derivative of the node's cost with respect to the height of each foot."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    row, duals = node_parameters[k], multipliers[k]
    for f in range(n_f):
        height = height_of(row, f, n_a, aux, own.positions + f * n_a)
        slopes[f] = 0.0
        bends[f] = 0.0
        if node_integers[k, at.NODE_KIND] == at.STEP:
            _, slopes[f], bends[f] = _swing(
                *(0.0, integers, row[at.DURATION], f, height, n_f, row, parameters, duals, penalty)
            )
        elif row[lands_of(n_f) + f] > 0.0:
            _, slopes[f], bends[f] = _landing(*(0.0, integers, 1.0, f, height, n_f, row, parameters, duals, penalty))


@njit(nb.void(DATA, nb.int64, VECTOR, VECTOR), error_model="numpy")
def note_height_costs(data, k, aux, costs):
    """Add the cost of each term on heights to its entry of `costs`; needs the feet's positions in aux."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    row, duals = node_parameters[k], multipliers[k]
    for f in range(n_f):
        height = height_of(row, f, n_a, aux, own.positions + f * n_a)
        if node_integers[k, at.NODE_KIND] == at.STEP:
            h = row[at.DURATION]
            _swing_costs(costs, integers, h, f, height, n_f, row, parameters, duals, penalty)
        elif row[lands_of(n_f) + f] > 0.0:
            _landing_costs(costs, integers, 1.0, f, height, n_f, row, parameters, duals, penalty)


@njit(nb.void(INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX), **COMPILED)
def add_height_cost(integers, row, aux, slopes, bends, lx, lxx):
    """Add Σ_f of slope ∂height and bend ∂height ∂heightᵀ to the cost's gradient and Gauss-Newton Hessian."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    for f in range(n_f):
        if bends[f] == 0.0 and slopes[f] == 0.0:
            continue
        gradient = part(aux, own.scratch + 2 * n_f, n)
        for i in range(n):
            gradient[i] = aux[own.jacobian + (f * n_a + n_a - 1) * n + i]
            for a in range(n_a - 1):
                gradient[i] += height_slope(row, f, n_a, a) * aux[own.jacobian + (f * n_a + a) * n + i]
        for i in range(n):
            lx[i] += slopes[f] * gradient[i]
            for j in range(n):
                lxx[i, j] += bends[f] * gradient[i] * gradient[j]


@njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, MATRIX), **COMPILED)
def add_height_curvature(data, k, x, aux, hxx):
    """Add Σ_f slope ∂²height/∂q² of the node's cost."""
    integers, node_integers, row = data[0], data[1], data[3][k]
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    slopes = part(aux, own.scratch, n_f)
    bends = part(aux, own.scratch + n_f, n_f)
    height_slopes(data, k, aux, slopes, bends)
    weights = part(aux, own.scratch + 2 * n_f, n_f * n_a)
    wanted = False
    for f in range(n_f):
        for a in range(n_a):
            weights[f * n_a + a] = height_slope(row, f, n_a, a) * slopes[f]
        wanted = wanted or slopes[f] != 0.0
    if not wanted:
        return
    start = own.scratch + 2 * n_f + n_f * n_a
    hessian = table(aux, start, n, n)
    kernel = integers[mode_block(integers, node_integers[k, at.NODE_MODE]) + at.FEET_SECOND]
    given = (address(x, 0), address(weights, 0), address(aux, own.jacobian))
    call_kernel(kernel, given, (address(hessian, 0),), 0, 0)
    for i in range(n):
        for j in range(n):
            hxx[i, j] += hessian[i, j]
