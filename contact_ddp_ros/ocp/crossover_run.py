r"""The interior point's last iterations: a crossover to active sets, whose rate does not wait for the barrier.

Newton on y s = μ squares the error only once each inequality's slack or multiplier is well above it; where an arc on a
limit begins or ends both are small. So once μ is below `crossover` and the last step was full, an iteration

1. lowers μ to at most the square of what y s is, both relative to the cost;
2. solves the quadratic programme of the present linearisation, by Newton on the smoothed complementarity of
   :mod:`contact_ddp_ros.ocp.smoothing`: sweeps from the same trajectory, until no inequality changes between active
   and inactive and, while μ still falls, y s = μ holds nearly; at most `_SWEEPS`;
3. takes the full step.

Without μ this is sequential quadratic programming with the exact Hessian, whose rate is quadratic under linear
independence and the strong second-order condition, whether complementarity is strict or not (Robinson 1980; Nocedal and
Wright 2006, Section 18.7). The Hessian must hold the curvature of inequalities with their multipliers y.

Guarantee. A step is taken only if the exact penalty function J + ω (Σ w max(0, −z) + Σ|c|) falls by a share of
Σ w y s of the active inequalities, what the barrier holds back, while that falls tenfold, which can happen finitely
often; or if it is shorter than the step before by a factor, and a sequence of these converges, to a point where
Newton's step vanishes. Otherwise slacks, multipliers and μ are as before, and the next attempt waits until μ has
fallen: the solve goes on as :mod:`contact_ddp_ros.ocp.interior_point` describes.
"""

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.ocp import smoothing
from contact_ddp_ros.ocp.interior_run import InteriorRun
from contact_ddp_ros.ocp.interior_solution import InteriorPointOptions
from contact_ddp_ros.ocp.multipliers import MU, SIGMA
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Termination
from contact_ddp_ros.ocp.workspace import Workspace

Array = NDArray[np.float64]

_SWEEPS, _SETTLED = 6, 3e-4
"""Largest number of sweeps of a linearisation; mean |y s − μ| / μ below which no more follow."""

_FULL = 0.9
"""Least step before a crossover."""

_FALL, _POWER = 0.1, 2.0
"""μ is at most the smaller of _FALL y s and (y s)^_POWER, relative to the cost."""

_SHARE, _SHORTER = 0.1, 0.75
"""Share of Σ w y s by which the penalty function falls; factor on the length of the step before."""

_TINY = 1e-300

_WEIGHT = 2.0
"""ω over the largest multiplier."""

_AGAIN = 0.1
"""Share of μ from which on there is another attempt after one that was refused."""


class CrossoverRun(InteriorRun):
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
        self._differences = np.zeros((problem.n_nodes, problem.n_i))
        self._full = False
        self._crossed = False
        self._length = 0.0
        self._below = np.inf

    def iterate(self) -> Termination | None:
        """Do one iteration, by a crossover where there may be one. Return the reason to stop, or None."""
        if self._may_cross():
            taken, converged = self._cross()
            if taken:
                return Termination.CONVERGED if converged else None
            self._below = _AGAIN * float(self._penalty[MU])
        self._full = self._crossed = False
        return super().iterate()

    def _after_step(self, alpha: float, reduction: float) -> None:
        super()._after_step(alpha, reduction)
        self._full = alpha >= _FULL and not self._detached

    def _may_cross(self) -> bool:
        mu = float(self._penalty[MU])
        small = mu <= self.interior.crossover * self._unit and mu < self._below
        newton = self.hessian_blend == 1.0 and self.rho == 0.0 and self._held_curvature is None
        return self._full and small and newton and not self._held and not self.gaps.are_open

    def _cross(self) -> tuple[bool, bool]:
        """Try a crossover's step: whether it is taken, and whether it ends the solve."""
        work, penalty, n_e = self.work, self._penalty, self._sizes[0]
        kept = self._multipliers.copy(), penalty.copy(), self.cost
        if not self._crossed:
            self._length = _length(work.nominal[1], work.trial[1])
        weight, kappa = self._penalty_weight(), 1.0 / self._unit
        before = self._objective + weight * float(np.abs(work.nominal[3][:, :n_e]).sum())
        of = self._multipliers, self._weights
        held_back, active = smoothing.differences_of(*of, n_e, kappa, self._differences)
        product = held_back / max(active, _TINY) * kappa
        least = self.interior.gap_tolerance * self._unit
        lower = max(least, min(_FALL * product, product**_POWER) * self._unit)
        penalty[MU] = min(float(penalty[MU]), lower)
        penalty[SIGMA] = max(float(penalty[SIGMA]), self.interior.sigma_max)
        found = self._solve_model(kappa, last=penalty[MU] <= least)
        if found is not None:
            reduction, converged, cost, psi, outside, gradient = found
            equalities, forces = work.trial[3][:, :n_e], self._multipliers[:, :n_e]
            objective = cost - psi - float(((forces + 0.5 * penalty[SIGMA] * equalities) * equalities).sum())
            length = _length(work.nominal[1], work.trial[1])
            fall = before - objective - weight * (outside + float(np.abs(equalities).sum()))
            gains = penalty[MU] * kappa <= _FALL * product and fall >= _SHARE * held_back
            if gains or converged or length <= _SHORTER * self._length:
                forces += penalty[SIGMA] * equalities
                self._take(objective, kappa, length)
                self._record(reduction, fall, 1.0, self.hessian_blend, 0.0, gradient)
                return True, converged
        self._multipliers[:], penalty[:], self.cost = kept
        self._measured = self._measure()
        self._expanded = False
        return False, False

    def _solve_model(self, kappa: float, *, last: bool) -> tuple[float, bool, float, float, float, float] | None:
        """Sweep until the active inequalities stay; the last trial is that of the full step.

        `last` says that μ does not fall further. Returns what the first sweep expects of it, whether that ends the
        solve, the trial's cost, what :func:`contact_ddp_ros.ocp.smoothing.predict` tells of it, and the largest
        |Qu|; None where a sweep fails.
        """
        work, n_e = self.work, self._sizes[0]
        reduction, converged = 0.0, False
        for count in range(_SWEEPS):
            smoothing.project(self._differences, self._penalty, n_e, kappa, self._multipliers)
            self._expanded = False
            self._expand()
            started = perf_counter()
            failed, linear, quadratic, gradient = self._sweep_once()
            self._effort.sweep_time += perf_counter() - started
            if failed >= 0:
                return None
            work.accept_candidate()
            if count == 0:
                self._measured = self._measure()
                apart, slope, bend, _, _ = self._measured
                reduction = -(linear + quadratic + slope + 0.5 * bend)
                converged = self._is_optimal(abs(reduction))
            started = perf_counter()
            work.trial[0][0] = work.nominal[0][0]
            cost = self._rollout(*work.nominal[:2], work.gains, 1.0, work.trial)
            self._effort.rollout_time += perf_counter() - started
            if not np.isfinite(cost):
                return None
            changed, psi, outside, left = smoothing.predict(
                work.trial[3], self._multipliers, self._weights, self._penalty, n_e, kappa, self._differences
            )
            settled = last or left <= _SETTLED * self._penalty[MU] * self._total
            if converged or (changed == 0 and settled):
                break
        return reduction, converged, cost, psi, outside, gradient

    def _penalty_weight(self) -> float:
        """ω."""
        n_e = self._sizes[0]
        equalities, inequalities = self._multipliers[:, :n_e], self._dual
        return _WEIGHT * float(max(np.abs(equalities).max(initial=0.0), inequalities.max(initial=0.0)))

    def _take(self, objective: float, kappa: float, length: float) -> None:
        """Make the trial the nominal trajectory, with its slacks and multipliers."""
        work = self.work
        work.nominal, work.trial = work.trial, work.nominal
        smoothing.project(self._differences, self._penalty, self._sizes[0], kappa, self._multipliers)
        self._expanded, self._crossed, self._length = False, True, length
        self._objective = objective
        self._logarithms = self._sum_of_logarithms()
        self._measured = self._measure()
        self.cost = self._merit()
        self.mus.append(float(self._penalty[MU]))


def _length(us: Array, previous: Array) -> float:
    """Root mean square of a step's controls."""
    return float(np.sqrt(np.mean((us - previous) ** 2)))
