"""Small spatial algebra for symbolic rigid-body dynamics: rotations, cross products, spatial inertias.

Vectors are dense (3, 1) CasADi SX columns whose known zeros and ones are constants, so that CasADi folds them away and
a planar mechanism leaves a planar expression graph. Notation: R. Featherstone, Rigid Body Dynamics Algorithms, 2008.

The change of the attitude's chart as CasADi functions, with the derivatives that the sweep needs.

It is the map of :mod:`contact_ddp_ros.robot.attitude`: angles θ and rates θ' of one chart to those of the other,

    θ_b = f(θ_a; near)          θ_b' = ∂f/∂θ_a θ_a'

where f takes the angles next to given ones, so that it is smooth about them however many turns are counted. As the map
is a point transformation, rates follow from f alone; so do all derivatives, by automatic differentiation.
"""

from dataclasses import dataclass

import casadi as cs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.robot.attitude import Chart

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


LEVELS = ("change", "change_first", "change_second")


def chart_change(chart: Chart) -> dict[str, cs.Function]:
    """Functions of the change into a chart from the other one, by the names of LEVELS.

    | name | arguments, (3,) each but w | results |
    |---|---|---|
    | change | θ, θ', near | θ_b (3,), θ_b' (3,) |
    | change_first | θ, θ' | J (3, 3), derivative of J θ' by θ (3, 3) |
    | change_second | θ, θ', w (6,) | (6, 6) Hessian of w'(θ_b, θ_b') by (θ, θ') |
    """
    theta, rates, near = (cs.SX.sym(name, 3) for name in ("theta", "rates", "near"))
    angles, slope = _angles(chart, theta)
    after = cs.mtimes(slope, rates)
    weights = cs.SX.sym("w", 6)
    z = cs.vertcat(theta, rates)
    # The angles themselves have a branch; their gradient, by which alone they enter the Hessian, has none.
    gradient = cs.vertcat(cs.mtimes(slope.T, weights[:3]), cs.SX(3, 1)) + cs.gradient(cs.dot(weights[3:], after), z)
    inputs = {"change": [theta, rates, near], "change_first": [theta, rates], "change_second": [theta, rates, weights]}
    outputs = {
        "change": [_next_to(near, angles), after],
        "change_first": [slope, cs.jacobian(after, theta)],
        "change_second": [cs.jacobian(gradient, z)],
    }
    return {
        level: cs.Function(f"{level}_{int(chart)}", inputs[level], [cs.densify(one) for one in cs.cse(outputs[level])])
        for level in LEVELS
    }


def _angles(chart: Chart, theta: cs.SX) -> tuple[cs.SX, cs.SX]:
    """Principal angles of the chart (3,) and J (3, 3), of the other chart's angles."""
    rotation = cs.SX.eye(3)
    for axis, angle in zip(chart.other.axes, cs.vertsplit(theta), strict=True):
        rotation = cs.mtimes(rotation, rotation_about(axis, angle))
    r = rotation
    if chart is Chart.YAW_PITCH_ROLL:
        pairs = ((r[1, 0], r[0, 0]), (-r[2, 0], None), (r[2, 1], r[2, 2]))
    else:
        pairs = ((-r[0, 1], r[1, 1]), (r[2, 1], None), (-r[2, 0], r[2, 2]))
    angles = cs.vertcat(*[cs.asin(y) if x is None else cs.atan2(y, x) for y, x in pairs])
    return angles, cs.jacobian(angles, theta)


def _next_to(near: cs.SX, angles: cs.SX) -> cs.SX:
    """The angles with whole turns added to the first and the last, so that they are within half a turn of `near`."""
    turns = cs.floor((near - angles) / (2.0 * np.pi) + 0.5)
    return angles + 2.0 * np.pi * cs.vertcat(turns[0], 0.0, turns[2])
