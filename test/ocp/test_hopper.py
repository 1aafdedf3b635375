"""Modes, resets and the switching constraint against the optimum of the whole horizon's KKT system."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Termination
from test.ocp.hybrid_lq import RESTITUTION, Stage, hopper, hybrid_lq, identity_reset, kkt_optimum


def solve(problem, x0, us=None, **arguments):
    us = np.zeros((problem.n_nodes, problem.n_u)) if us is None else us
    return DdpSolver(SolverOptions()).solve(problem, x0, Guess.open_loop(x0, us), **arguments)


def test_a_bouncing_ball_without_control_has_the_value_of_its_own_flight():
    """No node has control: nothing to optimise, but Vx must carry the cost's slope back through the bounce."""
    h, gravity = 0.01, 9.81
    free = identity_reset(Stage(np.eye(2), np.zeros((2, 1)), np.zeros(2), np.eye(2), np.zeros(2), np.eye(1)))
    fall = replace(free, A=np.array([[1.0, h], [0.0, 1.0]]), c=-gravity * np.array([0.5 * h * h, h]))
    bounce = replace(free, A=np.diag([1.0, -RESTITUTION]))
    stages = [fall] * 20 + [bounce] + [fall] * 10
    terminal = replace(free, Q=np.diag([2.0, 3.0]))
    problem, x0 = hybrid_lq(stages, terminal), np.array([0.196, 0.0])
    solution = solve(problem, x0)
    down = -gravity * 20 * h
    up = -RESTITUTION * down
    height = x0[0] - 0.5 * gravity * (20 * h) ** 2
    end = np.array([height + up * 10 * h - 0.5 * gravity * (10 * h) ** 2, up - gravity * 10 * h])
    assert solution.xs[-1] == pytest.approx(end, abs=1e-12)
    assert solution.cost == pytest.approx(end[0] ** 2 + 1.5 * end[1] ** 2, rel=1e-12)
    # ∂end/∂x0 by hand: the drop's velocity reaches the end scaled by −e, its height unscaled
    slope = np.array([[1.0, 20 * h - RESTITUTION * 10 * h], [0.0, -RESTITUTION]])
    assert solution.Vx[0] == pytest.approx(slope.T @ (terminal.Q @ end), rel=1e-10)
    assert solution.Vxx[0] == pytest.approx(slope.T @ terminal.Q @ slope, rel=1e-10)
    assert solution.termination is Termination.CONVERGED
    assert not solution.us.any() and not solution.gains.any()


@pytest.mark.parametrize("variant", ["ddp", "ilqr"])
def test_the_hopper_without_constraint_is_solved_in_one_step(variant):
    stages, terminal, _, x0 = hopper(constrained=False)
    optimum = kkt_optimum(stages, terminal, x0)
    problem = hybrid_lq(stages, terminal)
    guess = Guess.open_loop(x0, np.full((problem.n_nodes, 1), 9.0))
    solution = DdpSolver(SolverOptions(variant=variant)).solve(problem, x0, guess)
    assert solution.iterations[0].step == 1.0
    assert solution.iterations[0].cost == pytest.approx(optimum.cost, rel=1e-11)
    assert solution.iterations[0].cost < 0.9 * solution.initial_cost, "a guess at the optimum would prove nothing"
    assert solution.xs == pytest.approx(optimum.xs, abs=1e-9)
    assert solution.us == pytest.approx(optimum.us, abs=1e-8)


def test_resets_take_no_control():
    stages, terminal, touchdown, x0 = hopper(constrained=False)
    problem = hybrid_lq(stages, terminal)
    solution = solve(problem, x0, np.full((problem.n_nodes, 1), 9.0))
    assert (solution.us[~problem.has_control] == 0.0).all()
    assert (solution.gains[~problem.has_control] == 0.0).all()
    before, after = solution.xs[touchdown], solution.xs[touchdown + 1]
    assert after == pytest.approx([before[0], -RESTITUTION * before[1]], rel=1e-12)


@pytest.mark.parametrize("sigma", [100.0, 1000.0])
def test_the_touchdown_height_converges_and_its_multiplier_is_that_of_the_kkt_system(sigma):
    stages, terminal, touchdown, x0 = hopper(constrained=True)
    optimum = kkt_optimum(stages, terminal, x0)
    problem = hybrid_lq(stages, terminal)
    multipliers = np.zeros((problem.n_nodes + 1, 1))
    us, violations = np.zeros((problem.n_nodes, 1)), []
    for _ in range(60):
        solution = solve(problem, x0, us, multipliers=multipliers, penalty=np.array([sigma, 0.1, 0.0]))
        us = solution.us
        violations.append(solution.equality_violation)
        multipliers[:, :1] += sigma * solution.residuals[:, :1]
        if violations[-1] < 1e-9:
            break
    assert abs(optimum.multipliers[touchdown]) > 1e-2, "an idle constraint would prove nothing"
    assert violations[0] > 1e-4
    assert violations[-1] < 1e-8
    assert all(later < earlier or later < 1e-8 for earlier, later in pairwise(violations))
    assert multipliers[touchdown, 0] == pytest.approx(optimum.multipliers[touchdown], rel=1e-6)
    assert solution.us == pytest.approx(optimum.us, abs=1e-6)
    assert solution.cost == pytest.approx(optimum.cost, rel=1e-9)


def test_a_larger_penalty_needs_fewer_multiplier_updates():
    stages, terminal, _, x0 = hopper(constrained=True)
    problem = hybrid_lq(stages, terminal)
    left = []
    for sigma in (10.0, 100.0, 1000.0):
        multipliers = np.zeros((problem.n_nodes + 1, 1))
        for _ in range(3):
            solution = solve(problem, x0, multipliers=multipliers, penalty=np.array([sigma, 0.1, 0.0]))
            multipliers += sigma * solution.residuals[:, :1]
        left.append(solution.equality_violation)
    assert left[1] < 0.2 * left[0] and left[2] < 0.2 * left[1]
