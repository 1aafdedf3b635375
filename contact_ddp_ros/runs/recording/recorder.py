"""Logging a run while it happens.

A source that does not know a quantity (a real robot has no foot heights) leaves it out: floats are NaN then, and
indices -1.

Columnar table with amortised growth, for logging a run without slowing the loop.

Interface of a log of a run: ticks, solves, events.
"""

import math
import time as clock
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.base.errors import RecordingError
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import STATE_PARTS, JointCommand, RobotState
from contact_ddp_ros.runs.recording.info import RunInfo
from contact_ddp_ros.runs.recording.record import CONTROL_MODES, Event, plan_columns
from contact_ddp_ros.runs.recording.recording import Recording


class RunLog(Protocol):
    """Takes ticks, solves and events; a :class:`Recorder`, whose methods these are, keeps all of them."""

    def begin(self, info: RunInfo) -> None:
        """Set the description of the run; to be called once, first."""
        ...

    @property
    def tick(self) -> Callable[..., None]:
        """Add a tick; arguments of :meth:`Recorder.tick`."""
        ...

    @property
    def solve(self) -> Callable[..., None]:
        """Add a solve; arguments of :meth:`Recorder.solve`."""
        ...

    def processors(self, cores: Mapping[str, float]) -> None:
        """Set the mean number of processors that each node kept busy, by name; once, at the end."""
        ...

    def event(self, time: float, text: str, *, fault: bool = False) -> None:
        """Log an event at `time` [s]; `fault` where it took the controller to DAMP."""
        ...


Columns = Mapping[str, tuple[type, tuple[int, ...]]]
"""Column name → (float, int, bool or str; shape of one entry)."""

_FIRST_CAPACITY = 1024
"""Rows held at first; doubled whenever they are full."""


class Table:
    """Rows of named, fixed-size entries. Missing floats become NaN, missing integers -1, missing texts empty."""

    def __init__(self, columns: Columns | None = None) -> None:
        self._columns = dict(columns or {})
        self._data = {name: _empty(kind, shape, _FIRST_CAPACITY) for name, (kind, shape) in self._columns.items()}
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, **entries: object) -> None:
        """Add a row; None counts as missing. Raises RecordingError where a name or a shape does not fit."""
        unknown = entries.keys() - self._columns.keys()
        if unknown:
            raise RecordingError(f"no column {', '.join(sorted(unknown))}; there are {', '.join(self._columns)}")
        checked = {}
        for name, (kind, shape) in self._columns.items():
            entry = entries.get(name)
            if entry is None:
                continue
            value: NDArray = np.asarray(entry, dtype=object if kind is str else kind)
            if value.shape != shape:
                raise RecordingError(f"{name} has shape {value.shape}, expected {shape}")
            checked[name] = value
        if self._columns and self._rows == len(next(iter(self._data.values()))):
            self._grow()
        for name, value in checked.items():
            self._data[name][self._rows] = value
        self._rows += 1

    def row(self, index: int) -> dict[str, Any]:
        """A row by column; negative counts from the end, clamped to the first row; empty where there is none."""
        if not self._rows:
            return {}
        at = max(self._rows + index, 0) if index < 0 else index
        return {name: data[at] for name, data in self._data.items()}

    def columns(self) -> dict[str, NDArray]:
        """Every column with its rows so far, as read-only copies; texts as fixed-width unicode."""
        result = {}
        for name, (kind, _) in self._columns.items():
            column = self._data[name][: self._rows]
            result[name] = np.array(column, dtype=np.str_) if kind is str else column.copy()
            result[name].flags.writeable = False
        return result

    def forget(self, rows: int) -> int:
        """Drop the first so many rows, and say how many there were."""
        rows = min(max(rows, 0), self._rows)
        for name, (kind, shape) in self._columns.items():
            data, kept = self._data[name], self._rows - rows
            data[:kept] = data[rows : self._rows].copy()
            data[kept : self._rows] = _empty(kind, shape, rows)
        self._rows -= rows
        return rows

    def _grow(self) -> None:
        for name, (kind, shape) in self._columns.items():
            old = self._data[name]
            self._data[name] = np.concatenate([old, _empty(kind, shape, len(old))])


def _empty(kind: type, shape: tuple[int, ...], rows: int) -> NDArray:
    missing: object = {float: np.nan, int: -1, bool: False, str: ""}[kind]
    return np.full((rows, *shape), missing, dtype=object if kind is str else kind)


_RECENT = 0.4
"""Time that counts as recent for :attr:`Recorder.recent_speed`: about one gait cycle [s]."""


class Recorder:
    """Collects a run. `listener`, if any, is called with the recorder after every tick (for live progress)."""

    def __init__(self, listener: "Callable[[Recorder], None] | None" = None, plans_every: int = 0) -> None:
        """`plans_every`: of so many solves one has its plan kept; 0 for none."""
        self._listener = listener
        self._plans_every = plans_every
        self._plans: list[tuple[int, Policy]] = []
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
    def detailed(self) -> bool:
        """True if plans are kept, and with them quantities that take time to compute."""
        return self._plans_every > 0

    @property
    def begun(self) -> bool:
        """True if `begin` was called."""
        return self._info is not None

    @property
    def n_ticks(self) -> int:
        """Number of ticks so far."""
        return len(self._ticks)

    @property
    def last_tick(self) -> Mapping[str, Any]:
        """The latest tick by column; empty before the first."""
        return self._ticks.row(-1)

    @property
    def last_solve(self) -> Mapping[str, Any]:
        """The latest solve by column; empty before the first."""
        return self._solves.row(-1)

    @property
    def last_time(self) -> float:
        """Time of the latest tick [s]; NaN before the first."""
        return float(self.last_tick.get("time", np.nan))

    @property
    def recent_speed(self) -> float:
        """Mean speed along the heading over about the last gait cycle [m/s]."""
        now, then = self._ticks.row(-1), self._ticks.row(-round(_RECENT / self.info.control_period))
        yaw = float(quaternion_to_rpy(now["orientation"])[2])
        x, y, _ = now["position"] - then["position"]
        span = float(now["time"] - then["time"])
        return float(math.cos(yaw) * x + math.sin(yaw) * y) / span if span > 0.0 else 0.0

    def begin(self, info: RunInfo) -> None:
        """Set the description of the run, which fixes the columns' sizes; to be called once, first."""
        if self._info is not None:
            raise RecordingError("this recorder has begun already; use a new one for a new run")
        self._info = info
        self._ticks = Table(_tick_columns(info))
        self._solves = Table(_solve_columns(info))

    def tick(
        self,
        state: RobotState,
        *,
        true_state: RobotState | None = None,
        targets: JointCommand | None = None,
        mode: int = -1,
        planned_forces: ArrayLike | None = None,
        control_mode: str = "",
        wall_time: float | None = None,
        **entries: ArrayLike | None,
    ) -> None:
        """Add a row at `state.time`; shapes and units as in docs/recording.md, without the row axis.

        Args:
            state: as measured.
            true_state: the same without the sensors' errors.
            targets: joint command of this tick.
            mode: index of the gait's mode; one that `info` does not name counts as unknown.
            planned_forces: (n_f,) or (n_points, d), as in a policy sample.
            control_mode: one of CONTROL_MODES, or empty where unknown.
            wall_time: of a monotonic clock; now, where left out.
            entries: other columns of `ticks` by name.

        Raises:
            RecordingError: before `begin`, or where a column's or a mode's name or a size does not fit.
        """
        info = self.info
        if planned_forces is not None:
            planned_forces = np.reshape(planned_forces, (len(info.contact_points), -1))
        if control_mode and control_mode not in CONTROL_MODES:
            raise RecordingError(f"control mode {control_mode!r}; the modes are {', '.join(CONTROL_MODES)}")
        if true_state is not None:
            true_values = {f"true_{name}": getattr(true_state, name) for name in STATE_PARTS}
        else:
            true_values = {}
        self._ticks.append(
            time=state.time,
            wall_time=clock.perf_counter() if wall_time is None else wall_time,
            **{name: getattr(state, name) for name in STATE_PARTS},
            **true_values,
            **({} if targets is None else _target_values(targets)),
            mode=mode if mode < len(info.mode_names) else -1,
            planned_forces=planned_forces,
            control_mode=CONTROL_MODES.index(control_mode) if control_mode else -1,
            **entries,
        )
        if self._listener is not None:
            self._listener(self)

    def solve(self, time: float, *, ok: bool = True, plan: Policy | None = None, **entries: Any) -> None:
        """Add a solve of the planner, and its plan where that is due.

        Args:
            time: of the state that was planned from [s].
            ok: whether a policy came of it.
            plan: that policy.
            entries: other columns of `solves` by name; meanings, shapes and units as in docs/recording.md.

        Raises:
            RecordingError: before `begin`, or where a column does not exist or a size does not fit.
        """
        self._require_begun()
        self._solves.append(time=time, ok=ok, **entries)
        row = len(self._solves) - 1
        if plan is not None and self._plans_every and row % self._plans_every == 0:
            self._plans.append((row, plan))

    def event(self, time: float, text: str, *, fault: bool = False) -> None:
        """Log an event at `time` [s]; `fault` where the controller went to DAMP by itself."""
        self._require_begun()
        self._events.append(Event(float(time), text, fault))

    def forget(self, ticks: int, solves: int) -> None:
        """Drop all but the last so many ticks and solves, the plans of the dropped solves, and earlier events."""
        self._ticks.forget(len(self._ticks) - ticks)
        dropped = self._solves.forget(len(self._solves) - solves)
        self._plans = [(row - dropped, plan) for row, plan in self._plans if row >= dropped]
        begin = float(self._ticks.row(0).get("time", -math.inf))
        self._events = [event for event in self._events if event.time >= begin]

    def processors(self, cores: Mapping[str, float]) -> None:
        """Set the average number of busy processors of each node, by name."""
        self._info = replace(self.info, processors=dict(cores))

    def finish(self, *, interrupted: bool = False) -> Recording:
        """The run so far as an immutable record; more may be added and finish called again."""
        info = replace(self.info, interrupted=interrupted)
        ticks, plans = _without_idle(self._ticks.columns()), plan_columns(self._plans)
        return Recording(info, ticks, self._solves.columns(), tuple(self._events), plans)

    def _require_begun(self) -> None:
        _ = self.info


def _tick_columns(info: RunInfo) -> Columns:
    """Column → (type, shape of an entry)."""
    joints, feet, points = len(info.joint_names), len(info.foot_names), len(info.contact_points)
    sizes = (3, 4, 3, 3, joints, joints)
    state: Columns = {name: (float, (size,)) for name, size in zip(STATE_PARTS, sizes, strict=True)}
    return {
        "time": (float, ()),
        "wall_time": (float, ()),
        "commanded_speed": (float, ()),
        **state,
        **{f"true_{name}": column for name, column in state.items()},
        "target_positions": (float, (joints,)),
        "target_velocities": (float, (joints,)),
        "target_torques": (float, (joints,)),
        "torques": (float, (joints,)),
        "foot_heights": (float, (feet,)),
        "contact_forces": (float, (feet, 3)),
        "mode": (int, ()),
        "planned_forces": (float, (points, info.force_dimension)),
        "planned_slope": (float, (2,)),
        "control_mode": (int, ()),
    }


def _solve_columns(info: RunInfo) -> Columns:
    return {
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
        "theta": (float, ()),
        "cost_terms": (float, (len(info.cost_terms),)),
    }


def _target_values(targets: JointCommand) -> dict[str, Any]:
    """Columns of a command; positions stay NaN where the drives only damp."""
    return {
        "target_positions": targets.positions,
        "target_velocities": targets.velocities,
        "target_torques": targets.torques,
    }


def _without_idle(ticks: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """Without the columns that hold nothing of their own: true states that are the measured ones, or unknown."""
    idle = {
        f"true_{name}"
        for name in STATE_PARTS
        if np.isnan(ticks[f"true_{name}"]).all() or np.array_equal(ticks[name], ticks[f"true_{name}"], equal_nan=True)
    }
    return {name: column for name, column in ticks.items() if name not in idle}
