r"""Packaged cost term of a node: its value and derivatives, and the numbers that it reads.

A term is a function of one kind of :class:`Argument`, whose chain rule to (x, u) the node functions have. Where its
numbers lie is a :class:`Place`, which follows from the order of the list of all terms
(:mod:`contact_ddp_ros.mpc.terms`). So a new term is one file and one entry of that list.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, NamedTuple

import numba as nb
import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.mpc.horizon import GaitHorizon
from contact_ddp_ros.mpc.layout import Sizes
from contact_ddp_ros.ocp.multipliers import TRIPLE
from contact_ddp_ros.ocp.protocol import MATRIX, VECTOR

Array = NDArray[np.float64]

COMPILED: Final[Mapping[str, Any]] = {"forceinline": True, "error_model": "numpy"}
"""Options with which the functions of a term are compiled."""


class Argument(Enum):
    """Argument of a term, and the nodes at which it counts.

    All but the last are entry by entry: the term is a sum of scalar functions of one entry each.
    """

    STATE = auto()
    """An entry of x, at every node: h times in a time step of length h, once at a switch and at the end."""
    TORQUE = auto()
    """An entry of u, in time steps, h times."""
    FOOT_HEIGHT = auto()
    """The height of a foot above its ground [m], in time steps, h times."""
    LANDING_HEIGHT = auto()
    """The height of a landing foot above its ground [m], at its touchdown, once."""
    LANDING_FORCE = auto()
    """The normal impulse of a landing foot over the node's duration h, a force [N], at its touchdown, h times."""
    FORCE = auto()
    """The contact force of a foot on the ground [N], in time steps, h times."""


class Place(NamedTuple):
    """Offsets of a term's numbers; its blocks follow each other in the order in which it declares them."""

    row: int
    """Offset in a node's row of node_parameters."""
    parameters: int
    """Offset in the parameters of all nodes."""
    residual: int
    """Offset in a node's residuals."""
    dual: int
    """Offset in a node's multipliers: one for an equality, slack and multiplier for an inequality."""


PLACE = types.NamedUniTuple(nb.int64, len(Place._fields), Place)
"""Type of :class:`Place` for compiled code."""

ENTRY = TRIPLE(PLACE, nb.float64, nb.int64, nb.float64, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR)
"""Signature of `derivatives` of a term that is a sum over entries:

(place, scale, i, z, n, row, parameters, multipliers, penalty) → (value, slope, bend) by the value z of entry i of n,
all times `scale`; row and multipliers are those of the node.
"""

ENTRY_LIMITS = nb.float64(PLACE, nb.int64, nb.float64, nb.int64, VECTOR, VECTOR)
"""Signature of `limits` of such a term: (place, i, z, n, parameters, residual) → largest violation; writes the
constraints of entry i into the residual."""

_FOOT = (nb.int64, nb.int64, nb.int64)

FORCE = nb.float64(PLACE, nb.float64, *_FOOT, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, nb.int64, VECTOR, nb.int64)
"""Signature of `derivatives` of a term of a force:

(place, cost, foot, n_f, n_a, row, parameters, multipliers, penalty, ν, begin, gradient, first) → the cost with that
of the force ν[begin : begin + n_a] of the foot added; adds the gradient by the force to gradient[first:].
"""

FORCE_HESSIAN = nb.void(PLACE, *_FOOT, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, nb.int64, MATRIX, nb.int64)
"""Signature of `hessian` of such a term: arguments as FORCE, without cost; adds to the rows of the Hessian from `first`
on, whose n_a columns are those of the foot."""

FORCE_LIMITS = nb.float64(PLACE, *_FOOT, VECTOR, VECTOR, VECTOR, nb.int64, VECTOR)
"""Signature of `limits` of such a term, as ENTRY_LIMITS:

(place, foot, n_f, n_a, row, parameters, ν, begin, residual) → largest violation.
"""


@dataclass(frozen=True)
class Block:
    """Numbers that a term reads.

    Attributes:
        name: of all terms' blocks only this one has it.
        size: how many, for a problem of given sizes.
        value: them for a horizon, by default what the planner gives under that name: (N+1, size) or what
            broadcasts to that, a row for each node; of numbers that hold at all nodes (size,).
    """

    name: str
    size: Callable[[Sizes], int]
    value: Callable[[GaitHorizon], ArrayLike]


@dataclass(frozen=True)
class PackagedTerm:
    """One term of a node's cost.

    Attributes:
        name: in recordings.
        argument: what it is a function of.
        derivatives: compiled value and derivatives, of the signature ENTRY, or FORCE.
        rows: blocks that each node has its own of. parameters: blocks that all nodes share.
        hessian: of the signature FORCE_HESSIAN, of a term of a force.
        limits: of the signature ENTRY_LIMITS or FORCE_LIMITS, of a term that stands for constraints; not of the state.
        constraints: by number n_a of contact axes, what the constraints of each entry are; {} is the entry's name.
        equality: whether these are equalities, by an augmented Lagrangian; inequalities otherwise.
    """

    name: str
    argument: Argument
    derivatives: Any
    rows: tuple[Block, ...] = ()
    parameters: tuple[Block, ...] = ()
    hessian: Any = None
    limits: Any = None
    constraints: Callable[[int], tuple[str, ...]] = lambda n_a: ()
    equality: bool = False
