"""Generates `docs/parameters.md` from the declarations of the parameters.

The values at which the robot bounded without a fall come from `config/safe_ranges.yaml`, which is measured.
"""

from collections.abc import Mapping

from contact_ddp_ros.base.arguments import flag_of
from contact_ddp_ros.base.config import ParameterSpec, Value, specs
from contact_ddp_ros.base.safe_ranges import SafeRange, packaged_ranges
from contact_ddp_ros.ros.node_config import CONFIGURATIONS, MANAGED
from contact_ddp_ros.runs.options import OPTIONS, SHORT_FOR

_HEAD = """# Parameters

Made by `contact-ddp parameters` from the declarations in the code; a test compares the two. `ros2 param describe NODE
NAME` says the same of a running node. A set of parameters is checked as a whole and changes nothing where one value is
not allowed; the answer says why. [tuning.md](tuning.md) says which to turn.

Without ROS: `--set NODE.NAME=VALUE`, or a ROS parameter file as `--config FILE`. Of several values for a parameter the
last of these counts: default, robot's size, robot's file, parameter file, command line, change while running. All may
change at any time but those with *. Parameters that a node shares with one above are listed there.

Every value that is allowed is taken, but not every one bounds. "Held while bounding" says between which values the
simulated robot neither fell nor damped when this one parameter, several numbers together towards a bound, was changed
live at 0.5 m/s on flat ground (`contact-ddp bench parameters`); with a push of 2 N s sideways, those of
`stand` and `move.exit_…` with the way back to a stand. What happened beyond is in brackets. The limits of `safety` are
meant to damp. Combinations were not measured.
"""

_RUN_HEAD = """## `run`

Options of a run: fields of `RunOptions`, keyword arguments of `simulate`, options of the command line, and, as
`run.NAME`, of `--set`. Those that are short for a parameter of a node leave it to the file and its default where they
are not given. Those with a number or a text may be axes of `contact-ddp sweep`.
"""


def parameters_page() -> str:
    """The page in Markdown: a table for every node, rows by group."""
    parts, ranges = [_HEAD, _run_options()], packaged_ranges()
    listed: dict[str, tuple[ParameterSpec, str]] = {}
    for node, config in CONFIGURATIONS.items():
        own = specs(config)
        shared = {name: listed[name][1] for name, spec in own.items() if listed.get(name, ("",))[0] == spec}
        fixed = "while the node is not active" if node in MANAGED else "at the start"
        parts.append(f"## `{node}`\n\n{_summary(config)} Those with * change {fixed}.{_words_on(shared)}\n")
        held = {name.removeprefix(f"{node}."): one for name, one in ranges.items() if name.startswith(f"{node}.")}
        parts += [_table(group, held) for group in _groups({k: v for k, v in own.items() if k not in shared})]
        listed = {name: (spec, node) for name, spec in own.items()} | listed
    return "\n".join(parts)


def _words_on(shared: Mapping[str, str]) -> str:
    """Sentences on parameters by name that are listed under other nodes."""
    names: dict[str, list[str]] = {}
    for name, node in shared.items():
        names.setdefault(node, []).append(f"`{name}`")
    return "".join(f" As of `{node}`: {', '.join(own)}." for node, own in names.items())


def _run_options() -> str:
    """The section of a run's options: fields of RunOptions, options of the command line."""
    lines = [_RUN_HEAD, "| name | option | default | allowed | unit | short for | |", "|---" * 7 + "|"]
    for spec in OPTIONS.values():
        flag = "" if spec.option is None else spec.option.off[0] or flag_of(spec)
        known = not isinstance(spec.default, tuple) and (spec.name in SHORT_FOR or not spec.optional)
        default = _value(spec.default) if known else ""
        allowed = "" if spec.convert else _allowed(spec)
        short = f"`{SHORT_FOR[spec.name]}`" if spec.name in SHORT_FOR else ""
        cells = [f"`{spec.name}`", f"`{flag}`" if flag else "", default, allowed, spec.unit, short, spec.description]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _summary(config: object) -> str:
    return (type(config).__doc__ or "").strip().splitlines()[0]


def _groups(table: dict[str, ParameterSpec]) -> list[list[ParameterSpec]]:
    """The parameters by what stands before the first dot, in the order of their declaration."""
    groups: dict[str, list[ParameterSpec]] = {}
    for name, spec in table.items():
        groups.setdefault(name.partition(".")[0] if "." in name else "", []).append(spec)
    return list(groups.values())


def _table(group: list[ParameterSpec], held: Mapping[str, SafeRange | None]) -> str:
    """Rows of a group; the column of what was held where any of its parameters may change while the robot bounds."""
    measured = any(spec.name in held for spec in group)
    headings = ["name", "default", "allowed", *(["held while bounding"] if measured else []), "unit", ""]
    lines = [f"| {' | '.join(headings)} |".replace("|  |", "| |"), "|---" * len(headings) + "|"]
    for spec in group:
        cells = [f"`{spec.name}`{chr(92) + '*' if spec.structural else ''}", _value(spec.default), _allowed(spec)]
        cells += [_held(spec, held)] if measured else []
        cells += [spec.unit, spec.description]
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
