"""A periodic sequence of contact modes, and the phase of an instant in it.

    |-- back_stance --|---- flight ----|-- front_stance --|---- flight ----|-- back_stance -- ...
    epoch                                                                  epoch + period

A mode owns the instant at which it begins: at a switch time the later mode is the current one.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from contact_ddp_ros.errors import ParameterError

_SWITCH_TOLERANCE = 1e-9
"""An instant this close before a switch counts as the switch: times are sums of floating-point steps [s]."""


@dataclass(frozen=True)
class Mode:
    """A contact mode of fixed duration [s]; `contacts` names the points that stay on the ground during it."""

    name: str
    contacts: tuple[str, ...]
    duration: float


@dataclass(frozen=True)
class Phase:
    """Where an instant lies in the schedule: index of the mode, time since it began and until it ends [s]."""

    mode: int
    elapsed: float
    remaining: float


@dataclass(frozen=True)
class ModeSchedule:
    """Modes in order, repeated for ever; phase zero of mode zero is at time `epoch` [s]."""

    modes: tuple[Mode, ...]
    epoch: float = 0.0

    def __post_init__(self) -> None:
        """Raises ParameterError where there is no mode or a duration is not positive."""
        if not self.modes:
            raise ParameterError("a mode schedule needs at least one mode")
        for mode in self.modes:
            if not mode.duration > 0.0:
                raise ParameterError(f"mode {mode.name!r} lasts {mode.duration} s; a duration must be positive")

    @property
    def period(self) -> float:
        """Duration of one cycle [s]."""
        return sum(mode.duration for mode in self.modes)

    def phase(self, time: float) -> Phase:
        """The phase of an instant on the clock of `epoch`, before it as well as after."""
        elapsed = float(np.mod(time - self.epoch + _SWITCH_TOLERANCE, self.period))
        for index, mode in enumerate(self.modes):
            if elapsed < mode.duration:
                within = max(elapsed - _SWITCH_TOLERANCE, 0.0)
                return Phase(index, within, mode.duration - within)
            elapsed -= mode.duration
        return Phase(0, 0.0, self.modes[0].duration)

    def touchdowns(self, mode: int) -> tuple[str, ...]:
        """Names of the points that land when `mode` ends."""
        following = self.modes[(mode + 1) % len(self.modes)]
        return tuple(name for name in following.contacts if name not in self.modes[mode].contacts)

    def successors(self) -> tuple[tuple[int, int], ...]:
        """Pairs (mode, next mode) of one cycle."""
        indices = (*range(len(self.modes)), 0)
        return tuple(pairwise(indices))
