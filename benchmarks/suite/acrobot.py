"""Swing-up of an acrobot whose elbow has stops at ±π/2, by complementarity conditions.

x = (q⁻, q), q = (shoulder from hanging, elbow); u = (torque of the elbow, next q⁺, forces λ of the stops, distances s
to them, their products). A variational integrator evaluated at the midpoints links q⁻, q and q⁺; λ s is a further slack
that is penalised.

Source: arXiv 2504.08278, with the parameters of its public code.
"""

import casadi as ca
import numpy as np

from benchmarks.suite.formulation import Formulation, Instance, SuiteProblem, published_parameters

_STEP, _GRAVITY = 0.05, 9.81
_DAMPING = 0.5
_TORQUE, _STOP = 8.0, 0.5 * np.pi


def _formulation() -> Formulation:
    h = _STEP
    x, u, p = ca.SX.sym("x", 4), ca.SX.sym("u", 9), ca.SX.sym("p", 8)
    mass_1, inertia_1, length, centre_1, mass_2, inertia_2, _, centre_2 = ca.vertsplit(p)
    before, now = x[:2], x[2:]
    torque, after, stops, distances, products = u[0], u[1:3], u[3:5], u[5:7], u[7:9]
    arm = mass_2 * length * centre_2

    def mass(q: ca.SX) -> ca.SX:
        coupling = inertia_2 + arm * ca.cos(q[1])
        whole = inertia_1 + inertia_2 + mass_2 * length**2 + 2.0 * arm * ca.cos(q[1])
        return ca.vertcat(ca.horzcat(whole, coupling), ca.horzcat(coupling, inertia_2))

    def bias(q: ca.SX, rate: ca.SX) -> ca.SX:
        sine, lower = arm * ca.sin(q[1]), mass_2 * centre_2 * ca.sin(q[0] + q[1])
        upper = (mass_1 * centre_1 + mass_2 * length) * ca.sin(q[0])
        return ca.vertcat(
            -sine * (2.0 * rate[0] + rate[1]) * rate[1] + _GRAVITY * (upper + lower),
            sine * rate[0] ** 2 + _GRAVITY * lower,
        )

    middle, next_middle = 0.5 * (before + now), 0.5 * (now + after)
    rate, next_rate = (now - before) / h, (after - now) / h
    momentum = mass(next_middle) @ next_rate - mass(middle) @ rate
    mean_bias = 0.5 * (bias(middle, rate) + bias(next_middle, next_rate))
    push = ca.vertcat(0.0, torque + stops[1] - stops[0])
    equalities = ca.vertcat(
        momentum + h * (mean_bias - push + _DAMPING * next_rate),
        distances[0] - (_STOP - after[1]),
        distances[1] - (after[1] + _STOP),
        stops * distances - products,
    )
    upright = ca.DM([np.pi, 0.0])
    return Formulation(
        x=x,
        u=u,
        p=p,
        dynamics=ca.vertcat(now, after),
        running_cost=0.01 * h * torque**2 + 2.0 * ca.sum1(products),
        terminal_cost=200.0 * ca.sumsqr(rate) + 700.0 * ca.sumsqr(now - upright),
        equalities=equalities,
    )


_FORMULATION = _formulation()


def _instance(seed: int) -> Instance:
    free = np.full(2, np.inf)
    return Instance(
        formulation=_FORMULATION,
        parameters=published_parameters("acrobot_contact")[seed - 1],
        u_min=np.concatenate([[-_TORQUE], -free, np.zeros(6)]),
        u_max=np.concatenate([[_TORQUE], free, np.full(6, np.inf)]),
        x0=np.zeros(4),
        start=np.concatenate([np.zeros(3), np.full(6, 0.01)]),
    )


ACROBOT = SuiteProblem(
    "acrobot with stops",
    _instance,
    {"FilterDDP": 99, "IPOPT, exact": 100, "IPOPT, L-BFGS": 0, "ProxDDP": 24},
)
