"""The figures of a run that a study may show: the numbers of its summary."""

import types
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, get_args

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.suggestions import did_you_mean
from contact_ddp_ros.runs.report.summary import Summary

OF_FALLS = ("fell", "fall_time_s")
"""Figures that count the runs that fell, too; of all others those are left out."""

_NOT_FIGURES = ("interrupted", "lockstep", "seed")


def metric_names() -> tuple[str, ...]:
    """Names of the numbers and truths of a summary, dotted where they are in groups."""
    return tuple(_numbers(Summary, ""))


def check_metrics(names: Sequence[str]) -> None:
    """Refuse names that no summary has.

    Raises:
        ParameterError: one is unknown, naming those allowed, or given twice.
    """
    known = metric_names()
    for index, name in enumerate(names):
        if name not in known:
            meant = did_you_mean(name, known)
            allowed = "" if meant.startswith("known") else f" allowed: {', '.join(known)}"
            raise ParameterError(f"no metric {name!r}; {meant}{allowed}")
        if name in names[:index]:
            raise ParameterError(f"metric {name} is given twice")


def _numbers(kind: type[Any], prefix: str) -> list[str]:
    found = []
    for field in fields(kind):
        name, kinds = f"{prefix}{field.name}", _kinds(field.type)
        if is_dataclass(field.type):
            found += _numbers(field.type, f"{name}.")  # type: ignore[arg-type]
        elif kinds & {int, float, bool} and name not in _NOT_FIGURES:
            found.append(name)
    return found


def _kinds(kind: Any) -> set[Any]:
    return set(get_args(kind)) if isinstance(kind, types.UnionType) else {kind}
