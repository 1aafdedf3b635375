"""The modified recursive Newton-Euler algorithm for contacts: a scalar in one outward pass.

    s(q, v, vdot, lambda; mu, pi) = mu'(ID(q, v, vdot) - J' lambda) - pi' a_c

Its gradient by (mu, pi) is the residual of the contact dynamics, and its second derivatives, by reverse-mode
differentiation, are the contracted second-order partials that full DDP needs, at O(n^2) and without any tensor.
Source: the mRNEAc algorithm of section 4 and appendix B of the paper on full second-order DDP for rigid-body systems
with contact constraints. With Baumgarte stabilisation a_c becomes

    a_c + 2 alpha J v + alpha^2 phi,

where phi is the height of the contact point over its ground, along `up`: level, (0, 0, 1), it is in the normal row.

The paper's w_i' F_i (line 8) is the power of a body's inertial and gravitational force on the motion of the
multipliers, the integral of w(r)'a(r) over its mass. With w = w_O + W r and a = a_O + T r (see `motion`) it is

    w_i' F_i = m w_O'a_O + h'(W'a_O + T'w_O) + tr(W Sigma T')

with mass m, first moment h and second moment Sigma = tr(I)/2 - I of the body: no rotation of inertias is needed.

See eq. (5) of docs/mathematics.md.

Kinematics of spherical feet that roll on the ground without slipping.

A sphere of radius r touches the ground r below its centre. The material point there has

    v_c = v_centre + omega x (-r z)        and the constraint acceleration is        a_c = a_centre + alpha x (-r z),

the time derivative of v_c, since -r z is constant in the world. The force acts at that point. With r = 0 the foot is a
point fixed to its body. World vectors (forces, multipliers, z) are brought to the body rather than its motion to the
world: there are fewer of them.
"""

from dataclasses import dataclass

import casadi as cs
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.dynamics.mechanism import Foot, Link
from contact_ddp_ros.dynamics.motion import Accelerations, Geometry, Velocities
from contact_ddp_ros.dynamics.spatial import cross, symbolic, tidy, zeros

Axes = tuple[int, ...]
"""World axes along which contacts act; the last one is the ground's normal."""

_UP = (0.0, 0.0, 1.0)


def position(geometry: Geometry, foot: Foot, axes: Axes) -> cs.SX:
    """(n_axes,) lowest point of the foot in the world [m]: its centre, lowered by its radius."""
    lowest = geometry.position(foot) - symbolic([foot.radius * component for component in _UP])
    return cs.vertcat(*[lowest[axis] for axis in axes])


def velocity_along(motion: Velocities, foot: Foot, axes: Axes, weights: cs.SX) -> cs.SX:
    """Weights (n_axes,) in the world times the velocity J v of the contact point; or J mu, where mu takes v's place."""
    local = motion.geometry.from_world(foot.body, in_world(axes, weights))
    along = cs.dot(local, motion.at(foot.body, foot.position))
    return along + cs.dot(motion.angular[foot.body], _leverage(motion.geometry, foot, local))


def acceleration_along(motion: Accelerations, foot: Foot, axes: Axes, weights: cs.SX) -> cs.SX:
    """Weights (n_axes,) in the world times the acceleration J vdot + Jdot v of the contact point, gravity excluded."""
    world = in_world(axes, weights)
    local = motion.geometry.from_world(foot.body, world)
    gravity = symbolic(motion.geometry.mechanism.gravity)
    along = cs.dot(local, motion.at(foot.body, foot.position)) + cs.dot(gravity, world)
    return along + cs.dot(motion.angular[foot.body], _leverage(motion.geometry, foot, local))


def _leverage(geometry: Geometry, foot: Foot, local: cs.SX) -> cs.SX:
    """(-r z) x local, the moment about the centre of a force at the lowest point, in the body's expression frame."""
    if foot.radius == 0.0:
        return zeros(3)
    down = symbolic([-foot.radius * component for component in _UP])
    return cross(geometry.from_world(foot.body, down), local)


def in_world(axes: Axes, components: cs.SX) -> cs.SX:
    """(3,) world vector from its components along the axes."""
    vector = [cs.SX(0.0)] * 3
    for k, axis in enumerate(axes):
        vector[axis] = components[k]
    return cs.densify(cs.vertcat(*vector))


Array = NDArray[np.float64]


@dataclass(frozen=True)
class Stabilisation:
    """Baumgarte stabilisation of the constraints towards the ground of each foot.

    Attributes:
        alpha: (1,) [1/s].
        up: (3,) along which heights are measured and corrected.
        grounds: (4,) of each foot in contact, d and m of its plane m . x = d.
    """

    alpha: cs.SX
    up: cs.SX
    grounds: tuple[cs.SX, ...]

    def height(self, contact: int, position: cs.SX, axes: Axes) -> cs.SX:
        """(1,) of the point (n_axes,) of a contact above its ground [m]."""
        d, m = self.grounds[contact][0], self.grounds[contact][1:]
        return sum((m[axis] * position[k] for k, axis in enumerate(axes)), -d)

    def along(self, weights: cs.SX, axes: Axes) -> cs.SX:
        """(1,) component of weights (n_axes,) along `up`."""
        return sum((self.up[axis] * weights[k] for k, axis in enumerate(axes)), cs.SX(0))


def mrneac(
    geometry: Geometry,
    feet: tuple[Foot, ...],
    axes: Axes,
    motion: tuple[cs.SX, cs.SX],
    lam: cs.SX,
    xi: tuple[cs.SX, cs.SX],
    stabilisation: Stabilisation,
    payload: cs.SX,
) -> cs.SX:
    """s for motion (v, vdot), forces lam (n_c,) and multipliers xi = (mu, pi), all but lam and pi absolute.

    `payload` (4,) is its mass [kg] and its place in the frame of the body that carries it [m].
    """
    v, a = motion
    mu, pi_ = xi
    velocities = Velocities(geometry, v)
    accelerations = Accelerations(velocities, v, a)
    directions = Velocities(geometry, mu)
    s = inertial_power(directions, accelerations, payload)
    alpha = stabilisation.alpha
    for k, foot in enumerate(feet):
        rows = slice(k * len(axes), (k + 1) * len(axes))
        height = stabilisation.height(k, position(geometry, foot, axes), axes)
        s -= velocity_along(directions, foot, axes, lam[rows])
        s -= acceleration_along(accelerations, foot, axes, pi_[rows])
        s -= 2.0 * alpha * velocity_along(velocities, foot, axes, pi_[rows])
        s -= alpha**2 * height * stabilisation.along(pi_[rows], axes)
    return s


def inertial_power(directions: Velocities, accelerations: Accelerations, payload: cs.SX) -> cs.SX:
    """mu' ID: the sum of w_i' F_i over all bodies and the payload."""
    s = payload[0] * cs.dot(*(_at_payload(field, payload) for field in (directions, accelerations)))
    for i, link in enumerate(directions.geometry.mechanism.links):
        w_o, a_o = directions.origin[i], accelerations.origin[i]
        if link.inertia.mass:
            s += link.inertia.mass * cs.dot(w_o, a_o)
        for axis in map(int, np.flatnonzero(link.inertia.first_moment)):
            w, t = directions.columns.along(i, axis), accelerations.columns.along(i, axis)
            s += float(link.inertia.first_moment[axis]) * (cs.dot(w, a_o) + cs.dot(w_o, t))
        s += _rotational_power(i, link, directions, accelerations)
    return s


def _at_payload(field: Velocities | Accelerations, payload: cs.SX) -> cs.SX:
    """(3,) of a field where the payload is."""
    carrier = field.geometry.mechanism.carrier
    return sum((payload[1 + k] * field.columns.along(carrier, k) for k in range(3)), field.origin[carrier])


def _rotational_power(i: int, link: Link, directions: Velocities, accelerations: Accelerations) -> cs.SX:
    """tr(W Sigma T') of one body."""
    s = cs.SX(0)
    if not link.inertia.rotational.any():
        return s
    omega, alpha = directions.angular[i], accelerations.angular[i]
    turning = np.flatnonzero(link.turning)
    if turning.size == 1 and _only_along(alpha, turning[0]) and _only_along(omega, turning[0]):
        axis = link.posture.T @ link.turning
        return float(axis @ link.inertia.rotational @ axis) * omega[int(turning[0])] * alpha[int(turning[0])]
    sigma = link.inertia.second_moment
    isotropic, across = _isotropic_share(link, sigma)
    if isotropic:
        # The same in every pair of axes across the turning axis: those of the expression frame do not turn.
        for row in across:
            unit = symbolic(row)
            s += isotropic * cs.dot(directions.apply(i, unit), accelerations.apply(i, unit))
        sigma = tidy(sigma - isotropic * link.posture.T @ across.T @ across @ link.posture)
    for k, m in zip(*np.nonzero(sigma), strict=True):
        s += float(sigma[k, m]) * cs.dot(directions.columns.along(i, int(k)), accelerations.columns.along(i, int(m)))
    return s


def _only_along(vector: cs.SX, axis: int) -> bool:
    """True if the other components of a (3,) vector are the constant zero: the motion is planar."""
    return all(vector[k].is_zero() for k in range(3) if k != axis)


def _isotropic_share(link: Link, sigma: Array) -> tuple[float, Array]:
    """A part of Sigma isotropic across the turning axis, chosen to empty an axis, and two unit rows across it."""
    own_axis = tidy(link.posture.T @ link.turning)
    others = np.flatnonzero(own_axis == 0.0)
    if others.size != 2:
        return 0.0, np.zeros((2, 3))
    # Empty the axis along which the body has no first moment: nothing else needs its column.
    emptied = min(others, key=lambda axis: abs(link.inertia.first_moment[axis]))
    return float(sigma[emptied, emptied]), tidy(link.posture[:, others].T)
