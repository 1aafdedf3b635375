"""What a number of successes says about a probability, and about the difference of two; items put into groups."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

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
    """How many of some are true."""
    found = [bool(one) for one in flags]
    return wilson(sum(found), len(found))


def median_interval(values: ArrayLike, resamples: int = 2000) -> tuple[float, float]:
    """95 % interval of a median from resampled values (percentile bootstrap, the same at every call); any shape."""
    found = np.ravel(values)
    drawn = np.random.default_rng(0).choice(found, (resamples, found.size))
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    return float(low), float(high)


@dataclass(frozen=True)
class Paired:
    """Two variants under the same conditions, one by one.

    Attributes:
        first, second: how often only the one, or only the other, was better.
        equal: how often neither was.
    """

    first: int
    second: int
    equal: int

    @property
    def p_value(self) -> float:
        """Of the exact two-sided sign test of "neither is better"; 1 without a difference (McNemar, for survivals)."""
        differing = self.first + self.second
        return float(stats.binomtest(self.first, differing).pvalue) if differing else 1.0


def paired(first: Sequence[float], second: Sequence[float]) -> Paired:
    """Compare two equally long sequences entry by entry; larger is better, True larger than False."""
    pairs = list(zip(first, second, strict=True))
    return Paired(sum(a > b for a, b in pairs), sum(a < b for a, b in pairs), sum(a == b for a, b in pairs))
