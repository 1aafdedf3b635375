"""The cycles of the gait in a recording, and what a quantity does over one."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.runs.recording import analysis
from contact_ddp_ros.runs.recording.record import Array, RunRecord

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
    modes, bound = ticks["mode"], analysis.bounding(recording)
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
    period = analysis.gait_period(recording) / recording.info.control_period
    found = [one for one in found if one.stop - one.start <= 1.5 * period]
    return found if mask is None else [one for one in found if mask[one].all()]


def steady_cycles(recording: RunRecord) -> NDArray[np.bool_]:
    """(N,) ticks of the whole gait cycles in steady motion; all steady ticks where no cycle is whole."""
    mask = analysis.steady(recording)
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
        period = max(1, round(analysis.gait_period(recording) / recording.info.control_period))
        last = slice(int(marks[-1]), min(int(marks[-1]) + period, len(shares)))
        going = analysis.bounding(recording)[last]
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
