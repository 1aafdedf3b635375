"""A payload by its weight: the wrench on the trunk that neither the description's masses nor the feet explain.

A mass m at c in the trunk acts on it with the force F = m (g - a) and the moment c x F about its origin, a being the
acceleration there, whose mean over a time much longer than a cycle is zero:

    m = -mean(F_z) / |g|  (z of the world),      x = mean(T_y) / (m |g|),      y = -mean(T_x) / (m |g|)

of a trunk that is about level. How high it lies does not show. Wind from the side and pushes along the ground do not
count, those up and down do, until they are forgotten.

See eq. (26) of docs/mathematics.md for the wrench.
"""

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.robot.ground import NO_PAYLOAD, Payload
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import COMPILED, READ, WRITTEN
from contact_ddp_ros.robot.tree import BASE

Array = NDArray[np.float64]

_FURTHEST = 1.3
"""Ahead of the trunk's origin or beside it that a payload is believed to be, in distances of the hips from there."""
_LIGHTEST, _HEAVIEST = -0.5, 1.0
"""Bounds of a payload, as a share of the trunk's mass and one of the robot's."""
_SOONEST = 0.2
"""Before so long nothing is said of it [s]."""
_LONGEST_STEP = 0.1
"""After a longer pause the time between does not count [s]."""


class PayloadEstimate:
    """Payload estimate of one robot, from one state to the next."""

    def __init__(self, robot: Robot) -> None:
        """Begin with nothing weighed."""
        self._mass, self._gravity = robot.mass, float(np.linalg.norm(robot.tree.gravity))
        self._trunk = robot.tree.joints[BASE - 1].mass
        hips = [joint.translation[:2] for joint in robot.tree.joints if joint.parent == BASE - 1]
        self._furthest = _FURTHEST * max(float(np.linalg.norm(hip)) for hip in hips)
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._age = 0.0
        self._last = np.inf
        self._mean = np.zeros(3)
        """Force upwards [N] and moments about x and y of the trunk [N m], smoothed twice."""
        self._smoothed = np.zeros(3)

    def update(self, time: float, wrench: Array, up: Array, config: EstimationConfig) -> None:
        """Take in the wrench (6,) on the trunk in its axes at `time` [s], `up` (3,) being the world's z in them."""
        step = time - self._last
        self._last = time
        if not 0.0 < step <= _LONGEST_STEP:
            return
        self._age += step
        # A plain mean at first: what is weighed in a stand counts as soon as it is.
        share = step / min(self._age, 0.5 * config.payload_time)
        _smooth(min(share, 1.0), wrench, up, self._smoothed, self._mean)

    def payload(self, config: EstimationConfig) -> Payload:
        """Load of the trunk, as far as it is more than `payload_least`."""
        force, about_x, about_y = self._mean.tolist()
        mass = min(max(-force / self._gravity, _LIGHTEST * self._trunk), _HEAVIEST * self._mass)
        least = config.payload_least * self._mass
        if abs(mass) <= least or self._age < _SOONEST:
            return NO_PAYLOAD
        weight = mass * self._gravity
        x, y = (min(max(moment / weight, -self._furthest), self._furthest) for moment in (about_y, -about_x))
        whole = min(abs(mass) / least - 1.0, 1.0) if least > 0.0 else 1.0  # comes in without a jump
        return Payload(whole * mass, x, y)


@njit(nb.void(nb.float64, *[READ] * 2, *[WRITTEN] * 2), **COMPILED)
def _smooth(share, wrench, up, smoothed, mean):  # type: ignore[no-untyped-def]
    """Force upwards and moments about x and y (3,), smoothed once and twice, updated in place."""
    for k in range(3):
        seen = wrench[0] * up[0] + wrench[1] * up[1] + wrench[2] * up[2] if k == 0 else wrench[2 + k]
        smoothed[k] += share * (seen - smoothed[k])
        mean[k] += share * (smoothed[k] - mean[k])
