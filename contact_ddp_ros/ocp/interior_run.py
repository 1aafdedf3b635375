"""A solve by the interior point in progress, with the equations of :mod:`contact_ddp_ros.ocp.interior_point`."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.ocp import slacks
from contact_ddp_ros.ocp.defects import MARGIN
from contact_ddp_ros.ocp.diagnosis import (
    is_stuck,
    largest_violation,
    within_bounds,
    worst_constraint,
)
from contact_ddp_ros.ocp.interior_solution import (
    FEASIBLE,
    Certificate,
    DualVariables,
    InteriorPointOptions,
    InteriorSolution,
)
from contact_ddp_ros.ocp.multipliers import MU, SIGMA
from contact_ddp_ros.ocp.optimality import least_violation
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.run import EARLY, Run
from contact_ddp_ros.ocp.solution import Solution, Termination
from contact_ddp_ros.ocp.workspace import Workspace

Array = NDArray[np.float64]


_EQUALITIES_MOST = 10.0
"""Bound of what ½ σ c² may add at first, relative to the cost: a larger σ drives the first steps into the limits."""

_OVER = 1.02
"""A step beyond the boundary by this factor at most is taken whole, with the slack at the boundary: shortened to it, it
would take a second rollout and leave a share of every error."""

_VISIBLE = 1e-6
"""Largest μ Σ w at the end, relative to the larger of first and last cost, that goes without a remark."""

_TOTAL_MIN = 1e-6
"""Least Σ w, for problems without inequalities."""


class InteriorRun(Run):
    """A solve in progress, with slacks, multipliers and μ; `cost` is the merit without the gaps of the dynamics."""

    def __init__(
        self,
        problem: Problem,
        data: tuple[Array, ...],
        work: Workspace,
        options: SolverOptions,
        interior: InteriorPointOptions,
    ) -> None:
        super().__init__(problem, data, work, options)
        self.interior = interior
        self._past = interior.past_worst
        self.mus: list[float] = []
        self.is_minimum = True
        self._multipliers, self._penalty = data[4], data[5]
        self._sizes = problem.n_e, problem.n_i
        weights = problem.inequality_weights
        self._weights = np.ones(problem.n_nodes) if weights is None else weights
        self._slacks = np.zeros((problem.n_nodes, problem.n_i))
        self._slopes = (*data[:4], np.zeros_like(data[4]), data[5].copy())
        self._objective = self._trial_objective = np.inf
        self._begun = False
        self._logarithms = self._trial_logarithms = 0.0
        self._measured = (0.0, 0.0, 0.0, 0.0, 0.0)
        self._weight = 0.0
        self._held = False
        self._detached = False
        self._unit = self._total = 1.0
        self._initial = 0.0

    def begin(self, warm: DualVariables | None, held: float | None) -> None:
        """Set slacks, multipliers and μ for the first trajectory; without any given it may be far from the optimum."""
        if warm is None and held is None and self.options.second_order_below > 0.0 and self.hessian_blend > 0.0:
            self._far, self.hessian_blend = True, 0.0
        if not np.isfinite(self.cost):
            return
        residuals, (n_e, n_i) = self.work.nominal[3], self._sizes
        equalities = self._measure()[3]
        self._objective = self._initial = self.cost - equalities
        most = _EQUALITIES_MOST * (1.0 + abs(self._objective))
        if equalities > most and warm is None:
            self._penalty[SIGMA] *= most / equalities
            equalities = most
        least = self.interior.slack_min
        self._total = slacks.begin(residuals, self._multipliers, self._weights, n_e, n_i, least)
        self._unit = (1.0 + abs(self._objective) + equalities) / max(self._total, _TOTAL_MIN)
        mu = self.interior.mu * self._unit
        self._held = held is not None
        if held is not None:
            mu = held
        elif warm is not None:
            # complementarity that the constraints violated now had
            lost = -float((np.minimum(residuals[:-1, n_e:-1], 0.0) * warm.inequalities).min(initial=0.0))
            mu = min(max(lost, self.interior.warm_mu * self._unit), mu)
        if warm is not None:
            # centred: an active constraint keeps its multiplier, others their distance
            given = np.maximum(warm.inequalities, mu / least)
            self._multipliers[:, :n_e] = warm.equalities
            self._slack[:] = np.maximum(residuals[:-1, n_e:-1], mu / given)
            self._dual[:] = 1.0 / self._slack
        self._dual[:] *= mu
        self._penalty[MU] = mu
        self._begun = True
        self._logarithms = self._sum_of_logarithms()
        self._measured = self._measure()
        self.cost = self._merit()

    def outcome(self, solution: Solution) -> InteriorSolution:
        """The solution with its multipliers; a violated constraint is named where the solve has failed."""
        n_e, _ = self._sizes
        certificate = None
        if not self._held:
            solution = within_bounds(self.problem, solution)
            if certificate := self._certificate(solution):
                solution = replace(solution, termination=Termination.INFEASIBLE, message=Termination.INFEASIBLE.value)
        if solution.termination is not Termination.CONVERGED:
            solution = replace(solution, message=f"{solution.message}; {worst_constraint(self.problem, solution)}")
        elif remark := self._remark(solution):
            solution = replace(solution, message=f"{solution.message}; {remark}")
        return InteriorSolution(
            solution=solution,
            multipliers=DualVariables(self._multipliers[:, :n_e].copy(), self._dual.copy()),
            slacks=self._slack.copy(),
            mu=float(self._penalty[MU]),
            mus=tuple(self.mus),
            is_minimum=self.is_minimum,
            certificate=certificate,
        )

    def _certificate(self, solution: Solution) -> Certificate | None:
        """Certificate of a solve that failed by constraints that no trajectory near its last one keeps."""
        violations = [max(one.equality, one.inequality) for one in solution.iterations]
        if solution.message.startswith(EARLY):
            return None
        ended = solution.termination is Termination.ITERATIONS and is_stuck(violations)
        failed = (ended or solution.termination is Termination.STALLED) and largest_violation(solution) > FEASIBLE
        return least_violation(self.problem, solution, self.objective) if failed else None

    def _remark(self, solution: Solution) -> str:
        """Text on a barrier that is large beside the cost, at the end of a solve that converged."""
        left, size = float(self._penalty[MU]) * self._total, max(abs(solution.cost), abs(self._initial))
        if self._held or not size > 0.0 or left <= _VISIBLE * size:
            return ""
        return (
            f"the barrier may be {left:.2g} of a cost of {solution.cost:.2g}, since tolerances are relative to "
            f"1 + |cost|: multiply the cost by {1.0 / size:.0e}"
        )

    @property
    def _slack(self) -> Array:
        """(N, n_i) s, part of the multipliers."""
        n_e, n_i = self._sizes
        return self._multipliers[:-1, n_e : n_e + 2 * n_i : 2]

    @property
    def _dual(self) -> Array:
        """(N, n_i) y, likewise."""
        n_e, n_i = self._sizes
        return self._multipliers[:-1, n_e + 1 : n_e + 2 * n_i : 2]

    @property
    def _keeps_constraints(self) -> bool:
        residuals, n_e = self.work.nominal[3], self._sizes[0]
        return bool(max(np.abs(residuals[:, :n_e]).max(initial=0.0), residuals[:, -1].max()) <= FEASIBLE)

    @property
    def objective(self) -> float:
        """J, without barrier and multipliers."""
        return self._objective if self._begun else self.cost

    def _measure(self) -> tuple[float, float, float, float, float]:
        """Measures of the nominal trajectory by :func:`contact_ddp_ros.ocp.slacks.measure`."""
        found: tuple[float, float, float, float, float] = slacks.measure(
            self.work.nominal[3], self._multipliers, self._weights, self._penalty, *self._sizes
        )
        return found

    def _sum_of_logarithms(self) -> float:
        total: float = slacks.logarithms(self._multipliers, self._weights, *self._sizes)
        return total

    def _merit(self) -> float:
        """φ without the gaps' term at the nominal trajectory."""
        apart, _, _, equalities, _ = self._measured
        return float(self._objective + equalities - self._penalty[MU] * self._logarithms + self._weight * apart)

    def _trial_cost(self, alpha: float) -> float:
        least = -np.inf if self._detached else 1.0 - _OVER * self.interior.boundary
        trial = self.work.trial
        cost = self._rollout(*self.work.nominal[:2], self.work.gains, alpha, trial, least)
        if not np.isfinite(cost):
            return cost
        nominal = self.work.nominal[3]
        apart, psi, self._trial_logarithms, equalities = slacks.trial(
            *(trial[3], nominal, self._multipliers, self._weights, self._penalty),
            *self._sizes,
            alpha,
            self.interior.boundary,
            self._slacks,
        )
        self._trial_objective = cost - psi - equalities
        barrier = -float(self._penalty[MU]) * self._trial_logarithms
        return self._trial_objective + barrier + equalities + self._weight * apart

    def _sweep_once(self) -> tuple[int, float, float, float]:
        if self._begun and self._held_curvature is None:
            # Newton's curvature of inequalities is contracted with y, not with what the step will make of it
            multipliers, penalty = self._slopes[4:]
            slacks.as_slopes(self._multipliers, *self._sizes, multipliers)
            penalty[SIGMA], penalty[MU] = self._penalty[SIGMA], 1.0
            self._second_data = self._slopes
        return super()._sweep_once()

    def _line_search(self, linear: float, quadratic: float, converged: bool) -> tuple[float, float]:
        self._detached = False
        return super()._line_search(linear, quadratic, converged)

    def _shorter(self, alpha: float) -> float:
        beyond = 1.0 - self._share
        if self._detached or beyond <= _OVER * self.interior.boundary:
            return super()._shorter(alpha)
        # a full step is cut no more than the boundary asks for: 0.99 of it would leave a hundredth of every error
        most = self.interior.boundary if alpha == 1.0 else 0.99
        self._longest = alpha * min(max(self.interior.boundary / beyond, 0.1), most)
        if self._longest < self.interior.detached_step:
            self._detached, self._longest = True, 1.0
        return self._longest

    def _with_constraints(self, linear: float, change: float) -> tuple[float, float]:
        apart, slope, bend, _, _ = self._measured
        if apart == 0.0:
            return linear, change
        # the slope itself would need z_zΔ; the chord of the convex model is above it
        change += slope + 0.5 * bend
        needed = change / ((1.0 - MARGIN) * (apart + self.gaps.total))
        self._weight = max(self._weight, needed)
        self.cost = self._merit()
        expected = change - self._weight * apart
        return expected, expected

    def _is_optimal(self, reduction: float) -> bool:
        centred = self._held or self._penalty[MU] <= self.interior.gap_tolerance * self._unit
        return centred and self._is_settled and super()._is_optimal(reduction)

    @property
    def _is_settled(self) -> bool:
        """True if equalities hold, and slacks are their inequalities."""
        apart, _, _, _, worst = self._measured
        return max(worst, apart / max(self._total, _TOTAL_MIN)) <= self.interior.equality_tolerance

    def _after_step(self, alpha: float, reduction: float) -> None:
        """Take over slacks and multipliers of the step; lower μ and raise σ where the step allows it."""
        settings, mu = self.interior, float(self._penalty[MU])
        self.mus.append(mu)
        self._far = self._far and not self._detached  # what has left its limits comes back sooner with second order
        nominal, previous = self.work.nominal[3], self.work.trial[3]
        slacks.advance(
            *(nominal, previous, self._multipliers, self._penalty),
            *self._sizes,
            alpha,
            settings.boundary,
            self._slacks,
            settings.dual_steps == "common",
        )
        self._objective, self._logarithms = self._trial_objective, self._trial_logarithms
        if alpha == 1.0:
            self._penalty[SIGMA] = min(self._penalty[SIGMA] * settings.sigma_factor, settings.sigma_max)
        relative = mu / self._unit
        if not self._held and (
            not self.gaps.are_open
            and not self._detached
            and reduction <= settings.mu_test * relative * (1.0 + abs(self._objective))
        ):
            lower = settings.mu_factor * relative
            if alpha == 1.0 and not self._detached:
                lower = min(lower, relative**settings.mu_power)
            self._penalty[MU] = max(settings.gap_tolerance, lower) * self._unit
        self._measured = self._measure()
        self.cost = self._merit()
