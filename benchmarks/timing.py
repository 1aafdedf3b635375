"""Comparisons by time that a noisy machine does not spoil: candidates take turns, and ratios are formed turn by turn.

In every round each candidate runs a few times in a row; its figure of the round is the best of those, caches being warm
by then. A slow moment of the machine meets all candidates of a round alike, and a ratio's spread over the rounds tells
how much it did not. The ratio of the two best figures of all rounds stands beside it: what a quiet machine would show.
The order rotates from round to round. The garbage collector is off while the clock runs.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
