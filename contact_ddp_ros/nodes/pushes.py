"""Scheduled pushes as one string parameter: `t,fx,fy,fz,dt` each, separated by semicolons."""

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
