"""Axes of a study's grid, read from words like `planner.weight.pitch=20:80:7`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from contact_ddp_ros.base.choices import GAIT_SUFFIXES
from contact_ddp_ros.base.config import ParameterSpec, parse_setting
from contact_ddp_ros.base.errors import ParameterError, did_you_mean
from contact_ddp_ros.runs.options import OPTIONS, SECTIONS, RunOptions

MOST_VALUES = 1000
"""Largest number of values of one axis; more are a slip of the finger."""


@dataclass(frozen=True)
class Axis:
    """One thing that is varied: its name and its values, all different."""

    name: str
    values: tuple[Any, ...]

    @property
    def numeric(self) -> bool:
        """True if its values are numbers, with places on a scale."""
        return all(isinstance(value, int | float) and not isinstance(value, bool) for value in self.values)

    def label(self, value: Any) -> str:
        """A value as people read it."""
        if isinstance(value, float):
            return f"{value:.4g}"
        return Path(value).stem if isinstance(value, str) and value.endswith(GAIT_SUFFIXES) else str(value)


_NOT_VARIED = ("seed", "backend", "out", "config", "record_plans")

VARIED: Mapping[str, ParameterSpec] = {
    (spec.option.flag.lstrip("-") or name): spec
    for name, spec in OPTIONS.items()
    if spec.option and not spec.option.repeated and name not in _NOT_VARIED and not isinstance(spec.default, bool)
}
"""Options of a run that may be varied beside parameters, by the word of the command line."""

_TEXTS = [word for word, spec in VARIED.items() if isinstance(spec.default, str)]


def parse_axis(text: str) -> Axis:
    """The axis of `NAME=LOW:HIGH:COUNT` (evenly spaced), `NAME=a,b,c` or, of one value, `NAME=VALUE`.

    A value in brackets is one list. Values are read as those of `--set` elsewhere.

    Raises:
        ParameterError: the words mean no axis; the text says why.
    """
    name, equals, words = (part.strip() for part in text.partition("="))
    if not (name and equals and words):
        raise ParameterError(f"{text!r} is not NAME=LOW:HIGH:COUNT, NAME=A,B,... or NAME=VALUE")
    _check_name(name)
    if words.startswith("["):
        values = (parse_setting(text)[1],)
    elif name != "ground" and words.count(":") == 2 and "," not in words:
        values = _range(name, words)
    elif name not in _TEXTS and ":" in words:
        raise ParameterError(f"{text!r} is no range; write LOW:HIGH:COUNT, such as {name}={words.partition(',')[0]}:5")
    else:
        parts = words.split(",") if name != "ground" else _grounds(words)
        if not all(part.strip() for part in parts):
            raise ParameterError(f"{text!r} has an empty value")
        values = tuple(parse_setting(f"{name}={part.strip()}")[1] for part in parts)
    if len({repr(value) for value in values}) < len(values):
        raise ParameterError(f"{text!r} has a value twice")
    return Axis(name, values)


def options_at(options: RunOptions, point: Mapping[str, Any]) -> RunOptions:
    """The options of a run with the values of a point of the grid.

    Raises:
        ParameterError: a name is neither an option that may be varied nor SECTION.NAME, or a value is not allowed.
    """
    for name, value in point.items():
        _check_name(name)
        if name in VARIED:
            field = VARIED[name].name
            options = replace(options, **{field: value, **({"gaits": ()} if field == "gait" else {})})
        else:
            options = replace(options, overrides={**options.overrides, name: value})
    return options


def _check_name(name: str) -> None:
    section, dot, _ = name.partition(".")
    if name not in VARIED and not (dot and section in SECTIONS):
        meant = did_you_mean(section, SECTIONS) if dot else did_you_mean(name, VARIED)
        raise ParameterError(f"{name!r} is neither a parameter SECTION.NAME nor an option to vary; {meant}")


def _grounds(words: str) -> list[str]:
    """Words for grounds, in which numbers are separated by commas, too: a new one begins with a letter."""
    found: list[str] = []
    for part in words.split(","):
        if found and not part.strip()[:1].isalpha():
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found


def _range(name: str, words: str) -> tuple[Any, ...]:
    low, high, count = (parse_setting(f"{name}={part}")[1] for part in words.split(":"))
    for bound in (low, high):
        if isinstance(bound, bool) or not isinstance(bound, int | float) or not np.isfinite(bound):
            raise ParameterError(f"{name}={words}: {bound!r} is no bound of a range; write LOW:HIGH:COUNT")
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= MOST_VALUES:
        raise ParameterError(f"{name}={words} has {count} values; give a whole number from 2 to {MOST_VALUES}")
    if not low < high:
        raise ParameterError(f"{name}={words} goes from {low} to {high}; the first must be the smaller one")
    whole = isinstance(low, int) and isinstance(high, int) and (high - low) % (count - 1) == 0
    if whole:
        return tuple(range(low, high + 1, (high - low) // (count - 1)))
    return tuple(float(f"{value:.12g}") for value in np.linspace(low, high, count))
