"""Swing-up of a cart-pole whose two joints have Coulomb friction, by complementarity conditions.

x = (q⁻, q), q = (position of the cart, angle of the pole from hanging); u holds the force F, the next q⁺, the halves β
of both friction forces, and slacks. A variational integrator evaluated at the midpoints links q⁻, q and q⁺; friction
dissipates most: |λ_i| ≤ γ_i, and complementarity of β with η and of ψ with s, each product a further slack whose sum is
penalised.

Source: arXiv 2504.08278, with the parameters of its public code.
"""

import casadi as ca
import numpy as np

from benchmarks.suite.formulation import Formulation, Instance, SuiteProblem, published_parameters

_STEP, _GRAVITY = 0.05, 9.81
_FORCE = 10.0


def _formulation() -> Formulation:
    h = _STEP
    x, u, p = ca.SX.sym("x", 4), ca.SX.sym("u", 21), ca.SX.sym("p", 5)
    cart, pole, length, slider, hinge = ca.vertsplit(p)
    before, now = x[:2], x[2:]
    force, after = u[0], u[1:3]
    beta, eta, psi, s, products = u[3:7], u[7:11], u[11:13], u[13:15], u[15:21]

    def mass(q: ca.SX) -> ca.SX:
        coupling = pole * length * ca.cos(q[1])
        return ca.vertcat(ca.horzcat(cart + pole, coupling), ca.horzcat(coupling, pole * length**2))

    def bias(q: ca.SX, rate: ca.SX) -> ca.SX:
        sine = pole * length * ca.sin(q[1])
        return ca.vertcat(-sine * rate[1] ** 2, _GRAVITY * sine)

    middle, next_middle = 0.5 * (before + now), 0.5 * (now + after)
    rate, next_rate = (now - before) / h, (after - now) / h
    friction = ca.vertcat(beta[0] - beta[1], beta[2] - beta[3])
    momentum = mass(next_middle) @ next_rate - mass(middle) @ rate
    mean_bias = 0.5 * (bias(middle, rate) + bias(next_middle, next_rate))
    equalities = ca.vertcat(
        momentum + h * (mean_bias - ca.vertcat(force, 0.0) - friction),
        next_rate[0] + psi[0] - eta[0],
        -next_rate[0] + psi[0] - eta[1],
        next_rate[1] + psi[1] - eta[2],
        -next_rate[1] + psi[1] - eta[3],
        slider * (pole + cart) * _GRAVITY - beta[0] - beta[1] - s[0],
        hinge * pole * _GRAVITY * length - beta[2] - beta[3] - s[1],
        psi * s - products[:2],
        beta * eta - products[2:],
    )
    upright = ca.DM([0.0, np.pi])
    return Formulation(
        x=x,
        u=u,
        p=p,
        dynamics=ca.vertcat(now, after),
        running_cost=0.01 * h * force**2 + ca.sum1(products),
        terminal_cost=200.0 * ca.sumsqr(rate) + 700.0 * ca.sumsqr(now - upright),
        equalities=equalities,
    )


_FORMULATION = _formulation()


def _instance(seed: int) -> Instance:
    free = np.full(2, np.inf)
    return Instance(
        formulation=_FORMULATION,
        parameters=published_parameters("cartpole_friction")[seed - 1],
        u_min=np.concatenate([[-_FORCE], -free, np.zeros(18)]),
        u_max=np.concatenate([[_FORCE], free, np.full(18, np.inf)]),
        x0=np.zeros(4),
        start=np.concatenate([np.zeros(3), np.full(18, 0.01)]),
    )


CART_POLE = SuiteProblem(
    "cart-pole with friction",
    _instance,
    {"FilterDDP": 100, "IPOPT, exact": 100, "IPOPT, L-BFGS": 0, "ProxDDP": 77},
)
