"""A constant disturbance, felt as a velocity or an angle that is never quite reached, and what makes up for it."""


class Trim:
    """The integral of an error, within bounds."""

    def __init__(self) -> None:
        """Begin with nothing to make up for."""
        self.value = 0.0

    def reset(self) -> None:
        """Forget what was learned."""
        self.value = 0.0

    def follow(self, error: float, gain: float, limit: float, dt: float) -> float:
        """What to add to the target, `dt` [s] after the last time, where measured is short of wanted by `error`.

        `gain` is in 1/s; the result stays within ± `limit`.
        """
        self.value = min(max(self.value + gain * error * dt, -limit), limit)
        return self.value
