"""Arguments of a user's CasADi problem, checked: symbols, expressions or functions, bounds and parameters."""

from dataclasses import dataclass, replace
from typing import Any

import casadi as cs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp.checks import checked_array

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Symbols:
    """State (n_x,), control (n_u,) and parameters (n_p,) of a problem's expressions."""

    x: cs.SX
    u: cs.SX
    p: cs.SX
    held: cs.SX | None = None
    """(n_u,) control with its fixed entries in their values, which expressions are written in; u where None."""

    def fixed(self, bounds: Array) -> "Symbols":
        """Copy in which controls with equal (2, n_u) bounds are fixed."""
        entries = [float(low) if low == up else self.u[i] for i, (low, up) in enumerate(bounds.T)]
        return replace(self, held=cs.SX(cs.vertcat(*entries)))

    @classmethod
    def of(cls, dynamics: Any, x: cs.SX | None, u: cs.SX | None, p: cs.SX | None) -> "Symbols":
        """The user's symbols, or new ones of the sizes of a function's arguments (x, u) or (x, u, p).

        Raises:
            SolverError: they are no SX columns of symbols, or nothing tells the sizes.
        """
        if x is not None and u is not None:
            return cls(
                *(_symbol(name, one) for name, one in (("x", x), ("u", u), ("p", cs.SX(0, 1) if p is None else p)))
            )
        if not isinstance(dynamics, cs.Function):
            raise SolverError(
                f"x and u are not both given and dynamics is {_kind(dynamics)}; give the SX symbols x and u, or "
                "dynamics as a casadi.Function of (x, u) or (x, u, p), which tells their sizes"
            )
        if dynamics.n_in() not in (2, 3):
            raise SolverError(f"the function dynamics takes {dynamics.n_in()} arguments; needed: (x, u) or (x, u, p)")
        sizes = [dynamics.numel_in(i) for i in range(dynamics.n_in())]
        return cls(*(cs.SX.sym(name, size) for name, size in zip("xup", [*sizes, 0])))

    @property
    def z(self) -> cs.SX:
        """(x, u)."""
        return cs.vertcat(self.x, self.u)

    @property
    def n_x(self) -> int:
        """Size of the state."""
        return int(self.x.numel())

    @property
    def n_u(self) -> int:
        """Size of the control."""
        return int(self.u.numel())

    @property
    def n_p(self) -> int:
        """Number of parameters of a node."""
        return int(self.p.numel())

    def running(self, name: str, given: Any, size: int | None = None) -> cs.SX:
        """An expression of x, u and p; (`size`,) or any column, an empty one for None."""
        return self._expression(name, given, size, (self.x, self.u), "(x, u)")

    def terminal(self, name: str, given: Any, size: int | None = None) -> cs.SX:
        """An expression of x and p."""
        return self._expression(name, given, size, (self.x,), "x")

    def _expression(self, name: str, given: Any, size: int | None, variables: tuple[cs.SX, ...], of: str) -> cs.SX:
        if given is None:
            given = cs.SX(0, 1) if size is None else cs.SX(size, 1)
        if isinstance(given, cs.Function):
            found = _called(name, given, variables, self.p, of)
        elif isinstance(given, cs.MX):
            raise SolverError(f"{name} is an MX expression; write it with SX, or hand over a casadi.Function of {of}")
        elif callable(given):
            raise SolverError(
                f"{name} is {_kind(given)}; CasADi differentiates expressions: give its value for the SX symbols, as "
                f"{name}={getattr(given, '__name__', 'f')}{of if of.startswith('(') else f'({of})'}"
            )
        else:
            try:
                found = cs.SX(given)
            except (NotImplementedError, TypeError, ValueError, RuntimeError):
                raise SolverError(f"{name} is {_kind(given)}; needed: an SX expression or a casadi.Function") from None
        wanted = (found.numel() if size is None else size, 1)
        if found.shape != wanted:
            raise SolverError(f"{name} has shape {found.shape}; needed: {'a column' if size is None else wanted}")
        whole = cs.Function("whole", [*variables, self.p], [found], {"allow_free": True})
        if whole.has_free():
            free = ", ".join(map(str, whole.get_free()))
            raise SolverError(f"{name} depends on {free}; allowed: the given symbols {of} and p")
        kinds = [whole.instruction_id(i) for i in range(whole.n_instructions())]
        if any(kind == cs.OP_CONST and np.isnan(whole.instruction_constant(i)) for i, kind in enumerate(kinds)):
            raise SolverError(f"{name} holds NaN; every constant of it must be a number")
        if cs.OP_CALL in kinds:
            raise SolverError(
                f"{name} calls a function that cannot be expanded to scalars, as an integrator or a table; write "
                "it out in elementary operations"
            )
        return found if self.held is None else cs.substitute(found, self.u, self.held)


def control_bounds_of(n_u: int, u_min: ArrayLike | None, u_max: ArrayLike | None) -> Array:
    """(2, n_u) lower and upper bounds.

    Raises:
        SolverError: a bound is not a number, of another shape, or above the upper one.
    """
    lower, upper = _bound("u_min", u_min, -np.inf, n_u), _bound("u_max", u_max, np.inf, n_u)
    if not (lower <= upper).all():
        raise SolverError(f"u_min is {lower} and u_max {upper}; no lower bound may be above its upper one")
    return np.array([lower, upper])


def scaled_bounds(bounds: Array) -> Array:
    """(4 n_u,) lower bounds, inverses of their scales, upper bounds and theirs; inverse and bound are 0 for none.

    The scale is half the range where there are both bounds, else 1. A control that bounds fix has none.
    """
    lower, upper = bounds
    half, free = 0.5 * (upper - lower), lower < upper
    inverse = np.divide(1.0, half, out=np.ones_like(half), where=free & np.isfinite(half))
    sides = []
    for bound in (lower, upper):
        there = np.isfinite(bound) & free
        sides += [np.where(there, bound, 0.0), np.where(there, inverse, 0.0)]
    return np.concatenate(sides)


def _bound(name: str, given: ArrayLike | None, without: float, n_u: int) -> Array:
    try:
        found = np.asarray(without if given is None else given)
    except ValueError:  # rows of different lengths
        found = np.array(None)
    if found.dtype.kind not in "fiu" or found.shape not in ((), (n_u,)) or np.isnan(found).any():
        raise SolverError(f"{name} is {given!r}; needed: a number, or one for each of the {n_u} controls, NaN excluded")
    if (found == -without).any():
        raise SolverError(f"{name} is {given!r}; no control can keep to it; {without} stands for no bound")
    return np.broadcast_to(found.astype(np.float64), (n_u,))


def positive(name: str, given: Any) -> float:
    """A positive, finite number; SolverError for anything else."""
    if isinstance(given, bool) or not isinstance(given, int | float | np.number) or not 0.0 < given < np.inf:
        raise SolverError(f"{name} is {given!r}; needed: a positive number")
    return float(given)


def node_parameters_of(n_nodes: int, n_p: int, given: ArrayLike | None) -> Array:
    """(N+1, n_p) parameters of every node, one unused column without any; SolverError where they do not fit."""
    if n_p == 0:
        if given is not None:
            raise SolverError("parameters are given, but there is no symbol p, nor a function of (x, u, p)")
        return np.zeros((n_nodes + 1, 1))
    if given is None:
        raise SolverError(f"p has {n_p} entries; give their values as parameters, ({n_p},) or ({n_nodes + 1}, {n_p})")
    if np.ndim(given) == 2:
        return checked_array("parameters", given, (n_nodes + 1, n_p)).copy()
    return np.tile(checked_array("parameters", given, (n_p,)), (n_nodes + 1, 1))


def _symbol(name: str, given: Any) -> cs.SX:
    if not isinstance(given, cs.SX) or not given.is_valid_input() or not given.is_column():
        raise SolverError(f"{name} is {_kind(given)}; needed: a column of symbols, as casadi.SX.sym({name!r}, n)")
    return given


def _called(name: str, function: cs.Function, variables: tuple[cs.SX, ...], p: cs.SX, of: str) -> cs.SX:
    """A function's one result at the symbols."""
    arguments = [*variables, p] if function.n_in() > len(variables) else [*variables]
    if function.n_in() != len(arguments) or function.n_out() != 1:
        raise SolverError(
            f"the function {name} takes {function.n_in()} arguments and gives {function.n_out()} results; needed: one "
            f"result of {of}, or of {of} and p"
        )
    sizes, wanted = [function.numel_in(i) for i in range(function.n_in())], [one.numel() for one in arguments]
    if sizes != wanted:
        raise SolverError(f"the function {name} takes arguments of {sizes} entries; needed: {wanted}")
    return function(*arguments)


def _kind(value: Any) -> str:
    if isinstance(value, cs.SX | cs.MX | cs.DM):
        return f"{type(value).__name__} of shape {value.shape}"
    if callable(value) and not isinstance(value, cs.Function):
        return f"the Python function {getattr(value, '__qualname__', type(value).__name__)}"
    return f"of type {type(value).__name__}"
