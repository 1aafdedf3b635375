"""`contact-ddp bench partials`: what partials of the dynamics cost, how that grows with n, and in which coordinates.

* scaling: the n-link pendubot pinned to the ground; time of first-order partials (iLQR), of contracted second-order
  partials by mRNEAc (DDP) and by tensors, their exponents in n, and the ratio of mRNEAc's to the first order's at every
  n; the same of the operations of the graphs behind them. What each level contains stands in `bench.knot_partials`;
* robot: the planar Mini Cheetah, mode by mode;
* coordinates: absolute against relative joint angles, see `bench.coordinates`.

As in the paper a second-order time does not include the first-order one, which DDP needs too: both together over the
first is that ratio plus one. The ratio to the first order after a rollout, which has left K's factor and ν behind, is
stricter than the paper's and has no target. All kernels are compiled alike. The tensor's code grows so fast with n that
the largest pendubot for which it can be compiled within minutes is small; slopes are compared on the n that both have.

The straight code of a large graph is sensitive to where its library lies in memory: the same file copied to another
place has been 1.7 times as fast. A single n out of line is such a case.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.progress import Progress

from contact_ddp_ros.bench import coordinates, partial_costs, power_law
from contact_ddp_ros.bench.arguments import benchmark_parser
from contact_ddp_ros.bench.knot_partials import EXPANSION, FIRST, SECOND, TENSOR
from contact_ddp_ros.bench.output import Figure, console, number, print_figures, save_record
from contact_ddp_ros.bench.partial_costs import Costs, Model
from contact_ddp_ros.bench.pendubot import PIN, pendubot
from contact_ddp_ros.bench.power_law import PowerLaw
from contact_ddp_ros.bench.timing import Spread
from contact_ddp_ros.files import new_folder
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.reference import bounding_schedule
from contact_ddp_ros.report.terminal import say
from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.robot.planar import reduce_to_plane

PAPER_SLOPES = {FIRST: 2.21, SECOND: 2.28, TENSOR: 3.13}
"""Exponents of time in n that the paper measured on this model."""

PAPER_RATIO = 1.39
"""The paper's largest ratio of second-order partials by mRNEAc to first-order ones."""

ALL, LARGE, COMMON = "all", "large", "common"
"""Ranges of n that exponents are fitted to: every n, the large ones, and those for which tensors exist."""

_LARGE = 8
"""From this n on fixed costs hardly count."""

NAMES = {FIRST: "first order", SECOND: "second, mRNEAc", TENSOR: "second, tensors"}

PARTS = ("scaling", "robot", "coordinates")


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Attributes:
        n: links of the pendubots. tensor_n: of those for which the tensors are compiled.
        counted_n: of those for which the tensors' operations are counted and nothing is compiled.
        rounds, repeats: of the timing.
    """

    n: tuple[int, ...]
    tensor_n: tuple[int, ...]
    counted_n: tuple[int, ...]
    rounds: int
    repeats: int


FULL = Effort((2, 3, 4, 6, 8, 12, 16, 24, 32), (2, 3, 4, 6, 8), (10,), rounds=60, repeats=3)
QUICK = Effort((2, 3, 4, 6, 8, 12), (2, 3, 4), (6,), rounds=20, repeats=3)


def main(arguments: Sequence[str]) -> int:
    """Measure, print, save; the exit code is 0 whether targets are met or not."""
    options = _parse(arguments)
    effort = QUICK if options.quick else FULL
    folder = new_folder("bench-partials", options.out)
    terminal = console()
    results: dict[str, Any] = {}
    figures: list[Figure] = []
    with Progress(console=terminal, transient=True, disable=not terminal.is_terminal) as bars:
        for part in PARTS if options.only is None else (options.only,):
            results[part], found = _MEASURES[part](effort, bars)
            figures += found
    save_record(folder, "partials", {"quick": options.quick, "only": options.only, **asdict(effort)}, results, figures)
    print_figures(terminal, "Partials of one knot, one thread", figures)
    from contact_ddp_ros.bench import partials_figure

    partials_figure.draw(results, folder / "partials.png")
    say(terminal, f"Saved in {folder}")
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = benchmark_parser("partials", __doc__, quick="smaller n and fewer samples, in under a minute")
    parser.add_argument("--only", choices=PARTS, help="one part")
    return parser.parse_args(arguments)


def _measure_scaling(effort: Effort, bars: Progress) -> tuple[dict[str, Any], list[Figure]]:
    chains = {n: Model(f"pendubot {n}", pendubot(n), (PIN,), n in effort.tensor_n) for n in effort.n}
    counted = chains | {n: Model("", pendubot(n), (PIN,), True) for n in effort.counted_n}
    task = bars.add_task("counting", total=len(counted))
    operations: dict[str, dict[int, float]] = {level: {} for level in NAMES}
    for n in sorted(counted):
        for level, number_of in partial_costs.count(counted[n]).items():
            operations[level][n] = number_of
        bars.advance(task)
    costs = _timed(list(chains.values()), effort, bars)
    seconds = {
        level: {n: float(np.median(costs.level(model, level))) for n, model in chains.items() if level in model.levels}
        for level in NAMES
    }
    slopes = {"time": _slopes(seconds), "operations": _slopes(operations)}
    figures = _slope_figures("time", slopes["time"], PAPER_SLOPES) + _slope_figures("operations", slopes["operations"])
    results = {
        "models": {n: costs.as_json(model) for n, model in chains.items()},
        "operations": operations,
        "slopes": {
            what: {level: {where: law.as_json() for where, law in laws.items()} for level, laws in found.items()}
            for what, found in slopes.items()
        },
    }
    return results, figures + _ratio_figures(chains, costs, operations)


def _slopes(values: dict[str, dict[int, float]]) -> dict[str, dict[str, PowerLaw]]:
    """Per level the power law over all of its n, over the large ones, and over those of the tensors."""

    def fit(level: str, chosen: Sequence[int]) -> PowerLaw:
        return power_law.fit(chosen, [values[level][n] for n in chosen])

    slopes: dict[str, dict[str, PowerLaw]] = {}
    for level, points in values.items():
        ranges = {
            ALL: sorted(points),
            LARGE: [n for n in sorted(points) if n >= _LARGE],
            COMMON: [n for n in sorted(points) if n in values[TENSOR]],
        }
        slopes[level] = {name: fit(level, n) for name, n in ranges.items() if len(n) >= power_law.FEWEST}
    return slopes


def _slope_figures(
    what: str, slopes: dict[str, dict[str, PowerLaw]], paper: dict[str, float] | None = None
) -> list[Figure]:
    figures = []
    for level, laws in slopes.items():
        target = paper[SECOND] if paper and level == SECOND else None
        beside = f"paper {paper[level]}; " if paper else ""
        law = laws[ALL]
        figures.append(Figure(f"slope of {what}, {NAMES[level]}", law.exponent, target, beside + law.describe()))
        if LARGE in laws and level != TENSOR:
            figures.append(Figure("    large n", laws[LARGE].exponent, None, laws[LARGE].describe()))
    common = [slopes[level][COMMON] for level in (TENSOR, SECOND)]
    gap = common[0].exponent - common[1].exponent
    note = f"{common[0].exponent:.2f} against {common[1].exponent:.2f}, n {min(common[0].n)}–{max(common[0].n)}"
    target = paper[TENSOR] - paper[SECOND] if paper else None
    figures.append(Figure("    tensors less mRNEAc", gap, target, note, at_least=True))
    return figures


def _ratio_figures(chains: dict[int, Model], costs: Costs, operations: dict[str, dict[int, float]]) -> list[Figure]:
    """The worst of all n."""

    def worst(ratio: Callable[[Model], Spread]) -> tuple[Spread, str]:
        spreads = {n: ratio(model) for n, model in chains.items()}
        at = max(spreads, key=lambda n: spreads[n].median)
        lowest = min(one.median for one in spreads.values())
        return spreads[at], f"largest, at n = {at}; smallest {number(lowest)}"

    whole, where = worst(lambda model: costs.ratio(model, SECOND, FIRST))
    without, where_without = worst(lambda model: costs.ratio(model, SECOND, EXPANSION))
    kernels, where_kernels = worst(lambda model: costs.kernel_ratio(model, SECOND, FIRST))
    counts = {n: operations[SECOND][n] / operations[FIRST][n] for n in operations[SECOND]}
    at = max(counts, key=lambda n: counts[n])
    figures = [
        Figure("second order / first order", whole, PAPER_RATIO, where),
        Figure("    / first order after a rollout", without, None, where_without),
        Figure("    compiled graphs alone", kernels, None, where_kernels),
        Figure("    operations of the graphs", counts[at], None, f"largest, at n = {at}"),
    ]
    largest = max(n for n, model in chains.items() if model.tensor)
    tensors = costs.ratio(chains[largest], TENSOR, SECOND)
    return [*figures, Figure("second order, tensors / mRNEAc", tensors, None, f"n = {largest}")]


def _measure_robot(effort: Effort, bars: Progress) -> tuple[dict[str, Any], list[Figure]]:
    models = _robot()
    costs = _timed(models, effort, bars)
    figures, results = [], {}
    for model in models:
        ratio = costs.ratio(model, SECOND, FIRST)
        counts = partial_costs.count(model)
        without = costs.ratio(model, SECOND, EXPANSION)
        figures += [
            Figure(f"{model.name}: second order / first order", ratio, PAPER_RATIO),
            Figure("    / first order after a rollout", without),
            Figure("    tensors / mRNEAc", costs.ratio(model, TENSOR, SECOND)),
        ]
        results[model.name] = {**costs.as_json(model), "operations": counts}
    return results, figures


def _robot() -> list[Model]:
    """The planar Mini Cheetah in the modes of its gait; modes with the same contacts once."""
    tree = reduce_to_plane(load_robot())
    contacts = {mode.contacts: mode.name for mode in reversed(bounding_schedule(PlannerConfig().gait).modes)}
    names = {feet: name.replace("_", " ") if feet else "flight" for feet, name in contacts.items()}
    return [Model(name, tree, feet, True) for feet, name in reversed(names.items())]


def _timed(models: list[Model], effort: Effort, bars: Progress) -> Costs:
    compiling, timing = bars.add_task("compiling", total=len(models)), bars.add_task("timing", total=1.0)

    def tell(name: str) -> None:
        bars.update(compiling, advance=1, description=f"compiling {name}")

    return partial_costs.measure(
        models, effort.rounds, effort.repeats, tell, lambda share: bars.update(timing, completed=share)
    )


def _measure_coordinates(effort: Effort, bars: Progress) -> tuple[dict[str, Any], list[Figure]]:
    task = bars.add_task("coordinates", total=len(effort.n))
    pendulums = {}
    for n in effort.n:
        pendulums[n] = coordinates.sizes(pendubot(n), ())
        bars.advance(task)
    robots = {model.name: coordinates.sizes(model.tree, model.contacts) for model in _robot()}
    figures = []
    largest = max(effort.n)
    for name, sizes in ((f"{largest}-link pendulum", pendulums[largest]), *robots.items()):
        absolute, relative, mapped = (sizes[one] for one in coordinates.FORMULATIONS)
        figures += [
            Figure(
                f"{name}: Hessian, absolute / relative",
                absolute.hessian / relative.hessian,
                1.0,
                f"{absolute.hessian} / {relative.hessian} operations",
            ),
            Figure("    ours / relative", mapped.hessian / relative.hessian, 1.0, f"{mapped.hessian}"),
            Figure(
                "    its nonzeros, absolute / relative",
                absolute.nonzeros / relative.nonzeros,
                None,
                f"{absolute.nonzeros} / {relative.nonzeros} of {absolute.entries}",
            ),
            Figure(
                "    residual, absolute / relative",
                absolute.residual / relative.residual,
                None,
                f"{absolute.residual} / {relative.residual} operations",
            ),
        ]
    as_json = {
        kind: {name: {one: asdict(size) for one, size in sizes.items()} for name, sizes in found.items()}
        for kind, found in (("pendulum", pendulums), ("robot", robots))
    }
    return as_json, figures


_MEASURES = {"scaling": _measure_scaling, "robot": _measure_robot, "coordinates": _measure_coordinates}
