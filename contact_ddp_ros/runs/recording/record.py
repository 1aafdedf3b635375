"""A finished run as immutable columns, and quantities derived from them.

The plans of a run, side by side: each has its own number of nodes, so the ends of shorter ones are filled up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import STATE_PARTS, RobotState
from contact_ddp_ros.runs.options import ESTIMATED
from contact_ddp_ros.runs.recording.info import RunInfo

Array = NDArray[np.float64]

CONTROL_MODES = ("damp", "stand", "move", "recover", "motion")
"""The values of :class:`contact_ddp_ros.control.modes.ControlMode`; a recording stores the index."""


@dataclass(frozen=True)
class Event:
    """An event: time [s], text, and whether it was a fault that took the controller to DAMP."""

    time: float
    text: str
    fault: bool = False


@dataclass(frozen=True)
class RunRecord:
    """Columns of a finished run by name: arrays whose first axis is the row.

    `ticks` has a row per control tick, `solves` one per solve, `plans` one per plan that was kept, `motion` one per
    tick of a jump's or a flip's run; docs/recording.md describes every column with its shape, unit and frame.
    """

    info: RunInfo
    ticks: Mapping[str, NDArray]
    solves: Mapping[str, NDArray]
    events: tuple[Event, ...]
    plans: Mapping[str, NDArray] = field(default_factory=dict)
    motion: Mapping[str, NDArray] = field(default_factory=dict)

    def actual(self, name: str) -> NDArray:
        """State column that figures are about: measured, or the simulator's truth where the loop ran on an estimate."""
        true = f"true_{name}"
        return self.ticks[true if self.info.options.get("state") == ESTIMATED and true in self.ticks else name]

    def state(self, row: int, *, true: bool = False) -> RobotState:
        """State of the robot at a tick, as `actual`, or without the sensors' errors."""
        parts = [
            self.ticks.get(f"true_{name}", self.ticks[name]) if true else self.actual(name) for name in STATE_PARTS
        ]
        return RobotState(float(self.ticks["time"][row]), *(part[row] for part in parts))

    @cached_property
    def rpy(self) -> Array:
        """(N, 3) roll, pitch, yaw of `base_link` in `odom` (R = Rz Ry Rx) [rad], yaw without jumps."""
        angles = np.array([quaternion_to_rpy(row) for row in self.actual("orientation")]).reshape(-1, 3)
        angles[:, 2] = np.unwrap(angles[:, 2])
        return angles

    @cached_property
    def heading_velocity(self) -> Array:
        """(N, 3) velocity of `base_link` along its heading, to its left and up [m/s]."""
        roll, pitch, _ = self.rpy.T
        vx, vy, vz = self.actual("linear_velocity").T
        lateral = np.cos(roll) * vy - np.sin(roll) * vz
        down = np.sin(roll) * vy + np.cos(roll) * vz
        forward = np.cos(pitch) * vx + np.sin(pitch) * down
        return np.stack([forward, lateral, np.cos(pitch) * down - np.sin(pitch) * vx], axis=1)

    @property
    def heading_rate(self) -> Array:
        """(N,) rate of the heading [rad/s]."""
        roll, pitch, _ = self.rpy.T
        _, wy, wz = self.actual("angular_velocity").T
        return (np.sin(roll) * wy + np.cos(roll) * wz) / np.cos(pitch)

    @property
    def height(self) -> Array:
        """(N,) of the trunk's origin above the ground below it [m]."""
        return self.info.heights(self.actual("position"))


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
