"""The robot of a recording in space, tick by tick: poses of its links, of its plan's ghost, and forces at its feet."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.figure import Figure, Shape
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.robot.policy_kinematics import PolicyPoses
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.recording.record import states_at

Array = NDArray[np.float64]

RATE = 100.0
"""Largest rate of poses and forces [Hz]."""

PATH_STEP = 3
"""Nodes of a plan from one point of its paths to the next."""


@dataclass(frozen=True)
class Pose:
    """Positions (n, 3) [m] and unit quaternions (n, 4) (x, y, z, w) of all bodies in `odom`; body 0 is the world."""

    positions: Array
    quaternions: Array


@dataclass(frozen=True)
class Moment:
    """An instant [s]: the robot, its ghost where a kept plan covers it, and forces (4, 3) on its soles (4, 3).

    `planned` are the forces of the plan in use; forces that nobody knows are zero.
    """

    time: float
    robot: Pose
    ghost: Pose | None
    soles: Array
    forces: Array
    planned: Array


@dataclass(frozen=True)
class Path:
    """A kept plan: when it was made [s], and where it leads trunk (n, 3) and soles (4, n, 3) in `odom` [m]."""

    time: float
    trunk: Array
    soles: Array


class Motion:
    """Spatial content of a recording: poses, forces, paths."""

    def __init__(self, recording: Recording) -> None:
        """Loads the robot of the recording.

        Raises:
            ContactDdpError: it, or its ground, cannot be built here.
        """
        options = recording.info.options
        robot = load_robot(options.get("robot"))
        self._recording = recording
        self._figure = Figure(robot, SimOptions(terrain=options.get("terrain", "flat")))
        self._planned = PolicyPoses(robot)
        self._plans = recording.plans if PolicyPoses.knows(recording.info.plan_coordinates) else {}

    @property
    def has_plans(self) -> bool:
        """True if there are plans to show a ghost of."""
        return bool(self._plans)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies; the first is the world."""
        return self._figure.bodies

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Shapes of robot and ground."""
        return self._figure.shapes

    def moments(self) -> Iterator[Moment]:
        """One after the other, at no more than RATE; ticks with a state that is not finite are left out."""
        recording, ticks = self._recording, self._recording.ticks
        known = np.isfinite(ticks["position"]).all(axis=1) & np.isfinite(ticks["joint_positions"]).all(axis=1)
        step = max(1, round(1.0 / RATE / recording.info.control_period))
        planned_states = states_at(self._plans, ticks["time"])
        for row in np.flatnonzero(known)[::step]:
            state = recording.state(int(row))
            ghost = None
            if planned_states.shape[1] and np.isfinite(planned_states[row]).all():
                ghost = self._pose_of(self._planned.state(planned_states[row], state))
            planned = np.nan_to_num(ticks["planned_forces"][row])
            yield Moment(
                time=state.time,
                robot=self._pose_of(state),
                ghost=ghost,
                soles=self._figure.feet(state),
                forces=np.nan_to_num(ticks["contact_forces"][row]),
                planned=self._planned.leg_forces(planned.ravel(), state),
            )

    def paths(self) -> Iterator[Path]:
        """Paths of every kept plan."""
        recording, plans = self._recording, self._plans
        for row in range(len(plans["nodes"]) if plans else 0):
            begin = float(plans["times"][row, 0])
            tick = min(int(np.searchsorted(recording.ticks["time"], begin - 1e-9)), len(recording.ticks["time"]) - 1)
            actual = recording.state(tick)
            states = [
                self._planned.state(x, actual) for x in plans["states"][row, : plans["nodes"][row] + 1 : PATH_STEP]
            ]
            trunk = np.array([state.position for state in states])
            soles = np.array([self._figure.feet(state) for state in states])
            yield Path(begin, trunk, soles.transpose(1, 0, 2))

    def _pose_of(self, state: RobotState) -> Pose:
        positions, wxyz = self._figure.poses(state)
        return Pose(positions, np.roll(wxyz, -1, axis=1))
