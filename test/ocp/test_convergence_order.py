"""Near the optimum of a problem with curvature, DDP squares the error in each iteration; iLQR takes a share of it."""

import numpy as np
import pytest

from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess
from test.ocp.curved import curved
from test.ocp.pendulum import pendulum

PROBLEM = pendulum()
X0 = np.array([0.2, 0.0])
DISTURBANCE = np.cos(np.arange(PROBLEM.n_nodes))[:, None]


@pytest.fixture(scope="module")
def optimum():
    guess = Guess.open_loop(X0, np.zeros((PROBLEM.n_nodes, 1)))
    return DdpSolver(SolverOptions(tolerance=1e-14)).solve(PROBLEM, X0, guess).us


def errors(optimum, variant, size, n_iterations):
    """Distance to the optimal controls after 0 … n iterations."""
    us = optimum + size * DISTURBANCE
    solver = DdpSolver(SolverOptions(variant=variant, tolerance=0.0))
    found = [us]
    for n in range(1, n_iterations + 1):
        found.append(solver.solve(PROBLEM, X0, Guess.open_loop(X0, us), max_iterations=n).us)
    return np.array([np.abs(one - optimum).max() for one in found])


@pytest.mark.parametrize(("variant", "order"), [("ddp", 2.0), ("ilqr", 1.0)])
def test_the_error_after_one_iteration_is_a_power_of_the_error_before(optimum, variant, order):
    sizes = np.geomspace(0.03, 0.3, 4)
    after = [errors(optimum, variant, size, 1)[1] for size in sizes]
    slope = np.polyfit(np.log(sizes), np.log(after), 1)[0]
    assert slope == pytest.approx(order, abs=0.1)


def test_ddp_is_done_while_ilqr_still_halves_the_error(optimum):
    ddp, ilqr = (errors(optimum, variant, 0.1, 8) for variant in ("ddp", "ilqr"))
    assert ddp[2] < 1e-9
    shares = ilqr[3:] / ilqr[2:-1]
    assert shares == pytest.approx(np.full(len(shares), shares[-1]), rel=0.1), "a linear rate has a constant share"
    assert 0.1 < shares[-1] < 0.9
    assert ilqr[-1] > 1e-5


def test_curvature_comes_back_where_the_model_without_it_predicts_badly():
    """Gauss-Newton's full steps reduce the cost by a fifth of what it promises: no reason to stay with it."""
    problem, x0 = curved(effort=1.0, u_best=-0.5), np.zeros(1)
    guess = Guess.open_loop(x0, np.array([[-0.4]]))
    ilqr = DdpSolver(SolverOptions(variant="ilqr")).solve(problem, x0, guess)
    assert ilqr.iterations[1].step == 1.0
    assert ilqr.iterations[1].actual < 0.3 * ilqr.iterations[1].expected
    ddp = DdpSolver(SolverOptions()).solve(problem, x0, guess, hessian_blend=0.0)
    assert ddp.us[0, 0] == pytest.approx(-0.5, abs=1e-6)
    assert ddp.hessian_blend == 1.0
    assert len(ddp.iterations) < 8 < len(ilqr.iterations)


@pytest.mark.parametrize("overshoot", [1.5, 2.8, 5.0])
def test_curvature_comes_back_where_steps_without_it_are_too_long(overshoot):
    """S is that many times Gauss-Newton's Hessian: its full steps raise the cost, and short steps are all it has."""
    u_best = -overshoot / (1.0 + overshoot)
    problem, x0 = curved(effort=50.0, u_best=u_best), np.zeros(1)
    guess = Guess.open_loop(x0, np.array([[u_best + 0.01]]))
    ilqr = DdpSolver(SolverOptions(variant="ilqr")).solve(problem, x0, guess)
    assert ilqr.iterations[0].step < 1.0
    ddp = DdpSolver(SolverOptions()).solve(problem, x0, guess, hessian_blend=0.0)
    assert ddp.hessian_blend == 1.0
    assert ddp.us[0, 0] == pytest.approx(u_best, abs=1e-8)


def test_rounding_of_the_cost_refuses_no_step(optimum):
    """A promise of 1e-20 cannot be seen in the cost; the step is right all the same."""
    us = optimum + 1e-7 * DISTURBANCE
    ilqr = DdpSolver(SolverOptions(variant="ilqr", tolerance=0.0))
    solution = ilqr.solve(PROBLEM, X0, Guess.open_loop(X0, us), max_iterations=16)
    assert solution.iterations[-1].expected < 1e-16 * solution.cost
    assert all(one.step == 1.0 and one.rollouts <= 2 for one in solution.iterations)
    assert np.abs(solution.us - optimum).max() < 1e-4 * np.abs(us - optimum).max()
