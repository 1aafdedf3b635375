"""A car drives between four round obstacles, which may be touched at a price linear or quadratic in the depth.

x = (position, heading, speed), u = (acceleration, rate of the heading, depths, distances), one depth and one distance
of each obstacle: (r + r_car)² − d² = depth − distance, both non-negative. The step is the midpoint rule.

Source: arXiv 2504.08278, with the parameters of its public code.
"""

from functools import partial

import casadi as ca
import numpy as np

from benchmarks.suite.formulation import Formulation, Instance, SuiteProblem, published_parameters

_STEP = 0.05
_RADIUS = 0.02
_OBSTACLES = 4
_GOAL = (1.0, 1.0, np.pi / 4, 0.0)


def _formulation(quadratic: bool) -> Formulation:
    x, u, p = ca.SX.sym("x", 4), ca.SX.sym("u", 2 + 2 * _OBSTACLES), ca.SX.sym("p", 3 * _OBSTACLES)
    depths, distances = u[2 : 2 + _OBSTACLES], u[2 + _OBSTACLES :]

    def rate(x: ca.SX) -> ca.SX:
        return ca.vertcat(x[3] * ca.cos(x[2]), x[3] * ca.sin(x[2]), u[1], u[0])

    overlaps = [(o[2] + _RADIUS) ** 2 - ca.sumsqr(x[:2] - o[:2]) for o in ca.vertsplit(p, 3)]
    contact = 1000.0 * ca.sumsqr(depths) if quadratic else 50.0 * ca.sum1(depths)
    return Formulation(
        x=x,
        u=u,
        p=p,
        dynamics=x + _STEP * rate(x + 0.5 * _STEP * rate(x)),
        running_cost=_STEP * (5.0 * u[0] ** 2 + u[1] ** 2) + contact,
        terminal_cost=200.0 * ca.sumsqr(x - ca.DM(_GOAL)),
        equalities=ca.vertcat(*overlaps) - depths + distances,
    )


def _instance(formulation: Formulation, seed: int) -> Instance:
    row = published_parameters("concar")[seed - 1]
    limits, slacks = row[:2], np.zeros(2 * _OBSTACLES)
    return Instance(
        formulation=formulation,
        parameters=row[2 : 2 + 3 * _OBSTACLES],
        u_min=np.concatenate([-limits, slacks]),
        u_max=np.concatenate([limits, slacks + np.inf]),
        x0=row[2 + 3 * _OBSTACLES :],
        start=np.concatenate([np.zeros(2), slacks + 0.01]),
    )


CAR = SuiteProblem(
    "concar",
    partial(_instance, _formulation(quadratic=False)),
    {"FilterDDP": 100, "IPOPT, exact": 100, "IPOPT, L-BFGS": 99, "ProxDDP": 89},
)

CAR_QUADRATIC = SuiteProblem(
    "concar_quad",
    partial(_instance, _formulation(quadratic=True)),
    {"FilterDDP": 100, "IPOPT, exact": 100, "IPOPT, L-BFGS": 72, "ProxDDP": 100},
)
