"""Impact at touchdown: the velocity after it and the impulse, as a linear system of the shape of the contact dynamics.

    r(q, v, nu; p) = [ H (v+ - v) - J' Lambda ; -J (v+ + e v) ] = 0,        nu = (v+, Lambda)
                   = K(q) nu + b(q, v; p),        b = [ -H v ; -e J v ]

v is the velocity before; e the coefficient of restitution. Its scalar xi' r is mRNEAc without gravity and velocity.

See eq. (7) of docs/mathematics.md.
"""

from dataclasses import replace
from functools import partial

import casadi as cs
import numpy as np

from contact_ddp_ros.dynamics import contact_point
from contact_ddp_ros.dynamics.contact import PAYLOAD, RESTITUTION, ROTOR, ScalarSystem, Symbols, drive_inertia
from contact_ddp_ros.dynamics.contact_point import Axes
from contact_ddp_ros.dynamics.mechanism import Mechanism
from contact_ddp_ros.dynamics.motion import Accelerations, Geometry, Velocities
from contact_ddp_ros.dynamics.mrneac import inertial_power


def impact_system(mechanism: Mechanism, contacts: tuple[str, ...], axes: Axes) -> ScalarSystem:
    """The impact after which the named points are on the ground; ModelError for an unknown name."""
    feet = mechanism.select(contacts)
    n, weightless = mechanism.n, replace(mechanism, gravity=np.zeros(3))

    def scalar(x: Symbols) -> cs.SX:
        geometry = Geometry(weightless, x.q)
        rest = cs.SX(cs.DM.zeros(n))
        jump = Accelerations(Velocities(geometry, rest), rest, x.nu[:n] - x.v)
        directions = Velocities(geometry, x.xi[:n])
        parting = Velocities(geometry, x.nu[:n] + x.p[RESTITUTION] * x.v)
        s = inertial_power(directions, jump, x.p[PAYLOAD:ROTOR])
        for k, foot in enumerate(feet):
            rows = slice(n + k * len(axes), n + (k + 1) * len(axes))
            s -= contact_point.velocity_along(directions, foot, axes, x.nu[rows])
            s -= contact_point.velocity_along(parting, foot, axes, x.xi[rows])
        return s

    inertia = partial(drive_inertia, mechanism)
    return ScalarSystem(mechanism, feet, axes, scalar, inertia, lambda p: -inertia(p))
