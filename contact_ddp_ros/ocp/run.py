"""One solve in progress: iterations of expansion, sweep and line search, with the regularisation (θ, ρ).

:mod:`contact_ddp_ros.ocp.ddp` says what it does and why; the interior point refines it
(:mod:`contact_ddp_ros.ocp.interior_run`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.ocp.backward import backward_of
from contact_ddp_ros.ocp.defects import Defects, evaluate, slope
from contact_ddp_ros.ocp.diagnosis import is_unbounded
from contact_ddp_ros.ocp.node_function import node_function
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import FIRST, SECOND, STEP, Problem
from contact_ddp_ros.ocp.rollout import STATE_BOUND, expand, rollout, state_bound
from contact_ddp_ros.ocp.solution import Guess, Iteration, Solution, Termination
from contact_ddp_ros.ocp.workspace import Workspace

if TYPE_CHECKING:
    from contact_ddp_ros.ocp.held_curvature import HeldCurvature

Array = NDArray[np.float64]

_ROUNDING = 1e-14
"""A change of the cost below this share of it is rounding and no reason to refuse a step: so near a minimum Armijo's
rule sees noise only, and refusals would hold the error at the square root of rounding (Hager and Zhang 2005)."""

_SMALL = 1e-3
"""The tolerance is relative to 1 + |cost|; 1 is the first cost where that is smaller than this."""

EARLY = "ended early"
"""Begin of the message of a solve that a callback ends."""

_NEAR_BLEND = 0.25
"""θ of the first iteration that is no longer far from the optimum."""


def _held_curvature(problem: Problem, data: Any, period: int) -> "HeldCurvature":
    """Imported here, since it compiles what no other variant needs."""
    from contact_ddp_ros.ocp.held_curvature import HeldCurvature

    return HeldCurvature(problem, data, period)


@dataclass
class _Effort:
    """Time of each stage [s] and number of sweeps and rollouts of one iteration so far."""

    partials_time: float = 0.0
    sweep_time: float = 0.0
    rollout_time: float = 0.0
    sweeps: int = 0
    rollouts: int = 0
    second_order_sweeps: float = 0.0
    gauss_newton_sweeps: float = 0.0

    def add_sweep(self, share: float, second_order: bool) -> None:
        """Count a sweep over a fraction `share` of the nodes, with second-order terms (θ > 0) or without."""
        self.sweeps += 1
        if second_order:
            self.second_order_sweeps += share
        else:
            self.gauss_newton_sweeps += share


class Run:
    """One solve in progress: the nominal trajectory, its expansion, and the regularisation (θ, ρ)."""

    def __init__(self, problem: Problem, data: tuple[Array, ...], work: Workspace, options: SolverOptions) -> None:
        self.problem, self.data, self.work, self.options = problem, data, work, options
        self._step = node_function(problem.step, STEP)
        self._first = node_function(problem.first, FIRST)
        self._second = node_function(problem.second, SECOND)
        self._held_curvature: HeldCurvature | None = None
        self._second_data = data
        if options.variant == "quasi_newton":
            self._held_curvature = _held_curvature(problem, data, options.curvature_period)
            self._second, self._second_data = self._held_curvature.address, self._held_curvature.data
        self._position_steps = problem.halves
        self._backward = backward_of(problem.n_x, problem.n_u, problem.halves.size > 0)
        self.cost = np.inf
        self.hessian_blend = 0.0
        self._far = False
        self.rho = 0.0
        self.message = ""
        self.gaps = Defects(problem.n_x)
        self.iterations: list[Iteration] = []
        self._effort = _Effort()
        self._expanded = self._swept = False
        self._short_without_curvature = False
        self._longest = 1.0
        self._share = 1.0
        self._past = 0
        self._no_slacks = np.zeros((0, problem.n_residuals))
        self._bound = STATE_BOUND
        self._floor = 1.0
        self._rollouts = self._cuts = 0
        self._cut_place = (0, 0)

    def start(self, x0: Array, guess: Guess, blend: float) -> None:
        """Make the guess the nominal trajectory: roll it out from x0, or use its states as they are."""
        started = perf_counter()
        self._bound = state_bound(x0, guess.xs)
        self.work.clear_sweep()
        self.work.nominal[0][0] = x0
        self.work.nominal[3][:] = np.inf  # nodes that a diverging rollout does not reach hold no constraint
        if self.options.shooting == "multiple":
            self.cost = self._evaluate_guess(guess)
        else:
            self.cost = self._rollout(guess.xs, guess.us, guess.gains, 0.0, self.work.nominal)
            if not np.isfinite(self.cost):
                self._explain_divergence(self.work.nominal[0][1:])
        self._effort.rollout_time += perf_counter() - started
        if 0.0 < abs(self.cost) < _SMALL:
            self._floor = abs(self.cost)
        self.hessian_blend = 0.0 if self.options.variant == "ilqr" else min(max(blend, 0.0), 1.0)

    def iterate(self) -> Termination | None:
        """Do one iteration: expansion, sweep, line search. Return the reason to stop, or None."""
        options = self.options
        self._expand()
        while True:
            swept = self._sweep()
            if swept is None:
                return Termination.STALLED
            linear, quadratic, gradient = swept
            blend, rho = self.hessian_blend, self.rho
            # a large Levenberg term shortens the step, so that its expected reduction is small anywhere
            converged = rho <= options.rho_min and self._is_optimal(-(linear + quadratic))
            alpha, new_cost = self._line_search(linear, quadratic, converged)
            if alpha > 0.0 or converged or not self._step_min > options.step_min:
                break
            self._increase_regularisation()
        closed = self.gaps.merit_reduction(alpha)
        expected = closed - (alpha * linear + alpha * alpha * quadratic)
        actual, self.cost = self.cost - new_cost + closed, new_cost
        if alpha > 0.0:
            self._short_without_curvature = alpha < options.second_order_step_min * self._longest
            self.gaps.shrink(alpha)
            self.work.nominal, self.work.trial = self.work.trial, self.work.nominal
            self._expanded = False
            self._after_step(alpha, -(linear + quadratic))
        self._record(expected, actual, alpha, blend, rho, gradient)
        if converged:
            return Termination.CONVERGED
        if alpha > 0.0:
            self._decrease_regularisation(-(linear + quadratic))
        elif rho > options.rho_max:
            self.message = (
                f"stalled: no line-search step down to step_min = {options.step_min:.3g} reduces the cost although "
                f"ρ = {rho:.3g} exceeds rho_max = {options.rho_max:.3g}"
            )
            return Termination.STALLED
        else:
            self._increase_regularisation()
        return None

    def _is_optimal(self, reduction: float) -> bool:
        """True if the reduction that a full step is expected to bring ends the solve."""
        return not self.gaps.are_open and reduction <= self.options.tolerance * (self._floor + abs(self.cost))

    def _after_step(self, alpha: float, reduction: float) -> None:
        """Called with the step taken and the reduction that a full one was expected to bring."""

    def _expand(self) -> None:
        if self._expanded:
            return
        started = perf_counter()
        expand(self._first, self.data, *self.work.nominal[:3], self.work.expansion)
        if self._held_curvature is not None:
            self._held_curvature.follow(self.work, self.hessian_blend > 0.0)
        self._effort.partials_time += perf_counter() - started
        self._expanded = True

    def _sweep(self) -> tuple[float, float, float] | None:
        """Backward sweep, with more regularisation until every Quu + ρI is positive definite.

        Returns linear and quadratic term of the cost's expected change and the largest |Qu|; None where ρ exceeds its
        limit.
        """
        work, started = self.work, perf_counter()
        while True:
            failed, linear, quadratic, gradient = self._sweep_once()
            if failed < 0 or self.rho > self.options.rho_max:
                break
            self._increase_regularisation()
        if failed < 0:
            work.accept_candidate()
            change = linear + quadratic
            if self.gaps.are_open:
                linear = slope(self.problem.has_control, work.expansion, work.ks, work.gains, self.gaps.d)
            linear, change = self._with_constraints(linear, change)
            if self.gaps.are_open:
                self.gaps.raise_weight(linear, change)
            quadratic = change - linear
        self._effort.sweep_time += perf_counter() - started
        if failed >= 0:
            self.message = (
                f"stalled: Quu + ρI is not positive definite at node {failed} although ρ = {self.rho:.3g} exceeds "
                f"rho_max = {self.options.rho_max:.3g}"
            )
            return None
        return linear, quadratic, gradient

    def _sweep_once(self) -> tuple[int, float, float, float]:
        """One backward sweep into the workspace's candidate; what :func:`backward_of` returns."""
        work = self.work
        swept: tuple[int, float, float, float] = self._backward(
            self._second,
            self._second_data,
            self.problem.has_control,
            self._position_steps,
            *work.nominal[:3],
            work.expansion,
            self.gaps.d,
            self.hessian_blend,
            self.rho,
            *work.candidate,
        )
        self._effort.add_sweep(1.0 - max(swept[0], 0) / self.problem.n_nodes, self.hessian_blend > 0.0)
        return swept

    def _with_constraints(self, linear: float, change: float) -> tuple[float, float]:
        """Slope and change of the cost along the step, with what violated constraints add to them."""
        return linear, change

    def _line_search(self, linear: float, quadratic: float, converged: bool) -> tuple[float, float]:
        """First step of 1, c, c², … that satisfies Armijo's rule (on the merit, with gaps), or 0, and the cost there.

        Once converged, the expected reductions are below rounding: one full step is tried and accepted if it does not
        raise the cost.
        """
        options, work, started = self.options, self.work, perf_counter()
        work.trial[0][0] = work.nominal[0][0]
        alpha, accepted, cost, self._longest = 1.0, 0.0, self.cost, 1.0
        rounding = _ROUNDING * abs(self.cost)
        while alpha >= self._step_min:
            new_cost = self._trial_cost(alpha)
            closed = self.gaps.merit_reduction(alpha)
            expected = alpha * linear + alpha * alpha * quadratic - closed
            rise = new_cost - self.cost - rounding
            if rise - closed <= options.armijo * expected or (converged and rise <= 0.0):
                accepted, cost = alpha, new_cost
                break
            if converged:
                break
            alpha = self._shorter(alpha)
        self._effort.rollout_time += perf_counter() - started
        return accepted, cost

    def _trial_cost(self, alpha: float) -> float:
        """Roll a step out; its cost, infinite where it diverges."""
        return self._rollout(*self.work.nominal[:2], self.work.gains, alpha, self.work.trial)

    def _shorter(self, alpha: float) -> float:
        """The next step to try."""
        return alpha * self.options.step_factor

    @property
    def _step_min(self) -> float:
        """The shortest step that is tried.

        Where the model with second order (θ > 0) holds for a short step only it misleads, and so do its gains: less
        curvature comes first, unless the last step without it was short, too.
        """
        options = self.options
        if self.hessian_blend == 0.0 or self._short_without_curvature:
            return options.step_min
        return max(options.step_min, options.second_order_step_min * self._longest)

    def _rollout(
        self,
        xs: Array,
        us: Array,
        gains: Array,
        alpha: float,
        into: tuple[Array, Array, Array, Array],
        least: float = -np.inf,
    ) -> float:
        """Cost of a step's rollout, infinite where it diverges or leaves less than a share `least` of a slack."""
        self._effort.rollouts += 1
        old = self._no_slacks if least == -np.inf or self.problem.n_i == 0 else self.work.nominal[3]
        given = self._step, self.data, self.problem.has_control, xs, us, self.work.ks, gains, alpha, self.gaps.d
        cost: float
        cost, self._share = rollout(*given, old, least, self._past, self._bound, *into)
        self._rollouts += 1
        if cost == np.inf and self._share == 1.0:
            self._note_cut(into[0])
        return cost

    def _note_cut(self, states: Array) -> None:
        """Count a rollout that diverged because a state left its bound."""
        outside = np.argwhere(~(np.abs(states) < self._bound))
        if len(outside):
            self._cuts += 1
            self._cut_place = int(outside[0][0]), int(outside[0][1])

    def _evaluate_guess(self, guess: Guess) -> float:
        """Make the guess's states and controls the nominal trajectory, with gaps; return its cost."""
        xs, us = self.work.nominal[:2]
        xs[1:] = guess.xs[1:]
        us[:] = np.where(self.problem.has_control[:, None], guess.us, 0.0)
        gaps = np.zeros((self.problem.n_nodes, self.problem.n_x))
        cost: float = evaluate(self._step, self.data, self._bound, *self.work.nominal, gaps)
        if np.isfinite(cost):
            self.gaps.set(gaps)
        else:
            self._explain_divergence(gaps[: np.flatnonzero((gaps != 0.0).any(axis=1)).max(initial=-1) + 1])
        return cost

    def _explain_divergence(self, states: Array) -> None:
        """Name the first of the states (n, n_x) of nodes 1 to n that is out of bounds."""
        outside = np.flatnonzero(~(np.abs(states) < self._bound).all(axis=1))
        self.message = "diverged: the cost of the first trajectory is not finite"
        if outside.size:
            self.message = f"diverged: the first trajectory leaves |x| < {self._bound:g} at node {outside[0] + 1}"

    def _increase_regularisation(self) -> None:
        """Reduce θ, at θ = 0 raise ρ: after an indefinite Quu or a failed line search."""
        options = self.options
        if self.hessian_blend > 0.0:
            self.hessian_blend *= options.hessian_blend_cut
            if self.hessian_blend < options.hessian_blend_min:
                self.hessian_blend = 0.0
        else:
            self.rho = max(options.rho_min, self.rho * options.rho_factor)

    def _decrease_regularisation(self, reduction: float) -> None:
        """Reduce ρ and raise θ: after an accepted step, with the reduction that a full one was expected to bring."""
        options = self.options
        self.rho = self.rho / options.rho_factor if self.rho > options.rho_min else 0.0
        if self._far:
            self._far = reduction > options.second_order_below * (1.0 + abs(self.objective))
            self.hessian_blend = 0.0 if self._far else _NEAR_BLEND
        elif options.variant != "ilqr":
            self.hessian_blend = min(
                1.0, max(self.hessian_blend, options.hessian_blend_min) * options.hessian_blend_grow
            )

    def _record(self, expected: float, actual: float, alpha: float, blend: float, rho: float, gradient: float) -> None:
        residuals, effort, n_e = self.work.nominal[3], self._effort, self.problem.n_e
        self.iterations.append(
            Iteration(
                cost=self.objective,
                expected=expected,
                actual=actual,
                step=alpha,
                hessian_blend=blend,
                rho=rho,
                gradient=gradient,
                gap=self.gaps.largest,
                equality=float(np.abs(residuals[:, :n_e]).max(initial=0.0)),
                inequality=float(residuals[:, -1].max(initial=0.0)),
                partials_time=effort.partials_time,
                sweep_time=effort.sweep_time,
                rollout_time=effort.rollout_time,
                sweeps=effort.sweeps,
                rollouts=effort.rollouts,
                second_order_sweeps=effort.second_order_sweeps,
                gauss_newton_sweeps=effort.gauss_newton_sweeps,
            )
        )
        self._effort = _Effort()

    def end(self, guess: Guess, limit: int, callback: Callable[[Iteration], object] | None = None) -> Solution:
        """Iterate until a reason to stop, at most `limit` times; the guess's gains are kept where there is no sweep."""
        initial_cost, first = self.cost, self.objective
        termination = None if np.isfinite(self.cost) else Termination.DIVERGED
        while termination is None:
            if len(self.iterations) >= limit:
                termination, self.message = Termination.ITERATIONS, f"iteration limit reached: {limit}"
            else:
                done = len(self.iterations)
                termination = self.iterate()
                if callback is not None and len(self.iterations) > done:
                    ends = callback(self.iterations[-1])
                    if termination is None and (ends is True or isinstance(ends, str)):
                        reason = ends if isinstance(ends, str) else "by the callback"
                        termination, self.message = Termination.ITERATIONS, f"{EARLY}: {reason}"
        if termination in (Termination.ITERATIONS, Termination.STALLED):
            termination = self._explain_end(termination, first)
        work, n_e = self.work, self.problem.n_e
        xs, us, aux, residuals = work.nominal
        return Solution(
            xs=xs.copy(),
            us=us.copy(),
            gains=work.gains.copy() if self.iterations or self._swept else np.array(guess.gains),
            aux=aux[:, : self.problem.n_kept].copy(),
            residuals=np.hstack([residuals[:, :n_e], residuals[:, -1:]]),
            cost=self.objective,
            initial_cost=initial_cost,
            gap=self.gaps.largest if np.isfinite(self.cost) else np.inf,
            hessian_blend=self.hessian_blend,
            termination=termination,
            message=self.message or termination.value,
            iterations=tuple(self.iterations),
            Vx=work.vx.copy(),
            Vxx=work.vxx.copy(),
            inequalities=residuals[:, n_e:-1].copy(),
        )

    def _explain_end(self, termination: Termination, first: float) -> Termination:
        """Say that the cost has no lower bound, or that trajectories were cut; `first` is the cost at the beginning."""
        unbounded = self._keeps_constraints and is_unbounded(self.objective, first, self._cuts > 0)
        if unbounded:
            termination, largest = Termination.UNBOUNDED, float(np.abs(self.work.nominal[0]).max())
            self.message = (
                f"unbounded: the cost falls to {self.objective:.3g} without end, at states of up to {largest:.3g}; "
                "give the problem limits, or a cost with a minimum"
            )
        if self._cuts:
            k, i = self._cut_place
            self.message += (
                f"; {self._cuts} of {self._rollouts} trajectories were cut where |x| reached {self._bound:.3g}, the "
                f"last at x[{i}] of node {k}: steps were the shorter for it"
            )
            self.message += "" if unbounded else "; write larger states in larger units, or the guess with such states"
        return termination

    @property
    def _keeps_constraints(self) -> bool:
        """Feasibility of the nominal trajectory: no constraint that a solution must keep is violated."""
        return True

    @property
    def objective(self) -> float:
        """The cost that a solution reports."""
        return self.cost
