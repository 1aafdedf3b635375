"""Cost of the feet's heights of one node for Numba code: clearance in the air, augmented Lagrangian at touchdown."""

import numba as nb

from contact_ddp_ros.dynamics.native import call_kernel
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.layout import aux_offsets, node_offsets
from contact_ddp_ros.solver.borrowed import address, part, table
from contact_ddp_ros.solver.penalties import augmented_lagrangian
from contact_ddp_ros.solver.protocol import DATA, INTEGERS, MATRIX, VECTOR


@nb.njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, VECTOR), cache=True, error_model="numpy")
def height_slopes(data, k, aux, slopes, bends):
    """First and second derivative of the node's cost with respect to the height of each foot."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = integers[at.N], integers[at.N_U], integers[at.N_FEET], integers[at.N_AXES]
    _, _, _, _, reference, weight, lands, _ = node_offsets(n, n_u, n_f, n_a)
    _, _, positions, _, _, _, _ = aux_offsets(n, n_u, n_f, n_a)
    row = node_parameters[k]
    for f in range(n_f):
        height = aux[positions + f * n_a + n_a - 1]
        slopes[f] = 0.0
        bends[f] = 0.0
        if node_integers[k, at.NODE_KIND] == at.STEP:
            bends[f] = row[at.DURATION] * row[weight + f]
            slopes[f] = bends[f] * (height - row[reference + f])
        elif row[lands + f] > 0.0:
            _, slopes[f], bends[f] = augmented_lagrangian(height - parameters[0], multipliers[k, f], penalty[at.SIGMA])


@nb.njit(nb.void(INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX), cache=True, error_model="numpy")
def add_height_cost(integers, aux, slopes, bends, lx, lxx):
    """Add Σ_f of slope ∂height and bend ∂height ∂heightᵀ to the cost's gradient and Gauss-Newton Hessian."""
    n, n_f, n_a = integers[at.N], integers[at.N_FEET], integers[at.N_AXES]
    _, _, _, jacobian, _, _, _ = aux_offsets(n, integers[at.N_U], n_f, n_a)
    for f in range(n_f):
        if bends[f] == 0.0 and slopes[f] == 0.0:
            continue
        start = jacobian + (f * n_a + n_a - 1) * n
        for i in range(n):
            lx[i] += slopes[f] * aux[start + i]
            for j in range(n):
                lxx[i, j] += bends[f] * aux[start + i] * aux[start + j]


@nb.njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, MATRIX), cache=True, error_model="numpy")
def add_height_curvature(data, k, x, aux, hxx):
    """Add Σ_f slope ∂²height/∂q² of the node's cost."""
    integers, _, parameters, _, _, _ = data
    n, n_u, n_f, n_a = integers[at.N], integers[at.N_U], integers[at.N_FEET], integers[at.N_AXES]
    _, _, _, _, _, scratch, _ = aux_offsets(n, n_u, n_f, n_a)
    slopes = part(aux, scratch, n_f)
    bends = part(aux, scratch + n_f, n_f)
    height_slopes(data, k, aux, slopes, bends)
    weights = part(aux, scratch + 2 * n_f, n_f * n_a)
    wanted = False
    for f in range(n_f):
        for a in range(n_a):
            weights[f * n_a + a] = 0.0
        weights[f * n_a + n_a - 1] = slopes[f]
        wanted = wanted or slopes[f] != 0.0
    if not wanted:
        return
    start = scratch + 2 * n_f + n_f * n_a
    hessian = table(aux, start, n, n)
    call_kernel(integers[at.FEET_SECOND], (address(x, 0), address(weights, 0)), (address(hessian, 0),), 0, 0)
    for i in range(n):
        for j in range(n):
            hxx[i, j] += hessian[i, j]
