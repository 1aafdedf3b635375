"""Cost of one iteration, split by stage: ours in its three variants, and Crocoddyl's FDDP on the same problem.

An iteration is first-order partials, backward sweep (contracted second-order partials included) and one rollout; of
Crocoddyl calcDiff, backwardPass and forwardPass. Every sample starts from the same trajectory, at the optimum, where
full second order is positive definite. "solve" is a whole call of a solver for one iteration from a start nearby or
from the cold guess: evaluation of the first trajectory, bookkeeping, and as many sweeps and rollouts as it takes.

Beside it: an iteration over a horizon with a tail of a rigid body, and the number of iterations from the cold guess to
the optimum, which is the first iteration whose cost is within 1e-8 of the variant's own final cost, relative to it.

Time is the processor time of the thread: what other processes take away does not count.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.output import Metric
from benchmarks.solver.case import VARIANTS, Case, mpc_cold, solver_of, tailed_cases
from benchmarks.timing import Candidate, Progress, interleave, watched
from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp.backward import backward_of
from contact_ddp_ros.ocp.defects import slope
from contact_ddp_ros.ocp.node_function import node_function
from contact_ddp_ros.ocp.protocol import FIRST, SECOND, STEP, node_data
from contact_ddp_ros.ocp.rollout import STATE_BOUND, expand, rollout

if TYPE_CHECKING:
    from benchmarks.peers.crocoddyl_bound import CrocoddylBound

STAGES = ("partials", "sweep", "rollout")
ITERATION, SOLVE = "iteration", "solve"

TARGET_TAIL = 2.0
"""Processor time of an iteration over a horizon with a tail of a rigid body [ms]."""

PUBLISHED = "Cafe-MPC: 5.3 ms of multiple-shooting iLQR, four threads"

_TAILED, _WHOLE = "tail", "whole"

SPEEDS = (0.5, 1.0, 2.0)
"""Commanded speeds of the cold solves [m/s]."""

COLD_TOLERANCE = 1e-8
"""Distance to the final cost at which a cold solve counts as done, relative to it."""


@dataclass(frozen=True)
class ColdSolve:
    """One unconstrained solve from the planner's cold guess, with fixed penalties as the receding horizon does it.

    Attributes:
        speed: commanded [m/s]. variant: of the solver.
        iterations: until within the tolerance of the final cost.
        costs: initial cost, then after every iteration.
        sweeps, rollouts: until then, in all.
        processor_time: of the whole solve divided by its iterations, times `iterations` [s].
        termination: why the solve ended. final: cost at the end.
    """

    speed: float
    variant: str
    iterations: int
    costs: tuple[float, ...]
    sweeps: int
    rollouts: int
    processor_time: float
    termination: str
    final: float


class Stages:
    """The three stages of our iteration about a case's trajectory, each as a call without arguments."""

    def __init__(self, case: Case, theta: float, gaps: np.ndarray | None = None) -> None:
        """`theta` is the share of second-order curvature: 1 for full DDP, 0 for iLQR.

        `gaps` (N, n_x) are those of a trajectory whose nodes do not join; none by default.
        """
        problem = case.problem
        n, n_x, n_u = problem.n_nodes, problem.n_x, problem.n_u
        self._case, self._theta = case, theta
        self._step = node_function(problem.step, STEP)
        self._first, self._second = node_function(problem.first, FIRST), node_function(problem.second, SECOND)
        self._data = node_data(problem, penalty=case.penalty)
        self._backward = backward_of(problem.n_x, problem.n_u, problem.halves.size > 0)
        square, wide, small = (n + 1, n_x, n_x), (n + 1, n_u, n_x), (n + 1, n_u, n_u)
        shapes = (square, (n + 1, n_x, n_u), (n + 1, n_x), (n + 1, n_u), square, wide, small)
        self.expansion = tuple(np.zeros(shape) for shape in shapes)
        self._gaps = np.zeros((0, n_x)) if gaps is None else gaps
        self.ks, self.gains = np.zeros((n, n_u)), np.zeros((n, n_u, n_x))
        self.vx, self.vxx = np.zeros((n + 1, n_x)), np.zeros(square)
        self.nominal, self.trial = self._trajectory(), self._trajectory()
        guess = case.guess
        self._roll((guess.xs, guess.us, guess.gains), self.nominal)

    def partials(self) -> None:
        """First-order partials of all nodes."""
        where: list[Any] = [*self.nominal[:3], self.expansion]
        expand(self._first, self._data, *where)

    def sweep(self) -> None:
        """Backward sweep; SolverError where it meets an indefinite Quu."""
        problem = self._case.problem
        given: list[Any] = [self._data, problem.has_control, problem.halves]
        given += [*self.nominal[:3], self.expansion, self._gaps]
        given += [self._theta, 0.0, self.ks, self.gains, self.vx, self.vxx]
        failed = self._backward(self._second, *given)[0]
        if len(self._gaps):
            slope(problem.has_control, self.expansion, self.ks, self.gains, self._gaps)
        if failed >= 0:
            raise SolverError(f"Quu is not positive definite at node {failed}; time an iteration at an optimum")

    def rollout(self) -> None:
        """The full step."""
        self._roll((*self.nominal[:2], self.gains), self.trial)

    def timed(self) -> dict[str, float]:
        """Processor time of each stage of one iteration, and of all [s]."""
        return timed_stages((self.partials, self.sweep, self.rollout))

    def _roll(self, policy: tuple[np.ndarray, ...], into: tuple[np.ndarray, ...]) -> None:
        problem = self._case.problem
        (xs, us, gains), into[0][0] = policy, self._case.x0
        given: list[Any] = [self._data, problem.has_control, xs, us, self.ks, gains, 1.0, self._gaps]
        rollout(self._step, *given, np.zeros((0, problem.n_residuals)), -np.inf, 0, STATE_BOUND, *into)

    def _trajectory(self) -> tuple[np.ndarray, ...]:
        problem = self._case.problem
        n = problem.n_nodes
        columns = (problem.n_x, problem.n_u, problem.n_aux, problem.n_residuals)
        return tuple(np.zeros((n if i == 1 else n + 1, size)) for i, size in enumerate(columns))


def timed_stages(calls: tuple[Callable[[], object], ...]) -> dict[str, float]:
    """Processor time of each stage of one iteration, and of all [s]."""
    times = {}
    for stage, call in zip(STAGES, calls, strict=True):
        started = thread_time()
        call()
        times[stage] = thread_time() - started
    return {**times, ITERATION: sum(times.values())}


def ours(case: Case, variant: str) -> Candidate:
    """Stages of one iteration of a variant at full curvature."""
    return Stages(case, 0.0 if variant == "ilqr" else 1.0).timed


def timed_call(part: str, call: Callable[[], object]) -> Candidate:
    """Processor time of a whole call."""

    def run() -> Mapping[str, float]:
        started = thread_time()
        call()
        return {part: thread_time() - started}

    return run


def our_solve(case: Case, variant: str) -> Candidate:
    """A whole solve of one iteration."""
    solver = solver_of(variant)
    return timed_call(SOLVE, lambda: case.solve(solver, 1))


def crocoddyl(peer: "CrocoddylBound", case: Case) -> Candidate:
    """Stages of one FDDP iteration about the case's trajectory."""
    start = case.solve(solver_of("ddp"), 0)
    xs, us = peer.trajectory(start.xs, start.us)
    problem, solver = peer.problem, peer.solver()
    solver.solve(xs, us, 1, True)
    calls = (solver.calcDiff, solver.backwardPass, lambda: solver.forwardPass(1.0))

    def run() -> Mapping[str, float]:
        solver.setCandidate(xs, us, True)
        problem.calc(xs, us)
        return timed_stages(calls)

    return run


def crocoddyl_solve(peer: "CrocoddylBound", case: Case) -> Candidate:
    """A whole solve of one iteration by Crocoddyl, from the case's guess closed by its gains."""
    start = case.solve(solver_of("ddp"), 0)
    xs, us = peer.trajectory(start.xs, start.us)
    solver = peer.solver()
    return timed_call(SOLVE, lambda: solver.solve(xs, us, 1, True))


def measure_tail(rounds: int, repeats: int, progress: Progress) -> tuple[Any, list[Metric]]:
    """Iteration over a horizon whose tail is a rigid body, beside one over as many knots of the whole body."""
    tailed, whole = tailed_cases()
    candidates = {_TAILED: ours(tailed, "ddp"), _WHOLE: ours(whole, "ddp")}
    times = interleave(candidates, rounds, repeats, progress)
    own, here = times.spread(_TAILED, ITERATION, 1e3), (_TAILED, ITERATION)
    found = [
        Metric("DDP, 25 knots and 10 of a rigid body, one iteration", own, TARGET_TAIL, PUBLISHED, "ms"),
        *(Metric(f"    {stage}", times.spread(_TAILED, stage, 1e3), unit="ms") for stage in STAGES),
        Metric("    / 35 knots of the whole body", times.ratio(here, (_WHOLE, ITERATION))),
    ]
    return {name: times.spread(name, ITERATION, 1e3) for name in candidates}, found


def measure_cold(speeds: Sequence[float] = SPEEDS, progress: Progress | None = None) -> list[ColdSolve]:
    """Cold solves at every speed with every variant."""
    return [_solve(speed, variant) for speed in watched(speeds, progress) for variant in VARIANTS]


def _solve(speed: float, variant: str) -> ColdSolve:
    case = mpc_cold(variant, speed)
    started = thread_time()
    solution = case.solve(solver_of(variant))
    elapsed = thread_time() - started
    costs = (solution.initial_cost, *(iteration.cost for iteration in solution.iterations))
    close = [cost - costs[-1] <= COLD_TOLERANCE * abs(costs[-1]) for cost in costs]
    needed = close.index(True)
    return ColdSolve(
        speed=speed,
        variant=variant,
        iterations=needed,
        costs=costs,
        sweeps=sum(iteration.sweeps for iteration in solution.iterations[:needed]),
        rollouts=sum(iteration.rollouts for iteration in solution.iterations[:needed]),
        processor_time=elapsed * needed / max(len(solution.iterations), 1),
        termination=solution.termination.name,
        final=costs[-1],
    )
