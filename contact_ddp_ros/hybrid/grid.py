"""The nodes of a horizon: time steps of the modes, and a node of zero duration for every switch.

    steps of mode a          switch a → b      steps of mode b
    |----|----|----|----| --------*-------- |----|----|----| ...
    t0   t1   t2   t3    t4              t4   t5

The switch node maps the state before the switch to the state after it, both at the same time.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.errors import ParameterError
from contact_ddp_ros.hybrid.schedule import ModeSchedule

_ALIGNMENT = 1e-9
"""How far a mode's duration may be from a whole number of steps: periods are summed over a long run [s]."""


@dataclass(frozen=True)
class KnotGrid:
    """N nodes and the end of the last.

    Attributes:
        times: (N+1,) [s]. durations: (N,) of each node, 0 at a switch [s].
        modes: (N+1,) mode of each node; a switch belongs to the mode that it ends, the last entry to the mode
            that owns the end of the horizon.
        switches: (N,) whether a node is a switch.
        start_step: index of the first step, counted from the schedule's epoch.
    """

    times: NDArray[np.float64]
    durations: NDArray[np.float64]
    modes: NDArray[np.int64]
    switches: NDArray[np.bool_]
    start_step: int

    @property
    def n_nodes(self) -> int:
        """N."""
        return len(self.durations)


def steps_per_mode(schedule: ModeSchedule, step: float) -> tuple[int, ...]:
    """Whole number of steps in each mode.

    Raises:
        ParameterError: the step is not positive, or a mode does not last a whole number of steps.
    """
    if not 0.0 < step < math.inf:
        raise ParameterError(f"the step is {step} s; it must be positive")
    counts = []
    for mode in schedule.modes:
        count = round(mode.duration / step)
        if count < 1 or abs(count * step - mode.duration) > _ALIGNMENT:
            raise ParameterError(
                f"mode {mode.name!r} lasts {mode.duration} s, which is no whole number of steps of {step} s; "
                "choose a step that divides every mode"
            )
        counts.append(count)
    return tuple(counts)


def knot_grid(
    schedule: ModeSchedule, start_step: int, n_steps: int, step: float, *, switch_at_start: bool = False
) -> KnotGrid:
    """The grid of `n_steps` steps that begins `start_step` steps after the schedule's epoch.

    A switch at the very end is a node of the grid. One at the very start is one only with `switch_at_start`, and never
    that into the first mode at the epoch, where nothing was before.

    Raises:
        ParameterError: the horizon has no step, or as :func:`steps_per_mode`.
    """
    if n_steps < 1:
        raise ParameterError(f"the horizon has {n_steps} steps; it needs at least one")
    counts = steps_per_mode(schedule, step)
    owners = np.repeat(np.arange(len(counts)), counts)
    times, durations, modes, switches = [], [], [], []
    before = int(owners[(start_step - 1) % len(owners)])
    if switch_at_start and start_step != 0 and before != int(owners[start_step % len(owners)]):
        times.append(schedule.epoch + start_step * step)
        durations.append(0.0)
        modes.append(before)
        switches.append(True)
    for index in range(start_step, start_step + n_steps):
        mode = int(owners[index % len(owners)])
        time = schedule.epoch + index * step
        times.append(time)
        durations.append(step)
        modes.append(mode)
        switches.append(False)
        following = int(owners[(index + 1) % len(owners)])
        if following != mode:
            times.append(schedule.epoch + (index + 1) * step)
            durations.append(0.0)
            modes.append(mode)
            switches.append(True)
    end = start_step + n_steps
    times.append(schedule.epoch + end * step)
    modes.append(int(owners[end % len(owners)]))
    return KnotGrid(
        np.array(times), np.array(durations), np.array(modes, dtype=np.int64), np.array(switches), start_step
    )
