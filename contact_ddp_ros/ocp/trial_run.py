"""Trials of a step: violation and objective of a rollout with its slacks, and what becomes of an accepted one.

The equations are those of :mod:`contact_ddp_ros.ocp.interior_point`, ϑ and φ those of
:mod:`contact_ddp_ros.ocp.inertia_run`, whose sweep gives the step (k, K) and that of the multipliers (ψ, Ω).

The filter of a line search: which pairs (violation ϑ, objective φ) of a trial are progress.

With the iterate's (ϑ, φ), φ's directional derivative m and the step α, a trial (ϑ⁺, φ⁺) that no earlier entry of the
filter dominates is accepted where

    φ⁺ ≤ φ + η α m                                      if m < 0, (−m)^s_φ α > δ ϑ^s_ϑ and ϑ ≤ ϑ_min
    ϑ⁺ ≤ (1 − γ) ϑ   or   φ⁺ ≤ φ − γ ϑ                  otherwise

and the iterate joins the filter, with that margin, unless the first rule's inequalities hold ("φ-type steps"). With
φ-type steps only, φ falls; with infinitely many others ϑ tends to zero.

Source: Wächter and Biegler (2005), SIAM J. Optim. 16, Algorithm Filter, with its constants of (2006).
"""

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.ocp import linear_model, slacks
from contact_ddp_ros.ocp.interior_run import InteriorRun
from contact_ddp_ros.ocp.interior_solution import InteriorPointOptions
from contact_ddp_ros.ocp.multipliers import MU
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.workspace import Workspace

_GAMMA, _ETA = 1e-5, 1e-4
_S_PHI, _S_THETA = 2.3, 1.1
_SWITCH, _LIMIT = 1e-4, 1e4
"""ϑ_min and the largest ϑ of any trial, relative to the first one and at least to 1."""

_SHORT = 1e-5
"""Step whose differences predict."""

_FREE = 0.5
"""Inequalities below this share of their slacks go their own way."""

_ROUNDING = 1e-15
"""φ's differences below this share of it are rounding."""


@dataclass
class Filter:
    """Entries (ϑ, φ) that no later iterate may be above in both."""

    first: float
    entries: list[tuple[float, float]] = field(default_factory=list)

    def accepts(self, now: tuple[float, float], trial: tuple[float, float], descent: float, alpha: float) -> bool:
        """True if a step from `now` to `trial`, pairs (ϑ, φ), is accepted; `descent` is m."""
        (violation, value), (new_violation, new_value) = now, trial
        if not new_violation <= _LIMIT * max(1.0, self.first):
            return False
        if any(new_violation >= above and new_value >= higher for above, higher in self.entries):
            return False
        if self._switches(violation, descent, alpha) and violation <= _SWITCH * max(1.0, self.first):
            return self._descends(now, trial, descent, alpha)
        return new_violation <= (1.0 - _GAMMA) * violation or new_value <= value - _GAMMA * violation

    def add(self, now: tuple[float, float], trial: tuple[float, float], descent: float, alpha: float) -> None:
        """Enter the iterate that an accepted step leaves, unless the step is of φ-type."""
        violation, value = now
        if not (self._switches(violation, descent, alpha) and self._descends(now, trial, descent, alpha)):
            self.entries.append(((1.0 - _GAMMA) * violation, value - _GAMMA * violation))

    @staticmethod
    def _switches(violation: float, descent: float, alpha: float) -> bool:
        return descent < 0.0 and (-descent) ** _S_PHI * alpha > violation**_S_THETA

    @staticmethod
    def _descends(now: tuple[float, float], trial: tuple[float, float], descent: float, alpha: float) -> bool:
        return trial[1] - now[1] - _ROUNDING * abs(now[1]) <= _ETA * alpha * descent


Array = NDArray[np.float64]
Pair = tuple[float, float]
"""(ϑ, φ)."""


class TrialRun(InteriorRun):
    """A solve in progress that judges a trial by two numbers."""

    def __init__(
        self,
        problem: Problem,
        data: tuple[Array, ...],
        work: Workspace,
        options: SolverOptions,
        interior: InteriorPointOptions,
    ) -> None:
        super().__init__(problem, data, work, options, interior)
        n, n_g = problem.n_nodes, problem.n_mixed
        self._psis, self._omegas = np.zeros((n, n_g)), np.zeros((n, n_g, problem.n_x))
        self._predicted: Array | None = None
        self._n_bounds = 0 if problem.control_bounds is None else 2 * problem.n_u

    def _pair(self, objective: float, residuals: Array, slack: Array, closed: float) -> Pair:
        """(ϑ, φ) of residuals, slacks, and a trajectory that closes a share of its gaps."""
        n_e = self._sizes[0]
        z = residuals[:-1, n_e:-1]
        there = np.isfinite(z)
        weights = self._weights[:, None]
        apart = float((weights * np.abs(np.where(there, z, 0.0) - np.where(there, slack, 0.0))).sum())
        barrier = float((weights * np.log(np.where(there, slack, 1.0))).sum())
        violation = float(np.abs(residuals[:, :n_e]).sum()) + apart + (1.0 - closed) * self.gaps.total
        return violation, objective - float(self._penalty[MU]) * barrier

    def _try(self, alpha: float) -> Pair | None:
        """Roll a step out; None where it diverges or goes beyond the boundary."""
        work, started = self.work, perf_counter()
        work.trial[0][0] = work.nominal[0][0]
        boundary = self._boundary
        least = 1.0 - boundary if self._predicted is None else -np.inf
        cost = self._rollout(*work.nominal[:2], work.gains, alpha, work.trial, least)
        self._effort.rollout_time += perf_counter() - started
        if not np.isfinite(cost) or self._leaves_limits(alpha, boundary):
            return None
        _, psi, _, equalities = slacks.trial(
            *(work.trial[3], work.nominal[3], self._multipliers, self._weights, self._penalty),
            *(*self._sizes, alpha, boundary, self._slacks),
        )
        if self._predicted is not None:
            old, z, tied = self._slack, work.nominal[3][:-1, self._sizes[0] : -1], self._tied(alpha)
            with np.errstate(invalid="ignore"):
                free = np.maximum(old + alpha * (self._predicted + z - old), (1.0 - boundary) * old)
            self._slacks = np.where(self._free & (tied < (1.0 - boundary) * old), free, tied)
        self._trial_objective = cost - psi - equalities
        return self._pair(self._trial_objective, work.trial[3], self._slacks, alpha)

    @property
    def _free(self) -> NDArray[np.bool_]:
        """(N, n_i) inequalities that are violated, or far from their slacks, and no control's bound."""
        z = self.work.nominal[3][:-1, self._sizes[0] : -1]
        free = z < _FREE * self._slack
        free[:, : self._n_bounds] = False
        return free

    @property
    def _boundary(self) -> float:
        """Fraction to the boundary τ."""
        return max(self.interior.boundary, 1.0 - float(self._penalty[MU]))

    def _tied(self, alpha: float) -> Array:
        """(N, n_i) slacks s(α) of a trial that follow its z."""
        inequalities = slice(self._sizes[0], -1)
        with np.errstate(invalid="ignore"):
            apart = self._slack - self.work.nominal[3][:-1, inequalities]
            tied: Array = self.work.trial[3][:-1, inequalities] + (1.0 - alpha) * apart
        return tied

    def _leaves_limits(self, alpha: float, boundary: float) -> bool:
        """True if a trial whose free slacks go as predicted takes another inequality beyond the boundary."""
        if self._predicted is None:
            return False
        with np.errstate(invalid="ignore"):
            self._share = float(np.nanmin(np.where(self._free, 1.0, self._tied(alpha) / self._slack), initial=1.0))
        return self._share < 1.0 - boundary

    def _predict(self, alpha: float) -> float:
        """Predict the inequalities' changes along the step, to first order; the share of α that slacks allow then.

        Slacks that the boundary would stop because z is curved go as predicted from here on, and leave z.
        """
        work, n_e = self.work, self._sizes[0]
        work.trial[0][0] = work.nominal[0][0]
        if not np.isfinite(self._rollout(*work.nominal[:2], work.gains, _SHORT, work.trial)):
            return self._shorter(alpha)
        old, now, slack = work.nominal[3][:-1, n_e:-1], work.trial[3][:-1, n_e:-1], self._slack
        with np.errstate(invalid="ignore"):
            self._predicted = np.where(np.isfinite(old), (now - old) / _SHORT, 0.0)
            change = np.where(np.isfinite(old), self._predicted + old - slack, 0.0)
        falling = self._free & (change < 0.0)
        most = np.divide(-self._boundary * slack, change, out=np.full_like(change, np.inf), where=falling)
        return min(alpha, float(most.min(initial=np.inf)))

    def _shorter(self, alpha: float) -> float:
        """The step to try after one that diverged or went beyond the boundary."""
        beyond = 1.0 - self._share
        if beyond <= self.interior.boundary:
            return alpha * self.options.step_factor
        return alpha * min(max(self.interior.boundary / beyond, 0.3), 0.95)

    def _take(self, alpha: float) -> None:
        """Make the trial the nominal trajectory, with its slacks and multipliers."""
        work, n_g = self.work, self.problem.n_mixed
        mixed = self._multipliers.copy()
        linear_model.step_multipliers(work.nominal[0], work.trial[0], self._psis, self._omegas, alpha, mixed)
        work.nominal, work.trial = work.trial, work.nominal
        ahead = work.nominal[3]
        if self._predicted is not None:
            ahead = ahead.copy()
            ahead[:-1, self._sizes[0] : -1] = work.trial[3][:-1, self._sizes[0] : -1] + alpha * self._predicted
        slacks.advance(
            *(ahead, work.trial[3], self._multipliers, self._penalty),
            *(*self._sizes, alpha, self.interior.boundary, self._slacks, True),
        )
        self._multipliers[:, :n_g] = mixed[:, :n_g]
        self._objective = self._trial_objective
        self.gaps.shrink(alpha)
