r"""What an optimal control problem must offer to be solved here.

The horizon is a sequence of nodes k = 0 … N-1 and a terminal node N:

    minimise  Σ_k ℓ_k(x_k, u_k) + ℓ_N(x_N)      subject to      x_{k+1} = f_k(x_k, u_k),   x_0 given,   c_k(x_k) = 0

A node is a time step or a reset map between two modes; a reset has no control (``has_control[k]`` False). Equality
constraints enter ℓ as augmented-Lagrangian terms with the multipliers and the penalty that the solver owns, and
inequalities as relaxed barriers with the solver's settings (:mod:`contact_ddp_ros.solver.penalties`).

A problem is three Numba functions of fixed signature. They are first-class functions with explicit types, so the
solver is compiled once, cached on disk, and never re-specialised for a problem:

``step(data, k, x, u, x_next, aux, residual) -> cost``
    one node forward. Writes ``x_next`` (not at k = N), what the derivatives want to reuse into ``aux``, and
    ``residual``: the n_e equality residuals, then the largest inequality violation.
``first(data, k, x, u, aux, d)``
    first-order partials of f and ℓ and the Gauss-Newton Hessian of ℓ, into the views of ``d`` (see DERIVATIVES).
``second(data, k, x, u, aux, Vx, hxx, hux, huu)``
    what Gauss-Newton leaves out: V'ₓ·f_zy and the curvature of the maps inside ℓ, already contracted.
    The result is written, not added.

All arrays are C-contiguous float64.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba as nb
import numpy as np
from numba import types
from numpy.typing import NDArray

from contact_ddp_ros.errors import SolverError

Array = NDArray[np.float64]

VECTOR = types.Array(nb.float64, 1, "C")
MATRIX = types.Array(nb.float64, 2, "C")
TENSOR = types.Array(nb.float64, 3, "C")
INTEGERS = types.Array(nb.int64, 1, "C")
INTEGER_TABLE = types.Array(nb.int64, 2, "C")
FLAGS = types.Array(nb.boolean, 1, "C")

DATA = types.Tuple((INTEGERS, INTEGER_TABLE, VECTOR, MATRIX, MATRIX, VECTOR))
"""(integers, integers per node, parameters, parameters per node, multipliers (N+1, n_e), penalty (σ, δ, ε))."""

N_PENALTY = 3
"""Entries of the penalty: AL penalty σ, barrier width δ and weight ε."""

DERIVATIVES = types.Tuple((MATRIX, MATRIX, VECTOR, VECTOR, MATRIX, MATRIX, MATRIX))
"""(fx (n_x, n_x), fu (n_x, n_u), lx, lu, lxx, lux (n_u, n_x), luu) of one node."""

STEP = nb.float64(DATA, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR)
FIRST = types.void(DATA, nb.int64, VECTOR, VECTOR, VECTOR, DERIVATIVES)
SECOND = types.void(DATA, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX, MATRIX)

STEP_TYPE = types.FunctionType(STEP)
FIRST_TYPE = types.FunctionType(FIRST)
SECOND_TYPE = types.FunctionType(SECOND)


@dataclass(frozen=True)
class Problem:
    """An optimal control problem over N nodes.

    Attributes:
        n_x, n_u: sizes of state and control.
        n_e: equality constraints per node (at most).
        n_aux: floats per node that `step` and `first` keep for the later derivatives.
        has_control: (N,) False at resets.
        integers, node_integers, parameters, node_parameters: the problem's own data, handed to its functions.
        step, first, second: see the module's text.
        reset: whether node k is a reset; only reports use it.
    """

    n_x: int
    n_u: int
    n_e: int
    n_aux: int
    has_control: NDArray[np.bool_]
    integers: NDArray[np.int64]
    node_integers: NDArray[np.int64]
    parameters: Array
    node_parameters: Array
    step: Callable[..., Any]
    first: Callable[..., Any]
    second: Callable[..., Any]

    def __post_init__(self) -> None:
        """Raises SolverError where the per-node data do not cover N + 1 nodes."""
        nodes = self.n_nodes + 1
        for name in ("node_integers", "node_parameters"):
            found = len(getattr(self, name))
            if found != nodes:
                raise SolverError(f"{name} has {found} rows; the horizon has {nodes} nodes, the terminal one included")
        if self.n_nodes == 0:
            raise SolverError("the horizon has no node")

    @property
    def n_nodes(self) -> int:
        """N, the terminal node not counted."""
        return len(self.has_control)
