"""Solvers of one bound, all from the same first trajectory, and how far each is after every iteration.

A contestant runs for a number of iterations when told to, so that the time to an accuracy is that of a run which ends
there: nothing is watched while the clock runs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.bound_nlp import BoundNlp
from benchmarks.peers.fatrop_bound import FatropBound, FatropRun
from benchmarks.peers.ipopt_bound import IpoptBound
from benchmarks.solver.case import Case, solver_of
from contact_ddp_ros.mpc.offline import cold_solver
from contact_ddp_ros.ocp.continuation import ConstrainedSolution, Continuation, solve_constrained
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.interior_solution import DualVariables, InteriorSolution
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Solution

Array = NDArray[np.float64]

FEASIBLE = 1e-6
"""Largest violation of a constraint that counts as none: in its units, of a limit of ours relative to its scale."""


_LIMIT = 200
"""Iterations of a contestant that nothing else ends."""

_FATROP_LIMIT = 60
"""Of FATROP: it comes no closer after that, and its record is one solve per iteration."""

_CSQP_LIMIT = 25
"""Of CSQP: it stands still by then."""


@dataclass(frozen=True)
class OuterLoop:
    """Our way to a constrained optimum: the passes' penalties, and how far each pass is solved."""

    passes: Continuation
    tolerance: float
    iterations: int


OFFLINE = OuterLoop(
    Continuation(epsilon_min=1e-6, delta_min=1e-8, max_passes=40), SolverOptions().tolerance, iterations=_LIMIT
)
"""As offline optimisation runs it, carried on to smaller barriers."""

HASTY = OuterLoop(
    Continuation(
        sigma=2e4,
        delta=1e-2,
        delta_factor=0.1,
        delta_min=1e-8,
        epsilon=3e-2,
        epsilon_factor=0.3,
        epsilon_min=1e-6,
        first_pass_without_inequalities=False,
        max_passes=30,
    ),
    tolerance=1e-6,
    iterations=4,
)
"""Begins near the receding horizon's penalties, tightens faster and does not wait for a pass to converge: the quickest
that was found for these starts."""


@dataclass(frozen=True)
class Course:
    """How a solver came to its end.

    Attributes:
        costs, violations: of the start and after every iteration, or pass of an outer loop.
        xs: (N+1, n_x) states at the end. us: (N, n_u) controls at the end.
        iterations: of the inner solver in all.
    """

    costs: Array
    violations: Array
    xs: Array
    us: Array
    iterations: int

    def reached(self, optimum: float, accuracy: float) -> int | None:
        """The first iteration, or pass, whose cost is within a relative accuracy of the optimum; feasible too."""
        close = np.abs(self.costs - optimum) <= accuracy * abs(optimum)
        found = np.flatnonzero(close & (self.violations <= FEASIBLE))
        return int(found[0]) if found.size else None


@dataclass(frozen=True)
class Contestant:
    """One solver on one problem.

    Attributes:
        run: for a number of iterations, or passes. read: what a run gave. limit: of `run`.
        slow: whether a run takes seconds, so that it is timed once.
    """

    run: Callable[[int], Any]
    read: Callable[[Any], Course]
    limit: int = _LIMIT
    slow: bool = False

    def course(self) -> Course:
        """To the end."""
        return self.read(self.run(self.limit))


def ours(case: Case, variant: str) -> Contestant:
    """One of our solves with the case's penalties."""
    solver = solver_of(variant)

    def read(solution: Solution) -> Course:
        costs = np.array([solution.initial_cost, *(one.cost for one in solution.iterations)])
        return Course(costs, np.zeros(costs.size), solution.xs, solution.us, len(solution.iterations))

    return Contestant(lambda limit: case.solve(solver, limit), read)


def ours_constrained(case: Case, programme: BoundNlp, loop: OuterLoop) -> Contestant:
    """Our outer loop; its costs are those of the constrained programme, without any penalty."""
    solver = DdpSolver(SolverOptions(tolerance=loop.tolerance, max_iterations=loop.iterations))

    def run(limit: int) -> ConstrainedSolution:
        passes = replace(loop.passes, max_passes=max(limit, 1))
        return solve_constrained(solver, case.problem, case.x0, case.guess, passes)

    def read(outcome: ConstrainedSolution) -> Course:
        solutions = [one.solution for one in outcome.passes]
        costs = [programme.evaluate(case, programme.pack(one.xs, one.us, one.aux))[0] for one in solutions]
        violations = [max(one.equality_violation, one.inequality_violation) for one in solutions]
        last = solutions[-1]
        # entry 0 is the start, which no pass has seen
        return Course(
            np.array([np.inf, *costs]), np.array([np.inf, *violations]), last.xs, last.us, outcome.n_iterations
        )

    return Contestant(run, read, loop.passes.max_passes)


def interior(case: Case, warm: DualVariables | None = None) -> Contestant:
    """Our interior point; warm from multipliers where they are given."""
    solver = cold_solver(SolverOptions(), case.model.second_order_below)

    def run(limit: int) -> InteriorSolution:
        return solver.solve(case.problem, case.x0, case.guess, max_iterations=limit, warm=warm)

    def read(found: InteriorSolution) -> Course:
        solution, record = found.solution, found.solution.iterations
        costs = [np.inf, *(one.cost for one in record)]
        violations = [np.inf, *(max(one.equality, one.inequality) for one in record)]
        return Course(np.array(costs), np.array(violations), solution.xs, solution.us, len(record))

    return Contestant(run, read)


def fatrop(case: Case, programme: BoundNlp, options: Mapping[str, Any] | None = None) -> Contestant:
    """FATROP on a programme without ν, from our first trajectory."""
    first = case.solve(solver_of("ddp"), 0)
    start = programme.pack(first.xs, first.us, first.aux)
    solver = FatropBound(programme, options)

    def read(last: FatropRun) -> Course:
        runs = [solver.solve(case, start, limit) for limit in range(last.n_iterations)] + [last]
        costs, violations = (np.array([getattr(one, name) for one in runs]) for name in ("cost", "violation"))
        return Course(costs, violations, last.xs, last.us, last.n_iterations)

    return Contestant(lambda limit: solver.solve(case, start, limit), read, _FATROP_LIMIT)


def ipopt(case: Case, programme: BoundNlp, options: Mapping[str, Any] | None = None) -> Contestant:
    """IPOPT on a programme, from our first trajectory; `options` override those of IpoptBound."""
    first = case.solve(solver_of("ddp"), 0)
    start = programme.pack(first.xs, first.us, first.aux)
    solver = IpoptBound(programme)
    return Contestant(
        lambda limit: solver.solve(case, start, limit, options),
        lambda run: Course(run.costs, run.violations, run.xs, run.us, run.n_iterations),
    )


def crocoddyl(case: Case) -> Contestant:
    """Crocoddyl's FDDP on the same problem, from our first trajectory; for a case without barriers."""
    from crocoddyl import CallbackLogger

    from benchmarks.peers.crocoddyl_bound import CrocoddylBound

    peer = CrocoddylBound(case, "exact", barriers=False)
    first = case.solve(solver_of("ddp"), 0)
    xs, us = peer.trajectory(first.xs, first.us)
    solver = peer.solver()
    solver.th_stop = np.finfo(float).eps

    def run(limit: int) -> Any:
        solver.solve(xs, us, limit, True)
        return solver

    def read(_: Any) -> Course:
        watched, log = peer.solver(), CallbackLogger()
        watched.th_stop = solver.th_stop
        watched.setCallbacks([log])
        watched.solve(xs, us, _LIMIT, True)
        found_xs, found_us = peer.ours(watched.xs, watched.us, first)
        costs = np.array([first.cost, *log.costs])
        return Course(costs, np.zeros(costs.size), found_xs, found_us, len(log.costs))

    return Contestant(run, read)


def csqp(case: Case, programme: BoundNlp) -> Contestant:
    """CSQP on Crocoddyl's models, from our first trajectory; judged by a programme without ν."""
    from benchmarks.peers.fatrop_bound import CsqpBound

    peer = CsqpBound(case)
    first = case.solve(solver_of("ddp"), 0)
    xs, us = peer.trajectory(first.xs, first.us)
    lower, upper = programme.bounds(case)

    def read(_: Any) -> Course:
        ends = [peer.ours(*one, first) for one in peer.run(xs, us, _CSQP_LIMIT, record=True)]
        costs, violations = [], []
        for one in ends:
            w = programme.pack(*one, first.aux)
            cost, g = programme.evaluate(case, w)
            costs.append(cost)
            violations.append(max(programme.violation(g), float(np.maximum(lower - w, w - upper).max())))
        return Course(np.array(costs), np.array(violations), *ends[-1], len(ends) - 1)

    return Contestant(lambda limit: peer.run(xs, us, limit), read, 0, slow=True)
