"""Kinematics of spherical feet that roll on the ground without slipping.

A sphere of radius r touches the ground r below its centre. The material point there has

    v_c = v_centre + omega x (-r z)        and the constraint acceleration is        a_c = a_centre + alpha x (-r z),

the time derivative of v_c, since -r z is constant in the world. The force acts at that point. With r = 0 the foot is a
point fixed to its body. World vectors (forces, multipliers, z) are brought to the body rather than its motion to the
world: there are fewer of them.
"""

import casadi as cs

from contact_ddp_ros.dynamics.mechanism import Foot
from contact_ddp_ros.dynamics.motion import Accelerations, Geometry, Velocities
from contact_ddp_ros.dynamics.spatial import cross, symbolic, zeros

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
