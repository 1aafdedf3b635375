"""The variants on the bounding problem: one optimum, and two ways to the same second order."""

import numpy as np
import pytest

from contact_ddp_ros.base.choices import PENALTIES
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Termination
from test.mpc.support import TICK, Watched, follow, planner_with, start_state


def solutions(variant, speed=0.5, n_plans=3, **values):
    planner = planner_with(variant=variant, **values)
    watched = Watched(planner)
    follow(planner, start_state(planner), TICK * np.arange(n_plans), speed)
    return watched


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "forward_euler"])
def test_both_second_orders_give_the_same_iterates(integrator):
    settings = {"gait__integrator": integrator, "constraint__method": PENALTIES}  # whose steps are halves of halves
    ours, theirs = (solutions(variant, **settings).solutions for variant in ("ddp", "ddp_tensor"))
    for one, other in zip(ours, theirs, strict=True):
        assert len(one.iterations) == len(other.iterations)
        for mine, yours in zip(one.iterations, other.iterations, strict=True):
            assert (mine.step, mine.hessian_blend, mine.rho) == (yours.step, yours.hessian_blend, yours.rho)
            assert mine.cost == pytest.approx(yours.cost, rel=1e-7)
        assert one.us == pytest.approx(other.us, abs=1e-5)
        assert one.gains == pytest.approx(other.gains, rel=1e-4, abs=1e-4)
    assert max(one.hessian_blend for one in ours[0].iterations) > 0.5, "Gauss-Newton alone would show nothing"


def test_ilqr_ends_at_the_same_optimum_but_less_sharply():
    ddp, ilqr = (solutions(variant, n_plans=1, first_iterations=300).solutions[0] for variant in ("ddp", "ilqr"))
    assert ddp.termination is ilqr.termination is Termination.CONVERGED
    assert ilqr.cost == pytest.approx(ddp.cost, rel=1e-5)
    assert ilqr.us == pytest.approx(ddp.us, abs=0.1)
    assert len(ddp.iterations) <= len(ilqr.iterations)
    assert ddp.iterations[-1].expected < 0.5 * ilqr.iterations[-1].expected
    assert all(one.hessian_blend == 0.0 for one in ilqr.iterations)


def test_ddp_gains_are_those_of_the_optimum_on_the_bounding_problem():
    """∂u₀*/∂x₀ by solving again from neighbours; iLQR's gains are others."""
    watched = solutions("ddp", n_plans=1)
    problem, best = watched.problems[0], watched.solutions[0]
    constraint = watched.planner.config.constraint
    penalty = np.array([constraint.touchdown_penalty, constraint.barrier_width, constraint.barrier_weight])
    solver = DdpSolver(SolverOptions(tolerance=1e-13))
    x0, guess = best.xs[0], Guess(best.xs, best.us, best.gains)
    best = solver.solve(problem, x0, guess, penalty=penalty)
    guess = Guess(best.xs, best.us, best.gains)
    rng = np.random.default_rng(0)
    for _ in range(4):
        direction = rng.standard_normal(problem.n_x)
        pair = [solver.solve(problem, x0 + sign * 1e-5 * direction, guess, penalty=penalty) for sign in (1.0, -1.0)]
        slope = (pair[0].us[0] - pair[1].us[0]) / 2e-5
        assert best.gains[0] @ direction == pytest.approx(slope, rel=2e-3, abs=2e-3 * np.abs(slope).max())
        cost = (pair[0].cost - pair[1].cost) / 2e-5
        assert best.Vx[0] @ direction == pytest.approx(cost, rel=1e-4, abs=1e-4)
