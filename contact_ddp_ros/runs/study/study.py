"""Study: cases × metrics × targets, the contract of `sweep` and of the benchmarks of the closed loop.

    Case     one closed loop as data: what it is called, what it is judged with, its options
    metrics  a function from the recording of a case to numbers, by default those of its summary
    Target   largest value of a number in every run of a group
    Group    cases that are judged together, and their figures: who fell, means, spreads, the verdict

The figures of a case are plain data, fit for a journal. Among them is `fall`: why the run fell, could not go on or was
not what it should be, empty where nothing of that happened.

Statistics of studies: intervals of probabilities; items put into groups.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import stats

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.plants.options import ENGINES
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.figures import OF_FALLS, figures_of, numbers_of
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recorder, Recording, save

Item = TypeVar("Item")
Key = TypeVar("Key")


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Items by a key, groups and items in the order in which they come."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


@dataclass(frozen=True)
class Proportion:
    """Successes among trials, with the 95 % interval of the probability behind them."""

    successes: int
    trials: int
    lower: float
    upper: float

    @property
    def share(self) -> float:
        """NaN without trials."""
        return self.successes / self.trials if self.trials else float("nan")

    @property
    def percent(self) -> str:
        """The interval, for people."""
        return f"{100 * self.lower:.0f} to {100 * self.upper:.0f} %"


def wilson(successes: int, trials: int) -> Proportion:
    """Wilson's score interval (J. Am. Stat. Assoc. 22, 1927), sensible at 0 and at all; [0, 1] without trials."""
    if not trials:
        return Proportion(successes, trials, 0.0, 1.0)
    interval = stats.binomtest(successes, trials).proportion_ci(method="wilson")
    return Proportion(successes, trials, float(interval.low), float(interval.high))


def share(flags: Iterable[object]) -> Proportion:
    """Proportion of some flags that are true."""
    found = [bool(one) for one in flags]
    return wilson(sum(found), len(found))


Figures = Mapping[str, Any]
"""Figures of a case by name: numbers, truths, texts, None where there is none."""


@dataclass(frozen=True)
class Target:
    """Largest value of a figure that every run of a group keeps, and its unit for people."""

    figure: str
    most: float
    unit: str = ""


@dataclass(frozen=True)
class Case:
    """One run of a study.

    Attributes:
        group: those that are judged together. name: unique in a study. options: of the closed loop.
        values: what else is unlike in other cases, as plain data.
        target: of the group.
        runs: how many loops it takes at most, where it is a search.
        folder: of the recording, where it is kept.
    """

    group: str
    name: str
    options: RunOptions = field(default_factory=RunOptions)
    values: Mapping[str, Any] = field(default_factory=dict)
    target: Target | None = None
    runs: float = 1.0
    folder: Path | None = None

    @property
    def cost(self) -> float:
        """Simulated time at most [s]; physics engines other than the default take twice as long for it."""
        return self.runs * (1.0 + (self.options.in_effect("engine") != ENGINES[0])) * self.options.duration


def summary_figures(recording: Recording) -> Figures:
    """Figures of a recording that are no lists, and `fall`."""
    return numbers_of(figures_of(recording))


def run_case(case: Case, metrics: Callable[[Recording], Figures] = summary_figures) -> Figures:
    """Figures of a case after its closed loop has run; of one that could not go on `fall` and `error` alone."""
    try:
        recording = ClosedLoop(case.options, Recorder(plans_every=case.options.record_plans)).run()
    except ContactDdpError as error:
        return {"fall": f"failed: {error}", "error": str(error)}
    if case.folder is not None:
        save(recording, case.folder)
    return metrics(recording)


@dataclass(frozen=True)
class Spread:
    """A figure over the runs of a group that count for it; NaN where none does."""

    mean: float
    low: float
    high: float
    runs: int


@dataclass(frozen=True)
class Group:
    """Cases that are judged together and the figures of each, in the same order."""

    name: str
    cases: Sequence[Case]
    figures: Sequence[Figures]

    @property
    def values(self) -> Mapping[str, Any]:
        """The values of its first case."""
        return self.cases[0].values

    @property
    def target(self) -> Target | None:
        """The target of its cases."""
        return self.cases[0].target

    @property
    def standing(self) -> Proportion:
        """Runs without a fall."""
        return share(not one["fall"] for one in self.figures)

    @property
    def falls(self) -> int:
        """Number of runs that fell or could not go on."""
        return len(self.figures) - self.standing.successes

    @property
    def first_fall(self) -> str:
        """Reason of the first fall; empty where none fell."""
        return next((str(one["fall"]) for one in self.figures if one["fall"]), "")

    def counted(self, figure: str) -> list[float]:
        """Known values of a figure, of the runs that did not fall unless it tells of falls."""
        if figure == "fell":
            return [float(bool(one["fall"])) for one in self.figures]
        own = [one for one in self.figures if figure in OF_FALLS or not one["fall"]]
        return [float(one[figure]) for one in own if one.get(figure) is not None]

    def spread(self, figure: str) -> Spread:
        """Mean, least and most of a figure over the runs that count for it."""
        known = self.counted(figure)
        if not known:
            return Spread(math.nan, math.nan, math.nan, 0)
        return Spread(float(np.mean(known)), min(known), max(known), len(known))

    def total(self, figure: str) -> int:
        """Sum of a count over all runs."""
        return sum(int(one.get(figure) or 0) for one in self.figures)

    def share(self, figure: str) -> Proportion:
        """Runs of which a truth holds."""
        return share(one.get(figure) for one in self.figures)

    def held(self) -> bool:
        """Verdict: no run fell, and the figure of the target was measured in each and kept."""
        if self.falls:
            return False
        if self.target is None:
            return True
        known = self.counted(self.target.figure)
        return len(known) == len(self.figures) and max(known) <= self.target.most


def groups_of(cases: Sequence[Case], figures: Iterable[Figures]) -> list[Group]:
    """Cases and their figures put together by group, in the order in which groups come."""
    found = grouped(zip(cases, figures, strict=True), lambda pair: pair[0].group)
    return [Group(name, *(list(part) for part in zip(*members))) for name, members in found.items()]
