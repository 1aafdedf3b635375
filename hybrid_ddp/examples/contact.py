"""A ball thrown down: which steps have contact is found, by complementarity of distance and impulse."""

import casadi as ca
import numpy as np

from hybrid_ddp import casadi_problem, solve

h = 0.05
x, u = ca.SX.sym("x", 2), ca.SX.sym("u", 3)  # height, speed; impulse of the ground, height after the step, product
fall = x[1] - 9.81 * h + u[0]
problem = casadi_problem(
    dynamics=ca.vertcat(u[1], fall),
    running_cost=1e3 * u[2],
    terminal_cost=0.1 * x[1] ** 2,
    equalities=ca.vertcat(u[1] - x[0] - h * fall, u[0] * u[1] - u[2]),
    n_nodes=30,
    x=x,
    u=u,
    u_min=0,
)
found = solve(problem, [0.3, -1.0], np.full((30, 3), 0.1))
print(found)
steps = np.flatnonzero(found.us[:, 0] > 1e-3)
print(f"contact in the steps {steps[0]} to {steps[-1]}; height at the end {found.xs[-1, 0]:.1e} m")
