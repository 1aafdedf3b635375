"""The exponent of a power law y = C n^p, fitted as a line through logarithms, with its confidence interval."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

_CONFIDENCE = 0.95
FEWEST = 3
"""Points that a line with an interval needs."""


@dataclass(frozen=True)
class PowerLaw:
    """A fitted power law.

    Attributes:
        exponent: p, the slope in a log-log plot.
        lower, upper: ends of its 95 % confidence interval, by Student's t: how far the points are from any line.
        scale: C.
        n: that it was fitted to.
    """

    exponent: float
    lower: float
    upper: float
    scale: float
    n: tuple[int, ...]

    def at(self, n: np.ndarray) -> np.ndarray:
        """C n^p."""
        return self.scale * n**self.exponent

    def describe(self) -> str:
        """Interval and range, for people."""
        return f"95 %: {self.lower:.2f}–{self.upper:.2f}; n {min(self.n)}–{max(self.n)}"

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def fit(n: Sequence[int], values: Sequence[float]) -> PowerLaw:
    """By least squares; ValueError with fewer than three points."""
    if len(n) != len(values) or len(n) < FEWEST:
        raise ValueError(f"a power law needs {FEWEST} or more points, got {len(n)} of n and {len(values)} values")
    line = stats.linregress(np.log(n), np.log(values))
    margin = float(stats.t.ppf(0.5 + 0.5 * _CONFIDENCE, len(n) - 2) * line.stderr)
    exponent = float(line.slope)
    return PowerLaw(exponent, exponent - margin, exponent + margin, float(np.exp(line.intercept)), tuple(n))
