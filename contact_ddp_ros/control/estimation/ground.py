"""The ground as the feet have found it: a plane through the latest footholds.

With footholds (x_i, y_i, z_i), the robot at (x_r, y_r), weights w_i = exp(-d_i / range) by their distance d_i from the
robot, and the standard deviations e of a foothold and s of the slopes before anything is felt,

    min over z_0, g:   sum_i w_i (z_0 + g . (p_i - p_r) - z_i)^2 / e^2 + |g|^2 / s^2

A foot that stands adds to its foothold until it leaves. Everything is relative: an error of `odom`'s height is part of
every foothold and so of the plane, and the robot stands above the plane where it stands above the ground.

The ground's roughness is the median of what the footholds are off the plane by, with the weights w_i: one that was
believed by mistake, in the air, does not count.

Which feet carry load: the forces that are felt weighed against what the schedule expects.

For each foot, with normal force F (of the momentum observer) and the logarithms of odds

    L = (F - F_0) / F_s + L_s,        L_s = +schedule_odds in a planned stance, -schedule_odds in a planned swing

which is the product of a logistic likelihood of the force and a prior (Bledt et al. 2018, "Contact model fusion for
event-based locomotion in unstructured terrains"). Contact begins where L rises above +1 and ends where it falls below
-1, so that a force that trembles about one value tells one story.

The ground under single feet, above the plane through all footholds.

A foot that is felt stands where it is. Where a foot lands next, the height is told by footholds nearby: with residuals
r_i of footholds against the plane and their distances d_i from the place that is expected,

    height = sum_i w_i r_i / (w_0 + sum_i w_i),        w_i = exp(-d_i^2 / (2 reach^2))

which is the plane where nothing has stood (w_0 stands for it). The place is the last foothold, moved on by what lay
between the last two. So a hind foot knows the box that the front foot before it has found, and what is left behind is
forgotten.
"""

import math

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.robot.ground import FootHeights, Ground

Array = NDArray[np.float64]

_HYSTERESIS = 1.0


class ContactEstimate:
    """Contact of every foot, from one update to the next.

    Attributes:
        contact: (n_feet,) bool, whether the foot carries load.
        since: (n_feet,) when that began or ended [s].
        odds: (n_feet,) logarithm of the odds of contact at the last update.
    """

    def __init__(self, n_feet: int) -> None:
        """Begin with every foot in the air."""
        self.contact = np.zeros(n_feet, dtype=bool)
        self.since = np.full(n_feet, -np.inf)
        self.odds = np.full(n_feet, -np.inf)

    def update(self, time: float, normal_forces: Array, scheduled: Array, config: EstimationConfig) -> None:
        """Weigh normal forces (n_feet,) [N] against the feet that are to stand by schedule, (n_feet,) bool."""
        prior = np.where(scheduled, config.schedule_odds, -config.schedule_odds)
        self.odds = (normal_forces - config.force_threshold) / config.force_spread + prior
        contact = np.where(self.contact, self.odds > -_HYSTERESIS, self.odds > _HYSTERESIS)
        self.since = np.where(contact == self.contact, self.since, time)
        self.contact = contact


_PLANE_WEIGHT = 0.3
"""w_0"""


class FootHeightEstimate:
    """Estimate of each foot's present or last foothold, and its distance from the foothold before."""

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


_FEWEST = 3
"""Footholds without which there is no plane."""

_STEEPEST = 0.45
"""Rise over run beyond which footholds are believed no further: a robot that tumbles touches the ground anywhere."""


class GroundEstimate:
    """Footholds in the order in which they were left, and the plane through them."""

    def __init__(self, n_feet: int) -> None:
        """Begin with nothing felt."""
        self._n_feet = n_feet
        self.forget()

    def forget(self) -> None:
        """Feel anew."""
        self._left: list[Array] = []
        self._standing: list[Array | None] = [None] * self._n_feet
        self._samples = [0] * self._n_feet
        self._plane: Array | None = None
        """Height at the robot and slopes, as they are told."""
        self.roughness = 0.0
        """Deviation of the footholds from the plane [m]."""
        self._at = np.zeros(2)
        self._time = -math.inf

    @property
    def footholds(self) -> Array:
        """(N, 3) in `odom` [m], those of standing feet last."""
        found = [*self._left, *(point for point in self._standing if point is not None)]
        return np.array(found).reshape(-1, 3)

    @property
    def ground(self) -> Ground | None:
        """The plane, with a friction of which nothing is known; None before three feet have stood."""
        if self._plane is None:
            return None
        height, slope_x, slope_y = self._plane.tolist()
        height -= slope_x * float(self._at[0]) + slope_y * float(self._at[1])
        return Ground(height=height, slope_x=slope_x, slope_y=slope_y)

    def update(
        self,
        time: float,
        position: Array,
        points: Array,
        contact: NDArray[np.bool_],
        settled: NDArray[np.bool_],
        config: EstimationConfig,
    ) -> None:
        """Take in lowest points of the feet (n_feet, 3) and the trunk's position (3,), in `odom` [m].

        Of the feet in contact, (n_feet,) bool, those that are `settled` show where the ground is.
        """
        for foot, (stands, shows) in enumerate(zip(contact.tolist(), settled.tolist(), strict=True)):
            if shows:
                self._samples[foot] += 1
                last = self._standing[foot]
                share = 1.0 / self._samples[foot]
                self._standing[foot] = points[foot].copy() if last is None else last + share * (points[foot] - last)
                continue
            foothold = self._standing[foot]
            if not stands and foothold is not None:
                self._left = [*self._left, foothold][-config.footholds :]
                self._standing[foot], self._samples[foot] = None, 0
        fitted = None
        if any(self._samples) or self._plane is None:
            fitted = self._fitted(position[:2], config)
        if fitted is None:
            return
        if self._plane is not None:
            self._plane[0] += self._plane[1:] @ (position[:2] - self._at)
            follow = -math.expm1(-(time - self._time) / config.ground_time) if config.ground_time > 0.0 else 1.0
            fitted = self._plane + min(max(follow, 0.0), 1.0) * (fitted - self._plane)
        self._plane, self._at, self._time = fitted, position[:2].copy(), time

    def _fitted(self, at: Array, config: EstimationConfig) -> Array | None:
        """(3,) height below a point (2,) and slopes of the plane through the footholds."""
        footholds = self.footholds
        if len(footholds) < _FEWEST:
            return None
        away = footholds[:, :2] - at
        weights = np.exp(-np.hypot(away[:, 0], away[:, 1]) / config.foothold_range) / config.foothold_error**2
        rows = np.column_stack([np.ones(len(away)), away])
        normal = rows.T @ (weights[:, None] * rows)
        normal[1, 1] += config.slope_prior**-2
        normal[2, 2] += config.slope_prior**-2
        height, *slopes = np.linalg.solve(normal, rows.T @ (weights * footholds[:, 2])).tolist()
        steepness = math.hypot(*slopes)
        share = min(1.0, _STEEPEST / steepness) if steepness > 0.0 else 1.0
        plane = np.array([height, share * slopes[0], share * slopes[1]])
        off = np.abs(footholds[:, 2] - rows @ plane)
        order = np.argsort(off)
        counted = np.cumsum(weights[order])
        self.roughness = float(off[order[np.searchsorted(counted, 0.5 * counted[-1])]])
        return plane
