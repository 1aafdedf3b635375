"""The outer loop: constraints hold at its end, by the multipliers and limits of the exact optimum."""

import numpy as np
import pytest

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp.continuation import Continuation, solve_constrained
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Termination
from test.ocp.hybrid_lq import hopper, hybrid_lq, kkt_optimum
from test.ocp.pendulum import pendulum
from test.ocp.test_penalties import bounded_optimum, slider


def still(problem, x0):
    return Guess.open_loop(x0, np.zeros((problem.n_nodes, problem.n_u)))


def test_equalities_end_at_the_kkt_point():
    stages, terminal, touchdown, x0 = hopper(constrained=True)
    problem, optimum = hybrid_lq(stages, terminal), kkt_optimum(stages, terminal, x0)
    outcome = solve_constrained(DdpSolver(), problem, x0, still(problem, x0))
    assert outcome.feasible
    assert outcome.solution.equality_violation < 1e-6
    assert outcome.multipliers[touchdown, 0] == pytest.approx(optimum.multipliers[touchdown], rel=1e-2)
    assert outcome.solution.us == pytest.approx(optimum.us, abs=1e-2)


def test_inequalities_end_at_the_bounded_optimum():
    stages, terminal, problem = slider(2.0)
    best = bounded_optimum(stages, terminal, np.zeros(2), 2.0)
    outcome = solve_constrained(DdpSolver(), problem, np.zeros(2), still(problem, np.zeros(2)))
    assert outcome.feasible
    assert np.abs(outcome.solution.us).max() <= 2.0 * (1.0 + 1e-6)
    assert outcome.solution.us[:, 0] == pytest.approx(best, abs=0.2)
    assert outcome.passes[0].solution.inequality_violation > 0.1, "the first pass knows no limits"


def test_penalties_only_tighten():
    stages, terminal, _, x0 = hopper(constrained=True)
    problem = hybrid_lq(stages, terminal, u_max=30.0)
    settings = Continuation(delta=0.2, delta_min=0.01, epsilon=0.1, epsilon_min=0.01)
    passes = solve_constrained(DdpSolver(), problem, x0, still(problem, x0), settings).passes
    sigma, delta, epsilon = np.array([one.penalty for one in passes]).T
    assert epsilon[0] == 0.0
    assert (np.diff(sigma) >= 0.0).all() and (np.diff(delta) <= 0.0).all() and (np.diff(epsilon[1:]) <= 0.0).all()
    assert delta.min() >= 0.01 and epsilon[1:].min() == pytest.approx(0.01)
    assert passes[1].penalty.tolist() == [sigma[1], 0.2, 0.1]


def test_iterations_are_limited_over_all_passes():
    stages, terminal, _, x0 = hopper(constrained=True)
    problem = hybrid_lq(stages, terminal, u_max=30.0)
    for limit in (1, 4, 7):
        outcome = solve_constrained(DdpSolver(), problem, x0, still(problem, x0), max_iterations=limit)
        assert outcome.n_iterations == limit
        assert not outcome.feasible


def test_passes_are_limited():
    stages, terminal, _, x0 = hopper(constrained=True)
    problem = hybrid_lq(stages, terminal, u_max=30.0)
    outcome = solve_constrained(DdpSolver(), problem, x0, still(problem, x0), Continuation(max_passes=2))
    assert len(outcome.passes) == 2


def test_a_problem_without_constraints_is_solved_all_the_same():
    problem, x0 = pendulum(), np.array([0.2, 0.0])
    outcome = solve_constrained(DdpSolver(), problem, x0, still(problem, x0))
    assert outcome.feasible
    alone = DdpSolver().solve(problem, x0, still(problem, x0))
    assert outcome.solution.us == pytest.approx(alone.us, abs=1e-3)


def test_a_guess_that_diverges_ends_the_loop_and_is_not_called_feasible():
    stages, terminal, _, x0 = hopper(constrained=True)
    problem = hybrid_lq(stages, terminal, u_max=30.0)
    solver = DdpSolver(SolverOptions())
    sound = solve_constrained(solver, problem, x0, still(problem, x0))
    assert sound.feasible
    wild = Guess.open_loop(x0, np.full((problem.n_nodes, 1), 1e9))
    outcome = solve_constrained(solver, problem, x0, wild, Continuation(first_pass_without_inequalities=False))
    assert [one.solution.termination for one in outcome.passes] == [Termination.DIVERGED]
    assert not outcome.feasible
    assert outcome.solution.equality_violation == np.inf


@pytest.mark.parametrize("change", [{"max_passes": 0}, {"sigma": 0.0}, {"delta": -1.0}])
def test_settings_with_which_it_could_not_end_are_refused(change):
    with pytest.raises(SolverError):
        Continuation(**change)


def test_a_limit_too_strong_for_the_narrowest_barrier_gets_a_heavier_one():
    _, _, problem = slider(2.0)
    settings = Continuation(delta_factor=0.1, delta_min=1e-3, epsilon_min=1e-7, epsilon_factor=0.1)
    outcome = solve_constrained(DdpSolver(), problem, np.zeros(2), still(problem, np.zeros(2)), settings)
    violations = [one.solution.inequality_violation for one in outcome.passes]
    assert max(violations[-4:-1]) > settings.inequality_tolerance, "without violation there is nothing to repair"
    assert outcome.feasible
    assert outcome.passes[-1].penalty[1] == settings.delta_min
    assert outcome.passes[-1].penalty[2] > settings.epsilon_min


def test_going_on_from_an_outcome_takes_its_multipliers_along():
    stages, terminal, touchdown, x0 = hopper(constrained=True)
    problem, optimum = hybrid_lq(stages, terminal), kkt_optimum(stages, terminal, x0)
    rough = solve_constrained(DdpSolver(), problem, x0, still(problem, x0), Continuation(max_passes=3))
    guess = Guess(rough.solution.xs, rough.solution.us, rough.solution.gains)
    last = Continuation(sigma=rough.passes[-1].penalty[0], max_passes=1)
    fine = solve_constrained(DdpSolver(), problem, x0, guess, last, multipliers=rough.multipliers)
    forgetful = solve_constrained(DdpSolver(), problem, x0, guess, last)
    assert fine.solution.equality_violation <= 1.01 * rough.solution.equality_violation
    assert fine.solution.equality_violation < 0.1 * forgetful.solution.equality_violation
    assert fine.multipliers[touchdown, 0] == pytest.approx(optimum.multipliers[touchdown], rel=1e-2)
