"""Offline optimisation: every constraint of a bound holds in the end."""

import numpy as np
import pytest

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.mpc.offline import OfflineOptimiser
from contact_ddp_ros.ocp.solution import Guess, Termination
from test.mpc.support import MODEL, ROBOT, TREE, N, config_with, posture


@pytest.fixture(scope="module")
def result():
    optimiser = OfflineOptimiser(MODEL, config_with(), ROBOT.model_hash)
    return optimiser, optimiser.solve(posture(optimiser.builder, optimiser.config), 0.5)


def test_every_constraint_holds(result):
    optimiser, found = result
    assert found.outcome.feasible
    assert found.outcome.solution.equality_violation < 1e-6
    friction = optimiser.config.ground.friction
    forces = found.policy.forces.reshape(-1, len(TREE.contacts), 2)
    assert (forces[..., 1] >= -1e-3).all()
    assert (np.abs(forces[..., 0]) <= friction * forces[..., 1] + 1e-3).all()
    limits = optimiser.config.constraint.torque_share * optimiser.builder.effort_limits
    assert (np.abs(found.policy.controls) <= limits * (1.0 + 1e-6)).all()


def test_the_policy_is_the_solution_on_its_grid(result):
    optimiser, found = result
    assert (found.policy.times == found.grid.times).all()
    assert (found.policy.states == found.outcome.solution.xs).all()
    assert found.policy.model_hash == ROBOT.model_hash
    assert found.policy.states[0] == pytest.approx(posture(optimiser.builder, optimiser.config))
    assert found.policy.states[45:, N].mean() == pytest.approx(0.5, abs=0.15)


def test_from_its_own_solution_it_ends_there_again(result):
    optimiser, found = result
    solution = found.outcome.solution
    guess = Guess(solution.xs, solution.us, solution.gains)
    again = optimiser.solve(posture(optimiser.builder, optimiser.config), 0.5, guess=guess)
    assert again.outcome.feasible
    assert again.outcome.solution.cost == pytest.approx(solution.cost, rel=1e-2)


def test_an_optimisation_that_diverges_is_an_error_and_gives_no_policy():
    optimiser = OfflineOptimiser(MODEL, config_with(gait__integrator="implicit_midpoint"))
    start = posture(optimiser.builder, optimiser.config)
    problem, _ = optimiser.problem(0.5)
    guess = Guess.open_loop(start, np.full((problem.n_nodes, problem.n_u), 1e9))
    assert optimiser.outcome(start, 0.5, guess=guess).solution.termination is Termination.DIVERGED
    with pytest.raises(SolverError, match="diverged"):
        optimiser.solve(start, 0.5, guess=guess)


def test_states_that_do_not_join_lead_to_the_same_optimum(result):
    optimiser, found = result
    start = posture(optimiser.builder, optimiser.config)
    problem, reference = optimiser.problem(0.5)
    share = np.linspace(0.0, 1.0, problem.n_nodes + 1)[:, None]
    controls = np.zeros((problem.n_nodes, problem.n_u))
    gains = np.zeros((problem.n_nodes, problem.n_u, problem.n_x))
    line = Guess((1.0 - share) * start + share * reference[-1], controls, gains)
    multiple = OfflineOptimiser(MODEL, optimiser.config, ROBOT.model_hash, shooting="multiple")
    outcome = multiple.solve(start, 0.5, guess=line).outcome
    assert outcome.feasible
    assert outcome.solution.gap == 0.0
    assert outcome.solution.cost == pytest.approx(found.outcome.solution.cost, rel=1e-3)
