r"""Scaling of a problem: units in which states, controls, cost and constraints are of the size 1.

    x = U_x x̃,    u = U_u ũ,    J = U_J J̃,    c = U_c c̃

with powers of two, so that nothing is rounded. They are taken from a first trajectory: a control's unit is half the
range of its bounds, or its size; a state's is its size, or what controls make of it in a step; the cost's is the
largest slope or curvature of a node by states and controls in these units; a constraint's is its largest slope in them.
Curvature corrections and tolerances then mean the same for a problem in other units of length, time or money.

Source of the cost's and constraints' units: Wächter and Biegler (2006), Section 3.8.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.ocp import casadi_nodes
from contact_ddp_ros.ocp.casadi_arguments import scaled_bounds
from contact_ddp_ros.ocp.diagnosis import worst_constraint
from contact_ddp_ros.ocp.interior_solution import Certificate, DualVariables, InteriorSolution
from contact_ddp_ros.ocp.linear_model import terminal_jacobian
from contact_ddp_ros.ocp.node_function import node_function
from contact_ddp_ros.ocp.protocol import FIRST, Problem, node_data
from contact_ddp_ros.ocp.rollout import expand
from contact_ddp_ros.ocp.solution import Guess, Solution, Termination

Array = NDArray[np.float64]

_BENDS = 1e-6
"""Share of curvature in the cost's unit at a solution, whose slopes may vanish; rounding is far below."""

_STEEP, _FLAT = 1e4, 1e-4
"""Slopes of a node's cost, or curvatures where all slopes are zero, beyond which gentle units change it."""

_LARGEST = 2.0**60
"""Units are between this and its inverse."""


@dataclass(frozen=True)
class Units:
    """Units of x (n_x,), u (n_u,), the cost, equalities (n_e,) and inequalities (n_i,) of a problem."""

    x: Array
    u: Array
    cost: float
    equalities: Array
    inequalities: Array

    def of(self, problem: Problem) -> Problem:
        """A problem whose solver works in these units."""
        assert problem.control_bounds is not None
        n_u, mixed = problem.n_u, problem.n_mixed
        bounds = problem.control_bounds / self.u
        weight = problem.parameters[:1]
        tail = [self.x, self.u, [self.cost], self.equalities[:mixed], self.inequalities[2 * n_u :]]
        return replace(
            problem,
            parameters=np.concatenate([weight, scaled_bounds(bounds), *tail, self.equalities[mixed:]]),
            control_bounds=bounds,
        )

    def guess(self, guess: Guess) -> Guess:
        """A guess in these units."""
        return Guess(guess.xs / self.x, guess.us / self.u, guess.gains / self.u[:, None] * self.x)

    def duals(self, given: DualVariables) -> DualVariables:
        """Multipliers in these units."""
        return DualVariables(
            given.equalities * self.equalities / self.cost, given.inequalities * self.inequalities / self.cost
        )

    def solution(self, problem: Problem, found: InteriorSolution) -> InteriorSolution:
        """Solution in the problem's own units, of one in these; iterations keep all but their costs."""
        inner, cost, x, u = found.solution, self.cost, self.x, self.u
        violations = np.maximum(0.0, -inner.inequalities * self.inequalities).max(axis=1, initial=0.0)
        own = replace(
            inner,
            xs=inner.xs * x,
            us=inner.us * u,
            gains=inner.gains * u[:, None] / x,
            residuals=np.hstack([inner.residuals[:, :-1] * self.equalities, violations[:, None]]),
            inequalities=inner.inequalities * self.inequalities,
            cost=inner.cost * cost,
            initial_cost=inner.initial_cost * cost,
            iterations=tuple(
                replace(one, cost=one.cost * cost, expected=one.expected * cost, actual=one.actual * cost)
                for one in inner.iterations
            ),
            Vx=inner.Vx * cost / x,
            Vxx=inner.Vxx * cost / (x[:, None] * x),
        )
        certificate = None if found.certificate is None else self._certificate(found.certificate)
        return replace(
            found,
            solution=replace(own, message=_message(problem, own, certificate)),
            multipliers=DualVariables(
                found.multipliers.equalities * cost / self.equalities,
                found.multipliers.inequalities * cost / self.inequalities,
            ),
            slacks=found.slacks * self.inequalities,
            mu=found.mu * cost,
            mus=tuple(one * cost for one in found.mus),
            certificate=certificate,
        )

    def violation(self, solution: Solution) -> float:
        """Largest violation, or gap, in these units, of a solution in the problem's own."""
        n_e = self.equalities.size
        equalities = np.abs(solution.residuals[:, :n_e]) / self.equalities
        inequalities = np.maximum(0.0, -solution.inequalities) / self.inequalities
        return max(float(equalities.max(initial=0.0)), float(inequalities.max(initial=0.0)), solution.gap)

    def _certificate(self, found: Certificate) -> Certificate:
        return replace(
            found,
            xs=found.xs * self.x,
            us=found.us * self.u,
            equalities=found.equalities * self.equalities,
            inequalities=found.inequalities * self.inequalities,
            multipliers=DualVariables(
                found.multipliers.equalities / self.equalities, found.multipliers.inequalities / self.inequalities
            ),
        )


def _message(problem: Problem, solution: Solution, certificate: Certificate | None) -> str:
    """Message on the end of a solve, with numbers in the problem's own units."""
    if solution.termination is Termination.INFEASIBLE and certificate is not None:
        return f"{Termination.INFEASIBLE.value}; {certificate}"
    if solution.termination is Termination.UNBOUNDED:
        return (
            f"unbounded: the cost falls to {solution.cost:.3g} without end, at states of up to "
            f"{np.abs(solution.xs).max():.3g}; give the problem limits, or a cost with a minimum"
        )
    how = solution.message.split("; ")[0]
    return how if solution.termination is Termination.CONVERGED else f"{how}; {worst_constraint(problem, solution)}"


def is_scalable(problem: Problem) -> bool:
    """True for a problem of :func:`casadi_problem`, whose functions know units."""
    return problem.step is casadi_nodes.step


def units_of(problem: Problem, xs: Array, us: Array, cost: float | None = None) -> tuple[Units, Units]:
    """Units of a problem of :func:`casadi_problem` along states (N+1, n_x) and controls (N, n_u): gentle and full ones.

    Gentle ones leave all as it is but controls with two bounds, and costs that are large or small. With the `cost` of a
    solution, curvature counts little: there are no larger slopes on the way to it.
    """
    n, n_x, n_u, n_h = problem.n_nodes, problem.n_x, problem.n_u, int(problem.integers[0])
    data = node_data(problem, penalty=(0.0, 1.0, 0.0))
    expansion = problem.derivatives(n + 1)
    aux = np.zeros((n + 1, problem.n_aux))
    expand(node_function(problem.first, FIRST), data, xs, us, aux, expansion)
    _, fu, lx, lu, lxx, _, luu = expansion
    goal = terminal_jacobian(problem, data, xs[n], us[n - 1], aux[n])
    rows = aux[:n, casadi_nodes.aux_offsets(n_h + problem.n_mixed, n_x + n_u)[1] :].reshape(
        n, n_h + problem.n_mixed, n_x + n_u
    )
    size = np.abs(xs).max(axis=0)
    u = _control_units(problem, us, luu, _largest(np.abs(lx) * size, np.abs(_diagonals(lxx)) * size**2))
    x = _units(np.maximum(size, (np.abs(fu) @ u).max(axis=0)))
    slopes = _largest(np.abs(lx) * x, np.abs(lu) * u)
    bends = _largest(np.abs(_diagonals(lxx)) * x**2, np.abs(_diagonals(luu)) * (u * _free(problem)) ** 2)
    unit = max(slopes, bends) if cost is None else max(slopes, abs(cost) / n, _BENDS * bends)
    constraints = _units((np.abs(rows) * np.concatenate([x, u])).max(axis=2).max(axis=0))
    at_end = _units((np.abs(goal) * x).max(axis=1, initial=0.0))
    steep = slopes or bends
    steep = steep / _STEEP if steep > _STEEP else min(1.0, steep / _FLAT)
    gentle = Units(
        x=np.ones(n_x),
        u=_units(_half_ranges(problem)),
        cost=_unit(steep if cost is None else unit),
        equalities=np.ones(problem.n_e),
        inequalities=np.concatenate([_bound_units(problem, _units(_half_ranges(problem))), np.ones(n_h)]),
    )
    return gentle, Units(
        x=x,
        u=u,
        cost=_unit(unit),
        equalities=np.concatenate([constraints[n_h:], at_end]),
        inequalities=np.concatenate([_bound_units(problem, u), constraints[:n_h]]),
    )


def _control_units(problem: Problem, us: Array, luu: Array, cost: float) -> Array:
    half, size = _half_ranges(problem), np.abs(us).max(axis=0)
    bend = np.abs(_diagonals(luu)).max(axis=0)
    by_cost = np.sqrt(np.divide(cost, bend, out=np.zeros_like(bend), where=bend > 0.0))
    return _units(np.where(half > 0.0, half, np.where(size > 0.0, size, by_cost)))


def _bound_units(problem: Problem, u: Array) -> Array:
    """(2 n_u,) units of the distances to bounds: half-ranges, or units u of controls with one bound."""
    half = _half_ranges(problem)
    return np.tile(np.where(half > 0.0, half, u), 2)


def _half_ranges(problem: Problem) -> Array:
    """(n_u,) half of the range of each control, 0 without two bounds."""
    assert problem.control_bounds is not None
    low, up = problem.control_bounds
    there = np.isfinite(low) & np.isfinite(up)
    return np.where(there, 0.5 * (np.where(there, up, 0.0) - np.where(there, low, 0.0)), 0.0)


def _free(problem: Problem) -> NDArray[np.bool_]:
    """(n_u,) controls that bounds do not fix."""
    assert problem.control_bounds is not None
    free: NDArray[np.bool_] = problem.control_bounds[0] < problem.control_bounds[1]
    return free


def _diagonals(matrices: Array) -> Array:
    return np.einsum("kii->ki", matrices)


def _largest(*arrays: Array) -> float:
    return max(float(np.nan_to_num(one, nan=0.0, posinf=0.0).max(initial=0.0)) for one in arrays)


def _unit(size: float) -> float:
    return float(_units(np.array([size]))[0])


def _units(sizes: Array) -> Array:
    """Powers of two near sizes; 1 for none."""
    there = np.isfinite(sizes) & (sizes > 0.0)
    exponents = np.round(np.log2(np.where(there, sizes, 1.0)))
    return np.clip(2.0**exponents, 1.0 / _LARGEST, _LARGEST)
