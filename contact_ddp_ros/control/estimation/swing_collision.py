"""A foot that meets something in its swing: the ground there is higher than the feet are lifted.

A foot that is neither to stand nor felt to stand, and that a force pushes along the ground more than up or down, has
met an edge: one that lands is pushed up. What stops a foot takes all that the torques push it with, where weak or late
torques only take a share; and a leg that is stopped by its knee, low above the ground, would only fold further.
Feet are lifted higher from then on, until the robot has left the place.
"""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.estimation.config import EstimationConfig

Array = NDArray[np.float64]

_LASTS = 0.009
"""How long a foot must have been stopped [s]."""
_ABOVE = 0.03
"""How far a knee is above its foot at least: below, it may be the knee that has met the ground [m]."""
_TAKEN = 0.8
"""Share of the torques' push along the ground that a foot which has been stopped loses at least."""


class Stumble:
    """The last place where a foot has met something."""

    def __init__(self, n_feet: int) -> None:
        """Begin without one."""
        self._n_feet = n_feet
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._since = np.full(self._n_feet, np.inf)
        """When the force on each foot that swings began [s]."""
        self._place: Array | None = None

    def update(
        self,
        time: float,
        position: Array,
        points: Array,
        knees: Array,
        forces: Array,
        driven: Array,
        swinging: NDArray[np.bool_],
        config: EstimationConfig,
    ) -> None:
        """Take in the trunk's position (3,) and lowest points of the feet and knees (n_feet, 3) [m] at a time [s].

        `forces` (n_feet, 3) [N] are the ground's on the feet, `driven` those with which the joint torques push them.
        All are in `odom`; `swinging` are the feet that are in the air by schedule and by what is felt, (n_feet,) bool.
        """
        along = np.hypot(forces[:, 0], forces[:, 1])
        push = driven[:, :2]
        taken = -(forces[:, :2] * push).sum(axis=1) >= _TAKEN * (push * push).sum(axis=1)
        met = (
            swinging
            & (knees[:, 2] - points[:, 2] > _ABOVE)
            & taken
            & (along > config.stumble_force)
            & (along > np.abs(forces[:, 2]))
        )
        self._since = np.where(met, np.minimum(self._since, time), np.inf)
        for foot in np.flatnonzero(time - self._since >= _LASTS):
            self._place = points[foot, :2].copy()
        if self._place is not None and np.hypot(*(position[:2] - self._place)) > config.stumble_reach:
            self._place = None

    def roughness(self, config: EstimationConfig) -> float:
        """Of the ground near that place [m]; 0 elsewhere."""
        return config.stumble_roughness if self._place is not None else 0.0
