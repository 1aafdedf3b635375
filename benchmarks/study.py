"""Study of a benchmark: cases from its options, the measure of a case, and a report of the groups that come of them.

A benchmark of the closed loop is a file with three things (see `benchmarks/loop/gaits.py`):

    cases(options)   the closed loops as data, each with its group, its name and, where there is one, its target
    measure(case)    its figures as plain data, among them `fall`, empty where the run is what it should be
    columns          of the table, which has a row for each group

Done on all cores or a Dask cluster, kept in a journal, resumed, saved, printed and drawn it is here.
"""

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.benchmark import AddOptions, Benchmark, Findings, Run, add_setting_option
from benchmarks.engine import add_engine_options, do
from benchmarks.output import table_of
from contact_ddp_ros.base.files import plain
from contact_ddp_ros.runs.study.batch import Journal
from contact_ddp_ros.runs.study.study import Case, Figures, Group, Proportion, groups_of

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
