"""The figures of a run, each declared once: name, unit, description, and how a recording gives it.

SI units and radians throughout, but for solve times in milliseconds. A figure that cannot be known (no foot
heights from a real robot, no solve) is None. Two stretches of a run matter:

- *bounding*: the ticks at which the controller is in MOVE; *steady* the whole gait cycles of those of them at which
  command and control mode had been unchanged for two seconds (all bounding ticks where a run is too short for that);
- *active*: from the first tick in MOVE to the last that is not in DAMP, stopping to stand included.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError, did_you_mean
from contact_ddp_ros.base.files import plain, write_json
from contact_ddp_ros.runs.motions.result import MotionResult
from contact_ddp_ros.runs.recording import Recording, analysis
from contact_ddp_ros.runs.recording.analysis import steady_cycles
from contact_ddp_ros.runs.recording.falls import has_stood, recoveries, up_again
from contact_ddp_ros.runs.recording.record import Array

SUMMARY_FILE = "summary.json"

_SHORTEST_PHASE = 0.5
"""Stretches of constant command shorter than this, such as the steps of a ramp, are not listed [s]."""


def figures_of(recording: Recording) -> dict[str, Any]:
    """All figures of a recording by name, those of a jump or a flip with `motion.` before it: JSON-ready data."""
    own = {f"motion.{name}": value for name, value in _motion(recording).items()}
    return plain({**{one.name: one.of(recording) for one in FIGURES}, **own})  # type: ignore[no-any-return]


def summary_of(recording: Recording) -> dict[str, Any]:
    """The figures, those of a group in an object of its own, and how the run was made: JSON-ready data."""
    info, options = recording.info, dict(recording.info.options)
    found: dict[str, Any] = {"job": info.job}
    for name, value in figures_of(recording).items():
        group, _, rest = name.rpartition(".")
        (found.setdefault(group, {}) if group else found)[rest] = value
    about = {"variant": variant(recording), "lockstep": in_lockstep(recording), "seed": int(options.get("seed", 0))}
    found |= {"motion": found.get("motion", {}), "processor_cores": info.processors, **about, "options": options}
    found |= {"versions": info.versions, "machine": info.machine, "started": info.started}
    return plain(found)  # type: ignore[no-any-return]


def check_metrics(names: Sequence[str]) -> None:
    """Refuse names of figures that are no numbers.

    Raises:
        ParameterError: one is unknown, naming those allowed, or given twice.
    """
    for index, name in enumerate(names):
        if name not in METRICS:
            meant = did_you_mean(name, METRICS)
            allowed = "" if meant.startswith("known") else f" allowed: {', '.join(METRICS)}"
            raise ParameterError(f"no metric {name!r}; {meant}{allowed}")
        if name in names[:index]:
            raise ParameterError(f"metric {name} is given twice")


def save(recording: Recording, folder: Path) -> Path:
    """Write `summary.json` into `folder`, whole, and return its path."""
    write_json(folder / SUMMARY_FILE, summary_of(recording))
    return folder / SUMMARY_FILE


def variant(recording: Recording) -> str:
    """Solver's variant of a run; empty where unknown."""
    return str(recording.info.options.get("variant", ""))


def in_lockstep(recording: Recording) -> bool:
    """True if time waited for the planner."""
    return bool(recording.info.options.get("lockstep", True))


def numbers_of(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Those of all figures that are no lists, and `fall`: time and sign of the fall, empty without one."""
    fall = f"{figures['fall_time_s']:.2f} s: {figures['fall_reason']}" if figures["fell"] else ""
    return {"fall": fall, **{name: value for name, value in figures.items() if not isinstance(value, list | dict)}}


def _motion(recording: Recording) -> dict[str, Any]:
    return MotionResult(recording).figures() if recording.motion else {}


def _fall(attribute: str, recording: Recording) -> Any:
    return getattr(recording.fall, attribute) or None if recording.fall else None


def _up_again(recording: Recording) -> float | None:
    return up_again(recording, recording.fall) if recording.fall else None


def _duration(recording: Recording) -> float:
    time = recording.ticks["time"]
    return _span(time) + recording.info.control_period if len(time) else 0.0


def _option(name: str, recording: Recording) -> float:
    return float(recording.info.options.get(name, 0.0))


def _height(recording: Recording) -> Array:
    return recording.height[analysis.active(recording)]


def _angle(index: int, recording: Recording) -> Array:
    """(n,) roll (0), pitch (1) or yaw (2) while active [rad]."""
    return recording.rpy[analysis.active(recording), index]


def _planned_touchdowns(recording: Recording) -> Array:
    planned: Array = recording.solves["touchdown_error"][recording.solves["ok"]]
    return planned[np.isfinite(planned)]


def _torques(recording: Recording) -> tuple[Array, Array]:
    """(n,) magnitudes of the known torques while active, and their limits [N m]."""
    torques = np.abs(recording.ticks["torques"][analysis.active(recording)])
    known = np.isfinite(torques)
    return torques[known], np.broadcast_to(recording.info.torque_limits, torques.shape)[known]


def _saturation(recording: Recording) -> float:
    torques, limits = _torques(recording)
    return _mean(torques >= analysis.SATURATED * limits)


def _excess(recording: Recording) -> float:
    torques, limits = _torques(recording)
    return _max(np.maximum(torques - limits, 0.0))


def _real_time_factor(recording: Recording) -> float:
    time, wall = (_span(recording.ticks[name]) for name in ("time", "wall_time"))
    return time / wall if wall > 0.0 else float("nan")


def _speed_phases(recording: Recording) -> list[dict[str, float]]:
    """Means leave out the first two seconds, if they can, and are over the last whole cycles in the rest, if any."""
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
        speeds = {
            "commanded_speed": float(ticks["commanded_speed"][rows[0]]),
            "mean_speed": _mean(forward[settled[-whole:]]),
        }
        phases.append({"start": float(time[0]), "end": float(time[-1]), **speeds})
    return phases


def _span(values: NDArray[Any]) -> float:
    return float(values[-1] - values[0]) if values.size else float("nan")


def _mean(values: NDArray[Any]) -> float:
    return float(np.mean(values)) if values.size else float("nan")


def _max(values: NDArray[Any]) -> float:
    return float(np.max(values)) if values.size else float("nan")


def _percentile(share: float, recording: Recording) -> float:
    times = recording.solves["solve_ms"]
    return float(np.percentile(times, share)) if times.size else float("nan")


@dataclass(frozen=True)
class Figure:
    """A figure of a run.

    Attributes:
        name: in `summary.json`, tables and `--metric`; dotted where it is one of a group.
        unit: empty for a number without one, None for what is no number.
        text: description.
        of: gives its value.
        title: in the bars of a comparison; one without is not drawn.
    """

    name: str
    unit: str | None
    text: str
    of: Callable[[Recording], Any]
    title: str = ""


FIGURES = (
    Figure("fell", "", "whether it fell: trunk or tilt while active, a fault, or DAMP from MOVE", lambda r: r.fell),
    Figure("fall_time_s", "s", "time of the first sign of a fall", lambda r: r.fall.time if r.fall else None),
    Figure("fall_reason", None, "first sign of a fall", partial(_fall, "reason")),
    Figure("fall_cause", None, "why it fell, where a fault, late solves or a push say so", partial(_fall, "cause")),
    Figure("up_again_time_s", "s", "when it moved again after the fall", _up_again),
    Figure("stood", "", "whether it was ever out of DAMP with its trunk at a standing robot's height", has_stood),
    Figure("interrupted", None, "whether the user stopped the run early", lambda r: r.info.interrupted),
    Figure("sim_time_s", "s", "time from the first tick to the last, plus one control period", _duration),
    Figure(
        "bounding_time_s",
        "s",
        "time spent bounding",
        lambda r: float(np.count_nonzero(analysis.bounding(r)) * r.info.control_period),
    ),
    Figure(
        "commanded_speed",
        "m/s",
        "mean commanded forward speed while steady",
        lambda r: _mean(r.ticks["commanded_speed"][steady_cycles(r)]),
    ),
    Figure(
        "mean_speed",
        "m/s",
        "mean velocity of the trunk's origin along its heading while steady",
        lambda r: r.steady_velocity[0],
        "mean forward speed",
    ),
    Figure("commanded_left", "m/s", "commanded speed to the left of the heading", partial(_option, "left")),
    Figure("mean_left", "m/s", "mean speed to the left of the heading while steady", lambda r: r.steady_velocity[1]),
    Figure("commanded_turn", "rad/s", "commanded rate of the heading", partial(_option, "turn")),
    Figure(
        "mean_turn",
        "rad/s",
        "mean rate of the heading while steady",
        lambda r: _mean(r.heading_rate[steady_cycles(r)]),
    ),
    Figure("speed_phases", None, "commanded and mean speed per stretch of constant command", _speed_phases),
    Figure(
        "height_min",
        "m",
        "lowest height of the trunk's origin above the ground while active",
        lambda r: -_max(-_height(r)),
        "lowest trunk",
    ),
    Figure("height_max", "m", "largest height of the same", lambda r: _max(_height(r))),
    Figure(
        "pitch_abs_max",
        "rad",
        "largest magnitude of the pitch while active (R = Rz Ry Rx)",
        lambda r: _max(np.abs(_angle(1, r))),
        "largest |pitch|",
    ),
    Figure(
        "roll_abs_max",
        "rad",
        "largest magnitude of the roll while active",
        lambda r: _max(np.abs(_angle(0, r))),
        "largest |roll|",
    ),
    Figure(
        "yaw_drift",
        "rad",
        "largest deviation from the heading at the first active tick, with its sign",
        lambda r: analysis.deviation(_angle(2, r)),
    ),
    Figure("yaw_drift_end", "rad", "the same deviation at the last active tick", lambda r: _span(_angle(2, r))),
    Figure(
        "lateral_drift",
        "m",
        "largest offset to the left of the line along the first active heading, with its sign",
        lambda r: analysis.deviation(analysis.lateral_offset(r, analysis.active(r))),
        "sideways drift",
    ),
    Figure(
        "touchdown_error_max_m",
        "m",
        "largest |height of a sole above the ground| at a touchdown of any published plan",
        lambda r: _max(_planned_touchdowns(r)),
    ),
    Figure(
        "touchdown_error_median_m",
        "m",
        "median over the published plans of the largest in each",
        lambda r: float(np.median(_planned_touchdowns(r))) if _planned_touchdowns(r).size else None,
    ),
    Figure(
        "touchdown_height_measured_max_m",
        "m",
        "largest measured |height of a sole| at the instant its touchdown is scheduled",
        lambda r: _max(np.abs(analysis.touchdowns(r).heights)),
        "largest |sole height| at touchdown",
    ),
    Figure(
        "torque_saturation_fraction",
        "",
        "share of the joint torques while active at or above 99.9 % of their limit",
        _saturation,
        "share of torques at their limit",
    ),
    Figure("torque_excess_max_nm", "N m", "most by which a torque exceeds its limit while active", _excess),
    Figure(
        "contact_force_peak_n",
        "N",
        "largest measured normal force of a foot, at impact, which the simulator's stiff contact sets",
        analysis.peak_force,
    ),
    Figure(
        "friction_violation_fraction",
        "",
        "share of the ticks with a planned contact force at which it leaves its cone or pulls, by more than 0.5 N",
        lambda r: _mean(analysis.planned_violation(r) > analysis.FORCE_TOLERANCE),
    ),
    Figure(
        "friction_violation_max_n",
        "N",
        "most by which it does so",
        lambda r: _max(np.maximum(analysis.planned_violation(r), 0.0)),
        "planned force outside its cone",
    ),
    Figure("solves", "", "number of solves", lambda r: len(r.solves["time"])),
    Figure("solves_failed", "", "those whose policy was not published", lambda r: np.count_nonzero(~r.solves["ok"])),
    Figure("solve_ms.median", "ms", "median wall time of a solve", partial(_percentile, 50.0), "median solve time"),
    Figure(
        "solve_ms.p99", "ms", "99th percentile of the same", partial(_percentile, 99.0), "99 % of solve times within"
    ),
    Figure("solve_ms.max", "ms", "longest wall time of a solve", lambda r: _max(r.solves["solve_ms"])),
    Figure(
        "iterations_per_solve",
        "",
        "mean number of iterations",
        lambda r: _mean(r.solves["iterations"]),
        "iterations per solve",
    ),
    Figure(
        "deadline_misses",
        "",
        "number of solves that took longer than the planner's period",
        lambda r: np.count_nonzero(r.solves["deadline_missed"]),
    ),
    Figure(
        "deadline_miss_fraction",
        "",
        "their share",
        lambda r: _mean(r.solves["deadline_missed"]),
        "share of missed deadlines",
    ),
    Figure("planner_period_ms", "ms", "period of the planner", lambda r: 1e3 * r.info.planner_period),
    Figure("control_period_ms", "ms", "period of the controller", lambda r: 1e3 * r.info.control_period),
    Figure("real_time_factor", "", "simulated time over wall time from the first to the last tick", _real_time_factor),
    Figure("pushes", None, "effect of each push, see `recording.falls.Recovery`", recoveries),
)
"""All figures, in the order of `summary.json`; those of jumps and flips are `MotionResult`'s."""

METRICS = tuple(one.name for one in FIGURES if one.unit is not None)
"""Names of the figures that are numbers or truths."""

BARS = {one.name: f"{one.title} [{one.unit}]" if one.unit else one.title for one in FIGURES if one.title}
"""Titles of the figures that a comparison draws."""

OF_FALLS = ("fell", "fall_time_s")
"""Figures that count the runs that fell, too; of all others those are left out."""
