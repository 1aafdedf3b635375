r"""Interface of an optimal control problem to the solver: three compiled functions and their data.

The horizon is a sequence of nodes k = 0 … N-1 and a terminal node N:

    minimise  Σ_k ℓ_k(x_k, u_k) + ℓ_N(x_N)      subject to      x_{k+1} = f_k(x_k, u_k),   x_0 given,   c_k(x_k) = 0

A node is a time step or a reset map between two modes; a reset has no control (``has_control[k]`` False). Equality
constraints enter ℓ as augmented-Lagrangian terms with the multipliers and the penalty that the solver owns, and
inequalities z_k(x_k, u_k) ≥ 0 as relaxed barriers or by their slacks and multipliers, which the solver owns, too
(:func:`contact_ddp_ros.ocp.multipliers.inequality`), w_k times.

A problem is three Numba functions of fixed signature. They are first-class functions with explicit types, so the
solver is compiled once, cached on disk, and never re-specialised for a problem:

``step(data, k, x, u, x_next, aux, residual) -> cost``
    simulate one node. Writes ``x_next`` (not at k = N), intermediate results for the derivatives into ``aux``, and
    ``residual``: the n_e equality residuals, the n_i inequalities z, ∞ for those that the node does not have, then
    their largest violation.
``first(data, k, x, u, aux, d)``
    first-order partials of f and ℓ and the Gauss-Newton Hessian of ℓ, into the views of ``d`` (see DERIVATIVES).
``second(data, k, x, u, aux, Vx, hxx, hux, huu)``
    the terms that Gauss-Newton neglects: V'ₓ·f_zy and the curvature of the maps inside ℓ, already contracted.
    The result is written, not added.

All arrays are C-contiguous float64.

See eq. (12) of docs/mathematics.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numba as nb
import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp.checks import check_memory, check_no_nan, check_size, checked_array, describe
from contact_ddp_ros.ocp.node_function import check_compilable

Array = NDArray[np.float64]

VECTOR = types.Array(nb.float64, 1, "C")
MATRIX = types.Array(nb.float64, 2, "C")
TENSOR = types.Array(nb.float64, 3, "C")
INTEGERS = types.Array(nb.int64, 1, "C")
INTEGER_TABLE = types.Array(nb.int64, 2, "C")
FLAGS = types.Array(nb.boolean, 1, "C")

DATA = types.Tuple((INTEGERS, INTEGER_TABLE, VECTOR, MATRIX, MATRIX, VECTOR))
"""(integers, integers per node, parameters, parameters per node, multipliers, penalty (σ, δ, ε, μ)).

A row of the multipliers has the n_e of the equalities, then slack and multiplier of each of the n_i inequalities.
"""

N_PENALTY = 4
"""Entries of the penalty: AL penalty σ, relaxed barriers' width δ and weight ε, interior point's μ."""

DERIVATIVES = types.Tuple((MATRIX, MATRIX, VECTOR, VECTOR, MATRIX, MATRIX, MATRIX))
"""(fx (n_x, n_x), fu (n_x, n_u), lx, lu, lxx, lux (n_u, n_x), luu) of one node."""

STEP = nb.float64(DATA, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR)
FIRST = types.void(DATA, nb.int64, VECTOR, VECTOR, VECTOR, DERIVATIVES)
SECOND = types.void(DATA, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX, MATRIX)

STEP_TYPE = types.FunctionType(STEP)
FIRST_TYPE = types.FunctionType(FIRST)
SECOND_TYPE = types.FunctionType(SECOND)


_SIZES = {"n_x": 1, "n_u": 1, "n_e": 0, "n_aux": 0, "n_i": 0}
"""Smallest allowed value of each size."""

_DATA: dict[str, tuple[type[np.generic], int]] = {
    "has_control": (np.bool_, 1),
    "integers": (np.int64, 1),
    "node_integers": (np.int64, 2),
    "parameters": (np.float64, 1),
    "node_parameters": (np.float64, 2),
}
"""Type and number of axes of a problem's arrays, those of DATA."""


@dataclass(frozen=True)
class Problem:
    """An optimal control problem over N nodes.

    Attributes:
        n_x, n_u: sizes of state and control.
        n_e: equality constraints per node (at most).
        n_aux: floats per node that `step` and `first` keep for the later derivatives.
        has_control: (N,) False at resets.
        integers, node_integers, parameters, node_parameters: the problem's own data, handed to its functions.
        step, first, second: Numba functions, see the module's docstring.
        penalty: default (σ, δ, ε) of its solves.
        n_i: inequalities per node (at most) that the node functions tell of; 0 where they are barriers only.
        n_kept: floats of a node's aux, from the first on, that a solution keeps; all by default.
        n_mixed: how many of the n_e, the first ones, are mixed: g(x, u) = 0 at every node with control. `first` leaves
            their Jacobian [g_x g_u] at the end of aux, row by row.
        n_terminal: how many of the n_e, the last ones, are of the terminal node only: c(x_N) = 0.
        constraint_names: of the n_e equalities and the n_i inequalities, for messages; numbered where there are none.
        position_steps: (N,) s of nodes with x = (q, v) and q⁺ = q + s v⁺, for which the sweep needs half the products;
            None where a node is another.
        inequality_weights: (N,) w, by which a node's cost multiplies what its inequalities add; ones by default.
        control_bounds: (2, n_u) lower and upper bounds of every node's control, ±∞ for none, or None; two equal ones
            fix a control, which `step` must not depend on then. Solvers keep to them by the problem's inequalities;
            what they return is brought within, where those do not hold exactly.
        owner: object kept alive with the problem, e.g. compiled code whose addresses are in `integers`.
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
    penalty: tuple[float, float, float] = (1.0, 0.1, 0.0)
    owner: Any = field(default=None, repr=False)
    n_i: int = 0
    position_steps: Array | None = None
    inequality_weights: Array | None = None
    constraint_names: tuple[str, ...] = ()
    n_mixed: int = 0
    n_terminal: int = 0
    n_kept: int | None = None
    control_bounds: Array | None = None

    def __post_init__(self) -> None:
        """Raises SolverError unless compiled code can call the functions and read the data of N + 1 nodes."""
        for name in ("step", "first", "second"):
            check_compilable(name, getattr(self, name))
        for name, least in _SIZES.items():
            check_size(name, getattr(self, name), least)
        for name, (dtype, axes) in _DATA.items():
            check_memory(name, getattr(self, name), dtype, axes)
        nodes = self.n_nodes + 1
        for name in ("node_integers", "node_parameters"):
            found = len(getattr(self, name))
            if found != nodes:
                raise SolverError(f"{name} has {found} rows; the horizon has {nodes} nodes, the terminal one included")
        if self.n_nodes == 0:
            raise SolverError("has_control is empty, a horizon of 0 nodes; needed: at least 1")
        for name in ("inequality_weights", "position_steps"):
            given = getattr(self, name)
            if given is not None:
                check_memory(name, given, np.float64, 1)
                if len(given) != self.n_nodes:
                    raise SolverError(f"{name} has {len(given)} entries; needed: {self.n_nodes}, one per node")
        if not 0 <= self.n_mixed <= self.n_e or self.n_mixed * (self.n_x + self.n_u) > self.n_aux:
            raise SolverError(
                f"n_mixed is {self.n_mixed} of {self.n_e} equalities, n_aux {self.n_aux}; needed: at most n_e, and "
                f"{self.n_x + self.n_u} entries of aux for each"
            )
        if not 0 <= self.n_terminal <= self.n_e - self.n_mixed:
            raise SolverError(
                f"n_terminal is {self.n_terminal}, n_mixed {self.n_mixed}; needed: together at most n_e = {self.n_e}"
            )
        if self.position_steps is not None and self.n_x % 2:
            raise SolverError(f"position_steps are given for {self.n_x} states; needed: x = (q, v), an even number")
        if self.control_bounds is not None:
            check_memory("control_bounds", self.control_bounds, np.float64, 2)
            if (
                self.control_bounds.shape != (2, self.n_u)
                or not (self.control_bounds[0] <= self.control_bounds[1]).all()
            ):
                raise SolverError(
                    f"control_bounds is {self.control_bounds}; needed: (2, {self.n_u}), lower up to upper"
                )
        if len(self.constraint_names) not in (0, self.n_e + self.n_i):
            raise SolverError(
                f"constraint_names are {len(self.constraint_names)}; needed: {self.n_e + self.n_i}, or none"
            )

    @property
    def n_nodes(self) -> int:
        """Number N of nodes, the terminal node not counted."""
        return len(self.has_control)

    def derivatives(self, *nodes: int) -> tuple[Array, ...]:
        """Zero arrays of DERIVATIVES, of one node or stacked for a number of them."""
        n_x, n_u = self.n_x, self.n_u
        shapes = ((n_x, n_x), (n_x, n_u), (n_x,), (n_u,), (n_x, n_x), (n_u, n_x), (n_u, n_u))
        return tuple(np.zeros((*nodes, *shape)) for shape in shapes)

    @property
    def halves(self) -> Array:
        """`position_steps`, empty where there are none."""
        return np.zeros(0) if self.position_steps is None else self.position_steps

    def constraint_name(self, index: int) -> str:
        """Name of an equality, or from n_e on of an inequality."""
        if self.constraint_names:
            return self.constraint_names[index]
        return f"equality {index}" if index < self.n_e else f"inequality {index - self.n_e}"

    @property
    def n_residuals(self) -> int:
        """Entries that `step` writes into ``residual``."""
        return self.n_e + self.n_i + 1

    @property
    def n_multipliers(self) -> int:
        """Columns of the multipliers in DATA, at least one."""
        return max(self.n_e + 2 * self.n_i, 1)


def node_data(
    problem: Problem, multipliers: ArrayLike | None = None, penalty: ArrayLike | None = None
) -> tuple[Any, ...]:
    """Checked tuple of the type DATA, which the problem's functions read; inequalities are relaxed barriers (μ = 0).

    Args:
        problem: whose data.
        multipliers: (N+1, n_e) of the equalities, zero by default.
        penalty: (σ, δ, ε), the problem's own by default.

    Raises:
        SolverError: an array has another shape, or a number is not finite.
    """
    check_problem(problem)
    nodes, equalities = problem.n_nodes + 1, max(problem.n_e, 1)
    own_multipliers = np.zeros((nodes, problem.n_multipliers))
    if multipliers is not None:
        given = checked_array("multipliers", multipliers, (nodes, equalities), by_node=True)
        own_multipliers[:, : problem.n_e] = given[:, : problem.n_e]
    settings = checked_array("penalty", problem.penalty if penalty is None else penalty, (N_PENALTY - 1,))
    check_no_nan("parameters", problem.parameters)
    check_no_nan("node_parameters", problem.node_parameters, by_node=True)
    own = (problem.integers, problem.node_integers, problem.parameters, problem.node_parameters)
    return (*own, own_multipliers, np.append(settings, 0.0))


def check_problem(problem: Any) -> None:
    """Check that an argument is a Problem; raises SolverError."""
    if not isinstance(problem, Problem):
        raise SolverError(f"the problem is {describe(problem)}; needed: a Problem")
