"""Where the solvers end, which proves the optimum, and how long each takes to a given accuracy from the same start.

Five statements of one gait cycle of 90 steps:

* "bare": no limits, point feet, undamped joints, no Baumgarte stabilisation: what Crocoddyl can state exactly too, with
  dynamics and derivatives that are not ours;
* "limited": the same with hard limits, which CSQP on Crocoddyl's models takes;
* "penalised": the receding horizon's own problem, relaxed barriers and augmented Lagrangian included;
* "constrained": the same with its limits as constraints;
* "warm": the constrained one, begun at its optimum from a state that is a little off.

A solver that ends further than a thousandth above the best has another optimum; it counts as that and not in any time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import util
from itertools import product
from time import thread_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.bound_nlp import BoundNlp
from benchmarks.peers.contestants import (
    HASTY,
    OFFLINE,
    Contestant,
    Course,
    crocoddyl,
    csqp,
    fatrop,
    interior,
    ipopt,
    ours,
    ours_constrained,
)
from benchmarks.solver.case import Case, mpc_cold, shared_cold
from benchmarks.timing import Candidate, Progress, Times, interleave, watched
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.ocp.interior_point import InteriorPointSolver
from contact_ddp_ros.ocp.solution import Guess
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel

Array = NDArray[np.float64]

BARE, LIMITED, PENALISED, CONSTRAINED, WARM = "bare", "limited", "penalised", "constrained", "warm"

STATEMENTS_OF: Mapping[str, tuple[str, ...]] = {
    PlanarModel.name: (BARE, LIMITED, PENALISED, CONSTRAINED, WARM),
    WholeBodyModel.name: (BARE, PENALISED, CONSTRAINED, WARM),
}
"""By model; CSQP's cones are those of the plane."""

ACCURACIES: Mapping[str, tuple[float, ...]] = dict.fromkeys(STATEMENTS_OF[PlanarModel.name], (1e-3, 1e-6, 1e-8))
"""Of the cost, relative to the optimum. Penalties end outside the limits by what counts as none: 1e-7 of the cost."""

DDP, ILQR, FDDP, CSQP, IPOPT, FATROP = "DDP", "iLQR", "Crocoddyl FDDP", "CSQP", "IPOPT", "FATROP"
DDP_PENALTIES, DDP_HASTY = "DDP, penalties", "DDP, hasty penalties"
QUASI_NEWTON = "quasi-Newton"
"""Our solver with second order that is computed every third iteration."""

VARIANTS: Mapping[str, str] = {DDP: "ddp", ILQR: "ilqr", QUASI_NEWTON: "quasi_newton"}
"""Of our solver, where limits are penalties or none."""

TARGETS: Mapping[tuple[str, str], Mapping[float, float]] = {
    (BARE, IPOPT): dict.fromkeys((1e-3, 1e-6, 1e-8), 20.0),
    (PENALISED, IPOPT): dict.fromkeys((1e-3, 1e-6, 1e-8), 20.0),
    (CONSTRAINED, IPOPT): {1e-6: 20.0, 1e-8: 15.0},
    (CONSTRAINED, FATROP): {1e-6: 3.0, 1e-8: 3.0},
    (WARM, FATROP): {1e-6: 4.0},
}
"""Time of another solver to a solution over DDP's to one of equal accuracy."""

TARGET_AGREEMENT = 1e-3
"""Of the optimal costs, relative."""

_OTHER_OPTIMUM = 1e-3
"""Share of the best cost above which an end is another optimum."""

_POSITION, _VELOCITY = 0.02, 0.2
"""Standard deviations of a disturbed start's state [m, rad; m/s, rad/s]."""

_OFF = 1e-3
"""Standard deviation of a warm start's state from the one that was solved for [m, rad; m/s, rad/s]."""

_WARM_MU = 1e-4
"""Barrier parameter of the peers' warm starts."""

_REPEATS = 3


@dataclass(frozen=True)
class StartCondition:
    """Where a comparison begins: commanded speed [m/s]; 0 is the robot standing, others are disturbed by that seed.

    `turn` [rad/s] is commanded besides, of the whole body.
    """

    speed: float
    seed: int
    model: str = PlanarModel.name
    turn: float = 0.0

    def case(self, statement: str) -> Case:
        """The problem of a statement."""
        if statement == LIMITED:
            case = shared_cold(self.speed, self.model, self.turn)
        elif statement == BARE:
            case = shared_cold(self.speed, self.model, self.turn)
            case = case.penalised(case.penalty[at.SIGMA], 0.0)
        else:
            case = mpc_cold("ddp", self.speed, self.model, self.turn)
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
        """True if a solver and our DDP end at the same optimum."""
        return abs(self.difference(solver)) <= _OTHER_OPTIMUM

    def deviation(self, solver: str) -> tuple[float, float]:
        """Largest difference of states [m, rad, m/s, rad/s] and of torques [N m] between a solver's end and DDP's."""
        theirs, own = self.courses[solver], self.courses[DDP]
        return float(np.abs(theirs.xs - own.xs).max()), float(np.abs(theirs.us - own.us).max())

    def ratio(self, solver: str, accuracy: float) -> float | None:
        """Median over the rounds of a solver's time to an accuracy over DDP's; None without either."""
        part, quickest = _part(accuracy), DDP
        if part not in self.times.parts.get(solver, {}) or part not in self.times.parts.get(quickest, {}):
            return None
        return self.times.ratio((solver, part), (quickest, part)).median


class Contest:
    """The solvers of one statement; keeps the programmes for IPOPT and FATROP, which serve every start.

    FATROP's has no ν in the plane. Of the whole body its elimination, written out, is beyond a compiler: there ν is
    controls of the nodes, and FATROP takes part without limits, too.
    """

    def __init__(self, statement: str, *, crocoddyl_too: bool, model: str = PlanarModel.name) -> None:
        self._statement, self._crocoddyl = statement, crocoddyl_too and statement == BARE
        self._csqp = crocoddyl_too and statement == LIMITED and util.find_spec("mim_solvers") is not None
        self._limited = statement in (LIMITED, CONSTRAINED, WARM)
        programme = CONSTRAINED if self._limited else PENALISED
        still = StartCondition(0.0, 0, model).case(statement)
        self.programme = BoundNlp(still, programme)
        self.stages: BoundNlp | None = None
        """What FATROP solves."""
        if model == WholeBodyModel.name:
            self.stages = self.programme
        elif self._limited:
            self.stages = BoundNlp(still, programme, eliminated=True)

    def compare(self, start: StartCondition, rounds: int) -> SolverComparison:
        """Let all solve from one start, to the end and then, timed, to each accuracy."""
        case = start.case(self._statement)
        contestants = self._warm(case, start.seed) if self._statement == WARM else self._contestants(case)
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
        if self._limited:
            loops = {DDP_PENALTIES: OFFLINE, DDP_HASTY: HASTY}
            found = {name: ours_constrained(case, self.programme, loop) for name, loop in loops.items()}
            found = {DDP: interior(case), **found}
        else:
            found = {name: ours(case, variant) for name, variant in VARIANTS.items()}
        if self._crocoddyl:
            found[FDDP] = crocoddyl(case)
        if self.stages is not None:
            found[FATROP] = fatrop(case, self.stages)
            if self._csqp:
                found[CSQP] = csqp(case, self.stages)
        return {**found, IPOPT: ipopt(case, self.programme)}

    def _warm(self, case: Case, seed: int) -> dict[str, Contestant]:
        """Those that keep limits within, from the optimum of the case and a state a little off."""
        assert self.stages is not None
        optimum = InteriorPointSolver().solve(case.problem, case.x0, case.guess)
        best = optimum.solution
        x0 = case.x0 + np.random.default_rng(seed).normal(scale=_OFF, size=case.x0.size)
        moved = replace(case, x0=x0, guess=Guess(best.xs, best.us, best.gains))
        near = {"mu_init": _WARM_MU, "bound_push": _WARM_MU, "bound_frac": _WARM_MU}
        return {
            DDP: interior(moved, optimum.multipliers),
            FATROP: fatrop(moved, self.stages, near),
            IPOPT: ipopt(moved, self.programme, near),
        }


def compare_all(
    starts: Sequence[StartCondition], rounds: int, *, crocoddyl_too: bool, progress: Progress | None = None
) -> list[SolverComparison]:
    """Every statement from every start; of one model."""
    model = starts[0].model
    contests = [Contest(one, crocoddyl_too=crocoddyl_too, model=model) for one in STATEMENTS_OF[model]]
    pairs = watched(list(product(contests, starts)), progress)
    return [contest.compare(start, rounds) for contest, start in pairs]


def _timed(contestant: Contestant, iterations: Mapping[float, int | None]) -> Candidate | None:
    """Times a run to each accuracy that is reached; None where none is."""
    wanted = {_part(accuracy): count for accuracy, count in iterations.items() if count is not None}
    if not wanted:
        return None

    spent: dict[int, float] = {}

    def run() -> Mapping[str, float]:
        if contestant.slow and spent:
            return {part: spent[count] for part, count in wanted.items()}
        for count in sorted(set(wanted.values())):
            started = thread_time()
            contestant.run(count)
            spent[count] = thread_time() - started
        return {part: spent[count] for part, count in wanted.items()}

    return run


def _part(accuracy: float) -> str:
    return f"{accuracy:.0e}"
