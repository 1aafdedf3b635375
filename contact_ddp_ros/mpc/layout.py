"""Layout of the flat arrays that the compiled node functions of the contact problem read and write.

The arrays of :data:`contact_ddp_ros.ocp.protocol.DATA`, for a tree of n joints with n_f feet of n_a contact axes
each (the last axis is the normal):

integers        sizes, integration scheme, kernel addresses of the user's terms (0 without any), where the places of
                the terms begin, n_e, addresses of parts of the node functions, actuated joints (n_u), then one block
                per mode: number of contacts, addresses of kernels, of its linear algebra and of the change into its
                chart of the attitude, foot index of each contact (n_f slots); then the places of the terms
node_integers   (N+1, 2): mode and kind of each node
parameters      the rigid body of the tail, then those of the packaged terms that all nodes share
node_parameters (N+1, size): duration, the dynamics' parameters p with the ground under each foot
                (:mod:`contact_ddp_ros.dynamics.contact`), whether a foot lands (n_f), where the feet of the tail are
                (n_f n_a), then the numbers of the packaged and of the user's terms of each node
multipliers     (N+1, n_e + 2 n_i): of the equalities; slack and multiplier of each inequality
penalty         (σ, δ, ε, μ) of :mod:`contact_ddp_ros.ocp.multipliers`

What belongs to the terms is laid out by :class:`contact_ddp_ros.mpc.term_sums.TermLayout`, from what each of them
declares.
"""

from typing import NamedTuple

import numba as nb
import numpy as np
from numba import types
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.dynamics import contact
from contact_ddp_ros.dynamics.contact import GROUND_SIZE as GROUND_SIZE
from contact_ddp_ros.ocp.multipliers import DELTA as DELTA
from contact_ddp_ros.ocp.multipliers import EPSILON as EPSILON
from contact_ddp_ros.ocp.multipliers import SIGMA as SIGMA

STEP, LIFT_OFF, TOUCHDOWN, TERMINAL, RIGID_BODY, CHART_CHANGE = range(6)
"""Kinds of node: a time step; a switch at which no foot lands; one with an impact; the end of the horizon; a time step
of the robot as one rigid body; a switch to other coordinates of the same attitude."""

FORWARD_EULER, SEMI_IMPLICIT_EULER, IMPLICIT_MIDPOINT = 0, 1, 2
"""Integration schemes."""

N, N_U, N_FEET, N_AXES, SCHEME, TERMS, TERMS_FIRST, TERMS_SECOND, PLACES, EQUALITIES = range(10)
BODY, BODY_FIRST, BODY_SECOND, FOOTHOLDS, INERTIA = range(10, 15)
"""Header slots of rigid-body nodes: kernel addresses, offsets of footholds (per node) and inertia (all nodes)."""

SOLVE_MIDPOINT, MIDPOINT_PARTIALS, MIDPOINT_CURVATURE = range(15, 18)
BODY_NODE_STEP, BODY_NODE_FIRST, BODY_NODE_SECOND = range(18, 21)
OWN_COST, ADD_OWN_COST, ADD_OWN_FORCE_SLOPES, ADD_OWN_CURVATURE = range(21, 25)
CURVATURE_BY_TENSOR = 25
"""Addresses of compiled parts of the node functions, 0 where there are none
(:mod:`contact_ddp_ros.mpc.optional_kernels`)."""

HEADER = 26

CONTACTS, SYSTEM, FIRST, SECOND, TENSOR, IMPACT_SYSTEM, IMPACT_FIRST, IMPACT_SECOND, IMPACT_TENSOR = range(9)
FACTORISE, SOLVE, CONTACT_PARTIALS, IMPACT_PARTIALS, CURVATURE = range(9, 14)
"""Addresses of a mode's linear algebra in C (:mod:`contact_ddp_ros.mpc.contact_geometry`), 0 where Numba does it."""

FEET, FEET_SECOND = 14, 15

CHANGE, CHANGE_FIRST, CHANGE_SECOND = 16, 17, 18
"""Addresses of the change into the mode's chart (:mod:`contact_ddp_ros.dynamics.spatial`), 0 without charts."""

MODE_HEADER = 19

ATTITUDE = 3
"""Offset of the attitude's angles in the coordinates of a floating base."""

NODE_MODE, NODE_KIND = 0, 1

DURATION, MODEL = 0, 1
"""Offsets in a node's row; MODEL is where the dynamics' parameters begin."""

N_BODY = 10
"""The rigid body of the tail: mass [kg], centre (3,) [m], inertia xx, yy, zz, xy, xz, yz about it [kg m²]."""

PAYLOAD = MODEL + contact.PAYLOAD
"""Offset of the payload in a node's row: its mass [kg], then its place (3,) in the trunk [m]."""

ROTOR = MODEL + contact.ROTOR
"""Offset in a node's row of the inertia of the drives beside the armature [kg m²]."""

GROUNDS = MODEL + contact.GROUNDS
"""Offset in a node's row of the grounds of the feet, each d, then m of its plane m . x = d."""


def model_row(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """The beginning of a node's row, with parameters p of the dynamics, for functions that read no more of it."""
    return np.concatenate([np.zeros(MODEL), p])


class Sizes(NamedTuple):
    """Joints, controls, feet and contact axes of each."""

    n: int
    n_u: int
    n_f: int
    n_a: int


class AuxOffsets(NamedTuple):
    """Offsets into a node's aux; the solution ν comes first.

    Every block has room for n_s = n + n_f n_a rows, the largest system, and n_z = 2n + n_u columns.
    """

    positions: int
    """(n_f n_a,) of the feet; ν and these are what a solution keeps"""
    factor: int
    """(n_s, n_s) factor of K"""
    derivatives: int
    """(n_s, n_z) ν_z"""
    jacobian: int
    """(n_f n_a, n) of the feet"""
    xi: int
    """(n_s,) γ, then ξ"""
    scratch: int
    middle: int
    """(2n,) the state at the middle of an implicit step"""
    shared: int
    """what a kernel `first` leaves for `second`, as many numbers as the kernels say; the last"""


_INTEGERS = (nb.int64,) * len(Sizes._fields)
_SIZES = types.NamedUniTuple(nb.int64, len(Sizes._fields), Sizes)
_AUX = types.NamedUniTuple(nb.int64, len(AuxOffsets._fields), AuxOffsets)


@njit(_SIZES(types.Array(nb.int64, 1, "C")), inline="always")
def sizes_of(integers):
    """The sizes that the header of `integers` begins with."""
    return Sizes(integers[N], integers[N_U], integers[N_FEET], integers[N_AXES])


@njit(_AUX(*_INTEGERS), inline="always")
def aux_offsets(n, n_u, n_f, n_a):
    """Offsets of the parts of a node's aux."""
    n_s = n + n_f * n_a
    n_z = 2 * n + n_u
    positions = n_s
    factor = positions + n_f * n_a
    derivatives = factor + n_s * n_s
    jacobian = derivatives + n_s * n_z
    xi = jacobian + n_f * n_a * n
    scratch = xi + n_s
    n_e = n_z + n_f * n_a
    curvature = 3 * n_z * n_z + n * n_s + n * n_z
    terms = n_f * n_a + n_e + n_e * n_e + n_e * n_z
    middle = scratch + max(curvature, terms)
    shared = middle + 2 * n
    return AuxOffsets(positions, factor, derivatives, jacobian, xi, scratch, middle, shared)


@njit(nb.int64(nb.int64), inline="always")
def lands_of(n_f):
    """Offset in a node's row of the flags of the n_f feet that land."""
    return GROUNDS + GROUND_SIZE * n_f


@njit(nb.float64(nb.int64), inline="always")
def position_share(scheme):
    """c of q⁺ = q + h v + c h² v̇."""
    if scheme == SEMI_IMPLICIT_EULER:
        return 1.0
    return 0.5 if scheme == IMPLICIT_MIDPOINT else 0.0
