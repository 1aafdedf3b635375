"""Statistics of studies: intervals of probabilities; items put into groups."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

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
    """Proportion of some flags that are true."""
    found = [bool(one) for one in flags]
    return wilson(sum(found), len(found))
