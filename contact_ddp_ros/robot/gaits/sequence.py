"""Gaits one after the other on one grid of steps: each begins, with its first mode, where a cycle of another ends.

    | bound | bound | pronk | pronk | ...
    0               first step of the second section

Steps count from the epoch. Before the first section its gait is taken to have gone on for ever, as is the last one
after its beginning.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.gaits.schedule import Mode, ModeSchedule

Steps = NDArray[np.int64]


@dataclass(frozen=True)
class Section:
    """From `first_step` on the gait with this index, until the next section begins."""

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
        """Of all known gaits, one gait after the other; where there are several, names begin with that of the gait."""
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
        """The same, with a gait that may be followed later; itself where that is known."""
        return self if (name, schedule) in self.gaits else replace(self, gaits=(*self.gaits, (name, schedule)))

    def only(self, gait: int) -> "GaitSequence":
        """Nothing but the gait with this index, from step 0 on."""
        return replace(self, sections=(Section(gait),))

    def then(self, gait: int, earliest: int) -> "GaitSequence":
        """The same, and the gait with this index from the first end of a cycle on that is at `earliest` or later."""
        last = self.sections[-1]
        cycle = round(self.schedule(-1).period / self.step)
        cycles = max(-(-(earliest - last.first_step) // cycle), 1)
        return replace(self, sections=(*self.sections, Section(gait, last.first_step + cycles * cycle)))

    def since(self, step: int) -> "GaitSequence":
        """The same without sections that ended before a step."""
        return replace(self, sections=self.sections[self.section_at(step) :])
