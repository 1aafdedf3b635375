"""One optimal control problem of the suite: CasADi expressions for any solver, and the numbers of one seed.

IPOPT on a problem of the suite, as its authors call it: states and controls are variables, no scaling.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
    """Minimise Σ ℓ(x, u, p) + ℓ_N(x_N, p) with x⁺ = f, g = 0, h ≥ 0 of (x, u, p), c(x_N, p) = 0, u_min ≤ u ≤ u_max.

    Attributes:
        x, u, p: (n_x,), (n_u,), (n_p,) symbols.
        dynamics, running_cost, terminal_cost, equalities, inequalities, goal: f, ℓ, ℓ_N, g, h and c.
        n_nodes: N.
    """

    x: ca.SX
    u: ca.SX
    p: ca.SX
    dynamics: ca.SX
    running_cost: ca.SX
    terminal_cost: ca.SX
    equalities: ca.SX
    inequalities: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    goal: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    n_nodes: int = N_NODES


@dataclass(frozen=True)
class Instance:
    """A formulation with the numbers of a seed.

    Attributes:
        formulation: of the problem.
        parameters: (n_p,) or (N+1, n_p) values of p.
        u_min, u_max: (n_u,) bounds, infinite for none.
        x0: (n_x,) initial state.
        start: (n_u,) of every node, or (N, n_u) controls to begin with.
    """

    formulation: Formulation
    parameters: Array
    u_min: Array
    u_max: Array
    x0: Array
    start: Array

    @property
    def guess(self) -> Guess:
        """First trajectory, by the first controls."""
        return Guess.open_loop(self.x0, self.controls)

    @property
    def controls(self) -> Array:
        """(N, n_u) first controls."""
        return np.broadcast_to(self.start, (self.formulation.n_nodes, self.u_min.size)).copy()

    def problem(self) -> Problem:
        """The instance for this package's solvers."""
        form = self.formulation
        return casadi_problem(
            dynamics=form.dynamics,
            running_cost=form.running_cost,
            terminal_cost=form.terminal_cost,
            n_nodes=form.n_nodes,
            x=form.x,
            u=form.u,
            p=form.p,
            parameters=self.parameters,
            u_min=self.u_min,
            u_max=self.u_max,
            equalities=form.equalities,
            inequalities=form.inequalities,
            terminal_equality=form.goal,
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
    instance: Instance,
    *,
    exact: bool,
    tolerance: float,
    max_iterations: int,
    near: tuple[Array, Array] | None = None,
    scaling: str = "none",
) -> Found:
    """Solve by exact Hessians or L-BFGS.

    It starts as :attr:`Instance.guess`, its states rolled out; or `near` states (N+1, n_x) and controls (N, n_u) with a
    small barrier, to confirm that they are an optimum.
    """
    form = instance.formulation
    programme = _programme(form, exact, tolerance, max_iterations, near is not None, scaling)
    n, n_x, n_u = form.n_nodes, instance.x0.size, instance.u_min.size
    xs, us = near if near is not None else _rolled_out(instance)
    free, limits = np.full(n * n_x, np.inf), n * form.inequalities.numel()
    found = programme(
        x0=np.concatenate([xs[1:].ravel(), us.ravel()]),
        p=np.concatenate([instance.x0, np.broadcast_to(instance.parameters, (n + 1, form.p.numel())).ravel()]),
        lbx=np.concatenate([-free, np.tile(instance.u_min, n)]),
        ubx=np.concatenate([free, np.tile(instance.u_max, n)]),
        lbg=0.0,
        ubg=np.concatenate([np.full(limits, np.inf), np.zeros(programme.size1_out("g") - limits)]),
    )
    z, report = np.asarray(found["x"]).ravel(), programme.stats()
    states = np.vstack([instance.x0, z[: n * n_x].reshape(n, n_x)])
    return Found(
        solved=report["return_status"] == "Solve_Succeeded",
        iterations=int(report["iter_count"]),
        cost=float(found["f"]),
        xs=states,
        us=z[n * n_x :].reshape(n, n_u),
        message=str(report["return_status"]),
    )


def _rolled_out(instance: Instance) -> tuple[Array, Array]:
    """(states, controls) to begin with; where a rollout leaves the finite numbers the first state stays."""
    form, us = instance.formulation, instance.controls
    xs, step = [instance.x0], _dynamics(form)
    for u, p in zip(us, np.broadcast_to(instance.parameters, (len(us) + 1, form.p.numel()))):
        xs.append(np.asarray(step(xs[-1], u, p)).ravel())
    states = np.array(xs)
    return states if np.abs(states).max() < 1e10 else np.tile(instance.x0, (len(xs), 1)), us


@cache
def _dynamics(form: Formulation) -> ca.Function:
    return ca.Function("dynamics", [form.x, form.u, form.p], [form.dynamics])


@cache
def _programme(form: Formulation, exact: bool, tolerance: float, max_iterations: int, near: bool, scaling: str) -> Any:
    n, n_x, n_u, n_p = form.n_nodes, form.x.numel(), form.u.numel(), form.p.numel()
    results = [form.dynamics, form.running_cost, form.equalities, form.inequalities]
    node = ca.Function("node", [form.x, form.u, form.p], results)
    end = ca.Function("end", [form.x, form.p], [form.terminal_cost, form.goal])
    states, controls = ca.MX.sym("x", n_x, n), ca.MX.sym("u", n_u, n)
    given = ca.MX.sym("given", n_x + (n + 1) * n_p)
    x0, p = given[:n_x], ca.reshape(given[n_x:], n_p, n + 1)
    before = ca.horzcat(x0, states[:, :-1])
    following, costs, equalities, limits = node.map(n)(before, controls, p[:, :-1])
    end_cost, goal = end(states[:, -1], p[:, -1])
    problem: dict[str, Any] = {
        "x": ca.vertcat(ca.vec(states), ca.vec(controls)),
        "p": given,
        "f": ca.sum2(costs) + end_cost,
        "g": ca.vertcat(ca.vec(limits), ca.vec(states - following), ca.vec(equalities), goal),
    }
    options: dict[str, Any] = {
        "max_iter": max_iterations,
        "tol": tolerance,
        "nlp_scaling_method": scaling,
        "print_level": 0,
        "sb": "yes",
        "hessian_approximation": "exact" if exact else "limited-memory",
    }
    if near:
        options |= {"mu_init": 1e-7, "bound_push": 1e-9, "bound_frac": 1e-9}
    settings: dict[str, Any] = {"ipopt": options, "print_time": False}
    return ca.nlpsol("ipopt", "ipopt", problem, settings)
