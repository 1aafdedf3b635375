"""Detection of falls and their causes, of runs without a stand, and recovery after pushes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from contact_ddp_ros.runs.recording import analysis
from contact_ddp_ros.runs.recording.record import CONTROL_MODES, Array, RunRecord

FALL_TILT = 1.55
"""Roll or pitch, either way, beyond which it has fallen [rad]; from less it has been seen to come back."""

STRAIGHT_TILT = np.deg2rad(10.0)
"""Roll and change of heading within which the robot is straight again after a push [rad]."""

STRAIGHT_LATERAL_SPEED = 0.15
"""Sideways speed, averaged over a gait cycle, within which it is straight again [m/s]."""


CAUSES = {
    "solve_failed": "failed solves",
    "policy_torque": "refused policies",
    "policy_range": "refused policies",
    "policy_not_finite": "refused policies",
    "policy_away": "policies that do not begin where the robot is",
    "policy_stale": "late policies",
    "policy_over": "late policies: the last one ran out",
    "no_policy": "no policies",
    "state_stale": "late states",
    "no_state": "no states",
    "state_jump": "states that jump",
    "clock": "a clock that jumps",
}
"""Causes of falls by the beginning of a fault's name; other faults are signs of the fall itself.

Of several in one text the first here counts: policies are late because they failed or were refused.
"""

_WITH_DETAIL = ("failed solves", "refused policies")
"""Causes that are followed by the text that names the limit."""

_TOLD_WITHIN = 0.05
"""A fault within this time of the end of a gait is why it ended [s]."""

CAUSE_WINDOW = 1.0
"""Time before a fall in which its cause is looked for [s]."""

LATE_SHARE = 0.5
"""Share of late solves within that time from which policies count as late; only where time does not wait for them."""


@dataclass(frozen=True)
class Fall:
    """Fall of a robot: time of its detection [s], sign and cause, if known."""

    time: float
    reason: str
    cause: str = ""


def first_fall(recording: RunRecord) -> Fall | None:
    """The earliest of: trunk too low, tilt too large, a fault, DAMP straight from MOVE without one; None where none.

    Height and tilt count from the first tick in MOVE to the last that is not in DAMP, so that neither rising from
    the ground nor lying down on command is a fall, and not in MOTION. A state that is not finite counts as fallen.
    """
    falls = [Fall(event.time, f"fault: {event.text}") for event in recording.events if event.fault]
    time, modes = recording.ticks["time"], recording.ticks["control_mode"]
    mask = analysis.active(recording) & (modes != CONTROL_MODES.index("motion"))
    roll, pitch, _ = recording.rpy.T
    lowest = recording.info.fall_height
    signs = {
        f"trunk below {lowest:.3g} m": ~(recording.height >= lowest),
        f"tilt beyond {FALL_TILT} rad": ~((np.abs(roll) <= FALL_TILT) & (np.abs(pitch) <= FALL_TILT)),
    }
    for reason, sign in signs.items():
        seen = np.flatnonzero(sign & mask)
        if seen.size:
            falls.append(Fall(float(time[seen[0]]), reason))
    dropped = np.flatnonzero((modes[:-1] == CONTROL_MODES.index("move")) & (modes[1:] == CONTROL_MODES.index("damp")))
    if dropped.size and not any(0.0 <= fall.time - time[dropped[0]] <= _TOLD_WITHIN for fall in falls):
        falls.append(Fall(float(time[dropped[0] + 1]), "controller went from MOVE to DAMP"))
    if not falls:
        return None
    first = min(falls, key=lambda fall: fall.time)
    return replace(first, cause=_cause(recording, first))


def has_stood(recording: RunRecord) -> bool:
    """Existence of a tick out of DAMP with the trunk as high as that of a robot on its legs; true of unknown modes."""
    modes = recording.ticks["control_mode"]
    up = (modes != CONTROL_MODES.index("damp")) & (recording.height >= recording.info.fall_height)
    return bool((modes < 0).all() or up.any())


def up_again(recording: RunRecord, fall: Fall) -> float | None:
    """Time at which the robot moved again after a fall [s]; None where it did not, or had not stopped to."""
    time, modes = recording.ticks["time"], recording.ticks["control_mode"]
    damped = np.flatnonzero((time >= fall.time) & (modes == CONTROL_MODES.index("damp")))
    moving = np.flatnonzero(modes == CONTROL_MODES.index("move"))
    later = moving[moving > damped[0]] if damped.size else damped
    return float(time[later[0]]) if later.size else None


def _cause(recording: RunRecord, fall: Fall) -> str:
    """Why it fell: a fault or a refusal that names a cause, late solves, or a push; empty where nothing does."""
    before = fall.time - CAUSE_WINDOW
    texts = [event.text for event in recording.events if before <= event.time <= fall.time and event.fault]
    texts += [event.text for event in reversed(recording.events) if before <= event.time <= fall.time]
    for text in texts:
        for name, cause in CAUSES.items():
            found = re.search(rf"\b{name}\w*:? *(.*)", text, re.DOTALL)
            if found:
                return f"{cause}: {found[1]}" if cause in _WITH_DETAIL and found[1] else cause
    if not recording.info.options.get("lockstep", True):
        times, late = recording.solves["time"], recording.solves["deadline_missed"]
        near = late[(times >= before) & (times <= fall.time)]
        if near.size and near.mean() >= LATE_SHARE:
            return f"late policies: {int(near.sum())} of the last {near.size} solves missed their deadline"
    pushes = [push["time"] for push in recording.info.options.get("pushes", ()) if before <= push["time"] <= fall.time]
    return f"the push at {pushes[-1]:g} s" if pushes else ""


@dataclass(frozen=True)
class Recovery:
    """Effect of a push.

    Attributes:
        time: of the push's beginning [s].
        impulse, angular_impulse: (3,) force and moment times duration, `odom` axes [N s, N m s].
        roll_abs_max, pitch_abs_max: from the push's beginning until the next push or the end [rad].
        recovery_time_s: from the push's end until the robot was straight for good (until the next push or the end):
            |roll| and change of heading since the push within STRAIGHT_TILT, sideways speed, averaged over a gait
            cycle, within STRAIGHT_LATERAL_SPEED. None where it never was.
    """

    time: float
    impulse: tuple[float, float, float]
    angular_impulse: tuple[float, float, float]
    roll_abs_max: float
    pitch_abs_max: float
    recovery_time_s: float | None


def recoveries(recording: RunRecord) -> tuple[Recovery, ...]:
    """One entry per push that began within the recorded time, in order of time."""
    time = recording.ticks["time"]
    pushes: list[Mapping[str, Any]] = sorted(recording.info.options.get("pushes", ()), key=lambda push: push["time"])
    pushes = [push for push in pushes if time.size and time[0] <= push["time"] <= time[-1]]
    ends = [*(push["time"] for push in pushes[1:]), np.inf]
    return tuple(_recovery(recording, push, end) for push, end in zip(pushes, ends, strict=False))


def _recovery(recording: RunRecord, push: Mapping[str, Any], end: float) -> Recovery:
    time, rpy = recording.ticks["time"], recording.rpy
    window = (time >= push["time"]) & (time < end)
    cycle = analysis.gait_period(recording)
    lateral = analysis.held_mean(recording.heading_velocity[:, 1], cycle, recording.info.control_period)
    yaw_before = rpy[np.flatnonzero(window)[0], 2]
    straight = (
        (np.abs(rpy[:, 0]) <= STRAIGHT_TILT)
        & (np.abs(rpy[:, 2] - yaw_before) <= STRAIGHT_TILT)
        & (np.abs(lateral) <= STRAIGHT_LATERAL_SPEED)
    )
    push_end = push["time"] + push["duration"]
    crooked = np.flatnonzero(window & (time >= push_end) & ~straight)
    last = np.flatnonzero(window)[-1]
    recovered = None if crooked.size and crooked[-1] == last else _since(time, crooked, push_end)
    roll, pitch = np.abs(rpy[window, 0]).max(), np.abs(rpy[window, 1]).max()
    linear, angular = (_times(push.get(name, (0.0, 0.0, 0.0)), push["duration"]) for name in ("force", "torque"))
    return Recovery(float(push["time"]), linear, angular, float(roll), float(pitch), recovered)


def _times(vector: Sequence[float], duration: float) -> tuple[float, float, float]:
    x, y, z = (float(component) * float(duration) for component in vector)
    return x, y, z


def _since(time: Array, crooked: np.ndarray, push_end: float) -> float:
    return float(time[crooked[-1] + 1] - push_end) if crooked.size else 0.0
