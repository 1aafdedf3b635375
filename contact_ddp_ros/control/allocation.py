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

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.rotation import COMPILED, READ, READ_2D

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

    @classmethod
    def from_rows(cls, rows: Array) -> "PairForces":
        """The forces of rows (3, 3): left, right, and the wrench (force, roll moment, yaw moment)."""
        return cls(rows[0], rows[1], LateralWrench(*rows[2].tolist()))


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
    wrench = np.array([wanted.force, wanted.roll_moment, wanted.yaw_moment])
    feet = np.stack([left, right])
    return PairForces.from_rows(allocated(wrench, feet, planned[0], planned[1], friction, minimum_load))


@nb.njit("f8(f8, f8, f8)", **COMPILED)
def _clip(value, low, high):  # type: ignore[no-untyped-def]
    return min(max(value, low), high)


@nb.njit(nb.float64[:, ::1](READ_2D, *[nb.float64] * 5), **COMPILED)
def _rows(feet, force_x, force_z, force_y, shift, twist):  # type: ignore[no-untyped-def]
    """The forces of given (F_y, d_z, d_x), and their wrench."""
    share = 0.5 + (shift / force_z if force_z > 0.0 else 0.0)
    rows = np.zeros((3, 3))
    for foot in range(2):
        part, twisted = (share, twist) if foot == 0 else (1.0 - share, -twist)
        rows[foot, 0], rows[foot, 1], rows[foot, 2] = part * force_x + twisted, part * force_y, part * force_z
        rows[2, 1] += feet[foot, 1] * rows[foot, 2] - feet[foot, 2] * rows[foot, 1]
        rows[2, 2] += feet[foot, 0] * rows[foot, 1] - feet[foot, 1] * rows[foot, 0]
    rows[2, 0] = force_y
    return rows


@nb.njit(nb.float64[:, ::1](READ, READ_2D, *[nb.float64] * 4), **COMPILED)
def allocated(wanted, feet, force_x, force_z, friction, minimum_load):  # type: ignore[no-untyped-def]
    """:func:`allocate` on arrays: `wanted` (3,), `feet` (2, 3); rows (3, 3) of :meth:`PairForces.from_rows`."""
    x_left, y_left, z_left = feet[0, 0], feet[0, 1], feet[0, 2]
    x_right, y_right, z_right = feet[1, 0], feet[1, 1], feet[1, 2]
    if not force_z > 2.0 * minimum_load or not y_left > y_right:
        return _rows(feet, force_x, force_z, 0.0, 0.0, 0.0)
    width, rise = y_left - y_right, z_left - z_right
    y_middle, z_middle = 0.5 * (y_left + y_right), 0.5 * (z_left + z_right)
    grip = friction * force_z

    sideways = sqrt(max(grip**2 - force_x**2, 0.0))
    force_y = _clip(wanted[0], -sideways, sideways)
    most = 0.5 * force_z - minimum_load
    lever = width - rise * force_y / force_z
    shift = (wanted[1] - force_z * y_middle + force_y * z_middle) / lever if lever > 0.5 * width else 0.0
    if not abs(shift) <= most:
        shift = _clip(shift, -most, most)
        drop = z_middle + rise * shift / force_z
        if drop < 0.0:
            force_y = _clip((force_z * y_middle + width * shift - wanted[1]) / drop, -sideways, sideways)

    share = 0.5 + shift / force_z
    rest = 1.0 - share
    x_mean = share * x_left + rest * x_right
    y_mean = share * y_left + rest * y_right
    twist = (force_y * x_mean - force_x * y_mean - wanted[2]) / width
    forward = sqrt(max(grip**2 - force_y**2, 0.0))
    lowest = max(-share * (forward + force_x), rest * (force_x - forward))
    highest = min(share * (forward - force_x), rest * (force_x + forward))
    twist = _clip(twist, lowest, highest) if lowest < highest else 0.0
    return _rows(feet, force_x, force_z, force_y, shift, twist)
