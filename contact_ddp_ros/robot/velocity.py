"""The commanded velocity, and for how long it is valid."""

import math
from dataclasses import astuple, dataclass
from typing import Generic, TypeVar

from contact_ddp_ros.base.errors import MessageError

Command = TypeVar("Command")


@dataclass(frozen=True)
class VelocityCommand:
    """Commanded forward and leftward speed [m/s] and yaw rate [rad/s]."""

    forward: float = 0.0
    left: float = 0.0
    yaw_rate: float = 0.0

    def __post_init__(self) -> None:
        """Raises MessageError where a number is not finite."""
        if not all(math.isfinite(value) for value in astuple(self)):
            raise MessageError(f"the velocity command is {astuple(self)}; allowed: finite numbers")


class Expiring(Generic[Command]):
    """A command that is valid for a limited time, measured on the clock of the states.

    One thread may put a command while another one reads it.
    """

    def __init__(self, neutral: Command) -> None:
        """`neutral` is the command where there is none, or only one that is too old."""
        self._neutral = neutral
        self._value = neutral
        self._time: float | None = None
        self._put: tuple[Command] | None = None
        self._seen: tuple[Command] | None = None

    def put(self, value: Command) -> None:
        """Replace the command; its age counts from the next time that it is read."""
        self._put = (value,)

    def at(self, time: float, timeout: float) -> Command:
        """The valid command at `time` [s]; the neutral one once it is older than `timeout` [s]."""
        put = self._put
        if put is not None and put is not self._seen:
            self._seen, self._value, self._time = put, put[0], time
        if self._time is None or not 0.0 <= time - self._time <= timeout:
            self._time = None
            return self._neutral
        return self._value
