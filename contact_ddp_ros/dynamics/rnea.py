"""The recursive Newton-Euler algorithm, two passes: inverse dynamics of a mechanism with forces at its feet.

    tau = ID(q, v, vdot) - J' lambda

The outward pass is that of `motion`; inward, every body hands the force and moment that it needs to its parent. In
absolute coordinates a body's moment acts on its own coordinate, and on its parent only where its expression frame is
the parent's: what a body of a run hands to the one before it is its force alone.
Source: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 5.3.
"""

import casadi as cs
import numpy as np

from contact_ddp_ros.dynamics import contact_point
from contact_ddp_ros.dynamics.contact_point import Axes
from contact_ddp_ros.dynamics.mechanism import Foot
from contact_ddp_ros.dynamics.motion import Accelerations
from contact_ddp_ros.dynamics.spatial import cross, symbolic, zeros


def rnea(accelerations: Accelerations, feet: tuple[Foot, ...], axes: Axes, lam: cs.SX) -> cs.SX:
    """(n,) generalised forces in absolute coordinates, for contact forces lam (n_c,) in the world [N]."""
    geometry = accelerations.geometry
    links = geometry.mechanism.links
    wrenches = [body_wrench(accelerations, i) for i in range(len(links))]
    for k, foot in enumerate(feet):
        force, moment = contact_point.wrench(geometry, foot, axes, lam[k * len(axes) : (k + 1) * len(axes)])
        inertial_force, inertial_moment = wrenches[foot.body]
        wrenches[foot.body] = inertial_force - force, inertial_moment - moment
    on_frame = [zeros(3) for _ in links]
    tau = [cs.SX(0) for _ in links]
    for i in reversed(range(len(links))):
        link, (force, moment) = links[i], wrenches[i]
        force = geometry.out_of(link, force)
        on_parent = zeros(3)
        if link.prismatic:
            tau[i] = cs.dot(cs.mtimes(geometry.parent_axes(link), symbolic(link.axis)), force)
            on_parent = moment
        else:
            tau[i] = cs.dot(symbolic(link.axis), moment)
            on_frame[i] = on_frame[i] + moment
        if link.parent < 0:
            continue
        if geometry.enters_frame(link):
            on_parent = on_parent + geometry.out_of(link, on_frame[i])
        else:
            on_frame[link.parent] = on_frame[link.parent] + on_frame[i]
        parent_force, parent_moment = wrenches[link.parent]
        arm = geometry.offset(i)
        wrenches[link.parent] = parent_force + force, parent_moment + on_parent + cross(arm, force)
    return cs.vertcat(*tau)


def body_wrench(accelerations: Accelerations, i: int) -> tuple[cs.SX, cs.SX]:
    """F_i = I_i (a_i - ag_i) + v_i x* I_i v_i: (3,) force and (3,) moment about the body's origin, in its frame.

    With a(r) = a_O + T r they are m a_O + T h, and h x a_O plus twice the axial vector of T Sigma (see `mrneac`).
    """
    geometry = accelerations.geometry
    inertia, posture = geometry.mechanism.links[i].inertia, geometry.postures[i]
    columns, sigma = accelerations.columns, inertia.second_moment
    first_moment = cs.mtimes(posture, symbolic(inertia.first_moment))
    force = inertia.mass * accelerations.origin[i] if inertia.mass else zeros(3)
    force = force + columns.combine(i, inertia.first_moment)
    moment = cross(first_moment, accelerations.origin[i])
    for k in map(int, np.flatnonzero(sigma.any(axis=1))):
        moment = moment + cross(posture[:, k], columns.combine(i, sigma[k]))
    return force, moment
