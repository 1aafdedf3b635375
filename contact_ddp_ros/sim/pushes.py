"""What is to happen at certain instants, as string parameters, which lists of any length cannot be.

Pushes are `t,fx,fy,fz,dt` each, separated by semicolons; instants are numbers separated by commas.
"""

import math
from collections.abc import Sequence

from contact_ddp_ros.errors import ParameterError
from contact_ddp_ros.options import Push

_NUMBERS = 5
_TOLERANCE = 1e-9
"""A push due this soon is due [s]."""


class PushSchedule:
    """Pushes in the order of their times, each given out once."""

    def __init__(self, text: str) -> None:
        """Raises ParameterError where the text is not a list of pushes."""
        self._pushes = sorted(parse_pushes(text), key=lambda push: push.time)

    def due(self, time: float) -> list[Push]:
        """Those that begin by `time` [s]."""
        due = [push for push in self._pushes if push.time <= time + _TOLERANCE]
        self._pushes = self._pushes[len(due) :]
        return due


def parse_pushes(text: str) -> list[Push]:
    """The pushes of a parameter.

    Raises:
        ParameterError: one has other than five numbers, or a number is not allowed.
    """
    pushes = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        try:
            numbers = [float(number) for number in part.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) != _NUMBERS:
            raise ParameterError(f"push {part!r}; allowed: t,fx,fy,fz,dt, several separated by ;")
        time, x, y, z, duration = numbers
        pushes.append(Push(time, (x, y, z), duration))
    return pushes


def format_pushes(pushes: Sequence[Push]) -> str:
    """The parameter that :func:`parse_pushes` reads back."""
    return ";".join(",".join(repr(number) for number in (p.time, *p.force, p.duration)) for p in pushes)


def parse_instants(text: str) -> list[float]:
    """Instants in order [s].

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
    """The parameter that :func:`parse_instants` reads back."""
    return ",".join(repr(float(instant)) for instant in instants)
