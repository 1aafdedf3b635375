"""The plans of a run, side by side: each has its own number of nodes, so the ends of shorter ones are filled up."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.policy import Policy

PER_STATE: Final = ("times", "states")
"""Entries of a plan that have a row per node and one for the end."""

PER_NODE: Final = ("controls", "gains", "modes", "forces")
"""Entries that have a row per node."""

_SAME = 1e-9
"""Times closer than this are the same [s]."""


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
    longest, shown = int(columns["nodes"].max()), [plan.shown for _, plan in plans]
    for name in (*PER_STATE, *PER_NODE):
        columns[name] = _filled([getattr(plan, name) for plan in shown], longest + (name in PER_STATE))
    for column in columns.values():
        column.flags.writeable = False
    return columns


def kept_at(plans: Mapping[str, NDArray], times: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) row of the newest kept plan that covers each of the times (n,) [s]; -1 where none does."""
    rows = np.full(len(times), -1, dtype=np.int64)
    for row in range(len(plans["nodes"]) if plans else 0):
        nodes = plans["times"][row, : plans["nodes"][row] + 1]
        rows[(times >= nodes[0] - _SAME) & (times <= nodes[-1] + _SAME)] = row
    return rows


def states_at(plans: Mapping[str, NDArray], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, n_x) states in which the newest kept plans have the robot at the times (n,) [s]; NaN where none covers them.

    No columns where no plan was kept.
    """
    if not plans:
        return np.empty((len(times), 0))
    states = np.full((len(times), plans["states"].shape[2]), np.nan)
    rows = kept_at(plans, times)
    for row in np.unique(rows[rows >= 0]):
        own, count = rows == row, plans["nodes"][row] + 1
        nodes = plans["times"][row, :count]
        for column, values in enumerate(plans["states"][row, :count].T):
            states[own, column] = np.interp(times[own], nodes, values)
    return states


def _filled(arrays: Sequence[NDArray[Any]], length: int) -> NDArray[Any]:
    first = arrays[0]
    missing = np.nan if np.issubdtype(first.dtype, np.floating) else -1
    result = np.full((len(arrays), length, *first.shape[1:]), missing, dtype=first.dtype)
    for row, array in zip(result, arrays, strict=True):
        row[: len(array)] = array
    return result
