"""One optimal control problem of the suite: CasADi expressions for any solver, and the numbers of one seed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

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
