"""Intervals of medians, and comparisons of two variants under the same conditions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


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
        """P-value of the exact two-sided sign test (McNemar's, for survivals); 1 without a difference."""
        differing = self.first + self.second
        return float(stats.binomtest(self.first, differing).pvalue) if differing else 1.0


def paired(first: Sequence[float], second: Sequence[float]) -> Paired:
    """Compare two equally long sequences entry by entry; larger is better, True larger than False."""
    pairs = list(zip(first, second, strict=True))
    return Paired(sum(a > b for a, b in pairs), sum(a < b for a, b in pairs), sum(a == b for a, b in pairs))
