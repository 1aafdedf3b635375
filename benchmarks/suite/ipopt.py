"""IPOPT on a problem of the suite, as its authors call it: states and controls are variables, no scaling."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from benchmarks.suite.formulation import N_NODES, Formulation, Instance

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    """Outcome of IPOPT: whether it reached the tolerance, iterations, cost, states (N+1, n_x) and controls (N, n_u).

    `message` is its own return status.
    """

    solved: bool
    iterations: int
    cost: float
    xs: Array
    us: Array
    message: str


def solve(
    instance: Instance, *, exact: bool, tolerance: float, max_iterations: int, near: tuple[Array, Array] | None = None
) -> Found:
    """Solve by exact Hessians or L-BFGS.

    It starts as :attr:`Instance.guess`, its states rolled out; or `near` states (N+1, n_x) and controls (N, n_u) with a
    small barrier, to confirm that they are an optimum.
    """
    programme = _programme(instance.formulation, exact, tolerance, max_iterations, near is not None)
    n_x, n_u = instance.x0.size, instance.start.size
    xs, us = near if near is not None else _rolled_out(instance)
    free = np.full(N_NODES * n_x, np.inf)
    found = programme(
        x0=np.concatenate([xs[1:].ravel(), us.ravel()]),
        p=np.concatenate([instance.x0, instance.parameters]),
        lbx=np.concatenate([-free, np.tile(instance.u_min, N_NODES)]),
        ubx=np.concatenate([free, np.tile(instance.u_max, N_NODES)]),
        lbg=0.0,
        ubg=0.0,
    )
    z, report = np.asarray(found["x"]).ravel(), programme.stats()
    states = np.vstack([instance.x0, z[: N_NODES * n_x].reshape(N_NODES, n_x)])
    return Found(
        solved=report["return_status"] == "Solve_Succeeded",
        iterations=int(report["iter_count"]),
        cost=float(found["f"]),
        xs=states,
        us=z[N_NODES * n_x :].reshape(N_NODES, n_u),
        message=str(report["return_status"]),
    )


def _rolled_out(instance: Instance) -> tuple[Array, Array]:
    """(states, controls) to begin with."""
    xs, step = [instance.x0], _dynamics(instance.formulation)
    for _ in range(N_NODES):
        xs.append(np.asarray(step(xs[-1], instance.start, instance.parameters)).ravel())
    return np.array(xs), np.tile(instance.start, (N_NODES, 1))


@cache
def _dynamics(form: Formulation) -> ca.Function:
    return ca.Function("dynamics", [form.x, form.u, form.p], [form.dynamics])


@cache
def _programme(form: Formulation, exact: bool, tolerance: float, max_iterations: int, near: bool) -> Any:
    n_x, n_u, n_p = form.x.numel(), form.u.numel(), form.p.numel()
    node = ca.Function("node", [form.x, form.u, form.p], [form.dynamics, form.running_cost, form.equalities])
    end = ca.Function("end", [form.x, form.p], [form.terminal_cost])
    states, controls = ca.MX.sym("x", n_x, N_NODES), ca.MX.sym("u", n_u, N_NODES)
    given = ca.MX.sym("given", n_x + n_p)
    x0, p = given[:n_x], given[n_x:]
    before = ca.horzcat(x0, states[:, :-1])
    following, costs, equalities = node.map(N_NODES)(before, controls, ca.repmat(p, 1, N_NODES))
    problem: dict[str, Any] = {
        "x": ca.vertcat(ca.vec(states), ca.vec(controls)),
        "p": given,
        "f": ca.sum2(costs) + end(states[:, -1], p),
        "g": ca.vertcat(ca.vec(states - following), ca.vec(equalities)),
    }
    options: dict[str, Any] = {
        "max_iter": max_iterations,
        "tol": tolerance,
        "nlp_scaling_method": "none",
        "print_level": 0,
        "sb": "yes",
        "hessian_approximation": "exact" if exact else "limited-memory",
    }
    if near:
        options |= {"mu_init": 1e-7, "bound_push": 1e-9, "bound_frac": 1e-9}
    settings: dict[str, Any] = {"ipopt": options, "print_time": False}
    return ca.nlpsol("ipopt", "ipopt", problem, settings)
