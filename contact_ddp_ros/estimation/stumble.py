"""A foot that meets something in its swing: the ground there is higher than the feet are lifted.

A foot that is neither to stand nor felt to stand, and that a force pushes along the ground more than up or down, has
met an edge: one that lands is pushed up. Feet are lifted higher from then on, until the robot has left the place.
"""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.estimation.config import EstimationConfig

Array = NDArray[np.float64]


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
        forces: Array,
        swinging: NDArray[np.bool_],
        config: EstimationConfig,
    ) -> None:
        """Take in the trunk's position (3,), lowest points of the feet (n_feet, 3) [m] and forces on them (n_feet, 3).

        All are in `odom`; `swinging` are the feet that are in the air by schedule and by what is felt, (n_feet,) bool.
        """
        along = np.hypot(forces[:, 0], forces[:, 1])
        met = swinging & (along > config.stumble_force) & (along > np.abs(forces[:, 2]))
        self._since = np.where(met, np.minimum(self._since, time), np.inf)
        for foot in np.flatnonzero(time - self._since >= config.settle_time):
            self._place = points[foot, :2].copy()
        if self._place is not None and np.hypot(*(position[:2] - self._place)) > config.stumble_reach:
            self._place = None

    def roughness(self, config: EstimationConfig) -> float:
        """Of the ground near that place [m]; 0 elsewhere."""
        return config.stumble_roughness if self._place is not None else 0.0
