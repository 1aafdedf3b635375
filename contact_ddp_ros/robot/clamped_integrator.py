"""A constant disturbance, felt as a velocity or an angle that is never quite reached, and what makes up for it."""

from collections import deque

_SAME = 1e-6
"""Instants as near as this are one [s]."""


class ClampedIntegrator:
    """The integral of an error, within bounds."""

    def __init__(self) -> None:
        """Begin with nothing to make up for."""
        self.value = 0.0

    def reset(self) -> None:
        """Forget what was learned."""
        self.value = 0.0

    def follow(self, error: float, gain: float, limit: float, dt: float) -> float:
        """Correction of the target, `dt` [s] after the last one, where the measurement is short of wanted by `error`.

        `gain` is in 1/s; the result stays within ± `limit`.
        """
        self.value = min(max(self.value + gain * error * dt, -limit), limit)
        return self.value


class SteadyStateError:
    """Steady-state error: distance of a measurement's mean from the range of all values wanted meanwhile.

    What is wanted may move faster than what is measured can follow: while it does, the error between them is none that
    lasts. So the mean over one cycle is held against the range of what was wanted in that cycle and the one before; a
    response takes less than the latter, and the mean is free of what a cycle does to the measurement.
    """

    def __init__(self) -> None:
        """Begin with no cycle seen."""
        self._samples = deque[tuple[float, float, float]]()

    def reset(self) -> None:
        """Forget what was seen."""
        self._samples.clear()

    def follow(self, wanted: float, measured: float, time: float, cycle: float) -> float:
        """Distance of the mean from that range at `time` [s]; 0 until two cycles [s] were seen."""
        samples = self._samples
        if samples and time <= samples[-1][0]:
            samples.clear()
        samples.append((time, wanted, measured))
        while len(samples) > 1 and samples[1][0] <= time - 2.0 * cycle + _SAME:
            samples.popleft()
        if samples[0][0] > time - 2.0 * cycle + _SAME:
            return 0.0
        late = [sample[2] for sample in samples if sample[0] > time - cycle + _SAME]
        mean = sum(late) / len(late)
        wants = [sample[1] for sample in samples]
        return min(max(mean, min(wants)), max(wants)) - mean
