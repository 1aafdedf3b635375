"""Outward sweeps over a mechanism: where its bodies are, how they move and how they accelerate.

What a body does at one instant is an affine field: a point at r from the body's origin has

    velocity      u(r) = v_O + omega x r              (also the paper's w_i, with multipliers in place of rates)
    acceleration  u(r) = a_O + T r                    T = [alpha]x + [omega]x [omega]x

Accelerations are classical (of the material point), not spatial; so the linear velocity, on which dynamics cannot
depend, never appears in them. In the expression frame f of body i, with axis z_i, absolute coordinate phi_i, parent p:

    omega_i = omega_f + z_i phidot_i                  alpha_i = alpha_f + z_i phiddot_i + omega_f x z_i phidot_i

while a prismatic joint at distance d_i adds z_i d_i' to the velocity and z_i d_i'' + 2 omega_p x z_i d_i' to the
acceleration of the origin. Points are given by their constant coordinates in the body; the field's values along the
body's axes are computed once and shared by its children, its mass and its contact points.
"""

from typing import Protocol

import casadi as cs
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.dynamics.mechanism import Foot, Link, Mechanism
from contact_ddp_ros.dynamics.spatial import angular_acceleration_tensor, cross, rotation_about, symbolic, zeros

Array = NDArray[np.float64]

_WORLD_AXES = np.eye(3)


class Geometry:
    """Orientations of all bodies as functions of the absolute coordinates.

    Attributes:
        mechanism: the mechanism.
        q: (n,) absolute coordinates.
        postures: (3, 3) orientation of each body in its expression frame; columns are the body's axes.
    """

    def __init__(self, mechanism: Mechanism, q: cs.SX) -> None:
        """Build the expressions for (n,) absolute coordinates q."""
        self.mechanism = mechanism
        self.q = q
        self.postures: list[cs.SX] = []
        for link in mechanism.links:
            posture = symbolic(link.posture)
            if link.angle >= 0:
                posture = cs.mtimes(rotation_about(link.turning, q[link.angle]), posture)
            self.postures.append(posture)

    def parent_axes(self, link: Link) -> cs.SX:
        """(3, 3) axes of the link's parent in the parent's expression frame."""
        return symbolic(_WORLD_AXES) if link.parent < 0 else self.postures[link.parent]

    def offset(self, body: int) -> cs.SX:
        """(3,) origin of a body from its parent's, in the parent's expression frame [m]."""
        link = self.mechanism.links[body]
        offset = cs.mtimes(self.parent_axes(link), symbolic(link.offset))
        if link.prismatic:
            offset = offset + cs.mtimes(self.parent_axes(link), symbolic(link.axis)) * self.q[body]
        return offset

    def enters_frame(self, link: Link) -> bool:
        """True if the link's expression frame differs from its parent's; then it is the parent's axes."""
        return link.parent >= 0 and self.mechanism.links[link.parent].frame != link.frame

    def into(self, link: Link, vector: cs.SX) -> cs.SX:
        """A vector of the parent's expression frame in the link's own."""
        return cs.mtimes(self.postures[link.parent].T, vector) if self.enters_frame(link) else vector

    def out_of(self, link: Link, vector: cs.SX) -> cs.SX:
        """A vector of the link's expression frame in the parent's."""
        return cs.mtimes(self.postures[link.parent], vector) if self.enters_frame(link) else vector

    def from_world(self, body: int, vector: cs.SX) -> cs.SX:
        """A vector in world axes in the expression frame of the body."""
        base = self.mechanism.frames[self.mechanism.links[body].frame]
        if base < 0:
            return vector
        return cs.mtimes(self.postures[base].T, self.from_world(base, vector))

    def into_world(self, body: int, vector: cs.SX) -> cs.SX:
        """A vector in the expression frame of the body in world axes."""
        base = self.mechanism.frames[self.mechanism.links[body].frame]
        if base < 0:
            return vector
        return self.into_world(base, cs.mtimes(self.postures[base], vector))

    def position(self, foot: Foot) -> cs.SX:
        """(3,) centre of a contact point in the world [m]."""
        body, vector = foot.body, cs.mtimes(self.postures[foot.body], symbolic(foot.position))
        while body >= 0:
            link = self.mechanism.links[body]
            vector, body = self.offset(body) + self.out_of(link, vector), link.parent
        return vector


class Field(Protocol):
    """Velocities or accelerations of all bodies."""

    geometry: Geometry
    angular: list[cs.SX]
    origin: list[cs.SX]

    def apply(self, body: int, vector: cs.SX) -> cs.SX:
        """Linear part of the field: what an offset, in the expression frame, adds to the value at the origin."""


class _Columns:
    """Values of a field's linear part along the body's axes, each computed where first needed."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self.known: dict[tuple[int, int], cs.SX] = {}

    def along(self, body: int, axis: int) -> cs.SX:
        """(3,) of one axis of a body."""
        key = body, axis
        if key not in self.known:
            self.known[key] = self.field.apply(body, self.field.geometry.postures[body][:, axis])
        return self.known[key]

    def combine(self, body: int, coordinates: Array) -> cs.SX:
        """(3,) of a constant vector in the body."""
        value = zeros(3)
        for axis in np.flatnonzero(coordinates):
            value = value + float(coordinates[axis]) * self.along(body, int(axis))
        return value


class Velocities:
    """Velocities of all bodies for absolute rates, or the paper's w_i (line 4) for multipliers.

    Attributes:
        angular: (3,) omega per body [rad/s].
        origin: (3,) velocity of its origin [m/s].
        frame: (3,) omega of its expression frame [rad/s].
    """

    def __init__(self, geometry: Geometry, rates: cs.SX) -> None:
        """Sweep outwards with (n,) rates."""
        self.geometry = geometry
        self.angular: list[cs.SX] = []
        self.origin: list[cs.SX] = []
        self.frame: list[cs.SX] = []
        self.columns = _Columns(self)
        for i, link in enumerate(geometry.mechanism.links):
            turning, moving, base = zeros(3), zeros(3), zeros(3)
            if link.parent >= 0:
                turning = geometry.into(link, self.angular[link.parent])
                moving = self.at(link.parent, link.offset)
                base = turning if geometry.enters_frame(link) else self.frame[link.parent]
            if link.prismatic:
                slide = cs.mtimes(geometry.parent_axes(link), symbolic(link.axis))
                moving = moving + slide * rates[i]
                if link.parent >= 0:
                    moving = moving + geometry.q[i] * self.columns.combine(link.parent, link.axis)
            else:
                turning = base + symbolic(link.axis) * rates[i]
            self.angular.append(turning)
            self.origin.append(geometry.into(link, moving))
            self.frame.append(base)

    def apply(self, body: int, vector: cs.SX) -> cs.SX:
        """Omega x r."""
        return cross(self.angular[body], vector)

    def at(self, body: int, point: Array) -> cs.SX:
        """(3,) velocity of a point at constant coordinates in the body, in its expression frame [m/s]."""
        return self.origin[body] + self.columns.combine(body, point)


class Accelerations:
    """Accelerations of all bodies, less gravity.

    Attributes:
        angular: (3,) alpha per body [rad/s^2].
        origin: (3,) classical acceleration of its origin minus that of free fall [m/s^2].
        tensor: (3, 3) T per body [1/s^2].
    """

    def __init__(self, velocities: Velocities, rates: cs.SX, second: cs.SX) -> None:
        """Sweep outwards with (n,) rates, those of the velocities, and their derivatives."""
        geometry = self.geometry = velocities.geometry
        self.angular: list[cs.SX] = []
        self.origin: list[cs.SX] = []
        self.tensor: list[cs.SX] = []
        self.columns = _Columns(self)
        frame: list[cs.SX] = []
        for i, link in enumerate(geometry.mechanism.links):
            turning, base, moving = zeros(3), zeros(3), symbolic(-geometry.mechanism.gravity)
            if link.parent >= 0:
                turning = geometry.into(link, self.angular[link.parent])
                moving = self.at(link.parent, link.offset)
                base = turning if geometry.enters_frame(link) else frame[link.parent]
            if link.prismatic:
                slide = cs.mtimes(geometry.parent_axes(link), symbolic(link.axis))
                moving = moving + slide * second[i]
                if link.parent >= 0:
                    moving = moving + geometry.q[i] * self.columns.combine(link.parent, link.axis)
                    moving = moving + 2.0 * cross(velocities.angular[link.parent], slide * rates[i])
            else:
                axis = symbolic(link.axis)
                turning = base + axis * second[i] + cross(velocities.frame[i], axis * rates[i])
            self.angular.append(turning)
            self.origin.append(geometry.into(link, moving))
            self.tensor.append(angular_acceleration_tensor(velocities.angular[i], turning))
            frame.append(base)

    def apply(self, body: int, vector: cs.SX) -> cs.SX:
        """T r."""
        return cs.mtimes(self.tensor[body], vector)

    def at(self, body: int, point: Array) -> cs.SX:
        """(3,) acceleration, less gravity, of a point at constant coordinates in the body [m/s^2]."""
        return self.origin[body] + self.columns.combine(body, point)
