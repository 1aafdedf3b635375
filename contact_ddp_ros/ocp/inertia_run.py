r"""A solve by the interior point with exact curvature, mixed equalities with multipliers, and a filter.

The problem, slacks s and multipliers are those of :mod:`contact_ddp_ros.ocp.interior_point`; the differences:

Curvature stays whole (θ = 1; 0 for the variant "ilqr"): where a node's matrix has the wrong inertia, δI joins it
(:mod:`contact_ddp_ros.ocp.constrained_riccati`); an iteration in which no δ helps, as with adjoints that an unstable
plant makes huge, does without. θ cuts the dynamics' curvature, but the cost itself may be indefinite,
as with complementarity conditions, products of controls that are penalised: then no θ helps, and Levenberg's ρ with
θ = 0 is slow. δ is remembered: the next failure begins at a third of it.

Mixed equalities are no penalties. Their multipliers come with the step and their violation is the filter's. So it is
with c(x_N) = 0, whose step of the multipliers is proximal, ψ = (c + c_x δx)/δ_c: δ_c is small, and 0 = ψ at the end.
Equalities of other nodes without control are refused.

Step. A trial is rolled out, and judged by ϑ = Σ|g| + Σ|c| + Σ w|z − s| + Σ|d| (d are the gaps of multiple shooting)
and φ = J − μ Σ w ln s (:mod:`contact_ddp_ros.ocp.trial_run`). A slack whose z is so curved that it would cut the step
goes as the linearisation says instead, and leaves z; controls stay within their bounds. Where the first trial raises ϑ,
a second sweep aims at the linearisation corrected by the trial's g (second-order correction). Where no step down to
`step_min` is accepted, δ is raised, which turns the step towards the shortest one to the linearised g = 0; after
`_ATTEMPTS` of them follow steps that only restore feasibility (:mod:`contact_ddp_ros.ocp.slacks`), until the filter
accepts their ϑ and φ.

Guarantee. With g_u of full rank, bounded iterates, and neither a stall nor a failed restoration, every limit point is
feasible and one of them is stationary for the barrier's problem (Wächter and Biegler 2005, Theorems 1 and 2: the
direction is Newton's with the right inertia, and a rollout is the linear step to first order). `step_min` is a constant
where theirs depends on ϑ, so that a solve may stall, and say so, where theirs goes on. Near a solution with the right
inertia δ stays 0, and convergence is quadratic at fixed μ.

The end is E ≤ `kkt_tolerance`, with E the largest of |∂L/∂u| at the adjoint, of violations, and of |y s − μ| with
μ = 0, the first and the last over a hundredth of the mean multiplier where that is above 100 (Wächter and Biegler 2006,
Eq. (5)). Where |∂L/∂u| is at the rounding of slopes beyond 10⁴ for some iterations, slopes and costs count by their own
size from then on (:mod:`contact_ddp_ros.ocp.optimality`). What rounding of z makes of multipliers μ/s counts as none,
and the sweep's V'x stands for the adjoint where that is much larger, as with unstable plants. A last sweep gives the
gains at the solution and tells whether it is a minimum.
"""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.ocp import constrained_riccati as saddle_sweep
from contact_ddp_ros.ocp import linear_model, optimality, slacks
from contact_ddp_ros.ocp.interior_solution import DualVariables, InteriorPointOptions, InteriorSolution
from contact_ddp_ros.ocp.multipliers import MU, SIGMA
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.rollout import expand
from contact_ddp_ros.ocp.solution import Solution, Termination
from contact_ddp_ros.ocp.trial_run import Filter, Pair, TrialRun
from contact_ddp_ros.ocp.workspace import Workspace

Array = NDArray[np.float64]
_FIRST, _MOST = 1e-4, 1e20
_FALL, _GROW, _FIRST_GROW = 1.0 / 3.0, 8.0, 100.0
"""First and largest δ; share of the last one to begin with, factors on failures."""

_ATTEMPTS, _RAISE = 12, 10.0
"""Sweeps of an iteration whose every step is refused, and the factor on δ from one to the next."""

_OWN = 1.0
"""Largest δ of a node by itself, beyond which all nodes get more."""

_RESTORING, _RESTORED = 100, 0.9
"""Steps of a restoration at most, and the share of ϑ that it must reach."""

_KAPPA, _MU_FACTOR, _MU_POWER = 10.0, 0.2, 1.2
"""μ falls to the smaller of _MU_FACTOR μ and μ^_MU_POWER where E ≤ _KAPPA μ."""

_RELATIVE, _ROUNDED = 1e-6, 10
"""|∂L/∂u| over its largest term, and iterations in a row, by which rounding is known."""

_ULPS, _SHARE = 4.0 * float(np.finfo(float).eps), 1e-6
"""Rounding of z, and the share of the multipliers that it may take at most."""

_CURVED = 1e-6
"""Negative curvature at a solution that is rounding."""

_SEEN = 1e3
"""Largest slope of the cost, relative to the tolerance, that gets a remark."""

_TINY = 1e-300


class InertiaRun(TrialRun):
    """A solve in progress; see the module's text."""

    def __init__(
        self,
        problem: Problem,
        data: tuple[Array, ...],
        work: Workspace,
        options: SolverOptions,
        interior: InteriorPointOptions,
    ) -> None:
        super().__init__(problem, data, work, options, interior)
        n = problem.n_nodes
        self._costates = np.zeros((n + 1, problem.n_x))
        self._other, self._second_other = (tuple(np.zeros_like(one) for one in work.expansion) for _ in range(2))
        self._theta = self._curvature = 0.0 if options.variant == "ilqr" else 1.0
        self._deltas = np.zeros(n)
        self._last_delta = 0.0
        self._filter: Filter | None = None
        self._slope_of: tuple[Array, ...] = work.expansion
        self._slack_slope = 0.0
        self._goal = np.zeros((problem.n_terminal, problem.n_x))
        self._goal_step = np.zeros(problem.n_terminal)
        self._dependent = False
        self._pinned = np.zeros((n, problem.n_i), dtype=bool)
        self.restorations = 0
        self._slope = self._steepest = 0.0
        self._at_rounding = 0
        self._relative = False

    def begin(self, warm: DualVariables | None, held: float | None) -> None:
        """Begin a solve; mixed equalities need no penalty."""
        super().begin(warm, held)
        self._penalty[SIGMA] = 0.0
        if self._begun:
            self._pinned = self._find_pinned()

    def _find_pinned(self) -> NDArray[np.bool_]:
        """(N, n_i) inequalities that no control changes, as those of the first node's state: x_0 keeps them or not."""
        work, n_e, found = self.work, self._sizes[0], []
        kept = self._cuts, self._rollouts, self._cut_place, self._share
        rng, us = np.random.default_rng(0), work.nominal[1]
        for sign in (-1.0, 1.0):
            size = 1e-3 * (1.0 + np.abs(us)) * rng.uniform(0.5, 1.0, us.shape)  # other ones: z may be even in u
            work.trial[0][0], work.trial[3][:] = work.nominal[0][0], np.nan
            self._rollout(work.nominal[0], us + sign * size, work.gains, 0.0, work.trial)
            found.append(work.trial[3][:-1, n_e:-1].copy())
        self._cuts, self._rollouts, self._cut_place, self._share = kept
        pinned: NDArray[np.bool_] = found[0] == found[1]
        return pinned

    def iterate(self) -> Termination | None:
        """Do one iteration: errors and μ, expansion, sweep, line search. Return the reason to stop, or None."""
        gradient = self._error_of_gradient()
        if self._ends(gradient):
            return self._converged()
        apart, self._slack_slope, *_ = self._measure()
        split = apart > 0.0 or self.problem.n_terminal > 0
        if split:
            self._evaluate(self._other, "barrier")
        self._evaluate(self.work.expansion, "iterate")
        self._differentiate_goal()
        self._slope_of = self._other if split else self.work.expansion
        delta, alpha, descent = 0.0, 0.0, 0.0
        self._theta = self._curvature
        for attempt in range(_ATTEMPTS):
            delta = self._sweep_regularised(delta)
            if attempt > 0 and delta > _MOST:
                break
            if not (delta <= _MOST or self._dependent or self.problem.n_mixed == 0):
                self._dependent = True
                self._deltas[:] = 0.0
                delta = self._sweep_regularised(0.0)
            if not delta <= _MOST and self._theta > 0.0:
                self._theta, self._deltas[:] = 0.0, 0.0
                delta = self._sweep_regularised(0.0)
            if not delta <= _MOST:
                self.message = f"stalled: a node's matrix has the wrong inertia although δ exceeds {_MOST:g}"
                return Termination.STALLED
            descent = self._descent()
            if self._newton_ends(gradient):
                return self._converged()
            now = self._iterate_pair()
            alpha, trial = self._search(now, descent, delta)
            if alpha > 0.0:
                break
            delta = max(_RAISE * delta, _FIRST)
        self._last_delta = delta if delta > 0.0 else _FALL * self._last_delta
        assert self._filter is not None
        if alpha == 0.0:
            self._last_delta = 0.0
            now = self._iterate_pair()
            restored = self._restore(now)
            if restored is None:
                self.message = "stalled: no step is acceptable to the filter, and none restores feasibility"
                return Termination.STALLED
            trial = restored
        else:
            self._filter.add(now, trial, descent, alpha)
        self.cost = trial[1]
        self.mus.append(float(self._penalty[MU]))
        self._record(-alpha * descent, now[1] - trial[1], alpha, self._theta, delta, gradient)
        return None

    def _iterate_pair(self) -> Pair:
        """(ϑ, φ) of the iterate, whose ϑ begins a new filter where μ has fallen."""
        now = self._pair(self._objective, self.work.nominal[3], self._slack, 0.0)
        if self._filter is None:
            self._filter = Filter(now[0])
        return now

    def _converged(self) -> Termination:
        """Sweep at the solution, for its gains and value function, and to see whether it is a minimum."""
        self.message = self.message or "converged: the error of the optimality conditions is below kkt_tolerance"
        self._theta = self._curvature
        self._evaluate(self.work.expansion, "iterate")
        self._differentiate_goal()
        arrays = self.work.ks, self.work.gains, self.work.vx, self.work.vxx
        kept = [one.copy() for one in arrays]
        for delta in (0.0, _CURVED):
            if self._sweep_with(self.work.expansion, self.work.nominal[3], self._theta, delta, own=0.0):
                self._swept = True
                return Termination.CONVERGED
        self.is_minimum = False
        self.message = "converged to a stationary point that is no minimum"
        for one, last in zip(arrays, kept):
            one[:] = last
        return Termination.CONVERGED

    def outcome(self, solution: Solution) -> InteriorSolution:
        """Message of InteriorRun, with the error that is left where the solve has not converged."""
        if solution.termination is not Termination.CONVERGED and np.isfinite(self.cost):
            left = self._error(self._error_of_gradient())(0.0)
            allowed = f"allowed: kkt_tolerance = {self.interior.kkt_tolerance:g}"
            message = f"{solution.message}; the error of the optimality conditions is {left:.2g}; {allowed}"
            solution = replace(solution, message=message)
        self._dual[self._pinned] = 0.0
        return super().outcome(solution)

    def _remark(self, solution: Solution) -> str:
        tolerance = self.interior.kkt_tolerance
        if self._held or not 0.0 < self._steepest < _SEEN * tolerance:
            return super()._remark(solution)
        return (
            f"kkt_tolerance = {tolerance:g} is large beside the cost's largest slope by a control, "
            f"{self._steepest:.2g}: multiply the cost by {1.0 / self._steepest:.0e}"
        )

    # Errors and μ

    def _error_of_gradient(self) -> float:
        """|∂L/∂u| at the multipliers of the iterate, or relative to rounding; writes the adjoint."""
        self._evaluate(self._other, "multipliers")
        linear_model.adjoint(self._other, self._costates)
        worst: float = linear_model.stationarity(self._other, self._costates, self.problem.has_control)
        self._slope = float(np.abs(self._other[3]).max())
        self._steepest = max(self._steepest, self._slope)
        worst = max(0.0, worst - self._known_to())
        return worst / max(1.0, self._rounding / self.interior.kkt_tolerance) if self._relative else worst

    def _known_to(self) -> float:
        """|∂L/∂u| that is rounding of multipliers: their y = μ/s changes by y/s per unit of z, which is about 1."""
        dual = self._dual
        with np.errstate(over="ignore"):
            return min(_ULPS * float((dual / self._slack).max(initial=0.0)), _SHARE * float(dual.max(initial=0.0)))

    def _newton_ends(self, gradient: float) -> bool:
        """Test for the end by the sweep's V'x for the adjoint, which an unstable plant does not make noise."""
        has_control, vx = self.problem.has_control, self.work.vx
        if linear_model.stationarity(self.work.expansion, vx, has_control) > 0.1 * gradient:
            return False
        self._evaluate(self._second_other, "multipliers")
        worst = linear_model.stationarity(self._second_other, vx, has_control)
        return self._ends(max(0.0, worst - self._known_to()))

    def _error(self, gradient: float) -> Callable[[float], float]:
        """E as a function of μ."""
        n_e, _ = self._sizes
        slack = np.where(np.isfinite(self._slack), self._slack, 0.0)
        slack[self._pinned] = 0.0
        residuals, size = self.work.nominal[3], self._size if self._relative else 0.0
        equalities = self._multipliers[:, :n_e]
        error = optimality.error(gradient, residuals, equalities, slack, self._dual, self.gaps.largest, size)
        beyond = -float(residuals[:-1, n_e:-1][self._pinned].min(initial=0.0))
        return lambda mu: max(error(mu), beyond)

    def _ends(self, gradient: float) -> bool:
        """True if E is within the tolerance; lowers μ as long as the barrier's problem is solved."""
        error = self._error(gradient)
        tolerance = self.interior.kkt_tolerance
        if self._held or error(0.0) <= tolerance:
            return error(self._penalty[MU] if self._held else 0.0) <= tolerance
        self._note_rounding(gradient)
        least = 0.1 * tolerance * (optimality.relative_to(self._size) if self._relative else 1.0)
        while self._penalty[MU] > least and error(self._penalty[MU]) <= _KAPPA * self._penalty[MU]:
            mu = self._penalty[MU]
            self._penalty[MU] = max(least, min(_MU_FACTOR * mu, mu**_MU_POWER))
            self._filter = None
        return False

    @property
    def _size(self) -> float:
        """|J| in the units of y s, the inequalities' weights apart."""
        return abs(self._objective) / float(self._weights.mean())

    def _note_rounding(self, gradient: float) -> None:
        """Make errors relative where |∂L/∂u| has been at the rounding of large slopes for some iterations."""
        small = self._slope > optimality.LARGE and gradient <= self._rounding
        self._at_rounding = self._at_rounding + 1 if small else 0
        if self._at_rounding == _ROUNDED and not self._relative:
            self._relative = True
            self.message = (
                f"converged up to rounding: |∂L/∂u| is below {_RELATIVE:g} of its largest term, {self._slope:.2g}; "
                "write small controls in smaller units, or divide the cost"
            )

    @property
    def _rounding(self) -> float:
        """|∂L/∂u| that rounding may leave of its terms."""
        return _RELATIVE * self._slope

    def _evaluate(self, into: tuple[Array, ...], slopes: str) -> None:
        """Expansion along the nominal trajectory with some slopes of the inequalities, and y of the equalities.

        "iterate": Σ (z − s) − μ/s; "barrier": −μ/s, and y = 0 at the end; "multipliers": −y; "unit": (z − s)/s² − 1/s,
        and y = 0; "plain": none, and the same y.
        """
        started, n_e = perf_counter(), self._sizes[0]
        kept, mu = self._multipliers.copy(), self._penalty[MU]
        slack, dual = self._slack, self._dual
        if slopes == "multipliers":
            slack[:], dual[:], self._penalty[MU] = 1.0 / np.maximum(dual, _TINY), 0.0, 1.0
        elif slopes == "barrier":
            dual[:], self._multipliers[-1, :n_e] = 0.0, 0.0
        elif slopes != "iterate":
            self._multipliers[:, :n_e] = 0.0
            dual[:] = 1.0 / slack if slopes == "unit" else 0.0
            self._penalty[MU] = 1.0 if slopes == "unit" else _TINY
        expand(self._first, self.data, *self.work.nominal[:3], into)
        self._multipliers[:], self._penalty[MU] = kept, mu
        self._effort.partials_time += perf_counter() - started

    def _differentiate_goal(self) -> None:
        """Write c_x of the equalities at the end."""
        if len(self._goal):
            xs, us, aux, _ = self.work.nominal
            self._goal = linear_model.terminal_jacobian(self.problem, self.data, xs[-1], us[-1], aux[-1])

    # The sweep

    def _sweep_regularised(self, delta: float) -> float:
        """Sweep with the first δ tried, from `delta` on, that has the right inertia; δ, past _MOST where none has."""
        while delta <= _MOST and not self._sweep_with(self.work.expansion, self.work.nominal[3], self._theta, delta):
            last = self._last_delta
            if delta == 0.0:
                delta = _FIRST if last == 0.0 else max(_FALL * last, _TINY)
            else:
                delta *= _FIRST_GROW if last == 0.0 else _GROW
        return delta

    def _sweep_with(
        self, expansion: tuple[Array, ...], residuals: Array, theta: float, delta: float, own: float = _OWN
    ) -> bool:
        """One sweep, whether its inertia is right; `own` is what nodes may add to δ by themselves."""
        work, started, goal = self.work, perf_counter(), self._goal
        lx, lxx = expansion[2][-1], expansion[4][-1]
        kept = lx.copy(), lxx.copy()
        n_e = self._sizes[0]
        self._goal_step = residuals[-1, n_e - len(goal) : n_e] / saddle_sweep.DUAL
        lx += goal.T @ self._goal_step
        lxx += goal.T @ goal / saddle_sweep.DUAL
        failed = saddle_sweep.backward(
            *(self._second, self._second_data, self.problem.has_control),
            *(*work.nominal[:3], residuals, expansion, self._costates, self.gaps.d),
            *(theta, delta, self._deltas, own, self._dependent),
            *(work.ks, work.gains, self._psis, self._omegas, work.vx, work.vxx),
        )
        lx[:], lxx[:] = kept
        self._effort.add_sweep(1.0 - max(failed, 0) / self.problem.n_nodes, theta > 0.0)
        self._effort.sweep_time += perf_counter() - started
        return bool(failed < 0)

    def _take(self, alpha: float) -> None:
        """Make the trial the nominal trajectory; the multipliers of the end go with it."""
        if not len(self._goal):
            super()._take(alpha)
            return
        goals = slice(self._sizes[0] - len(self._goal), self._sizes[0])
        moved = linear_model.linear_states(self.work.expansion, self.gaps.d, self.work.ks, self.work.gains)[-1]
        super()._take(alpha)
        self._multipliers[-1, goals] += alpha * (self._goal_step + self._goal @ moved / saddle_sweep.DUAL)

    def _descent(self) -> float:
        """φ's derivative along the step."""
        work = self.work
        forces = np.ascontiguousarray(self._multipliers[:-1, : self.problem.n_mixed])
        whole, by_equalities = linear_model.slope(
            self.problem.has_control, self._slope_of, self.gaps.d, work.ks, work.gains, work.nominal[2], forces
        )
        return float(whole - by_equalities) + self._slack_slope

    # The line search

    def _search(self, now: Pair, descent: float, delta: float) -> tuple[float, Pair]:
        """The first step that the filter accepts, taken, and its (ϑ, φ); 0 where there is none."""
        assert self._filter is not None
        alpha, first, self._predicted = 1.0, True, None
        while alpha >= self.options.step_min:
            trial = self._try(alpha)
            if trial is None:
                cut = self._predicted is None and self._share < 1.0 and bool(self._free.any())
                alpha = self._predict(alpha) if cut else self._shorter(alpha)
                continue
            if self._filter.accepts(now, trial, descent, alpha):
                self._take(alpha)
                return alpha, trial
            if first and trial[0] >= now[0] and self._corrected(alpha, delta):
                kept, self._predicted = self._predicted, None
                corrected = self._try(alpha)
                if corrected is not None and self._filter.accepts(now, corrected, descent, alpha):
                    self._take(alpha)
                    return alpha, corrected
                self._predicted = kept
                self._sweep_with(self.work.expansion, self.work.nominal[3], self._theta, delta)
            first = False
            alpha *= self.options.step_factor
        return 0.0, now

    def _corrected(self, alpha: float, delta: float) -> bool:
        """Sweep to the linearisation that a trial corrects by what it does not predict, c(trial) − (1 − α) c."""
        residuals = self.work.nominal[3].copy()
        c = residuals[:, : self._sizes[0]]
        c += (self.work.trial[3][:, : self._sizes[0]] - (1.0 - alpha) * c) / alpha
        return self._sizes[0] > 0 and self._sweep_with(self.work.expansion, residuals, self._theta, delta)

    # Restoration

    def _restore(self, start: Pair) -> Pair | None:
        """Steps to feasibility from a pair (ϑ, φ) until the filter accepts theirs, then multipliers anew; the pair."""
        assert self._filter is not None
        self._filter.add(start, start, 0.0, 0.0)
        self.restorations += 1
        n_e, n_g = self._sizes[0], self.problem.n_mixed
        unit = tuple(one.copy() for one in self._other)
        now = start
        for _ in range(_RESTORING):
            self._evaluate(self._other, "plain")
            self._evaluate(unit, "unit")
            self._differentiate_goal()
            centre = max(float(self._penalty[MU]), float(np.abs(self.work.nominal[3][:, :n_e]).max(initial=0.0)))
            model = slacks.restoring(self._other, unit, centre, np.sqrt(centre))
            if not self._sweep_with(model, self.work.nominal[3], 0.0, 0.0):
                return None
            alpha, self._predicted = 1.0, None
            while (trial := self._try(alpha)) is None or trial[0] > (1.0 - 1e-4 * alpha) * now[0]:
                alpha = self._shorter(alpha) if trial is None else 0.5 * alpha
                if alpha < 1e-8:
                    return None
            self._take(alpha)
            now = trial
            if now[0] <= _RESTORED * start[0] and self._filter.accepts(start, now, 0.0, alpha):
                break
        else:
            return None
        self._dual[:] = self._penalty[MU] / self._slack
        self._evaluate(self._other, "plain")
        self._evaluate(unit, "unit")
        model = slacks.least_squares(self._other, unit, float(self._penalty[MU]))
        self._differentiate_goal()
        self._multipliers[:-1, :n_g], self._multipliers[-1] = 0.0, 0.0
        if self._sweep_with(model, np.zeros_like(self.work.nominal[3]), 0.0, 0.0):
            dx = linear_model.linear_states(model, self.gaps.d[:0], self.work.ks, self.work.gains)
            self._multipliers[:-1, :n_g] = self._psis + np.einsum("kgx,kx->kg", self._omegas, dx[:-1])
            self._multipliers[-1, n_e - len(self._goal) : n_e] = self._goal @ dx[-1] / saddle_sweep.DUAL
        return now
