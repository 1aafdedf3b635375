"""`contact-ddp bench peers`: the same bound solved by Crocoddyl and by CasADi with IPOPT, as proof and as yardstick.

* where all solvers end on one gait cycle: cost, states and torques beside ours, with and without limits;
* processor time to a given accuracy of the cost from the same first trajectory, over speeds and disturbed starts;
* processor time of one iteration over the length of the horizon.

Without requirements-bench.txt Crocoddyl is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import util
from typing import TYPE_CHECKING, Any

from contact_ddp_ros.bench.arguments import benchmark_parser
from contact_ddp_ros.bench.output import Figure, console, print_figures, save_record
from contact_ddp_ros.bench.timing import Spread
from contact_ddp_ros.files import new_folder
from contact_ddp_ros.report.terminal import progress_bar, say

if TYPE_CHECKING:
    from contact_ddp_ros.bench.peers.comparison import Comparison
    from contact_ddp_ros.bench.peers.scaling import Scaling

MISSING_CROCODDYL = "Crocoddyl is not installed, so it is left out; pip install -r requirements-bench.txt brings it"

TARGET_CROCODDYL = 0.5
"""One iteration of full DDP over one of Crocoddyl's FDDP."""

TARGET_IPOPT = 20.0
"""Time of IPOPT to a solution over ours to one of equal accuracy."""

TARGET_AGREEMENT = 1e-3
"""Of the optimal costs, relative."""

SPEEDS = (0.5, 1.0, 2.0)
"""Commanded speeds of the starts [m/s]."""

CYCLE = 90
"""Steps of the horizon that the receding horizon has."""


@dataclass(frozen=True)
class Effort:
    """How much is measured: starts per speed, rounds of times to accuracy and of iterations, horizons [steps]."""

    starts: int
    rounds: int
    lengths: tuple[int, ...]
    iteration_rounds: int


FULL = Effort(starts=5, rounds=5, lengths=(40, CYCLE, 180, 270, 360), iteration_rounds=20)
QUICK = Effort(starts=1, rounds=2, lengths=(40, CYCLE, 180), iteration_rounds=4)


def main(arguments: Sequence[str]) -> int:
    """Measure, print, save; the exit code is 0 whether targets are met or not."""
    from contact_ddp_ros.bench.peers import comparison, figure, scaling

    parser = benchmark_parser("peers", __doc__, quick="fewer starts, rounds and lengths, in under a minute")
    options = parser.parse_args(arguments)
    effort = QUICK if options.quick else FULL
    folder = new_folder("bench-peers", options.out)
    terminal = console()
    crocoddyl_too = util.find_spec("crocoddyl") is not None
    if not crocoddyl_too:
        say(terminal, MISSING_CROCODDYL)
    starts = [comparison.Start(speed, seed) for speed in SPEEDS for seed in range(effort.starts)]
    with progress_bar(terminal, "optimum and time to it") as advance:
        ends = comparison.compare_all(starts, effort.rounds, crocoddyl_too=crocoddyl_too, progress=advance)
    with progress_bar(terminal, "length of the horizon") as advance:
        iterations = scaling.measure(
            effort.lengths, effort.iteration_rounds, crocoddyl_too=crocoddyl_too, progress=advance
        )
    figures = [*_agreement_figures(ends), *_time_figures(ends), *_iteration_figures(iterations)]
    save_record(
        folder,
        "peers",
        {"quick": options.quick, "crocoddyl": crocoddyl_too, "speeds": SPEEDS, **asdict(effort)},
        {"comparisons": [_comparison_as_json(one) for one in ends], "iterations": _scaling_as_json(iterations)},
        figures,
    )
    print_figures(terminal, "The same bound by other solvers, one thread", figures)
    figure.draw(ends, iterations, folder / "peers.png")
    say(terminal, f"Saved in {folder}")
    return 0


def _agreement_figures(ends: Sequence["Comparison"]) -> list[Figure]:
    """Per statement and solver: the largest relative difference to our DDP's cost, of the starts with one optimum."""
    from contact_ddp_ros.bench.peers.comparison import DDP

    figures = []
    for statement, solver in _pairs(ends):
        if solver == DDP:
            continue
        whole = [end for end in ends if end.statement == statement]
        same = [end for end in whole if end.same(solver)]
        states, torques = (max((end.deviation(solver)[i] for end in same), default=float("inf")) for i in range(2))
        note = f"{len(same)} of {len(whole)} starts; states within {states:.0e}, torques within {torques:.0e} N m"
        worst = max((abs(end.difference(solver)) for end in same), default=float("inf"))
        figures.append(Figure(f"optimum, {statement}: {solver} against DDP", worst, TARGET_AGREEMENT, note))
    return figures


def _time_figures(ends: Sequence["Comparison"]) -> list[Figure]:
    """Per statement, solver and accuracy: time over that of our quickest, spread over the starts."""
    import numpy as np

    from contact_ddp_ros.bench.peers.comparison import ACCURACIES, IPOPT, QUICKEST

    figures = []
    for statement, solver in _pairs(ends):
        if solver == QUICKEST[statement]:
            continue
        for accuracy in ACCURACIES[statement]:
            all_ratios = [end.ratio(solver, accuracy) for end in ends if end.statement == statement]
            ratios = [one for one in all_ratios if one is not None]
            name = f"time to {accuracy:.0e}, {statement}: {solver} / {QUICKEST[statement]}"
            note = f"{len(ratios)} of {len(all_ratios)} starts"
            if ratios:
                target = TARGET_IPOPT if solver == IPOPT else None
                figures.append(Figure(name, Spread.of(np.array(ratios)), target, note, at_least=True))
    return figures


def _iteration_figures(iterations: "Scaling") -> list[Figure]:
    """One iteration over a cycle beside ours, and how each grows."""
    from contact_ddp_ros.bench.iteration import ITERATION
    from contact_ddp_ros.bench.peers.comparison import DDP
    from contact_ddp_ros.bench.peers.scaling import EXACT, LEAN

    figures = []
    for solver in iterations.solvers:
        if solver == DDP:
            continue
        ratio = iterations.times[CYCLE].ratio((DDP, ITERATION), (solver, ITERATION))
        target = TARGET_CROCODDYL if solver in (LEAN, EXACT) else None
        figures.append(Figure(f"iteration over {CYCLE} steps: DDP / {solver}", ratio, target))
    first, *_, last = iterations.times
    figures += [
        Figure(f"growth of {solver}'s iteration, {first} to {last} steps", iterations.slope(solver), note="exponent")
        for solver in iterations.solvers
    ]
    return figures


def _pairs(ends: Sequence["Comparison"]) -> list[tuple[str, str]]:
    """Statements with each of their solvers, in the order of the comparisons."""
    return list(dict.fromkeys((end.statement, solver) for end in ends for solver in end.courses))


def _comparison_as_json(end: "Comparison") -> dict[str, Any]:
    solvers: dict[str, Mapping[str, Any]] = {}
    for name, course in end.courses.items():
        states, torques = end.deviation(name)
        solvers[name] = {
            "cost": course.costs[-1],
            "relative_to_ddp": end.difference(name),
            "states_from_ddp": states,
            "torques_from_ddp": torques,
            "iterations": course.iterations,
            "reached": end.reached[name],
            "times": end.times.parts.get(name, {}),
        }
    return {"statement": end.statement, **asdict(end.start), "optimum": end.optimum, "solvers": solvers}


def _scaling_as_json(iterations: "Scaling") -> dict[str, Any]:
    from contact_ddp_ros.bench.iteration import ITERATION

    return {
        solver: {
            "slope": iterations.slope(solver),
            "times": {n: times.spread(solver, ITERATION).as_json() for n, times in iterations.times.items()},
        }
        for solver in iterations.solvers
    }
