r"""A problem's derivatives against finite differences: what `first` and `second` write against `step` and `first`.

Along each coordinate of z = (x, u) of a node, by fourth-order central differences with two steps a hundred times apart:

    fx, fu, lx, lu            of f and ℓ, as `step` gives them
    Hxx, Hux, Huu             of ℓ_z + f_zᵀ V'ₓ at a random V'ₓ, as `first` gives them, against the sum of the
                              Gauss-Newton Hessian by `first` and of what `second` adds to it

Only that sum is the Hessian of anything: how it is divided between `first` and `second` is the problem's own choice. An
entry counts as right if either step confirms it: a wrong one is wrong at both, while rounding spoils the short one and
curvature the long one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp.checks import checked_array
from contact_ddp_ros.ocp.multipliers import MU
from contact_ddp_ros.ocp.node_function import node_function
from contact_ddp_ros.ocp.protocol import FIRST, SECOND, STEP, Problem, check_problem, node_data

Array = NDArray[np.float64]

BLOCKS = ("fx", "fu", "lx", "lu", "Hxx", "Hux", "Huu")
"""Blocks that are compared: first-order partials of a node, and the Hessian of ℓ + V'ₓᵀf."""

_STEPS = (1e-3, 1e-5)
"""Steps of the differences, relative to 1 + |z_i|."""

_STENCIL = ((1.0, 2.0 / 3.0), (2.0, -1.0 / 12.0))

_NOISE = 1e-6
"""An entry smaller than this share of what is differentiated (or of 1) is compared with that share."""


@dataclass(frozen=True)
class BlockError:
    """The worst entry of one block of derivatives over all nodes.

    Attributes:
        block: one of BLOCKS.
        error: |written − difference|, relative to the larger of both; infinite where an entry was not written.
        node: of the entry. entry: its index in the block.
        written: what the problem gives. difference: what finite differences give.
    """

    block: str
    error: float
    node: int
    entry: tuple[int, ...]
    written: float
    difference: float


@dataclass(frozen=True)
class DerivativeReport:
    """Outcome of :func:`check_derivatives`.

    Attributes:
        errors: the worst of every block, in the order of BLOCKS; blocks of the control are missing without control.
        tolerance: largest relative error allowed.
        n_nodes: how many nodes were looked at.
    """

    errors: tuple[BlockError, ...]
    tolerance: float
    n_nodes: int

    @property
    def ok(self) -> bool:
        """True if every block is within the tolerance."""
        return not self.wrong

    @property
    def wrong(self) -> tuple[BlockError, ...]:
        """The blocks that are not."""
        return tuple(one for one in self.errors if not one.error <= self.tolerance)

    def __str__(self) -> str:
        """A table for people."""
        allowed = f"{self.n_nodes} nodes, relative errors up to {self.tolerance:g} allowed"
        lines = [f"derivatives: {'right' if self.ok else 'WRONG'} ({allowed})"]
        lines.append(f"  {'block':<6}{'worst':>9}  {'node':>4}  {'entry':<9}{'written':>14}{'difference':>14}")
        for one in self.errors:
            mark = "  <-- wrong" if one in self.wrong else ""
            entry = f"[{', '.join(map(str, one.entry))}]"
            values = f"{one.written:>14.6g}{one.difference:>14.6g}"
            lines.append(f"  {one.block:<6}{one.error:>9.1e}  {one.node:>4}  {entry:<9}{values}{mark}")
        return "\n".join(lines)


def check_derivatives(
    problem: Problem,
    xs: ArrayLike | None = None,
    us: ArrayLike | None = None,
    *,
    nodes: Sequence[int] | None = None,
    penalty: ArrayLike | None = None,
    mu: float = 0.0,
    tolerance: float = 1e-5,
    scale: float = 1.0,
    seed: int = 0,
) -> DerivativeReport:
    """Compare a problem's derivatives with finite differences, node by node.

    Args:
        problem: whose functions are checked.
        xs: (N+1, n_x) states to look at; normally distributed with the deviation `scale` where None.
        us: (N, n_u) controls; the same.
        nodes: to look at, from 0 to N; all where None.
        penalty: (σ, δ, ε), the problem's own by default. Multipliers are random.
        mu: barrier parameter μ: above 0 the inequalities count as in the interior point, with random slacks.
        tolerance: largest relative error that counts as right.
        seed: of all that is random.

    Raises:
        SolverError: an argument does not fit the problem, or the problem gives a number that is not finite there.
    """
    check_problem(problem)
    rng = np.random.default_rng(seed)
    n, n_x, n_u = problem.n_nodes, problem.n_x, problem.n_u
    states = rng.normal(0.0, scale, (n + 1, n_x)) if xs is None else checked_array("xs", xs, (n + 1, n_x))
    controls = rng.normal(0.0, scale, (n, n_u)) if us is None else checked_array("us", us, (n, n_u))
    chosen = list(range(n + 1) if nodes is None else nodes)
    if not chosen or not all(isinstance(k, int | np.integer) and 0 <= k <= n for k in chosen):
        raise SolverError(f"nodes are {chosen}; allowed: some of 0 to {n}")
    data = node_data(problem, rng.normal(size=(n + 1, max(problem.n_e, 1))), penalty)
    if mu > 0.0:
        data[4][:, problem.n_e :] = rng.uniform(0.1, 2.0, data[4][:, problem.n_e :].shape)
        data[5][MU] = mu
    evaluation = _Evaluation(problem, data)
    worst: dict[str, BlockError] = {}
    for k in chosen:
        control = controls[k].copy() if k < n and problem.has_control[k] else np.zeros(n_u)
        for found in _node_errors(evaluation, k, states[k], control, rng.normal(size=n_x)):
            if found.block not in worst or not found.error <= worst[found.block].error:
                worst[found.block] = found
    return DerivativeReport(tuple(worst[name] for name in BLOCKS if name in worst), tolerance, len(chosen))


class _Evaluation:
    """A problem's functions as functions of z = (x, u) that allocate what they write, filled with NaN."""

    def __init__(self, problem: Problem, data: tuple[Any, ...]) -> None:
        for function, signature in ((problem.step, STEP), (problem.first, FIRST), (problem.second, SECOND)):
            node_function(function, signature)
        self.problem, self._data = problem, data

    def step(self, k: int, z: Array) -> tuple[Array, Array]:
        """(n_x + 1,) x⁺ and ℓ, and aux; x⁺ is 0 at the end."""
        problem = self.problem
        following = np.full(problem.n_x, np.nan if k < problem.n_nodes else 0.0)
        aux, residual = np.zeros(problem.n_aux), np.zeros(problem.n_residuals)
        x, u = self._split(z)
        cost = problem.step(self._data, k, x, u, following, aux, residual)
        return np.append(following if k < problem.n_nodes else np.zeros(problem.n_x), cost), aux

    def first(self, k: int, z: Array) -> tuple[dict[str, Array], Array]:
        """The blocks fx, fu, lx, lu and those of the Gauss-Newton Hessian, lxx, lux, luu; and aux."""
        n_x, n_u = self.problem.n_x, self.problem.n_u
        _, aux = self.step(k, z)
        shapes = ((n_x, n_x), (n_x, n_u), (n_x,), (n_u,), (n_x, n_x), (n_u, n_x), (n_u, n_u))
        views = tuple(np.full(shape, np.nan) for shape in shapes)
        self.problem.first(self._data, k, *self._split(z), aux, views)
        return dict(zip(("fx", "fu", "lx", "lu", "lxx", "lux", "luu"), views)), aux

    def slope(self, k: int, z: Array, vx: Array) -> Array:
        """(n_x + n_u,) ℓ_z + f_zᵀ V'ₓ; the part of the control is 0 without one."""
        blocks, _ = self.first(k, z)
        if k == self.problem.n_nodes:
            return np.append(blocks["lx"], np.zeros(self.problem.n_u))
        by_x = blocks["lx"] + blocks["fx"].T @ vx
        if not self.problem.has_control[k]:
            return np.append(by_x, np.zeros(self.problem.n_u))
        return np.append(by_x, blocks["lu"] + blocks["fu"].T @ vx)

    def hessian(self, k: int, z: Array, vx: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """The blocks of `first`, and Hxx, Hux, Huu."""
        n_x, n_u = self.problem.n_x, self.problem.n_u
        blocks, aux = self.first(k, z)
        added = tuple(np.full(shape, np.nan) for shape in ((n_x, n_x), (n_u, n_x), (n_u, n_u)))
        self.problem.second(self._data, k, *self._split(z), aux, vx.copy(), *added)
        names = (("Hxx", "lxx"), ("Hux", "lux"), ("Huu", "luu"))
        return blocks, {name: blocks[of] + more for (name, of), more in zip(names, added)}

    def _split(self, z: Array) -> tuple[Array, Array]:
        n_x = self.problem.n_x
        return z[:n_x].copy(), z[n_x:].copy()


def _node_errors(evaluation: _Evaluation, k: int, x: Array, u: Array, vx: Array) -> list[BlockError]:
    """The worst entry of every block of one node."""
    problem, n_x = evaluation.problem, evaluation.problem.n_x
    z, at_end = np.concatenate([x, u]), k == problem.n_nodes
    controlled = not at_end and bool(problem.has_control[k])
    value, _ = evaluation.step(k, z)
    if not np.isfinite(value).all():
        raise SolverError(f"step gives a number that is not finite at node {k}: next state and cost are {value}")
    if problem.position_steps is not None and not at_end:
        _check_positions(problem.position_steps[k], k, x, value)
    blocks, hessians = evaluation.hessian(k, z, vx)
    by_z = _differences(lambda at: evaluation.step(k, at)[0], z)
    slope_by_z = _differences(lambda at: evaluation.slope(k, at, vx), z)
    size = 1.0 + np.abs(value)
    slope_size = 1.0 + np.abs(evaluation.slope(k, z, vx)).max()
    states, controls = slice(0, n_x), slice(n_x, None)
    compared = [("lx", blocks["lx"], [d[n_x, states] for d in by_z], size[n_x])]
    compared.append(("Hxx", hessians["Hxx"], [d[states, states] for d in slope_by_z], slope_size))
    if not at_end:
        compared.append(("fx", blocks["fx"], [d[:n_x, states] for d in by_z], size[:n_x, None]))
    if controlled:
        compared += [
            ("fu", blocks["fu"], [d[:n_x, controls] for d in by_z], size[:n_x, None]),
            ("lu", blocks["lu"], [d[n_x, controls] for d in by_z], size[n_x]),
            ("Hux", hessians["Hux"], [d[controls, states] for d in slope_by_z], slope_size),
            ("Huu", hessians["Huu"], [d[controls, controls] for d in slope_by_z], slope_size),
        ]
    return [_worst(k, *one) for one in compared]


def _check_positions(s: float, k: int, x: Array, value: Array) -> None:
    """Check that q⁺ = q + s v⁺ for x = (q, v) and a value that begins with x⁺; raises SolverError."""
    n = x.size // 2
    error = np.abs(x[:n] + s * value[n : 2 * n] - value[:n])
    if (error > _NOISE * (1.0 + np.abs(value[:n]))).any():
        i = int(error.argmax())
        raise SolverError(
            f"position_steps has {s:g} at node {k}, but state {i} of the next node is {value[i]:g} and not "
            f"{x[i] + s * value[n + i]:g}; needed: q+ = q + s v+ for x = (q, v)"
        )


def _differences(function: Callable[[Array], Array], z: Array) -> list[Array]:
    """Numerical derivative (size of the function, size of z) for each of the steps."""
    found = []
    for step in _STEPS:
        columns = []
        for i in range(z.size):
            h = step * (1.0 + abs(z[i]))
            column = 0.0
            for multiple, weight in _STENCIL:
                up, down = z.copy(), z.copy()
                up[i] += multiple * h
                down[i] -= multiple * h
                column = column + weight * (function(up) - function(down)) / h
            columns.append(column)
        found.append(np.stack(columns, axis=-1))
    return found


def _worst(k: int, name: str, written: Array, differences: list[Array], size: Any) -> BlockError:
    """The entry of a block that no step of the differences confirms, by the largest error."""
    errors = []
    for difference in differences:
        larger = np.maximum(np.maximum(np.abs(written), np.abs(difference)), _NOISE * size)
        error = np.abs(written - difference) / larger
        errors.append(np.where(np.isfinite(error), error, np.inf))
    nearest = np.argmin(errors, axis=0)
    least = np.min(errors, axis=0)
    entry = np.unravel_index(int(np.argmax(least)), least.shape)
    return BlockError(
        block=name,
        error=float(least[entry]),
        node=k,
        entry=tuple(int(index) for index in entry),
        written=float(written[entry]),
        difference=float(differences[int(nearest[entry])][entry]),
    )
