"""The speed that is planned for: it follows the command at a limited rate and makes up for one never reached."""

from contact_ddp_ros.estimation.trim import LastingError, Trim
from contact_ddp_ros.mpc.config import ReferenceConfig
from contact_ddp_ros.mpc.rate_limit import RateLimited

_LONGEST_STEP = 0.05
"""A longer time between two plans counts as this much [s]."""


class PlannedSpeed:
    """Forward speed from one plan to the next."""

    def __init__(self) -> None:
        """Begin at rest at time 0."""
        self._speed = RateLimited()
        self._error, self._trim, self._time = LastingError(), Trim(), 0.0

    @property
    def trim(self) -> float:
        """What the last speed holds to make up for one never reached [m/s]."""
        return self._trim.value

    def restart(self, time: float) -> None:
        """Be at rest at `time` [s]; what was learned of speeds not reached is kept."""
        self._speed.restart(0.0, time)

    def hold(self, time: float) -> float:
        """The speed of a robot that stands at `time` [s], 0, from which the next one goes on."""
        self.restart(time)
        self._error.reset()
        self._trim.reset()
        self._time = time
        return 0.0

    def follow(self, commanded: float, measured: float, time: float, cycle: float, config: ReferenceConfig) -> float:
        """The speed to plan for at `time` [s] in a gait of period `cycle` [s], from a commanded and a measured one."""
        limit = config.speed_limit
        speed = self._speed.approach(min(max(commanded, -limit), limit), config.acceleration, time)
        step = min(max(time - self._time, 0.0), _LONGEST_STEP)
        self._time = time
        error = self._error.follow(speed, measured, time, cycle)
        if abs(speed + self._trim.value) >= limit and error * speed > 0.0:
            error = 0.0  # what the limit forbids would have to be unlearned later
        speed += self._trim.follow(error, config.speed_integral, config.speed_trim, step)
        return min(max(speed, -limit), limit)
