"""A pusher turns a block by 270° and moves it past an obstacle, sticking to its face or sliding along it.

x = (position, heading, angle φ of the pusher about the block's middle); u = (normal and tangential force, rates of φ
forwards and backwards, then slacks). Motion is quasi-static on an ellipsoidal limit surface. The pusher slides only
where the friction cone is reached: complementarity, each product a further slack whose sum is penalised; φ and the
distance to the obstacle are bounded through slacks, too.

Source: arXiv 2504.08278, with the parameters of its public code.
"""

import casadi as ca
import numpy as np

from benchmarks.suite.formulation import Formulation, Instance, SuiteProblem, published_parameters

_STEP = 0.04
_FORCE, _RATE, _ANGLE = 0.3, 3.0, 0.9
_RADIUS = 0.01
_GOAL = (0.3, 0.4, 1.5 * np.pi, 0.0)


def _formulation() -> Formulation:
    x, u, p = ca.SX.sym("x", 4), ca.SX.sym("u", 11), ca.SX.sym("p", 7)
    width, height, ratio, friction = p[0], p[1], p[2], p[3]
    obstacle, radius = p[4:6], p[6]
    normal, tangential, forwards, backwards = ca.vertsplit(u[:4])
    sine, cosine = ca.sin(x[2]), ca.cos(x[2])
    turning = (0.5 * width * ca.tan(x[3]) * normal - 0.5 * width * tangential) / ratio**2
    rate = ca.vertcat(
        cosine * normal - sine * tangential,
        sine * normal + cosine * tangential,
        turning,
        forwards - backwards,
    )
    reach = ca.fmax(width, height) + _RADIUS + radius
    equalities = ca.vertcat(
        friction * normal - tangential - u[4],
        friction * normal + tangential - u[5],
        u[4] * forwards - u[6],
        u[5] * backwards - u[7],
        x[3] - u[8],
        reach**2 - ca.sumsqr(x[:2] - obstacle) + u[9] - u[10],
    )
    return Formulation(
        x=x,
        u=u,
        p=p,
        dynamics=x + _STEP * rate,
        running_cost=0.01 * (normal**2 + tangential**2) + 2.0 * (u[6] + u[7] + u[10]),
        terminal_cost=20.0 * ca.sumsqr(x - ca.DM(_GOAL)),
        equalities=equalities,
    )


_FORMULATION = _formulation()


def _instance(seed: int) -> Instance:
    open_end = np.full(4, np.inf)
    return Instance(
        formulation=_FORMULATION,
        parameters=published_parameters("manip_pushing")[seed - 1],
        u_min=np.array([0.0, -_FORCE, *np.zeros(6), -_ANGLE, 0.0, 0.0]),
        u_max=np.array([_FORCE, _FORCE, _RATE, _RATE, *open_end, _ANGLE, np.inf, np.inf]),
        x0=np.zeros(4),
        start=np.full(11, 0.01),
    )


PUSHING = SuiteProblem(
    "planar pushing",
    _instance,
    {"FilterDDP": 97, "IPOPT, exact": 88, "IPOPT, L-BFGS": 65, "ProxDDP": 77},
)
