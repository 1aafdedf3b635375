"""Where everything lies in the flat arrays that the compiled node functions of the contact problem read and write.

The arrays of :data:`contact_ddp_ros.solver.protocol.DATA`, for a tree of n joints with n_f feet of n_a contact axes
each (the last axis is the normal):

integers        sizes, integration scheme, kernel addresses of the feet and of the user's cost terms (0 without any),
                actuated joints (n_u), then one block per mode:
                number of contacts, addresses of kernels and of its linear algebra, foot index of each contact (n_f)
node_integers   (N+1, 2): mode and kind of each node
parameters      model parameters, friction coefficient, normalising force, 1 for a friction pyramid and 0 for a cone,
                actuator limits (n_u)
node_parameters (N+1, size + numbers of the user's cost terms): duration, references and weights of each node
multipliers     (N+1, n_f + 2 n_i): of the height of each foot at touchdown; slack and multiplier of each inequality:
                torque a from below and from above, per foot the normal force and its friction (2 n_a − 2 places,
                of which a cone takes one), the user's constraints
penalty         (σ, δ, ε, μ) of :mod:`contact_ddp_ros.solver.penalties`
"""

from typing import NamedTuple

import numba as nb
from numba import types

from contact_ddp_ros.solver.penalties import DELTA as DELTA
from contact_ddp_ros.solver.penalties import EPSILON as EPSILON
from contact_ddp_ros.solver.penalties import SIGMA as SIGMA

STEP, LIFT_OFF, TOUCHDOWN, TERMINAL = 0, 1, 2, 3
"""Kinds of node: a time step; a switch at which no foot lands; one with an impact; the end of the horizon."""

FORWARD_EULER, SEMI_IMPLICIT_EULER, IMPLICIT_MIDPOINT = 0, 1, 2
"""Integration schemes."""

N, N_U, N_FEET, N_AXES, SCHEME, FEET, FEET_SECOND, TERMS, TERMS_FIRST, TERMS_SECOND = range(10)
HEADER = 10

CONTACTS, SYSTEM, FIRST, SECOND, TENSOR, IMPACT_SYSTEM, IMPACT_FIRST, IMPACT_SECOND, IMPACT_TENSOR = range(9)
FACTORISE, SOLVE, CONTACT_PARTIALS, IMPACT_PARTIALS, CURVATURE = range(9, 14)
"""Addresses of a mode's linear algebra in C (:mod:`contact_ddp_ros.mpc.contact_algebra`), 0 where Numba does it."""

MODE_HEADER = 14

NODE_MODE, NODE_KIND = 0, 1

GROUND_HEIGHT, GROUND_SLOPE = 0, 3
N_MODEL_PARAMETERS = 5
FRICTION, FORCE_SCALE, PYRAMID, LIMITS = 5, 6, 7, 8

DURATION, X_REFERENCE = 0, 1


class Sizes(NamedTuple):
    """Joints, controls, feet and contact axes of each."""

    n: int
    n_u: int
    n_f: int
    n_a: int


class NodeOffsets(NamedTuple):
    """Offsets into a row of node_parameters, and its size; the duration and the state reference (2n) come first."""

    x_weight: int
    """(2n,)"""
    u_weight: int
    """(n_u,)"""
    force_reference: int
    """(n_f n_a,)"""
    force_weight: int
    """(n_f n_a,)"""
    height_reference: int
    """(n_f,)"""
    height_weight: int
    """(n_f,)"""
    lands: int
    """(n_f,) whether a foot touches down"""
    size: int


class AuxOffsets(NamedTuple):
    """Offsets into a node's aux, and its size; the solution ν comes first.

    Every block has room for n_s = n + n_f n_a rows, the largest system, and n_z = 2n + n_u columns.
    """

    factor: int
    """(n_s, n_s) factor of K"""
    derivatives: int
    """(n_s, n_z) ν_z"""
    positions: int
    """(n_f n_a,) of the feet"""
    jacobian: int
    """(n_f n_a, n) of the feet"""
    xi: int
    """(n_s + 1,) γ, then ξ"""
    scratch: int
    middle: int
    """(2n,) the state at the middle of an implicit step"""
    size: int


_INTEGERS = (nb.int64,) * len(Sizes._fields)
_SIZES = types.NamedUniTuple(nb.int64, len(Sizes._fields), Sizes)
NODE_OFFSETS = types.NamedUniTuple(nb.int64, len(NodeOffsets._fields), NodeOffsets)
"""Type of :class:`NodeOffsets` for compiled code."""

_AUX = types.NamedUniTuple(nb.int64, len(AuxOffsets._fields), AuxOffsets)


@nb.njit(_SIZES(types.Array(nb.int64, 1, "C")), cache=True, inline="always")
def sizes_of(integers):
    """The sizes that the header of `integers` begins with."""
    return Sizes(integers[N], integers[N_U], integers[N_FEET], integers[N_AXES])


@nb.njit(NODE_OFFSETS(*_INTEGERS), cache=True, inline="always")
def node_offsets(n, n_u, n_f, n_a):
    """Where the parts of a row of node_parameters lie."""
    x_weight = X_REFERENCE + 2 * n
    u_weight = x_weight + 2 * n
    force_reference = u_weight + n_u
    force_weight = force_reference + n_f * n_a
    height_reference = force_weight + n_f * n_a
    height_weight = height_reference + n_f
    lands = height_weight + n_f
    size = lands + n_f
    return NodeOffsets(x_weight, u_weight, force_reference, force_weight, height_reference, height_weight, lands, size)


@nb.njit(nb.int64(*_INTEGERS, nb.int64), cache=True, inline="always")
def inequality_of(n, n_u, n_f, n_a, foot):
    """Index of a foot's first inequality, its normal force; those of the user's constraints follow the last foot."""
    return 2 * n_u + foot * (2 * n_a - 1)


@nb.njit(_AUX(*_INTEGERS), cache=True, inline="always")
def aux_offsets(n, n_u, n_f, n_a):
    """Where the parts of a node's aux lie."""
    n_s = n + n_f * n_a
    n_z = 2 * n + n_u
    factor = n_s
    derivatives = factor + n_s * n_s
    positions = derivatives + n_s * n_z
    jacobian = positions + n_f * n_a
    xi = jacobian + n_f * n_a * n
    scratch = xi + n_s + 1
    n_e = n_z + n_f * n_a
    curvature = 3 * n_z * n_z + n * n_s + n * n_z
    terms = n_f * n_a + n_e + n_e * n_e + n_e * n_z
    middle = scratch + max(curvature, terms)
    size = middle + 2 * n
    return AuxOffsets(factor, derivatives, positions, jacobian, xi, scratch, middle, size)


@nb.njit(nb.float64(nb.int64), cache=True, inline="always")
def position_share(scheme):
    """c of q⁺ = q + h v + c h² v̇."""
    if scheme == SEMI_IMPLICIT_EULER:
        return 1.0
    return 0.5 if scheme == IMPLICIT_MIDPOINT else 0.0
