"""Where everything lies in the flat arrays that the compiled node functions of the contact problem read and write.

The arrays of :data:`contact_ddp_ros.solver.protocol.DATA`, for a tree of n joints with n_f feet of n_a contact axes
each (the last axis is the normal):

integers        sizes, integration scheme, kernel addresses of the feet, actuated joints (n_u), then one block per mode:
                number of contacts, kernel addresses, foot index of each contact (n_f slots)
node_integers   (N+1, 2): mode and kind of each node
parameters      model parameters, friction coefficient, normalising force, actuator limits (n_u)
node_parameters (N+1, size): duration, references and weights of each node
multipliers     (N+1, n_f): of the height of each foot at touchdown
penalty         (σ, δ, ε): augmented-Lagrangian penalty, width and weight of the relaxed barriers
"""

import numba as nb
from numba import types

STEP, LIFT_OFF, TOUCHDOWN, TERMINAL = 0, 1, 2, 3
"""Kinds of node: a time step; a switch at which no foot lands; one with an impact; the end of the horizon."""

FORWARD_EULER, SEMI_IMPLICIT_EULER, IMPLICIT_MIDPOINT = 0, 1, 2
"""Integration schemes."""

N, N_U, N_FEET, N_AXES, SCHEME, FEET, FEET_SECOND = range(7)
HEADER = 7

CONTACTS, SYSTEM, FIRST, SECOND, TENSOR, IMPACT_SYSTEM, IMPACT_FIRST, IMPACT_SECOND, IMPACT_TENSOR = range(9)
MODE_HEADER = 9

NODE_MODE, NODE_KIND = 0, 1

N_MODEL_PARAMETERS = 3
FRICTION, FORCE_SCALE, LIMITS = 3, 4, 5

SIGMA, DELTA, EPSILON = 0, 1, 2

DURATION, X_REFERENCE = 0, 1

_SIZES = (nb.int64, nb.int64, nb.int64, nb.int64)


@nb.njit(types.UniTuple(nb.int64, 8)(*_SIZES), cache=True, inline="always")
def node_offsets(n, n_u, n_feet, n_axes):
    """Offsets into a row of node_parameters, and its size.

    (x weight (2n), u weight (n_u), force reference (n_f n_a), force weight (n_f n_a), height reference (n_f),
    height weight (n_f), touchdown flag (n_f), size); the duration and the state
    reference (2n) come first.
    """
    x_weight = X_REFERENCE + 2 * n
    u_weight = x_weight + 2 * n
    force_reference = u_weight + n_u
    force_weight = force_reference + n_feet * n_axes
    height_reference = force_weight + n_feet * n_axes
    height_weight = height_reference + n_feet
    lands = height_weight + n_feet
    size = lands + n_feet
    return x_weight, u_weight, force_reference, force_weight, height_reference, height_weight, lands, size


@nb.njit(types.UniTuple(nb.int64, 7)(*_SIZES), cache=True, inline="always")
def aux_offsets(n, n_u, n_feet, n_axes):
    """Offsets into a node's aux: (factor of K, derivatives of ν, foot positions, their Jacobian, ξ, scratch, size).

    The solution ν comes first, the state at the middle of an implicit step last (:func:`midpoint_offset`). Every block
    has room for n_s = n + n_f n_a rows, the largest system.
    """
    n_s = n + n_feet * n_axes
    n_z = 2 * n + n_u
    factor = n_s
    derivatives = factor + n_s * n_s
    positions = derivatives + n_s * n_z
    jacobian = positions + n_feet * n_axes
    xi = jacobian + n_feet * n_axes * n
    scratch = xi + n_s + 1
    size = scratch + 3 * n_z * n_z + n * n_s + n * n_z + 2 * n
    return factor, derivatives, positions, jacobian, xi, scratch, size


@nb.njit(nb.int64(*_SIZES), cache=True, inline="always")
def midpoint_offset(n, n_u, n_feet, n_axes):
    """Offset into a node's aux of the state (2n,) at the middle of an implicit step."""
    _, _, _, _, _, _, size = aux_offsets(n, n_u, n_feet, n_axes)
    return size - 2 * n


@nb.njit(nb.float64(nb.int64), cache=True, inline="always")
def position_share(scheme):
    """c of q⁺ = q + h v + c h² v̇."""
    if scheme == SEMI_IMPLICIT_EULER:
        return 1.0
    return 0.5 if scheme == IMPLICIT_MIDPOINT else 0.0
