"""Slopes of lines through measured points, each with its 95 % confidence interval.

A power law y = C n^p is a line through logarithms. A trend is a line over time, whose neighbouring samples resemble
each other, so that n of them say less than n independent ones would: with the residuals' lag-one autocorrelation r they
count as n (1 - r) / (1 + r) (Santer et al., J. Geophys. Res. 105, 2000). Around a fitted line r comes out too small by
about (2 + 4 r) / n (Marriott and Pope, Biometrika 41, 1954), which is put back: few samples are not to look surer than
they are.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]

_CONFIDENCE = 0.95

FEWEST = 3
"""Points that a power law with an interval needs."""

FEWEST_SAMPLES = 8
"""Samples below which a trend has no interval."""


@dataclass(frozen=True)
class PowerLaw:
    """A fitted power law.

    Attributes:
        exponent: p, the slope in a log-log plot.
        lower, upper: ends of its interval, by Student's t: how far the points are from any line.
        scale: C.
        n: that it was fitted to.
    """

    exponent: float
    lower: float
    upper: float
    scale: float
    n: tuple[int, ...]

    def at(self, n: Array) -> Array:
        """C n^p."""
        return self.scale * n**self.exponent

    def describe(self) -> str:
        """Interval and range, for people."""
        return f"95 %: {self.lower:.2f}–{self.upper:.2f}; n {min(self.n)}–{max(self.n)}"


def power_law(n: Sequence[int], values: Sequence[float]) -> PowerLaw:
    """By least squares; ValueError with fewer than three points."""
    if len(n) != len(values) or len(n) < FEWEST:
        raise ValueError(f"a power law needs {FEWEST} or more points, got {len(n)} of n and {len(values)} values")
    line = stats.linregress(np.log(n), np.log(values))
    lower, upper = _interval(line.slope, line.stderr, len(n) - 2)
    return PowerLaw(float(line.slope), lower, upper, float(np.exp(line.intercept)), tuple(n))


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """The exponent of the power law that two or more points follow best."""
    return float(stats.linregress(np.log(x), np.log(y)).slope)


@dataclass(frozen=True)
class Trend:
    """A slope with the ends of its interval, infinite where too few independent samples tell."""

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
    line = stats.linregress(times, values)
    residuals = values - line.intercept - line.slope * times
    independent = n * _independence(residuals) if n >= FEWEST_SAMPLES else 0.0
    if independent <= 3.0:
        return Trend(float(line.slope), -math.inf, math.inf)
    # linregress knows no error of a constant, and takes all samples for independent
    error = math.sqrt(float(residuals @ residuals) / (independent - 2.0) / (n * float(np.var(times))))
    return Trend(float(line.slope), *_interval(line.slope, error, independent - 2.0))


def _independence(residuals: Array) -> float:
    """Independent samples per sample, at most one."""
    squares = float(residuals @ residuals)
    if squares <= 0.0:
        return 1.0
    n, found = len(residuals), float(residuals[1:] @ residuals[:-1]) / squares
    r = min(max((found + 2.0 / n) / (1.0 - 4.0 / n), 0.0), 1.0)
    return (1.0 - r) / (1.0 + r)


def _interval(slope: float, error: float, freedom: float) -> tuple[float, float]:
    """Ends of the confidence interval by Student's t; a point without any error."""
    half = float(stats.t.ppf(0.5 + 0.5 * _CONFIDENCE, freedom)) * error
    return float(slope - half), float(slope + half)
