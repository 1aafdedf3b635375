"""Where the solvers end, which proves the optimum, and how long each takes to a given accuracy from the same start.

Three statements of one gait cycle of 90 steps:

* "bare": no limits, point feet, undamped joints, no Baumgarte stabilisation: what Crocoddyl can state exactly too, with
  dynamics and derivatives that are not ours;
* "penalised": the receding horizon's own problem, relaxed barriers and augmented Lagrangian included;
* "constrained": the same with its limits as constraints.

A solver that ends further than a thousandth above the best has another optimum; it counts as that and not in any time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from time import thread_time

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.bench.peers.bound_nlp import BoundNlp
from contact_ddp_ros.bench.peers.contestants import (
    HASTY,
    OFFLINE,
    Contestant,
    Course,
    crocoddyl,
    ipopt,
    ours,
    ours_constrained,
)
from contact_ddp_ros.bench.solver.case import Case, mpc_cold, shared_cold
from contact_ddp_ros.bench.timing import Candidate, Progress, Times, interleave, watched
from contact_ddp_ros.mpc import layout as at

Array = NDArray[np.float64]

BARE, PENALISED, CONSTRAINED = "bare", "penalised", "constrained"

ACCURACIES: Mapping[str, tuple[float, ...]] = {
    BARE: (1e-3, 1e-6, 1e-8),
    PENALISED: (1e-3, 1e-6, 1e-8),
    CONSTRAINED: (1e-3, 1e-6),
}
"""Of the cost, relative to the optimum. A violation that counts as none already changes a constrained cost by 1e-7."""

DDP, ILQR, FDDP, IPOPT = "DDP", "iLQR", "Crocoddyl FDDP", "IPOPT"
DDP_HASTY = "DDP, hasty loop"

QUICKEST: Mapping[str, str] = {BARE: DDP, PENALISED: DDP, CONSTRAINED: DDP_HASTY}
"""Which of ours the times of others are compared with."""

TARGET_IPOPT = 20.0
"""Time of IPOPT to a solution over ours to one of equal accuracy."""

TARGET_AGREEMENT = 1e-3
"""Of the optimal costs, relative."""

_OTHER_OPTIMUM = 1e-3
"""Share of the best cost above which an end is another optimum."""

_POSITION, _VELOCITY = 0.02, 0.2
"""Standard deviations of a disturbed start's state [m, rad; m/s, rad/s]."""

_REPEATS = 3


@dataclass(frozen=True)
class StartCondition:
    """Where a comparison begins: commanded speed [m/s]; 0 is the robot standing, others are disturbed by that seed."""

    speed: float
    seed: int

    def case(self, statement: str) -> Case:
        """The problem of a statement."""
        if statement == BARE:
            case = shared_cold(self.speed)
            case = case.penalised(case.penalty[at.SIGMA], 0.0)
        else:
            case = mpc_cold("ddp", self.speed)
        if self.seed == 0:
            return case
        n = len(case.x0) // 2
        scale = np.repeat([_POSITION, _VELOCITY], n)
        return replace(case, x0=case.x0 + np.random.default_rng(self.seed).normal(scale=scale))


@dataclass(frozen=True)
class SolverComparison:
    """All solvers of one statement from one start.

    Attributes:
        optimum: the best cost that any of them ended at.
        courses: by solver. reached: by solver, the iteration, or pass, at which each accuracy is reached, or None.
        times: processor time to each accuracy, round by round [s]; only of those that reach it.
    """

    statement: str
    start: StartCondition
    optimum: float
    courses: Mapping[str, Course]
    reached: Mapping[str, Mapping[float, int | None]]
    times: Times

    def difference(self, solver: str) -> float:
        """Cost at a solver's end relative to that of our DDP."""
        ours_ = self.courses[DDP].costs[-1]
        return float((self.courses[solver].costs[-1] - ours_) / ours_)

    def same(self, solver: str) -> bool:
        """Whether a solver and our DDP end at the same optimum."""
        return abs(self.difference(solver)) <= _OTHER_OPTIMUM

    def deviation(self, solver: str) -> tuple[float, float]:
        """Largest difference of states [m, rad, m/s, rad/s] and of torques [N m] between a solver's end and DDP's."""
        theirs, own = self.courses[solver], self.courses[DDP]
        return float(np.abs(theirs.xs - own.xs).max()), float(np.abs(theirs.us - own.us).max())

    def ratio(self, solver: str, accuracy: float) -> float | None:
        """Median over the rounds of a solver's time to an accuracy over that of our quickest; None without either."""
        part, quickest = _part(accuracy), QUICKEST[self.statement]
        if part not in self.times.parts.get(solver, {}) or part not in self.times.parts.get(quickest, {}):
            return None
        return self.times.ratio((solver, part), (quickest, part)).median


class Contest:
    """The solvers of one statement; keeps the programme for IPOPT, which serves every start."""

    def __init__(self, statement: str, *, crocoddyl_too: bool) -> None:
        self._statement, self._crocoddyl = statement, crocoddyl_too and statement == BARE
        programme = CONSTRAINED if statement == CONSTRAINED else PENALISED
        self.programme = BoundNlp(StartCondition(0.0, 0).case(statement), programme)

    def compare(self, start: StartCondition, rounds: int) -> SolverComparison:
        """Let all solve from one start, to the end and then, timed, to each accuracy."""
        contestants = self._contestants(start.case(self._statement))
        courses = {name: one.course() for name, one in contestants.items()}
        optimum = min(float(course.costs[-1]) for course in courses.values())
        accuracies = ACCURACIES[self._statement]
        reached = {
            name: {accuracy: course.reached(optimum, accuracy) for accuracy in accuracies}
            for name, course in courses.items()
        }
        timed = {name: _timed(contestants[name], iterations) for name, iterations in reached.items()}
        times = interleave({name: one for name, one in timed.items() if one is not None}, rounds, _REPEATS)
        return SolverComparison(self._statement, start, optimum, courses, reached, times)

    def _contestants(self, case: Case) -> dict[str, Contestant]:
        if self._statement == CONSTRAINED:
            loops = {DDP: OFFLINE, DDP_HASTY: HASTY}
            found = {name: ours_constrained(case, self.programme, loop) for name, loop in loops.items()}
        else:
            found = {name: ours(case, variant) for name, variant in ((DDP, "ddp"), (ILQR, "ilqr"))}
        if self._crocoddyl:
            found[FDDP] = crocoddyl(case)
        return {**found, IPOPT: ipopt(case, self.programme)}


def compare_all(
    starts: Sequence[StartCondition], rounds: int, *, crocoddyl_too: bool, progress: Progress | None = None
) -> list[SolverComparison]:
    """Every statement from every start."""
    contests = {statement: Contest(statement, crocoddyl_too=crocoddyl_too) for statement in ACCURACIES}
    pairs = watched(list(product(contests.values(), starts)), progress)
    return [contest.compare(start, rounds) for contest, start in pairs]


def _timed(contestant: Contestant, iterations: Mapping[float, int | None]) -> Candidate | None:
    """Times a run to each accuracy that is reached; None where none is."""
    wanted = {_part(accuracy): count for accuracy, count in iterations.items() if count is not None}
    if not wanted:
        return None

    def run() -> Mapping[str, float]:
        spent: dict[int, float] = {}
        for count in sorted(set(wanted.values())):
            started = thread_time()
            contestant.run(count)
            spent[count] = thread_time() - started
        return {part: spent[count] for part, count in wanted.items()}

    return run


def _part(accuracy: float) -> str:
    return f"{accuracy:.0e}"
