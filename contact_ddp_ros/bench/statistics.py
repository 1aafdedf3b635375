"""What a number of successes says about a probability, and about the difference of two."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Proportion:
    """Successes among trials, with an interval for the probability behind them."""

    successes: int
    trials: int
    lower: float
    upper: float

    @property
    def share(self) -> float:
        """NaN without trials."""
        return self.successes / self.trials if self.trials else float("nan")


def wilson(successes: int, trials: int, z: float = 1.959964) -> Proportion:
    """Wilson's score interval, 95 % by default (Wilson, J. Am. Stat. Assoc. 22, 1927); sensible at 0 and at all.

    Without trials it is [0, 1].
    """
    if not trials:
        return Proportion(successes, trials, 0.0, 1.0)
    share, spread = successes / trials, z * z / trials
    centre = (share + 0.5 * spread) / (1.0 + spread)
    half = z / (1.0 + spread) * math.sqrt(share * (1.0 - share) / trials + 0.25 * spread / trials)
    lower = 0.0 if successes == 0 else centre - half
    upper = 1.0 if successes == trials else centre + half
    return Proportion(successes, trials, lower, upper)


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
        differing, fewer = self.first + self.second, min(self.first, self.second)
        tail = sum(math.comb(differing, k) for k in range(fewer + 1)) / 2.0**differing
        return min(1.0, 2.0 * tail)


def paired(first: Sequence[float], second: Sequence[float]) -> Paired:
    """Compare two equally long sequences entry by entry; larger is better, True larger than False."""
    pairs = list(zip(first, second, strict=True))
    return Paired(sum(a > b for a, b in pairs), sum(a < b for a, b in pairs), sum(a == b for a, b in pairs))
