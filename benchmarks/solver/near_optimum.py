"""How fast the solver comes to an optimum of the paper's bound that is known to rounding.

The problem is solved with multipliers and barriers held fixed; the solver then starts nearby, and the distance e of its
trajectory from the optimum is followed iteration by iteration. From starts that differ in size only, the k-th iteration
makes e' = C_k e^p: the order p is the median slope of log e' over log e between starts, each k by itself, since what
kind of error is left, and so C_k, changes from one iteration to the next.

    e² = mean over nodes of |x − x*|² + mean of |(u − u*) / u_max|²

Settings add one thing after the other: stance alone, impacts and lift-offs, the touchdown constraint, the limits with
wide, narrower and final barriers. The outer loop is followed by itself: the touchdown residual pass by pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.solver.paper_bound import STEP, PaperBound
from benchmarks.solver.paper_optimisation import CONTINUATION
from contact_ddp_ros.ocp.continuation import solve_constrained
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.multipliers import AugmentedLagrangian
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Solution

Array = NDArray[np.float64]

STANCE_CYCLES = 0.2
"""Of the gait: less than the back stance, so that there is no switch."""

ITERATIONS = 12
"""Followed from a start, unless more are asked for."""

ROUNDING = 1e-12
"""Distances below are not looked at: the optimum itself is known to about 1e-14."""

REACH = 1e-10
"""Distance at which a start counts as brought to the optimum."""

_WIDEST = 0.03
"""Largest clearance of an optimum that counts: further off the curvature of the dynamics changes too."""

_PASSES = 10
"""Of the outer loop."""


@dataclass(frozen=True)
class Setting:
    """A fixed problem and its optimum.

    Attributes:
        name: for people. bound: the problem. penalty: (σ, δ, ε). multipliers: (N+1, n_e).
        optimum: solution to rounding.
        clearance: smallest distance to a limit, δ where that is larger; relative to the limits, at most 0.03.
    """

    name: str
    bound: PaperBound
    penalty: Array
    multipliers: Array
    optimum: Solution
    clearance: float


@dataclass(frozen=True)
class Descent:
    """Iterations from one start.

    Attributes:
        setting, variant: of the problem and the solver. direction: seed of the start. size: of the disturbance.
        errors: distance to the optimum at the start and after every iteration.
        full: whether every iteration took the full step, with all of its variant's curvature.
    """

    setting: str
    variant: str
    direction: int
    size: float
    errors: tuple[float, ...]
    full: bool


class Followed(Protocol):
    """What has a distance to the optimum at the start and after every iteration."""

    @property
    def errors(self) -> tuple[float, ...]:
        """e at the start and after every iteration."""
        ...


@dataclass(frozen=True)
class Outer:
    """Passes of the outer loop at a fixed penalty: residual [m] after each, by the usual or the learning update."""

    sigma: float
    learning: bool
    residuals: tuple[float, ...]


def settings(step: float = STEP) -> list[Setting]:
    """All settings, solved, at an integration step [s]."""
    whole = PaperBound(step=step)
    stance = PaperBound(cycles=STANCE_CYCLES, step=step, kernels=whole.contact.kernels)
    start = whole.start()
    found = solve_constrained(DdpSolver(), whole.problem, start.x0, start.guess, CONTINUATION)
    sigma, delta, epsilon = found.passes[-1].penalty
    guess = Guess(found.solution.xs, found.solution.us, found.solution.gains)
    none, held = np.zeros_like(found.multipliers), found.multipliers
    alone = stance.start()
    return [
        _setting("stance alone", stance, (0.0, 1.0, 0.0), none[: stance.grid.n_nodes + 1], alone.guess),
        _setting("+ impacts, lift-offs", whole, (0.0, 1.0, 0.0), none, guess),
        _setting("+ touchdown", whole, (sigma, 1.0, 0.0), held, guess),
        _setting("+ limits, δ = 0.1", whole, (sigma, 0.1, epsilon), held, guess),
        _setting("+ limits, δ = 0.001", whole, (sigma, 1e-3, epsilon), held, guess),
        _setting(f"+ limits, δ = {delta:g} (final)", whole, (sigma, delta, epsilon), held, guess),
    ]


def _setting(name: str, bound: PaperBound, penalty: Sequence[float], multipliers: Array, guess: Guess) -> Setting:
    solver, given = DdpSolver(SolverOptions(tolerance=1e-13, max_iterations=200)), np.array(penalty)
    solve = partial(solver.solve, bound.problem, guess.xs[0], multipliers=multipliers, penalty=given)
    optimum = solve(guess)
    for _ in range(3):  # full steps at rounding
        optimum = solve(Guess(optimum.xs, optimum.us, optimum.gains), max_iterations=1)
    return Setting(name, bound, given, multipliers, optimum, clearance(bound, optimum, given))


def clearance(bound: PaperBound, solution: Solution, penalty: Array) -> float:
    """Smallest max(z, δ) over all limits z ≥ 0."""
    _, delta, epsilon = penalty
    if epsilon == 0.0:
        return _WIDEST
    law, grid = bound.law, bound.grid
    _, _, n_f, n_a = bound.contact.sizes
    down = bound.contact.stance_table()[grid.modes[:-1]] & ~grid.switches[:, None]
    forces = bound.contact.forces(grid, solution.aux).reshape(-1, n_f, n_a)[down]
    normal, tangential = forces[:, -1], np.abs(forces[:, :-1]).max(axis=1)
    distances = (
        normal / law.force_scale,
        (law.friction * normal - tangential) / law.force_scale,
        (1.0 - np.abs(solution.us) / law.torque_limits).ravel(),
    )
    return min(_WIDEST, float(np.maximum(np.concatenate(distances), delta).min()))


def follow(setting: Setting, variant: str, direction: int, size: float, iterations: int = ITERATIONS) -> Descent:
    """Iterate from the optimum's controls disturbed by `size` times the limits, the gains closing the first rollout."""
    bound, optimum = setting.bound, setting.optimum
    solver = DdpSolver(SolverOptions(variant=variant, tolerance=0.0))
    noise = np.random.default_rng(direction).standard_normal(optimum.us.shape)
    us = optimum.us + size * bound.law.torque_limits * noise * bound.problem.has_control[:, None]

    solve = partial(
        solver.solve, bound.problem, optimum.xs[0], multipliers=setting.multipliers, penalty=setting.penalty
    )
    solution = solve(Guess(optimum.xs, us, optimum.gains), max_iterations=0)
    errors, full, theta = [distance(setting, solution)], True, 1.0
    while len(errors) <= iterations and errors[-1] > ROUNDING:
        solution = solve(Guess(solution.xs, solution.us, solution.gains), hessian_blend=theta, max_iterations=1)
        theta = solution.hessian_blend
        errors.append(distance(setting, solution))
        wanted = 0.0 if variant == "ilqr" else 1.0
        full = full and all(one.step == 1.0 and one.hessian_blend == wanted for one in solution.iterations)
    return Descent(setting.name, variant, direction, size, tuple(errors), full)


def distance(setting: Setting, solution: Solution) -> float:
    """e of the module's text."""
    states = solution.xs - setting.optimum.xs
    controls = (solution.us - setting.optimum.us) / setting.bound.law.torque_limits
    return float(np.sqrt(np.mean(states**2) + np.mean(controls**2)))


def order(runs: Sequence[Followed]) -> float:
    """p of the module's text, from runs that differ in size only; iterations that end in rounding do not count."""
    slopes: list[float] = []
    for k in range(max(len(run.errors) for run in runs) - 1):
        pairs = [run.errors[k : k + 2] for run in runs if len(run.errors) > k + 1 and run.errors[k + 1] > ROUNDING]
        for (e, after), (other, other_after) in combinations(pairs, 2):
            slopes.append(np.log(after / other_after) / np.log(e / other))
    return float(np.median(slopes)) if slopes else float("nan")


def rate(runs: Sequence[Descent]) -> float:
    """Share of e that an iteration leaves, the last iterations above rounding counting: their median."""
    shares = []
    for run in runs:
        errors = [error for error in run.errors if error > ROUNDING]
        shares += [b / a for a, b in zip(errors[-3:], errors[-2:], strict=False)]
    return float(np.median(shares))


def outer_loop(bound: PaperBound, sigma: float, learning: bool) -> Outer:
    """Passes from zero multipliers at a fixed penalty, limits left out."""
    start, problem = bound.start(), bound.problem
    solver = DdpSolver(SolverOptions(tolerance=1e-13, max_iterations=200))
    duals = AugmentedLagrangian(np.zeros((problem.n_nodes + 1, problem.n_e)))
    guess, residuals = start.guess, []
    for _ in range(_PASSES):
        penalty = np.array([sigma, 1.0, 0.0])
        solution = solver.solve(problem, start.x0, guess, multipliers=duals.y, penalty=penalty)
        residuals.append(solution.equality_violation)
        if residuals[-1] < ROUNDING:
            break
        duals.update(sigma, solution.residuals[:, :-1])
        if not learning:
            duals.reset()
        guess = Guess(solution.xs, solution.us, solution.gains)
    return Outer(sigma, learning, tuple(residuals))


def needed(runs: Sequence[Descent], size: float) -> float:
    """Iterations to REACH from disturbances of a size, median; as many as there were where it was not reached."""
    counts = [
        next((k for k, error in enumerate(run.errors) if error <= REACH), len(run.errors) - 1)
        for run in runs
        if run.size == size
    ]
    return float(np.median(counts))
