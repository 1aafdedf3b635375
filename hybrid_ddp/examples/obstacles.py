"""The shortest way of a boat between islands, with a smooth rudder."""

import casadi as ca
import numpy as np

from hybrid_ddp import casadi_problem, solve

h, speed = 0.05, 1.0
x, u = ca.SX.sym("x", 3), ca.SX.sym("u")  # place, heading; turn rate
islands = [((1.0, 0.1), 0.3), ((2.0, -0.3), 0.4), ((2.6, 0.5), 0.25)]
problem = casadi_problem(
    dynamics=x + h * ca.vertcat(speed * ca.cos(x[2]), speed * ca.sin(x[2]), u),
    running_cost=h * u**2,
    terminal_cost=100 * ca.sumsqr(x[:2] - ca.DM([3.2, 0])),
    inequalities=ca.vertcat(*[ca.sumsqr(x[:2] - ca.DM(at)) - radius**2 for at, radius in islands]),
    n_nodes=70,
    x=x,
    u=u,
    u_min=-2,
    u_max=2,
)
found = solve(problem, np.zeros(3))
print(found)
for at, radius in islands:
    print(f"distance to the shore {np.linalg.norm(found.xs[:, :2] - at, axis=1).min() - radius:.4f} m")
