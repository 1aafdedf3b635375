"""Cost of the feet's heights of one node for Numba code: clearance in the air, augmented Lagrangian at touchdown."""

import numba as nb

from contact_ddp_ros.compiled.call import call_kernel
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.layout import aux_offsets, node_offsets, sizes_of
from contact_ddp_ros.mpc.terms.foot_height import foot_height
from contact_ddp_ros.mpc.terms.touchdown import touchdown
from contact_ddp_ros.solver.borrowed import address, part, table
from contact_ddp_ros.solver.protocol import DATA, INTEGERS, MATRIX, VECTOR


@nb.njit(nb.float64(VECTOR, nb.int64, VECTOR, nb.int64), cache=True, inline="always", error_model="numpy")
def height_of(parameters, n_a, values, begin):
    """Height above the ground's slope through the origin of a point whose coordinates (n_a,) begin there."""
    height = values[begin + n_a - 1]
    for a in range(n_a - 1):
        height -= parameters[at.GROUND_SLOPE + a] * values[begin + a]
    return height


@nb.njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, VECTOR), cache=True, error_model="numpy")
def height_slopes(data, k, aux, slopes, bends):
    """First and second derivative of the node's cost with respect to the height of each foot."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    of = node_offsets(n, n_u, n_f, n_a)
    own = aux_offsets(n, n_u, n_f, n_a)
    row = node_parameters[k]
    for f in range(n_f):
        height = height_of(parameters, n_a, aux, own.positions + f * n_a)
        slopes[f] = 0.0
        bends[f] = 0.0
        if node_integers[k, at.NODE_KIND] == at.STEP:
            _, slopes[f], bends[f] = foot_height(row[at.DURATION], row, of, f, height)
        elif row[of.lands + f] > 0.0:
            _, slopes[f], bends[f] = touchdown(height - parameters[at.GROUND_HEIGHT], multipliers[k, f], penalty)


@nb.njit(nb.void(INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX), cache=True, error_model="numpy")
def add_height_cost(integers, parameters, aux, slopes, bends, lx, lxx):
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
                gradient[i] -= parameters[at.GROUND_SLOPE + a] * aux[own.jacobian + (f * n_a + a) * n + i]
        for i in range(n):
            lx[i] += slopes[f] * gradient[i]
            for j in range(n):
                lxx[i, j] += bends[f] * gradient[i] * gradient[j]


@nb.njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, MATRIX), cache=True, error_model="numpy")
def add_height_curvature(data, k, x, aux, hxx):
    """Add Σ_f slope ∂²height/∂q² of the node's cost."""
    integers, _, parameters, _, _, _ = data
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    slopes = part(aux, own.scratch, n_f)
    bends = part(aux, own.scratch + n_f, n_f)
    height_slopes(data, k, aux, slopes, bends)
    weights = part(aux, own.scratch + 2 * n_f, n_f * n_a)
    wanted = False
    for f in range(n_f):
        for a in range(n_a - 1):
            weights[f * n_a + a] = -parameters[at.GROUND_SLOPE + a] * slopes[f]
        weights[f * n_a + n_a - 1] = slopes[f]
        wanted = wanted or slopes[f] != 0.0
    if not wanted:
        return
    start = own.scratch + 2 * n_f + n_f * n_a
    hessian = table(aux, start, n, n)
    call_kernel(integers[at.FEET_SECOND], (address(x, 0), address(weights, 0)), (address(hessian, 0),), 0, 0)
    for i in range(n):
        for j in range(n):
            hxx[i, j] += hessian[i, j]
