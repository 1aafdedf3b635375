"""The paper's bound optimised from a perturbed first trajectory by every variant of the solver.

Nganga and Wensing, section 5.2: at most 50 iterations, one being of the inner solver, counted over all passes of the
outer loop. Where these end before the limit with every constraint satisfied, what is left goes into passes to a finer
tolerance, so that final costs compare. Variants take turns; time is the processor time of the thread.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import thread_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.solver.paper_bound import STEP, PaperBound, Start
from benchmarks.timing import Times, interleave
from contact_ddp_ros.ocp.continuation import ConstrainedSolution, Continuation, solve_constrained
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Solution
from contact_ddp_ros.robot.ground import cone_excess

Array = NDArray[np.float64]

CYCLES = 2
"""Of the gait, in the paper."""

ITERATIONS = 50
"""Of one solve, over all its passes."""

CONTINUATION = Continuation(epsilon=0.1, epsilon_min=0.1, delta_factor=0.1)
"""Costs of this problem are hundreds: a weight of 0.1 biases them by less than 1e-3 and needs no further passes."""

TOLERANCE, FINAL_TOLERANCE = 1e-6, 1e-11
"""Of the inner solver, relative to the cost. A pass that only prepares the next one gains nothing from a finer one."""

FINAL_RESIDUAL = 1e-9
"""Height at touchdown with which the finer passes are content: times its multiplier it is a difference of cost [m]."""

SOLVE, ITERATION = "solve", "iteration"
"""What is timed."""

PAPER_DDP, PAPER_TENSOR = 3.32, 28.3
"""Time of DDP by mRNEAc and by tensors over iLQR's, 50 iterations from 50 starts, as the paper measured it."""

TARGET_TIME, TARGET_TOUCHDOWN = 1.5, 1e-3
"""DDP's time over iLQR's; height of a foot at its touchdown [m]."""


@dataclass(frozen=True)
class Optimisation:
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


class VariantComparison:
    """The problem in every variant, and what their solves gave."""

    def __init__(self, variants: Sequence[str], cycles: int = CYCLES, step: float = STEP) -> None:
        widest = "ddp_tensor" if "ddp_tensor" in variants else "ddp"
        kernels = PaperBound(widest, cycles, step).contact.kernels
        self.bounds = {variant: PaperBound(variant, cycles, step, kernels) for variant in variants}
        self.found: list[Optimisation] = []
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
            first_pass_without_inequalities=False,
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
        """All variants in turn from one start; keeps what they found and DDP's motion."""
        start = next(iter(self.bounds.values())).start(seed)
        found: dict[str, ConstrainedSolution] = {}

        def run(variant: str) -> Mapping[str, float]:
            started = thread_time()
            found[variant] = self.solve(variant, start)
            elapsed = thread_time() - started
            return {SOLVE: elapsed, ITERATION: elapsed / found[variant].n_iterations}

        names = list(self.bounds)
        turn = (seed or 0) % len(names)  # nobody is always the first
        times = interleave({name: partial(run, name) for name in (*names[turn:], *names[:turn])}, 1, 1)
        for variant in names:
            self.found.append(judge(self.bounds[variant], seed, variant, found[variant]))
        self.motions[seed] = motion(self.bounds["ddp"], found["ddp"].solution)
        return times


def judge(bound: PaperBound, seed: int | None, variant: str, found: ConstrainedSolution) -> Optimisation:
    """What a solve gave."""
    solution, law = found.solution, bound.law
    drawn = motion(bound, solution)
    down = bound.contact.stance_table()[bound.grid.modes]
    iterations = [iteration for one in found.passes for iteration in one.solution.iterations]
    return Optimisation(
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
        penetration=max(0.0, float((law.grounds.heights - drawn.heights)[~down].max())),
        drift=float(np.abs(drawn.heights - law.grounds.heights)[down].max()),
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
