r"""Check the derivatives of a cost term or constraint of one's own within the problem that the planner solves.

The cost of a solution by term, for records: what `contact_nodes.step` adds up, taken apart afterwards.

It is no part of a solve: a term costs about as much as the addition that it repeats.
"""

from typing import Final

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.contact_forces import note_force_costs
from contact_ddp_ros.mpc.contact_motion import mode_block
from contact_ddp_ros.mpc.contact_problem import ContactProblem
from contact_ddp_ros.mpc.custom_term import Constraint, CostTerm, UserTerm
from contact_ddp_ros.mpc.custom_terms import OwnTerms
from contact_ddp_ros.mpc.foot_heights import note_height_costs
from contact_ddp_ros.mpc.landing_forces import note_landing_costs
from contact_ddp_ros.mpc.layout import sizes_of
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.mpc.term_sums import EntrySums
from contact_ddp_ros.mpc.terms import TERMS as PACKAGED
from contact_ddp_ros.mpc.terms.term import Argument
from contact_ddp_ros.mpc.warm_start import heuristic_guess
from contact_ddp_ros.ocp.derivatives import DerivativeReport, check_derivatives
from contact_ddp_ros.ocp.protocol import DATA, MATRIX, VECTOR, Problem, node_data
from contact_ddp_ros.ocp.solution import Solution
from contact_ddp_ros.robot.gaits.grid import KnotGrid, knot_grid
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.model import Model
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel

_BARRIERS = (1.0, 0.1, 0.1)
"""Penalty (σ, δ, ε) of a check that looks at barriers."""

_STATE, _TORQUE = 0.05, 2.0
"""Spread of the points about the heuristic bound [m, rad, m/s, rad/s] and [N m]."""


def check_cost_term(
    term: CostTerm,
    config: PlannerConfig | None = None,
    *,
    model: Model | None = None,
    speed: float = 0.5,
    seed: int = 0,
) -> DerivativeReport:
    """Check the derivatives of the planner's problem with a term, along a bound with noise.

    Args:
        term: to be added.
        config: of the planner, the default one by default; its own `cost_terms` and `constraints` are left out.
        model: that is planned for, the whole body of the default robot by default.
        speed: commanded [m/s].
        seed: of the noise.

    Raises:
        ParameterError: the term, or the configuration, cannot be used.
    """
    return _check(term, config, model, speed, seed, None)


def check_constraint(
    constraint: Constraint,
    config: PlannerConfig | None = None,
    *,
    model: Model | None = None,
    speed: float = 0.5,
    seed: int = 0,
) -> DerivativeReport:
    """Check the derivatives of the planner's problem with a constraint; arguments as :func:`check_cost_term`."""
    return _check(constraint, config, model, speed, seed, _BARRIERS)


def _check(
    term: UserTerm,
    config: PlannerConfig | None,
    model: Model | None,
    speed: float,
    seed: int,
    penalty: tuple[float, ...] | None,
) -> DerivativeReport:
    config = config or PlannerConfig()
    model = model or WholeBodyModel(load_robot())
    tree = model.tree
    problem = ProblemBuilder(model, config, terms=OwnTerms(tree, model.axes, (term,)))
    steps = round(config.gait.horizon_cycles * problem.sequence.period / config.gait.step)
    grid = knot_grid(problem.sequence, 0, steps, config.gait.step)
    made, xs = problem.build(grid, config, TrunkCommand(speed))
    us = heuristic_guess(problem, grid, xs, config.first_guess).us
    noise = np.random.default_rng(seed)
    return check_derivatives(
        made,
        xs + noise.normal(0.0, _STATE, xs.shape),
        us + noise.normal(0.0, _TORQUE, us.shape),
        penalty=penalty,
        seed=seed,
    )


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


@njit(nb.void(DATA, MATRIX, MATRIX, MATRIX, VECTOR), error_model="numpy")
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
