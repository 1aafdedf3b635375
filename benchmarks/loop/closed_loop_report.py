"""Report of `bench closed-loop`: tables of full DDP against iLQR on equal time, and their figure."""

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from rich.table import Table

from benchmarks.benchmark import Findings
from benchmarks.output import panel, table_of
from benchmarks.solver.case import VARIANTS
from benchmarks.study import counted
from benchmarks.timing import Paired, Spread, paired
from contact_ddp_ros.runs.report.panels import heat_map
from contact_ddp_ros.runs.report.style import POINT_COLOURS, figure, legend, name_rows, nothing
from contact_ddp_ros.runs.study.study import Figures, Group, Proportion, grouped, share

MEASURES = ("speed_error", "roll_abs_max", "pitch_abs_max", "touchdown_height_measured_max_m")
"""Figures of a run that are kept of each trial; smaller is better."""

FIRST, SECOND = VARIANTS

_UNITS = {
    "iterations": ("Time for the solver", "DDP iterations per second", 1.0),
    "friction": ("Friction (planner: 0.6)", "friction coefficient", 1.0),
    "mass": ("Mass", "trunk mass over nominal", 1.0),
    "delay": ("Planner delay", "age of a policy on arrival [ms]", 1e3),
    "step": ("Unexpected step", "height of the step [cm]", 1e2),
}
"""Title, abscissa and scale of a sweep."""

_COLOURS = dict(zip(VARIANTS, POINT_COLOURS, strict=False))
_MARKERS = {"ddp": "o", "ilqr": "s"}

_OFFSET = 0.06
"""Offset of the two variants' points to either side of their value, in units of its distance to the next."""

_OPEN = " (no limit found)"


def sides(groups: Sequence[Group], value: Callable[[Figures], Any]) -> dict[str, list[Any]]:
    """A value of each run, apart by variant, in the order of the cases: entry by entry the same conditions."""
    pairs = [pair for group in groups for pair in zip(group.cases, group.figures)]
    return {name: [value(one) for case, one in pairs if case.values["variant"] == name] for name in VARIANTS}


def held(group: Group) -> dict[str, list[float]]:
    """Largest levels of a group's searches by variant."""
    return sides([group], lambda one: float(one["held"]))


def is_open(group: Group, variant: str) -> list[bool]:
    """Searches of a variant whose largest level was held."""
    return sides([group], lambda one: one["lost"] is None)[variant]


def better(groups: Sequence[Group], value: Callable[[Figures], Any] = lambda one: not one["fall"]) -> Paired:
    """The variants run by run, by default by survival; larger is better."""
    by_variant = sides(groups, value)
    return paired(by_variant[FIRST], by_variant[SECOND])


def survived(groups: Sequence[Group], variant: str) -> Proportion:
    """Runs of a variant that survived."""
    return share(sides(groups, lambda one: not one["fall"])[variant])


def qualities(groups: Sequence[Group]) -> dict[str, tuple[Spread, Paired]]:
    """Ratio by measure where both variants survived: first over second, and who had the smaller one."""
    both = list(zip(*sides(groups, lambda one: one).values(), strict=True))
    survivors = [pair for pair in both if not any(one["fall"] for one in pair)]
    found = {}
    for measure in MEASURES:
        pairs = [(first[measure], second[measure]) for first, second in survivors if first[measure] and second[measure]]
        if pairs:
            first, second = np.array(pairs).T
            found[measure] = Spread.of(first / second), paired(-first, -second)
    return found


def report(groups: Sequence[Group], options: argparse.Namespace) -> Findings:
    """Tables, figure and comparisons of all sweeps."""
    sweeps = grouped(groups, lambda group: str(group.values["sweep"]))
    trials = {name: own for name, own in sweeps.items() if name in _UNITS}
    compared = {name: better(own) for name, own in trials.items()}
    compared |= {group.name: better([group], lambda one: one["held"]) for group in sweeps.get("pushes", ())}
    every = [group for own in trials.values() for group in own]
    signs = {name: sides(own, lambda one: one["sign"]) for name, own in trials.items()}
    return Findings(
        results={
            "compared": {name: {**vars(one), "p_value": one.p_value} for name, one in compared.items()},
            "falls": {name: {v: Counter(filter(None, own[v])) for v in VARIANTS} for name, own in signs.items()},
            "qualities": {name: {"ratio": ratio, "paired": who} for name, (ratio, who) in qualities(every).items()},
        },
        tables=tables(sweeps),
        remarks=[f"One DDP iteration takes as long as {options.ratios['iteration']['median']:.2f} of iLQR."],
        drawings={"closed_loop.png": partial(draw, sweeps)},
    )


def tables(sweeps: Mapping[str, Sequence[Group]]) -> list[Table]:
    """All tables of the sweeps that were run."""
    trials = {name: own for name, own in sweeps.items() if name in _UNITS}
    found = [_envelope_table(sweeps["pushes"])] if "pushes" in sweeps else []
    found += [_speed_table(sweeps["speeds"])] if "speeds" in sweeps else []
    found += [_curve_table(name, own) for name, own in trials.items()]
    if trials:
        found += [_group_table(trials), _quality_table([group for own in trials.values() for group in own])]
    return found


def verdict(result: Paired, significance: float = 0.05) -> str:
    """Text on which variant was better, if either was."""
    if result.p_value > significance:
        return "no difference seen"
    return "DDP better" if result.first > result.second else "iLQR better"


def _each(cell: Callable[..., str]) -> dict[str, Callable[[Any], str]]:
    """A column for each variant."""
    return {name: partial(cell, variant=variant) for variant, name in VARIANTS.items()}


def _resolution(groups: Sequence[Group]) -> float:
    search = groups[0].values["search"]
    return float((search["high"] - search["low"]) / 2 ** search["evaluations"])


def _envelope_table(groups: Sequence[Group]) -> Table:
    title = f"Largest impulse survived [N s], to {_resolution(groups):.2g}"

    def difference(group: Group) -> str:
        return f"{np.median(np.subtract(held(group)[FIRST], held(group)[SECOND])):+.2f}"

    def who(group: Group) -> Paired:
        return better([group], lambda one: one["held"])

    columns = {
        "direction": lambda group: group.values["label"],
        **_each(lambda group, variant: _range(held(group)[variant])),
        "DDP / iLQR / neither better at": lambda group: f"{_either(who(group))} / {who(group).equal}",
        "median difference": difference,
        "sign test": lambda group: _sign_test(who(group)),
    }
    return table_of(f"{title}: median, least and most over the phases of the gait", groups, columns)


def _speed_table(groups: Sequence[Group]) -> Table:
    title = f"Largest speed held [m/s], to {_resolution(groups):.2g}: median, least and most of the samples"
    columns = {
        "direction, DDP iterations per second": lambda group: group.values["label"],
        **_each(lambda group, variant: _range(held(group)[variant]) + _OPEN * all(is_open(group, variant))),
    }
    return table_of(title, groups, columns)


def _curve_table(sweep: str, groups: Sequence[Group]) -> Table:
    _, abscissa, scale = _UNITS[sweep]
    columns = {
        abscissa: lambda group: f"{scale * group.values['label']:g}",
        **_each(lambda group, variant: counted(survived([group], variant))),
        "only DDP / only iLQR": lambda group: _either(better([group])),
    }
    return table_of(f"{sweep.capitalize()}: share that survived, 95 % interval", groups, columns)


def _group_table(trials: Mapping[str, Sequence[Group]]) -> Table:
    def spent(name: str) -> str:
        shares = sides(trials[name], lambda one: np.nan if one["spent"] is None else one["spent"])
        return " / ".join(f"{100 * np.nanmean(shares[variant]):.0f}" for variant in VARIANTS) + " %"

    columns: dict[str, Callable[[str], object]] = {
        "group": str,
        **_each(lambda name, variant: counted(survived(trials[name], variant))),
        "only DDP / only iLQR": lambda name: _either(better(trials[name])),
        "sign test": lambda name: _sign_test(better(trials[name])),
        "budget spent, DDP / iLQR": spent,
    }
    return table_of("Survived in all", trials, columns)


def _quality_table(groups: Sequence[Group]) -> Table:
    columns: dict[str, Any] = {
        "figure": lambda row: row[0].replace("_", " "),
        "DDP / iLQR, median (quartiles)": lambda row: (
            f"{row[1][0].median:.3f} ({row[1][0].lower:.3f} to {row[1][0].upper:.3f})"
        ),
        "DDP / iLQR smaller in": lambda row: _either(row[1][1]),
        "sign test": lambda row: _sign_test(row[1][1]),
    }
    return table_of("Where both survived", qualities(groups).items(), columns)


def _sign_test(result: Paired) -> str:
    return f"{verdict(result)}, p = {result.p_value:.2g}"


def _either(result: Paired) -> str:
    """Numbers of runs in which only the one, and only the other, was better."""
    return f"{result.first} / {result.second}"


def _range(values: Sequence[float]) -> str:
    return f"{np.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def draw(sweeps: Mapping[str, Sequence[Group]], path: Path) -> None:
    """Draw push envelopes as maps, survival as curves, speeds."""
    with figure(path, 13.0, 9.5, "DDP and iLQR in the loop on equal time budgets") as drawn:
        maps, upper, lower = drawn.subplots(3, 3)
        _draw_maps(maps, sweeps.get("pushes", ()))
        for axes, (sweep, (title, _, _)) in zip([*upper, *lower[:2]], _UNITS.items(), strict=True):
            panel(axes, title, sweeps.get(sweep), partial(_draw_curve, sweep=sweep))
        panel(lower[2], "Speed range held", sweeps.get("speeds"), _draw_speeds)


def _draw_maps(panels: Sequence[Axes], groups: Sequence[Group]) -> None:
    """Impulses survived by either variant on one scale, and how much more DDP takes."""
    if not groups:
        for axes in panels:
            nothing(axes, "no pushes")
        return
    levels = {variant: np.array([held(group)[variant] for group in groups]) for variant in VARIANTS}
    rows = [group.values["label"] for group in groups]
    phases = dict.fromkeys(f"{case.values['phase']:.2f}".lstrip("0") or "0" for case in groups[0].cases)
    top = max(float(values.max()) for values in levels.values())
    for axes, variant in zip(panels, VARIANTS, strict=False):
        axes.set_title(f"{VARIANTS[variant]}: largest impulse survived [N s]")
        heat_map(axes, levels[variant], rows, list(phases), (0.0, top), "cividis")
        for row, group in enumerate(groups):
            for column in np.flatnonzero(is_open(group, variant)):
                axes.text(column + 0.42, row - 0.2, "≥", ha="right", va="center", fontsize=6, color="white")
    difference = levels[FIRST] - levels[SECOND]
    span = max(float(np.abs(difference).max()), _resolution(groups))
    panels[2].set_title("Difference, DDP − iLQR [N s]")
    heat_map(panels[2], difference, rows, list(phases), (-span, span), "PuOr", "{:+.1f}".format)
    for axes in panels:
        axes.tick_params(axis="x", labelsize=7)
        axes.set_xlabel("phase of the gait at which the push begins")


def _draw_curve(axes: Axes, groups: Sequence[Group], sweep: str) -> None:
    _, abscissa, scale = _UNITS[sweep]
    places = np.arange(len(groups))
    for sign, variant in zip((-1.0, 1.0), VARIANTS, strict=True):
        parts = [survived([group], variant) for group in groups]
        bars = np.array([[part.share - part.lower, part.upper - part.share] for part in parts]).T
        shares = 100.0 * np.array([part.share for part in parts])
        look: dict[str, Any] = {"color": _COLOURS[variant], "marker": _MARKERS[variant], "label": VARIANTS[variant]}
        axes.errorbar(places + sign * _OFFSET, shares, 100.0 * bars, markersize=4, capsize=2, elinewidth=0.8, **look)
    axes.set_xticks(places, [f"{scale * group.values['label']:g}" for group in groups])
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.set_ylim(-3.0, 103.0)
    axes.set(xlabel=abscissa, ylabel="survived [%], 95 % intervals")
    legend(axes)


def _draw_speeds(axes: Axes, groups: Sequence[Group]) -> None:
    budgets = sorted({float(group.values["label"].split(", ")[1]) for group in groups})
    rows = [(variant, budget) for budget in budgets for variant in VARIANTS]
    for group in groups:
        budget = float(group.values["label"].split(", ")[1])
        for variant in VARIANTS:
            row, levels = rows.index((variant, budget)), group.values["sign"] * np.array(held(group)[variant])
            middle = float(np.median(levels))
            axes.barh(row, middle, color=_COLOURS[variant], height=0.5, alpha=0.6)
            axes.plot(levels, np.full(len(levels), row), "|", color="black", markersize=10)
            mark = "≥ " if all(is_open(group, variant)) else ""
            axes.text(0.5 * middle, row, f"{mark}{abs(middle):.2f}", ha="center", va="center", fontsize=8)
    axes.axvline(0.0, color="black", linewidth=0.8)
    name_rows(axes, [f"{VARIANTS[variant]}, {budget:g} it./s" for variant, budget in rows])
    axes.set_xlabel("speed held [m/s]; ≥: no limit found")
