"""Every way a solve can end, and every input that it must refuse."""

from dataclasses import replace

import numpy as np
import pytest

from contact_ddp_ros.base.errors import ParameterError, SolverError
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Termination
from test.ocp.hybrid_lq import Stage, hybrid_lq
from test.ocp.pendulum import pendulum
from test.ocp.stubborn import CLIFF_ANGLE, CLIFF_NODE, ascending, cliff

X0 = np.array([0.2, 0.1])


def zero_guess(problem, x0=X0):
    return Guess.open_loop(x0, np.zeros((problem.n_nodes, problem.n_u)))


def test_converged():
    problem = pendulum()
    solution = DdpSolver().solve(problem, X0, zero_guess(problem))
    assert solution.termination is Termination.CONVERGED
    last = solution.iterations[-1]
    assert last.expected <= SolverOptions().tolerance * (1.0 + abs(solution.cost))


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_iteration_limit(limit):
    problem = pendulum()
    solution = DdpSolver().solve(problem, X0, zero_guess(problem), max_iterations=limit)
    assert solution.termination is Termination.ITERATIONS
    assert len(solution.iterations) == limit
    if limit == 0:
        assert solution.cost == solution.initial_cost
        assert (solution.us == 0.0).all()
        assert (solution.Vxx == 0.0).all()


def test_the_option_limits_iterations_where_the_call_does_not():
    problem = pendulum()
    solution = DdpSolver(SolverOptions(max_iterations=2)).solve(problem, X0, zero_guess(problem))
    assert len(solution.iterations) == 2


@pytest.mark.parametrize("variant", ["ddp", "ilqr"])
def test_stalled_where_no_step_reduces_the_cost(variant):
    """The derivatives point uphill, so every line search fails until the regularisation is at its limit."""
    problem = ascending(pendulum())
    guess = Guess.open_loop(X0, np.ones((problem.n_nodes, 1)))
    solution = DdpSolver(SolverOptions(variant=variant, max_iterations=200)).solve(problem, X0, guess)
    assert solution.termination is Termination.STALLED
    assert "no line-search step down to step_min = 0.0001 reduces the cost" in solution.message
    assert "rho_max = 1e+08" in solution.message
    assert solution.cost == solution.initial_cost
    assert (solution.us == guess.us).all()
    assert all(one.step == 0.0 and one.actual == 0.0 for one in solution.iterations)


def concave(weight):
    """A control whose cost is −½ weight u²: no finite Levenberg term below the weight helps."""
    stage = Stage(np.eye(1), np.zeros((1, 1)), np.zeros(1), np.eye(1), np.zeros(1), np.array([[-weight]]))
    return hybrid_lq([stage] * 3, stage)


def test_stalled_where_no_regularisation_helps():
    problem, x0 = concave(1e12), np.ones(1)
    guess = Guess(np.ones((4, 1)), np.ones((3, 1)), np.full((3, 1, 1), 0.25))
    solver = DdpSolver()
    stalled = solver.solve(problem, x0, guess)
    assert stalled.termination is Termination.STALLED
    assert "positive definite at node 2" in stalled.message, "the sweep begins at the last node"
    assert f"rho_max = {solver.options.rho_max:.3g}" in stalled.message
    assert stalled.iterations == ()
    assert (stalled.gains == guess.gains).all()


def test_the_iteration_limit_is_named():
    problem = pendulum()
    solution = DdpSolver().solve(problem, X0, zero_guess(problem), max_iterations=2)
    assert (solution.termination, solution.message) == (Termination.ITERATIONS, "iteration limit reached: 2")


def test_convergence_says_so():
    problem = pendulum()
    solution = DdpSolver().solve(problem, X0, zero_guess(problem))
    assert (solution.termination, solution.message) == (Termination.CONVERGED, Termination.CONVERGED.value)


@pytest.mark.parametrize("shooting", ["single", "multiple"])
@pytest.mark.parametrize("node", [0, 17, 59])
def test_divergence_names_the_first_node_out_of_bounds(shooting, node):
    problem = pendulum()
    us = np.zeros((problem.n_nodes, 1))
    us[node] = 1e12
    solver = DdpSolver(SolverOptions(shooting=shooting))
    solver.solve(problem, X0, zero_guess(problem))  # leaves finite numbers in the work arrays
    solution = solver.solve(problem, X0, Guess.open_loop(X0, us))
    assert solution.termination is Termination.DIVERGED
    assert solution.message == f"diverged: the first trajectory leaves |x| < 1e+06 at node {node + 1}"


def test_a_stalled_solve_keeps_the_gains_of_its_last_complete_sweep():
    """What a failed sweep left half written must not come out."""
    problem = cliff(pendulum())
    x0 = np.array([0.0, 0.0])
    solver = DdpSolver()
    whole = solver.solve(problem, x0, zero_guess(problem, x0), max_iterations=1)
    assert abs(whole.xs[CLIFF_NODE, 0]) > CLIFF_ANGLE, "the first step must lead beyond the cliff"
    stalled = solver.solve(problem, x0, zero_guess(problem, x0), max_iterations=50)
    assert stalled.termination is Termination.STALLED
    assert len(stalled.iterations) == 1
    for name in ("xs", "us", "gains", "Vx", "Vxx"):
        assert (getattr(stalled, name) == getattr(whole, name)).all(), name


@pytest.mark.parametrize("value", [1e300, -1e300, 1e7])
def test_diverged_where_the_first_rollout_leaves_the_finite_numbers(value):
    problem = pendulum()
    guess = Guess.open_loop(X0, np.full((problem.n_nodes, 1), value))
    solution = DdpSolver().solve(problem, X0, guess)
    assert solution.termination is Termination.DIVERGED
    assert solution.iterations == ()
    assert not np.isfinite(solution.cost)


def test_a_diverged_solve_does_not_disturb_the_next():
    problem = pendulum()
    solver = DdpSolver()
    before = solver.solve(problem, X0, zero_guess(problem))
    solver.solve(problem, X0, Guess.open_loop(X0, np.full((problem.n_nodes, 1), 1e300)))
    after = solver.solve(problem, X0, zero_guess(problem))
    assert (after.us == before.us).all()


def test_every_reason_explains_itself():
    assert {reason.name for reason in Termination} == {
        *("CONVERGED", "ITERATIONS", "STALLED", "DIVERGED", "UNBOUNDED", "INFEASIBLE")
    }
    assert all(len(reason.value) > 10 for reason in Termination)


def test_an_unknown_variant_is_refused():
    with pytest.raises(SolverError, match=r"'newton'.*ddp"):
        SolverOptions(variant="newton")


@pytest.mark.parametrize(
    "values", [{"rho_min": 0.0}, {"hessian_blend_grow": 1.0}, {"step_factor": 1.0}, {"tolerance": np.nan}]
)
def test_options_with_which_a_solve_could_not_end_are_refused(values):
    with pytest.raises(ParameterError, match=next(iter(values))):
        SolverOptions(**values)


@pytest.mark.parametrize("theta", [-1.0, 7.0])
def test_a_curvature_share_out_of_range_is_brought_into_it(theta):
    problem = pendulum()
    solution = DdpSolver().solve(problem, X0, zero_guess(problem), hessian_blend=theta)
    assert all(0.0 <= one.hessian_blend <= 1.0 for one in solution.iterations)
    assert solution.termination is Termination.CONVERGED


def test_a_horizon_without_nodes_is_refused():
    with pytest.raises(SolverError, match="horizon of 0 nodes"):
        pendulum(n_nodes=0)


def test_node_data_must_cover_the_horizon():
    problem = pendulum()
    with pytest.raises(SolverError, match=r"node_parameters has 60 rows.*61"):
        replace(problem, node_parameters=problem.node_parameters[:-1])
