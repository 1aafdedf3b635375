"""Solver of any optimal control problem: scaling, shooting and strategy are chosen, not asked for.

A solve goes through these attempts and ends with the first that converges to a feasible trajectory:

1. the interior point with exact curvature and a filter (:mod:`contact_ddp_ros.ocp.inertia_run`), rolling trajectories
   out, in gentle units, in full ones, and in these with a far bound on states; where the first trajectory leaves the
   finite numbers, the next
2. the same from the guess's states as they are (multiple shooting), in gentle and in full units;
3. the interior point with the merit and the homotopy of Hessians (:mod:`contact_ddp_ros.ocp.interior_point`).

Units (:mod:`contact_ddp_ros.ocp.units`) are taken from the first trajectory; where the cost's unit at the solution is
much smaller, the attempt goes on in that one, so that tolerances are relative to what the solution is like. A
stationary point that is no minimum is left by a small disturbance of its controls. An attempt whose cost and violation
hardly change for a hundred iterations makes room for the next.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp.checks import checked_array, describe
from contact_ddp_ros.ocp.ddp import checked_guess
from contact_ddp_ros.ocp.interior_point import InteriorPointSolver
from contact_ddp_ros.ocp.interior_solution import (
    FEASIBLE,
    DualVariables,
    InteriorPointOptions,
    InteriorSolution,
    interior_options,
)
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem, check_problem, node_data
from contact_ddp_ros.ocp.solution import Guess, Iteration, Termination
from contact_ddp_ros.ocp.units import Units, is_scalable, units_of

Array = NDArray[np.float64]

_REFINEMENTS, _FINER = 4, 0.1
"""Solves of an attempt at most, and the share of the cost's unit below which another one follows."""

_WINDOW, _CHANGE, _FALL = 100, 1e-3, 0.9
"""Progress that keeps an attempt alive: iterations, in which cost or violation change by shares."""

_WIDE = 2.0**20
"""Factor on the states' units of an attempt that may leave the usual bound on them."""

_FAR = 1e100
"""States of a first trajectory that count as not finite."""

_TOLERANCES = (1e-14, 1.0)
"""Least and largest tolerance."""

_INSIDE = 0.1
"""Distance of first controls from a single bound, relative to it or to 1."""

_DISTURBANCE = 0.01
"""Disturbance of controls at a stationary point that is no minimum, in their units."""


def solve(
    problem: Problem,
    x0: ArrayLike,
    guess: Guess | ArrayLike | None = None,
    *,
    warm: InteriorSolution | None = None,
    max_iterations: int = 1000,
    tolerance: float = 1e-8,
    callback: Callable[[Iteration], object] | None = None,
) -> InteriorSolution:
    """Minimise a problem's cost subject to its constraints from x0; the iterations are those of all attempts.

    Args:
        problem: of :func:`casadi_problem`, or of node functions (not scaled then).
        x0: (n_x,) initial state.
        guess: first trajectory, or controls (N, n_u); by default the middle of the bounds, or 0. With `warm` its own.
        warm: an earlier solution of a similar problem, whose trajectory and multipliers are begun with.
        max_iterations: limit of all attempts together.
        tolerance: largest error of the optimality conditions at the end, in units in which the problem is of size 1.
        callback: gets every iteration, its numbers in the solver's units; True ends the solve.

    Raises:
        SolverError: x0 or the guess do not fit the problem, or hold NaN or infinite numbers.
    """
    check_problem(problem)
    _check_settings(warm, max_iterations, tolerance, callback)
    x_start = checked_array("x0", x0, (problem.n_x,))
    if guess is None and warm is not None:
        guess = Guess(warm.xs, warm.us, warm.gains)
    given = guess if isinstance(guess, Guess) else Guess.open_loop(x_start, _first_controls(problem, guess))
    if warm is not None:
        shapes = warm.multipliers.equalities.shape, warm.multipliers.inequalities.shape
        needed = (problem.n_nodes + 1, problem.n_e), (problem.n_nodes, problem.n_i)
        if shapes != needed:
            raise SolverError(f"warm has multipliers of shapes {shapes}; needed: {needed}, as the problem")
    job = _Job(problem, x_start, warm.multipliers if warm else None, tolerance, max_iterations, callback)
    best: InteriorSolution | None = None
    for options, interior, start, units in job.attempts(checked_guess(problem, given)):
        found = job.refined(options, interior, start, units)
        if best is None or _rank(found) < _rank(best):
            best = found
        if job.left <= 0 or (best.feasible and best.status is Termination.CONVERGED):
            break
    assert best is not None
    return replace(best, solution=replace(best.solution, iterations=job.iterations), mus=job.mus)


class _Job:
    """Solve in progress: its problem and settings, and what all attempts have done."""

    def __init__(
        self,
        problem: Problem,
        x0: Array,
        warm: DualVariables | None,
        tolerance: float,
        limit: int,
        callback: Callable[[Iteration], object] | None,
    ) -> None:
        self.problem, self.x0, self.warm, self.callback, self.left = problem, x0, warm, callback, limit
        self.iterations: tuple[Iteration, ...] = ()
        self.mus: tuple[float, ...] = ()
        self.full: Units | None = None
        self.exact = interior_options(SolverOptions())
        self.inertia = InteriorPointOptions(strategy="inertia", kkt_tolerance=tolerance)

    def attempts(self, guess: Guess) -> Iterator[tuple[SolverOptions, InteriorPointOptions, Guess, Units | None]]:
        """Options, first trajectories and units, one after the other."""
        problem = self.problem
        xs, us, complete = self._rolled_out(guess)
        gentle, full = units_of(problem, xs, us) if is_scalable(problem) else (None, None)
        self.full = full
        if problem.n_mixed + problem.n_terminal == problem.n_e:
            for options in (self.exact,) * complete + (replace(self.exact, shooting="multiple"),):
                wide = None if full is None else replace(full, x=_WIDE * full.x)
                for units in {id(one): one for one in (gentle, full, wide if options is self.exact else full)}.values():
                    yield options, self.inertia, guess, units
        yield self.exact, InteriorPointOptions(), guess, full

    def refined(
        self, options: SolverOptions, interior: InteriorPointOptions, guess: Guess, units: Units | None
    ) -> InteriorSolution:
        """A solve, and further ones from its end as long as that is no minimum, or has a much smaller unit."""
        warm, best = self.warm, None
        for _ in range(_REFINEMENTS):
            found = self._solve(options, interior, guess, units, warm)
            self.iterations += found.solution.iterations
            taken = len(found.solution.iterations)
            self.mus += found.mus + (found.mu,) * (taken - len(found.mus))  # refused steps have none
            self.left -= taken
            best = found if best is None or _rank(found)[:2] <= _rank(best)[:2] else best  # finer, if as good
            if self.left <= 0 or found.status is not Termination.CONVERGED:
                break
            if not found.is_minimum:
                guess, warm = self._disturbed(found, units), None
                continue
            if units is None:
                break
            finer = units_of(self.problem, found.xs, found.us, found.cost)[1]
            if finer.cost > _FINER * units.cost:
                break
            units, guess, warm = finer, Guess(found.xs, found.us, np.zeros_like(found.gains)), found.multipliers
        assert best is not None
        return best

    def _solve(
        self,
        options: SolverOptions,
        interior: InteriorPointOptions,
        guess: Guess,
        units: Units | None,
        warm: DualVariables | None,
    ) -> InteriorSolution:
        solver, watch = InteriorPointSolver(options, interior), _Watch(self)
        if units is None:
            return solver.solve(self.problem, self.x0, guess, warm=warm, max_iterations=self.left, callback=watch)
        found = units.solution(
            self.problem,
            solver.solve(
                units.of(self.problem),
                self.x0 / units.x,
                units.guess(guess),
                warm=None if warm is None else units.duals(warm),
                max_iterations=self.left,
                callback=watch,
            ),
        )
        assert self.full is not None
        allowed = max(FEASIBLE, self.inertia.kkt_tolerance)
        return replace(found, relative_violation=self.full.violation(found.solution), allowed_violation=allowed)

    def _disturbed(self, found: InteriorSolution, units: Units | None) -> Guess:
        size = units.u if units is not None else np.ones(self.problem.n_u)
        us = found.us + _DISTURBANCE * size * np.random.default_rng(0).uniform(-1.0, 1.0, found.us.shape)
        if self.problem.control_bounds is not None:
            us = np.clip(us, *self.problem.control_bounds)
        return Guess(found.xs, us, np.zeros_like(found.gains))

    def _rolled_out(self, guess: Guess) -> tuple[Array, Array, bool]:
        """States and controls of a guess, as they are from where they leave the finite numbers; whether none does."""
        problem = self.problem
        data = node_data(problem, penalty=(0.0, 1.0, 0.0))
        xs, us = guess.xs.copy(), guess.us.copy()
        xs[0] = self.x0
        aux, residual, following = np.zeros(problem.n_aux), np.zeros(problem.n_residuals), np.zeros(problem.n_x)
        for k in range(problem.n_nodes + 1):
            if k < problem.n_nodes:
                us[k] = guess.us[k] + guess.gains[k] @ (xs[k] - guess.xs[k])
            cost = problem.step(data, k, xs[k], us[min(k, problem.n_nodes - 1)], following, aux, residual)
            if not (np.isfinite(cost) and (np.abs(following) < _FAR).all()):
                return guess.xs.copy(), guess.us.copy(), False
            if k < problem.n_nodes:
                xs[k + 1] = following
        return xs, us, True


class _Watch:
    """Callback that ends an attempt which creeps, or when the user's own one says so."""

    def __init__(self, job: _Job) -> None:
        self._job = job
        self._count, self._last = 0, (np.inf, np.inf)

    def __call__(self, iteration: Iteration) -> str | bool:
        if (
            self._job.callback is not None
            and isinstance(ends := self._job.callback(iteration), bool | np.bool_)
            and ends
        ):
            self._job.left = 0  # no attempt follows
            return True
        self._count += 1
        if self._count % _WINDOW:
            return False
        (cost, violation), before = self._last, self._last
        self._last = cost, violation = iteration.cost, max(iteration.equality, iteration.inequality, iteration.gap)
        changed = not abs(cost - before[0]) <= _CHANGE * abs(cost)
        return "cost and violation hardly change any more" if not changed and violation >= _FALL * before[1] else False


def _rank(found: InteriorSolution) -> tuple[bool, int, float]:
    """Sort key of outcomes, the best first."""
    order = [Termination.UNBOUNDED, Termination.INFEASIBLE]
    place = order.index(found.status) + 1 if found.status in order else len(order) + 1
    if found.status is Termination.CONVERGED and found.feasible:
        place = 0 if found.is_minimum else 1
    violation = found.violation if found.solution.is_finite else np.inf
    return not found.feasible, place, max(violation, found.solution.gap)


def _check_settings(warm: Any, max_iterations: Any, tolerance: Any, callback: Any) -> None:
    if warm is not None and not isinstance(warm, InteriorSolution):
        raise SolverError(f"warm is {describe(warm)}; needed: what an earlier solve returned")
    if not isinstance(max_iterations, int | np.integer) or max_iterations < 0:
        raise SolverError(f"max_iterations is {max_iterations!r}; needed: a whole number from 0 on")
    if not isinstance(tolerance, float | int | np.number) or not _TOLERANCES[0] <= tolerance <= _TOLERANCES[1]:
        raise SolverError(f"tolerance is {tolerance!r}; needed: a number from {_TOLERANCES[0]:g} to {_TOLERANCES[1]:g}")
    if callback is not None and not callable(callback):
        raise SolverError(f"callback is {describe(callback)}; needed: a function of an Iteration")


def _first_controls(problem: Problem, given: ArrayLike | None) -> Array:
    """(N, n_u) controls as they are given, or the middle of their bounds."""
    if given is not None:
        return checked_array("guess", given, (problem.n_nodes, problem.n_u))
    if problem.control_bounds is None:
        return np.zeros((problem.n_nodes, problem.n_u))
    low, up = problem.control_bounds
    inside = _INSIDE * np.maximum(1.0, np.abs(np.where(np.isfinite(low), low, np.where(np.isfinite(up), up, 0.0))))
    middle, both = np.clip(0.0, low + inside, up - inside), np.isfinite(low) & np.isfinite(up)
    middle[both] = 0.5 * (low[both] + up[both])
    return np.tile(middle, (problem.n_nodes, 1))
