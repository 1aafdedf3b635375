"""Trim of the planned forward speed: makes up for a speed that is never reached."""

from contact_ddp_ros.mpc.config import ReferenceConfig
from contact_ddp_ros.robot.clamped_integrator import LastingError, Trim

_LONGEST_STEP = 0.05
"""A longer time between two plans counts as this much [s]."""


class SpeedTrim:
    """Integral correction of the forward speed from one plan to the next."""

    def __init__(self) -> None:
        """Begin with nothing to make up for, at time 0."""
        self._error, self._trim, self._time = LastingError(), Trim(), 0.0

    @property
    def value(self) -> float:
        """Last correction [m/s]."""
        return self._trim.value

    def reset(self, time: float) -> None:
        """Forget at `time` [s] what was learned of speeds not reached."""
        self._error.reset()
        self._trim.reset()
        self._time = time

    def follow(self, speed: float, measured: float, time: float, cycle: float, config: ReferenceConfig) -> float:
        """Speed to plan for at `time` [s] in a gait of period `cycle` [s], from a wanted and a measured one [m/s]."""
        limit = config.speed_limit
        step = min(max(time - self._time, 0.0), _LONGEST_STEP)
        self._time = time
        error = self._error.follow(speed, measured, time, cycle)
        if abs(speed + self._trim.value) >= limit and error * speed > 0.0:
            error = 0.0  # what the limit forbids would have to be unlearned later
        speed += self._trim.follow(error, config.speed_integral, config.speed_trim, step)
        return min(max(speed, -limit), limit)
