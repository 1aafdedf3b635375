"""Output of every benchmark: a JSON record, and tables, one of them of figures beside their targets.

Panels of figures that may have nothing to show.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from matplotlib.axes import Axes
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.timing import Spread
from contact_ddp_ros.base import versions as provenance
from contact_ddp_ros.base.files import write_json
from contact_ddp_ros.runs.report.style import nothing

_PEERS = ("crocoddyl",)

_WIDTH = 130
"""Width of a table that goes to a file [columns]."""

RECORD_FILE = "benchmark.json"

Row = TypeVar("Row")


@dataclass(frozen=True)
class Metric:
    """One measured figure.

    Attributes:
        name: what it is, for people.
        value: as a number or a spread over samples.
        target: the bound that the figure should keep; None where there is none.
        at_least: the target is a lower bound instead of an upper one.
        note: what the reader should know, such as the figure of the paper.
        unit: empty for a ratio.
    """

    name: str
    value: Spread | float
    target: float | None = None
    note: str = ""
    unit: str = ""
    at_least: bool = False

    @property
    def number(self) -> float:
        """The figure itself, the median of a spread."""
        return self.value.median if isinstance(self.value, Spread) else self.value

    @property
    def met(self) -> bool | None:
        """True where the target is met; None where there is none."""
        if self.target is None:
            return None
        return self.number >= self.target if self.at_least else self.number <= self.target


def save_record(
    folder: Path,
    benchmark: str,
    settings: Mapping[str, Any],
    results: Mapping[str, Any],
    metrics: Sequence[Metric] | None = None,
) -> None:
    """Write the results, and metrics with whether their targets are met, with how, when and on what they came about."""
    record: dict[str, Any] = {
        "benchmark": benchmark,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": provenance.machine(),
        "versions": {**provenance.versions(), **_peer_versions()},
        "settings": settings,
    }
    if metrics is not None:
        record["figures"] = [record_of(one, "met") for one in metrics]
    write_json(folder / RECORD_FILE, {**record, **results})


def record_of(one: Any, *names: str) -> dict[str, Any]:
    """A dataclass as an object of its fields and of some of its properties."""
    return {name: getattr(one, name) for name in (*(field.name for field in fields(one)), *names)}


def console() -> Console:
    """Where a benchmark prints; wide enough for its tables where the output is no terminal."""
    plain = Console()
    return plain if plain.is_terminal else Console(width=_WIDTH)


def new_table(
    title: str,
    first: str,
    *headings: str,
    whole_names: bool = False,
    whole_numbers: bool = True,
    text: bool = False,
) -> Table:
    """An empty table: the first column and one without a heading hold text, all others numbers unless all are `text`.

    Where the terminal is too narrow, columns are broken into lines but for those that are to stay whole.
    """
    table = Table(title=escape(title), box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 1, 0, 0))
    table.add_column(escape(first), no_wrap=whole_names)
    for heading in headings:
        if text or not heading:
            table.add_column(heading, overflow="fold")
        else:
            table.add_column(heading, justify="right", no_wrap=whole_numbers)
    return table


def table_of(
    title: str,
    rows: Iterable[Row],
    columns: Mapping[str, Callable[[Row], object]],
    *,
    whole_names: bool = True,
    whole_numbers: bool = True,
    text: bool = False,
) -> Table:
    """The table of some rows, whose columns are functions of a row by their headings; see :func:`new_table`."""
    table = new_table(title, *columns, whole_names=whole_names, whole_numbers=whole_numbers, text=text)
    for row in rows:
        table.add_row(*(str(cell(row)) for cell in columns.values()))
    return table


def print_metrics(terminal: Console, title: str, metrics: Sequence[Metric]) -> None:
    """A table of figures beside their targets."""
    columns: dict[str, Callable[[Metric], str]] = {
        "figure": lambda one: one.name,
        "median": lambda one: f"{number(one.number)} {one.unit}".rstrip(),
        "quartiles": lambda one: _spread(one.value)[0],
        "of minima": lambda one: _spread(one.value)[1],
        "target": lambda one: _target(one),
        "": lambda one: "  ".join(part for part in (_VERDICTS[one.met], one.note) if part),
    }
    terminal.print(table_of(title, metrics, columns, whole_names=False))


_VERDICTS = {None: "", True: "[green]met[/]", False: "[red]missed[/]"}


def _target(one: Metric) -> str:
    return "" if one.target is None else f"{'≥' if one.at_least else '≤'} {one.target:g} {one.unit}".rstrip()


def _spread(value: Spread | float) -> tuple[str, str]:
    if not isinstance(value, Spread):
        return "", ""
    minima = "" if value.of_minima is None else number(value.of_minima)
    return f"{number(value.lower)} to {number(value.upper)}", minima


def number(value: float) -> str:
    """Three figures, without an exponent."""
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def _peer_versions() -> dict[str, str]:
    found = {}
    for name in _PEERS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def panel(
    axes: Axes, title: str, found: Any, draw: Callable[[Axes, Any], None], otherwise: str = "not measured"
) -> None:
    """Draw what was found under a title, or say why there is nothing."""
    axes.set_title(title)
    if found:
        draw(axes, found)
    else:
        nothing(axes, otherwise)
