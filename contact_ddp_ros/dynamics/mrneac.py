"""The modified recursive Newton-Euler algorithm for contacts: a scalar in one outward pass.

    s(q, v, vdot, lambda; mu, pi) = mu'(ID(q, v, vdot) - J' lambda) - pi' a_c

Its gradient by (mu, pi) is the residual of the contact dynamics, and its second derivatives, by reverse-mode
differentiation, are the contracted second-order partials that full DDP needs, at O(n^2) and without any tensor.
Source: "Advancements in DDP for contact-constrained systems" (mRNEAc), algorithm of section 4 and appendix B, written
here with classical accelerations (see `motion`): in the paper's lines 7 and 8 the body velocity is then (omega, 0).

With Baumgarte stabilisation a_c becomes a_c + 2 alpha J v + alpha^2 phi, where phi is the height of the contact point
over the ground in the normal row and 0 in the tangential ones.
"""

from dataclasses import dataclass

import casadi as cs

from contact_ddp_ros.dynamics import contact_point
from contact_ddp_ros.dynamics.contact_point import Axes
from contact_ddp_ros.dynamics.mechanism import Foot
from contact_ddp_ros.dynamics.motion import Accelerations, Geometry, Twists, accelerations, twists
from contact_ddp_ros.dynamics.spatial import cross, symbolic


@dataclass(frozen=True)
class Stabilisation:
    """Of the constraint: (1,) height of the ground [m] and Baumgarte's alpha [1/s]."""

    ground_height: cs.SX
    alpha: cs.SX


def mrneac(
    geometry: Geometry,
    feet: tuple[Foot, ...],
    axes: Axes,
    motion: tuple[cs.SX, cs.SX],
    lam: cs.SX,
    xi: tuple[cs.SX, cs.SX],
    stabilisation: Stabilisation,
) -> cs.SX:
    """s for motion (v, vdot), forces lam (n_c,) and multipliers xi = (mu, pi), all but lam and pi absolute."""
    v, a = motion
    mu, pi_ = xi
    velocities = twists(geometry, v)
    acceleration = accelerations(geometry, velocities, v, a)
    directions = twists(geometry, mu)
    s = inertial_power(geometry, velocities, acceleration, directions)
    for k, foot in enumerate(feet):
        rows = slice(k * len(axes), (k + 1) * len(axes))
        constraint = stabilised(geometry, foot, axes, velocities, acceleration, stabilisation)
        s -= cs.dot(lam[rows], contact_point.velocity(geometry, directions, foot, axes))
        s -= cs.dot(pi_[rows], constraint)
    return s


def inertial_power(geometry: Geometry, velocities: Twists, acceleration: Accelerations, directions: Twists) -> cs.SX:
    """mu' ID: the power of every body's inertial and gravitational force on the motion that the multipliers describe."""
    s = cs.SX(0)
    for i, link in enumerate(geometry.mechanism.links):
        force, moment = body_force(geometry, i, velocities, acceleration)
        s += cs.dot(directions.angular[i], moment) + cs.dot(directions.linear[i], force)
    return s


def body_force(geometry: Geometry, i: int, velocities: Twists, acceleration: Accelerations) -> tuple[cs.SX, cs.SX]:
    """F_i = I_i (a_i - ag_i) + v_i x* I_i v_i (line 7): (3,) force and (3,) moment about the body's origin."""
    inertia, posture = geometry.mechanism.links[i].inertia, geometry.postures[i]
    first_moment = cs.mtimes(posture, symbolic(inertia.first_moment))
    rotational = cs.mtimes([posture, symbolic(inertia.rotational), posture.T])
    omega, alpha, linear = velocities.angular[i], acceleration.angular[i], acceleration.linear[i]
    force = symbolic([inertia.mass])[0] * linear + cs.mtimes(acceleration.tensor[i], first_moment)
    moment = cross(first_moment, linear) + cs.mtimes(rotational, alpha) + cross(omega, cs.mtimes(rotational, omega))
    return force, moment


def stabilised(
    geometry: Geometry,
    foot: Foot,
    axes: Axes,
    velocities: Twists,
    acceleration: Accelerations,
    stabilisation: Stabilisation,
) -> cs.SX:
    """(n_axes,) a_c + 2 alpha J v + alpha^2 phi of one foot [m/s^2]."""
    a_c = contact_point.acceleration(geometry, acceleration, foot, axes)
    v_c = contact_point.velocity(geometry, velocities, foot, axes)
    height = contact_point.position(geometry, foot, axes)[len(axes) - 1] - stabilisation.ground_height
    phi = cs.vertcat(*[cs.SX(0)] * (len(axes) - 1), height)
    return a_c + 2.0 * stabilisation.alpha * v_c + stabilisation.alpha**2 * cs.densify(phi)
