"""Places of the feet and legs of a recorded robot, and of its plans, in space."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.figure import Figure
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.joints import BASE_LINK, LEG_NAMES
from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.robot.policy_kinematics import PolicyPoses
from contact_ddp_ros.runs.recording import Recording

Array = NDArray[np.float64]

_LEG_BODIES = ("hip", "knee")


@dataclass(frozen=True)
class Skeleton:
    """A robot as lines in `odom` [m]: trunk origin (3,), and for each leg hip, knee and sole (4, 3, 3)."""

    trunk: Array
    legs: Array


class Kinematics:
    """Kinematics of the robot of a recording."""

    def __init__(self, recording: Recording) -> None:
        """Loads the robot.

        Raises:
            ContactDdpError: it cannot be loaded here.
        """
        robot = load_robot(recording.info.options.get("robot"))
        self._recording = recording
        self._figure = Figure(robot, SimOptions())
        self._planned = PolicyPoses(robot)
        bodies = self._figure.bodies
        self._trunk = bodies.index(BASE_LINK)
        self._legs = np.array([[bodies.index(f"{leg}_{body}") for body in _LEG_BODIES] for leg in LEG_NAMES])

    def soles(self, rows: NDArray[np.int64]) -> Array:
        """(n, 4, 3) lowest points of the feet at some ticks."""
        return np.array([self._figure.feet(self._recording.state(row)) for row in rows]).reshape(-1, 4, 3)

    def planned_soles(self, states: Array, row: int) -> Array:
        """(n, 4, 3) those of planned states (n, n_x), where planar in the plane in which the robot is at a tick."""
        actual = self._recording.state(row)
        return np.array([self._figure.feet(self._planned.state(x, actual)) for x in states]).reshape(-1, 4, 3)

    def skeleton(self, row: int) -> Skeleton:
        """The robot at a tick."""
        state = self._recording.state(row)
        soles = self._figure.feet(state)
        positions, _ = self._figure.poses(state)
        return Skeleton(positions[self._trunk], np.concatenate([positions[self._legs], soles[:, None]], axis=1))


def along(recording: Recording, points: Array, row: int) -> Array:
    """(..., ) how far points (..., 3) lie along the heading that the robot has at a tick [m]."""
    yaw = recording.rpy[row, 2]
    return np.cos(yaw) * points[..., 0] + np.sin(yaw) * points[..., 1]
