"""The ground under single feet, above the plane through all footholds.

A foot that is felt stands where it is. Where a foot lands next, the height is told by footholds nearby: with residuals
r_i of footholds against the plane and their distances d_i from the place that is expected,

    height = sum_i w_i r_i / (w_0 + sum_i w_i),        w_i = exp(-d_i^2 / (2 reach^2))

which is the plane where nothing has stood (w_0 stands for it). The place is the last foothold, moved on by what lay
between the last two. So a hind foot knows the box that the front foot before it has found, and what is left behind is
forgotten.
"""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.robot.ground import FootHeights, Ground

Array = NDArray[np.float64]

_PLANE_WEIGHT = 0.3
"""w_0"""


class FootHeightEstimate:
    """Where each foot stands or has stood last, and how far it went from the foothold before."""

    def __init__(self, n_feet: int) -> None:
        """Begin with nothing felt."""
        self._n_feet = n_feet
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._places: list[Array | None] = [None] * self._n_feet
        self._strides = np.zeros((self._n_feet, 2))
        self._down = np.zeros(self._n_feet, dtype=bool)

    def update(self, points: Array, contact: NDArray[np.bool_]) -> None:
        """Take in lowest points of the feet (n_feet, 3) in `odom` [m], and which of them are felt on the ground."""
        for foot in np.flatnonzero(contact):
            last = self._places[foot]
            if not self._down[foot] and last is not None:
                self._strides[foot] = points[foot, :2] - last[:2]
            self._places[foot] = points[foot].copy()
        self._down = contact.copy()

    def heights(self, ground: Ground, footholds: Array, config: EstimationConfig) -> FootHeights:
        """Above a plane, with footholds (N, 3) in `odom` [m]."""
        residuals = footholds[:, 2] - _below(ground, footholds)
        standing, landing = np.zeros(self._n_feet), np.zeros(self._n_feet)
        for foot, place in enumerate(self._places):
            if place is None:
                continue
            standing[foot] = place[2] - ground.height_at(float(place[0]), float(place[1]))
            away = footholds[:, :2] - (place[:2] + self._strides[foot])
            weights = np.exp(-0.5 * (away**2).sum(axis=1) / config.foothold_reach**2)
            landing[foot] = weights @ residuals / (_PLANE_WEIGHT + weights.sum())
        return FootHeights(tuple(standing.tolist()), tuple(landing.tolist()))


def _below(ground: Ground, points: Array) -> Array:
    """(N,) heights of a plane below points (N, 3)."""
    return ground.height + points[:, :2] @ np.array(ground.slopes)
