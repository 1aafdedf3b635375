r"""The cost of a solution by term, for records: what `contact_nodes.step` adds up, taken apart afterwards.

It is no part of a solve: a term costs about as much as the addition that it repeats.
"""

from typing import Final

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_forces import note_force_costs
from contact_ddp_ros.mpc.contact_motion import mode_block
from contact_ddp_ros.mpc.contact_problem import ContactProblem
from contact_ddp_ros.mpc.foot_heights import note_height_costs
from contact_ddp_ros.mpc.landing_forces import note_landing_costs
from contact_ddp_ros.mpc.layout import sizes_of
from contact_ddp_ros.mpc.term_sums import EntrySums
from contact_ddp_ros.mpc.terms import TERMS as PACKAGED
from contact_ddp_ros.mpc.terms.term import Argument
from contact_ddp_ros.ocp.protocol import DATA, MATRIX, VECTOR, Problem, node_data
from contact_ddp_ros.ocp.solution import Solution
from contact_ddp_ros.robot.gaits.grid import KnotGrid

Array = NDArray[np.float64]

TERMS: Final = tuple(term.name for term in PACKAGED)

_state_costs, _torque_costs = EntrySums(Argument.STATE).costs, EntrySums(Argument.TORQUE).costs


def cost_terms(
    builder: ContactProblem, problem: Problem, grid: KnotGrid, solution: Solution, multipliers: Array, penalty: Array
) -> Array:
    """The terms of a solution's cost, in the order of TERMS, then the user's; they add up to `solution.cost`.

    Args:
        builder: that built the problem.
        problem: that was solved, along `grid`.
        solution: of it.
        multipliers: (N+1, n_f) with which it was solved.
        penalty: (3,) σ, δ, ε with which it was solved.
    """
    packaged = np.zeros(len(TERMS))
    _add_costs(node_data(problem, multipliers, penalty), solution.xs, solution.us, solution.aux, packaged)
    if not builder.terms.terms:
        return packaged
    steps = ~grid.switches
    numbers = problem.node_parameters[:-1, builder.layout.row_size :][steps]
    forces = builder.forces(grid, solution.aux)[steps]
    users = builder.terms.costs(solution.xs[:-1][steps], solution.us[steps], forces, numbers, penalty)
    return np.array([*packaged, *(users @ grid.durations[steps])])


def no_cost_terms() -> Array:
    """(n_terms,) of the packaged ones where nothing is known about them: NaN."""
    return np.full(len(TERMS), np.nan)


@nb.njit(nb.void(DATA, MATRIX, MATRIX, MATRIX, VECTOR), cache=True, error_model="numpy")
def _add_costs(data, xs, us, aux, costs):
    """Add the cost of each packaged term along a solution to its entry."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    gradient = np.zeros(n_f * n_a)
    for k in range(len(xs)):
        row, duals, kind = node_parameters[k], multipliers[k], node_integers[k, at.NODE_KIND]
        h = row[at.DURATION] if kind == at.STEP or kind == at.RIGID_BODY else 1.0
        for i in range(2 * n):
            _state_costs(costs, integers, h, i, xs[k, i], 2 * n, row, parameters, duals, penalty)
        if kind == at.STEP:
            for a in range(n_u):
                _torque_costs(costs, integers, h, a, us[k, a], n_u, row, parameters, duals, penalty)
        if kind == at.STEP or kind == at.RIGID_BODY:
            block = mode_block(integers, node_integers[k, at.NODE_MODE])
            note_force_costs(integers, block, h, row, parameters, penalty, duals, aux[k], gradient, costs)
        if kind == at.TOUCHDOWN:
            note_landing_costs(data, k, aux[k], costs)
        if kind == at.STEP or kind == at.TOUCHDOWN:
            note_height_costs(data, k, aux[k], costs)
