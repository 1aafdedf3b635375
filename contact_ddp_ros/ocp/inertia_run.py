r"""A solve by the interior point with exact curvature, mixed equalities with multipliers, and a filter.

The problem, slacks s and multipliers are those of :mod:`contact_ddp_ros.ocp.interior_point`; the differences:

Curvature stays whole (θ = 1; 0 for the variant "ilqr"): where a node's matrix has the wrong inertia, δI joins it
(:mod:`contact_ddp_ros.ocp.constrained_riccati`). θ cuts the dynamics' curvature, but the cost itself may be indefinite,
as with complementarity conditions, products of controls that are penalised: then no θ helps, and Levenberg's ρ with
θ = 0 is slow. δ is remembered: the next failure begins at a third of it.

Mixed equalities are no penalties. Their multipliers come with the step and their violation is the filter's. Others,
which no control of their node reaches, are refused.

Step. A trial is rolled out, and judged by ϑ = Σ|g| + Σ w|z − s| + Σ|d| (d are the gaps of multiple shooting) and
φ = J − μ Σ w ln s (:mod:`contact_ddp_ros.ocp.trial_run`). Where the first trial raises ϑ, a second sweep aims at the
linearisation corrected by the trial's g (second-order correction). Where no step down to `step_min` is accepted, δ is
raised, which turns the step towards the shortest one to the linearised g = 0; after `_ATTEMPTS` of them follow steps
that only restore feasibility (:mod:`contact_ddp_ros.ocp.slacks`), until the filter accepts their ϑ and φ.

Guarantee. With g_u of full rank, bounded iterates, and neither a stall nor a failed restoration, every limit point is
feasible and one of them is stationary for the barrier's problem (Wächter and Biegler 2005, Theorems 1 and 2: the
direction is Newton's with the right inertia, and a rollout is the linear step to first order). `step_min` is a constant
where theirs depends on ϑ, so that a solve may stall, and say so, where theirs goes on. Near a solution with the right
inertia δ stays 0, and convergence is quadratic at fixed μ.

The end is E ≤ `kkt_tolerance`, with E the largest of |∂L/∂u| at the adjoint, of violations, and of |y s − μ| with
μ = 0, the first and the last over a hundredth of the mean multiplier where that is above 100 (Wächter and Biegler 2006,
Eq. (5)). Where |∂L/∂u| is at the rounding of slopes beyond 10⁴ for some iterations, slopes and costs count by their own
size from then on (:mod:`contact_ddp_ros.ocp.optimality`).
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
        self._other = tuple(np.zeros_like(one) for one in work.expansion)
        self._theta = 0.0 if options.variant == "ilqr" else 1.0
        self._deltas = np.zeros(n)
        self._last_delta = 0.0
        self._filter: Filter | None = None
        self._slope_of: tuple[Array, ...] = work.expansion
        self._slack_slope = 0.0
        self.restorations = 0
        self._slope = self._steepest = 0.0
        self._at_rounding = 0
        self._relative = False

    def begin(self, warm: DualVariables | None, held: float | None) -> None:
        """Begin a solve; mixed equalities need no penalty."""
        super().begin(warm, held)
        self._penalty[SIGMA] = 0.0

    def iterate(self) -> Termination | None:
        """Do one iteration: errors and μ, expansion, sweep, line search. Return the reason to stop, or None."""
        gradient = self._error_of_gradient()
        if self._ends(gradient):
            self.message = self.message or "converged: the error of the optimality conditions is below kkt_tolerance"
            return Termination.CONVERGED
        apart, self._slack_slope, *_ = self._measure()
        if apart > 0.0:
            self._evaluate(self._other, "barrier")
        self._evaluate(self.work.expansion, "iterate")
        self._slope_of = self._other if apart > 0.0 else self.work.expansion
        now = self._pair(self._objective, self.work.nominal[3], self._multipliers[:-1, self._sizes[0] :: 2], 0.0)
        if self._filter is None:
            self._filter = Filter(now[0])
        delta, alpha, descent, trial = 0.0, 0.0, 0.0, now
        for _ in range(_ATTEMPTS):
            delta = self._sweep_regularised(delta)
            if not delta <= _MOST:
                self.message = f"stalled: a node's matrix has the wrong inertia although δ exceeds {_MOST:g}"
                return Termination.STALLED
            descent = self._descent()
            alpha, trial = self._search(now, descent, delta)
            if alpha > 0.0:
                break
            delta = max(_RAISE * delta, _FIRST)
        self._last_delta = delta if delta > 0.0 else _FALL * self._last_delta
        if alpha == 0.0:
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

    def outcome(self, solution: Solution) -> InteriorSolution:
        """Message of InteriorRun, with the error that is left where the solve has not converged."""
        if solution.termination is not Termination.CONVERGED and np.isfinite(self.cost):
            left = self._error(self._error_of_gradient())(0.0)
            allowed = f"allowed: kkt_tolerance = {self.interior.kkt_tolerance:g}"
            message = f"{solution.message}; the error of the optimality conditions is {left:.2g}; {allowed}"
            solution = replace(solution, message=message)
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
        return worst / max(1.0, self._rounding / self.interior.kkt_tolerance) if self._relative else worst

    def _error(self, gradient: float) -> Callable[[float], float]:
        """E as a function of μ."""
        n_e, _ = self._sizes
        slack, dual = self._multipliers[:-1, n_e::2], self._multipliers[:-1, n_e + 1 :: 2]
        return optimality.error(
            gradient,
            self.work.nominal[3],
            self._multipliers[:, :n_e],
            np.where(np.isfinite(slack), slack, 0.0),
            dual,
            self.gaps.largest,
            self._size if self._relative else 0.0,
        )

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

        "iterate": Σ (z − s) − μ/s; "barrier": −μ/s; "multipliers": −y; "unit": (z − s)/s² − 1/s, and y = 0 of mixed
        equalities; "plain": none, and the same y.
        """
        started, n_e = perf_counter(), self._sizes[0]
        kept, mu = self._multipliers.copy(), self._penalty[MU]
        slack, dual = self._multipliers[:-1, n_e::2], self._multipliers[:-1, n_e + 1 :: 2]
        if slopes == "multipliers":
            slack[:], dual[:], self._penalty[MU] = 1.0 / np.maximum(dual, _TINY), 0.0, 1.0
        elif slopes == "barrier":
            dual[:] = 0.0
        elif slopes != "iterate":
            self._multipliers[:-1, : self.problem.n_mixed] = 0.0
            dual[:] = 1.0 / slack if slopes == "unit" else 0.0
            self._penalty[MU] = 1.0 if slopes == "unit" else _TINY
        expand(self._first, self.data, *self.work.nominal[:3], into)
        self._multipliers[:], self._penalty[MU] = kept, mu
        self._effort.partials_time += perf_counter() - started

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

    def _sweep_with(self, expansion: tuple[Array, ...], residuals: Array, theta: float, delta: float) -> bool:
        """One sweep, whether its inertia is right."""
        work, started = self.work, perf_counter()
        failed = saddle_sweep.backward(
            *(self._second, self._second_data, self.problem.has_control),
            *(*work.nominal[:3], residuals, expansion, self._costates, self.gaps.d),
            *(theta, delta, self._deltas, _OWN),
            *(work.ks, work.gains, self._psis, self._omegas, work.vx, work.vxx),
        )
        self._effort.add_sweep(1.0 - max(failed, 0) / self.problem.n_nodes, theta > 0.0)
        self._effort.sweep_time += perf_counter() - started
        return bool(failed < 0)

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
        alpha, first = 1.0, True
        while alpha >= self.options.step_min:
            trial = self._try(alpha)
            if trial is None:
                alpha = self._shorter(alpha)
                continue
            if self._filter.accepts(now, trial, descent, alpha):
                self._take(alpha)
                return alpha, trial
            if first and trial[0] >= now[0] and self._corrected(alpha, delta):
                corrected = self._try(alpha)
                if corrected is not None and self._filter.accepts(now, corrected, descent, alpha):
                    self._take(alpha)
                    return alpha, corrected
                self._sweep_with(self.work.expansion, self.work.nominal[3], self._theta, delta)
            first = False
            alpha *= self.options.step_factor
        return 0.0, now

    def _corrected(self, alpha: float, delta: float) -> bool:
        """Sweep to the linearisation that a trial corrects by what it does not predict, c(trial) − (1 − α) c."""
        residuals, n_g = self.work.nominal[3].copy(), self.problem.n_mixed
        c = residuals[:, :n_g]
        c += (self.work.trial[3][:, :n_g] - (1.0 - alpha) * c) / alpha
        return n_g > 0 and self._sweep_with(self.work.expansion, residuals, self._theta, delta)

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
            centre = max(float(self._penalty[MU]), float(np.abs(self.work.nominal[3][:, :n_e]).max(initial=0.0)))
            model = slacks.restoring(self._other, unit, centre, np.sqrt(centre))
            if not self._sweep_with(model, self.work.nominal[3], 0.0, 0.0):
                return None
            alpha = 1.0
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
        self._multipliers[:-1, n_e + 1 :: 2] = self._penalty[MU] / self._multipliers[:-1, n_e::2]
        self._evaluate(self._other, "plain")
        self._evaluate(unit, "unit")
        model = slacks.least_squares(self._other, unit, float(self._penalty[MU]))
        self._multipliers[:-1, :n_g] = 0.0
        if self._sweep_with(model, np.zeros_like(self.work.nominal[3]), 0.0, 0.0):
            dx = linear_model.linear_states(model, self.work.ks, self.work.gains)
            self._multipliers[:-1, :n_g] = self._psis + np.einsum("kgx,kx->kg", self._omegas, dx[:-1])
        return now
