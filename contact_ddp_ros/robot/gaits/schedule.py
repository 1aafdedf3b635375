"""A periodic sequence of contact modes, and the phase of an instant in it.

    |-- back_stance --|---- flight ----|-- front_stance --|---- flight ----|-- back_stance -- ...
    epoch                                                                  epoch + period

A mode owns the instant at which it begins: at a switch time the later mode is the current one.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError

ALIGNMENT = 1e-9
"""Tolerance of a duration on a whole number of steps: periods are summed over a long run [s]."""

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
    """Phase of an instant in the schedule: index of the mode, time since it began and until it ends [s]."""

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

    def steps_per_mode(self, step: float) -> tuple[int, ...]:
        """Whole number of steps [s] in each mode.

        Raises:
            ParameterError: the step is not positive, or a mode does not last a whole number of steps.
        """
        if not 0.0 < step < math.inf:
            raise ParameterError(f"the step is {step} s; it must be positive")
        counts = []
        for mode in self.modes:
            count = round(mode.duration / step)
            if count < 1 or abs(count * step - mode.duration) > ALIGNMENT:
                raise ParameterError(
                    f"mode {mode.name!r} lasts {mode.duration} s, which is no whole number of steps of {step} s; "
                    "choose a step that divides every mode"
                )
            counts.append(count)
        return tuple(counts)

    def modes_of_steps(self, steps: NDArray[np.int64], step: float) -> NDArray[np.int64]:
        """Index of the mode of each step, which are counted from the epoch; ParameterError as `steps_per_mode`."""
        counts = self.steps_per_mode(step)
        return np.repeat(np.arange(len(counts)), counts)[steps % sum(counts)]

    def stance(self, point: str) -> tuple[float, float]:
        """Stance of a contact point: touchdown, from 0 up to the period, and duration on the ground [s].

        That may be through several modes; a point that is never in the air lands at 0.

        Raises:
            ParameterError: it is on the ground never, or more than once in a cycle.
        """
        down = [point in mode.contacts for mode in self.modes]
        if all(down):
            return 0.0, self.period
        landings = [mode for mode in range(len(down)) if down[mode] and not down[mode - 1]]
        if len(landings) != 1:
            raise ParameterError(f"{point!r} lands {len(landings)} times in a cycle; allowed: once")
        start, duration, mode = sum(one.duration for one in self.modes[: landings[0]]), 0.0, landings[0]
        while down[mode % len(down)]:
            duration += self.modes[mode % len(down)].duration
            mode += 1
        return float(start), duration

    def touchdowns(self, mode: int) -> tuple[str, ...]:
        """Names of the points that land when `mode` ends."""
        following = self.modes[(mode + 1) % len(self.modes)]
        return tuple(name for name in following.contacts if name not in self.modes[mode].contacts)

    def successors(self) -> tuple[tuple[int, int], ...]:
        """Pairs (mode, next mode) of one cycle."""
        indices = (*range(len(self.modes)), 0)
        return tuple(pairwise(indices))
