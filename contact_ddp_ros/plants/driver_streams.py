"""States of a robot's own driver: joint states in parts, an IMU and odometry, joined at one instant.

A driver may tell its joints in several messages, its IMU at another rate, and stamp each as it likes. Every part is a
stream of numbers over time. The joined state is that of the latest instant that all streams have reached, each
interpolated linearly there, so that stamps need not be equal.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_KEPT = 32
"""Samples of a stream that are kept."""

_SILENT = 100_000_000
"""Time after which who tells some joints is taken to be gone, and another may tell them [ns]."""

_SHARE = 0.75
"""Share of the period that must have passed since the last joined state."""


class Stream:
    """Numbers over time, of which the latest are kept; stamps in ns."""

    def __init__(self) -> None:
        """No sample has come."""
        self._samples: deque[tuple[int, Array]] = deque(maxlen=_KEPT)

    @property
    def latest(self) -> int | None:
        """Stamp of the newest sample [ns]."""
        return self._samples[-1][0] if self._samples else None

    def put(self, stamp: int, values: Array) -> None:
        """Add a sample; one that is older than the newest begins the stream anew where its clock was set back."""
        if self._samples and stamp <= self._samples[-1][0]:
            if stamp > self._samples[0][0]:
                return  # late, and there is a newer one
            self._samples.clear()
        self._samples.append((stamp, values))

    def at(self, stamp: int) -> Array:
        """Numbers at an instant that the stream has reached [ns]; the oldest ones before its beginning."""
        after = self._samples[-1]
        for before in reversed(self._samples):
            if before[0] <= stamp:
                share = (stamp - before[0]) / max(after[0] - before[0], 1)
                return before[1] + share * (after[1] - before[1])
            after = before
        return after[1]


@dataclass(frozen=True)
class Joined:
    """A joined state.

    Attributes:
        stamp: its instant [ns].
        positions, velocities: (n,) of the joints [rad, rad/s].
        efforts: (n,) [N m]; NaN where the driver tells none.
        others: numbers of each further stream.
    """

    stamp: int
    positions: Array
    velocities: Array
    efforts: Array
    others: tuple[Array, ...]


class JoinedStreams:
    """Joins streams of joints and others."""

    def __init__(self, names: Sequence[str], others: int, period: int) -> None:
        """Joints by name, number of further streams, and least time between two joined states [ns]."""
        self._names = list(names)
        self._others = [Stream() for _ in range(others)]
        self._period = period
        self._parts: dict[tuple[object, ...], tuple[Stream, list[int], list[int]]] = {}
        self._told: int | None = None
        self.ignored: set[str] = set()
        """Joints that messages have and that are not asked for."""

    @property
    def missing(self) -> list[str]:
        """Joints that no message has told."""
        known = {joint for _, joints, _ in self._parts.values() for joint in joints}
        return [name for joint, name in enumerate(self._names) if joint not in known]

    def joints(
        self,
        source: object,
        names: Sequence[str],
        stamp: int,
        positions: Sequence[float],
        velocities: Sequence[float],
        efforts: Sequence[float],
    ) -> Joined | None:
        """Add joints of a message; velocities and efforts may be empty. Returns a joined state if there is a new one.

        Velocities that are not told are differences of positions.
        """
        key = (source, *names)
        if key not in self._parts:
            self._drop_silent(stamp)
            taken = {joint for _, joints, _ in self._parts.values() for joint in joints}
            found = [(self._names.index(name), at) for at, name in enumerate(names) if name in self._names]
            own = [(joint, at) for joint, at in found if joint not in taken]
            self.ignored |= {name for name in names if name not in self._names}
            if not own:
                return None
            self._parts[key] = Stream(), [joint for joint, _ in own], [at for _, at in own]
        stream, _, at = self._parts[key]
        position = np.asarray(positions, float)[at]
        velocity = np.asarray(velocities, float)[at] if len(velocities) else self._rates(stream, stamp, position)
        effort = np.asarray(efforts, float)[at] if len(efforts) else np.full(len(at), np.nan)
        stream.put(stamp, np.stack([position, velocity, effort]))
        return self._join()

    def other(self, index: int, stamp: int, values: Array) -> Joined | None:
        """Add a sample of a further stream. Returns a joined state where there is a new one."""
        self._others[index].put(stamp, values)
        return self._join()

    def _drop_silent(self, stamp: int) -> None:
        """Forget who has told nothing for a while: a driver that starts again may tell its joints in another order."""
        latest = {key: stream.latest for key, (stream, _, _) in self._parts.items()}
        for key, last in latest.items():
            if last is None or abs(stamp - last) > _SILENT:
                del self._parts[key]

    @staticmethod
    def _rates(stream: Stream, stamp: int, position: Array) -> Array:
        if stream.latest is None or stamp <= stream.latest:
            return np.zeros(len(position))
        return np.asarray((position - stream.at(stream.latest)[0]) / (1e-9 * (stamp - stream.latest)))

    def _join(self) -> Joined | None:
        streams = [*(stream for stream, _, _ in self._parts.values()), *self._others]
        latest = [stream.latest for stream in streams]
        reached = [stamp for stamp in latest if stamp is not None]
        if len(reached) < len(latest) or self.missing:
            return None
        stamp = min(reached)
        if self._told is not None and 0 <= stamp - self._told < _SHARE * self._period:
            return None
        self._told = stamp
        motion = np.empty((3, len(self._names)))
        for stream, joints, _ in self._parts.values():
            motion[:, joints] = stream.at(stamp)
        positions, velocities, efforts = motion
        return Joined(stamp, positions, velocities, efforts, tuple(stream.at(stamp) for stream in self._others))
