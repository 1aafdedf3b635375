r"""Split a wanted lateral wrench over the two feet of a stance pair, within friction and without unloading a foot.

In heading axes (x forward, y left, z up, the trunk's yaw taken out), with the feet at p_L, p_R relative to the centre
of mass, the plan asks for the sum (F_x, F_z) of both feet. What is free is a lateral force F_y and how load and
longitudinal force are shared: with the load shares w_L = 1/2 + d_z / F_z, w_R = 1 - w_L,

    F_i = (w_i F_x ± d_x,  w_i F_y,  w_i F_z)            (+ left, - right)

so that F_x, F_z stay as planned and both feet use the same part of their friction cone in y. About the centre of mass,
with bars for the load-weighted means (x = sum_i w_i x_i and so on) and W = y_L - y_R,

    M_x = F_z y - F_y z          M_z = F_y x - F_x y - W d_x

Given F_y, M_x is linear in d_z and, given both, M_z is linear in d_x: three unknowns for three wants. Limits, with the
planned F_x served first:

    F_x^2 + F_y^2 <= (mu F_z)^2,      w_i F_z >= F_min,      (w_i F_x ± d_x)^2 + (w_i F_y)^2 <= (mu w_i F_z)^2

They are met in the order of what falls first: where d_z runs into the load limit, F_y gives way so that the roll
moment is still had, and yaw takes what friction is left.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LateralWrench:
    """Lateral force [N] and moments about x and z through the centre of mass [N m], in heading axes."""

    force: float
    roll_moment: float
    yaw_moment: float


@dataclass(frozen=True)
class PairForces:
    """Forces on the two feet of a pair and the wrench that they make.

    Attributes:
        left, right: (3,) in heading axes [N].
        wrench: what of the wanted wrench the limits left.
    """

    left: Array
    right: Array
    wrench: LateralWrench


def allocate(
    wanted: LateralWrench,
    left: Array,
    right: Array,
    planned: tuple[float, float],
    friction: float,
    minimum_load: float,
) -> PairForces:
    """Foot forces of a stance pair that realise `wanted` as far as the limits allow.

    Args:
        wanted: the wrench asked for.
        left, right: (3,) contact points relative to the centre of mass, heading axes [m].
        planned: (F_x, F_z), sum over both feet [N].
        friction: coefficient mu.
        minimum_load: normal force that stays on each foot [N]; where the plan has less than twice that, the planned
            forces are halved and nothing is added.
    """
    force_x, force_z = planned
    x_left, y_left, z_left = left.tolist()
    x_right, y_right, z_right = right.tolist()
    if not force_z > 2.0 * minimum_load or not y_left > y_right:
        return _pair(left, right, planned, 0.0, 0.0, 0.0)
    width, rise = y_left - y_right, z_left - z_right
    y_middle, z_middle = 0.5 * (y_left + y_right), 0.5 * (z_left + z_right)
    grip = friction * force_z

    sideways = sqrt(max(grip**2 - force_x**2, 0.0))
    force_y = _clip(wanted.force, -sideways, sideways)
    most = 0.5 * force_z - minimum_load
    lever = width - rise * force_y / force_z
    shift = (wanted.roll_moment - force_z * y_middle + force_y * z_middle) / lever if lever > 0.5 * width else 0.0
    if not abs(shift) <= most:
        shift = _clip(shift, -most, most)
        drop = z_middle + rise * shift / force_z
        if drop < 0.0:
            force_y = (force_z * y_middle + width * shift - wanted.roll_moment) / drop
            force_y = _clip(force_y, -sideways, sideways)

    share = 0.5 + shift / force_z
    rest = 1.0 - share
    x_mean = share * x_left + rest * x_right
    y_mean = share * y_left + rest * y_right
    twist = (force_y * x_mean - force_x * y_mean - wanted.yaw_moment) / width
    forward = sqrt(grip**2 - force_y**2)
    lowest = max(-share * (forward + force_x), rest * (force_x - forward))
    highest = min(share * (forward - force_x), rest * (force_x + forward))
    twist = _clip(twist, lowest, highest) if lowest < highest else 0.0
    return _pair(left, right, planned, force_y, shift, twist)


def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _pair(
    left: Array, right: Array, planned: tuple[float, float], force_y: float, shift: float, twist: float
) -> PairForces:
    """The forces of given (F_y, d_z, d_x), and their wrench."""
    force_x, force_z = planned
    share = 0.5 + (shift / force_z if force_z > 0.0 else 0.0)
    rest = 1.0 - share
    on_left = np.array([share * force_x + twist, share * force_y, share * force_z])
    on_right = np.array([rest * force_x - twist, rest * force_y, rest * force_z])
    roll = yaw = 0.0
    for point, force in ((left, on_left), (right, on_right)):
        x, y, z = point.tolist()
        f_x, f_y, f_z = force.tolist()
        roll += y * f_z - z * f_y
        yaw += x * f_y - y * f_x
    return PairForces(on_left, on_right, LateralWrench(force_y, roll, yaw))
