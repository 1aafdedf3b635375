"""The largest disturbance that is survived, by bisection."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """Where an outcome changes.

    Attributes:
        held: largest level that was survived; the lower end of the search where none was.
        lost: smallest level above it that was not; None where the upper end was survived.
        tried: (level, survived) in the order of the trials.
    """

    held: float
    lost: float | None
    tried: tuple[tuple[float, bool], ...]


def search(held: Callable[[float], bool], low: float, high: float, evaluations: int) -> Limit:
    """Try `high` and, unless it is survived, halve the interval from `low`, taken as survived, so many times.

    Survival need not be monotonic in truth; what is found then is one of the levels at which it changes.
    """
    if held(high):
        return Limit(high, None, ((high, True),))
    below, above, tried = low, high, [(high, False)]
    for _ in range(evaluations):
        level = 0.5 * (below + above)
        survived = held(level)
        tried.append((level, survived))
        below, above = (level, above) if survived else (below, level)
    return Limit(below, above, tuple(tried))
