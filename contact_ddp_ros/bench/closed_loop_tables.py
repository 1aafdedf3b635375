"""The tables of `bench closed-loop`."""

from collections.abc import Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from contact_ddp_ros.bench.budget import VARIANTS
from contact_ddp_ros.bench.comparison import Comparison, Curve, verdict
from contact_ddp_ros.bench.statistics import Paired, Proportion

_UNITS = {
    "iterations": "DDP iterations per second",
    "friction": "friction coefficient",
    "mass": "trunk mass over nominal",
    "delay": "planner delay [s]",
    "step": "height of the step [m]",
}


def show(terminal: Console, comparison: Comparison) -> None:
    """All tables of what was measured."""
    if comparison.envelopes:
        terminal.print(_envelope_table(comparison))
    if comparison.speeds:
        terminal.print(_speed_table(comparison))
    for curve in comparison.curves:
        terminal.print(_curve_table(curve))
    if comparison.curves:
        terminal.print(_group_table(comparison))
    if comparison.qualities:
        terminal.print(_quality_table(comparison))


def _table(title: str, first: str, *headings: str) -> Table:
    table = Table(title=escape(title), box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 1, 0, 0))
    table.add_column(escape(first), no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _envelope_table(comparison: Comparison) -> Table:
    resolution = comparison.envelopes[0].resolution
    table = _table(
        f"Largest impulse survived [N s], to {resolution:.2g}: median, least and most over the phases of the gait",
        "direction",
        "DDP",
        "iLQR",
        "DDP / iLQR / neither better at",
        "median difference",
        "sign test",
    )
    for one in comparison.envelopes:
        ranges = [_range(one.held[variant]) for variant in VARIANTS]
        result = one.paired
        table.add_row(
            one.direction,
            *ranges,
            f"{result.first} / {result.second} / {result.equal}",
            f"{one.advantage:+.2f}",
            _sign_test(result),
        )
    return table


def _speed_table(comparison: Comparison) -> Table:
    table = _table(
        f"Largest speed held [m/s], to {comparison.speeds[0].resolution:.2g}: median, least and most of the samples",
        "direction, DDP iterations per second",
        "DDP",
        "iLQR",
    )
    for one in comparison.speeds:
        cells = [
            _range(one.held[variant]) + (" (no limit found)" if all(one.open[variant]) else "") for variant in VARIANTS
        ]
        table.add_row(f"{one.direction}, {one.iterations:g}", *cells)
    return table


def _curve_table(curve: Curve) -> Table:
    unit = _UNITS[curve.group]
    table = _table(
        f"{curve.group.capitalize()}: share that survived, 95 % interval", unit, "DDP", "iLQR", "only DDP / only iLQR"
    )
    survived = (curve.survived[variant] for variant in VARIANTS)
    for value, ddp, ilqr, result in zip(curve.values, *survived, curve.paired, strict=True):
        table.add_row(f"{value:g}", _share(ddp), _share(ilqr), _either(result))
    return table


def _group_table(comparison: Comparison) -> Table:
    table = _table(
        "Survived in all", "group", "DDP", "iLQR", "only DDP / only iLQR", "sign test", "budget spent, DDP / iLQR"
    )
    for curve in comparison.curves:
        table.add_row(
            curve.group,
            *(_share(curve.overall(variant)) for variant in VARIANTS),
            _either(curve.total),
            _sign_test(curve.total),
            f"{100 * curve.spent['ddp']:.0f} / {100 * curve.spent['ilqr']:.0f} %",
        )
    return table


def _quality_table(comparison: Comparison) -> Table:
    table = _table(
        "Where both survived", "figure", "DDP / iLQR, median (quartiles)", "DDP / iLQR smaller in", "sign test"
    )
    for one in comparison.qualities:
        table.add_row(
            one.measure.replace("_", " "),
            f"{one.ratio.median:.3f} ({one.ratio.lower:.3f} to {one.ratio.upper:.3f})",
            _either(one.paired),
            _sign_test(one.paired),
        )
    return table


def _sign_test(paired: Paired) -> str:
    return f"{verdict(paired)}, p = {paired.p_value:.2g}"


def _either(paired: Paired) -> str:
    """How often only the one, and how often only the other."""
    return f"{paired.first} / {paired.second}"


def _share(proportion: Proportion) -> str:
    interval = f"{100 * proportion.lower:.0f} to {100 * proportion.upper:.0f}"
    return f"{proportion.successes}/{proportion.trials}, {interval} %"


def _range(values: Sequence[float]) -> str:
    return f"{np.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"
