"""Kinematics of spherical feet that roll on the ground without slipping.

A sphere of radius r touches the ground r below its centre. The material point there has

    v_c = v_centre + omega x (-r z)        and the constraint acceleration is        a_c = a_centre + alpha x (-r z),

the time derivative of v_c, since -r z is constant in the world. The force acts at that point. With r = 0 the foot is a
point fixed to its body.
"""

import casadi as cs

from contact_ddp_ros.dynamics.mechanism import Foot
from contact_ddp_ros.dynamics.motion import Accelerations, Geometry, Twists
from contact_ddp_ros.dynamics.spatial import cross, symbolic

Axes = tuple[int, ...]
"""World axes along which contacts act; the last one is the ground's normal."""

_UP = [0.0, 0.0, 1.0]


def position(geometry: Geometry, foot: Foot, axes: Axes) -> cs.SX:
    """(n_axes,) lowest point of the foot in the world [m]: its centre, lowered by its radius."""
    return pick(geometry.position(foot) - foot.radius * symbolic(_UP), axes)


def velocity(geometry: Geometry, motion: Twists, foot: Foot, axes: Axes) -> cs.SX:
    """(n_axes,) velocity J v of the contact point [m/s]; J mu where the twists come from multipliers."""
    body = foot.body
    centre = motion.linear[body] + cross(motion.angular[body], geometry.arm(foot))
    return pick(_lowered(geometry, foot, centre, motion.angular[body]), axes)


def acceleration(geometry: Geometry, motion: Accelerations, foot: Foot, axes: Axes) -> cs.SX:
    """(n_axes,) acceleration J vdot + Jdot v of the contact point, gravity excluded [m/s^2]."""
    body = foot.body
    centre = motion.linear[body] + cs.mtimes(motion.tensor[body], geometry.arm(foot))
    felt = _lowered(geometry, foot, centre, motion.angular[body])
    return pick(felt + symbolic(geometry.mechanism.gravity), axes)


def lift(vector: cs.SX, axes: Axes) -> cs.SX:
    """(3,) world vector from its components along the axes."""
    components = [cs.SX(0), cs.SX(0), cs.SX(0)]
    for k, axis in enumerate(axes):
        components[axis] = vector[k]
    return cs.densify(cs.vertcat(*[cs.densify(c) for c in components]))


def pick(vector: cs.SX, axes: Axes) -> cs.SX:
    """Components of a (3,) world vector along the axes."""
    return cs.vertcat(*[vector[axis] for axis in axes])


def _lowered(geometry: Geometry, foot: Foot, centre: cs.SX, turning: cs.SX) -> cs.SX:
    """Motion of the lowest point in world axes from that of the centre and the angular one."""
    motion = geometry.to_world(foot.body, centre)
    if foot.radius == 0.0:
        return motion
    return motion + cross(geometry.to_world(foot.body, turning), symbolic([0.0, 0.0, -foot.radius]))
