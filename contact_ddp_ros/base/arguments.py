"""Options of argparse from declared parameters, and types of single values.

What is not given is not in the parsed namespace: the declaration alone has the default.
"""

import argparse
from collections.abc import Callable
from typing import Any

from contact_ddp_ros.base.config import ParameterSpec, check, number, whole_number
from contact_ddp_ros.base.errors import ParameterError


def reader(convert: Callable[[str], Any]) -> Callable[[str], Any]:
    """Type of an argument from a function that raises ParameterError."""

    def read(text: str) -> Any:
        try:
            return convert(text)
        except ParameterError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return read


def within(low: float, high: float) -> Callable[[str], Any]:
    """Type of a number, or of a whole number where the bounds are, within inclusive bounds."""
    spec, read = ParameterSpec("", low, low, high), whole_number if isinstance(low, int) else number
    return reader(lambda text: check(spec, read(text)))


def flag_of(spec: ParameterSpec) -> str:
    """The word of a parameter on the command line."""
    declared = "" if spec.option is None else spec.option.flag
    return declared or f"--{spec.name.replace('_', '-')}"


def add_option(parser: Any, spec: ParameterSpec, **instead: Any) -> None:
    """Add the option of a parameter to a parser or a group of one; its destination is the parameter's name.

    Args:
        parser: to add to.
        spec: with an option.
        instead: settings of `add_argument` in place of those declared.
    """
    option = spec.option
    assert option is not None, spec.name
    flag, (off, off_text) = flag_of(spec), option.off
    common = {"dest": spec.name, "default": argparse.SUPPRESS, **instead}
    if isinstance(spec.default, bool):
        both = parser.add_mutually_exclusive_group() if off and option.flag else parser
        if option.flag or not off:
            both.add_argument(flag, action="store_true", help=_help(spec), **common)
        if off:
            both.add_argument(off, action="store_false", help=off_text, **common)
        return
    words: dict[str, Any] = {"help": _help(spec), "choices": spec.choices or None, "metavar": option.metavar or None}
    if spec.convert is not None:
        words["type"] = reader(spec.convert)
    elif not isinstance(spec.default, str):
        words["type"] = reader(whole_number if isinstance(spec.default, int) else number)
    if option.repeated:
        words["action"] = "append"
    parser.add_argument(flag, **{**words, **common})


def _help(spec: ParameterSpec) -> str:
    """Description, unit and default."""
    unit = f" [{spec.unit}]" if spec.unit else ""
    shown = f"{spec.default:g}" if isinstance(spec.default, float) else str(spec.default)
    told = isinstance(spec.default, int | float | str) and not isinstance(spec.default, bool)
    default = f" (default: {shown})" if told and (not spec.optional or spec.option.sets) else ""  # type: ignore[union-attr]
    return f"{spec.description}{unit}{default}".replace("%", "%%")
