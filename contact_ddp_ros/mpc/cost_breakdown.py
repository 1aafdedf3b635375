r"""The cost of a solution by term, for records: what `contact_nodes.step` adds up, taken apart afterwards.

It is no part of a solve: a term costs about as much as the addition that it repeats.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.gaits.grid import KnotGrid
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_problem import ContactProblem, NodeCosts
from contact_ddp_ros.mpc.layout import aux_offsets, node_offsets
from contact_ddp_ros.mpc.terms import (
    foot_height,
    force_tracking,
    friction_cone,
    state_tracking,
    torque_limit,
    torque_tracking,
    touchdown,
)
from contact_ddp_ros.mpc.terms.solved import SolvedNodes
from contact_ddp_ros.solver.protocol import Problem
from contact_ddp_ros.solver.solution import Solution

Array = NDArray[np.float64]

_RECORDED: Final = {
    "state": state_tracking.recorded,
    "torque": torque_tracking.recorded,
    "contact_force": force_tracking.recorded,
    "foot_height": foot_height.recorded,
    "torque_barrier": torque_limit.recorded,
    "friction_barrier": friction_cone.recorded,
    "touchdown": touchdown.recorded,
}

TERMS: Final = tuple(_RECORDED)


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
    _, n_u, n_f, n_a = builder.sizes
    own = aux_offsets(*builder.sizes)
    *parts, lands = builder.parts(problem.node_parameters)
    rows = NodeCosts(*parts)
    steps = ~grid.switches
    h = grid.durations[steps]

    us = solution.us[steps]
    forces = builder.forces(grid, solution.aux)[steps].reshape(-1, n_f, n_a)
    positions = solution.aux[:, own.positions : own.positions + n_f * n_a].reshape(-1, n_f, n_a)
    slope = problem.parameters[at.GROUND_SLOPE : at.GROUND_SLOPE + n_a - 1]
    heights = positions[:, :, -1] - positions[:, :, :-1] @ slope
    solved = SolvedNodes(
        errors=solution.xs - rows.states,
        state_weights=rows.state_weights,
        lengths=np.append(np.where(steps, grid.durations, 1.0), 1.0),
        h=h,
        us=us,
        torque_weights=rows.torque_weights[:-1][steps],
        torque_limits=problem.parameters[at.LIMITS : at.LIMITS + n_u],
        forces=forces,
        force_errors=forces - rows.forces[:-1][steps].reshape(forces.shape),
        force_weights=rows.force_weights[:-1][steps].reshape(forces.shape),
        down=builder.stance_table()[grid.modes[:-1]][steps],
        height_errors=heights[:-1][steps] - rows.heights[:-1][steps],
        height_weights=rows.height_weights[:-1][steps],
        touchdown_errors=np.where(lands > 0.0, heights - problem.parameters[at.GROUND_HEIGHT], 0.0),
        multipliers=multipliers,
        parameters=problem.parameters,
        sigma=penalty[0],
        delta=penalty[1],
        epsilon=penalty[2],
    )
    packaged = [recorded(solved) for recorded in _RECORDED.values()]
    if not builder.terms.terms:
        return np.array(packaged)
    numbers = problem.node_parameters[:-1, node_offsets(*builder.sizes).size :][steps]
    users = builder.terms.costs(solution.xs[:-1][steps], us, forces.reshape(len(us), -1), numbers, penalty)
    return np.array([*packaged, *(users @ h)])


def no_cost_terms() -> Array:
    """(7,) where nothing is known about them: NaN."""
    return np.full(len(TERMS), np.nan)
