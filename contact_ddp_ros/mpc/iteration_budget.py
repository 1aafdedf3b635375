"""How many iterations a solve may take before its deadline, by the time that those of the last solves took."""

from time import perf_counter

_SHARE = 0.2
"""Share of the last solve in the running mean of the time that an iteration takes."""


class IterationBudget:
    """Running mean of the time per iteration."""

    def __init__(self) -> None:
        self._mean = 0.0

    def record(self, seconds: float, iterations: int) -> None:
        """Take the duration [s] and the number of iterations of a solve into the mean."""
        if iterations:
            self._mean += _SHARE * (seconds / iterations - self._mean)

    def iterations(self, deadline: float | None, most: int) -> int:
        """Iterations that end before a deadline on the clock of `time.perf_counter` [s]: at least one, `most` at most.

        `most` where there is no deadline, or no solve has been recorded.
        """
        if deadline is None or self._mean <= 0.0:
            return most
        return min(max(int((deadline - perf_counter()) / self._mean), 1), most)
