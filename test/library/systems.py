"""Problems from CasADi for the tests of this room."""

import casadi as cs
import numpy as np

from contact_ddp_ros.ocp.casadi_problem import LeastSquares, casadi_problem
from contact_ddp_ros.ocp.protocol import Problem

X0 = np.array([0.2, 0.0])


def pendulum_terms(h=0.04, gravity=9.81, damping=0.1, effort=0.05, end_angle=30.0, end_rate=3.0):
    """Symbols, dynamics and costs of `test.ocp.pendulum`."""
    x, u = cs.SX.sym("x", 2), cs.SX.sym("u")
    rate = x[1] + h * (u - gravity * cs.sin(x[0]) - damping * x[1])
    dynamics = cs.vertcat(x[0] + h * rate, rate)
    end = 0.5 * end_angle * (x[0] - np.pi) ** 2 + 0.5 * end_rate * x[1] ** 2
    return x, u, dynamics, 0.5 * h * effort * u**2, end


def swing_up(n_nodes=60, **options) -> Problem:
    """The pendulum's swing-up with bounds or constraints."""
    x, u, dynamics, running, end = pendulum_terms()
    return casadi_problem(dynamics, running, end, n_nodes=n_nodes, x=x, u=u, **options)


def everything(n_nodes=6) -> Problem:
    """Every feature at once: two controls, parameters by node, curved residuals, inequalities and equalities."""
    x, u, p = cs.SX.sym("x", 3), cs.SX.sym("u", 2), cs.SX.sym("p", 2)
    dynamics = cs.vertcat(
        x[0] + 0.1 * x[1] * u[0], x[1] + 0.1 * cs.sin(x[2]) * p[0], x[2] + 0.1 * u[1] * u[0] - 0.05 * x[0] ** 2
    )
    running = LeastSquares(cs.vertcat(cs.sin(x[0]) * u[1] - p[1], x[1] * x[2], u))
    end = LeastSquares(cs.vertcat(x[0] * x[1] - p[0], cs.exp(0.3 * x[2])))
    rng = np.random.default_rng(4)
    return casadi_problem(
        dynamics,
        running,
        end,
        n_nodes=n_nodes,
        x=x,
        u=u,
        p=p,
        parameters=rng.normal(size=(n_nodes + 1, 2)),
        u_min=[-1.0, -np.inf],
        u_max=[2.0, 1.5],
        inequalities=cs.vertcat(1.0 - x[0] * u[0], 2.0 + x[1] ** 2 - u[1]),
        terminal_equality=cs.vertcat(cs.sin(x[0]) - 0.2, x[1] * x[2]),
    )
