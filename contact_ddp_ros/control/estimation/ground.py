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

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.robot.ground import FootHeights, Ground
from contact_ddp_ros.robot.rotation import COMPILED, FLAGS, READ, READ_2D, WRITTEN, symmetric_inverse

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
        settings = config.force_threshold, config.force_spread, config.schedule_odds
        _weigh(time, normal_forces, scheduled, settings, self.contact, self.since, self.odds)


@njit(nb.void(nb.float64, READ, FLAGS, nb.types.UniTuple(nb.float64, 3), FLAGS, WRITTEN, WRITTEN), **COMPILED)
def _weigh(time, normal_forces, scheduled, settings, contact, since, odds):  # type: ignore[no-untyped-def]
    """Contact, its beginning or end [s] and its odds of each foot, updated in place."""
    threshold, spread, prior = settings
    for foot in range(len(contact)):
        odds[foot] = (normal_forces[foot] - threshold) / spread + (prior if scheduled[foot] else -prior)
        bears = odds[foot] > (-_HYSTERESIS if contact[foot] else _HYSTERESIS)
        if bears != contact[foot]:
            contact[foot], since[foot] = bears, time


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
        self._places = np.full((self._n_feet, 3), np.nan)
        self._strides = np.zeros((self._n_feet, 2))
        self._down = np.zeros(self._n_feet, dtype=bool)

    def update(self, points: Array, contact: NDArray[np.bool_]) -> None:
        """Take in lowest points of the feet (n_feet, 3) in `odom` [m], and which of them are felt on the ground."""
        _land(points, contact, self._places, self._strides, self._down)

    def heights(self, ground: Ground, footholds: Array, config: EstimationConfig) -> FootHeights:
        """Above a plane, with footholds (N, 3) in `odom` [m]."""
        residuals = footholds[:, 2] - _below(ground, footholds)
        standing, landing = np.zeros(self._n_feet), np.zeros(self._n_feet)
        for foot, place in enumerate(self._places):
            if np.isnan(place[0]):
                continue
            standing[foot] = place[2] - ground.height_at(float(place[0]), float(place[1]))
            away = footholds[:, :2] - (place[:2] + self._strides[foot])
            weights = np.exp(-0.5 * (away**2).sum(axis=1) / config.foothold_reach**2)
            landing[foot] = weights @ residuals / (_PLANE_WEIGHT + weights.sum())
        return FootHeights(tuple(standing.tolist()), tuple(landing.tolist()))


@njit(nb.void(READ_2D, FLAGS, nb.float64[:, ::1], nb.float64[:, ::1], FLAGS), **COMPILED)
def _land(points, contact, places, strides, down):  # type: ignore[no-untyped-def]
    """Last footholds (n, 3), their distances from those before (n, 2), and the feet that stand, updated in place."""
    for foot in range(len(contact)):
        if contact[foot]:
            if not down[foot] and not np.isnan(places[foot, 0]):
                strides[foot] = points[foot, :2] - places[foot, :2]
            places[foot] = points[foot]
        down[foot] = contact[foot]


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
        self._left = np.zeros((0, 3))
        self._standing, self._samples = np.zeros((self._n_feet, 3)), np.zeros(self._n_feet)
        self._plane = np.full(3, np.nan)
        """Height at the robot and slopes, as they are told."""
        self.roughness = 0.0
        """Deviation of the footholds from the plane [m]."""
        self.ground: Ground | None = None
        """The plane, with a friction of which nothing is known; None before three feet have stood."""
        self._at = np.zeros(2)
        self._time = -math.inf

    @property
    def footholds(self) -> Array:
        """(N, 3) in `odom` [m], those of standing feet last."""
        return np.concatenate([self._left, self._standing[self._samples > 0.0]])

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
        if _stand(points, contact, settled, self._standing, self._samples):
            leave = (self._samples > 0.0) & ~contact & ~settled
            self._left = np.concatenate([self._left, self._standing[leave]])[-config.footholds :]
            self._samples[leave] = 0.0
        footholds = self.footholds
        if len(footholds) < _FEWEST or (self.ground is not None and not self._samples.any()):
            return
        fitted, self.roughness = _fitted(
            footholds, position, config.foothold_range, config.foothold_error, config.slope_prior
        )
        if self.ground is not None:
            self._plane[0] += self._plane[1:] @ (position[:2] - self._at)
            follow = -math.expm1(-(time - self._time) / config.ground_time) if config.ground_time > 0.0 else 1.0
            fitted = self._plane + min(max(follow, 0.0), 1.0) * (fitted - self._plane)
        self._plane, self._at, self._time = fitted, position[:2].copy(), time
        height, slope_x, slope_y = fitted.tolist()
        height -= slope_x * float(self._at[0]) + slope_y * float(self._at[1])
        self.ground = Ground(height=height, slope_x=slope_x, slope_y=slope_y)


@njit(nb.boolean(READ_2D, FLAGS, FLAGS, nb.float64[:, ::1], WRITTEN), **COMPILED)
def _stand(points, contact, settled, standing, samples):  # type: ignore[no-untyped-def]
    """Mean places (n, 3) of the feet that stand and the samples behind them, updated in place; true if one leaves."""
    leaves = False
    for foot in range(len(contact)):
        if settled[foot]:
            samples[foot] += 1.0
            for i in range(3):
                last = standing[foot, i] if samples[foot] > 1.0 else points[foot, i]
                standing[foot, i] = last + (points[foot, i] - last) / samples[foot]
        else:
            leaves |= samples[foot] > 0.0 and not contact[foot]
    return leaves


@njit(nb.types.Tuple((WRITTEN, nb.float64))(nb.float64[:, ::1], READ, *[nb.float64] * 3), **COMPILED)
def _fitted(footholds, at, reach, error, prior):  # type: ignore[no-untyped-def]
    """(3,) height below a point and slopes of the plane through footholds (N, 3), and how far they are off it [m]."""
    n = len(footholds)
    weights, normal, right, inverse = np.empty(n), np.zeros((3, 3)), np.zeros(3), np.empty((3, 3))
    rows, total = np.ones((n, 3)), 0.0
    for k in range(n):
        rows[k, 1], rows[k, 2] = footholds[k, 0] - at[0], footholds[k, 1] - at[1]
        weights[k] = math.exp(-math.hypot(rows[k, 1], rows[k, 2]) / reach) / error**2
        total += weights[k]
        for i in range(3):
            right[i] += weights[k] * rows[k, i] * footholds[k, 2]
            for j in range(3):
                normal[i, j] += weights[k] * rows[k, i] * rows[k, j]
    normal[1, 1] += prior**-2
    normal[2, 2] += prior**-2
    symmetric_inverse(normal, inverse)
    plane = np.array([(inverse[i] * right).sum() for i in range(3)])
    steepness = math.hypot(plane[1], plane[2])
    if steepness > _STEEPEST:
        plane[1:] *= _STEEPEST / steepness
    off = np.array([abs(footholds[k, 2] - (rows[k] * plane).sum()) for k in range(n)])
    order = np.argsort(off)
    counted = 0.0
    for k in order:
        counted += weights[k]
        if counted >= 0.5 * total:
            return plane, off[k]
    return plane, off[order[-1]]
