"""A pendulum swings up with a third of the torque that would hold it level; the printed table is the solve's."""

import casadi as ca

from hybrid_ddp import casadi_problem, solve

h = 0.05
x, u = ca.SX.sym("x", 2), ca.SX.sym("u")  # angle from hanging [rad], rate [rad/s]; torque [N m]
rate = x[1] + h * (u - 9.81 * ca.sin(x[0]))
problem = casadi_problem(
    dynamics=ca.vertcat(x[0] + h * rate, rate),
    running_cost=h / 2 * u**2,
    terminal_cost=0,
    terminal_equality=x - ca.DM([ca.pi, 0]),
    n_nodes=80,
    x=x,
    u=u,
    u_min=-3.3,
    u_max=3.3,
)
print(solve(problem, [0, 0]).summary())
