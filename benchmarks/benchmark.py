"""Common part of all benchmarks: options, an output folder, tables, a record, drawings, an exit code.

A benchmark says how it is called and measures; what becomes of its findings is the same for all:

    parse options → make the folder → measure → save the record → print tables, metrics, remarks → draw → exit code
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.output import Metric, console, print_metrics, save_record
from contact_ddp_ros.base.arguments import add_option, reader
from contact_ddp_ros.base.config import check, parse_setting
from contact_ddp_ros.base.files import new_folder
from contact_ddp_ros.runs.options import OPTIONS, SHORT_FOR
from contact_ddp_ros.runs.report.progress import say


@dataclass(frozen=True)
class Run:
    """Run of a benchmark: options and their defaults, the folder of its output, the terminal."""

    options: argparse.Namespace
    folder: Path
    terminal: Console
    defaults: argparse.Namespace = field(default_factory=argparse.Namespace)

    @property
    def resumes(self) -> bool:
        """True where it goes on in the folder of a run that was cut off."""
        return getattr(self.options, "resume", None) is not None


AddOptions = Callable[[argparse.ArgumentParser], Any]
"""Adds options to a parser."""


@dataclass(frozen=True)
class Findings:
    """Findings of a benchmark, and the part of them that is shown.

    Attributes:
        settings, results: for the record.
        title, metrics: the table of figures beside their targets; None where there is none.
        tables: printed before it. remarks: lines printed after it.
        drawings: by file name, the function that draws to a path.
        exit_code: of the whole command.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    results: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    metrics: Sequence[Metric] | None = None
    tables: Sequence[Table] = ()
    remarks: Sequence[str] = ()
    drawings: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    exit_code: int = 0


def _nothing(_: Any) -> None:
    """Neither options nor checks of its own."""


@dataclass(frozen=True)
class Benchmark:
    """One benchmark.

    Attributes:
        name: as in `contact-ddp bench NAME`.
        text: of its module, whose first line describes it.
        quick: what `--quick` makes of it.
        measure: gives the findings of a run.
        add_options: adds those that not every benchmark has; one function, or several.
        check: of the options, before anything is made; raises ParameterError.
        resumable: whether `--resume` goes on in the folder of a run that was cut off.
    """

    name: str
    text: str
    quick: str
    measure: Callable[[Run], Findings]
    add_options: AddOptions | Sequence[AddOptions] = _nothing
    check: Callable[[argparse.Namespace], Any] = _nothing
    resumable: bool = False

    def main(self, arguments: Sequence[str]) -> int:
        """Measure, save, print and draw; the exit code."""
        parser = self._parser()
        options = parser.parse_args(arguments)
        self.check(options)
        folder = getattr(options, "resume", None) or new_folder(f"bench-{self.name}", options.out)
        run = Run(options, folder, console(), parser.parse_args([]))
        found = self.measure(run)
        save_record(run.folder, self.name, found.settings, found.results, found.metrics)
        for table in found.tables:
            run.terminal.print(table)
        if found.metrics is not None:
            print_metrics(run.terminal, found.title, found.metrics)
        for remark in found.remarks:
            say(run.terminal, remark)
        for file_name, draw in found.drawings.items():
            draw(run.folder / file_name)
        say(run.terminal, f"Saved in {run.folder}")
        return found.exit_code

    def _parser(self) -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser(
            prog=f"contact-ddp bench {self.name}", description=self.text.partition("\n")[0]
        )
        parser.add_argument("--quick", action="store_true", help=self.quick)
        for add in (self.add_options,) if callable(self.add_options) else self.add_options:
            add(parser)
        where = parser.add_mutually_exclusive_group()
        where.add_argument(
            "--out", type=Path, metavar="FOLDER", help=f"new or empty folder (default: out/bench-{self.name}-<time>)"
        )
        if self.resumable:
            where.add_argument("--resume", type=Path, metavar="FOLDER", help="folder of an interrupted run to continue")
        return parser


def at_least(least: int) -> Callable[[str], int]:
    """The type of an option that is a whole number not below `least`."""

    def whole_number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is too small; it must be at least {least}")
        return value

    return whole_number


def option(*words: str, **settings: Any) -> AddOptions:
    """Adder of one option, as `add_argument` takes it."""
    return lambda parser: parser.add_argument(*words, **settings)


def count(word: str, default: int, text: str) -> AddOptions:
    """Adder of an option that is a number of things, one at least."""
    return option(word, type=at_least(1), default=default, metavar="N", help=f"{text} (default: {default})")


add_seed = option("--seed", type=int, default=0, metavar="N", help="of all that is random (default: 0)")


def _engine(text: str) -> tuple[str, Any]:
    return SHORT_FOR["engine"], check(OPTIONS["engine"], text)


def _state(text: str) -> tuple[str, Any]:
    return "run.state", check(OPTIONS["state"], text)


def add_setting_option(parser: argparse._ActionsContainer) -> None:
    """`--set NAME=VALUE`, repeatable, `--engine` and `--state`: pairs of a parameter's name and its value in `set`."""
    for name, read in (("engine", _engine), ("state", _state)):
        add_option(
            parser, OPTIONS[name], dest="set", type=reader(read), choices=None, action="append", metavar=name.upper()
        )
    parser.add_argument(
        "--set",
        type=parse_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a parameter, with its section; repeatable",
    )
