"""Inertia of the drives that the description lacks, by what legs in the air resist.

In a swing the momentum observer's residual of a leg is no force on the foot but an error of the leg's model. Of drives
with an inertia I and a damping d beside those of the description it is

    r = -(I a + d w),      a = w' = k (v - w)

with the joint velocity v and its smoothed w, as the observer smooths at its rate k. I and d follow by least squares
over hips and knees, whose swings are fast. A description in URDF has no rotors, for one.

See eq. (26) of docs/mathematics.md for the residual.
"""

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.robot.legs import JOINTS_PER_LEG
from contact_ddp_ros.robot.rotation import COMPILED, READ, WRITTEN

Array = NDArray[np.float64]

_MOST = 50.0
"""Inertia that is believed, as a multiple of what counts as none."""
_CLEAR = -3.0
"""Logarithm of the odds of contact below which a foot touches nothing."""
_SURE = np.array([5e5, 5e3])
"""Added to the sums of a² and w²: until these are as large, I and d are drawn to zero [rad²/s⁴, rad²/s²]."""
_LONGEST_STEP = 0.02
"""After a longer pause it begins to smooth anew [s]."""
_SETTLED = 4.0
"""So many time constants of the observer after a foot has left the ground its force is gone from the residual."""


class DriveInertiaEstimate:
    """Estimate of the drives' reflected inertia of one robot, from one state to the next."""

    def __init__(self, n_feet: int) -> None:
        """Begin with nothing seen."""
        self._n_feet = n_feet
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._last = np.inf
        self._smoothed = np.zeros(self._n_feet * JOINTS_PER_LEG)
        self._squares, self._products = np.zeros((2, 2)), np.zeros(2)
        self._clear = np.zeros(self._n_feet)
        """Time for which each foot has touched nothing [s]."""

    def update(self, time: float, residual: Array, velocities: Array, odds: Array, config: EstimationConfig) -> None:
        """Take in residual and joint velocities, (n_joints,) each, and the logarithm of each foot's odds of contact."""
        step = time - self._last
        self._last = time
        rate, kept = config.observer_rate, 1.0 - step / config.drives_time
        _swing(step, rate, kept, residual, velocities, odds, self._smoothed, self._clear, self._squares, self._products)

    def inertia(self, config: EstimationConfig) -> float:
        """Inertia of each drive beside its armature, as far as it is more than `drives_least` [kg m²]."""
        found = float(np.linalg.solve(self._squares + np.diag(_SURE), self._products)[0])
        least = config.drives_least
        if found <= least:
            return 0.0
        return min(found / least - 1.0, 1.0) * min(found, _MOST * least)  # comes in without a jump


@njit(nb.void(*[nb.float64] * 3, *[READ] * 3, *[WRITTEN] * 2, nb.float64[:, ::1], WRITTEN), **COMPILED)
def _swing(step, rate, kept, residual, velocities, odds, smoothed, clear, squares, products):  # type: ignore[no-untyped-def]
    """Smoothed velocities (n_joints,), times without contact (n_feet,) and the sums, updated in place."""
    if not 0.0 < step <= _LONGEST_STEP:
        smoothed[:] = velocities
        clear[:] = 0.0
        return
    squares *= kept
    products *= kept
    for k in range(len(velocities)):
        smoothed[k] += rate * step / (1.0 + rate * step) * (velocities[k] - smoothed[k])
        foot, joint = divmod(k, JOINTS_PER_LEG)
        if joint == 0:
            clear[foot] = clear[foot] + step if odds[foot] < _CLEAR else 0.0
        elif clear[foot] > _SETTLED / rate:
            moved = rate * (velocities[k] - smoothed[k]), smoothed[k]
            for i in range(2):
                products[i] -= moved[i] * residual[k]
                for j in range(2):
                    squares[i, j] += moved[i] * moved[j]
