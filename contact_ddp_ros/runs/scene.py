"""The robot of a recording in space, tick by tick, and the look of what is drawn there, for every program alike.

Poses of its links, of its plan's ghost, forces at its feet; colours, sizes and names.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.figure import Figure, Shape
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.joints import BASE_LINK, LEG_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.policy_kinematics import PolicyPoses
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.motions.result import MotionResult
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.recording.record import states_at

Array = NDArray[np.float64]
Colour = tuple[float, float, float, float]

MEASURED_FORCE: Final[Colour] = (0.13, 0.55, 0.30, 0.9)
PLANNED_FORCE: Final[Colour] = (0.0, 0.45, 0.70, 0.9)
GHOST: Final[Colour] = (0.24, 0.51, 0.78, 0.25)
TRUNK_PATH: Final[Colour] = (0.0, 0.45, 0.70, 1.0)
FOOT_PATH: Final[Colour] = (0.84, 0.37, 0.0, 0.8)

FORCE_SCALE: Final = 1.0 / 500.0
"""Length of an arrow per force [m/N]."""

SMALLEST_FORCE: Final = 1.0
"""Below it no arrow is drawn [N]."""

SHAFT, HEAD = 0.008, 0.02
"""Diameters of an arrow [m]."""

GHOST_PREFIX: Final = "ghost/"
"""Prefix of the names of the ghost's frames."""

UNBOUNDED: Final = 20.0
"""Half the extent that a ground without end is drawn with [m]."""

THIN: Final = 0.005
"""Thickness that a ground is drawn with [m]."""

_GROUND: Final[Colour] = (0.88, 0.9, 0.91, 1.0)


def colour_of(shape: Shape) -> Colour:
    """Colour of a shape; the ground is pale."""
    red, green, blue, alpha = (float(part) for part in shape.rgba)
    return (red, green, blue, alpha) if shape.body else _GROUND


def ends(shape: Shape) -> tuple[Array, Array]:
    """(3,) centres of the half spheres of a capsule in the axes of its body [m]."""
    axis = quaternion_to_matrix(np.roll(shape.wxyz, -1))[:, 2] * shape.size[1]
    return shape.position - axis, shape.position + axis


def below(shape: Shape) -> Array:
    """(3,) centre of the thin box whose upper side is a plane [m]."""
    return shape.position - 0.5 * THIN * quaternion_to_matrix(np.roll(shape.wxyz, -1))[:, 2]


def turn_to(direction: Array) -> Array:
    """(4,) unit quaternion (x, y, z, w) that turns the x axis to a direction (3,) that is not zero."""
    unit = direction / np.linalg.norm(direction)
    if unit[0] < -1.0 + 1e-9:
        return np.array([0.0, 0.0, 1.0, 0.0])
    quaternion = np.array([0.0, -unit[2], unit[1], 1.0 + unit[0]])
    return quaternion / np.linalg.norm(quaternion)


def in_body(shape: Shape) -> Array:
    """(n, 3) vertices of a mesh in the axes of its body [m]."""
    return shape.vertices @ quaternion_to_matrix(np.roll(shape.wxyz, -1)).T + shape.position


def bytes_of(colour: Colour) -> tuple[int, int, int, int]:
    """A colour in bytes."""
    red, green, blue, alpha = (round(255.0 * part) for part in colour)
    return red, green, blue, alpha


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

    `planned` are the forces of the plan in use; forces that nobody knows are zero. `ground` is the mean height of the
    ground below the feet [m], zero where nobody knows it.
    """

    time: float
    robot: Pose
    ghost: Pose | None
    soles: Array
    forces: Array
    planned: Array
    ground: float


@dataclass(frozen=True)
class Path:
    """A kept plan: when it was made [s], and where it leads trunk (n, 3) and soles (4, n, 3) in `odom` [m]."""

    time: float
    trunk: Array
    soles: Array


@dataclass(frozen=True)
class Skeleton:
    """A robot as lines in `odom` [m]: trunk origin (3,), and for each leg hip, knee and sole (4, 3, 3)."""

    trunk: Array
    legs: Array


class RecordedRobot:
    """The robot of a recording and its plans in space: poses, forces, paths, soles."""

    def __init__(self, recording: Recording) -> None:
        """Loads the robot of the recording.

        Raises:
            ContactDdpError: it, or its ground, cannot be built here.
        """
        options = recording.info.options
        robot = load_robot(options.get("robot"))
        self._recording = recording
        self._motion = MotionResult(recording) if recording.motion else None
        self._figure = Figure(robot, SimOptions(terrain=options.get("terrain", "flat")))
        self._planned = PolicyPoses(robot)
        self._plans = recording.plans if PolicyPoses.knows(recording.info.plan_coordinates) else {}
        self._planned_states = states_at(self._plans, recording.ticks["time"])

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

    def moments(self, rate: float = RATE) -> Iterator[Moment]:
        """One after the other, at about `rate` [Hz]; ticks with a state that is not finite are left out."""
        recording, ticks = self._recording, self._recording.ticks
        known = np.isfinite(ticks["position"]).all(axis=1) & np.isfinite(ticks["joint_positions"]).all(axis=1)
        step = max(1, round(1.0 / rate / recording.info.control_period))
        for row in np.flatnonzero(known)[::step]:
            state = recording.state(int(row))
            ghost = self.ghost(int(row))
            planned = np.nan_to_num(ticks["planned_forces"][row])
            soles = self._figure.feet(state)
            yield Moment(
                time=state.time,
                robot=self._pose_of(state),
                ghost=None if ghost is None else self._pose_of(ghost),
                soles=soles,
                forces=np.nan_to_num(ticks["contact_forces"][row]),
                planned=self._planned.leg_forces(planned.ravel(), state),
                ground=float(np.nan_to_num(np.mean(soles[:, 2] - ticks["foot_heights"][row]))),
            )

    def paths(self) -> Iterator[Path]:
        """Paths of every kept plan."""
        recording, plans = self._recording, self._plans
        for row in range(len(plans["nodes"]) if plans else 0):
            begin = float(plans["times"][row, 0])
            tick = min(int(np.searchsorted(recording.ticks["time"], begin - 1e-9)), len(recording.ticks["time"]) - 1)
            planned = plans["states"][row, : plans["nodes"][row] + 1 : PATH_STEP]
            trunk = np.array([self._planned_robot(x, tick).position for x in planned])
            yield Path(begin, trunk, self.planned_soles(planned, tick).transpose(1, 0, 2))

    def ghost(self, row: int) -> RobotState | None:
        """Planned robot at a tick, None where no kept plan covers it.

        That of a motion, which may be upside down, keeps the heading of its beginning.
        """
        if self._motion is not None:
            return self._motion.ghost(row)
        planned = self._planned_states[row]
        return self._planned_robot(planned, row) if len(planned) and np.isfinite(planned).all() else None

    def _planned_robot(self, x: Array, row: int) -> RobotState:
        """A planned state, moved by the error that the place it was planned from has at a tick."""
        actual = self._recording.state(row)
        planned = self._planned.state(x, actual)
        error = self._recording.ticks["position"][row] - actual.position
        return replace(planned, position=planned.position - error)

    def _pose_of(self, state: RobotState) -> Pose:
        positions, wxyz = self._figure.poses(state)
        return Pose(positions, np.roll(wxyz, -1, axis=1))

    def soles(self, rows: NDArray[np.int64]) -> Array:
        """(n, 4, 3) lowest points of the feet at some ticks."""
        return np.array([self._figure.feet(self._recording.state(row)) for row in rows]).reshape(-1, 4, 3)

    def planned_soles(self, states: Array, row: int) -> Array:
        """(n, 4, 3) those of planned states (n, n_x), where planar in the plane in which the robot is at a tick."""
        return np.array([self._figure.feet(self._planned_robot(x, row)) for x in states]).reshape(-1, 4, 3)

    def skeleton(self, row: int) -> Skeleton:
        """The robot at a tick."""
        state = self._recording.state(row)
        soles = self._figure.feet(state)
        (positions, _), index = self._figure.poses(state), self._figure.bodies.index
        legs = np.array([[index(f"{leg}_{body}") for body in ("hip", "knee")] for leg in LEG_NAMES])
        return Skeleton(positions[index(BASE_LINK)], np.concatenate([positions[legs], soles[:, None]], axis=1))


def along(recording: Recording, points: Array, row: int) -> Array:
    """(..., ) how far points (..., 3) lie along the heading that the robot has at a tick [m]."""
    yaw = recording.rpy[row, 2]
    return np.cos(yaw) * points[..., 0] + np.sin(yaw) * points[..., 1]
