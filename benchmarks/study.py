"""Study of a benchmark: cases from its options, the measure of a case, and a report of the groups that come of them.

A benchmark of the closed loop is a file with three things (see `benchmarks/loop/gaits.py`):

    cases(options)   the closed loops as data, each with its group, its name and, where there is one, its target
    measure(case)    its figures as plain data, among them `fall`, empty where the run is what it should be
    columns          of the table, which has a row for each group

Done on all cores or a Dask cluster, kept in a journal, resumed, saved, printed and drawn it is here.

Engines of a benchmark's jobs: processes, a Dask cluster or this process, as its options say.
"""

import argparse
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.benchmark import AddOptions, Benchmark, Findings, Run, add_setting_option, at_least
from benchmarks.output import table_of
from contact_ddp_ros.base import versions as provenance
from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.base.files import plain
from contact_ddp_ros.runs.report.progress import say
from contact_ddp_ros.runs.study.batch import AnyJob, Engine, Item, Journal, LocalProcesses, Result, run_all
from contact_ddp_ros.runs.study.study import Case, Figures, Group, Proportion, groups_of

_ANSWER = 10.0
"""Time that a scheduler gets to answer [s]."""


@dataclass(frozen=True)
class ThisProcess:
    """One item after the other, in their order, in this process."""

    size: int = 1

    def results(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """Results of the items, each with its index."""
        for index, item in enumerate(items):
            yield index, work(item)


@dataclass(frozen=True)
class DaskCluster:
    """The workers of a Dask scheduler; this package must be installed there in the same versions."""

    address: str
    size: None = None

    def results(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """Results of the items, each with its index."""
        try:
            from distributed import Client, as_completed
        except ModuleNotFoundError as error:
            raise BenchmarkError("--scheduler needs Dask: pip install -r requirements-bench.txt") from error
        try:
            client = Client(self.address, timeout=_ANSWER, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise BenchmarkError(f"no Dask scheduler answers at {self.address!r}: {error}") from error
        with client:
            check_workers(client)
            futures = client.map(work, items, pure=False)
            index = {future.key: position for position, future in enumerate(futures)}
            for future, result in as_completed(futures, loop=client.loop, with_results=True):
                yield index[future.key], result


def check_workers(client: Any) -> None:
    """Raises BenchmarkError where there is no worker, or one whose results may differ from ours."""
    own = provenance.versions()
    try:
        workers: Mapping[str, Mapping[str, str]] = client.run(provenance.versions)
    except ModuleNotFoundError as error:
        raise BenchmarkError(f"the workers of the Dask cluster lack the package {error.name!r}") from error
    if not workers:
        raise BenchmarkError("the Dask scheduler has no worker; start some with `dask worker ADDRESS`")
    for address, versions in workers.items():
        differing = [name for name in own if versions.get(name) != own[name]]
        if differing:
            found = ", ".join(f"{name} {versions.get(name, 'missing')} instead of {own[name]}" for name in differing)
            raise BenchmarkError(f"the Dask worker {address} has {found}; install what this machine has")


def add_engine_options(parser: argparse._ActionsContainer) -> None:
    """`--jobs` and `--scheduler`, which :func:`chosen_engine` reads."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--jobs", type=at_least(1), metavar="N", help="processes on this machine (default: its cores)")
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="address of a Dask cluster to use instead, e.g. tcp://host:8786"
    )


def chosen_engine(options: argparse.Namespace) -> Engine:
    """The engine that the options ask for; this process for a benchmark without them, which measures the machine."""
    if "jobs" not in options:
        return ThisProcess()
    if options.scheduler is not None:
        return DaskCluster(options.scheduler)
    return LocalProcesses(len(os.sched_getaffinity(0)) if options.jobs is None else options.jobs)


def do(work: Callable[[AnyJob], Any], jobs: Sequence[AnyJob], run: Run, journal: Journal | None = None) -> list[Any]:
    """Results of a benchmark's jobs in their order, on the engine that its options ask for; see :func:`run_all`."""
    try:
        return run_all(work, jobs, chosen_engine(run.options), run.terminal, journal)
    except KeyboardInterrupt:
        if journal is not None:
            say(run.terminal, f"Go on with --resume {run.folder}")
        raise


_WHERE = ("out", "resume", "jobs", "scheduler")
"""Options that decide where a study is done, and not what."""

Report = Callable[[Sequence[Group], argparse.Namespace], Findings]
"""Findings of a study's groups under its options: tables, metrics, remarks, drawings, further results, exit code."""

Columns = Mapping[str, Callable[[Group], object]]
"""Cells of a group's row by heading."""


def _nothing(_: Run) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Study:
    """Measuring function of a benchmark that is a study.

    Attributes:
        cases: gives all cases of the options.
        measure: gives the figures of a case, in any process.
        report: gives the findings of the groups.
        prepare: settings that are measured once, before the first case; they join the options.
        end: called with the run, the cases and the journal after the last case, or where it was cut off.
    """

    cases: Callable[[argparse.Namespace], Sequence[Case]]
    measure: Callable[[Case], Figures]
    report: Report
    prepare: Callable[[Run], Mapping[str, Any]] = _nothing
    end: Callable[[Run, Sequence[Case], Journal], None] = lambda *_: None

    def benchmark(
        self,
        name: str,
        text: str,
        quick: str,
        *options: AddOptions,
        check: Callable[[argparse.Namespace], Any] = lambda _: None,
        settable: bool = True,
    ) -> Benchmark:
        """The benchmark of this study, with options for its engine, `--resume` and, if it is settable, `--set`."""
        more = (add_engine_options, *([add_setting_option] if settable else []))
        return Benchmark(name, text, quick, self, (*options, *more), check, resumable=True)

    def __call__(self, run: Run) -> Findings:
        """Do what the journal does not hold, and report; a resumed run keeps the options that it was begun with."""
        wanted, unset = settings_of(run.options), settings_of(run.defaults)
        with Journal.begin_or_resume(
            run.folder, wanted, partial(self.prepare, run), resume=run.resumes, unset=unset
        ) as journal:
            options = argparse.Namespace(**{**vars(run.options), **journal.settings})
            cases = self.cases(options)
            try:
                figures = do(self.measure, cases, run, journal)
            finally:
                self.end(run, cases, journal)
        groups = groups_of(cases, figures)
        found = self.report(groups, options)
        runs = {group.name: {case.name: one for case, one in zip(group.cases, group.figures)} for group in groups}
        return replace(found, settings=journal.settings, results={**found.results, "runs": runs})


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """Options that decide what is run, as plain data; parameters that are set by their names."""
    kept = {name: value for name, value in vars(options).items() if name not in _WHERE}
    if "set" in kept:
        kept["set"] = dict(kept["set"])
    return plain(kept)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Rows:
    """Report of one table with a row for each group, and figures; its exit code is 1 where a group did not hold.

    Attributes:
        title, columns: of the table. held: verdict on a group. drawings: by file name.
        falls: whether every run that fell is told below the table.
    """

    title: str
    columns: Columns
    held: Callable[[Group], bool] = Group.held
    drawings: Mapping[str, Callable[[Sequence[Group], Path], None]] = field(default_factory=dict)
    falls: bool = False

    def __call__(self, groups: Sequence[Group], options: argparse.Namespace) -> Findings:
        """Findings of the groups."""
        pairs = [pair for group in groups for pair in zip(group.cases, group.figures)]
        falls = [f"[red]{case.name}: {one['fall']}[/]" for case, one in pairs if one["fall"] and self.falls]
        return Findings(
            results={"held": {group.name: self.held(group) for group in groups}},
            tables=[table_of(self.title, groups, self.columns)],
            remarks=falls,
            drawings={name: partial(draw, groups) for name, draw in self.drawings.items()},
            exit_code=0 if all(self.held(group) for group in groups) else 1,
        )


STANDING: Columns = {
    "runs": lambda group: len(group.cases),
    "held": lambda group: group.standing.successes,
    "95 %": lambda group: group.standing.percent,
}
"""Columns of the number of runs and of those without a fall."""

VERDICT: Columns = {
    "figure": lambda group: "" if group.target is None else _worst(group),
    "target": lambda group: "" if group.target is None else f"{group.target.most:g} {group.target.unit}".rstrip(),
    "": lambda group: "[green]held[/]" if group.held() else f"[red]{group.first_fall or 'beyond its target'}[/]",
}
"""Columns of the target, the worst figure beside it, and whether the group held."""


def _worst(group: Group) -> str:
    assert group.target is not None
    spread = group.spread(group.target.figure)
    return f"{group.target.figure.replace('_', ' ')} {spread.high:.3f} {group.target.unit}".rstrip()


def mean(figure: str, digits: int = 3, scale: float = 1.0) -> Callable[[Group], str]:
    """Cell of a figure's mean over the runs that count, and its standard deviation where there are several."""

    def cell(group: Group) -> str:
        known = [scale * one for one in group.counted(figure)]
        if not known:
            return "–"
        middle = sum(known) / len(known)
        deviation = math.sqrt(sum((one - middle) ** 2 for one in known) / len(known))
        return f"{middle:.{digits}f}" + (f" ± {deviation:.{digits}f}" if len(known) > 1 else "")

    return cell


def worst(figure: str, digits: int = 3, scale: float = 1.0) -> Callable[[Group], str]:
    """Cell of a figure's largest magnitude over the runs that count."""

    def cell(group: Group) -> str:
        known = group.counted(figure)
        return f"{scale * max(map(abs, known)):.{digits}f}" if known else "–"

    return cell


def counted(share: Proportion) -> str:
    """Successes among trials with the interval of their probability, for people."""
    return f"{share.successes} of {share.trials} ({share.percent})"
