"""`contact-ddp compare`: recorded runs laid over each other, as tables and figures."""

import argparse
import csv
import io
import json
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from contact_ddp_ros.base.files import kept_unless_empty, new_folder, write_json, write_text
from contact_ddp_ros.runs.report.compare import figures
from contact_ddp_ros.runs.report.compare.tables import NamedRun, Row, change, load_runs, words
from contact_ddp_ros.runs.report.compare.tables import figures as figure_rows
from contact_ddp_ros.runs.report.compare.tables import settings as setting_rows
from contact_ddp_ros.runs.report.progress import say, working

JSON_FILE, CSV_FILE = "comparison.json", "comparison.csv"

_WIDTH = 130
"""Width of a table that goes to a file [columns]."""


def compare(arguments: argparse.Namespace) -> int:
    """Print what differs, and save tables and figures."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    runs = load_runs(arguments.folders, arguments.name)
    made, found = setting_rows(runs), figure_rows(runs)
    _print(console, runs, "How they were made", _chosen(made, arguments.all))
    if not any(row.differs for row in made):
        say(console, "Nothing differs in how they were made.")
    _print(console, runs, "What came of it", _chosen(found, arguments.all), changes=True)
    with kept_unless_empty(new_folder("compare", arguments.out)) as folder:
        write_json(folder / JSON_FILE, _record(runs, made, found))
        write_text(folder / CSV_FILE, _as_csv(runs, [*made, *found]))
        with working(console, "Drawing plots"):
            figures.save_all(runs, folder)
    say(console, f"Saved in {folder}")
    return 0


def _chosen(rows: Sequence[Row], everything: bool) -> list[Row]:
    return [row for row in rows if everything or row.differs]


def _print(console: Console, runs: Sequence[NamedRun], title: str, rows: list[Row], *, changes: bool = False) -> None:
    if not rows:
        return
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 1, 0, 0))
    table.add_column("", overflow="fold")
    for run in runs:
        table.add_column(escape(run.name), overflow="fold", justify="right")
    for row in rows:
        table.add_row(row.name, *(escape(_cell(row, index, changes)) for index in range(len(runs))))
    console.print(table)


def _cell(row: Row, index: int, changes: bool) -> str:
    text = words(row.values[index])
    difference = change(row.values[0], row.values[index]) if changes and index else ""
    return f"{text} ({difference})" if difference else text


def _record(runs: Sequence[NamedRun], made: Sequence[Row], found: Sequence[Row]) -> dict[str, object]:
    return {
        "runs": [run.name for run in runs],
        "differing_settings": {row.name: row.values for row in made if row.differs},
        "figures": {row.name: row.values for row in found},
        "settings": {row.name: row.values for row in made},
    }


def _as_csv(runs: Sequence[NamedRun], rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["name", "differs", *(run.name for run in runs)])
    for row in rows:
        values = [json.dumps(one, ensure_ascii=False) if isinstance(one, list | dict) else one for one in row.values]
        writer.writerow([row.name, row.differs, *values])
    return text.getvalue()
