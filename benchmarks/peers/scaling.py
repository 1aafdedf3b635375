"""What one iteration costs over the length of the horizon: ours, Crocoddyl's FDDP and IPOPT's, about the same optimum.

The horizon grows in time, in steps of one size: 40 steps are less than half a gait cycle, 360 are four cycles.
Iterations of ours and of Crocoddyl are partials, backward sweep and one rollout, as in
:mod:`benchmarks.solver.iteration`. Those of IPOPT are the first few from variables near the optimum's, where
no Hessian needs correcting and no step is shortened, with what comes before the first taken off: its cheapest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.peers.bound_nlp import BoundNlp
from benchmarks.peers.comparison import DDP, ILQR, IPOPT
from benchmarks.peers.ipopt_bound import IpoptBound
from benchmarks.solver.case import Case, long_case, solver_of
from benchmarks.solver.iteration import ITERATION, crocoddyl, ours
from benchmarks.timing import Candidate, Progress, Times, exponent, interleave, watched

LEAN, EXACT = "Crocoddyl FDDP, lean", "Crocoddyl FDDP, exact"

_REPEATS = 8

_IPOPT_ITERATIONS = 3
"""From nearby IPOPT takes that many before there is nothing left to do."""

_SEED, _DISTURBANCE = 7, 1e-3
"""Of IPOPT's start: standard deviation of each variable from the optimum's, in its unit."""


@dataclass(frozen=True)
class Scaling:
    """Times of one iteration [s] by number of steps."""

    times: Mapping[int, Times]

    @property
    def solvers(self) -> list[str]:
        """Who took part."""
        return list(next(iter(self.times.values())).parts)

    def slope(self, solver: str) -> float:
        """Exponent of the power of the horizon's length that the medians follow best."""
        medians = [self.times[n].spread(solver, ITERATION).median for n in self.times]
        return exponent(list(self.times), medians)


def measure(lengths: Sequence[int], rounds: int, *, crocoddyl_too: bool, progress: Progress | None = None) -> Scaling:
    """All solvers at every length [steps]."""
    return Scaling(
        {
            length: interleave(_candidates(long_case(length), crocoddyl_too), rounds, _REPEATS)
            for length in watched(lengths, progress)
        }
    )


def _candidates(optimum: Case, crocoddyl_too: bool) -> dict[str, Candidate]:
    candidates = {DDP: ours(optimum, "ddp"), ILQR: ours(optimum, "ilqr")}
    if crocoddyl_too:
        from benchmarks.peers.crocoddyl_bound import CrocoddylBound

        for name, formulation in ((LEAN, "lean"), (EXACT, "exact")):
            candidates[name] = crocoddyl(CrocoddylBound(optimum, formulation), optimum)
    return {**candidates, IPOPT: _ipopt(optimum)}


def _ipopt(case: Case) -> Callable[[], Mapping[str, float]]:
    """Processor time of an iteration of IPOPT: of a few, less that of none."""
    programme = BoundNlp(case)
    solver = IpoptBound(programme)
    first = case.solve(solver_of("ddp"), 0)
    start = programme.pack(first.xs, first.us, first.aux)
    start += np.random.default_rng(_SEED).normal(scale=_DISTURBANCE, size=start.size)

    def run() -> Mapping[str, float]:
        none, few = (solver.solve(case, start, count) for count in (0, _IPOPT_ITERATIONS))
        return {ITERATION: (few.processor_time - none.processor_time) / (few.n_iterations - none.n_iterations)}

    return run
