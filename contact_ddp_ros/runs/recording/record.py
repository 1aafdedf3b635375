"""A finished run as immutable columns, and quantities derived from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.options import ESTIMATED
from contact_ddp_ros.runs.recording.info import RunInfo

Array = NDArray[np.float64]

CONTROL_MODES = ("damp", "stand", "move", "recover", "motion")
"""The values of :class:`contact_ddp_ros.control.modes.ControlMode`; a recording stores the index."""


STATE_COLUMNS = (
    "position",
    "orientation",
    "linear_velocity",
    "angular_velocity",
    "joint_positions",
    "joint_velocities",
)
"""Columns of the measured state; those of the true one have `true_` before them."""


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
            self.ticks.get(f"true_{name}", self.ticks[name]) if true else self.actual(name) for name in STATE_COLUMNS
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
