"""Parts of the node functions that few problems have, called by their addresses: a process compiles those it uses.

Their code is in the modules that `_PARTS` names, which a planner imports by :func:`link` alone, so that Numba compiles
them no sooner. The header of a problem's `integers` holds the addresses (:mod:`contact_ddp_ros.mpc.layout`), 0 of parts
that the problem lacks, which a node function must not call.
"""

from importlib import import_module
from typing import Any, Final

import numba as nb
from numba import types
from numpy.typing import NDArray

from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.ocp.node_function import function_at, node_function
from contact_ddp_ros.ocp.protocol import DATA, INTEGERS, MATRIX, VECTOR

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
