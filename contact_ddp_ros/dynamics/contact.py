"""Dynamics of a mechanism whose feet stay on the ground, as a linear system in accelerations and forces.

    r(q, v, nu; p) = [ ID(q, v, vdot) - J' lambda ; -(a_c + 2 alpha J v + alpha^2 phi) ] = [ S' tau ; 0 ]
                   = K(q) nu + b(q, v; p),        K = [[H, -J'], [-J, 0]],        nu = (vdot, lambda)

H includes the armature and ID the armature and the viscous damping of the joints. The model parameters
p = (ground height [m], Baumgarte's alpha [1/s], coefficient of restitution, slope of the ground along x and y) are
inputs: nothing of them is baked in.

See eqs. (1) and (2) of docs/mathematics.md.
"""

from collections.abc import Callable
from dataclasses import dataclass

import casadi as cs
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.dynamics.contact_point import Axes
from contact_ddp_ros.dynamics.mechanism import Foot, Mechanism
from contact_ddp_ros.dynamics.motion import Geometry
from contact_ddp_ros.dynamics.mrneac import Stabilisation, mrneac

N_PARAMETERS = 5
"""Ground height at the origin [m], Baumgarte's alpha [1/s], coefficient of restitution, slope along x and along y."""


@dataclass(frozen=True)
class Symbols:
    """Arguments of the scalar s: (n,) q and v, (n + n_c,) nu and xi, p; q, v, vdot and mu absolute."""

    q: cs.SX
    v: cs.SX
    nu: cs.SX
    xi: cs.SX
    p: cs.SX

    @classmethod
    def fresh(cls, n: int, n_c: int) -> "Symbols":
        """New symbols for n degrees of freedom and n_c constraint rows."""
        return cls(
            cs.SX.sym("q", n),
            cs.SX.sym("v", n),
            cs.SX.sym("nu", n + n_c),
            cs.SX.sym("xi", n + n_c),
            cs.SX.sym("p", N_PARAMETERS),
        )

    def inputs(self) -> list[cs.SX]:
        """All of them, in the order of the fields."""
        return [self.q, self.v, self.nu, self.xi, self.p]


@dataclass(frozen=True)
class ScalarSystem:
    """A system r(q, v, nu; p), linear in nu, given by the scalar s = xi' r.

    Attributes:
        scalar: s in absolute coordinates, of its symbols.
        mass_offset: (n,) added to the diagonal of the mass block of K, in joint coordinates.
        rate_offset: (n,) added to the diagonal of dr/dv, in joint coordinates; b grows by that times v.
    """

    mechanism: Mechanism
    feet: tuple[Foot, ...]
    axes: Axes
    scalar: Callable[[Symbols], cs.SX]
    mass_offset: NDArray[np.float64]
    rate_offset: NDArray[np.float64]

    @property
    def n_c(self) -> int:
        """Number of constraint rows."""
        return len(self.feet) * len(self.axes)


def contact_system(mechanism: Mechanism, contacts: tuple[str, ...], axes: Axes) -> ScalarSystem:
    """The contact dynamics with the named points on the ground; ModelError for an unknown name."""
    feet = mechanism.select(contacts)
    n = mechanism.n

    def scalar(x: Symbols) -> cs.SX:
        geometry = Geometry(mechanism, x.q)
        motion, multipliers = (x.v, x.nu[:n]), (x.xi[:n], x.xi[n:, :])
        stabilisation = Stabilisation(x.p[0], x.p[3:], x.p[1])
        return mrneac(geometry, feet, axes, motion, x.nu[n:, :], multipliers, stabilisation)

    return ScalarSystem(mechanism, feet, axes, scalar, mechanism.armature, mechanism.damping)
