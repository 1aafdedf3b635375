"""Comparisons by time that a noisy machine does not spoil: candidates take turns, and ratios are formed turn by turn.

In every round each candidate runs a few times in a row; its figure of the round is the best of those, caches being warm
by then. A slow moment of the machine meets all candidates of a round alike, and a ratio's spread over the rounds tells
how much it did not. The ratio of the two best figures of all rounds stands beside it: what a quiet machine would show.
The order rotates from round to round. The garbage collector is off while the clock runs.

Intervals of medians, and comparisons of two variants under the same conditions.

Slopes of lines through measured points, each with its 95 % confidence interval.

A power law y = C n^p is a line through logarithms. A trend is a line over time, whose neighbouring samples resemble
each other, so that n of them say less than n independent ones would: with the residuals' lag-one autocorrelation r they
count as n (1 - r) / (1 + r) (Santer et al., J. Geophys. Res. 105, 2000). Around a fitted line r comes out too small by
about (2 + 4 r) / n (Marriott and Pope, Biometrika 41, 1954), which is put back: few samples are not to look surer than
they are.
"""

import gc
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Array = NDArray[np.float64]

Candidate = Callable[[], Mapping[str, float]]
"""Does its work once and tells how long each part took [s]; every call names the same parts."""

Progress = Callable[[float], None]
"""Receives the share that is done, 0 to 1."""

_Item = TypeVar("_Item")


def watched(items: Sequence[_Item], progress: Progress | None) -> Iterator[_Item]:
    """Each item in turn; the progress is told after each that it is done."""
    for done, item in enumerate(items, 1):
        yield item
        if progress is not None:
            progress(done / len(items))


@dataclass(frozen=True)
class Spread:
    """A figure over its samples.

    Attributes:
        median, minimum, lower, upper: lower and upper are the quartiles.
        samples: how many there were.
        of_minima: of a ratio, that of the smallest numerator to the smallest denominator.
    """

    median: float
    minimum: float
    lower: float
    upper: float
    samples: int
    of_minima: float | None = None

    @classmethod
    def of(cls, values: ArrayLike, of_minima: float | None = None) -> "Spread":
        """Spread of (n,) samples."""
        samples = np.asarray(values, dtype=float)
        lower, median, upper = map(float, np.percentile(samples, (25.0, 50.0, 75.0)))
        return cls(median, float(samples.min()), lower, upper, samples.size, of_minima)

    @classmethod
    def of_ratio(cls, above: Array, below: Array) -> "Spread":
        """Spread of the ratios of (n,) samples, one by one."""
        return cls.of(above / below, float(above.min() / below.min()))


@dataclass(frozen=True)
class Times:
    """Times of interleaved candidates: per candidate and part, (rounds,) seconds."""

    parts: Mapping[str, Mapping[str, Array]]

    def spread(self, candidate: str, part: str, scale: float = 1.0) -> Spread:
        """Spread of one part's time, times `scale`."""
        return Spread.of(scale * self.parts[candidate][part])

    def ratio(self, of: tuple[str, str], to: tuple[str, str]) -> Spread:
        """Spread of the ratios, round by round, of one (candidate, part) to another."""
        return Spread.of_ratio(self.parts[of[0]][of[1]], self.parts[to[0]][to[1]])


def interleave(
    candidates: Mapping[str, Candidate], rounds: int, repeats: int, progress: Progress | None = None
) -> Times:
    """Let the candidates take turns for some rounds, each running `repeats` times in a row; one turn warms up."""
    names = list(candidates)
    collected: dict[str, list[Mapping[str, float]]] = {name: [] for name in names}
    collecting = gc.isenabled()
    for turn in watched(range(-1, rounds), progress):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            gc.disable()
            try:
                calls = [candidates[name]() for _ in range(repeats)]
            finally:
                if collecting:
                    gc.enable()
            if turn >= 0:
                collected[name].append({part: min(call[part] for call in calls) for part in calls[0]})
    return Times(
        {name: {part: np.array([one[part] for one in turns]) for part in turns[0]} for name, turns in collected.items()}
    )


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
