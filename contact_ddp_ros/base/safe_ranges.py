"""Safe ranges of parameters (`config/safe_ranges.yaml`): values held in simulation while the robot bounded.

`contact-ddp bench parameters` measures and writes it; the page of parameters shows it beside what is allowed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from contact_ddp_ros import __version__
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.files import plain, share_places, write_text

FILE_NAME = "safe_ranges.yaml"

_HEAD = """\
# Made by `contact-ddp bench parameters` on {date} with contact_ddp_ros {version}; {method}
# held: lowest and highest value of a number, or of each of several, that the robot came through; of another parameter
# every such value. lost: what happened beyond. A parameter without an entry of its own (null) was not measured.
"""


@dataclass(frozen=True)
class SafeRange:
    """Range of one parameter that was held in simulation.

    Attributes:
        held: (lowest, highest) of a number or of several at once; else every value that held.
        lost: what happened beyond, by side ("low", "high") or by value.
    """

    held: Sequence[Any]
    lost: Mapping[str, str] = field(default_factory=dict)


def write(path: Path, ranges: Mapping[str, SafeRange | None], method: str) -> None:
    """Write a file; None for a parameter that was not measured. `method` ends the first line of its head."""
    head = _HEAD.format(date=date.today().isoformat(), version=__version__, method=method)
    body = {name: None if one is None else {"held": one.held, "lost": one.lost} for name, one in ranges.items()}
    text = yaml.safe_dump(plain(body), sort_keys=False, default_flow_style=None, width=160, allow_unicode=True)
    write_text(path, head + text)


def read(path: Path) -> dict[str, SafeRange | None]:
    """The ranges by name of the parameter with its section; None where it was not measured.

    Raises:
        ParameterError: the file cannot be read or is no such file.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ParameterError(f"cannot read the safe ranges {path}: {error}") from error
    if not isinstance(content, dict):
        raise ParameterError(f"{path} holds {type(content).__name__}; expected a mapping of parameters")
    try:
        return {name: None if one is None else SafeRange(one["held"], one["lost"]) for name, one in content.items()}
    except (TypeError, KeyError) as error:
        raise ParameterError(f"{path}: an entry has no held and lost; make it anew, see its first line") from error


def packaged_ranges() -> dict[str, SafeRange | None]:
    """The ranges that come with the package.

    Raises:
        ParameterError: their file is in none of the places looked at, or is damaged.
    """
    places = share_places(f"config/{FILE_NAME}")
    for place in places:
        if place.is_file():
            return read(place)
    raise ParameterError(f"{FILE_NAME} is in none of: {', '.join(map(str, places))}; install the package")


def shown(value: Any) -> str:
    """A value for people."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(shown(each) for each in value)}]"
    return f"{value:g}" if isinstance(value, float) else str(value)
