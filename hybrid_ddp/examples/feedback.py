"""The gains of a plan hold it against a disturbance; the same program for other parameters needs no compilation."""

import casadi as ca
import numpy as np

from hybrid_ddp import casadi_problem, solve

h = 0.05
x, u, length = ca.SX.sym("x", 2), ca.SX.sym("u"), ca.SX.sym("length")
rate = x[1] + h * (u - 9.81 / length * ca.sin(x[0]))
step = ca.Function("step", [x, u, length], [ca.vertcat(x[0] + h * rate, rate)])
for value in (0.8, 1.0, 1.25):
    terms = {"running_cost": h * 0.1 * u**2, "terminal_cost": 50 * ca.sumsqr(x - ca.DM([ca.pi, 0]))}
    problem = casadi_problem(step(x, u, length), **terms, n_nodes=60, x=x, u=u, p=length, parameters=[value])
    plan = solve(problem, [0, 0], np.ones((60, 1)))
    for gains in (0 * plan.gains, plan.gains):
        state = np.array([0.05, 0.0])  # not where the plan begins
        for k in range(60):
            force = plan.us[k] + gains[k] @ (state - plan.xs[k])
            state = np.asarray(step(state, force, value)).ravel()
        print(f"length {value} m, {'with' if gains.any() else 'without'} gains: {np.round(state, 3)} at the end")
