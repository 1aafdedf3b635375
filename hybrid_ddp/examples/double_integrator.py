"""Least energy from rest to rest: the smallest problem, with its optimum by hand."""

import casadi as ca

from hybrid_ddp import casadi_problem, solve

N = 50
h = 1 / N
x, u = ca.SX.sym("x", 2), ca.SX.sym("u")
problem = casadi_problem(
    dynamics=ca.vertcat(x[0] + h * x[1] + h**2 / 2 * u, x[1] + h * u),
    running_cost=h / 2 * u**2,
    terminal_cost=0,
    terminal_equality=x - ca.DM([1, 0]),
    n_nodes=N,
    x=x,
    u=u,
)
found = solve(problem, [0, 0])
print(found)
print(f"cost {found.cost:.4f}, in continuous time 6")
