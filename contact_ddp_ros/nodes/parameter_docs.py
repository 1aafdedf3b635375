"""The page `docs/parameters.md`, made from the declarations of the parameters so that it cannot differ from them."""

from contact_ddp_ros.config import ParameterSpec, Value, specs
from contact_ddp_ros.nodes.node_config import CONFIGURATIONS, MANAGED

_HEAD = """# Parameters

Made by `contact-ddp parameters` from the declarations in the code; a test compares the two. `ros2 param describe NODE
NAME` says the same of a running node. A set of parameters is checked as a whole and changes nothing where one value is
not allowed; the answer says why. [tuning.md](tuning.md) says which to turn.

Without ROS: `--set NODE.NAME=VALUE`, or a ROS parameter file as `--config FILE`.
"""

_LIVE = "at any time"


def parameters_page() -> str:
    """The page in Markdown: a table for every node, rows by group."""
    parts = [_HEAD]
    for node, config in CONFIGURATIONS.items():
        fixed = "while not active" if node in MANAGED else "at the start"
        parts.append(f"## `{node}`\n\n{_summary(config)}\n")
        parts += [_table(group, fixed) for group in _groups(specs(config))]
    return "\n".join(parts)


def _summary(config: object) -> str:
    return (type(config).__doc__ or "").strip().splitlines()[0]


def _groups(table: dict[str, ParameterSpec]) -> list[list[ParameterSpec]]:
    """The parameters by what stands before the first dot, in the order of their declaration."""
    groups: dict[str, list[ParameterSpec]] = {}
    for name, spec in table.items():
        groups.setdefault(name.partition(".")[0] if "." in name else "", []).append(spec)
    return list(groups.values())


def _table(group: list[ParameterSpec], fixed: str) -> str:
    lines = ["| name | default | allowed | unit | may change | |", "|---|---|---|---|---|---|"]
    for spec in group:
        when = fixed if spec.structural else _LIVE
        cells = (f"`{spec.name}`", _value(spec.default), _allowed(spec), spec.unit, when, spec.description)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


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
