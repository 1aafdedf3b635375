"""Full second order where its Hessian is indefinite at the start: naive DDP has no step, the homotopy converges."""

import numpy as np
import pytest
from scipy.optimize import minimize

from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Termination
from test.ocp.pendulum import pendulum
from test.ocp.sweep import Sweep, cost_of

PROBLEM = pendulum()
SEEDS = [3, 6]
"""Control tapes that throw the pendulum about so that Quu is indefinite somewhere."""


def start(seed):
    rng = np.random.default_rng(seed)
    x0 = np.array([0.3 * rng.standard_normal(), 0.0])
    return x0, 2.0 * rng.standard_normal((PROBLEM.n_nodes, PROBLEM.n_u))


def hessian(x0, us, step=1e-4):
    """Of the condensed cost in all controls, by central differences."""
    flat = us.ravel()
    n, unit = flat.size, step * np.eye(flat.size)

    def cost(change):
        return cost_of(PROBLEM, x0, (flat + change).reshape(us.shape))

    middle = cost(0.0)
    full = np.zeros((n, n))
    for i in range(n):
        full[i, i] = cost(unit[i]) - 2.0 * middle + cost(-unit[i])
        for j in range(i):
            both, apart = unit[i] + unit[j], unit[i] - unit[j]
            full[i, j] = full[j, i] = 0.25 * (cost(both) + cost(-both) - cost(apart) - cost(-apart))
    return full / step**2


@pytest.mark.parametrize("seed", SEEDS)
def test_the_naive_sweep_reports_the_node_where_it_fails(seed):
    sweep = Sweep(PROBLEM, *start(seed))
    failed, *_ = sweep.backward(theta=1.0, rho=0.0)
    assert 0 <= failed < PROBLEM.n_nodes
    assert sweep.backward(theta=0.0, rho=0.0)[0] == -1, "Gauss-Newton must have a step"
    assert sweep.backward(theta=1.0, rho=1e6)[0] == -1, "so must a large Levenberg term"
    node = int(sweep.backward(theta=1.0, rho=0.0)[0])
    assert node == failed, "a failed sweep must leave the expansion as it was"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_solver_converges_to_a_minimum(seed):
    x0, us = start(seed)
    solution = DdpSolver(SolverOptions(tolerance=1e-12)).solve(PROBLEM, x0, Guess.open_loop(x0, us))
    assert solution.termination is Termination.CONVERGED
    assert solution.iterations[0].hessian_blend < 1.0, "the curvature must have been cut at the start"
    assert solution.hessian_blend == 1.0, "and be whole again at the end"

    def cost(flat):
        return cost_of(PROBLEM, x0, flat.reshape(us.shape))

    gradient = [
        (cost(solution.us.ravel() + e) - cost(solution.us.ravel() - e)) / 2e-5 for e in 1e-5 * np.eye(solution.us.size)
    ]
    assert np.abs(gradient).max() < 1e-5
    assert np.linalg.eigvalsh(hessian(x0, solution.us)).min() > 0.0
    polished = minimize(cost, solution.us.ravel(), method="BFGS")
    assert solution.cost <= polished.fun + 1e-9
    assert solution.us.ravel() == pytest.approx(polished.x, abs=1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_curvature_costs_no_more_iterations_than_leaving_it_out(seed):
    x0, us = start(seed)
    guess = Guess.open_loop(x0, us)
    counts = {
        variant: len(DdpSolver(SolverOptions(variant=variant)).solve(PROBLEM, x0, guess).iterations)
        for variant in ("ddp", "ilqr")
    }
    assert counts["ddp"] <= counts["ilqr"]


def test_a_short_step_has_its_curvature_cut_instead():
    """Where the second-order model holds for a short step only, less curvature allows a longer one, and a better."""
    taken = {0.0: [], 0.5: []}
    for seed in range(60):
        x0, us = start(seed)
        for shortest, steps in taken.items():
            options = SolverOptions(second_order_step_min=shortest, max_iterations=5)
            steps += DdpSolver(options).solve(PROBLEM, x0, Guess.open_loop(x0, us)).iterations
    short = {
        shortest: sum(0.0 < each.step < 0.5 and each.hessian_blend > 0.0 for each in steps)
        for shortest, steps in taken.items()
    }
    assert short[0.5] < short[0.0]
    assert all(each.step > 0.0 for each in taken[0.5])


def test_without_curvature_the_first_step_is_gauss_newtons():
    x0, us = start(SEEDS[0])
    guess = Guess.open_loop(x0, us)
    ddp = DdpSolver(SolverOptions()).solve(PROBLEM, x0, guess, hessian_blend=0.0, max_iterations=1)
    ilqr = DdpSolver(SolverOptions(variant="ilqr")).solve(PROBLEM, x0, guess, max_iterations=1)
    assert (ddp.us == ilqr.us).all()
    assert ddp.cost == ilqr.cost


@pytest.mark.parametrize("seed", SEEDS)
def test_sweeps_are_counted_by_what_they_were_worth(seed):
    """One that fails counts up to its node; iLQR's have no curvature."""
    x0, us = start(seed)
    naive = Sweep(PROBLEM, x0, us).backward(theta=1.0, rho=0.0)[0]
    first, *_, last = DdpSolver().solve(PROBLEM, x0, Guess.open_loop(x0, us)).iterations
    assert first.sweeps > 1
    assert 1.0 - naive / PROBLEM.n_nodes <= first.second_order_sweeps + first.gauss_newton_sweeps < first.sweeps
    assert (last.sweeps, last.second_order_sweeps, last.gauss_newton_sweeps) == (1, 1.0, 0.0)
    for iteration in DdpSolver(SolverOptions(variant="ilqr")).solve(PROBLEM, x0, Guess.open_loop(x0, us)).iterations:
        assert iteration.second_order_sweeps == 0.0
        assert 0.0 < iteration.gauss_newton_sweeps <= iteration.sweeps
