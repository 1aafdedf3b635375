"""Pushes and instants as string parameters, because a list parameter has a fixed length.

Pushes are `t,fx,fy,fz,dt[,tx,ty,tz]` each, separated by semicolons; instants are numbers separated by commas.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from contact_ddp_ros.base.config import require, require_finite
from contact_ddp_ros.base.errors import ParameterError

_TOLERANCE = 1e-9
"""Tolerance on the time of a push [s]."""


@dataclass(frozen=True)
class Push:
    """An external force on the trunk's origin and a moment, constant from `time` until `time + duration`.

    Attributes:
        time: when it begins on the simulation's clock [s].
        force: (3,) in `odom` axes [N].
        duration: how long it acts [s].
        torque: (3,) in `odom` axes [N m].
    """

    time: float
    force: tuple[float, float, float]
    duration: float
    torque: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Raises ParameterError where a number is not finite, the start is negative or it does not last."""
        for name, vector in (("force", self.force), ("torque", self.torque)):
            require(len(vector) == 3, f"a push has three components of {name}, found {len(vector)}")
        require_finite("push", self.time, *self.force, self.duration, *self.torque)
        require(self.time >= 0.0, f"a push begins at {self.time} s; give a time of 0 or later")
        require(self.duration > 0.0, f"a push lasts {self.duration} s; give a positive duration")

    @classmethod
    def from_numbers(cls, numbers: Sequence[float]) -> "Push":
        """Push from `t, fx, fy, fz, dt` or those and `tx, ty, tz`.

        Raises:
            ParameterError: the count is another, or a number is not allowed.
        """
        if len(numbers) not in (5, 8):
            raise ParameterError(f"a push is t,fx,fy,fz,dt or t,fx,fy,fz,dt,tx,ty,tz; found {len(numbers)} numbers")
        time, x, y, z, duration, *torque = numbers
        return cls(time, (x, y, z), duration, (torque[0], torque[1], torque[2]) if torque else (0.0, 0.0, 0.0))

    @property
    def numbers(self) -> tuple[float, ...]:
        """Numbers that :meth:`from_numbers` reads."""
        return (self.time, *self.force, self.duration, *(self.torque if any(self.torque) else ()))

    @property
    def end(self) -> float:
        """End of the push [s]."""
        return self.time + self.duration

    def __str__(self) -> str:
        """Text for people."""
        moment = f" with {self.torque} N m" if any(self.torque) else ""
        return f"push {self.force} N{moment} for {self.duration} s"


class PushSchedule:
    """Queue of pushes in the order of their times."""

    def __init__(self, pushes: Sequence[Push]) -> None:
        """Begin with all of them to come."""
        self._pushes = sorted(pushes, key=lambda push: push.time)

    def due(self, time: float) -> list[Push]:
        """Remove and return the pushes that begin by `time` [s]."""
        due = [push for push in self._pushes if push.time <= time + _TOLERANCE]
        self._pushes = self._pushes[len(due) :]
        return due


def parse_pushes(text: str) -> list[Push]:
    """Parse pushes `t,fx,fy,fz,dt[,tx,ty,tz]` [s, N, s, N m] separated by semicolons.

    Raises:
        ParameterError: one has another count of numbers, or a number is not allowed.
    """
    pushes = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        try:
            pushes.append(Push.from_numbers([float(number) for number in part.split(",")]))
        except ValueError:
            raise ParameterError(f"push {part!r}; allowed: t,fx,fy,fz,dt[,tx,ty,tz], several separated by ;") from None
    return pushes


def format_pushes(pushes: Sequence[Push]) -> str:
    """Format pushes for :func:`parse_pushes`."""
    return ";".join(",".join(repr(number) for number in push.numbers) for push in pushes)


def parse_instants(text: str) -> list[float]:
    """Parse instants separated by commas; in ascending order [s].

    Raises:
        ParameterError: one of them is no number, negative or not finite.
    """
    try:
        instants = sorted(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise ParameterError(f"instants {text!r}; allowed: numbers separated by commas") from None
    if not all(0.0 <= instant < math.inf for instant in instants):
        raise ParameterError(f"instants {text!r}; allowed: zero or later, and finite")
    return instants


def format_instants(instants: Sequence[float]) -> str:
    """Format instants [s] for :func:`parse_instants`."""
    return ",".join(repr(float(instant)) for instant in instants)
