"""A problem without a solution: what cannot be met together, by how much, and why."""

import casadi as ca

from hybrid_ddp import casadi_problem, solve

h = 0.05
x, u = ca.SX.sym("x", 2), ca.SX.sym("u")
problem = casadi_problem(
    dynamics=ca.vertcat(x[0] + h * x[1], x[1] + h * u),
    running_cost=h * u**2,
    terminal_cost=0,
    terminal_equality=x - ca.DM([10, 0]),  # too far for this force and time
    n_nodes=40,
    x=x,
    u=u,
    u_min=-2,
    u_max=2,
)
found = solve(problem, [0, 0])
print(found.solution.message)
print(found.certificate)
print("weights of the goals:", found.certificate.multipliers.equalities[-1])
