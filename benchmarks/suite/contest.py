"""One instance of the suite by one solver, as a job, and what became of it."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import process_time
from typing import Any

from benchmarks.suite import formulation
from benchmarks.suite.car import CAR, CAR_QUADRATIC
from benchmarks.suite.formulation import Instance, SuiteProblem
from benchmarks.suite.pendulums import ACROBOT, CART_POLE
from benchmarks.suite.pushing import PUSHING
from contact_ddp_ros.ocp import solve as general
from contact_ddp_ros.ocp.interior_point import InteriorPointSolver
from contact_ddp_ros.ocp.interior_solution import InteriorPointOptions, interior_options
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Solution, Termination

PROBLEMS: dict[str, SuiteProblem] = {one.name: one for one in (ACROBOT, CART_POLE, CAR, CAR_QUADRATIC, PUSHING)}
"""The suite, in the order of the publication."""

TOLERANCE, MAX_ITERATIONS = 1e-7, 1000
"""Of every solver: largest error of the optimality conditions, and iterations."""

_FIRST_SLACK = 1e-2
"""Of the published first controls."""

_FIRST_MU = 0.1
"""First barrier parameter, relative to the cost."""

EXACT, GAUSS_NEWTON = "ours, exact Hessian", "ours, Gauss-Newton"
IPOPT_EXACT, IPOPT_BFGS = "IPOPT, exact Hessian", "IPOPT, L-BFGS"


@dataclass(frozen=True)
class Outcome:
    """What a solver made of an instance.

    Attributes:
        problem, solver, seed: which. solved: whether it reached TOLERANCE within MAX_ITERATIONS.
        iterations: how many. cost: at the end.
        time: processor time [s]; that of a process's first job includes the loading or compiling of code.
        message: of a solver that failed.
    """

    problem: str
    solver: str
    seed: int
    solved: bool
    iterations: int
    cost: float
    time: float
    message: str = ""


def solution(instance: Instance, variant: str) -> Solution:
    """By :func:`contact_ddp_ros.solve`, or without second order by our interior point with the inertia corrected."""
    problem = instance.problem()
    if variant == "ddp":
        return general.solve(
            problem, instance.x0, instance.guess, max_iterations=MAX_ITERATIONS, tolerance=TOLERANCE
        ).solution
    solver = InteriorPointSolver(
        interior_options(SolverOptions(variant=variant, max_iterations=MAX_ITERATIONS)),
        InteriorPointOptions(strategy="inertia", kkt_tolerance=TOLERANCE, mu=_FIRST_MU, slack_min=_FIRST_SLACK),
    )
    return solver.solve(problem, instance.x0, instance.guess).solution


def ours(instance: Instance, variant: str) -> tuple[bool, int, float, str]:
    """(solved, iterations, cost, message) of it."""
    found = solution(instance, variant)
    solved = found.termination is Termination.CONVERGED and found.equality_violation <= TOLERANCE
    return solved, len(found.iterations), found.cost, "" if solved else found.message


def by_ipopt(instance: Instance, exact: bool) -> tuple[bool, int, float, str]:
    """The same of IPOPT."""
    found = formulation.solve(instance, exact=exact, tolerance=TOLERANCE, max_iterations=MAX_ITERATIONS)
    return found.solved, found.iterations, found.cost, found.message


SOLVERS: dict[str, Callable[[Instance], tuple[bool, int, float, str]]] = {
    EXACT: lambda instance: ours(instance, "ddp"),
    GAUSS_NEWTON: lambda instance: ours(instance, "ilqr"),
    IPOPT_EXACT: lambda instance: by_ipopt(instance, True),
    IPOPT_BFGS: lambda instance: by_ipopt(instance, False),
}
"""Everybody who takes part."""


@dataclass(frozen=True)
class Entry:
    """A job: a solver, a problem, a seed."""

    problem: str
    solver: str
    seed: int

    @property
    def name(self) -> str:
        """Unique."""
        return f"{self.problem}, {self.solver}, {self.seed}"

    @property
    def cost(self) -> float:
        """Order of the jobs: ours first, seed by seed, so that a run cut off has all problems."""
        return 1.0 / (self.seed + 1000.0 * list(SOLVERS).index(self.solver))


def solve(entry: Entry) -> dict[str, Any]:
    """Do a job; the fields of an Outcome."""
    instance = PROBLEMS[entry.problem].instance(entry.seed)
    started = process_time()
    solved, iterations, cost, message = SOLVERS[entry.solver](instance)
    spent = process_time() - started
    return asdict(Outcome(entry.problem, entry.solver, entry.seed, solved, iterations, cost, spent, message))
