"""The integers that the compiled node functions read: sizes, the model's actuated joints, addresses of its kernels.

One header, then one block per mode and the places of the terms, as :mod:`contact_ddp_ros.mpc.layout` has them.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.compiled.kernel_set import KernelSet
from contact_ddp_ros.dynamics.kernel_code import LEVELS
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc import optional_kernels as node_parts
from contact_ddp_ros.mpc.contact_algebra import algebra_of
from contact_ddp_ros.mpc.custom_terms import FIRST, SECOND, VALUE
from contact_ddp_ros.mpc.layout import Sizes, aux_offsets
from contact_ddp_ros.mpc.term_sums import TermLayout
from contact_ddp_ros.robot.tree import RigidBodyTree

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
        node_parts.link(node_parts.OWN_TERMS, header)
        for name, slot in _TERMS.items():
            header[slot] = terms.address(name)
    if scheme == at.IMPLICIT_MIDPOINT:
        node_parts.link(node_parts.MIDPOINT, header)
    if "tensor" in levels:
        node_parts.link(node_parts.TENSOR, header)
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
