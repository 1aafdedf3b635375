"""Order of convergence of the interior point at an optimum of the paper's bound at which hard limits are active.

The torque limits are so low that torques reach them in every stance; the friction cone is active, too. Starts are
points of the central path: the problem solved at a held barrier parameter, with the slacks and multipliers that belong
to it, at a distance e from the optimum (as :mod:`benchmarks.solver.near_optimum` measures it). From there
the barrier parameter falls superlinearly, μ ← min(0.1 μ, μ²), with steps of the barrier's problem or those of the
crossover (:mod:`contact_ddp_ros.ocp.crossover_run`), and the order is the slope of log e after over log e before the
first iteration, between starts that differ in μ only; what the next one leaves is noted.

Newton's method on complementarity is quadratic once it is clear which of slack and multiplier of each inequality
vanishes: inside the gap, the least over all inequalities of the larger of the two. Where an arc on a limit begins or
ends, a knot is as close to the limit as it gets in one step, so the gap is small. The crossover solves the quadratic
programme of an iteration to its end, by more sweeps of one linearisation, and does not depend on the gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.output import Metric
from benchmarks.solver.near_optimum import order
from benchmarks.solver.paper_bound import PaperBound
from benchmarks.timing import Progress, watched
from contact_ddp_ros.ocp.interior_point import InteriorPointSolver
from contact_ddp_ros.ocp.interior_solution import DualVariables, InteriorPointOptions, InteriorSolution
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Guess

Array = NDArray[np.float64]

TORQUE_LIMIT = 15.0
"""Of a leg pair [N m]: about two thirds of what the bound takes without limits."""

BARRIERS = (3e-4, 3e-5, 3e-6, 3e-7)
"""Barrier parameters of the starts, relative to the cost of the first trajectory."""

TARGET = 1.8

_SHARES = (1.0, 0.7, 0.5)
"""Of a barrier parameter: starts that tell the order."""

_ITERATIONS = 2
"""Followed from a start."""

_HELD = 60
"""Iterations on the way to the central path, at most."""

_END = InteriorPointOptions(
    mu=0.1, mu_power=1.7, slack_min=0.05, boundary=0.99999, gap_tolerance=1e-14, equality_tolerance=1e-14, crossover=0.0
)
_PATH = replace(_END, mu_power=1.0)
"""The optimum, and the way to the central path: by the barrier alone."""

_FINISHES = {
    "barrier": replace(_END, mu_power=2.0, sigma=1e8),
    "crossover": replace(_END, mu_power=2.0, sigma=1e9, sigma_max=1e9, crossover=1e-3, gap_tolerance=1e-13),
}
"""How an approach goes on."""


@dataclass(frozen=True)
class Limited:
    """A problem with hard limits and its optimum.

    Attributes:
        step: of integration [s]. problem, guess: to be solved, and where from.
        optimum: to rounding. n_active: inequalities that are active there.
        gap: of the module's text; slacks and multipliers as the solver scales them.
    """

    step: float
    problem: Problem
    guess: Guess
    optimum: InteriorSolution
    n_active: int
    gap: float

    def distance(self, found: InteriorSolution) -> float:
        """e of a trajectory."""
        there, here = self.optimum.solution, found.solution
        controls = (here.us - there.us) / TORQUE_LIMIT
        return float(np.sqrt(np.mean((here.xs - there.xs) ** 2) + np.mean(controls**2)))


@dataclass(frozen=True)
class Approach:
    """A run from the central path.

    Attributes:
        finish: how it goes on. step: of integration [s]. mu: barrier parameter of the start, relative to the cost.
            group: the one of BARRIERS of which it is a share.
        errors: e at the start and after every iteration. sweeps: of every iteration.
    """

    finish: str
    step: float
    mu: float
    group: float
    errors: tuple[float, ...]
    sweeps: tuple[int, ...]


def limited(step: float) -> Limited:
    """The problem at an integration step [s], solved."""
    bound = PaperBound(step=step)
    law = replace(bound.law, torque_limits=np.full(bound.problem.n_u, TORQUE_LIMIT))
    numbers = {**vars(bound.costs()), **law.numbers()}
    problem = bound.contact.assemble(bound.grid, law, numbers)
    guess = bound.start().guess
    optimum = _solver(_END).solve(problem, guess.xs[0], guess)
    slacks, multipliers = optimum.slacks, optimum.multipliers.inequalities
    there = np.isfinite(slacks)
    larger = np.maximum(slacks, multipliers)[there]
    active = int(np.sum(multipliers[there] > slacks[there]))
    return Limited(step, problem, guess, optimum, active, float(larger.min()))


def follow(case: Limited, group: float, share: float = 1.0) -> list[Approach]:
    """From the central path at a share of a barrier parameter relative to the cost, each way on."""
    begin = _central(case, share * group)
    guess = Guess(begin.solution.xs, begin.solution.us, begin.solution.gains)
    unit = _iterated(replace(_END, mu=1.0, warm_mu=1.0), case, guess, begin.multipliers, 0).mu
    found = []
    for finish, settings in _FINISHES.items():
        options = replace(settings, warm_mu=begin.mu / unit)
        # the first iteration of a solve is still at the start's barrier parameter, for which nothing is left to do
        courses = [_iterated(options, case, guess, begin.multipliers, 1 + k) for k in range(_ITERATIONS + 1)]
        sweeps = tuple(one.sweeps for one in courses[-1].solution.iterations[1:])
        errors = tuple(case.distance(one) for one in courses)
        found.append(Approach(finish, case.step, share * group, group, errors, sweeps))
    return found


def measure(
    steps: Sequence[float], barriers: Sequence[float] = BARRIERS, progress: Progress | None = None
) -> tuple[list[Limited], list[Approach]]:
    """Every integration step [s] from every barrier parameter."""
    cases = [limited(step) for step in watched(steps, progress)]
    return cases, [run for case in cases for mu in barriers for share in _SHARES for run in follow(case, mu, share)]


def metrics(cases: Sequence[Limited], runs: Sequence[Approach]) -> list[Metric]:
    """Per integration step, way on and distance: the order."""
    found = []
    for case in cases:
        text = f"hard limits, steps of {1e3 * case.step:g} ms"
        note = f"{case.n_active} active inequalities"
        found.append(Metric(f"{text}: complementarity gap", case.gap, None, note))
        for finish, group in dict.fromkeys((run.finish, run.group) for run in runs):
            own = [run for run in runs if (run.step, run.finish, run.group) == (case.step, finish, group)]
            first, *rest = own[0].errors
            note = f"then {' '.join(f'{error:.0e}' for error in rest)}; sweeps {' '.join(map(str, own[0].sweeps))}"
            value = order([replace(run, errors=run.errors[:2]) for run in own])
            target = TARGET if finish == "crossover" else None
            found.append(Metric(f"    {finish}: order from {first:.0e} off", value, target, note, at_least=True))
    return found


def _solver(options: InteriorPointOptions) -> InteriorPointSolver:
    return InteriorPointSolver(SolverOptions(tolerance=0.0, max_iterations=_HELD, hessian_blend_cut=0.1), options)


def _central(case: Limited, mu: float) -> InteriorSolution:
    """The optimum of the barrier problem: on the way from the cold start μ stops there."""
    x0 = case.guess.xs[0]
    solver = _solver(replace(_PATH, gap_tolerance=mu))
    return solver.solve(case.problem, x0, case.guess)


def _iterated(
    options: InteriorPointOptions, case: Limited, guess: Guess, warm: DualVariables, iterations: int
) -> InteriorSolution:
    return _solver(options).solve(case.problem, guess.xs[0], guess, warm=warm, max_iterations=iterations)
