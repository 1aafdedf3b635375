"""How many iterations full DDP and iLQR take from the planner's cold guess to the optimum, at several speeds.

One unconstrained solve with fixed penalties, as the receding horizon does it. A solve counts as done at the first
iteration whose cost is within 1e-8 of the final cost, relative to it; the final cost is that of the variant itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import thread_time

from benchmarks.solver.case import VARIANTS, mpc_cold, solver_of
from benchmarks.timing import Progress, watched

SPEEDS = (0.5, 1.0, 2.0)

TOLERANCE = 1e-8
"""Relative to the final cost."""


@dataclass(frozen=True)
class ColdSolve:
    """One cold solve.

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


def measure(speeds: Sequence[float] = SPEEDS, progress: Progress | None = None) -> list[ColdSolve]:
    """Every speed with every variant."""
    return [_solve(speed, variant) for speed in watched(speeds, progress) for variant in VARIANTS]


def _solve(speed: float, variant: str) -> ColdSolve:
    case = mpc_cold(variant, speed)
    started = thread_time()
    solution = case.solve(solver_of(variant))
    elapsed = thread_time() - started
    costs = (solution.initial_cost, *(iteration.cost for iteration in solution.iterations))
    close = [cost - costs[-1] <= TOLERANCE * abs(costs[-1]) for cost in costs]
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
