"""The plans of a run, side by side: each has its own number of nodes, so the ends of shorter ones are filled up."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.policy import Policy

PER_STATE: Final = ("times", "states")
"""Entries of a plan that have a row per node and one for the end."""

PER_NODE: Final = ("controls", "gains", "modes", "forces")
"""Entries that have a row per node."""


def plan_columns(plans: Sequence[tuple[int, Policy]]) -> Mapping[str, NDArray]:
    """Columns of (row of its solve, policy) pairs: floats are filled up with NaN, modes with -1. See docs/recording.md.

    Nothing where there is no plan.
    """
    if not plans:
        return {}
    columns: dict[str, NDArray] = {
        "solve": np.array([row for row, _ in plans], dtype=np.int64),
        "nodes": np.array([len(plan.controls) for _, plan in plans], dtype=np.int64),
    }
    longest = int(columns["nodes"].max())
    for name in (*PER_STATE, *PER_NODE):
        columns[name] = _filled([getattr(plan, name) for _, plan in plans], longest + (name in PER_STATE))
    for column in columns.values():
        column.flags.writeable = False
    return columns


def _filled(arrays: Sequence[NDArray[Any]], length: int) -> NDArray[Any]:
    first = arrays[0]
    missing = np.nan if np.issubdtype(first.dtype, np.floating) else -1
    result = np.full((len(arrays), length, *first.shape[1:]), missing, dtype=first.dtype)
    for row, array in zip(result, arrays, strict=True):
        row[: len(array)] = array
    return result
