"""Swing-ups of the suite by complementarity conditions: an acrobot whose elbow has stops, a cart-pole with friction.

x = (q⁻, q); u holds the actuator, the next q⁺ and slacks. A variational integrator evaluated at the midpoints links q⁻,
q and q⁺; each product of a complementarity is a further slack whose sum is penalised.

* Acrobot: q = (shoulder from hanging, elbow); u = (torque of the elbow, q⁺, forces λ of the stops at ±π/2, distances s
  to them, products λ s).
* Cart-pole: q = (position of the cart, angle of the pole from hanging); u = (force, q⁺, halves β of both Coulomb
  friction forces, η, ψ, s, products). Friction dissipates most: |λ_i| ≤ γ_i, and complementarity of β with η and of ψ
  with s.

Source: arXiv 2504.08278, with the parameters of its public code.
"""

from collections.abc import Callable
from functools import partial

import casadi as ca
import numpy as np

from benchmarks.suite.formulation import Formulation, Instance, SuiteProblem, published_parameters

_STEP, _GRAVITY = 0.05, 9.81
_DAMPING = 0.5
_TORQUE, _STOP = 8.0, 0.5 * np.pi
_FORCE = 10.0


def _balance(
    mass: Callable[[ca.SX], ca.SX], bias: Callable[[ca.SX, ca.SX], ca.SX], x: ca.SX, after: ca.SX
) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    """Rates before and after q, change of the momentum over the step, and the mean of the bias forces."""
    before, now = x[:2], x[2:]
    middle, next_middle = 0.5 * (before + now), 0.5 * (now + after)
    rate, next_rate = (now - before) / _STEP, (after - now) / _STEP
    momentum = mass(next_middle) @ next_rate - mass(middle) @ rate
    return rate, next_rate, momentum, 0.5 * (bias(middle, rate) + bias(next_middle, next_rate))


def _swing_up(
    x: ca.SX, u: ca.SX, p: ca.SX, rate: ca.SX, running_cost: ca.SX, upright: ca.DM, equalities: ca.SX
) -> Formulation:
    return Formulation(
        x=x,
        u=u,
        p=p,
        dynamics=ca.vertcat(x[2:], u[1:3]),
        running_cost=running_cost,
        terminal_cost=200.0 * ca.sumsqr(rate) + 700.0 * ca.sumsqr(x[2:] - upright),
        equalities=equalities,
    )


def _acrobot() -> Formulation:
    x, u, p = ca.SX.sym("x", 4), ca.SX.sym("u", 9), ca.SX.sym("p", 8)
    mass_1, inertia_1, length, centre_1, mass_2, inertia_2, _, centre_2 = ca.vertsplit(p)
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

    rate, next_rate, momentum, mean_bias = _balance(mass, bias, x, after)
    push = ca.vertcat(0.0, torque + stops[1] - stops[0])
    equalities = ca.vertcat(
        momentum + _STEP * (mean_bias - push + _DAMPING * next_rate),
        distances[0] - (_STOP - after[1]),
        distances[1] - (after[1] + _STOP),
        stops * distances - products,
    )
    cost = 0.01 * _STEP * torque**2 + 2.0 * ca.sum1(products)
    return _swing_up(x, u, p, rate, cost, ca.DM([np.pi, 0.0]), equalities)


def _cart_pole() -> Formulation:
    x, u, p = ca.SX.sym("x", 4), ca.SX.sym("u", 21), ca.SX.sym("p", 5)
    cart, pole, length, slider, hinge = ca.vertsplit(p)
    force, after = u[0], u[1:3]
    beta, eta, psi, s, products = u[3:7], u[7:11], u[11:13], u[13:15], u[15:21]

    def mass(q: ca.SX) -> ca.SX:
        coupling = pole * length * ca.cos(q[1])
        return ca.vertcat(ca.horzcat(cart + pole, coupling), ca.horzcat(coupling, pole * length**2))

    def bias(q: ca.SX, rate: ca.SX) -> ca.SX:
        sine = pole * length * ca.sin(q[1])
        return ca.vertcat(-sine * rate[1] ** 2, _GRAVITY * sine)

    rate, next_rate, momentum, mean_bias = _balance(mass, bias, x, after)
    friction = ca.vertcat(beta[0] - beta[1], beta[2] - beta[3])
    equalities = ca.vertcat(
        momentum + _STEP * (mean_bias - ca.vertcat(force, 0.0) - friction),
        next_rate[0] + psi[0] - eta[0],
        -next_rate[0] + psi[0] - eta[1],
        next_rate[1] + psi[1] - eta[2],
        -next_rate[1] + psi[1] - eta[3],
        slider * (pole + cart) * _GRAVITY - beta[0] - beta[1] - s[0],
        hinge * pole * _GRAVITY * length - beta[2] - beta[3] - s[1],
        psi * s - products[:2],
        beta * eta - products[2:],
    )
    cost = 0.01 * _STEP * force**2 + ca.sum1(products)
    return _swing_up(x, u, p, rate, cost, ca.DM([0.0, np.pi]), equalities)


def _instance(formulation: Formulation, parameters: str, limit: float, seed: int) -> Instance:
    free, slacks = np.full(2, np.inf), formulation.u.numel() - 3
    return Instance(
        formulation=formulation,
        parameters=published_parameters(parameters)[seed - 1],
        u_min=np.concatenate([[-limit], -free, np.zeros(slacks)]),
        u_max=np.concatenate([[limit], free, np.full(slacks, np.inf)]),
        x0=np.zeros(4),
        start=np.concatenate([np.zeros(3), np.full(slacks, 0.01)]),
    )


ACROBOT = SuiteProblem(
    "acrobot with stops",
    partial(_instance, _acrobot(), "acrobot_contact", _TORQUE),
    {"FilterDDP": 99, "IPOPT, exact": 100, "IPOPT, L-BFGS": 0, "ProxDDP": 24},
)

CART_POLE = SuiteProblem(
    "cart-pole with friction",
    partial(_instance, _cart_pole(), "cartpole_friction", _FORCE),
    {"FilterDDP": 100, "IPOPT, exact": 100, "IPOPT, L-BFGS": 0, "ProxDDP": 77},
)
