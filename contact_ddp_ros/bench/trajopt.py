"""`contact-ddp bench trajopt`: the paper's bound optimised from many perturbed first trajectories by every variant.

Nganga and Wensing, section 5.2: 50 first trajectories, 50 iterations, iLQR beside DDP by mRNEAc and by tensors. An
iteration is one of the inner solver, counted over all passes of the outer loop. Where these end before the limit with
every constraint satisfied, what is left goes into passes to a finer tolerance, so that final costs compare.
Variants take turns start by start; time is the processor time of the thread, as ratios to iLQR's from the same start.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import thread_time

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from contact_ddp_ros.bench.output import Figure, console, figures_as_json, print_figures, save_record
from contact_ddp_ros.bench.paper_bound import STEP, PaperBound, Start
from contact_ddp_ros.bench.timing import Spread, Times, interleave
from contact_ddp_ros.files import new_folder
from contact_ddp_ros.report.analysis import cone_excess
from contact_ddp_ros.solver.continuation import ConstrainedSolution, Continuation, solve_constrained
from contact_ddp_ros.solver.ddp import DdpSolver
from contact_ddp_ros.solver.options import SolverOptions
from contact_ddp_ros.solver.solution import Guess, Solution

Array = NDArray[np.float64]

VARIANTS = ("ilqr", "ddp", "ddp_tensor")
STARTS, QUICK_STARTS, CYCLES = 50, 6, 2
ITERATIONS = 50
"""Of one solve, over all its passes."""

PAPER_DDP, PAPER_TENSOR = 3.32, 28.3
TARGET_TIME, TARGET_COST, TARGET_TOUCHDOWN = 1.5, 1e-8, 1e-3
"""DDP's time over iLQR's; DDP's final cost over iLQR's, less one; height of a foot at its touchdown [m]."""

CONTINUATION = Continuation(epsilon=0.1, epsilon_min=0.1, delta_factor=0.1)
"""Costs of this problem are hundreds: a weight of 0.1 biases them by less than 1e-3 and needs no further passes."""

TOLERANCE, FINAL_TOLERANCE = 1e-6, 1e-11
"""Of the inner solver, relative to the cost. A pass that only prepares the next one gains nothing from a finer one."""

FINAL_RESIDUAL = 1e-9
"""Height at touchdown with which the finer passes are content: times its multiplier it is a difference of cost [m]."""

SOLVE, ITERATION = "solve", "iteration"


@dataclass(frozen=True)
class Outcome:
    """One solve, SI units.

    Attributes:
        seed: of the start, None for the nominal one. variant: of the solver.
        feasible: whether all constraints hold within the tolerances of the outer loop.
        termination: of the last pass.
        iterations, passes, sweeps, rollouts: how many, in all.
        cost: without penalties, at the end.
        touchdown: largest height of a foot at its touchdown [m].
        inequality: largest violation relative to the limit or, of forces, to the weight.
        torque: largest share of the limit. cone_excess: largest distance of a force from the friction cone [N].
        penetration: how far a foot in the air is below the ground at most [m].
        drift: largest change of a stance foot's height in a stance [m].
        violations: larger one of touchdown [m] and inequality after every iteration, not-a-number where the pass does
            not know the inequalities.
    """

    seed: int | None
    variant: str
    feasible: bool
    termination: str
    iterations: int
    passes: int
    sweeps: int
    rollouts: int
    cost: float
    touchdown: float
    inequality: float
    torque: float
    cone_excess: float
    penetration: float
    drift: float
    violations: tuple[float, ...]


@dataclass(frozen=True)
class Motion:
    """A solution as it is drawn: (N+1, 2n) states, (N, n_u) torques, (N, n_f, n_a) forces, (N+1, n_f) foot heights."""

    states: Array
    torques: Array
    forces: Array
    heights: Array


class Comparison:
    """The problem in every variant, and what their solves gave."""

    def __init__(self, variants: Sequence[str], cycles: int = CYCLES, step: float = STEP) -> None:
        widest = "ddp_tensor" if "ddp_tensor" in variants else "ddp"
        kernels = PaperBound(widest, cycles, step).contact.kernels
        self.bounds = {variant: PaperBound(variant, cycles, step, kernels) for variant in variants}
        self.outcomes: list[Outcome] = []
        self.motions: dict[int | None, Motion] = {}
        self._solvers, self._finishers = (
            {variant: DdpSolver(SolverOptions(variant=variant, tolerance=tolerance)) for variant in variants}
            for tolerance in (TOLERANCE, FINAL_TOLERANCE)
        )

    def solve(self, variant: str, start: Start) -> ConstrainedSolution:
        """Optimise from a start, within the iterations allowed."""
        problem, solver = self.bounds[variant].problem, self._solvers[variant]
        found = solve_constrained(solver, problem, start.x0, start.guess, CONTINUATION, ITERATIONS)
        left = ITERATIONS - found.n_iterations
        if not found.feasible or left <= 0:
            return found
        solution, (sigma, delta, epsilon) = found.solution, found.passes[-1].penalty
        settings = replace(
            CONTINUATION,
            sigma=sigma,
            delta=delta,
            delta_factor=1.0,
            epsilon=epsilon,
            free_first_pass=False,
            equality_tolerance=FINAL_RESIDUAL,
        )
        guess = Guess(solution.xs, solution.us, solution.gains)
        finer = solve_constrained(self._finishers[variant], problem, start.x0, guess, settings, left, found.multipliers)
        holds = (
            finer.solution.equality_violation <= CONTINUATION.equality_tolerance
            and finer.solution.inequality_violation <= CONTINUATION.inequality_tolerance
        )
        return replace(finer, passes=(*found.passes, *finer.passes), feasible=holds)

    def run(self, seed: int | None) -> Times:
        """All variants in turn from one start; keeps their outcomes and DDP's motion."""
        start = next(iter(self.bounds.values())).start(seed)
        found: dict[str, ConstrainedSolution] = {}

        def candidate(variant: str) -> Callable[[], Mapping[str, float]]:
            def run() -> Mapping[str, float]:
                started = thread_time()
                found[variant] = self.solve(variant, start)
                elapsed = thread_time() - started
                return {SOLVE: elapsed, ITERATION: elapsed / found[variant].n_iterations}

            return run

        names = list(self.bounds)
        turn = (seed or 0) % len(names)  # nobody is always the first
        times = interleave({name: candidate(name) for name in (*names[turn:], *names[:turn])}, 1, 1)
        for variant in names:
            self.outcomes.append(judge(self.bounds[variant], seed, variant, found[variant]))
        self.motions[seed] = motion(self.bounds["ddp"], found["ddp"].solution)
        return times


def judge(bound: PaperBound, seed: int | None, variant: str, found: ConstrainedSolution) -> Outcome:
    """What a solve gave."""
    solution, law = found.solution, bound.law
    drawn = motion(bound, solution)
    down = bound.contact.stance_table()[bound.grid.modes]
    iterations = [iteration for one in found.passes for iteration in one.solution.iterations]
    return Outcome(
        seed=seed,
        variant=variant,
        feasible=found.feasible,
        termination=solution.termination.name,
        iterations=found.n_iterations,
        passes=len(found.passes),
        sweeps=sum(one.sweeps for one in iterations),
        rollouts=sum(one.rollouts for one in iterations),
        cost=plain_cost(bound, solution),
        touchdown=solution.equality_violation,
        inequality=solution.inequality_violation,
        torque=float((np.abs(solution.us) / law.torque_limits).max()),
        cone_excess=max(0.0, float(cone_excess(drawn.forces[down[:-1]], law.friction).max())),
        penetration=max(0.0, float((law.ground_height - drawn.heights)[~down].max())),
        drift=float(np.abs(drawn.heights - law.ground_height)[down].max()),
        violations=tuple(
            max(iteration.equality, iteration.inequality) if one.penalty[-1] > 0.0 else float("nan")
            for one in found.passes
            for iteration in one.solution.iterations
        ),
    )


def motion(bound: PaperBound, solution: Solution) -> Motion:
    """The solution with its forces and foot heights."""
    _, _, n_f, n_a = bound.contact.sizes
    forces = bound.contact.forces(bound.grid, solution.aux).reshape(-1, n_f, n_a)
    heights = np.array([bound.feet(x)[0][:, -1] for x in solution.xs])
    return Motion(solution.xs, solution.us, forces, heights)


def plain_cost(bound: PaperBound, solution: Solution) -> float:
    """Cost of a solution's trajectory without multipliers, penalties and barriers."""
    guess = Guess(solution.xs, solution.us, solution.gains)
    none = np.array([0.0, 1.0, 0.0])
    return DdpSolver().solve(bound.problem, solution.xs[0], guess, penalty=none, max_iterations=0).cost


def measure(comparison: Comparison, seeds: Sequence[int], progress: Callable[[float], None] | None = None) -> Times:
    """Every start by every variant; (seeds,) times."""
    turns = []
    for i, seed in enumerate(seeds):
        turns.append(comparison.run(seed))
        if progress is not None:
            progress((i + 1) / len(seeds))
    return Times(
        {
            variant: {
                part: np.concatenate([turn.parts[variant][part] for turn in turns]) for part in (SOLVE, ITERATION)
            }
            for variant in comparison.bounds
        }
    )


def figures(times: Times, outcomes: Sequence[Outcome]) -> list[Figure]:
    """What the table shows."""
    by_variant = {variant: [one for one in outcomes if one.variant == variant] for variant in times.parts}
    names = {"ddp": "DDP / iLQR", "ddp_tensor": "DDP by tensors / iLQR"}
    rows = []
    for variant, paper in (("ddp", PAPER_DDP), ("ddp_tensor", PAPER_TENSOR)):
        if variant not in times.parts:
            continue
        target = TARGET_TIME if variant == "ddp" else None
        for part, text in ((ITERATION, "time of an iteration"), (SOLVE, "time of a solve")):
            ratio = times.ratio((variant, part), ("ilqr", part))
            rows.append(
                Figure(f"{names[variant]}, {text}", ratio, target, f"paper {paper}" if part == ITERATION else "")
            )
    for variant, runs in by_variant.items():
        share = sum(one.feasible for one in runs) / len(runs)
        rows.append(Figure(f"{variant}: share that ends feasible", share, 1.0, f"of {len(runs)}", at_least=True))
        rows.append(Figure(f"    iterations, at most {ITERATIONS}", _spread(runs, "iterations")))
        rows.append(Figure("    sweeps per iteration", Spread.of(np.array([r.sweeps / r.iterations for r in runs]))))
    for variant in [name for name in names if name in by_variant]:
        pairs = zip(by_variant[variant], by_variant["ilqr"], strict=True)
        worst = max(mine.cost / other.cost - 1.0 for mine, other in pairs)
        rows.append(Figure(f"{names[variant]}, final cost less one, worst start", worst, TARGET_COST))
    millimetres = 1e3
    worst = max(one.touchdown for one in outcomes)
    rows.append(
        Figure("height at touchdown, largest of all", millimetres * worst, millimetres * TARGET_TOUCHDOWN, unit="mm")
    )
    rows.append(Figure("    drift of a stance foot's height", millimetres * max(r.drift for r in outcomes), unit="mm"))
    rows.append(
        Figure("    foot in the air below the ground", millimetres * max(r.penetration for r in outcomes), unit="mm")
    )
    rows.append(Figure("torque, largest share of the limit", max(r.torque for r in outcomes), 1.0))
    rows.append(Figure("force outside the friction cone, largest", max(r.cone_excess for r in outcomes), 0.0, unit="N"))
    return rows


def _spread(outcomes: Sequence[Outcome], name: str) -> Spread:
    return Spread.of(np.array([getattr(one, name) for one in outcomes], dtype=float))


def main(arguments: Sequence[str]) -> int:
    """Measure, print, save; the exit code is 0 whether targets are met or not."""
    options = _parse(arguments)
    starts = options.starts or (QUICK_STARTS if options.quick else STARTS)
    folder = new_folder("bench-trajopt", options.out)
    terminal = console()
    comparison = Comparison(VARIANTS[:-1] if options.no_tensor else VARIANTS, options.cycles)
    comparison.run(None)
    nominal, comparison.outcomes = comparison.outcomes, []
    with Progress(console=terminal, transient=True, disable=not terminal.is_terminal) as bars:
        task = bars.add_task("starts", total=1.0)
        times = measure(comparison, range(starts), lambda share: bars.update(task, completed=share))
    rows = figures(times, comparison.outcomes)
    save_record(
        folder,
        "trajopt",
        {"starts": starts, "cycles": options.cycles, "iterations": ITERATIONS, "continuation": asdict(CONTINUATION)},
        {
            "figures": figures_as_json(rows),
            "times": {variant: dict(parts) for variant, parts in times.parts.items()},
            "nominal": [asdict(one) for one in nominal],
            "outcomes": [asdict(one) for one in comparison.outcomes],
        },
    )
    print_figures(terminal, f"The paper's bound, {starts} starts, {options.cycles} cycle(s), one thread", rows)
    for one in comparison.outcomes:
        if not one.feasible:
            terminal.print(
                f"Start {one.seed} by {one.variant} is not feasible after {one.iterations} iterations in {one.passes} "
                f"passes ({one.termination}): touchdown {one.touchdown:.1e} m, inequalities {one.inequality:.1e}",
                highlight=False,
                soft_wrap=True,
            )
    from contact_ddp_ros.bench import trajopt_figure

    trajopt_figure.draw(comparison, times, folder)
    terminal.print(f"Saved in {folder}", highlight=False, soft_wrap=True)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="contact-ddp bench trajopt", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_STARTS} starts instead of {STARTS}")
    parser.add_argument("--starts", type=_positive, metavar="N", help="number of perturbed first trajectories")
    parser.add_argument(
        "--cycles", type=_positive, default=CYCLES, metavar="N", help="gait cycles (default: %(default)s)"
    )
    parser.add_argument("--no-tensor", action="store_true", help="leave out the tensor variant and its compilation")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="new or empty folder (default: out/bench-trajopt-<time>)"
    )
    return parser.parse_args(list(arguments))


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value
