"""Pushes and instants as string parameters, because a list parameter has a fixed length.

Pushes are `t,fx,fy,fz,dt[,tx,ty,tz]` each, separated by semicolons; instants are numbers separated by commas.
"""

import math
from collections.abc import Sequence

from contact_ddp_ros.errors import ParameterError
from contact_ddp_ros.options import Push

_TOLERANCE = 1e-9
"""Tolerance on the time of a push [s]."""


class PushSchedule:
    """Queue of pushes in the order of their times."""

    def __init__(self, text: str) -> None:
        """Raises ParameterError where the text is not a list of pushes."""
        self._pushes = sorted(parse_pushes(text), key=lambda push: push.time)

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
