"""The crossover: pairs on the hyperbola y s = μ, Newton's step between them, and the optimum of the interior point."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from contact_ddp_ros import InteriorPointSolver, casadi_problem
from contact_ddp_ros.ocp.interior_solution import InteriorPointOptions, interior_options
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.smoothing import differences_of, predict, project
from contact_ddp_ros.ocp.solution import Guess, Termination

H, FORCE = 0.05, 2.0
KAPPA, MU = 0.5, 1e-3
WEIGHTS, PENALTY = np.array([2.0, 1.0]), np.array([10.0, 0.0, 0.0, MU])


@pytest.fixture(scope="module")
def braking():
    """A pendulum brought to rest by torques on their limits, which are curved in the state, too."""
    x, u = ca.SX.sym("x", 2), ca.SX.sym("u")
    rate = x[1] + H * (u - 9.81 * ca.sin(x[0]))
    limit = 1.0 - (u / FORCE) ** 2 - 0.1 * x[0] ** 2
    cost = 0.5 * H * (1e-2 * u**2 + 5.0 * ca.sumsqr(x))
    return casadi_problem(
        ca.vertcat(x[0] + H * rate, rate), cost, 5.0 * ca.sumsqr(x), n_nodes=40, x=x, u=u, inequalities=limit,
        barrier_weight=H,
    )  # fmt: skip


def test_a_pair_is_on_the_hyperbola_and_keeps_its_difference():
    multipliers = np.array([[0.0, 0.3, 0.1, 1e-4, 5.0], [0.0, np.inf, 0.0, 2.0, 1e-5]])
    differences = np.zeros((2, 2))
    total, weight = differences_of(multipliers, WEIGHTS, 1, KAPPA, differences)
    assert total == pytest.approx(2.0 * 5.0 * 1e-4) and weight == 2.0
    assert differences[0] == pytest.approx([0.3 - 0.05, 1e-4 - 2.5])
    project(differences, PENALTY, 1, KAPPA, multipliers)
    slack, y = multipliers[:, 1::2], multipliers[:, 2::2]
    there = np.isfinite(slack)
    assert slack[there] * y[there] == pytest.approx(MU, rel=1e-12)
    assert (slack - KAPPA * y)[there] == pytest.approx(differences[there], rel=1e-9)
    assert np.isinf(slack[1, 0]) and y[1, 0] == 0.0, "an inequality that does not exist stays away"


def test_a_step_is_newtons_on_the_product():
    """y' s + y z' = μ + y s, of the pair that a trial's z leads to."""
    multipliers = np.array([[0.0, 0.2, 0.005, 0.01, 0.1], [0.0, np.inf, 0.0, 0.4, 0.0025]])
    residuals = np.array([[0.0, 0.25, -0.03, 0.0], [0.0, np.inf, 0.1, 0.0]])
    differences = np.zeros((2, 2))
    differences_of(multipliers, WEIGHTS, 1, KAPPA, differences)
    before = differences.copy()
    changed, psi, outside, left = predict(residuals, multipliers, WEIGHTS, PENALTY, 1, KAPPA, differences)
    slack, y, z = multipliers[:, 1::2], multipliers[:, 2::2], residuals[:, 1:3]
    there = np.isfinite(slack)
    ahead = (z[there] - differences[there]) / KAPPA
    assert ahead * slack[there] + y[there] * z[there] == pytest.approx(MU + y[there] * slack[there])
    assert changed == int(((differences < 0.0) != (before < 0.0)).sum())
    assert outside == pytest.approx(2.0 * 0.03)
    weights = np.broadcast_to(WEIGHTS[:, None], slack.shape)[there]
    assert left == pytest.approx((weights * np.abs(ahead * z[there] - MU)).sum())
    gap = z[there] - slack[there]
    assert psi == pytest.approx((weights * (0.5 * y[there] * gap - MU) * gap / slack[there]).sum())


@pytest.mark.parametrize("start", [(1.0, 0.0), (0.5, 2.0), (-1.5, 1.0)])
def test_it_ends_at_the_interior_points_optimum(braking, start):
    x0 = np.array(start)
    guess = Guess.open_loop(x0, np.zeros((braking.n_nodes, 1)))
    options = interior_options(SolverOptions(max_iterations=200))
    with_it = InteriorPointOptions(crossover=1e-3)
    found, alone = (
        InteriorPointSolver(options, one).solve(braking, x0, guess)
        for one in (with_it, replace(with_it, crossover=0.0))
    )
    for one in (found, alone):
        assert one.solution.termination is Termination.CONVERGED and one.feasible
    assert found.solution.inequalities[:-1].min() < 1e-5, "the limit is active"
    assert found.solution.cost == pytest.approx(alone.solution.cost, rel=1e-7)
    assert found.solution.us == pytest.approx(alone.solution.us, abs=1e-3)
    assert len(found.solution.iterations) <= len(alone.solution.iterations) + 1
