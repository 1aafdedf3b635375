r"""The cost of a solution by term, for records: what `contact_nodes.step` adds up, taken apart afterwards.

With h_k the length of a time step, and 1 at a switch and at the end,

    state            Σ_k h_k ½‖x − x_ref‖²_Q
    torque           Σ_steps h ½‖u‖²_R                        torque_barrier    Σ_steps h ε Σ B_δ(1 ± u/u_max)
    contact_force    Σ_steps h ½‖λ − λ_ref‖²_S                touchdown         Σ_touchdowns y c + ½ σ c²
    foot_height      Σ_steps h ½‖height − height_ref‖²_P
    friction_barrier Σ_steps h ε Σ_contacts ( B_δ(λ_n/F) + Σ_t B_δ((friction λ_n ± λ_t)/F) )

It is no part of a solve: a term costs about as much as the addition that it repeats.
"""

from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.hybrid.grid import KnotGrid
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_problem import ContactProblem
from contact_ddp_ros.mpc.layout import aux_offsets, node_offsets
from contact_ddp_ros.solver.protocol import Problem
from contact_ddp_ros.solver.solution import Solution

Array = NDArray[np.float64]

TERMS: Final = (
    "state",
    "torque",
    "contact_force",
    "foot_height",
    "torque_barrier",
    "friction_barrier",
    "touchdown",
)


def cost_terms(
    builder: ContactProblem, problem: Problem, grid: KnotGrid, solution: Solution, multipliers: Array, penalty: Array
) -> Array:
    """(7,) the terms of a solution's cost, in the order of TERMS; they add up to `solution.cost`.

    Args:
        builder: that built the problem.
        problem: that was solved, along `grid`.
        solution: of it.
        multipliers: (N+1, n_f) with which it was solved.
        penalty: (3,) σ, δ, ε with which it was solved.
    """
    n, n_u, n_f, n_a = builder.sizes
    _, _, positions, _, _, _, _ = aux_offsets(n, n_u, n_f, n_a)
    sigma, delta, epsilon = penalty
    rows = _Rows(problem.node_parameters, builder.sizes)
    steps = ~grid.switches
    lengths = np.append(np.where(steps, grid.durations, 1.0), 1.0)
    h = grid.durations[steps]

    errors = solution.xs - rows.state_reference
    state = 0.5 * lengths @ (rows.state_weight * errors**2).sum(axis=1)

    us = solution.us[steps]
    torque = 0.5 * h @ (rows.torque_weight[:-1][steps] * us**2).sum(axis=1)
    ratio = us / problem.parameters[at.LIMITS : at.LIMITS + n_u]
    torque_barrier = epsilon * h @ (_barrier(1.0 + ratio, delta) + _barrier(1.0 - ratio, delta)).sum(axis=1)

    down = builder.stance_table()[grid.modes[:-1]][steps]
    forces = builder.forces(grid, solution.aux)[steps].reshape(-1, n_f, n_a)
    errors = forces - rows.force_reference[:-1][steps].reshape(forces.shape)
    weights = rows.force_weight[:-1][steps].reshape(forces.shape) * down[:, :, None]
    contact_force = 0.5 * h @ (weights * errors**2).sum(axis=(1, 2))
    friction_barrier = epsilon * h @ _cone_barriers(forces, down, problem.parameters, delta)

    heights = solution.aux[:, positions + n_a - 1 : positions + n_f * n_a : n_a]
    errors = heights[:-1][steps] - rows.height_reference[:-1][steps]
    foot_height = 0.5 * h @ (rows.height_weight[:-1][steps] * errors**2).sum(axis=1)

    c = np.where(rows.lands > 0.0, heights - problem.parameters[0], 0.0)
    touchdown = ((multipliers + 0.5 * sigma * c) * c).sum()
    return np.array([state, torque, contact_force, foot_height, torque_barrier, friction_barrier, touchdown])


def no_cost_terms() -> Array:
    """(7,) where nothing is known about them: NaN."""
    return np.full(len(TERMS), np.nan)


class _Rows:
    """The parts of node_parameters by name, (N+1, …) each."""

    def __init__(self, rows: Array, sizes: tuple[int, int, int, int]) -> None:
        n = sizes[0]
        begins = (at.X_REFERENCE, *(int(offset) for offset in node_offsets(*sizes)))
        parts = [rows[:, begin:end] for begin, end in pairwise(begins)]
        self.state_reference, self.state_weight, self.torque_weight, self.force_reference = parts[:4]
        self.force_weight, self.height_reference, self.height_weight, self.lands = parts[4:]
        assert self.state_reference.shape[1] == 2 * n


def _cone_barriers(forces: Array, down: NDArray[np.bool_], parameters: Array, delta: float) -> Array:
    """(steps,) barriers of the normal force and the friction pyramid, of the feet that are down."""
    scaled = forces / parameters[at.FORCE_SCALE]
    normal, tangential = scaled[..., -1], scaled[..., :-1]
    edge = parameters[at.FRICTION] * normal[..., None]
    values = _barrier(normal, delta)
    values = values + (_barrier(edge + tangential, delta) + _barrier(edge - tangential, delta)).sum(axis=-1)
    return np.asarray(np.where(down, values, 0.0).sum(axis=1))


def _barrier(z: Array, delta: float) -> Array:
    """The relaxed barrier of z ≥ 0; see :mod:`contact_ddp_ros.solver.penalties`."""
    relaxed = 0.5 * (((z - 2.0 * delta) / delta) ** 2 - 1.0) - np.log(delta)
    return np.where(z > delta, -np.log(np.maximum(z, delta)), relaxed)
