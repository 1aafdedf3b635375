"""Rest to rest in least time: the time is a state that the first node's second control sets."""

import casadi as ca
import numpy as np

from hybrid_ddp import casadi_problem, solve

N = 50
x, u, first = ca.SX.sym("x", 3), ca.SX.sym("u", 2), ca.SX.sym("first")  # place, rate, time; force, change of time
time = x[2] + first * u[1]
h = time / N
problem = casadi_problem(
    dynamics=ca.vertcat(x[0] + h * x[1] + h**2 / 2 * u[0], x[1] + h * u[0], time),
    running_cost=0.5 * (1 - first) * u[1] ** 2,
    terminal_cost=x[2],
    terminal_equality=x[:2] - ca.DM([1, 0]),
    n_nodes=N,
    x=x,
    u=u,
    p=first,
    parameters=(np.arange(N + 1) == 0).astype(float)[:, None],
    u_min=[-1, -2],
    u_max=[1, 10],
)
found = solve(problem, [0, 0, 3])  # 3 s to begin with
print(found)
print(f"time {found.xs[-1, 2]:.4f} s, in continuous time 2 s; the force is {np.round(found.us[[0, -1], 0], 3)}")
