"""A finished run as immutable columns, and what follows from them at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.recording.info import RunInfo
from contact_ddp_ros.robot.rotation import quaternion_to_rpy

Array = NDArray[np.float64]

CONTROL_MODES = ("damp", "stand", "bound")
"""The values of :class:`contact_ddp_ros.control.modes.ControlMode`; a recording stores the index."""


@dataclass(frozen=True)
class Event:
    """Something worth a line: when [s], what, and whether it was a fault that took the controller to DAMP."""

    time: float
    text: str
    fault: bool = False


@dataclass(frozen=True)
class Recording:
    """A finished run. `ticks` and `solves` map column names to arrays whose first axis is the row.

    Columns of `ticks` (N rows):
        time (N,) [s]; wall_time (N,) [s] of a monotonic clock; commanded_speed (N,) [m/s];
        position (N, 3) of `base_link` in `odom` [m]; orientation (N, 4) quaternion (x, y, z, w);
        linear_velocity (N, 3) [m/s] and angular_velocity (N, 3) [rad/s] in `base_link`;
        joint_positions, joint_velocities, torques (N, n_joints) [rad, rad/s, N m], torques as applied;
        foot_heights (N, n_feet) of the soles above the ground [m]; contact_forces (N, n_feet, 3) in `odom` [N];
        mode (N,) index of the scheduled gait mode; planned_forces (N, n_points, d) in the world, normal last [N];
        control_mode (N,) index into CONTROL_MODES.
    Columns of `solves` (M rows):
        time (M,) of the state solved from [s]; solve_ms (M,); iterations (M,); cost (M,); violation (M,) of the
        equality constraints; status (M,) text; ok (M,) whether its policy was published; deadline_missed (M,);
        touchdown_error (M,) largest |sole height| at the touchdowns of the plan [m]; friction_violation (M,) most that
        a planned force leaves its cone [N]; regularisation (M,); barrier (M,).
    """

    info: RunInfo
    ticks: Mapping[str, NDArray]
    solves: Mapping[str, NDArray]
    events: tuple[Event, ...]

    @cached_property
    def rpy(self) -> Array:
        """(N, 3) roll, pitch, yaw of `base_link` in `odom` (R = Rz Ry Rx) [rad], yaw without jumps."""
        angles = np.array([quaternion_to_rpy(row) for row in self.ticks["orientation"]]).reshape(-1, 3)
        angles[:, 2] = np.unwrap(angles[:, 2])
        return angles

    @cached_property
    def heading_velocity(self) -> Array:
        """(N, 3) velocity of `base_link` along its heading, to its left and up [m/s]."""
        roll, pitch, _ = self.rpy.T
        vx, vy, vz = self.ticks["linear_velocity"].T
        lateral = np.cos(roll) * vy - np.sin(roll) * vz
        down = np.sin(roll) * vy + np.cos(roll) * vz
        forward = np.cos(pitch) * vx + np.sin(pitch) * down
        return np.stack([forward, lateral, np.cos(pitch) * down - np.sin(pitch) * vx], axis=1)

    @property
    def height(self) -> Array:
        """(N,) of the trunk's origin above the ground [m]."""
        return self.ticks["position"][:, 2] - self.info.ground_height
