"""The node at which the attitude goes on in its other chart, for Numba code: x⁺ = T(x), its partials and its curvature.

Of x only the three angles of the attitude and their rates change (:mod:`contact_ddp_ros.dynamics.euler_switch`); angles
are counted next to those of the state reference of the node that follows. See "Charts of the attitude" in
docs/mathematics.md.
"""

import numba as nb

from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_motion import mode_block
from contact_ddp_ros.mpc.layout import aux_offsets, sizes_of
from contact_ddp_ros.mpc.term_sums import place_of
from contact_ddp_ros.mpc.terms import TERMS
from contact_ddp_ros.mpc.terms.state_tracking import STATE_TRACKING
from contact_ddp_ros.ocp.numba_views import address, table
from contact_ddp_ros.ocp.protocol import DATA, MATRIX, VECTOR

_STATES = TERMS.index(STATE_TRACKING)


@nb.njit(nb.void(DATA, nb.int64, VECTOR, VECTOR), cache=True, error_model="numpy")
def change_chart(data, k, x, x_next):
    """Write the same state in the chart of the next node's mode."""
    integers, node_integers, _, node_parameters, _, _ = data
    n = integers[at.N]
    block = mode_block(integers, node_integers[k + 1, at.NODE_MODE])
    reference = place_of(integers, _STATES).row
    for i in range(2 * n):
        x_next[i] = x[i]
    call_kernel(
        integers[block + at.CHANGE],
        (
            address(x, at.ATTITUDE),
            address(x, n + at.ATTITUDE),
            address(node_parameters[k + 1], reference + at.ATTITUDE),
        ),
        (address(x_next, at.ATTITUDE), address(x_next, n + at.ATTITUDE)),
        0,
        0,
    )


@nb.njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, MATRIX), cache=True, error_model="numpy")
def change_partials(data, k, x, aux, fx):
    """Write ∂T/∂x into the cleared fx: the identity but for [[J, 0], [C, J]] at angles and rates."""
    integers, node_integers, _, _, _, _ = data
    n, n_u, n_f, n_a = sizes_of(integers)
    block = mode_block(integers, node_integers[k + 1, at.NODE_MODE])
    begin = aux_offsets(n, n_u, n_f, n_a).scratch
    call_kernel(
        integers[block + at.CHANGE_FIRST],
        (address(x, at.ATTITUDE), address(x, n + at.ATTITUDE)),
        (address(aux, begin), address(aux, begin + 9)),
        0,
        0,
    )
    slope, bend = table(aux, begin, 3, 3), table(aux, begin + 9, 3, 3)
    for i in range(2 * n):
        fx[i, i] = 1.0
    for i in range(3):
        for j in range(3):
            fx[at.ATTITUDE + i, at.ATTITUDE + j] = slope[j, i]
            fx[n + at.ATTITUDE + i, n + at.ATTITUDE + j] = slope[j, i]
            fx[n + at.ATTITUDE + i, at.ATTITUDE + j] = bend[j, i]


@nb.njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, VECTOR, MATRIX), cache=True, error_model="numpy")
def change_curvature(data, k, x, vx, aux, hxx):
    """Write V'x · ∂²T/∂x² into the cleared hxx."""
    integers, node_integers, _, _, _, _ = data
    n, n_u, n_f, n_a = sizes_of(integers)
    block = mode_block(integers, node_integers[k + 1, at.NODE_MODE])
    begin = aux_offsets(n, n_u, n_f, n_a).scratch
    for i in range(3):
        aux[begin + i] = vx[at.ATTITUDE + i]
        aux[begin + 3 + i] = vx[n + at.ATTITUDE + i]
    call_kernel(
        integers[block + at.CHANGE_SECOND],
        (address(x, at.ATTITUDE), address(x, n + at.ATTITUDE), address(aux, begin)),
        (address(aux, begin + 6),),
        0,
        0,
    )
    curvature = table(aux, begin + 6, 6, 6)
    for i in range(6):
        row = at.ATTITUDE + i if i < 3 else n + at.ATTITUDE + i - 3
        for j in range(6):
            column = at.ATTITUDE + j if j < 3 else n + at.ATTITUDE + j - 3
            hxx[row, column] = curvature[i, j]
