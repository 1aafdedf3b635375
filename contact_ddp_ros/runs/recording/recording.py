"""A finished run with the verdicts on it: its steady velocity, and whether the robot fell."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from contact_ddp_ros.runs.recording.analysis import steady_cycles
from contact_ddp_ros.runs.recording.falls import Fall, first_fall
from contact_ddp_ros.runs.recording.record import Array, RunRecord


@dataclass(frozen=True)
class Recording(RunRecord):
    """A finished run: the columns of a :class:`~contact_ddp_ros.runs.recording.record.RunRecord`, and verdicts."""

    @cached_property
    def steady_velocity(self) -> Array:
        """(3,) mean of `heading_velocity` over the whole gait cycles of steady motion [m/s].

        Steady: moving, with command and control mode unchanged for two seconds, so that neither standing nor speeding
        up counts; all of the motion in a run too short for that.
        """
        rows = self.heading_velocity[steady_cycles(self)]
        return rows.mean(axis=0) if len(rows) else np.full(3, np.nan)

    @cached_property
    def fall(self) -> Fall | None:
        """First fall of the robot: `time` [s], `reason` (its sign) and `cause` where known; None without a fall."""
        return first_fall(self)

    @property
    def fell(self) -> bool:
        """Verdict on the run: True where the robot fell, see `fall`."""
        return self.fall is not None
