"""The node at which the attitude goes on in its other chart, for Numba code: x⁺ = T(x), its partials and its curvature.

Of x only the three angles of the attitude and their rates change (:mod:`contact_ddp_ros.dynamics.spatial`); angles
are counted next to those of the state reference of the node that follows. See "Charts of the attitude" in
docs/mathematics.md.

Kernels of a floating base whose attitude is in one chart in some contact modes and in the other one in the rest.
"""

from collections.abc import Mapping

import numba as nb

from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.base.compiled.casadi_functions import compile_functions
from contact_ddp_ros.base.compiled.kernel_set import KernelSet
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.dynamics.kernels import build_kernels
from contact_ddp_ros.dynamics.spatial import chart_change
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_motion import mode_block
from contact_ddp_ros.mpc.layout import aux_offsets, sizes_of
from contact_ddp_ros.mpc.term_sums import place_of
from contact_ddp_ros.mpc.terms import TERMS
from contact_ddp_ros.mpc.terms.state_tracking import STATE_TRACKING
from contact_ddp_ros.ocp.numba_views import address, table
from contact_ddp_ros.ocp.protocol import DATA, MATRIX, VECTOR
from contact_ddp_ros.robot.attitude import Chart, in_chart
from contact_ddp_ros.robot.tree import RigidBodyTree

_STATES = TERMS.index(STATE_TRACKING)


@njit(nb.void(DATA, nb.int64, VECTOR, VECTOR), error_model="numpy")
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


@njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, MATRIX), error_model="numpy")
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


@njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, VECTOR, MATRIX), error_model="numpy")
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


_OF_ALL_MODES = ("feet", "feet_second")
"""Kernels of which each mode has those of its chart."""


def chart_kernels(
    tree: RigidBodyTree,
    modes: Mapping[str, tuple[str, ...]],
    charts: Mapping[str, Chart],
    axes: tuple[int, ...],
    levels: tuple[str, ...],
) -> KernelSet:
    """Kernels of every mode (contact points by name) in the mode's chart, and of the changes into that chart.

    Args:
        tree: of the robot, its base in the order of BASE_JOINTS.
        modes: contact points by name of the mode.
        charts: of each mode.
        axes, levels: as in :func:`contact_ddp_ros.dynamics.kernels.build_kernels`.
    """
    built = {}
    for chart in sorted(set(charts.values())):
        own = {mode: contacts for mode, contacts in modes.items() if charts[mode] is chart}
        built[chart] = build_kernels(in_chart(tree, chart), own, axes, levels=levels)
    return joined(built, {mode: (charts[mode], mode) for mode in modes})


def joined(built: Mapping[Chart, KernelSet], modes: Mapping[str, tuple[Chart, str]]) -> KernelSet:
    """The kernels of several charts as one set, with those of the changes between the charts.

    Args:
        built: kernels of a chart's modes.
        modes: by name of a mode in the result, its chart and its name among the kernels of that chart.
    """
    changes = {chart: chart_change(chart) for chart in Chart}
    result = compile_functions([function for of_chart in changes.values() for function in of_chart.values()])
    for chart, kernels in built.items():
        own = {mode: name for mode, (of, name) in modes.items() if of is chart}
        levels = {kernel.partition("/")[0] for kernel in kernels}
        names = {
            f"{level}/{mode}": level if level in _OF_ALL_MODES else f"{level}/{name}"
            for mode, name in own.items()
            for level in levels
        }
        result = result.merged(kernels.aliased(names).labelled(f"_{chart.name.lower()}"))
        changing = {f"{level}/{mode}": function.name() for mode in own for level, function in changes[chart].items()}
        result = result.aliased(changing)
    return result
