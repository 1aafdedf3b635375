"""Quantities derived from a recording that the summary and the plots share, each defined once.

The cycles of the gait in a recording, and what a quantity does over one.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.ground import cone_excess
from contact_ddp_ros.runs.recording.record import CONTROL_MODES, Array, RunRecord

Mask = NDArray[np.bool_]

SETTLING_TIME = 2.0
"""Time for which command and control mode must have been unchanged before a speed counts as steady [s]."""

FORCE_TOLERANCE = 0.5
"""Excess of a planned force over its cone that is no violation yet [N]; less than 1 % of the weight."""

SATURATED = 0.999
"""Share of its limit from which a torque counts as saturated."""

_MOVE = CONTROL_MODES.index("move")
_DAMP = CONTROL_MODES.index("damp")


def bounding(recording: RunRecord) -> Mask:
    """(N,) ticks at which the controller was in MOVE; all of them where the source does not know its mode."""
    modes = recording.ticks["control_mode"]
    return np.ones(len(modes), dtype=bool) if (modes < 0).all() else modes == _MOVE


def active(recording: RunRecord) -> Mask:
    """(N,) ticks from the first in MOVE to the last that is not in DAMP; all ticks where none is in MOVE."""
    modes = recording.ticks["control_mode"]
    bound = np.flatnonzero(bounding(recording))
    mask = np.ones(len(modes), dtype=bool)
    if bound.size:
        mask[: bound[0]] = False
        mask[np.flatnonzero(modes != _DAMP)[-1] + 1 :] = False
    return mask


def steady(recording: RunRecord) -> Mask:
    """(N,) bounding ticks at which neither command nor control mode had changed for SETTLING_TIME.

    All bounding ticks where there is no such tick, as in a short run.
    """
    time, command = recording.ticks["time"], recording.ticks["commanded_speed"]
    mask = bounding(recording)
    if not mask.any():
        return mask
    changed = np.ones(len(time), dtype=bool)
    changed[1:] = (np.diff(command) != 0.0) | (np.diff(mask.astype(int)) != 0)
    since = time - np.maximum.accumulate(np.where(changed, time, -np.inf))
    settled = mask & (since >= SETTLING_TIME)
    return settled if settled.any() else mask


@dataclass(frozen=True)
class Touchdowns:
    """Scheduled landings: (n,) time [s], (n,) index of the foot, (n,) height of its sole then [m], as measured."""

    times: Array
    feet: NDArray[np.int64]
    heights: Array


def touchdowns(recording: RunRecord) -> Touchdowns:
    """The landings that the schedule asked for while bounding, with the measured heights of the soles.

    A foot lands at the first tick of a gait mode that has it on the ground after one that has not.
    """
    ticks, info = recording.ticks, recording.info
    modes, bound = ticks["mode"], bounding(recording)
    times, feet, heights = [], [], []
    switches = np.flatnonzero((modes[1:] != modes[:-1]) & (modes[1:] >= 0) & (modes[:-1] >= 0) & bound[1:] & bound[:-1])
    for k in switches + 1:
        before, after = info.mode_feet[modes[k - 1]], info.mode_feet[modes[k]]
        for name in (foot for foot in after if foot not in before):
            foot = info.foot_names.index(name)
            times.append(ticks["time"][k])
            feet.append(foot)
            heights.append(ticks["foot_heights"][k, foot])
    return Touchdowns(np.array(times, dtype=float), np.array(feet, dtype=np.int64), np.array(heights, dtype=float))


def planned_violation(recording: RunRecord) -> Array:
    """(n,) worst cone excess of each tick whose plan has a contact force, over its contact points [N]."""
    forces = recording.ticks["planned_forces"]
    planned = np.isfinite(forces).all(axis=(1, 2)) & (forces != 0.0).any(axis=(1, 2)) & bounding(recording)
    slopes = np.nan_to_num(recording.ticks.get("planned_slope", np.zeros((len(forces), 2))))
    if recording.info.force_dimension == 2:  # along the heading
        yaw = recording.rpy[:, 2]
        slopes = (np.cos(yaw) * slopes[:, 0] + np.sin(yaw) * slopes[:, 1])[:, None]
    excess = cone_excess(forces[planned], recording.info.planner_friction, slopes[planned][:, None])
    in_contact = (forces[planned] != 0.0).any(axis=2)
    return np.where(in_contact, excess, -np.inf).max(axis=1) if planned.any() else np.empty(0)


def peak_force(recording: RunRecord) -> float:
    """Largest measured normal force of one foot [N]; NaN where none was measured.

    It occurs at impact and lasts a few steps of the physics; its height is a property of the simulator's stiff contact,
    as the planner's impact has an impulse and no force.
    """
    normal = recording.ticks["contact_forces"][..., 2]
    known = normal[np.isfinite(normal)]
    return float(known.max()) if known.size else float("nan")


def deviation(values: Array) -> float:
    """The signed difference from the first entry that is largest in magnitude; NaN of nothing."""
    if not values.size:
        return float("nan")
    differences = values - values[0]
    return float(differences[np.argmax(np.abs(differences))])


def lateral_offset(recording: RunRecord, mask: Mask) -> Array:
    """(n,) distance to the left of the straight line along the first heading in `mask`, from the first position [m]."""
    if not mask.any():
        return np.empty(0)
    yaw = recording.rpy[mask, 2][0]
    position = recording.actual("position")[mask]
    x, y, _ = (position - position[0]).T
    return np.cos(yaw) * y - np.sin(yaw) * x


def gait_period(recording: RunRecord) -> float:
    """Duration of a gait cycle [s]: median time between scheduled landings of a foot; the gait's own in a short run."""
    modes, info = recording.ticks["mode"], recording.info
    down = np.array([info.foot_names[0] in feet for feet in info.mode_feet] + [False])[modes]
    begins = recording.ticks["time"][1:][down[1:] & ~down[:-1] & (modes[:-1] >= 0)]
    return float(np.median(np.diff(begins))) if len(begins) > 1 else recording.info.gait_period


def moving_range(values: Array, window: float, period: float) -> tuple[Array, Array]:
    """Smallest and largest of (n,) values over a centred window [s], each (n,); `period` is between values [s]."""
    size = max(1, round(window / period))
    padded = np.pad(values, (size - 1 - size // 2, size // 2), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)
    return windows.min(axis=1), windows.max(axis=1)


def moving_mean(values: Array, window: float, period: float) -> Array:
    """(n,) mean of (n,) values over a centred window [s]; NaN near both ends, where a part of the window is missing.

    A mean over less than a cycle would follow the gait instead of averaging it out. `period` is between values [s].
    """
    size = max(1, round(window / period))
    mean = np.full(len(values), np.nan)
    if len(values) >= size:
        begin = size - 1 - size // 2
        mean[begin : begin + len(values) - size + 1] = np.convolve(values, np.full(size, 1.0 / size), mode="valid")
    return mean


def held_mean(values: Array, window: float, period: float) -> Array:
    """Moving mean that is constant near both ends; the overall mean of a run shorter than the window."""
    mean = moving_mean(values, window, period)
    known = np.flatnonzero(np.isfinite(mean))
    if not known.size:
        return np.full(len(values), values.mean() if len(values) else np.nan)
    return np.concatenate(
        [np.full(known[0], mean[known[0]]), mean[known], np.full(len(mean) - 1 - known[-1], mean[known[-1]])]
    )


PHASES = 101
"""Instants of a cycle at which its mean course is known, both ends included."""


@dataclass(frozen=True)
class CycleMean:
    """Cycle mean of a quantity: (PHASES,) mean and standard deviation over the cycles."""

    mean: Array
    deviation: Array


def begins(recording: RunRecord) -> NDArray[np.int64]:
    """(n,) ticks at which a cycle begins while bounding: the scheduled landings of the first foot that lands."""
    ticks, info = recording.ticks, recording.info
    modes, bound = ticks["mode"], bounding(recording)
    for foot in info.foot_names:
        down = np.array([foot in feet for feet in info.mode_feet] + [False])[modes]
        landed = down[1:] & ~down[:-1] & (modes[:-1] >= 0) & bound[1:] & bound[:-1]
        if landed.any():
            return np.flatnonzero(landed) + 1
    return np.empty(0, dtype=np.int64)


def cycles(recording: RunRecord, mask: NDArray[np.bool_] | None = None) -> list[slice]:
    """The ticks of each whole cycle; with a mask (N,) those that lie in it with all their ticks."""
    marks = begins(recording)
    found = [slice(int(a), int(b)) for a, b in pairwise(marks)]
    period = gait_period(recording) / recording.info.control_period
    found = [one for one in found if one.stop - one.start <= 1.5 * period]
    return found if mask is None else [one for one in found if mask[one].all()]


def steady_cycles(recording: RunRecord) -> NDArray[np.bool_]:
    """(N,) ticks of the whole gait cycles in steady motion; all steady ticks where no cycle is whole."""
    mask = steady(recording)
    found = np.zeros_like(mask)
    for one in cycles(recording, mask):
        found[one] = True
    return found if found.any() else mask


def phase(recording: RunRecord) -> Array:
    """(N,) share of the cycle that has passed at each tick, 0 to 1; NaN where the gait does not go on.

    Of the last cycle, which may not be whole, by the gait's period.
    """
    shares = np.full(len(recording.ticks["time"]), np.nan)
    for one in cycles(recording):
        shares[one] = np.arange(one.stop - one.start) / (one.stop - one.start)
    marks = begins(recording)
    if marks.size:
        period = max(1, round(gait_period(recording) / recording.info.control_period))
        last = slice(int(marks[-1]), min(int(marks[-1]) + period, len(shares)))
        going = bounding(recording)[last]
        shares[last] = np.where(going, np.arange(last.stop - last.start) / period, np.nan)
    return shares


def mean_course(values: Array, ticks: list[slice]) -> CycleMean | None:
    """The mean course of (N,) values over cycles; None without a cycle in which all of them are known."""
    share = np.linspace(0.0, 1.0, PHASES)
    known = [one for one in ticks if one.stop < len(values) and np.isfinite(values[one.start : one.stop + 1]).all()]
    if not known:
        return None
    courses = np.array(
        [
            np.interp(share, np.linspace(0.0, 1.0, one.stop - one.start + 1), values[one.start : one.stop + 1])
            for one in known
        ]
    )
    return CycleMean(courses.mean(axis=0), courses.std(axis=0))
