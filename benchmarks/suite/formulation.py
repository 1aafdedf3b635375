"""One optimal control problem of the suite: CasADi expressions for any solver, and the numbers of one seed.

IPOPT on a problem of the suite, as its authors call it: states and controls are variables, no scaling.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.ocp.casadi_problem import casadi_problem
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Guess

Array = NDArray[np.float64]

N_NODES = 100
"""Controls of every problem of the suite."""

N_SEEDS = 100
"""Published instances of each."""


@dataclass(frozen=True, eq=False)
class Formulation:
    """Minimise Σ ℓ(x, u, p) + ℓ_N(x_N, p) with x⁺ = f(x, u, p), g(x, u, p) = 0 and u_min ≤ u ≤ u_max.

    Attributes:
        x, u, p: (n_x,), (n_u,), (n_p,) symbols.
        dynamics, running_cost, terminal_cost, equalities: f, ℓ, ℓ_N and g, expressions of them.
    """

    x: ca.SX
    u: ca.SX
    p: ca.SX
    dynamics: ca.SX
    running_cost: ca.SX
    terminal_cost: ca.SX
    equalities: ca.SX


@dataclass(frozen=True)
class Instance:
    """A formulation with the numbers of a seed.

    Attributes:
        formulation: of the problem.
        parameters: (n_p,) values of p.
        u_min, u_max: (n_u,) bounds, infinite for none.
        x0: (n_x,) initial state.
        start: (n_u,) controls of every node to begin with.
    """

    formulation: Formulation
    parameters: Array
    u_min: Array
    u_max: Array
    x0: Array
    start: Array

    @property
    def guess(self) -> Guess:
        """First trajectory: constant controls."""
        return Guess.open_loop(self.x0, np.tile(self.start, (N_NODES, 1)))

    def problem(self) -> Problem:
        """The instance for this package's solvers."""
        form = self.formulation
        return casadi_problem(
            dynamics=form.dynamics,
            running_cost=form.running_cost,
            terminal_cost=form.terminal_cost,
            n_nodes=N_NODES,
            x=form.x,
            u=form.u,
            p=form.p,
            parameters=self.parameters,
            u_min=self.u_min,
            u_max=self.u_max,
            equalities=form.equalities,
        )


@dataclass(frozen=True)
class SuiteProblem:
    """A problem of the suite.

    Attributes:
        name: of the problem.
        instance: gives the instance of a seed, 1 to N_SEEDS.
        published: by solver, how many of the N_SEEDS it is reported to solve.
    """

    name: str
    instance: Callable[[int], Instance]
    published: Mapping[str, int]


@cache
def published_parameters(name: str) -> Array:
    """(N_SEEDS, …) the numbers that the suite's authors drew for a problem, a row for each seed."""
    with resources.files(__package__).joinpath("data", f"{name}.txt").open() as file:
        return np.loadtxt(file)


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
