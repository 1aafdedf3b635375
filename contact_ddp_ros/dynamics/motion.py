"""Outward sweeps over a mechanism: where its bodies are, how fast they move and how they accelerate.

Linear accelerations are classical (of the material point at the body's origin), not spatial; so the linear velocity, of
which dynamics cannot depend, never appears in the accelerations:

    omega_i = omega_f + z_i phidot_i              alpha_i = alpha_f + z_i phiddot_i + omega_f x z_i phidot_i
    a_i = a_p + T_p r_i                           T_p = [alpha_p]x + [omega_p]x [omega_p]x

with f the body whose axes are the expression frame, z_i the joint axis, phi the absolute coordinate, p the parent and
r_i the origin of i seen from that of p. A prismatic joint adds z_i dddot d_i + 2 omega_p x z_i ddot_i instead.
"""

from dataclasses import dataclass

import casadi as cs

from contact_ddp_ros.dynamics.mechanism import Foot, Link, Mechanism
from contact_ddp_ros.dynamics.spatial import angular_acceleration_tensor, cross, rotation_about, symbolic, zeros


class Geometry:
    """Orientations and offsets of all bodies as functions of the absolute coordinates.

    Attributes:
        mechanism: the mechanism.
        postures: (3, 3) orientation of each body in its expression frame.
        offsets: (3,) of each body's origin from its parent's, in the parent's expression frame [m].
        slides: (3,) axis of each prismatic joint in the expression frame; None for a revolute joint.
    """

    def __init__(self, mechanism: Mechanism, q: cs.SX) -> None:
        """Build the expressions for (n,) absolute coordinates q."""
        self.mechanism = mechanism
        self.postures: list[cs.SX] = []
        self.offsets: list[cs.SX] = []
        self.slides: list[cs.SX | None] = []
        turns: dict[tuple[int, bytes], cs.SX] = {}
        for i, link in enumerate(mechanism.links):
            parent = symbolic(_IDENTITY) if link.parent < 0 else self.postures[link.parent]
            offset, slide = cs.mtimes(parent, symbolic(link.offset)), None
            if link.prismatic:
                slide = cs.mtimes(parent, symbolic(link.axis))
                offset = offset + slide * q[i]
            posture = symbolic(link.posture)
            if link.angle >= 0:
                key = (link.angle, link.turning.tobytes())
                if key not in turns:
                    turns[key] = rotation_about(link.turning, q[link.angle])
                posture = cs.mtimes(turns[key], posture)
            self.postures.append(posture)
            self.offsets.append(offset)
            self.slides.append(slide)

    def enters_frame(self, link: Link) -> bool:
        """Whether the link's expression frame differs from its parent's."""
        return link.parent >= 0 and self.mechanism.links[link.parent].frame != link.frame

    def into(self, link: Link, vector: cs.SX) -> cs.SX:
        """A vector of the parent's expression frame in the link's own."""
        return cs.mtimes(self.postures[link.parent].T, vector) if self.enters_frame(link) else vector

    def out_of(self, link: Link, vector: cs.SX) -> cs.SX:
        """A vector of the link's expression frame in the parent's."""
        return cs.mtimes(self.postures[link.parent], vector) if self.enters_frame(link) else vector

    def to_world(self, body: int, vector: cs.SX) -> cs.SX:
        """A vector of the body's expression frame in world axes."""
        base = self.mechanism.frames[self.mechanism.links[body].frame]
        while base >= 0:
            vector = cs.mtimes(self.postures[base], vector)
            base = self.mechanism.frames[self.mechanism.links[base].frame]
        return vector

    def to_body_frame(self, body: int, vector: cs.SX) -> cs.SX:
        """A vector in world axes in the expression frame of the body."""
        base = self.mechanism.frames[self.mechanism.links[body].frame]
        chain = []
        while base >= 0:
            chain.append(base)
            base = self.mechanism.frames[self.mechanism.links[base].frame]
        for base in reversed(chain):
            vector = cs.mtimes(self.postures[base].T, vector)
        return vector

    def arm(self, foot: Foot) -> cs.SX:
        """Centre of a contact point seen from the origin of its body, in the body's expression frame [m]."""
        return cs.mtimes(self.postures[foot.body], symbolic(foot.position))

    def position(self, foot: Foot) -> cs.SX:
        """(3,) centre of a contact point in the world [m]."""
        vector, body = self.arm(foot), foot.body
        while body >= 0:
            link = self.mechanism.links[body]
            vector = self.offsets[body] + self.out_of(link, vector)
            body = link.parent
        return vector


_IDENTITY = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


@dataclass(frozen=True)
class Twists:
    """Angular velocity and linear velocity of the origin of each body, in its expression frame.

    Attributes:
        angular: (3,) per body [rad/s].
        linear: (3,) per body [m/s].
        frame: (3,) angular velocity of the link's expression frame, per body [rad/s].
    """

    angular: list[cs.SX]
    linear: list[cs.SX]
    frame: list[cs.SX]


@dataclass(frozen=True)
class Accelerations:
    """Acceleration of each body, in its expression frame.

    Attributes:
        angular: (3,) per body [rad/s^2].
        linear: (3,) classical acceleration of the origin less gravity, per body [m/s^2].
        tensor: (3, 3) angular acceleration tensor per body; T r accelerates the offset r [1/s^2].
    """

    angular: list[cs.SX]
    linear: list[cs.SX]
    tensor: list[cs.SX]


def twists(geometry: Geometry, rates: cs.SX) -> Twists:
    """Velocities for (n,) absolute rates, or for multipliers in their place (the paper's w_i, line 4)."""
    angular: list[cs.SX] = []
    linear: list[cs.SX] = []
    frame: list[cs.SX] = []
    for i, link in enumerate(geometry.mechanism.links):
        turning, moving, base = zeros(3), zeros(3), zeros(3)
        if link.parent >= 0:
            p = link.parent
            turning = geometry.into(link, angular[p])
            moving = geometry.into(link, linear[p] + cross(angular[p], geometry.offsets[i]))
            base = turning if geometry.enters_frame(link) else frame[p]
        slide = geometry.slides[i]
        if slide is None:
            turning = base + symbolic(link.axis) * rates[i]
        else:
            moving = moving + slide * rates[i]
        angular.append(turning)
        linear.append(moving)
        frame.append(base)
    return Twists(angular, linear, frame)


def accelerations(geometry: Geometry, velocities: Twists, rates: cs.SX, second: cs.SX) -> Accelerations:
    """Accelerations for (n,) absolute rates and their derivatives, gravity included as acceleration of the world."""
    angular: list[cs.SX] = []
    linear: list[cs.SX] = []
    tensor: list[cs.SX] = []
    frame: list[cs.SX] = []
    for i, link in enumerate(geometry.mechanism.links):
        turning, base, moving = zeros(3), zeros(3), symbolic(-geometry.mechanism.gravity)
        if link.parent >= 0:
            p = link.parent
            turning = geometry.into(link, angular[p])
            moving = linear[p] + cs.mtimes(tensor[p], geometry.offsets[i])
            base = turning if geometry.enters_frame(link) else frame[p]
        slide = geometry.slides[i]
        if slide is not None:
            moving = moving + slide * second[i]
            if link.parent >= 0:
                moving = moving + 2.0 * cross(velocities.angular[link.parent], slide * rates[i])
        else:
            axis = symbolic(link.axis)
            turning = base + axis * second[i] + cross(velocities.frame[i], axis * rates[i])
        angular.append(turning)
        linear.append(geometry.into(link, moving))
        tensor.append(angular_acceleration_tensor(velocities.angular[i], turning))
        frame.append(base)
    return Accelerations(angular, linear, tensor)
