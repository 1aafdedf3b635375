"""What the results of `bench closed-loop` say: full DDP against iLQR on equal time, group by group.

Everything here is plain data from jobs and their results; nothing is run.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.loop.trials import MEASURES, PushSearch, SpeedSearch, SweepJob, Trial
from benchmarks.solver.case import VARIANTS
from benchmarks.timing import Spread
from contact_ddp_ros.runs.study.statistics import Paired, Proportion, grouped, paired, share, wilson

Result = Mapping[str, Any]

_FIRST, _SECOND = VARIANTS


@dataclass(frozen=True)
class Limits:
    """Largest levels held in one direction.

    Attributes:
        direction: by name.
        held: by variant, one per search. open: by variant, whether the largest level tried was held.
        resolution: of the searches.
    """

    direction: str
    held: Mapping[str, tuple[float, ...]]
    open: Mapping[str, tuple[bool, ...]]
    resolution: float


@dataclass(frozen=True)
class Envelope(Limits):
    """Of impulses [N s], search by search at `phases` of the gait, 0 to 1."""

    phases: tuple[float, ...]

    @property
    def paired(self) -> Paired:
        """The variants phase by phase."""
        return paired(self.held[_FIRST], self.held[_SECOND])

    @property
    def p_value(self) -> float:
        """Of "neither variant takes more"."""
        return self.paired.p_value

    @property
    def advantage(self) -> float:
        """Median over the phases of how much more the first variant takes [N s]."""
        return float(np.median(np.subtract(self.held[_FIRST], self.held[_SECOND])))


@dataclass(frozen=True)
class SpeedLimits(Limits):
    """Of speeds [m/s], sample by sample, on a budget of so many DDP `iterations` per second."""

    iterations: float


@dataclass(frozen=True)
class Curve:
    """How often the robot survived as something varies.

    Attributes:
        group: what varies. values: (n,) of it. survived: by variant, one proportion per value.
        paired: the variants run by run, one entry per value. falls: by variant, how often by which sign.
        spent: by variant, mean share of the budget that was spent.
    """

    group: str
    values: tuple[float, ...]
    survived: Mapping[str, tuple[Proportion, ...]]
    paired: tuple[Paired, ...]
    falls: Mapping[str, Mapping[str, int]]
    spent: Mapping[str, float]

    @property
    def total(self) -> Paired:
        """The variants run by run, over all values."""
        first, second, equal = (sum(getattr(one, name) for one in self.paired) for name in ("first", "second", "equal"))
        return Paired(first, second, equal)

    @property
    def p_value(self) -> float:
        """Of "neither variant survives more", over all values."""
        return self.total.p_value

    def overall(self, variant: str) -> Proportion:
        """Over all values."""
        parts = self.survived[variant]
        return wilson(sum(part.successes for part in parts), sum(part.trials for part in parts))


@dataclass(frozen=True)
class Quality:
    """A figure of the runs that both variants survived: the first's over the second's, and who had the smaller one."""

    measure: str
    ratio: Spread
    paired: Paired

    @property
    def p_value(self) -> float:
        """Of "neither variant's is smaller"."""
        return self.paired.p_value


@dataclass(frozen=True)
class LoopComparison:
    """All groups that were run."""

    envelopes: tuple[Envelope, ...]
    speeds: tuple[SpeedLimits, ...]
    curves: tuple[Curve, ...]
    qualities: tuple[Quality, ...]


def compare(jobs: Sequence[SweepJob], results: Sequence[Result]) -> LoopComparison:
    """Sort the results, which are in the order of the jobs."""
    found: dict[type, list[tuple[Any, Result]]] = {PushSearch: [], SpeedSearch: [], Trial: []}
    found |= grouped(zip(jobs, results, strict=True), lambda one: type(one[0]))
    envelopes = grouped(found[PushSearch], lambda one: one[0].direction).values()
    speeds = grouped(found[SpeedSearch], lambda one: (one[0].direction, one[0].iterations)).values()
    curves = grouped(found[Trial], lambda one: one[0].group)
    return LoopComparison(
        tuple(Envelope(**_limits(members), phases=_phases(members)) for members in envelopes),
        tuple(SpeedLimits(**_limits(members), iterations=members[0][0].iterations) for members in speeds),
        tuple(_curve(name, members) for name, members in curves.items()),
        _qualities(found[Trial]),
    )


def verdict(result: Paired, significance: float = 0.05) -> str:
    """In words, which variant was better, if either was."""
    if result.p_value > significance:
        return "no difference seen"
    return "DDP better" if result.first > result.second else "iLQR better"


def _limits(members: Sequence[tuple[Any, Result]]) -> dict[str, Any]:
    return {
        "direction": members[0][0].direction,
        "held": _by_variant(members, lambda result: float(result["held"])),
        "open": _by_variant(members, lambda result: result["lost"] is None),
        "resolution": members[0][0].resolution,
    }


def _phases(members: Sequence[tuple[PushSearch, Result]]) -> tuple[float, ...]:
    return tuple(job.phase / job.phases for job, _ in members if job.arm.variant == _FIRST)


def _curve(group: str, members: Sequence[tuple[Trial, Result]]) -> Curve:
    by_value = grouped(members, lambda one: one[0].value)
    outcomes = [_by_variant(own, lambda result: bool(result["survived"])) for own in by_value.values()]
    spent = _by_variant(members, lambda result: result["spent"])
    return Curve(
        group,
        tuple(by_value),
        {variant: tuple(share(one[variant]) for one in outcomes) for variant in VARIANTS},
        tuple(paired(one[_FIRST], one[_SECOND]) for one in outcomes),
        {variant: dict(Counter(filter(None, signs))) for variant, signs in _by_variant(members, _sign).items()},
        {variant: _mean([one for one in shares if one is not None]) for variant, shares in spent.items()},
    )


def _qualities(found: Sequence[tuple[Trial, Result]]) -> tuple[Quality, ...]:
    """Of every measure that some pair of survivors has, other than zero."""
    sides = _by_variant(found, lambda result: result)
    survivors = [pair for pair in zip(*sides.values(), strict=True) if all(result["survived"] for result in pair)]
    qualities = []
    for measure in MEASURES:
        pairs = [(first[measure], second[measure]) for first, second in survivors if first[measure] and second[measure]]
        if pairs:
            first, second = np.array(pairs).T
            qualities.append(Quality(measure, Spread.of(first / second), paired(-first, -second)))
    return tuple(qualities)


def _by_variant(members: Sequence[tuple[Any, Result]], value: Any) -> dict[str, tuple[Any, ...]]:
    """A value of each result, apart by variant, in the order of the jobs."""
    return {
        variant: tuple(value(result) for job, result in members if job.arm.variant == variant) for variant in VARIANTS
    }


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _sign(result: Result) -> str:
    """By which sign a run was seen to have fallen, without instant and numbers; empty where it was not."""
    return "" if result["survived"] else str(result["sign"])
