"""What the results of `bench closed-loop` say: full DDP against iLQR on equal time, group by group.

Everything here is plain data from jobs and their results; nothing is run.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from contact_ddp_ros.bench.loop.budget import VARIANTS
from contact_ddp_ros.bench.loop.trials import MEASURES, PushSearch, SpeedSearch, SweepJob, Trial
from contact_ddp_ros.bench.statistics import Paired, Proportion, paired, wilson
from contact_ddp_ros.bench.timing import Spread

Result = Mapping[str, Any]

_FIRST, _SECOND = VARIANTS


@dataclass(frozen=True)
class Envelope:
    """Largest impulses survived in one direction.

    Attributes:
        direction: by name. phases: (n,) of the gait, 0 to 1.
        held: by variant, (n,) [N s]. open: by variant, (n,) whether the largest impulse tried was survived.
        resolution: of the search [N s].
    """

    direction: str
    phases: tuple[float, ...]
    held: Mapping[str, tuple[float, ...]]
    open: Mapping[str, tuple[bool, ...]]
    resolution: float

    @property
    def paired(self) -> Paired:
        """The variants phase by phase."""
        return paired(self.held[_FIRST], self.held[_SECOND])

    @property
    def advantage(self) -> float:
        """Median over the phases of how much more the first variant takes [N s]."""
        return float(np.median(np.subtract(self.held[_FIRST], self.held[_SECOND])))


@dataclass(frozen=True)
class SpeedLimits:
    """Largest speeds held in one direction.

    Attributes:
        direction: by name. iterations: budget per second, in DDP iterations.
        held: by variant, one per sample [m/s]. open: by variant, whether the largest command was held.
        resolution: of the search [m/s].
    """

    direction: str
    iterations: float
    held: Mapping[str, tuple[float, ...]]
    open: Mapping[str, tuple[bool, ...]]
    resolution: float


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


@dataclass(frozen=True)
class LoopComparison:
    """All groups that were run."""

    envelopes: tuple[Envelope, ...]
    speeds: tuple[SpeedLimits, ...]
    curves: tuple[Curve, ...]
    qualities: tuple[Quality, ...]


def compare(jobs: Sequence[SweepJob], results: Sequence[Result]) -> LoopComparison:
    """Sort the results, which are in the order of the jobs."""
    found = list(zip(jobs, results, strict=True))
    pushes = [(job, result) for job, result in found if isinstance(job, PushSearch)]
    speeds = [(job, result) for job, result in found if isinstance(job, SpeedSearch)]
    trials = [(job, result) for job, result in found if isinstance(job, Trial)]
    return LoopComparison(
        tuple(_envelope(name, pushes) for name in dict.fromkeys(job.direction for job, _ in pushes)),
        tuple(
            _speed_limits(*key, speeds) for key in dict.fromkeys((job.direction, job.iterations) for job, _ in speeds)
        ),
        tuple(_curve(name, trials) for name in dict.fromkeys(job.group for job, _ in trials)),
        _qualities(trials),
    )


def verdict(result: Paired, significance: float = 0.05) -> str:
    """In words, which variant was better, if either was."""
    if result.p_value > significance:
        return "no difference seen"
    return "DDP better" if result.first > result.second else "iLQR better"


def _envelope(direction: str, found: Sequence[tuple[PushSearch, Result]]) -> Envelope:
    members = [(job, result) for job, result in found if job.direction == direction]
    return Envelope(
        direction,
        tuple(job.phase / job.phases for job, _ in members if job.arm.variant == _FIRST),
        _by_variant(members, lambda result: float(result["held"])),
        _by_variant(members, lambda result: result["lost"] is None),
        members[0][0].resolution,
    )


def _speed_limits(direction: str, iterations: float, found: Sequence[tuple[SpeedSearch, Result]]) -> SpeedLimits:
    members = [(job, result) for job, result in found if (job.direction, job.iterations) == (direction, iterations)]
    return SpeedLimits(
        direction,
        iterations,
        _by_variant(members, lambda result: float(result["held"])),
        _by_variant(members, lambda result: result["lost"] is None),
        members[0][0].resolution,
    )


def _curve(group: str, found: Sequence[tuple[Trial, Result]]) -> Curve:
    members = [(job, result) for job, result in found if job.group == group]
    values = tuple(dict.fromkeys(job.value for job, _ in members))
    outcomes = [
        _by_variant([(job, result) for job, result in members if job.value == value], lambda one: bool(one["survived"]))
        for value in values
    ]
    spent = _by_variant(members, lambda one: one["spent"])
    return Curve(
        group,
        values,
        {variant: tuple(wilson(sum(one[variant]), len(one[variant])) for one in outcomes) for variant in VARIANTS},
        tuple(paired(one[_FIRST], one[_SECOND]) for one in outcomes),
        {variant: dict(Counter(filter(None, signs))) for variant, signs in _by_variant(members, _sign).items()},
        {variant: _mean([share for share in shares if share is not None]) for variant, shares in spent.items()},
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
