"""Generates `docs/parameters.md` from the declarations of the parameters.

The values at which the robot bounded without a fall come from `config/safe_ranges.yaml`, which is measured.
"""

from collections.abc import Mapping
from pathlib import Path

from contact_ddp_ros.base.config import ParameterSpec, Value, specs
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.files import share_places
from contact_ddp_ros.base.safe_ranges import FILE_NAME, SafeRange, read
from contact_ddp_ros.ros.node_config import CONFIGURATIONS, MANAGED

_HEAD = """# Parameters

Made by `contact-ddp parameters` from the declarations in the code; a test compares the two. `ros2 param describe NODE
NAME` says the same of a running node. A set of parameters is checked as a whole and changes nothing where one value is
not allowed; the answer says why. [tuning.md](tuning.md) says which to turn.

Without ROS: `--set NODE.NAME=VALUE`, or a ROS parameter file as `--config FILE`.

Every value that is allowed is taken, but not every one bounds. "Held while bounding" says between which values the
simulated robot neither fell nor damped when this one parameter, several numbers together towards a bound, was changed
live at 0.5 m/s on flat ground (`contact-ddp bench parameters`); with a push of 2 N s sideways, those of
`stand` and `move.exit_…` with the way back to a stand. What happened beyond is in brackets. The limits of `safety` are
meant to damp. Combinations were not measured.
"""

_LIVE = "at any time"


def parameters_page() -> str:
    """The page in Markdown: a table for every node, rows by group."""
    parts, ranges = [_HEAD], _safe_ranges()
    for node, config in CONFIGURATIONS.items():
        fixed = "while not active" if node in MANAGED else "at the start"
        parts.append(f"## `{node}`\n\n{_summary(config)}\n")
        held = {name.removeprefix(f"{node}."): one for name, one in ranges.items() if name.startswith(f"{node}.")}
        parts += [_table(group, fixed, held) for group in _groups(specs(config))]
    return "\n".join(parts)


def _summary(config: object) -> str:
    return (type(config).__doc__ or "").strip().splitlines()[0]


def _groups(table: dict[str, ParameterSpec]) -> list[list[ParameterSpec]]:
    """The parameters by what stands before the first dot, in the order of their declaration."""
    groups: dict[str, list[ParameterSpec]] = {}
    for name, spec in table.items():
        groups.setdefault(name.partition(".")[0] if "." in name else "", []).append(spec)
    return list(groups.values())


def _table(group: list[ParameterSpec], fixed: str, held: Mapping[str, SafeRange | None]) -> str:
    """Rows of a group; the column of what was held where any of its parameters may change while the robot bounds."""
    measured = any(spec.name in held for spec in group)
    headings = ["name", "default", "allowed", *(["held while bounding"] if measured else []), "unit", "may change", ""]
    lines = [f"| {' | '.join(headings)} |".replace("|  |", "| |"), "|---" * len(headings) + "|"]
    for spec in group:
        cells = [f"`{spec.name}`", _value(spec.default), _allowed(spec)]
        cells += [_held(spec, held)] if measured else []
        cells += [spec.unit, fixed if spec.structural else _LIVE, spec.description]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _held(spec: ParameterSpec, held: Mapping[str, SafeRange | None]) -> str:
    """Measured range in words."""
    if spec.name not in held:
        return ""
    one = held[spec.name]
    if one is None:
        return "not measured"
    if not one.lost:
        return "all"
    beyond = "; ".join(f"{side}: {what}" for side, what in one.lost.items())
    numeric = not isinstance(spec.default, bool | str)
    values = [_value(tuple(value) if isinstance(value, list) else value) for value in one.held]
    return f"{(' to ' if numeric else ', ').join(values)} ({beyond})"


def _safe_ranges() -> dict[str, SafeRange | None]:
    """Safe ranges from the file that comes with the package.

    Raises:
        ParameterError: it is in none of the places looked at, or is damaged.
    """
    places: list[Path] = share_places(f"config/{FILE_NAME}")
    for place in places:
        if place.is_file():
            return read(place)
    raise ParameterError(f"{FILE_NAME} is in none of: {', '.join(map(str, places))}; install the package")


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"`{value}`" if value else "empty"
    if isinstance(value, tuple):
        return f"[{', '.join(f'{number:g}' for number in value)}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _allowed(spec: ParameterSpec) -> str:
    if spec.choices:
        return ", ".join(f"`{choice}`" for choice in spec.choices)
    if isinstance(spec.default, bool):
        return "true, false"
    if isinstance(spec.default, str):
        return "text"
    low = "−∞" if spec.low is None else f"{spec.low:g}"
    high = "∞" if spec.high is None else f"{spec.high:g}"
    count = f"{len(spec.default)} numbers, " if isinstance(spec.default, tuple) else ""
    whole = "whole, " if isinstance(spec.default, int) else ""
    return f"{count}{whole}{low} to {high}"
