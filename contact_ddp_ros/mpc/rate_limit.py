"""A reference that approaches its target no faster than a rate: commands may jump, references may not."""


class RateLimited:
    """One number that follows its target in time."""

    def __init__(self, value: float = 0.0, time: float = 0.0) -> None:
        self.value = value
        self._time = time

    def restart(self, value: float, time: float) -> None:
        """Be at `value` at `time` [s]."""
        self.value, self._time = value, time

    def approach(self, target: float, rate: float, time: float) -> float:
        """Move towards the target at `rate` per second since the last call; a clock set back moves nothing."""
        step = rate * max(time - self._time, 0.0)
        self._time = time
        self.value += min(max(target - self.value, -step), step)
        return self.value
