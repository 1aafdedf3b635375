"""Synchronisation of simulated time with the wall clock, with a count of missed ticks."""

import time as clock
from dataclasses import dataclass

_GIVE_UP = 0.1
"""Delay beyond which lost time is not made up for, to avoid a burst of steps [s]."""

_WINDOW = 1.0
"""Wall-clock time over which the real-time factor is taken [s]."""


@dataclass
class Pace:
    """Synchronises simulated time with the wall clock.

    Attributes:
        period: duration of one tick [s].
        ticks, misses: number of ticks, and of those that began more than a period late.
        real_time_factor: simulated over wall-clock time of about the last second.
    """

    period: float
    ticks: int = 0
    misses: int = 0
    real_time_factor: float = 1.0
    _anchor: float = 0.0
    _window: tuple[float, float] = (0.0, 0.0)

    def start(self, simulated: float) -> None:
        """Let the simulated time `simulated` [s] coincide with the present wall-clock time."""
        now = clock.monotonic()
        self._anchor = now - simulated
        self._window = (simulated, now)

    def ahead(self, simulated: float) -> float:
        """Wall-clock time left until `simulated` [s] is due; negative where it is overdue [s]."""
        return simulated - (clock.monotonic() - self._anchor)

    def measure(self, simulated: float) -> None:
        """Update the real-time factor at the simulated time `simulated` [s]."""
        now = clock.monotonic()
        since, began = self._window
        if now - began >= _WINDOW:
            self.real_time_factor = (simulated - since) / (now - began)
            self._window = (simulated, now)

    def wait(self, simulated: float) -> None:
        """Sleep until `simulated` [s] is due; count a miss where it is overdue by more than a period."""
        self.ticks += 1
        ahead = self.ahead(simulated)
        if ahead > 0.0:
            clock.sleep(ahead)
        elif ahead < -self.period:
            self.misses += 1
            if ahead < -_GIVE_UP:
                self._anchor -= ahead
        self.measure(simulated)
