"""The figures of a run, each defined once, as the machine-readable `summary.json`.

SI units and radians throughout, but for solve times in milliseconds. A figure that cannot be known (no foot
heights from a real robot, no solve) is null in JSON. Two stretches of a run matter:

- *bounding*: the ticks at which the controller is in MOVE; *steady* those of them at which command and control
  mode had been unchanged for two seconds (all bounding ticks where a run is too short for that);
- *active*: from the first tick in MOVE to the last that is not in DAMP, stopping to stand included.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.files import plain, write_json
from contact_ddp_ros.runs.motions.result import MotionResult
from contact_ddp_ros.runs.recording import Recording, analysis
from contact_ddp_ros.runs.recording.cycles import steady_cycles
from contact_ddp_ros.runs.recording.falls import Recovery, has_stood, recoveries, up_again

SUMMARY_FILE = "summary.json"

_SHORTEST_PHASE = 0.5
"""Stretches of constant command shorter than this, such as the steps of a ramp, are not listed [s]."""


@dataclass(frozen=True)
class SolveTimes:
    """Wall time of a solve [ms] over all solves of the run, the first one included."""

    median: float
    p99: float
    max: float


@dataclass(frozen=True)
class SpeedPhase:
    """A stretch of constant command while bounding [s, m/s].

    Its mean leaves out the first two seconds, if it can, and is over the last whole cycles of the gait in the rest, if
    there are any.
    """

    start: float
    end: float
    commanded_speed: float
    mean_speed: float


@dataclass(frozen=True)
class Summary:
    """The figures of a run.

    Attributes:
        job: what was run ("sim", "demo").
        fell: whether, while active, the trunk came below 0.15 m or tilted beyond 1.55 rad, a fault took the controller
            to DAMP, or it went from MOVE to DAMP.
        fall_time_s, fall_reason: of the first such sign; None where there was none.
        fall_cause: why, such as "late policies", where a fault, late solves or a push say so; None where nothing does.
        up_again_time_s: when it moved again after that; None where it did not, or did not fall.
        stood: whether the robot was ever out of DAMP with its trunk above 0.15 m.
        interrupted: whether the user stopped the run early.
        sim_time_s: from the first tick to the last, plus one control period.
        bounding_time_s: time spent bounding.
        commanded_speed: mean commanded forward speed over the whole gait cycles of the steady ticks.
        mean_speed: mean over the same of the trunk origin's velocity along its heading.
        commanded_left, mean_left: the same to the left of it.
        commanded_turn, mean_turn: the same of the heading's rate [rad/s].
        speed_phases: the same per stretch of constant command.
        height_min, height_max: of the trunk's origin above the ground while active.
        pitch_abs_max, roll_abs_max: largest magnitude while active (R = Rz Ry Rx).
        yaw_drift: the deviation from the heading at the first active tick that is largest in magnitude, with its sign.
        yaw_drift_end: the deviation at the last active tick.
        lateral_drift: the offset to the left of the straight line along the first active heading that is largest in
            magnitude, with its sign.
        touchdown_error_max_m: largest |height of the sole above the ground| at a touchdown of any published plan.
        touchdown_error_median_m: median over the published plans of the largest in each.
        touchdown_height_measured_max_m: largest measured |height of a sole| at the instant its touchdown is scheduled.
        torque_saturation_fraction: share of the joint torques while active at or above 99.9 % of their limit.
        torque_excess_max_nm: most that a torque exceeds its limit while active; 0 where none does.
        contact_force_peak_n: largest measured normal force of a foot, at impact; the simulator's stiff contact
            sets its height.
        friction_violation_fraction: share of the bounding ticks with a planned contact force at which that force
            leaves the planner's friction cone, or pulls, by more than 0.5 N.
        friction_violation_max_n: most that it does so; 0 where it never does.
        solves: number of solves; solves_failed those whose policy was not published.
        solve_ms: their wall time.
        iterations_per_solve: mean number of iterations.
        deadline_misses: solves that took longer than the planner's period; deadline_miss_fraction their share.
        planner_period_ms, control_period_ms: the rates of the run.
        real_time_factor: simulated time over wall time between the first and the last tick.
        processor_cores: by node, how many processors its process kept busy on average; empty without nodes.
        motion: the figures of a jump or a flip by name, see
            :class:`contact_ddp_ros.runs.motions.result.MotionResult`; empty for any other run.
        pushes: what each push did, see :class:`contact_ddp_ros.runs.recording.falls.Recovery`.
        variant, lockstep, seed: of the options.
        options: all of them.
        versions, machine, started: see :mod:`contact_ddp_ros.base.versions`.
    """

    job: str
    fell: bool
    fall_time_s: float | None
    fall_reason: str | None
    fall_cause: str | None
    up_again_time_s: float | None
    stood: bool
    interrupted: bool
    sim_time_s: float
    bounding_time_s: float
    commanded_speed: float
    mean_speed: float
    commanded_left: float
    mean_left: float
    commanded_turn: float
    mean_turn: float
    speed_phases: tuple[SpeedPhase, ...]
    height_min: float
    height_max: float
    pitch_abs_max: float
    roll_abs_max: float
    yaw_drift: float
    yaw_drift_end: float
    lateral_drift: float
    touchdown_error_max_m: float
    touchdown_error_median_m: float
    touchdown_height_measured_max_m: float
    torque_saturation_fraction: float
    torque_excess_max_nm: float
    contact_force_peak_n: float
    friction_violation_fraction: float
    friction_violation_max_n: float
    solves: int
    solves_failed: int
    solve_ms: SolveTimes
    iterations_per_solve: float
    deadline_misses: int
    deadline_miss_fraction: float
    planner_period_ms: float
    control_period_ms: float
    real_time_factor: float
    processor_cores: Mapping[str, float]
    motion: Mapping[str, Any]
    pushes: tuple[Recovery, ...]
    variant: str
    lockstep: bool
    seed: int
    options: Mapping[str, Any]
    versions: Mapping[str, str]
    machine: Mapping[str, str | int]
    started: str

    def as_json(self) -> dict[str, Any]:
        """The figures as strictly JSON-compatible data: null for what is not known."""
        return plain(asdict(self))


def summarise(recording: Recording) -> Summary:
    """The figures of a recording; NaN or None where it does not hold what a figure needs."""
    info, ticks = recording.info, recording.ticks
    fall = recording.fall
    bound, steady = analysis.bounding(recording), steady_cycles(recording)
    options = dict(info.options)
    return Summary(
        job=info.job,
        fell=fall is not None,
        fall_time_s=fall.time if fall else None,
        fall_reason=fall.reason if fall else None,
        fall_cause=(fall.cause or None) if fall else None,
        up_again_time_s=up_again(recording, fall) if fall else None,
        stood=has_stood(recording),
        interrupted=info.interrupted,
        sim_time_s=_span(ticks["time"]) + info.control_period if len(ticks["time"]) else 0.0,
        bounding_time_s=float(np.count_nonzero(bound) * info.control_period),
        commanded_speed=_mean(ticks["commanded_speed"][steady]),
        mean_speed=float(recording.steady_velocity[0]),
        commanded_left=float(options.get("left", 0.0)),
        mean_left=float(recording.steady_velocity[1]),
        commanded_turn=float(options.get("turn", 0.0)),
        mean_turn=_mean(recording.heading_rate[steady]),
        speed_phases=_speed_phases(recording),
        solves=len(recording.solves["time"]),
        planner_period_ms=1e3 * info.planner_period,
        control_period_ms=1e3 * info.control_period,
        real_time_factor=_ratio(_span(ticks["time"]), _span(ticks["wall_time"])),
        processor_cores=dict(info.processors or {}),
        motion=MotionResult(recording).figures() if recording.motion else {},
        pushes=recoveries(recording),
        variant=str(options.get("variant", "")),
        lockstep=bool(options.get("lockstep", True)),
        seed=int(options.get("seed", 0)),
        options=options,
        versions=dict(info.versions or {}),
        machine=dict(info.machine or {}),
        started=info.started,
        **_motion(recording),
        **_touchdown(recording),
        **_limits(recording),
        **_solving(recording),
    )


def save(summary: Summary, folder: Path) -> Path:
    """Write `summary.json` into `folder`, whole, and return its path."""
    write_json(folder / SUMMARY_FILE, summary.as_json())
    return folder / SUMMARY_FILE


def _motion(recording: Recording) -> dict[str, Any]:
    mask = analysis.active(recording)
    roll, pitch, yaw = recording.rpy[mask].T
    height = recording.height[mask]
    return {
        "height_min": -_max(-height),
        "height_max": _max(height),
        "pitch_abs_max": _max(np.abs(pitch)),
        "roll_abs_max": _max(np.abs(roll)),
        "yaw_drift": analysis.deviation(yaw),
        "yaw_drift_end": float(yaw[-1] - yaw[0]) if yaw.size else float("nan"),
        "lateral_drift": analysis.deviation(analysis.lateral_offset(recording, mask)),
    }


def _touchdown(recording: Recording) -> dict[str, Any]:
    planned = recording.solves["touchdown_error"][recording.solves["ok"]]
    planned = planned[np.isfinite(planned)]
    return {
        "touchdown_error_max_m": _max(planned),
        "touchdown_error_median_m": float(np.median(planned)) if planned.size else float("nan"),
        "touchdown_height_measured_max_m": _max(np.abs(analysis.touchdowns(recording).heights)),
    }


def _limits(recording: Recording) -> dict[str, Any]:
    torques = np.abs(recording.ticks["torques"][analysis.active(recording)])
    known = np.isfinite(torques)
    limits = np.broadcast_to(recording.info.torque_limits, torques.shape)
    excess = analysis.planned_violation(recording)
    return {
        "torque_saturation_fraction": _mean(torques[known] >= analysis.SATURATED * limits[known]),
        "torque_excess_max_nm": _max(np.maximum(torques - limits, 0.0)[known]),
        "contact_force_peak_n": analysis.peak_force(recording),
        "friction_violation_fraction": _mean(excess > analysis.FORCE_TOLERANCE),
        "friction_violation_max_n": _max(np.maximum(excess, 0.0)),
    }


def _solving(recording: Recording) -> dict[str, Any]:
    solves = recording.solves
    milliseconds, missed = solves["solve_ms"], solves["deadline_missed"]
    median, p99 = np.percentile(milliseconds, (50.0, 99.0)) if milliseconds.size else (np.nan, np.nan)
    return {
        "solves_failed": int(np.count_nonzero(~solves["ok"])),
        "solve_ms": SolveTimes(float(median), float(p99), _max(milliseconds)),
        "iterations_per_solve": _mean(solves["iterations"]),
        "deadline_misses": int(np.count_nonzero(missed)),
        "deadline_miss_fraction": _mean(missed),
    }


def _speed_phases(recording: Recording) -> tuple[SpeedPhase, ...]:
    ticks, bound = recording.ticks, analysis.bounding(recording)
    forward, cycle = recording.heading_velocity[:, 0], analysis.gait_period(recording)
    changes = np.flatnonzero((np.diff(ticks["commanded_speed"]) != 0.0) | (np.diff(bound.astype(int)) != 0)) + 1
    phases = []
    for rows in np.split(np.arange(len(bound)), changes):
        time = ticks["time"][rows]
        if not rows.size or not bound[rows[0]] or _span(time) < _SHORTEST_PHASE:
            continue
        settled = rows[time - time[0] >= analysis.SETTLING_TIME]
        settled = settled if settled.size else rows
        cycles = int(settled.size * recording.info.control_period / cycle + 1e-6) if cycle > 0.0 else 0
        whole = round(cycles * cycle / recording.info.control_period)
        mean = _mean(forward[settled[-whole:]])
        phases.append(SpeedPhase(float(time[0]), float(time[-1]), float(ticks["commanded_speed"][rows[0]]), mean))
    return tuple(phases)


def _span(values: NDArray) -> float:
    return float(values[-1] - values[0]) if values.size else float("nan")


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator > 0.0 else float("nan")


def _mean(values: NDArray) -> float:
    return float(np.mean(values)) if values.size else float("nan")


def _max(values: NDArray) -> float:
    return float(np.max(values)) if values.size else float("nan")
