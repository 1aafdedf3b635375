"""What happened in a closed-loop run, tick by tick and solve by solve.

A :class:`Recorder` is written into while the robot moves: one row per control tick, one per solve of the planner, and
events with a text. `finish` turns it into an immutable :class:`Recording`, from which the summary, the plots and the
video are made, and which is kept on disk as `recording.npz` (numbers) with `recording.json` (the rest).

A source that does not know a quantity (a real robot has no foot heights) leaves it out: floats are NaN then, and
indices -1.
"""

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros import provenance
from contact_ddp_ros.errors import RecordingError
from contact_ddp_ros.options import RunOptions
from contact_ddp_ros.recording_table import Table
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

CONTROL_MODES = ("DAMP", "STAND", "BOUND")
"""Names of the controller's modes; a recording stores the index."""


@dataclass(frozen=True)
class RunInfo:
    """What the numbers of a recording mean and how they came about. Plain data: JSON holds all of it.

    Attributes:
        job: what produced it, e.g. "sim" or "demo".
        options: the run's options as plain data.
        joint_names: (n_joints,) order of all joint columns.
        torque_limits: (n_joints,) the actuators' limits [N m].
        foot_names: (n_feet,) order of measured feet.
        contact_points: the planner's contact points, in the order of the planned forces.
        force_dimension: components of a planned force: 2 (forward, up) in the plane, 3 in space.
        mode_names: names of the gait's modes; `mode` columns index them.
        mode_feet: per gait mode, names of the feet that are on the ground by schedule.
        control_period: of the controller [s].
        planner_period: of the planner, which is also the deadline of a solve [s].
        planner_friction: friction coefficient that the plan's forces must respect.
        ground_height: height of the ground in `odom` [m].
        versions, machine: see :mod:`contact_ddp_ros.provenance`.
        started: UTC date and time, ISO 8601.
        interrupted: whether the user stopped the run early.
    """

    job: str
    options: Mapping[str, object]
    joint_names: tuple[str, ...]
    torque_limits: tuple[float, ...]
    foot_names: tuple[str, ...]
    contact_points: tuple[str, ...]
    mode_names: tuple[str, ...]
    mode_feet: tuple[tuple[str, ...], ...]
    control_period: float
    planner_period: float
    planner_friction: float
    force_dimension: int = 2
    ground_height: float = 0.0
    versions: Mapping[str, str] | None = None
    machine: Mapping[str, str | int] | None = None
    started: str = ""
    interrupted: bool = False

    def __post_init__(self) -> None:
        """Fills in versions, machine and date; raises RecordingError where sizes disagree."""
        if len(self.torque_limits) != len(self.joint_names):
            raise RecordingError(f"{len(self.torque_limits)} torque limits for {len(self.joint_names)} joints")
        if len(self.mode_feet) != len(self.mode_names):
            raise RecordingError(f"feet of {len(self.mode_feet)} modes for {len(self.mode_names)} mode names")
        unknown = {foot for feet in self.mode_feet for foot in feet} - set(self.foot_names)
        if unknown:
            raise RecordingError(f"mode_feet names {sorted(unknown)}; the feet are {list(self.foot_names)}")
        object.__setattr__(self, "versions", self.versions or provenance.versions())
        object.__setattr__(self, "machine", self.machine or provenance.machine())
        object.__setattr__(self, "started", self.started or datetime.now(timezone.utc).isoformat(timespec="seconds"))


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

    @property
    def rpy(self) -> Array:
        """(N, 3) roll, pitch, yaw of `base_link` in `odom` (R = Rz Ry Rx) [rad], yaw without jumps."""
        return rpy_from_quaternions(self.ticks["orientation"])

    @property
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


class Recorder:
    """Collects a run. `listener`, if any, is called with the recorder after every tick (for live progress)."""

    def __init__(self, listener: "Callable[[Recorder], None] | None" = None) -> None:
        self._listener = listener
        self._info: RunInfo | None = None
        self._ticks = Table()
        self._solves = Table()
        self._events: list[Event] = []

    @property
    def info(self) -> RunInfo:
        """The run's description; RecordingError before `begin`."""
        if self._info is None:
            raise RecordingError("nothing is known about this run yet; call begin first")
        return self._info

    @property
    def begun(self) -> bool:
        """Whether `begin` was called."""
        return self._info is not None

    @property
    def n_ticks(self) -> int:
        """Number of ticks so far."""
        return len(self._ticks)

    @property
    def last_tick(self) -> Mapping[str, Any]:
        """The latest tick by column; empty before the first."""
        return self._ticks.last()

    @property
    def last_solve(self) -> Mapping[str, Any]:
        """The latest solve by column; empty before the first."""
        return self._solves.last()

    def begin(self, info: RunInfo) -> None:
        """Settle sizes and meaning. Once, before the first tick, solve or event."""
        if self._info is not None:
            raise RecordingError("this recorder has begun already; use a new one for a new run")
        self._info = info
        self._ticks = Table(_tick_columns(info))
        self._solves = Table(_SOLVE_COLUMNS)

    def tick(
        self,
        state: RobotState,
        *,
        commanded_speed: float = np.nan,
        torques: ArrayLike | None = None,
        foot_heights: ArrayLike | None = None,
        contact_forces: ArrayLike | None = None,
        mode: int = -1,
        planned_forces: ArrayLike | None = None,
        control_mode: str = "",
        wall_time: float | None = None,
    ) -> None:
        """Add a row at `state.time`; shapes and units are those of :class:`Recording`, without the row axis.

        Args:
            state: as the controller saw it.
            planned_forces: (n_f,) or (n_points, d), as in a policy sample.
            control_mode: one of CONTROL_MODES, or empty where unknown.
            wall_time: of a monotonic clock; now, where left out.

        Raises:
            RecordingError: before `begin`, or where a size or a mode's name does not fit.
        """
        info = self.info
        if planned_forces is not None:
            planned_forces = np.reshape(planned_forces, (len(info.contact_points), -1))
        if control_mode and control_mode not in CONTROL_MODES:
            raise RecordingError(f"control mode {control_mode!r}; the modes are {', '.join(CONTROL_MODES)}")
        self._ticks.append(
            time=state.time,
            wall_time=clock.perf_counter() if wall_time is None else wall_time,
            commanded_speed=commanded_speed,
            position=state.position,
            orientation=state.orientation,
            linear_velocity=state.linear_velocity,
            angular_velocity=state.angular_velocity,
            joint_positions=state.joint_positions,
            joint_velocities=state.joint_velocities,
            torques=torques,
            foot_heights=foot_heights,
            contact_forces=contact_forces,
            mode=mode,
            planned_forces=planned_forces,
            control_mode=CONTROL_MODES.index(control_mode) if control_mode else -1,
        )
        if self._listener is not None:
            self._listener(self)

    def solve(
        self,
        time: float,
        *,
        solve_ms: float,
        iterations: int,
        status: str,
        ok: bool = True,
        deadline_missed: bool = False,
        cost: float = np.nan,
        violation: float = np.nan,
        touchdown_error: float = np.nan,
        friction_violation: float = np.nan,
        regularisation: float = np.nan,
        barrier: float = np.nan,
    ) -> None:
        """Add a solve of the planner; meanings and units are those of :class:`Recording`."""
        self._require_begun()
        self._solves.append(
            time=time,
            solve_ms=solve_ms,
            iterations=iterations,
            status=status,
            ok=ok,
            deadline_missed=deadline_missed,
            cost=cost,
            violation=violation,
            touchdown_error=touchdown_error,
            friction_violation=friction_violation,
            regularisation=regularisation,
            barrier=barrier,
        )

    def event(self, time: float, text: str, *, fault: bool = False) -> None:
        """Note something; `fault` where it took the controller to DAMP on its own account."""
        self._require_begun()
        self._events.append(Event(float(time), text, fault))

    def finish(self, *, interrupted: bool = False) -> Recording:
        """The run so far as an immutable record; more may be added and finish called again."""
        info = replace(self.info, interrupted=interrupted)
        return Recording(info, self._ticks.columns(), self._solves.columns(), tuple(self._events))

    def _require_begun(self) -> None:
        _ = self.info


def plain_options(options: RunOptions) -> dict[str, object]:
    """A run's options as JSON-ready data."""
    return {
        "duration": options.duration,
        "speed": [list(point) for point in options.speed],
        "ramp": options.ramp,
        "variant": options.variant,
        "lockstep": options.lockstep,
        "pushes": [{"time": p.time, "force": list(p.force), "duration": p.duration} for p in options.pushes],
        "seed": options.seed,
        "friction": options.friction,
        "trunk_mass_scale": options.trunk_mass_scale,
        "planner_delay": options.planner_delay,
        "config": None if options.config is None else str(options.config),
        "overrides": dict(options.overrides),
    }


def rpy_from_quaternions(quaternions: ArrayLike) -> Array:
    """(N, 4) unit quaternions (x, y, z, w) → (N, 3) roll, pitch, yaw of R = Rz Ry Rx [rad], yaw unwrapped."""
    x, y, z, w = np.asarray(quaternions, dtype=float).T
    roll = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0))
    yaw = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return np.stack([roll, pitch, np.unwrap(yaw)], axis=1)


def _tick_columns(info: RunInfo) -> dict[str, tuple[type, tuple[int, ...]]]:
    """Column → (type, shape of an entry)."""
    joints, feet, points = len(info.joint_names), len(info.foot_names), len(info.contact_points)
    return {
        "time": (float, ()),
        "wall_time": (float, ()),
        "commanded_speed": (float, ()),
        "position": (float, (3,)),
        "orientation": (float, (4,)),
        "linear_velocity": (float, (3,)),
        "angular_velocity": (float, (3,)),
        "joint_positions": (float, (joints,)),
        "joint_velocities": (float, (joints,)),
        "torques": (float, (joints,)),
        "foot_heights": (float, (feet,)),
        "contact_forces": (float, (feet, 3)),
        "mode": (int, ()),
        "planned_forces": (float, (points, info.force_dimension)),
        "control_mode": (int, ()),
    }


_SOLVE_COLUMNS: dict[str, tuple[type, tuple[int, ...]]] = {
    "time": (float, ()),
    "solve_ms": (float, ()),
    "iterations": (int, ()),
    "status": (str, ()),
    "ok": (bool, ()),
    "deadline_missed": (bool, ()),
    "cost": (float, ()),
    "violation": (float, ()),
    "touchdown_error": (float, ()),
    "friction_violation": (float, ()),
    "regularisation": (float, ()),
    "barrier": (float, ()),
}
