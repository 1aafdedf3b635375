"""Rate of planning that the processor bears, chosen from the times that solves take.

A planner that wants more time than its processor has for it falls behind: under a quota it is stopped in the middle of
a solve. A lower rate leaves time over, and each plan comes at once. Where a solve takes t [s] on average over the last
half second, all its iterations counted, the rate is the largest of those at or above :data:`SLOWEST` with

    t <= share / rate,        rate = most / k,   k = 1, 2, ...

It is lowered as soon as that asks for it. On a processor that is shared, t tells nothing of a higher rate than the
present one, which has to be tried: one step up after a wait, which doubles with each trial that fails.
"""

import math
from collections import deque

SLOWEST = 12.5
"""The rate is not lowered beyond this [Hz]."""

_WINDOW = 0.5
"""Time over which solves are looked at [s]: a few periods of a quota."""

_WAIT, _LONGEST_WAIT = 2.0, 60.0
"""Time at a rate before a higher one is tried, at first and at most [s]."""


class PlanRate:
    """The share of the largest rate that is planned at, the whole of it at first."""

    def __init__(self) -> None:
        self._divisor = 1
        self._solves: deque[tuple[float, float]] = deque()
        self._since, self._wait, self._trial = -math.inf, _WAIT, False

    def of(self, most: float) -> float:
        """Rate to plan at where `most` is the largest one [Hz]."""
        return most / min(self._divisor, _largest(most))

    def took(self, duration: float, time: float, most: float, share: float) -> bool:
        """Take a solve that ended at `time` [s]; True where the rate is another one from now on.

        Args:
            duration: that it took, or would have taken with all its iterations [s].
            time: on a clock that does not jump [s].
            most: the largest rate [Hz].
            share: of the time between two solves that one may take.
        """
        if not self._solves:
            self._began = time
        self._solves.append((time, duration))
        while self._solves[0][0] < time - _WINDOW:
            self._solves.popleft()
        if time - self._began < _WINDOW:
            return False
        mean = math.fsum(one for _, one in self._solves) / len(self._solves)
        borne = min(max(math.ceil(mean * most / share - 1e-9), 1), _largest(most))
        rested = time - self._since
        if borne > self._divisor:
            forgotten = rested > _LONGEST_WAIT or not self._trial
            self._wait = _WAIT if forgotten else min(2.0 * self._wait, _LONGEST_WAIT)
            self._change(borne, time, trial=False)
        elif borne < self._divisor and rested >= self._wait:
            self._change(self._divisor - 1, time, trial=True)
        else:
            return False
        return True

    def _change(self, divisor: int, time: float, *, trial: bool) -> None:
        self._divisor, self._since, self._trial = divisor, time, trial
        self._solves.clear()


def _largest(most: float) -> int:
    """The divisor that gives the slowest rate."""
    return max(int(most / SLOWEST + 1e-9), 1)
