"""ROS parameter files: sections of parameters for nodes, read with and without ROS.

Sections may be nested by namespace and hold the wildcards of rcl: `*` for one part of a name, `**` for any number. A
node ignores the sections of other nodes, so a misspelt name, or a section of the root namespace for a node in another
one, would have no effect and cause no message.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from contact_ddp_ros.base.config import dotted
from contact_ddp_ros.base.errors import ParameterError, did_you_mean

_PARAMETERS = "ros__parameters"

_NODE_NAMES = ("node.", "use_sim_time")
"""Beginnings of the names of parameters that only ROS nodes have."""

Sections = list[tuple[str, dict[str, Any]]]


def read_sections(path: str | Path) -> Sections:
    """Full names of nodes, or patterns of them, and their parameters by dotted name, in the order of the file.

    Raises:
        ParameterError: the file cannot be read or is not a ROS parameter file.
    """
    import yaml  # the command line's help must do without

    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ParameterError(f"cannot read the parameter file {path}: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise ParameterError(f"parameter file {path}: expected a mapping of node names, found {type(content).__name__}")
    return list(_sections(path, content))


def load_yaml(path: str | Path, node: str) -> dict[str, Any]:
    """The parameters that a file holds for a node of the root namespace, by dotted name; none where it names others.

    The more a section's name says the more it counts. What concerns the ROS node alone is left out: `use_sim_time` and
    every name that begins with `node.`.

    Raises:
        ParameterError: as :func:`read_sections`.
    """
    values: dict[str, Any] = {}
    for _, own in sorted((one for one in read_sections(path) if _addresses(one[0], f"/{node}")), key=_precision):
        values.update(own)
    return {name: value for name, value in values.items() if not name.startswith(_NODE_NAMES)}


def check_sections(path: str | Path, nodes: Sequence[str]) -> None:
    """Refuse a file that has a section for another node than these of the root namespace, which nobody would read.

    Raises:
        ParameterError: it has one, or as :func:`read_sections`.
    """
    for section in idle_sections(path, [f"/{node}" for node in nodes]):
        meant = did_you_mean(section.rpartition("/")[2], nodes)
        raise ParameterError(f"parameter file {path}: section {section} is of no node here; {meant}")


def idle_sections(path: str | Path, nodes: Sequence[str]) -> list[str]:
    """Sections of a file that address none of `nodes`, which are full names.

    Raises:
        ParameterError: as :func:`read_sections`.
    """
    return [section for section, _ in read_sections(path) if not any(_addresses(section, node) for node in nodes)]


def file_that_sets(parameter: str, node: str, arguments: Sequence[str]) -> str:
    """The last parameter file of a command line that sets a parameter of `node`, a full name; empty if none does."""
    for path in reversed([path for option, path in pairwise(arguments) if option == "--params-file"]):
        try:
            found = read_sections(path)
        except ParameterError:
            continue
        if any(parameter in own and _addresses(section, node) for section, own in found):
            return path
    return ""


def _sections(path: str | Path, mapping: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for key, body in mapping.items():
        name = f"{prefix}/{str(key).strip('/')}"
        if not isinstance(body, dict) or not isinstance(body.get(_PARAMETERS, {}), dict):
            raise ParameterError(f"parameter file {path}: section {name} has no mapping {_PARAMETERS}")
        if _PARAMETERS in body:
            yield name, dotted(body[_PARAMETERS])
        else:
            yield from _sections(path, body, name)


def _addresses(section: str, node: str) -> bool:
    parts = [part for part in section.split("/") if part]
    wildcards = {"**": "(/[^/]+)*", "*": "/[^/]+"}
    return re.fullmatch("".join(wildcards.get(part, f"/{re.escape(part)}") for part in parts), node) is not None


def _precision(section: tuple[str, dict[str, Any]]) -> tuple[bool, int]:
    """Rank of a section among those that address the same node."""
    name = section[0]
    return "*" not in name, len(name.replace("*", ""))
