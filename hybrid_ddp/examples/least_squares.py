"""A cost as a sum of squares: Gauss-Newton knows its curvature without second derivatives; DDP needs fewer steps."""

import casadi as ca
import numpy as np

from hybrid_ddp import DdpSolver, Guess, LeastSquares, SolverOptions, casadi_problem

h = 0.02
x, u = ca.SX.sym("x", 2), ca.SX.sym("u")
rate = x[1] + h * (u - 9.81 * ca.sin(x[0]))
problem = casadi_problem(
    dynamics=ca.vertcat(x[0] + h * rate, rate),
    running_cost=LeastSquares(np.sqrt(h) * 0.1 * u),
    terminal_cost=LeastSquares(10 * (x - ca.DM([ca.pi, 0]))),
    n_nodes=100,
    x=x,
    u=u,
)
x0 = np.zeros(2)
guess = Guess.open_loop(x0, np.ones((100, 1)))
for variant in ("ddp", "ilqr"):
    print(variant, DdpSolver(SolverOptions(variant=variant, max_iterations=500)).solve(problem, x0, guess))
