"""Counts and durations since the last diagnostics report; written by the working thread, read by another."""

import time as clock
from dataclasses import dataclass


class Recent:
    """Growth of a count between two reports."""

    def __init__(self) -> None:
        """The count is zero."""
        self._before = 0

    def growth(self, count: int) -> int:
        """Increase of `count` since the last call."""
        growth, self._before = count - self._before, count
        return growth


@dataclass(frozen=True)
class LoopReport:
    """The rounds since the last report.

    Attributes:
        rate: rounds per second of the wall clock [Hz].
        mean, longest: duration of a round [s]; zero where there was none.
        overruns: rounds that took longer than available.
        total_overruns: the same since the beginning.
    """

    rate: float
    mean: float
    longest: float
    overruns: int
    total_overruns: int

    def values(self, noun: str) -> dict[str, float]:
        """Key-value pairs for diagnostics; `noun` names a round."""
        return {
            f"{noun} rate [Hz]": round(self.rate, 1),
            f"mean {noun} [ms]": round(1e3 * self.mean, 3),
            f"longest {noun} [ms]": round(1e3 * self.longest, 3),
            "overruns": self.total_overruns,
        }


class LoopMonitor:
    """Counts and times the rounds of one loop."""

    def __init__(self) -> None:
        """Start without events."""
        self._began = clock.monotonic()
        self._rounds: list[float] = []
        self._overruns = 0
        self._total_overruns = 0

    def round(self, duration: float, available: float) -> None:
        """Record a round that took `duration` of `available` [s]."""
        self._rounds.append(duration)
        if duration > available:
            self._overruns += 1

    def report(self) -> LoopReport:
        """Summary since the last report; resets the counts."""
        now = clock.monotonic()
        rounds, self._rounds = self._rounds, []
        overruns, self._overruns = self._overruns, 0
        elapsed, self._began = now - self._began, now
        self._total_overruns += overruns
        count = len(rounds)
        return LoopReport(
            rate=count / elapsed if elapsed > 0.0 else 0.0,
            mean=sum(rounds) / count if count else 0.0,
            longest=max(rounds, default=0.0),
            overruns=overruns,
            total_overruns=self._total_overruns,
        )
