"""Motion of one node for Numba code: the linear system in ν, its solution and its first-order partials.

Dynamics K(q) ν + b(q, v) = [Sᵀu; 0] with ν = (v̇, λ), and impact with ν = (v⁺, Λ), have one shape; a mode's block in
`integers` names their kernels. Everything is kept in the node's aux (:func:`contact_ddp_ros.mpc.layout.aux_offsets`).
"""

import numba as nb

from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.layout import aux_offsets, sizes_of
from contact_ddp_ros.mpc.linear_system import factorise, solve_matrix, solve_symmetric_vector
from contact_ddp_ros.mpc.terms.term import COMPILED
from contact_ddp_ros.ocp.numba_views import address, part, table
from contact_ddp_ros.ocp.protocol import INTEGERS, VECTOR


@njit(nb.int64(INTEGERS, nb.int64), inline="always", error_model="numpy")
def mode_block(integers, mode):
    """Offset of a mode's block in integers."""
    return at.HEADER + integers[at.N_U] + mode * (at.MODE_HEADER + integers[at.N_FEET])


@njit(nb.void(INTEGERS, nb.int64, VECTOR, VECTOR, VECTOR), **COMPILED)
def locate_feet(integers, block, q, row, aux):
    """Positions of all feet and their Jacobian (row-major, (n_f n_a, n)) into aux, by the kernels of a mode's block."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    rows = n_f * n_a
    columns = part(aux, own.scratch, rows * n)
    call_kernel(
        integers[block + at.FEET],
        (address(q, 0), address(row, at.MODEL)),
        (address(aux, own.positions), address(columns, 0)),
        0,
        0,
    )
    for i in range(rows):
        for j in range(n):
            aux[own.jacobian + i * n + j] = columns[j * rows + i]


@njit(nb.void(INTEGERS, nb.int64, nb.boolean, VECTOR, VECTOR, VECTOR, VECTOR), **COMPILED)
def solve_motion(integers, block, impact, x, u, row, aux):
    """Factorise K into aux and solve for ν, of the dynamics or of the impact."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    n_s = n + integers[block + at.CONTACTS] * n_a
    nu = part(aux, 0, n_s)
    lu = table(aux, own.factor, n_s, n_s)
    bias = part(aux, own.scratch, n_s)
    call_kernel(
        integers[block + at.IMPACT_SYSTEM] if impact else integers[block + at.SYSTEM],
        (address(x, 0), address(x, n), address(row, at.MODEL)),
        (address(lu, 0), address(bias, 0)),
        0,
        0,
    )
    for i in range(n_s):
        nu[i] = -bias[i]
    if not impact:
        for a in range(n_u):
            nu[integers[at.HEADER + a]] += u[a]
    if integers[block + at.FACTORISE] != 0:
        call_kernel(integers[block + at.FACTORISE], (), (address(lu, 0), address(nu, 0)), 0, 0)
        return
    factorise(lu, n)
    solve_symmetric_vector(lu, nu, n)


@njit(nb.void(INTEGERS, nb.int64, VECTOR, VECTOR), inline="always", error_model="numpy")
def solve_again(integers, block, aux, b):
    """Overwrite b (n_s,) by the solution of the system that `solve_motion` has factorised."""
    n, n_u, n_f, n_a = sizes_of(integers)
    n_s = n + integers[block + at.CONTACTS] * n_a
    lu = table(aux, aux_offsets(n, n_u, n_f, n_a).factor, n_s, n_s)
    if integers[block + at.SOLVE] != 0:
        call_kernel(integers[block + at.SOLVE], (address(lu, 0),), (address(b, 0),), 0, 0)
    else:
        solve_symmetric_vector(lu, b, n)


@njit(
    nb.void(INTEGERS, nb.int64, nb.boolean, VECTOR, VECTOR, VECTOR, VECTOR),
    inline="always",
    error_model="numpy",
)
def _residual_columns(integers, block, impact, x, row, aux, columns):
    """r_q and r_v into `columns`, one column after the other; what the second order shares with them into aux."""
    n, n_u, n_f, n_a = sizes_of(integers)
    n_s = n + integers[block + at.CONTACTS] * n_a
    call_kernel(
        integers[block + at.IMPACT_FIRST] if impact else integers[block + at.FIRST],
        (address(x, 0), address(x, n), address(aux, 0), address(row, at.MODEL)),
        (address(columns, 0), address(columns, n * n_s), address(aux, aux_offsets(n, n_u, n_f, n_a).shared)),
        0,
        0,
    )


@njit(nb.void(INTEGERS, nb.int64, nb.boolean, VECTOR, VECTOR, VECTOR), inline="always", error_model="numpy")
def residual_partials(integers, block, impact, x, row, aux):
    """[−r_q  −r_v  Sᵀ], the right side of `motion_partials`, where that leaves its result."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    n_s = n + integers[block + at.CONTACTS] * n_a
    right = table(aux, own.derivatives, n_s, 2 * n + n_u)
    columns = part(aux, own.scratch, 2 * n * n_s)
    _residual_columns(integers, block, impact, x, row, aux, columns)
    for i in range(n_s):
        for j in range(2 * n):
            right[i, j] = -columns[j * n_s + i]
        for a in range(n_u):
            right[i, 2 * n + a] = 0.0
    if not impact:
        for a in range(n_u):
            right[integers[at.HEADER + a], 2 * n + a] = 1.0


@njit(nb.void(INTEGERS, nb.int64, nb.boolean, VECTOR, VECTOR, VECTOR), **COMPILED)
def motion_partials(integers, block, impact, x, row, aux):
    """ν_z for z = (q, v, u) into aux, (n_s, 2n + n_u) row-major; the impact has no u (zero columns)."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    n_s = n + integers[block + at.CONTACTS] * n_a
    if integers[block + at.CONTACT_PARTIALS] != 0:
        columns = part(aux, own.scratch, 2 * n * n_s)
        _residual_columns(integers, block, impact, x, row, aux, columns)
        call_kernel(
            integers[block + at.IMPACT_PARTIALS] if impact else integers[block + at.CONTACT_PARTIALS],
            (address(aux, own.factor), address(columns, 0), address(integers, at.HEADER)),
            (address(aux, own.derivatives),),
            0,
            0,
        )
        return
    residual_partials(integers, block, impact, x, row, aux)
    solve_matrix(table(aux, own.factor, n_s, n_s), table(aux, own.derivatives, n_s, 2 * n + n_u), n)
