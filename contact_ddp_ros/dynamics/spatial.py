"""Small spatial algebra for symbolic rigid-body dynamics: rotations, cross products, spatial inertias.

Vectors are dense (3, 1) CasADi SX columns whose known zeros and ones are constants, so that CasADi folds them away and
a planar mechanism leaves a planar expression graph. Notation: R. Featherstone, Rigid Body Dynamics Algorithms, 2008.
"""

from dataclasses import dataclass

import casadi as cs
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_NEGLIGIBLE = 1e-15
"""A constant this close to 0, 1 or -1 is meant to be it: it comes out of rounding in products of rotations."""


def tidy(constant: ArrayLike) -> Array:
    """The constant with entries within rounding of 0, 1 and -1 replaced by these numbers."""
    tidied = np.array(constant, dtype=float)
    for exact in (0.0, 1.0, -1.0):
        tidied[np.abs(tidied - exact) < _NEGLIGIBLE] = exact
    return tidied


def symbolic(constant: ArrayLike) -> cs.SX:
    """A tidied constant vector or matrix as a dense SX."""
    return cs.densify(cs.SX(cs.DM(tidy(constant))))


def zeros(rows: int) -> cs.SX:
    """A dense column of constant zeros."""
    return symbolic(np.zeros(rows))


def skew_constant(vector: Array) -> Array:
    """(3, 3) matrix of the cross product with a constant vector."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def cross(a: cs.SX, b: cs.SX) -> cs.SX:
    """a x b."""
    return cs.cross(a, b)


def rotation_about(axis: Array, angle: cs.SX) -> cs.SX:
    """(3, 3) rotation by `angle` [rad] about a constant unit axis (Rodrigues)."""
    unit = tidy(axis)
    along = np.outer(unit, unit)
    return symbolic(along) + cs.cos(angle) * symbolic(np.eye(3) - along) + cs.sin(angle) * symbolic(skew_constant(unit))


def angular_acceleration_tensor(omega: cs.SX, alpha: cs.SX) -> cs.SX:
    """(3, 3) matrix T = [alpha]x + [omega]x [omega]x: a body-fixed offset r is accelerated by T r.

    C. A. Balafoutis, R. V. Patel, Dynamic Analysis of Robot Manipulators, 1991.
    """
    x, y, z = omega[0], omega[1], omega[2]
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz = x * y, x * z, y * z
    a, b, c = alpha[0], alpha[1], alpha[2]
    return cs.vertcat(
        cs.horzcat(-(yy + zz), xy - c, xz + b),
        cs.horzcat(xy + c, -(xx + zz), yz - a),
        cs.horzcat(xz - b, yz + a, -(xx + yy)),
    )


@dataclass(frozen=True)
class SpatialInertia:
    """Inertia of a body about the origin of its frame.

    Attributes:
        mass: m [kg].
        first_moment: (3,) m times the centre of mass [kg m].
        rotational: (3, 3) rotational inertia about the origin [kg m^2].
    """

    mass: float
    first_moment: Array
    rotational: Array

    @classmethod
    def of_body(cls, mass: float, com: Array, inertia: Array) -> "SpatialInertia":
        """Inertia from mass, centre of mass and rotational inertia about the centre of mass."""
        offset = skew_constant(com)
        return cls(mass, mass * np.asarray(com), np.asarray(inertia) - mass * offset @ offset)

    @property
    def second_moment(self) -> Array:
        """(3, 3) Sigma, the integral of r r' over the mass: tr(I)/2 - I [kg m^2]."""
        return 0.5 * np.trace(self.rotational) * np.eye(3) - self.rotational

    def __add__(self, other: "SpatialInertia") -> "SpatialInertia":
        """Inertia of two bodies in the same frame taken together."""
        return SpatialInertia(
            self.mass + other.mass, self.first_moment + other.first_moment, self.rotational + other.rotational
        )

    def __sub__(self, other: "SpatialInertia") -> "SpatialInertia":
        """Inertia of what remains of a body after the other is taken out of it."""
        return SpatialInertia(
            self.mass - other.mass, self.first_moment - other.first_moment, self.rotational - other.rotational
        )

    def tidied(self) -> "SpatialInertia":
        """Without what rounding left of zeros."""
        return SpatialInertia(float(tidy(np.array(self.mass))), tidy(self.first_moment), tidy(self.rotational))

    def in_parent(self, rotation: Array, translation: Array) -> "SpatialInertia":
        """Inertia of the body in a frame where its own frame has this orientation and origin."""
        moment = rotation @ self.first_moment
        shift, total = translation, moment + self.mass * translation
        # I_P = I_O + (2 h.t + m t.t) 1 - (h t' + t h' + m t t'), the parallel-axis theorem about a point off the CoM.
        rotational = (
            rotation @ self.rotational @ rotation.T
            + (moment @ shift + total @ shift) * np.eye(3)
            - np.outer(total, shift)
            - np.outer(shift, moment)
        )
        return SpatialInertia(self.mass, total, rotational)
