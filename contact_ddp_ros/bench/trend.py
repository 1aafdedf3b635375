"""The slope of a noisy quantity over time, and how sure it is.

Least squares. Neighbouring samples of memory resemble each other, so that n of them say less than n independent ones
would: with the residuals' lag-one autocorrelation r they count as n (1 - r) / (1 + r) (Santer et al., J. Geophys. Res.
105, 2000). Around a fitted line r comes out too small by about (2 + 4 r) / n (Marriott and Pope, Biometrika 41, 1954),
which is put back: few samples are not to look surer than they are.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]

_CONFIDENCE = 0.95

FEWEST = 8
"""Samples below which there is no interval."""


@dataclass(frozen=True)
class Trend:
    """A slope with the ends of its 95 % interval, infinite where too few independent samples tell."""

    slope: float
    lower: float
    upper: float

    def verdict(self, limit: float) -> bool | None:
        """True where the slope is surely at most `limit`, False where it surely exceeds it, else None."""
        if self.upper <= limit:
            return True
        return False if self.lower > limit else None

    def scaled(self, factor: float) -> "Trend":
        """In another unit; `factor` is positive."""
        return Trend(factor * self.slope, factor * self.lower, factor * self.upper)


def trend(times: Array, values: Array) -> Trend:
    """The slope of `values` (n,) over `times` (n,); not a number below two samples."""
    n = len(times)
    if n < 2:
        return Trend(math.nan, -math.inf, math.inf)
    centred = times - times.mean()
    spread = float(centred @ centred)
    slope = float(centred @ values) / spread
    residuals = values - values.mean() - slope * centred
    squares = float(residuals @ residuals)
    independent = n * _independence(residuals, squares) if n >= FEWEST else 0.0
    if independent <= 3.0:
        return Trend(slope, -math.inf, math.inf)
    error = math.sqrt(squares / (independent - 2.0) / spread)
    half = float(stats.t.ppf(0.5 + 0.5 * _CONFIDENCE, independent - 2.0)) * error
    return Trend(slope, slope - half, slope + half)


def _independence(residuals: Array, squares: float) -> float:
    """Independent samples per sample, at most one."""
    if squares <= 0.0:
        return 1.0
    n, found = len(residuals), float(residuals[1:] @ residuals[:-1]) / squares
    r = min(max((found + 2.0 / n) / (1.0 - 4.0 / n), 0.0), 1.0)
    return (1.0 - r) / (1.0 + r)
