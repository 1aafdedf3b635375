"""`contact-ddp bench partials`: what partials of the dynamics cost, and how that grows with n.

* scaling: the n-link pendubot pinned to the ground; time of first-order partials (iLQR), of contracted second-order
  partials by mRNEAc (DDP) and by tensors, their exponents in n, and the ratio of mRNEAc's to the first order's at every
  n; the same of the operations of the graphs behind them. `benchmarks.dynamics.partial_costs` says what each level
  contains;
* robot: the planar Mini Cheetah, mode by mode.

As in the paper a second-order time does not include the first-order one, which DDP needs too: both together over the
first is that ratio plus one. The ratio to the first order after a rollout, which has left K's factor and ν behind, is
stricter than the paper's and has no target. All kernels are compiled alike. The tensor's code grows so fast with n that
the largest pendubot for which it can be compiled within minutes is small; slopes are compared on the n that both have.

The straight code of a large graph is sensitive to where its library lies in memory: the same file copied to another
place has been 1.7 times as fast. A single n out of line is such a case.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator
from rich.progress import Progress

from benchmarks import timing
from benchmarks.benchmark import Benchmark, Findings, Run, option
from benchmarks.dynamics import partial_costs
from benchmarks.dynamics.partial_costs import (
    ALL,
    COMMON,
    EXPANSION,
    FIRST,
    LARGE,
    NAMES,
    PAPER_RATIO,
    PAPER_SLOPES,
    PIN,
    SECOND,
    TENSOR,
    Costs,
    Model,
    pendubot,
)
from benchmarks.output import Metric, number, panel
from benchmarks.timing import PowerLaw, Spread
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.planar_reference import planar_schedule
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.planar import reduce_to_plane
from contact_ddp_ros.runs.report.style import LIMIT, MUTED, POINT_COLOURS, figure

_LARGE = 8
"""From this n on fixed costs hardly count."""

_COLOURS = dict(zip((FIRST, SECOND, TENSOR), POINT_COLOURS, strict=False))
_MARKERS = {FIRST: "o", SECOND: "s", TENSOR: "^"}
_MICROSECONDS = 1e6
_ROBOT_N = 7
"""Degrees of freedom of the planar Mini Cheetah, where its marks stand."""


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


def _measure_scaling(effort: Effort, bars: Progress) -> tuple[dict[str, Any], list[Metric]]:
    chains = {n: Model(f"pendubot {n}", pendubot(n), (PIN,), n in effort.tensor_n) for n in effort.n}
    counted = chains | {n: Model("", pendubot(n), (PIN,), True) for n in effort.counted_n}
    operations: dict[str, dict[int, float]] = {level: {} for level in NAMES}
    for n in bars.track(sorted(counted), description="counting"):
        for level, number_of in partial_costs.count(counted[n]).items():
            operations[level][n] = number_of
    costs = _timed(list(chains.values()), effort, bars)
    seconds = {
        level: {n: float(np.median(costs.level(model, level))) for n, model in chains.items() if level in model.levels}
        for level in NAMES
    }
    slopes = {"time": _slopes(seconds), "operations": _slopes(operations)}
    found = _slope_metrics("time", slopes["time"], PAPER_SLOPES) + _slope_metrics("operations", slopes["operations"])
    results = {
        "models": {n: costs.summary(model) for n, model in chains.items()},
        "operations": operations,
        "slopes": slopes,
    }
    return results, found + _ratio_metrics(chains, costs, operations)


def _slopes(values: dict[str, dict[int, float]]) -> dict[str, dict[str, PowerLaw]]:
    """Per level the power law over all of its n, over the large ones, and over those of the tensors."""

    def fit(level: str, chosen: Sequence[int]) -> PowerLaw:
        return timing.power_law(chosen, [values[level][n] for n in chosen])

    slopes: dict[str, dict[str, PowerLaw]] = {}
    for level, points in values.items():
        ranges = {
            ALL: sorted(points),
            LARGE: [n for n in sorted(points) if n >= _LARGE],
            COMMON: [n for n in sorted(points) if n in values[TENSOR]],
        }
        slopes[level] = {name: fit(level, n) for name, n in ranges.items() if len(n) >= timing.FEWEST}
    return slopes


def _slope_metrics(
    what: str, slopes: dict[str, dict[str, PowerLaw]], paper: dict[str, float] | None = None
) -> list[Metric]:
    found = []
    for level, laws in slopes.items():
        target = paper[SECOND] if paper and level == SECOND else None
        beside = f"paper {paper[level]}; " if paper else ""
        law = laws[ALL]
        found.append(Metric(f"slope of {what}, {NAMES[level]}", law.exponent, target, beside + law.describe()))
        if LARGE in laws and level != TENSOR:
            found.append(Metric("    large n", laws[LARGE].exponent, None, laws[LARGE].describe()))
    common = [slopes[level][COMMON] for level in (TENSOR, SECOND)]
    gap = common[0].exponent - common[1].exponent
    note = f"{common[0].exponent:.2f} against {common[1].exponent:.2f}, n {min(common[0].n)}–{max(common[0].n)}"
    target = paper[TENSOR] - paper[SECOND] if paper else None
    found.append(Metric("    tensors less mRNEAc", gap, target, note, at_least=True))
    return found


def _ratio_metrics(chains: dict[int, Model], costs: Costs, operations: dict[str, dict[int, float]]) -> list[Metric]:
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
    found = [
        Metric("second order / first order", whole, PAPER_RATIO, where),
        Metric("    / first order after a rollout", without, None, where_without),
        Metric("    compiled graphs alone", kernels, None, where_kernels),
        Metric("    operations of the graphs", counts[at], None, f"largest, at n = {at}"),
    ]
    largest = max(n for n, model in chains.items() if model.tensor)
    tensors = costs.ratio(chains[largest], TENSOR, SECOND)
    return [*found, Metric("second order, tensors / mRNEAc", tensors, None, f"n = {largest}")]


def _measure_robot(effort: Effort, bars: Progress) -> tuple[dict[str, Any], list[Metric]]:
    models = _robot()
    costs = _timed(models, effort, bars)
    found, results = [], {}
    for model in models:
        ratio = costs.ratio(model, SECOND, FIRST)
        counts = partial_costs.count(model)
        without = costs.ratio(model, SECOND, EXPANSION)
        found += [
            Metric(f"{model.name}: second order / first order", ratio, PAPER_RATIO),
            Metric("    / first order after a rollout", without),
            Metric("    tensors / mRNEAc", costs.ratio(model, TENSOR, SECOND)),
        ]
        results[model.name] = {**costs.summary(model), "operations": counts}
    return results, found


def _robot() -> list[Model]:
    """The planar Mini Cheetah in the modes of its gait; modes with the same contacts once."""
    tree = reduce_to_plane(load_robot())
    contacts = {mode.contacts: mode.name for mode in reversed(planar_schedule(PlannerConfig().gait).modes)}
    names = {feet: name.replace("_", " ") if feet else "flight" for feet, name in contacts.items()}
    return [Model(name, tree, feet, True) for feet, name in reversed(names.items())]


def _timed(models: list[Model], effort: Effort, bars: Progress) -> Costs:
    compiling, timing = bars.add_task("compiling", total=len(models)), bars.add_task("timing", total=1.0)

    def tell(name: str) -> None:
        bars.update(compiling, advance=1, description=f"compiling {name}")

    return partial_costs.measure(
        models, effort.rounds, effort.repeats, tell, lambda share: bars.update(timing, completed=share)
    )


PARTS = {"scaling": _measure_scaling, "robot": _measure_robot}


def _draw(results: dict[str, Any], path: Path) -> None:
    """Draw what was measured."""
    with figure(path, 18.0, 4.5, "Partials of one knot, one thread") as drawn:
        times, counts, ratios = drawn.subplots(1, 3)
        scaling, robot = results.get("scaling"), results.get("robot")
        panel(times, "Time, n-link pendubot", scaling, partial(_draw_growth, what="time"))
        panel(counts, "Operations of the graphs, n-link pendubot", scaling, partial(_draw_growth, what="operations"))
        title = "Second order by mRNEAc over first order"
        panel(ratios, title, scaling or robot, lambda axes, _: _draw_ratios(axes, scaling, robot))


def _draw_growth(axes: Axes, measured: Any, what: str) -> None:
    """A log-log panel with the fitted power laws; `what` is "time" or "operations"."""
    for level, name in NAMES.items():
        if what == "time":
            spreads = {n: m["time"][level] for n, m in measured["models"].items() if level in m["time"]}
            n, y = np.array(list(spreads)), _MICROSECONDS * np.array([one.median for one in spreads.values()])
        else:
            counted = measured["operations"][level]
            n, y = np.array(list(counted)), np.array(list(counted.values()), dtype=float)
        law = measured["slopes"][what][level][ALL]
        label = f"{name}: {law.exponent:.2f} ({law.lower:.2f} to {law.upper:.2f})"
        if what == "time":
            label += f", paper {PAPER_SLOPES[level]}"
        axes.loglog(n, y, _MARKERS[level], color=_COLOURS[level], markersize=5, label=label)
        scale = _MICROSECONDS if what == "time" else 1.0
        axes.loglog(n, scale * law.at(n), color=_COLOURS[level], linewidth=0.9)
    _n_axis(axes, list(measured["models"]))
    axes.set_ylabel("processor time [µs]" if what == "time" else "arithmetic operations")
    axes.legend(loc="lower right", title="slope (95 % interval)", title_fontsize=8)


def _draw_ratios(axes: Axes, measured: Any, robot: Any) -> None:
    kinds = {
        "all of it": ("ratio", FIRST),
        "over the first order after a rollout (K's factor and ν known)": ("ratio", EXPANSION),
        "compiled graphs alone": ("kernel_ratio", FIRST),
    }
    for (label, (table, level)), colour in zip(kinds.items(), POINT_COLOURS, strict=False):
        key = f"{SECOND} over {level}"
        if measured:
            models = measured["models"]
            spreads = [model[table][key] for model in models.values()]
            axes.semilogx(list(models), [one.median for one in spreads], "o-", color=colour, label=label, ms=4)
            lower, upper = ([getattr(one, end) for one in spreads] for end in ("lower", "upper"))
            axes.fill_between(list(models), lower, upper, color=colour, alpha=0.2, linewidth=0)
        medians = [model[table][key].median for model in (robot or {}).values()]
        axes.plot([_ROBOT_N] * len(medians), medians, "D", color=colour, markerfacecolor="white", markersize=6)
    axes.plot([], [], "D", color=MUTED, markerfacecolor="white", label="planar Mini Cheetah, each mode (n = 7)")
    axes.axhline(PAPER_RATIO, color=LIMIT, linewidth=1.0)
    axes.annotate(
        f"the paper's largest, {PAPER_RATIO}", (2, PAPER_RATIO), (0, 3), textcoords="offset points", color=LIMIT
    )
    axes.set_ylim(0.0, 2.4)
    axes.set_ylabel("ratio of times; bands: quartiles")
    _n_axis(axes, list(measured["models"]) if measured else [_ROBOT_N])
    axes.legend(loc="upper left")


def _n_axis(axes: Axes, n: list[int]) -> None:
    """Ticks at the n that were measured."""
    axes.xaxis.set_major_locator(FixedLocator(n))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([str(one) for one in n])
    axes.set_xlabel("links n")


def _measure(run: Run) -> Findings:
    effort, only = QUICK if run.options.quick else FULL, run.options.only
    results: dict[str, Any] = {}
    found: list[Metric] = []
    with Progress(console=run.terminal, transient=True, disable=not run.terminal.is_terminal) as bars:
        for part in PARTS if only is None else (only,):
            results[part], metrics = PARTS[part](effort, bars)
            found += metrics
    return Findings(
        settings={"quick": run.options.quick, "only": only, **asdict(effort)},
        results=results,
        title="Partials of one knot, one thread",
        metrics=found,
        drawings={"partials.png": lambda path: _draw(results, path)},
    )


BENCHMARK = Benchmark(
    "partials",
    __doc__,
    "smaller n and fewer samples, in under a minute",
    _measure,
    option("--only", choices=tuple(PARTS), help="one part"),
)
