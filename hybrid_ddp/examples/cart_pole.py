"""A cart swings its pole up within its track."""

import casadi as ca

from hybrid_ddp import casadi_problem, solve

h, cart, pole, length, g = 0.04, 1.0, 0.3, 0.5, 9.81
x, u = ca.SX.sym("x", 4), ca.SX.sym("u")  # position, angle from hanging, their rates; force
s, c = ca.sin(x[1]), ca.cos(x[1])
ground = cart + pole * s**2
push = (u + pole * s * (length * x[3] ** 2 + g * c)) / ground
turn = -(u * c + pole * length * x[3] ** 2 * s * c + (cart + pole) * g * s) / (length * ground)
rates = x[2:] + h * ca.vertcat(push, turn)
problem = casadi_problem(
    dynamics=ca.vertcat(x[:2] + h * rates, rates),
    running_cost=h * u**2,
    terminal_cost=0,
    terminal_equality=x - ca.DM([1, ca.pi, 0, 0]),
    inequalities=ca.vertcat(1.5 - x[0], 1.5 + x[0]),
    n_nodes=60,
    x=x,
    u=u,
    u_min=-15,
    u_max=15,
)
print(solve(problem, [0, 0, 0, 0]))
