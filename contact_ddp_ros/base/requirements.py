"""Requirements of the package by group: the versions that each allows, and whether an installed one is among them.

Groups are those of the requirements files: the base, which every job needs, and the extras. `./run` installs the pins
of these files; an installation by pip allows later releases up to the next major one. setup.py executes this file, so
that it needs the standard library alone.
"""

import operator
import platform
import re
from importlib import metadata
from pathlib import Path

BASE = ""
"""Name of the group without an extra."""

_EXACT = ("pin==",)
"""Pins that allow no other version: pin 4.1 crashes beside the crocoddyl that the benchmarks need."""

_NAMED = re.compile(r"\s*([\w.-]+)(.*)")
_COMPARE = {"==": operator.eq, ">=": operator.ge, "<": operator.lt}


def ranges(text: str) -> list[str]:
    """Requirements of a file of pins, each up to the next major release: `numpy==2.4.6` as `numpy>=2.4,<3`.

    Not as `~=4.0`, on which colcon's reader of requirements fails.
    """
    pins = [line.split("#")[0].strip() for line in text.splitlines()]
    return [pin if pin.startswith(_EXACT) else re.sub(r"==(\d+)(\.\d+)[^;\s]*", _range, pin) for pin in pins if pin]


def _range(pin: re.Match[str]) -> str:
    return f">={pin[1]}{pin[2]},<{int(pin[1]) + 1}"


def checkout() -> Path | None:
    """Folder of the sources that this package is imported from; None for an installed package."""
    above = Path(__file__).resolve().parents[2]
    return above if (above / "run").is_file() and (above / "setup.py").is_file() else None


def allowed(group: str) -> dict[str, str]:
    """Allowed versions by distribution of the group's requirements that concern this Python.

    `{"numpy": ">=2.4,<3", "dask": "[distributed]>=2026.8,<2027"}`: together they are what pip understands.

    Raises:
        PackageNotFoundError: the package is neither imported from a checkout nor installed.
    """
    root = checkout()
    if root is not None:
        lines = ranges((root / f"requirements{group and '-'}{group}.txt").read_text(encoding="utf-8"))
    else:
        listed = [line.replace("'", '"') for line in metadata.requires("contact_ddp_ros") or []]
        lines = [line for line in listed if (f'extra == "{group}"' in line if group else "extra ==" not in line)]
    parts = [line.partition(";") for line in lines]
    wanted = [_NAMED.match(name) for name, _, marker in parts if is_allowed(platform.python_version(), marker)]
    return {one[1]: one[2].strip(" ()") for one in wanted if one}


def is_allowed(version: str, versions: str) -> bool:
    """Membership of a version in a range such as `>=2.4,<3`, `==4.0.0` or `python_version >= "3.11"`."""
    limits = re.findall(r"(==|>=|<)\s*\"?(\d[\d.]*)", versions)
    return all(_COMPARE[sign](_numbers(version), _numbers(limit)) for sign, limit in limits)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", re.split(r"[^\d.]", version)[0])]
