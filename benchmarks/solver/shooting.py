"""`contact-ddp bench shooting`: what multiple shooting buys, and where it buys nothing.

The same optimisations from the same guesses by single shooting, which rolls a guess out, and by multiple shooting,
which takes its states as they are (:mod:`contact_ddp_ros.ocp.defects`), over horizons of one cycle and more:

* the receding horizon's problem, offline, from a standing robot at several speeds, until every constraint holds. The
  guesses are "line", states on a line to the last reference and no torques; "disturbed", random states and torques
  about it; "heuristic", the package's own of reference states, torques that carry the weight, and a joint PD, with
  which single shooting closes its rollout;
* the paper's bound (:mod:`benchmarks.solver.paper_bound`) from perturbed initial states, "line" as guess.

An optimisation succeeds where it ends converged with every constraint satisfied, at a cost within a hundredth of the
least that any optimisation of its problem found: over long horizons single shooting also ends at worse local optima.
The last figure is what open gaps add to an iteration, in processor time of the thread.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from benchmarks.benchmark import Benchmark, Findings, Run
from benchmarks.output import Metric, record_of
from benchmarks.solver.case import mpc_cases
from benchmarks.solver.iteration import ITERATION, Stages
from benchmarks.solver.paper_bound import PaperBound
from benchmarks.solver.paper_optimisation import CONTINUATION, plain_cost
from benchmarks.timing import Progress, Spread, interleave, watched
from contact_ddp_ros.base.choices import SHOOTINGS
from contact_ddp_ros.base.config import replace
from contact_ddp_ros.mpc.config import PlannerConfig, for_model
from contact_ddp_ros.mpc.offline import OfflineOptimiser
from contact_ddp_ros.ocp.continuation import ConstrainedSolution, solve_constrained
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Guess, Termination
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.runs.report.progress import progress_bar
from contact_ddp_ros.runs.report.style import POINT_COLOURS, figure
from contact_ddp_ros.runs.study.study import grouped

Array = NDArray[np.float64]

GUESSES = ("line", "disturbed", "heuristic")
PAPER = "paper's bound, line"

ITERATIONS = 300
"""Of one optimisation, over all its passes."""

WITHIN = 0.01
"""A cost that exceeds the least by a larger share is that of another optimum."""

_POSITIONS, _RATES, _TORQUES = 0.2, 3.0, 5.0
"""Standard deviations of the disturbed guess: joints and pitch [rad], their rates [rad/s], torques [N m]."""

_GAP = 1e-9
"""Of the timed iteration: its size does not matter [state's units]."""

_STYLES = {"single": ("--", "s"), "multiple": ("-", "o")}
_APART = 0.012
"""Shares that coincide are drawn that far from each other."""


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    cycles: tuple[int, ...]
    speeds: tuple[float, ...]
    seeds: tuple[int, ...]
    paper_cycles: tuple[int, ...]
    paper_seeds: tuple[int, ...]
    rounds: int


FULL = Effort((1, 2, 3, 4, 6), (0.0, 0.5, 1.0, 1.5), (0, 1, 2), (1, 2, 3, 4), tuple(range(10)), 200)
QUICK = Effort((1, 2, 4), (0.5, 1.5), (0,), (1, 2), (0, 1), 40)


@dataclass(frozen=True)
class Attempt:
    """One optimisation.

    Attributes:
        guess: one of GUESSES, or PAPER. cycles: in the horizon. case: speed [m/s] and seed, whose optimum is one.
        shooting: one of SHOOTINGS.
        termination: of the last pass. feasible: whether all constraints hold.
        iterations: over all passes. cost: at the end, without the penalties of the paper's bound.
        gap: largest at the end.
    """

    guess: str
    cycles: int
    case: str
    shooting: str
    termination: str
    feasible: bool
    iterations: int
    cost: float
    gap: float

    @property
    def problem(self) -> tuple[bool, int, str]:
        """What it shares with the attempts that have the same optimum."""
        return self.guess == PAPER, self.cycles, self.case


def successes(attempts: Iterable[Attempt]) -> dict[Attempt, bool]:
    """True if each attempt ended at the best optimum known of its problem."""
    attempts, best = list(attempts), dict[tuple[bool, int, str], float]()
    for one in attempts:
        if _ended(one):
            best[one.problem] = min(one.cost, best.get(one.problem, np.inf))
    return {one: _ended(one) and one.cost <= (1.0 + WITHIN) * best[one.problem] for one in attempts}


def _ended(one: Attempt) -> bool:
    return one.feasible and one.termination == Termination.CONVERGED.name


def line(problem: Problem, start: Array, end: Array) -> Guess:
    """States on a line from start to end (2n,), no torques, no gains."""
    share = np.linspace(0.0, 1.0, problem.n_nodes + 1)[:, None]
    return _open((1.0 - share) * start + share * end, np.zeros((problem.n_nodes, problem.n_u)))


def _open(xs: Array, us: Array) -> Guess:
    return Guess(xs, us, np.zeros((*us.shape, xs.shape[1])))


def disturbed(guess: Guess, seed: int) -> Guess:
    """A guess with random states and torques about it; the trunk's position stays."""
    rng = np.random.default_rng(seed)
    xs, us = guess.xs.copy(), guess.us + _TORQUES * rng.standard_normal(guess.us.shape)
    n = xs.shape[1] // 2
    spread = np.concatenate([[0.0, 0.0], np.full(n - 2, _POSITIONS), [0.0, 0.0], np.full(n - 2, _RATES)])
    xs[1:] += spread * rng.standard_normal(xs[1:].shape)
    return _open(xs, us)


def attempts_offline(cycles: int, speed: float, seeds: Sequence[int]) -> list[Attempt]:
    """The receding horizon's problem from every guess by both shootings."""
    robot = load_robot()
    start = PlanarModel(robot).state(robot.standing_state())
    config = replace(for_model(PlannerConfig(), PlanarModel.name), {"gait.horizon_cycles": float(cycles)})
    found = []
    for shooting in SHOOTINGS:
        optimiser = OfflineOptimiser(PlanarModel(robot), config, robot.model_hash, shooting)
        problem, reference = optimiser.problem(speed)
        straight = line(problem, start, reference[-1])
        guesses = [("line", straight), ("heuristic", optimiser.guess(speed))]
        guesses += [("disturbed", disturbed(straight, seed)) for seed in seeds]
        for name, guess in guesses:
            outcome = optimiser.outcome(start, speed, guess=guess, max_iterations=ITERATIONS)
            found.append(_attempt(name, cycles, f"{speed:g} m/s", shooting, outcome, outcome.solution.cost))
    return found


def attempts_on_paper(bound: PaperBound, cycles: int, seed: int) -> list[Attempt]:
    """The paper's bound from a perturbed initial state by both shootings."""
    start, end, found = bound.start(seed).x0, bound.costs().states[-1], []
    for shooting in SHOOTINGS:
        solver = DdpSolver(SolverOptions(shooting=shooting))
        guess = line(bound.problem, start, end)
        outcome = solve_constrained(solver, bound.problem, start, guess, CONTINUATION, ITERATIONS)
        cost = plain_cost(bound, outcome.solution) if outcome.feasible else np.inf
        found.append(_attempt(PAPER, cycles, f"start {seed}", shooting, outcome, cost))
    return found


def _attempt(guess: str, cycles: int, case: str, shooting: str, outcome: ConstrainedSolution, cost: float) -> Attempt:
    return Attempt(
        guess=guess,
        cycles=cycles,
        case=case,
        shooting=shooting,
        termination=outcome.solution.termination.name,
        feasible=outcome.feasible,
        iterations=outcome.n_iterations,
        cost=cost,
        gap=outcome.solution.gap,
    )


def measure(effort: Effort, progress: Progress | None = None) -> list[Attempt]:
    """All attempts."""
    bounds = {cycles: PaperBound(cycles=cycles) for cycles in effort.paper_cycles}
    tasks = [partial(attempts_offline, *case, effort.seeds) for case in product(effort.cycles, effort.speeds)]
    tasks += [partial(attempts_on_paper, bounds[n], n, seed) for n, seed in product(bounds, effort.paper_seeds)]
    return [attempt for task in watched(tasks, progress) for attempt in task()]


def time_of_gaps(rounds: int) -> Spread:
    """Time of an iteration with open gaps over that of one without, at the optimum of one cycle."""
    case = mpc_cases().optimum
    gaps = np.full((case.problem.n_nodes, case.problem.n_x), _GAP)
    candidates = {"closed": Stages(case, 1.0).timed, "open": Stages(case, 1.0, gaps).timed}
    return interleave(candidates, rounds, 5).ratio(("open", ITERATION), ("closed", ITERATION))


def metrics(attempts: Sequence[Attempt], time: Spread) -> list[Metric]:
    """Shares of success and iterations: multiple shooting's as the figure, single shooting's as the note."""
    succeeded, rows = successes(attempts), []
    groups = grouped(attempts, lambda one: (one.guess, one.cycles > 1))
    for guess in grouped(attempts, lambda one: one.guess):
        for longer, horizon in ((False, "one cycle"), (True, "longer")):
            runs = grouped(groups.get((guess, longer), ()), lambda one: one.shooting)
            if not runs:
                continue
            good = {shooting: [one.iterations for one in own if succeeded[one]] for shooting, own in runs.items()}
            share = {shooting: len(good[shooting]) / len(own) for shooting, own in runs.items()}
            note = f"single {share['single']:.2g}; {len(runs['multiple'])} each"
            rows.append(Metric(f"{guess}, {horizon}: share that succeeds", share["multiple"], None, note))
            if good["multiple"]:
                other = f"single {np.median(good['single']):.0f}" if good["single"] else "single never"
                rows.append(Metric("    iterations where it does", Spread.of(good["multiple"]), None, other))
    left = max(one.gap for one in attempts if one.shooting == "multiple" and one.feasible)
    rows.append(Metric("largest gap left at the end of a feasible optimisation", left, 0.0))
    rows.append(Metric("time of an iteration with open gaps / without", time))
    return rows


def draw(attempts: Sequence[Attempt], path: Path) -> None:
    """A row per guess: share of success and iterations against the horizon."""
    groups, succeeded = grouped(attempts, lambda one: one.guess), successes(attempts)
    with figure(path, 9.0, 2.3 * len(groups), "Multiple and single shooting from the same guesses") as drawn:
        panels = drawn.subplots(len(groups), 2, squeeze=False, sharex=True)
        for (guess, members), (shares, counts) in zip(groups.items(), panels, strict=True):
            group = {one: succeeded[one] for one in members}
            _shares(shares, guess, group)
            _counts(counts, group)
        for axes in panels[-1]:
            axes.set_xlabel("horizon [gait cycles]")
            axes.set_xticks(sorted({one.cycles for one in attempts}))
        panels[0][0].legend(loc="center right")


def _shares(axes: Axes, guess: str, group: dict[Attempt, bool]) -> None:
    for index, shooting in enumerate(SHOOTINGS):
        line, marker = _STYLES[shooting]
        cycles = sorted({one.cycles for one in group})
        runs = [[good for one, good in group.items() if (one.shooting, one.cycles) == (shooting, c)] for c in cycles]
        share = np.array([np.mean(one) for one in runs]) + _APART * (2 * index - 1)
        axes.plot(cycles, share, line, marker=marker, color=POINT_COLOURS[1 - index], label=f"{shooting} shooting")
    axes.set(title=guess[0].upper() + guess[1:], ylabel="share that succeeds", ylim=(-0.06, 1.06))


def _counts(axes: Axes, group: dict[Attempt, bool]) -> None:
    for index, shooting in enumerate(SHOOTINGS):
        _, marker = _STYLES[shooting]
        runs = [one for one, good in group.items() if good and one.shooting == shooting]
        shifted = [one.cycles + 0.06 * (2 * index - 1) for one in runs]
        colour = POINT_COLOURS[1 - index]
        axes.plot(shifted, [one.iterations for one in runs], marker, color=colour, markersize=4, alpha=0.6)
    axes.set(ylabel="iterations of a success")
    axes.set_ylim(0.0, 1.1 * max((one.iterations for one, good in group.items() if good), default=1))


def _measure(run: Run) -> Findings:
    effort = QUICK if run.options.quick else FULL
    with progress_bar(run.terminal, "optimisations") as advance:
        attempts = measure(effort, advance)
    succeeded = successes(attempts)
    return Findings(
        settings={"quick": run.options.quick, **asdict(effort)},
        results={"attempts": [{**record_of(one), "succeeded": succeeded[one]} for one in attempts]},
        title="Multiple shooting beside single shooting",
        metrics=metrics(attempts, time_of_gaps(effort.rounds)),
        drawings={"shooting.png": lambda path: draw(attempts, path)},
    )


BENCHMARK = Benchmark("shooting", __doc__, "fewer horizons, speeds and starts, in under a minute", _measure)
