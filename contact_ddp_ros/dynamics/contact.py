"""Dynamics of a mechanism whose feet stay on the ground, as a linear system in accelerations and forces.

    r(q, v, nu; p) = [ ID(q, v, vdot) - J' lambda ; -(a_c + 2 alpha J v + alpha^2 phi) ] = [ S' tau ; 0 ]
                   = K(q) nu + b(q, v; p),        K = [[H, -J'], [-J, 0]],        nu = (vdot, lambda)

H includes the armature and ID the armature and the viscous damping of the joints. The model parameters
p are inputs, and nothing of them is baked in:

    p = (Baumgarte's alpha [1/s], coefficient of restitution, up (3,), payload (4,), rotor, of each foot d and m (3,))

The ground under a foot is the plane m . x = d, whose height function phi = m . x - d is in metres along the unit vector
`up`, m . up = 1: level ground at height h has d = h, m = (0, 0, 1); a plane z = h + slope . (x, y) has d = h,
m = (-slope, 1). Components along what is no axis of the contacts are left out. The payload is a point mass
[kg] and its place (3,) in the frame of the body that carries it; `rotor` is what every motor adds to the inertia about
its joint beside the armature [kg m^2].

See eqs. (1) and (2) of docs/mathematics.md.

Impact at touchdown: the velocity after it and the impulse, as a linear system of the shape of the contact dynamics.

    r(q, v, nu; p) = [ H (v+ - v) - J' Lambda ; -J (v+ + e v) ] = 0,        nu = (v+, Lambda)
                   = K(q) nu + b(q, v; p),        b = [ -H v ; -e J v ]

v is the velocity before; e the coefficient of restitution. Its scalar xi' r is mRNEAc without gravity and velocity.

See eq. (7) of docs/mathematics.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import casadi as cs
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.dynamics.mechanism import Foot, Mechanism
from contact_ddp_ros.dynamics.motion import Accelerations, Geometry, Velocities
from contact_ddp_ros.dynamics.mrneac import Axes, Stabilisation, inertial_power, mrneac, velocity_along

ALPHA, RESTITUTION, UP, PAYLOAD, ROTOR, GROUNDS = 0, 1, 2, 5, 9, 10
"""Offsets in p; grounds follow each other in the order of the mechanism's feet."""

GROUND_SIZE = 4
"""Numbers of a foot's ground: d, then m."""


def n_parameters(n_feet: int) -> int:
    """Length of p."""
    return GROUNDS + GROUND_SIZE * n_feet


def level_parameters(n_feet: int) -> NDArray[np.float64]:
    """(n_parameters,) of level ground at height zero, without stabilisation and restitution."""
    p = np.zeros(n_parameters(n_feet))
    p[UP + 2] = 1.0
    p[GROUNDS + GROUND_SIZE - 1 :: GROUND_SIZE] = 1.0
    return p


@dataclass(frozen=True)
class Symbols:
    """Arguments of the scalar s: (n,) q and v, (n + n_c,) nu and xi, p; q, v, vdot and mu absolute."""

    q: cs.SX
    v: cs.SX
    nu: cs.SX
    xi: cs.SX
    p: cs.SX

    def inputs(self) -> list[cs.SX]:
        """All of them, in the order of the fields."""
        return [self.q, self.v, self.nu, self.xi, self.p]


@dataclass(frozen=True)
class ScalarSystem:
    """A system r(q, v, nu; p), linear in nu, given by the scalar s = xi' r.

    Attributes:
        scalar: s in absolute coordinates, of its symbols.
        mass_offset: of p, (n,) added to the diagonal of the mass block of K, in joint coordinates.
        rate_offset: of p, (n,) added to the diagonal of dr/dv, in joint coordinates; b grows by that times v.
    """

    mechanism: Mechanism
    feet: tuple[Foot, ...]
    axes: Axes
    scalar: Callable[[Symbols], cs.SX]
    mass_offset: Callable[[cs.SX], cs.SX]
    rate_offset: Callable[[cs.SX], cs.SX]

    @property
    def n_c(self) -> int:
        """Number of constraint rows."""
        return len(self.feet) * len(self.axes)

    def symbols(self) -> Symbols:
        """New symbols of its arguments, for absolute or for joint coordinates."""
        n, m = self.mechanism.n, self.mechanism.n + self.n_c
        sizes = {"q": n, "v": n, "nu": m, "xi": m, "p": n_parameters(len(self.mechanism.feet))}
        return Symbols(**{name: cs.SX.sym(name, size) for name, size in sizes.items()})


def contact_system(mechanism: Mechanism, contacts: tuple[str, ...], axes: Axes) -> ScalarSystem:
    """The contact dynamics with the named points on the ground; ModelError for an unknown name."""
    feet = mechanism.select(contacts)
    n = mechanism.n
    order = [foot.name for foot in mechanism.feet]
    begins = [GROUNDS + GROUND_SIZE * order.index(name) for name in contacts]

    def scalar(x: Symbols) -> cs.SX:
        geometry = Geometry(mechanism, x.q)
        motion, multipliers = (x.v, x.nu[:n]), (x.xi[:n], x.xi[n:, :])
        grounds = tuple(x.p[begin : begin + GROUND_SIZE] for begin in begins)
        stabilisation = Stabilisation(x.p[ALPHA], x.p[UP : UP + 3], grounds)
        payload = x.p[PAYLOAD:ROTOR]
        return mrneac(geometry, feet, axes, motion, x.nu[n:, :], multipliers, stabilisation, payload)

    damping = cs.SX(mechanism.damping)
    return ScalarSystem(mechanism, feet, axes, scalar, partial(drive_inertia, mechanism), lambda _: damping)


def drive_inertia(mechanism: Mechanism, p: cs.SX) -> cs.SX:
    """(n,) inertia of the drives about their joints: the armature, and that of p."""
    return cs.SX(mechanism.armature) + p[ROTOR] * cs.SX(mechanism.motors)


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
            s -= velocity_along(directions, foot, axes, x.nu[rows])
            s -= velocity_along(parting, foot, axes, x.xi[rows])
        return s

    inertia = partial(drive_inertia, mechanism)
    return ScalarSystem(mechanism, feet, axes, scalar, inertia, lambda p: -inertia(p))
