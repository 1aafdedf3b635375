"""Keeping simulated time at the pace of the wall clock, and counting how often that failed."""

import time as clock
from dataclasses import dataclass

_GIVE_UP = 0.1
"""Further behind than this, lost time is not made up for: a burst of hurried steps helps nobody [s]."""

_WINDOW = 1.0
"""Wall-clock time over which the real-time factor is taken [s]."""


@dataclass
class Pace:
    """Waits until the wall clock has caught up with simulated time.

    Attributes:
        period: of one tick [s].
        ticks, misses: how many there were, and how many began more than a period late.
        real_time_factor: simulated over wall-clock time of about the last second.
    """

    period: float
    ticks: int = 0
    misses: int = 0
    real_time_factor: float = 1.0
    _anchor: float = 0.0
    _window: tuple[float, float] = (0.0, 0.0)

    def start(self, simulated: float) -> None:
        """From now on simulated time runs with the wall clock."""
        now = clock.monotonic()
        self._anchor = now - simulated
        self._window = (simulated, now)

    def ahead(self, simulated: float) -> float:
        """How long it is until it is time for `simulated` [s]; negative where that was before."""
        return simulated - (clock.monotonic() - self._anchor)

    def measure(self, simulated: float) -> None:
        """Keep the real-time factor up to date."""
        now = clock.monotonic()
        since, began = self._window
        if now - began >= _WINDOW:
            self.real_time_factor = (simulated - since) / (now - began)
            self._window = (simulated, now)

    def wait(self, simulated: float) -> None:
        """Sleep until it is time for `simulated` [s]; count a miss where that was more than a period ago."""
        self.ticks += 1
        ahead = self.ahead(simulated)
        if ahead > 0.0:
            clock.sleep(ahead)
        elif ahead < -self.period:
            self.misses += 1
            if ahead < -_GIVE_UP:
                self._anchor -= ahead
        self.measure(simulated)
