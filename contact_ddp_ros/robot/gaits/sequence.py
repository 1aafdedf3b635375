"""Gaits one after the other on one grid of steps: each begins, with its first mode, where a cycle of another ends.

    | bound | bound | pronk | pronk | ...
    0               first step of the second section

Steps count from the epoch. Before the first section its gait is taken to have gone on for ever, as is the last one
after its beginning.

How far each foot is in its stance or swing, at any time of a sequence of gaits.

Within a gait that follows from the foot's phases. Where one gait gives way to another, a stance or a swing lasts from
the last event of the one to the first of the other, so a foot in the air comes down when the new gait wants it to.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.gaits.schedule import Mode, ModeSchedule

Steps = NDArray[np.int64]


@dataclass(frozen=True)
class Section:
    """Section of a sequence: one gait, by its index, from `first_step` on until the next section begins."""

    gait: int
    first_step: int = 0


@dataclass(frozen=True)
class GaitSequence:
    """Sections in order of time, of gaits that are known.

    Attributes:
        gaits: name and schedule of one cycle of each; a gait keeps its place, and so its modes their indices.
        step: of the grid [s].
        sections: at least one.
        epoch: time of step 0 [s].
    """

    gaits: tuple[tuple[str, ModeSchedule], ...]
    step: float
    sections: tuple[Section, ...] = (Section(0),)
    epoch: float = 0.0

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Modes of all known gaits, gait by gait; where there are several, names begin with that of the gait."""
        if len(self.gaits) == 1:
            return self.gaits[0][1].modes
        modes, names = [], [name for name, _ in self.gaits]
        for k, (name, schedule) in enumerate(self.gaits):
            again = names[:k].count(name)  # a gait whose file has changed
            prefix = f"{name} {again + 1}" if again else name
            modes += [replace(mode, name=f"{prefix} {mode.name}") for mode in schedule.modes]
        return tuple(modes)

    @property
    def period(self) -> float:
        """Duration of a cycle of the first section [s]."""
        return self.schedule(0).period

    def schedule(self, section: int) -> ModeSchedule:
        """One cycle of a section."""
        return self.gaits[self.sections[section].gait][1]

    def section_at(self, step: int) -> int:
        """Index of the section that owns a step."""
        owners = [k for k, section in enumerate(self.sections) if section.first_step <= step]
        return owners[-1] if owners else 0

    def modes_of_steps(self, steps: Steps, step: float) -> NDArray[np.int64]:
        """Index of the mode of each step.

        Raises:
            ParameterError: a mode does not last a whole number of steps of `step` [s].
        """
        firsts = np.cumsum([0, *(len(schedule.modes) for _, schedule in self.gaits)])
        modes = np.empty(len(steps), dtype=np.int64)
        for k, section in enumerate(self.sections):
            owned = steps >= section.first_step if k else np.ones(len(steps), dtype=bool)
            local = self.schedule(k).modes_of_steps(steps[owned] - section.first_step, step)
            modes[owned] = firsts[section.gait] + local
        return modes

    def knowing(self, name: str, schedule: ModeSchedule) -> "GaitSequence":
        """Copy that knows one more gait, which may be followed later; itself where that is known."""
        return self if (name, schedule) in self.gaits else replace(self, gaits=(*self.gaits, (name, schedule)))

    def only(self, gait: int) -> "GaitSequence":
        """Copy with a single gait, by its index, from step 0 on."""
        return replace(self, sections=(Section(gait),))

    def then(self, gait: int, earliest: int) -> "GaitSequence":
        """Copy that goes on with another gait, by its index, from the first end of a cycle at `earliest` or later."""
        last = self.sections[-1]
        cycle = round(self.schedule(-1).period / self.step)
        cycles = max(-(-(earliest - last.first_step) // cycle), 1)
        return replace(self, sections=(*self.sections, Section(gait, last.first_step + cycles * cycle)))

    def since(self, step: int) -> "GaitSequence":
        """Copy without sections that ended before a step."""
        return replace(self, sections=self.sections[self.section_at(step) :])


Array = NDArray[np.float64]

_TOLERANCE = 1e-9
"""An instant this close before an event counts as the event [s]."""


@dataclass(frozen=True)
class FootPhases:
    """One foot at N times, (N,) each, or several, (n, N).

    Attributes:
        swinging: whether it is in the air.
        progress: through the swing or the stance, 0 to 1.
        before, after: how long the stances before and after a swing last; of a stance, both are its own duration [s].
    """

    swinging: NDArray[np.bool_]
    progress: Array
    before: Array
    after: Array

    def of(self, foot: int) -> "FootPhases":
        """One of several."""
        return FootPhases(self.swinging[foot], self.progress[foot], self.before[foot], self.after[foot])


@dataclass(frozen=True)
class _Interval:
    """A stance or swing near the end of a section, in times from the epoch [s]; durations as in FootPhases."""

    begin: float
    end: float
    swinging: bool
    before: float
    after: float


class FootTiming:
    """Stances and swings of some feet, each of which stands once in a cycle of every gait."""

    def __init__(self, sequence: GaitSequence, feet: Sequence[str]) -> None:
        """Raises ParameterError where a foot is on the ground never, or more than once in a cycle."""
        schedules = [sequence.schedule(k) for k in range(len(sequence.sections))]
        self._begins = sequence.step * np.array([section.first_step for section in sequence.sections])
        self._periods = np.array([schedule.period for schedule in schedules])
        self._stances = np.array([[schedule.stance(foot) for schedule in schedules] for foot in feet])
        self._changes = [_near_changes(sequence, foot) for foot in feet]

    def sections(self, times: Array) -> NDArray[np.int64]:
        """(N,) index of the section at times from the epoch [s]."""
        if len(self._begins) == 1:
            return np.zeros(len(times), dtype=np.int64)
        return np.maximum(np.searchsorted(self._begins, times + _TOLERANCE, side="right") - 1, 0)

    def phases(self, times: Array, foot: int, sections: NDArray[np.int64] | None = None) -> FootPhases:
        """Phases of a foot at times from the epoch [s]; gaits by `sections`, by default those owning the times.

        A time just beyond its section's end, as differences need it, goes on in that section's gait.
        """
        sections = self.sections(times) if sections is None else sections
        return self._phases(times, sections, slice(foot, foot + 1)).of(0)

    def all_phases(self, times: Array, sections: NDArray[np.int64] | None = None) -> FootPhases:
        """Phases of all feet, in arrays (n_f, N)."""
        sections = self.sections(times) if sections is None else sections
        return self._phases(times, sections, slice(None))

    def _phases(self, times: Array, sections: NDArray[np.int64], feet: slice) -> FootPhases:
        """Phases of some feet, (n, N)."""
        start, stance = self._stances[feet, sections].transpose(2, 0, 1)
        period = self._periods[sections]
        elapsed = np.mod(times - self._begins[sections] - start + _TOLERANCE, period)
        swinging = elapsed >= stance
        in_air = np.where(stance < period, period - stance, math.inf)
        progress = np.where(swinging, (elapsed - stance) / in_air, elapsed / stance)
        before, after = stance.copy(), stance.copy()
        for foot, changes in enumerate(self._changes[feet]):
            for one in changes:
                within = (times + _TOLERANCE >= one.begin) & (times + _TOLERANCE < one.end)
                swinging[foot, within] = one.swinging
                progress[foot, within] = np.maximum(times[within] - one.begin, 0.0) / (one.end - one.begin)
                before[foot, within], after[foot, within] = one.before, one.after
        return FootPhases(swinging, progress, before, after)


def _near_changes(sequence: GaitSequence, foot: str) -> list[_Interval]:
    """The stances and swings of a foot within a cycle of where sections change."""
    found = []
    longest = max(round(sequence.schedule(k).period / sequence.step) for k in range(len(sequence.sections)))
    down = np.array([foot in mode.contacts for mode in sequence.modes])
    for k, section in enumerate(sequence.sections[1:], start=1):
        before, after = (round(sequence.schedule(j).period / sequence.step) for j in (k - 1, k))
        change = section.first_step
        steps = np.arange(change - 3 * longest, change + 3 * longest)  # whole stances and swings, and their neighbours
        stands = down[sequence.modes_of_steps(steps, sequence.step)]
        edges = [0, *(np.flatnonzero(np.diff(stands)) + 1), len(steps)]
        runs = list(pairwise(edges))
        lengths = [sequence.step * (end - begin) for begin, end in runs]
        for j, (begin, end) in enumerate(runs):
            if j in (0, len(runs) - 1) or steps[begin] > change + after or steps[end] < change - before:
                continue
            around = (lengths[j], lengths[j]) if stands[begin] else (lengths[j - 1], lengths[j + 1])
            times = sequence.step * steps[begin], sequence.step * steps[end]
            found.append(_Interval(*times, not stands[begin], *around))
    return found
