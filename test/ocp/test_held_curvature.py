"""Curvature held for some iterations: the same optimum, an order between iLQR's and DDP's, computed when it is due."""

from dataclasses import replace

import numba as nb
import numpy as np
import pytest

from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import SECOND
from contact_ddp_ros.ocp.solution import Guess, Termination
from test.ocp.curved import curved
from test.ocp.pendulum import pendulum
from test.ocp.problems import lqr

PROBLEM = pendulum()
X0 = np.array([0.2, 0.0])
GUESS = Guess.open_loop(X0, np.zeros((PROBLEM.n_nodes, 1)))
DISTURBANCE = np.cos(np.arange(PROBLEM.n_nodes))[:, None]


def solver(variant="quasi_newton", **options):
    return DdpSolver(SolverOptions(variant=variant, **options))


@pytest.fixture(scope="module")
def optimum():
    return solver("ddp", tolerance=1e-14).solve(PROBLEM, X0, GUESS)


def errors(optimum, n_iterations, variant="quasi_newton", **options):
    """Distance to the optimal controls after 0 … n iterations."""
    us = optimum.us + 0.1 * DISTURBANCE
    one = solver(variant, tolerance=0.0, **options)
    guess = Guess.open_loop(X0, us)
    ends = [one.solve(PROBLEM, X0, guess, max_iterations=n).us for n in range(n_iterations + 1)]
    return np.array([np.abs(end - optimum.us).max() for end in ends])


@pytest.mark.parametrize("shooting", ["single", "multiple"])
@pytest.mark.parametrize("period", [1, 3, 1000])
def test_the_optimum_is_that_of_ddp_however_long_the_curvature_is_held(optimum, period, shooting):
    found = solver(curvature_period=period, shooting=shooting, tolerance=1e-13, max_iterations=100).solve(
        PROBLEM, X0, GUESS
    )
    assert found.termination is Termination.CONVERGED
    assert found.us == pytest.approx(optimum.us, abs=1e-4)
    assert found.cost == pytest.approx(optimum.cost, rel=1e-11)


def test_at_the_optimum_its_curvature_is_ddps(optimum):
    guess = Guess(optimum.xs, optimum.us, optimum.gains)
    held, exact, without = (
        solver(variant, tolerance=0.0).solve(PROBLEM, X0, guess, max_iterations=1)
        for variant in ("quasi_newton", "ddp", "ilqr")
    )
    assert held.Vxx == pytest.approx(exact.Vxx, rel=1e-6, abs=1e-9)
    assert np.abs(without.Vxx - exact.Vxx).max() > 1e-2 * np.abs(exact.Vxx).max()


def test_computed_in_every_iteration_it_squares_the_error(optimum):
    found = errors(optimum, 3, curvature_period=1)
    assert found[3] < 1e-9
    assert found[3] < 10.0 * found[2] ** 2 + 1e-12


def test_held_it_converges_faster_than_without_and_slower_than_exact(optimum):
    exact, held, without = (errors(optimum, 4, v, curvature_period=1000) for v in ("ddp", "quasi_newton", "ilqr"))
    assert exact[2] < 0.1 * held[2]
    assert held[4] < 0.5 * without[4]


@nb.njit(SECOND)
def counted(data, k, x, u, aux, vx, hxx, hux, huu):
    """The curvature of `curved`, which counts its calls at the first node."""
    hxx[0, 0], hux[0, 0] = 0.0, 0.0
    huu[0, 0] = vx[0] if k == 0 else 0.0
    if k == 0:
        data[1][0, 0] += 1


@pytest.mark.parametrize(("period", "calls"), [(1, 6), (3, 2), (4, 2), (6, 1)])
def test_it_is_computed_once_in_a_period(period, calls):
    # kept at full curvature, so that every iteration needs it
    problem = replace(curved(effort=1.0, u_best=0.5), second=counted)
    guess = Guess.open_loop(np.zeros(1), np.array([[0.55]]))
    found = solver(curvature_period=period, tolerance=0.0, max_iterations=6).solve(problem, np.zeros(1), guess)
    steps = sum(one.step > 0.0 for one in found.iterations)
    assert len(found.iterations) == 6 and steps >= 5
    # an iteration without a step has nothing to expand again
    assert problem.node_integers[0, 0] in (calls, calls - (6 - steps))


def test_without_curvature_nothing_is_held():
    """A linear-quadratic problem: one step, as without; the problem's own data stay as they are."""
    problem = lqr(np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.0], [0.1]]), np.eye(2), np.eye(1), np.eye(2), 20)
    before = problem.node_parameters.copy()
    x0 = np.array([1.0, -0.5])
    guess = Guess.open_loop(x0, np.zeros((problem.n_nodes, problem.n_u)))
    held, exact = (solver(v).solve(problem, x0, guess) for v in ("quasi_newton", "ddp"))
    assert len(held.iterations) == len(exact.iterations)
    assert held.us == pytest.approx(exact.us, abs=1e-10)
    assert np.array_equal(problem.node_parameters, before)
