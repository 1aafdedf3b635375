"""`contact-ddp bench convergence`: observed order of convergence near an optimum, across impacts and constraints.

Nganga and Wensing leave open whether DDP's quadratic rate holds for hybrid systems. Here the paper's bound is solved to
rounding with multipliers and barriers held fixed; the solver then starts nearby, and the distance e of its trajectory
from the optimum is followed iteration by iteration. From starts that differ in size only, the k-th iteration makes
e' = C_k e^p: the order p is the median slope of log e' over log e between starts, each k by itself, since what kind of
error is left, and so C_k, changes from one iteration to the next. There is one order per direction of the start.

Settings add one thing after the other: stance alone, impacts and lift-offs, the touchdown constraint, the limits with
wide, narrower and final barriers. The outer loop is followed by itself: the touchdown residual pass by pass, with the
usual multiplier update and with the one that learns the dual's curvature.

    e² = mean over nodes of |x − x*|² + mean of |(u − u*) / u_max|²
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from contact_ddp_ros.bench.output import Figure, console, figures_as_json, number, print_figures, save_record
from contact_ddp_ros.bench.paper_bound import STEP, PaperBound
from contact_ddp_ros.bench.timing import Spread
from contact_ddp_ros.bench.trajopt import CONTINUATION
from contact_ddp_ros.files import new_folder
from contact_ddp_ros.solver.continuation import solve_constrained
from contact_ddp_ros.solver.ddp import DdpSolver
from contact_ddp_ros.solver.multipliers import Multipliers
from contact_ddp_ros.solver.options import SolverOptions
from contact_ddp_ros.solver.solution import Guess, Solution

Array = NDArray[np.float64]

VARIANTS = ("ilqr", "ddp")
STANCE_CYCLES = 0.2
"""Of the gait: less than the back stance, so that there is no switch."""

ROUNDING = 1e-12
"""Distances below are not looked at: the optimum itself is known to about 1e-14."""

REACH = 1e-10
"""Distance at which a start counts as brought to the optimum."""

TARGET_DDP, TARGET_ILQR = 1.8, 1.2
_SHARES, _WIDEST = (0.1, 0.03, 0.01, 0.003), 0.03
"""Sizes of the starts over the clearance of the optimum, on which scale the barriers' curvature changes, and the
largest clearance that counts: further off the curvature of the dynamics changes too."""


_DISTANCES, FAR = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1), 1e-3
"""Sizes from which the iterations are counted, relative to the limits, and the one in the table."""

_ITERATIONS, _FAR_ITERATIONS = 12, 60
_SIGMAS = (1e4, 1e5, 1e6)
_PASSES = 10


@dataclass(frozen=True)
class Effort:
    """How much is measured: directions of the starts, and of those that tell how far from the optimum it lasts."""

    directions: int
    far_directions: int


FULL, QUICK = Effort(directions=20, far_directions=3), Effort(directions=4, far_directions=1)


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
class Run:
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
    solver = DdpSolver(SolverOptions(tolerance=1e-13, max_iterations=200))
    given = np.array(penalty)
    optimum = solver.solve(bound.problem, guess.xs[0], guess, multipliers=multipliers, penalty=given)
    for _ in range(3):  # full steps at rounding
        again = Guess(optimum.xs, optimum.us, optimum.gains)
        optimum = solver.solve(
            bound.problem, guess.xs[0], again, multipliers=multipliers, penalty=given, max_iterations=1
        )
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


def follow(setting: Setting, variant: str, direction: int, size: float, iterations: int = _ITERATIONS) -> Run:
    """Iterate from the optimum's controls disturbed by `size` times the limits, the gains closing the first rollout."""
    bound, optimum = setting.bound, setting.optimum
    solver = DdpSolver(SolverOptions(variant=variant, tolerance=0.0))
    noise = np.random.default_rng(direction).standard_normal(optimum.us.shape)
    us = optimum.us + size * bound.law.torque_limits * noise * bound.problem.has_control[:, None]

    def advance(guess: Guess, theta: float, count: int) -> Solution:
        return solver.solve(
            bound.problem,
            optimum.xs[0],
            guess,
            multipliers=setting.multipliers,
            penalty=setting.penalty,
            theta=theta,
            max_iterations=count,
        )

    solution = advance(Guess(optimum.xs, us, optimum.gains), 1.0, 0)
    errors, full, theta = [distance(setting, solution)], True, 1.0
    while len(errors) <= iterations and errors[-1] > ROUNDING:
        solution = advance(Guess(solution.xs, solution.us, solution.gains), theta, 1)
        theta = solution.theta
        errors.append(distance(setting, solution))
        wanted = 0.0 if variant == "ilqr" else 1.0
        full = full and all(one.step == 1.0 and one.theta == wanted for one in solution.iterations)
    return Run(setting.name, variant, direction, size, tuple(errors), full)


def distance(setting: Setting, solution: Solution) -> float:
    """e of the module's text."""
    states = solution.xs - setting.optimum.xs
    controls = (solution.us - setting.optimum.us) / setting.bound.law.torque_limits
    return float(np.sqrt(np.mean(states**2) + np.mean(controls**2)))


def order(runs: Sequence[Run]) -> float:
    """p of the module's text, from runs that differ in size only; iterations that end in rounding do not count."""
    slopes: list[float] = []
    for k in range(max(len(run.errors) for run in runs) - 1):
        pairs = [run.errors[k : k + 2] for run in runs if len(run.errors) > k + 1 and run.errors[k + 1] > ROUNDING]
        for (e, after), (other, other_after) in combinations(pairs, 2):
            slopes.append(np.log(after / other_after) / np.log(e / other))
    return float(np.median(slopes)) if slopes else float("nan")


def rate(runs: Sequence[Run]) -> float:
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
    duals = Multipliers(np.zeros((problem.n_nodes + 1, problem.n_e)))
    guess, residuals = start.guess, []
    for _ in range(_PASSES):
        penalty = np.array([sigma, 1.0, 0.0])
        solution = solver.solve(problem, start.x0, guess, multipliers=duals.y, penalty=penalty)
        residuals.append(solution.equality_violation)
        if residuals[-1] < ROUNDING:
            break
        duals.update(sigma, solution.residuals[:, :-1])
        if not learning:
            duals.forget()
        guess = Guess(solution.xs, solution.us, solution.gains)
    return Outer(sigma, learning, tuple(residuals))


def main(arguments: Sequence[str]) -> int:
    """Measure, print, save; the exit code is 0 whether targets are met or not."""
    options = _parse(arguments)
    effort = QUICK if options.quick else FULL
    folder = new_folder("bench-convergence", options.out)
    terminal = console()
    with Progress(console=terminal, transient=True, disable=not terminal.is_terminal) as bars:
        task = bars.add_task("starts", total=1.0)
        solved = settings()
        near, far = measure(solved, effort, lambda share: bars.update(task, completed=share))
        outer = [outer_loop(solved[-1].bound, sigma, learning) for sigma in _SIGMAS for learning in (False, True)]
    rows = figures(near, far, outer)
    results: dict[str, Any] = {
        "figures": figures_as_json(rows),
        "clearance": {setting.name: setting.clearance for setting in solved},
        "near": [asdict(run) for run in near],
        "far": [asdict(run) for run in far],
        "outer": [asdict(one) for one in outer],
    }
    save_record(folder, "convergence", {"quick": options.quick, **asdict(effort)}, results)
    print_figures(terminal, "Observed order of convergence near the optimum", rows)
    from contact_ddp_ros.bench import convergence_figure

    convergence_figure.draw(near, far, outer, folder / "convergence.png")
    terminal.print(f"Saved in {folder}", highlight=False, soft_wrap=True)
    return 0


def measure(
    solved: Sequence[Setting], effort: Effort, progress: Callable[[float], None] | None = None
) -> tuple[list[Run], list[Run]]:
    """(runs within the clearance, runs from fixed distances)."""
    near: list[Run] = []
    far: list[Run] = []
    for i, setting in enumerate(solved):
        sizes = [share * setting.clearance for share in _SHARES]
        for variant in VARIANTS:
            near += [follow(setting, variant, d, size) for d in range(effort.directions) for size in sizes]
            far += [
                follow(setting, variant, d, size, _FAR_ITERATIONS)
                for d in range(effort.far_directions)
                for size in _DISTANCES
            ]
        if progress is not None:
            progress((i + 1) / len(solved))
    return near, far


def figures(near: Sequence[Run], far: Sequence[Run], outer: Sequence[Outer]) -> list[Figure]:
    """What the table shows."""
    rows = []
    for setting in dict.fromkeys(run.setting for run in near):
        for variant, text in (("ddp", "DDP"), ("ilqr", "iLQR")):
            runs = [run for run in near if (run.setting, run.variant) == (setting, variant)]
            directions = sorted({run.direction for run in runs})
            orders = np.array([order([run for run in runs if run.direction == d]) for d in directions])
            whole = sum(run.full for run in runs) / len(runs)
            note = f"full steps from {100.0 * whole:.0f} % of starts"
            if variant == "ddp":
                rows.append(Figure(f"{setting}: order of DDP", Spread.of(orders), TARGET_DDP, note, at_least=True))
            else:
                note = f"leaves {number(rate(runs))} of the error per iteration; {note}"
                rows.append(Figure(f"    order of {text}", Spread.of(orders), TARGET_ILQR, note))
        counts = [
            needed([one for one in far if (one.setting, one.variant) == (setting, v)], FAR) for v in ("ddp", "ilqr")
        ]
        note = f"{counts[0]:g} / {counts[1]:g}"
        rows.append(Figure(f"    iterations from {FAR:g} off, DDP / iLQR", counts[0] / counts[1], None, note))
    for sigma in dict.fromkeys(one.sigma for one in outer):
        usual, learning = (next(o for o in outer if o.sigma == sigma and o.learning is k) for k in (False, True))
        note = f"{_reached(learning)} with the dual's curvature learnt, {_reached(usual)} without"
        share = usual.residuals[-1] / usual.residuals[-2]
        rows.append(Figure(f"outer loop, σ = {sigma:.0e}: share of residual left", share, None, note))
    return rows


def needed(runs: Sequence[Run], size: float) -> float:
    """Iterations to REACH from disturbances of a size, median; as many as there were where it was not reached."""
    counts = [
        next((k for k, error in enumerate(run.errors) if error <= REACH), len(run.errors) - 1)
        for run in runs
        if run.size == size
    ]
    return float(np.median(counts))


def _reached(one: Outer) -> str:
    return f"{one.residuals[-1]:.0e} m after {len(one.residuals)} passes"


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="contact-ddp bench convergence", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer starts")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="new or empty folder (default: out/bench-convergence-<time>)"
    )
    return parser.parse_args(list(arguments))
