r"""An optimal control problem from CasADi expressions or functions, with exact first and second derivatives.

    minimise    Σ_{k<N} ℓ(x_k, u_k, p_k) + ℓ_N(x_N, p_N)
    subject to  x_{k+1} = f(x_k, u_k, p_k),    u_min ≤ u_k ≤ u_max,    h(x_k, u_k, p_k) ≥ 0,
                g(x_k, u_k, p_k) = 0,    c(x_N, p_N) = 0

CasADi differentiates; the kernels are compiled to C once, into the package's cache, and called through their addresses
by the node functions of :mod:`contact_ddp_ros.ocp.casadi_nodes`. p is an input of the kernels, never a constant:
another p needs no other kernel.

Second order: `second` gets V'ₓ·f_zz, the Hessian of the scalar V'ₓᵀf, so that no tensor is formed. Of a cost that is
given as a scalar the whole Hessian counts as Gauss-Newton's, which should then be positive semidefinite; of one given
as :class:`LeastSquares`, ½‖r‖², r_zᵀr_z does, and Σ r_i ∇²r_i goes to `second`, where the solver weighs it by θ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as cs
import numpy as np
from numpy.typing import ArrayLike

from contact_ddp_ros.base.compiled.casadi_functions import compile_functions
from contact_ddp_ros.ocp import casadi_nodes
from contact_ddp_ros.ocp.casadi_arguments import (
    Symbols,
    control_bounds_of,
    node_parameters_of,
    positive,
    scaled_bounds,
)
from contact_ddp_ros.ocp.checks import check_size
from contact_ddp_ros.ocp.protocol import Problem

_PENALTY = (1e3, 0.1, 0.05)
"""(σ, δ, ε) of a single solve of a problem with constraints; the first ones of the default continuation."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class LeastSquares:
    """A cost ½‖r‖² of a residual vector r: an expression of the symbols, or a function of the same arguments."""

    residual: Any


@dataclass(frozen=True)
class _Cost:
    """A cost with its Gauss-Newton Hessian and what that leaves out, by some z."""

    value: cs.SX
    gauss_newton: cs.SX
    rest: cs.SX

    def __add__(self, other: "_Cost") -> "_Cost":
        return _Cost(self.value + other.value, self.gauss_newton + other.gauss_newton, self.rest + other.rest)


def casadi_problem(
    dynamics: Any,
    running_cost: Any,
    terminal_cost: Any,
    *,
    n_nodes: int,
    x: cs.SX | None = None,
    u: cs.SX | None = None,
    p: cs.SX | None = None,
    parameters: ArrayLike | None = None,
    u_min: ArrayLike | None = None,
    u_max: ArrayLike | None = None,
    inequalities: Any = None,
    equalities: Any = None,
    terminal_equality: Any = None,
    barrier_weight: float = 1.0,
    progress: Progress | None = None,
) -> Problem:
    """A problem for the solver; see the module's text for what it minimises.

    `dynamics`, costs and constraints are SX expressions of the symbols x, u, p, or `ca.Function`s of (x, u), or of
    (x, u, p) where there are parameters; those of the end do not depend on u, and as functions take (x) or (x, p).

    Args:
        dynamics: (n_x,) next state.
        running_cost: scalar, or :class:`LeastSquares`.
        terminal_cost: the same, of the last state.
        n_nodes: N.
        x, u, p: (n_x,), (n_u,) and (n_p,) symbols of state, control and parameters. Without x and u, `dynamics` must be
            a function, which tells their sizes.
        parameters: (n_p,) for all nodes, or (N+1, n_p). Other ones later: `dataclasses.replace(problem,
            node_parameters=...)` with an array (N+1, n_p).
        u_min: (n_u,) or one for all, −inf for none; the same for `u_max`, inf. :meth:`DdpSolver.solve` keeps to them
            softly, the other solvers strictly. Two equal bounds fix a control, whose value is then compiled in.
        inequalities: (n_h,) h ≥ 0 at every node with control, scaled so that 1 is much.
        equalities: (n_g,) g = 0 at every node with control; :class:`InteriorPointSolver` with `strategy="inertia"`
            is made for those, which need not be solvable for some of the controls.
        terminal_equality: (n_c,) c = 0 at the last state.
        barrier_weight: what the barriers' weight ε is multiplied by: about the running cost of a node.
        progress: receives a line of text for every step of a compilation; the log does where None.

    Raises:
        SolverError: an argument is of another type or shape, depends on other symbols, or is not finite.
    """
    check_size("n_nodes", n_nodes, 1)
    symbols = Symbols.of(dynamics, x, u, p)
    bounds = control_bounds_of(symbols.n_u, u_min, u_max)
    if (bounds[0] == bounds[1]).any():
        symbols = symbols.fixed(bounds)
    following = symbols.running("dynamics", dynamics, symbols.n_x)
    limits = symbols.running("inequalities", inequalities)
    mixed = symbols.running("equalities", equalities)
    at_end = symbols.terminal("terminal_equality", terminal_equality)
    units = _Units.of(symbols, mixed, limits, at_end)
    following, limits, mixed = units.x_of(following), units.h_of(limits), units.g_of(mixed)
    at_end = units.c_of(at_end)
    cost = units.cost(symbols.running, "running_cost", running_cost, symbols.z)
    if symbols.held is not None:
        away = units.away()
        cost += _Cost(away, cs.hessian(away, symbols.z)[0], cs.SX(*cost.rest.shape))
    end = units.cost(symbols.terminal, "terminal_cost", terminal_cost, symbols.x)
    kernels = compile_functions(
        [
            *_node_functions(symbols, units, following, cost, limits, mixed),
            *_end_functions(symbols, units, end, at_end),
        ],
        progress=progress,
    )
    n_h, n_g, n_end = limits.numel(), mixed.numel(), at_end.numel()
    names = ("node_step", "node_first", "node_second", "end", "end_first", "end_second")
    return Problem(
        n_x=symbols.n_x,
        n_u=symbols.n_u,
        n_e=n_g + n_end,
        n_aux=int(casadi_nodes.aux_offsets(n_h + n_g, symbols.n_x + symbols.n_u)[-1]),
        has_control=np.ones(n_nodes, dtype=bool),
        integers=np.array([n_h, *(kernels.address(name) for name in names), n_g + n_end, n_g], dtype=np.int64),
        node_integers=np.zeros((n_nodes + 1, 1), dtype=np.int64),
        parameters=np.concatenate(
            [[positive("barrier_weight", barrier_weight)], scaled_bounds(bounds), np.ones(units.all.numel())]
        ),
        node_parameters=node_parameters_of(n_nodes, symbols.n_p, parameters),
        step=casadi_nodes.step,
        first=casadi_nodes.first,
        second=casadi_nodes.second,
        penalty=_PENALTY,
        owner=kernels,
        n_i=2 * symbols.n_u + n_h,
        n_mixed=n_g,
        n_terminal=n_end,
        constraint_names=(
            *(f"equalities[{i}]" for i in range(n_g)),
            *(f"terminal_equality[{i}]" for i in range(n_end)),
            *(f"{side}[{i}]" for side in ("u_min", "u_max") for i in range(symbols.n_u)),
            *(f"inequalities[{i}]" for i in range(n_h)),
        ),
        inequality_weights=np.full(n_nodes, float(barrier_weight)),
        control_bounds=bounds,
    )


@dataclass(frozen=True)
class _Units:
    """Units of x, u, ℓ, g, h and c as symbols: expressions of the user's numbers, written in the solver's."""

    symbols: Symbols
    all: cs.SX
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, symbols: Symbols, mixed: cs.SX, limits: cs.SX, at_end: cs.SX) -> "_Units":
        sizes = symbols.n_x, symbols.n_u, 1, mixed.numel(), limits.numel(), at_end.numel()
        return cls(symbols, cs.SX.sym("units", sum(sizes)), sizes)

    def written(self, expression: cs.SX) -> cs.SX:
        """The expression at U_x x and U_u u."""
        n_z = self.symbols.z.numel()
        return cs.substitute(expression, self.symbols.z, self.all[:n_z] * self.symbols.z)

    def away(self) -> cs.SX:
        """½ Σ of squares of fixed controls' distances from their values, in their units."""
        symbols = self.symbols
        assert symbols.held is not None
        of_u = self.all[symbols.n_x : symbols.n_x + symbols.n_u]
        return 0.5 * cs.sumsqr(self.written(symbols.u - symbols.held) / of_u)

    def _divided(self, expression: cs.SX, part: int) -> cs.SX:
        first = sum(self.sizes[:part])
        return self.written(expression) / self.all[first : first + self.sizes[part]]

    def x_of(self, state: cs.SX) -> cs.SX:
        """A state over its units."""
        return self._divided(state, 0)

    def g_of(self, equalities: cs.SX) -> cs.SX:
        """Equalities of a node over their units."""
        return self._divided(equalities, 3)

    def h_of(self, inequalities: cs.SX) -> cs.SX:
        """Inequalities over their units."""
        return self._divided(inequalities, 4)

    def c_of(self, equalities: cs.SX) -> cs.SX:
        """Equalities of the end over their units."""
        return self._divided(equalities, 5)

    def cost(self, expression_of: Callable[..., cs.SX], name: str, cost: Any, z: cs.SX) -> _Cost:
        """The cost that a user has given, over its unit, by z."""
        unit = self.all[sum(self.sizes[:2])]
        if isinstance(cost, LeastSquares):
            residual = self.written(expression_of(name, cost.residual)) / cs.sqrt(unit)
            return _weighted_squares(residual, residual, 1.0, cs.SX(0.0), z)
        value = self.written(expression_of(name, cost, 1)) / unit
        return _Cost(value, cs.hessian(value, z)[0], cs.SX(z.numel(), z.numel()))


def _weighted_squares(r: cs.SX, slope: cs.SX, weight: Any, linear: cs.SX, z: cs.SX) -> _Cost:
    """linear + ½ weight ‖r‖², with the derivative `slope` by r."""
    jacobian = cs.jacobian(r, z)
    return _Cost(linear + 0.5 * weight * cs.sumsqr(r), weight * jacobian.T @ jacobian, _curvature(r, slope, z))


def _curvature(r: cs.SX, weights: cs.SX, z: cs.SX) -> cs.SX:
    """Σ weights_i ∇²r_i, the weights taken as constants."""
    if r.numel() == 0:
        return cs.SX(z.numel(), z.numel())
    fixed = cs.SX.sym("weights", r.numel())
    return cs.substitute(cs.hessian(cs.dot(fixed, r), z)[0], fixed, weights)


def _node_functions(
    symbols: Symbols, units: _Units, following: cs.SX, cost: _Cost, limits: cs.SX, mixed: cs.SX
) -> list[cs.Function]:
    """(x, u, p, units) -> a node forward; its partials; with V'ₓ and weights of (h, g), the rest of second order.

    Matrices of two different kinds of row and column are transposed: what CasADi writes column by column the solver
    reads row by row.
    """
    x, u, p, z, n_x = symbols.x, symbols.u, symbols.p, symbols.z, symbols.n_x
    constraints = cs.vertcat(limits, mixed)
    vx, weights = cs.SX.sym("Vx", n_x), cs.SX.sym("w", constraints.numel())
    by_z = cs.jacobian(following, z)
    slope, gauss_newton = cs.gradient(cost.value, z), cost.gauss_newton
    rest = _curvature(following, vx, z) + _curvature(constraints, weights, z) + cost.rest
    first = [by_z[:, :n_x].T, by_z[:, n_x:].T, slope[:n_x], slope[n_x:], *_blocks(gauss_newton, n_x)]
    return [
        _dense("node_step", [x, u, p, units.all], [following, cost.value, constraints]),
        _dense("node_first", [x, u, p, units.all], [*first, cs.jacobian(constraints, z).T]),
        _dense("node_second", [x, u, p, units.all, vx, weights], _blocks(rest, n_x)),
    ]


def _end_functions(symbols: Symbols, units: _Units, cost: _Cost, equalities: cs.SX) -> list[cs.Function]:
    """(x, p, units, y, σ) -> cost at the end with yᵀc + ½ σ‖c‖², and c; gradient and Gauss-Newton Hessian; the rest."""
    y, sigma = cs.SX.sym("y", equalities.numel()), cs.SX.sym("sigma")
    arguments = [symbols.x, symbols.p, units.all, y, sigma]
    if equalities.numel():
        linear = cs.dot(y, equalities)
        cost = cost + _weighted_squares(equalities, y + sigma * equalities, sigma, linear, symbols.x)
    return [
        _dense("end", arguments, [cost.value, equalities]),
        _dense("end_first", arguments, [cs.gradient(cost.value, symbols.x), cost.gauss_newton]),
        _dense("end_second", arguments, [cost.rest]),
    ]


def _blocks(hessian: cs.SX, n_x: int) -> list[cs.SX]:
    """xx, xu and uu of a Hessian by (x, u)."""
    return [hessian[:n_x, :n_x], hessian[:n_x, n_x:], hessian[n_x:, n_x:]]


def _dense(name: str, arguments: list[cs.SX], results: list[cs.SX]) -> cs.Function:
    """A function with shared subexpressions and dense results."""
    return cs.Function(name, arguments, [cs.densify(one) for one in cs.cse(results)])
