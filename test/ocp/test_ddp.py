"""The solver against problems whose optimum is known."""

import numpy as np
import pytest

from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Termination
from test.ocp import problems


def riccati_cost(a, b, q, r, q_end, n_nodes, x0):
    p = q_end
    for _ in range(n_nodes):
        gain = np.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
        p = q + a.T @ p @ (a - b @ gain)
    return 0.5 * x0 @ p @ x0


@pytest.mark.parametrize("variant", ["ddp", "ilqr"])
def test_lqr_is_solved_in_one_step(variant):
    rng = np.random.default_rng(1)
    n_x, n_u, n_nodes = 5, 2, 30
    a = np.eye(n_x) + 0.1 * rng.standard_normal((n_x, n_x))
    b = rng.standard_normal((n_x, n_u))
    q, r, q_end = np.eye(n_x), 0.3 * np.eye(n_u), 5.0 * np.eye(n_x)
    x0 = rng.standard_normal(n_x)
    problem = problems.lqr(a, b, q, r, q_end, n_nodes)
    guess = Guess.open_loop(x0, rng.standard_normal((n_nodes, n_u)))
    solution = DdpSolver(SolverOptions(variant=variant)).solve(problem, x0, guess)
    assert solution.iterations[0].step == 1.0
    assert solution.iterations[0].cost == pytest.approx(riccati_cost(a, b, q, r, q_end, n_nodes, x0), rel=1e-10)
    assert solution.iterations[0].actual == pytest.approx(solution.iterations[0].expected, rel=1e-9)
    assert solution.termination is Termination.CONVERGED
    assert len(solution.iterations) == 2
