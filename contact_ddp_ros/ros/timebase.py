"""Stamps are integers of nanoseconds; the mathematics runs in seconds since a node's first stamp.

A stamp of the wall clock in seconds, 1.8e9, has no room for a switch of the gait: floating-point numbers of that size
are 2.4e-7 s apart. Seconds since the first stamp are exact to less than a nanosecond for months, and the same states
give the same numbers whenever they come.
"""

from collections import deque

from builtin_interfaces.msg import Time

NANOSECONDS = 1_000_000_000

FAR = 30 * 86_400 * NANOSECONDS
"""Farthest stamp from the origin that an origin is kept for [ns]: doubles of so many seconds are 0.5 ns apart."""

_WINDOW = 1.0
"""Time of the wall clock over which the pace of another clock is measured [s]."""


def stamp_ns(stamp: Time) -> int:
    """A message's stamp in nanoseconds."""
    return int(stamp.sec) * NANOSECONDS + int(stamp.nanosec)


class Timebase:
    """Converts stamps [ns] to seconds since an origin and back; not thread-safe."""

    def __init__(self) -> None:
        """The first stamp that comes is the origin."""
        self._origin: int | None = None

    @property
    def origin(self) -> int:
        """The stamp [ns] of zero seconds; zero before the first stamp."""
        return 0 if self._origin is None else self._origin

    def follow(self, stamp: int) -> None:
        """Move the origin to this stamp [ns] if it is so far away that seconds would lose precision.

        Needed when the clock is set for the first time, or the first stamp was invalid. Seconds computed before become
        invalid: call it only when none are in use.
        """
        if self._origin is not None and abs(stamp - self._origin) > FAR:
            self._origin = stamp

    def seconds(self, stamp: int) -> float:
        """Time since the origin [s] of a stamp [ns]."""
        if self._origin is None:
            self._origin = stamp
        return 1e-9 * (stamp - self._origin)

    def stamp(self, seconds: float) -> int:
        """The stamp [ns] of an instant [s] since the origin."""
        return self.origin + round(seconds * NANOSECONDS)


class ClockPace:
    """Seconds of the states' clock per second of the wall clock: the real-time factor of a simulator's last second."""

    def __init__(self, simulated: bool) -> None:
        """Where time is not `simulated` the pace is 1; a simulator's is, too, until two stamps tell another."""
        self._simulated = simulated
        self._marks: deque[tuple[int, float]] = deque()
        self.value = 1.0
        """The real-time factor, which another thread may read; 1 on the wall clock."""

    def mark(self, stamp: int, wall: float) -> None:
        """Take a stamp [ns] that came at an instant of the wall clock [s].

        One that does not follow the last on both clocks begins anew.
        """
        if not self._simulated:
            return
        if self._marks and not (stamp > self._marks[-1][0] and wall > self._marks[-1][1]):
            self._marks.clear()
        self._marks.append((stamp, wall))
        while len(self._marks) > 2 and self._marks[0][1] < wall - _WINDOW:
            self._marks.popleft()
        first, began = self._marks[0]
        self.value = 1.0 if wall == began else 1e-9 * (stamp - first) / (wall - began)
