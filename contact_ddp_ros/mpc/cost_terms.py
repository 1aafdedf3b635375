"""Check the derivatives of a cost term or constraint of one's own within the problem that the planner solves."""

import numpy as np

from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.custom_term import Constraint, CostTerm, UserTerm
from contact_ddp_ros.mpc.custom_terms import OwnTerms
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.mpc.warm_start import heuristic_guess
from contact_ddp_ros.ocp.derivatives import DerivativeReport, check_derivatives
from contact_ddp_ros.robot.gaits.grid import knot_grid
from contact_ddp_ros.robot.model import load_robot
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
