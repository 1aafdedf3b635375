"""Parts of the node functions that few problems have, called by their addresses: a process compiles those it uses.

Their code is in the modules that `_PARTS` names, which a planner imports by :func:`link` alone, so that Numba compiles
them no sooner. The header of a problem's `integers` holds the addresses (:mod:`contact_ddp_ros.mpc.layout`), 0 of parts
that the problem lacks, which a node function must not call.

The integers that the compiled node functions read: sizes, the model's actuated joints, addresses of its kernels.

One header, then one block per mode and the places of the terms, as :mod:`contact_ddp_ros.mpc.layout` has them.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import numba as nb
import numpy as np
from numba import types
from numpy.typing import NDArray

from contact_ddp_ros.base.compiled.kernel_set import KernelSet
from contact_ddp_ros.dynamics.kernels import LEVELS
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_geometry import algebra_of
from contact_ddp_ros.mpc.custom_terms import FIRST, SECOND, VALUE
from contact_ddp_ros.mpc.layout import Sizes, aux_offsets
from contact_ddp_ros.mpc.term_sums import TermLayout
from contact_ddp_ros.ocp.node_function import function_at, node_function
from contact_ddp_ros.ocp.protocol import DATA, INTEGERS, MATRIX, VECTOR
from contact_ddp_ros.robot.tree import RigidBodyTree

SOLVE_MIDPOINT = nb.boolean(INTEGERS, nb.int64, nb.float64, VECTOR, VECTOR, VECTOR, VECTOR)
MIDPOINT_PARTIALS = nb.void(INTEGERS, nb.int64, nb.float64, VECTOR, VECTOR)
MIDPOINT_CURVATURE = nb.void(INTEGERS, nb.int64, nb.float64, VECTOR, VECTOR, MATRIX, MATRIX, MATRIX)

BODY_STEP = nb.float64(DATA, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR)
BODY_FIRST = nb.void(DATA, nb.int64, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX, VECTOR, MATRIX)
BODY_SECOND = nb.void(DATA, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX)

_OWN = (INTEGERS, nb.int64)
OWN_COST = types.UniTuple(nb.float64, 2)(*_OWN, *(VECTOR,) * 7)
ADD_OWN_COST = nb.void(*_OWN, nb.float64, *(VECTOR,) * 8, MATRIX, MATRIX, MATRIX)
ADD_OWN_FORCE_SLOPES = nb.void(*_OWN, *(VECTOR,) * 7)
ADD_OWN_CURVATURE = nb.void(*_OWN, nb.float64, *(VECTOR,) * 6, MATRIX, MATRIX, MATRIX)

CURVATURE_BY_TENSOR = nb.void(INTEGERS, nb.int64, nb.boolean, *(VECTOR,) * 4, MATRIX, MATRIX)

MIDPOINT, RIGID_BODY, OWN_TERMS, TENSOR = "midpoint", "single_rigid_body_nodes", "custom_term_nodes", "tensor_curvature"
"""Modules of the parts: the implicit integrator, the horizon's tail, the user's terms, the baseline's second order."""

_PARTS: Final[dict[str, dict[str, tuple[int, Any]]]] = {
    MIDPOINT: {
        "solve_midpoint": (at.SOLVE_MIDPOINT, SOLVE_MIDPOINT),
        "midpoint_partials": (at.MIDPOINT_PARTIALS, MIDPOINT_PARTIALS),
        "midpoint_curvature": (at.MIDPOINT_CURVATURE, MIDPOINT_CURVATURE),
    },
    RIGID_BODY: {
        "body_step": (at.BODY_NODE_STEP, BODY_STEP),
        "body_first": (at.BODY_NODE_FIRST, BODY_FIRST),
        "body_second": (at.BODY_NODE_SECOND, BODY_SECOND),
    },
    OWN_TERMS: {
        "own_cost": (at.OWN_COST, OWN_COST),
        "add_own_cost": (at.ADD_OWN_COST, ADD_OWN_COST),
        "add_own_force_slopes": (at.ADD_OWN_FORCE_SLOPES, ADD_OWN_FORCE_SLOPES),
        "add_own_curvature": (at.ADD_OWN_CURVATURE, ADD_OWN_CURVATURE),
    },
    TENSOR: {"motion_curvature_by_tensor": (at.CURVATURE_BY_TENSOR, CURVATURE_BY_TENSOR)},
}
"""Functions of each module: where the header holds their addresses, and their signatures."""

solve_midpoint_at, midpoint_partials_at, midpoint_curvature_at = (
    function_at(types.FunctionType(one)) for one in (SOLVE_MIDPOINT, MIDPOINT_PARTIALS, MIDPOINT_CURVATURE)
)
body_step_at, body_first_at, body_second_at = (
    function_at(types.FunctionType(one)) for one in (BODY_STEP, BODY_FIRST, BODY_SECOND)
)
own_cost_at, add_own_cost_at, add_own_force_slopes_at, add_own_curvature_at = (
    function_at(types.FunctionType(one)) for one in (OWN_COST, ADD_OWN_COST, ADD_OWN_FORCE_SLOPES, ADD_OWN_CURVATURE)
)
curvature_by_tensor_at = function_at(types.FunctionType(CURVATURE_BY_TENSOR))


def link(part: str, header: NDArray[Any]) -> None:
    """Write the addresses of a part, one of the modules' names, into the header of a problem's `integers`."""
    module = import_module(f"contact_ddp_ros.mpc.{part}")
    for name, (slot, signature) in _PARTS[part].items():
        header[slot] = node_function(getattr(module, name), signature)


_TERMS = {VALUE: at.TERMS, FIRST: at.TERMS_FIRST, SECOND: at.TERMS_SECOND}

_FEET = {"feet": at.FEET, "feet_second": at.FEET_SECOND}

_CHANGE = {"change": at.CHANGE, "change_first": at.CHANGE_FIRST, "change_second": at.CHANGE_SECOND}

_MOTION = {
    "system": at.SYSTEM,
    "first": at.FIRST,
    "second": at.SECOND,
    "tensor": at.TENSOR,
    "impact_system": at.IMPACT_SYSTEM,
    "impact_first": at.IMPACT_FIRST,
    "impact_second": at.IMPACT_SECOND,
    "impact_tensor": at.IMPACT_TENSOR,
}

_ALGEBRA = {
    "factorise": at.FACTORISE,
    "solve": at.SOLVE,
    "contact_partials": at.CONTACT_PARTIALS,
    "impact_partials": at.IMPACT_PARTIALS,
    "curvature": at.CURVATURE,
}


def n_aux(sizes: Sizes, kernels: KernelSet) -> int:
    """Length of a node's aux: what :func:`contact_ddp_ros.mpc.layout.aux_offsets` lays out, then the kernels' own."""
    return int(aux_offsets(*sizes).shared) + kernels.n_shared


def kernel_table(
    tree: RigidBodyTree,
    kernels: KernelSet,
    modes: Mapping[str, tuple[str, ...]],
    n_axes: int,
    scheme: int,
    levels: tuple[str, ...] = LEVELS,
    terms: KernelSet | None = None,
) -> NDArray[np.int64]:
    """The table for a model's modes (contact points by name), in their order.

    Kernels of other levels, and of the user's cost `terms` where there are none, have address 0; so has a mode's change
    of chart where the kernels have none. The feet of a mode have kernels of their own, "feet/MODE", or all modes share
    "feet".

    Raises:
        ParameterError: a kernel of these levels was not built.
    """
    n_u, feet = len(tree.actuated), [point.name for point in tree.contacts]

    header = np.zeros(at.HEADER + n_u, dtype=np.int64)
    header[at.N], header[at.N_U], header[at.N_FEET], header[at.N_AXES] = tree.n, n_u, len(feet), n_axes
    header[at.SCHEME] = scheme
    if terms is not None:
        link(OWN_TERMS, header)
        for name, slot in _TERMS.items():
            header[slot] = terms.address(name)
    if scheme == at.IMPLICIT_MIDPOINT:
        link(MIDPOINT, header)
    if "tensor" in levels:
        link(TENSOR, header)
    header[at.HEADER :] = tree.actuated
    blocks = [header]
    for mode, contacts in modes.items():
        block = np.zeros(at.MODE_HEADER + len(feet), dtype=np.int64)
        block[at.CONTACTS] = len(contacts)
        for level, slot in _MOTION.items():
            block[slot] = kernels.address(f"{level}/{mode}") if level in levels else 0
        for level, slot in _FEET.items():
            own = f"{level}/{mode}"
            block[slot] = kernels.address(own if own in kernels else level) if level in levels else 0
        for level, slot in _CHANGE.items():
            block[slot] = kernels.address(f"{level}/{mode}") if f"{level}/{mode}" in kernels else 0
        for level, place in _ALGEBRA.items():
            block[place] = algebra_of(tree.n, n_u, len(contacts) * n_axes).get(level, 0)
        block[at.MODE_HEADER : at.MODE_HEADER + len(contacts)] = [feet.index(name) for name in contacts]
        blocks.append(block)
    layout = TermLayout.of(Sizes(tree.n, n_u, len(feet), n_axes))
    header[at.PLACES], header[at.EQUALITIES] = sum(map(len, blocks)), layout.n_e
    return np.concatenate([*blocks, layout.places.ravel()])
