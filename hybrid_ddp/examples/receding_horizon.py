"""Model-predictive control: each plan begins at the last one; the plant is heavier than the plan believes."""

import casadi as ca
import numpy as np

from hybrid_ddp import casadi_problem, solve

h = 0.05
x, u = ca.SX.sym("x", 2), ca.SX.sym("u")
problem = casadi_problem(
    dynamics=ca.vertcat(x[0] + h * x[1], x[1] + h * u),
    running_cost=h * (ca.sumsqr(x) + 0.1 * u**2),
    terminal_cost=ca.sumsqr(x),
    inequalities=0.6 - x[1],
    n_nodes=40,
    x=x,
    u=u,
    u_min=-1,
    u_max=1,
)
state, plan = np.array([-2.0, 0.0]), None
for k in range(120):
    plan = solve(problem, state, warm=plan)
    state = np.array([state[0] + h * state[1], state[1] + h * plan.us[0, 0] / 1.2])
    if k % 20 == 0:
        print(f"{k * h:4.1f} s: {state}, {len(plan.solution.iterations)} iterations")
