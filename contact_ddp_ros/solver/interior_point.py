r"""Primal-dual interior point in the backward sweep: hard inequalities and equalities without an outer loop.

Each inequality z(x, u) ≥ 0 of a node has a slack s > 0 and a multiplier y > 0. Newton's step on

    ∇L = 0,    z − s = 0,    y s = μ

with L = Σ_k ℓ − w yᵀz + …, once Δs = z_zΔ + (z − s) and Δy = μ/s − y − Σ Δs are eliminated, Σ = y/s, leaves the
problem of the sweep with ψ(z) = ½ Σ (z − s)² − (μ/s)(z − s) in the place of the inequality: w Σ z_zᵀz_z joins Q's
Hessian, w (Σ (z − s) − μ/s) z_z its gradient, and the curvature of z, contracted with the same slope, joins S, with the
dynamics' curvature contracted with V'x as ever (:func:`contact_ddp_ros.solver.penalties.inequality`). The regularisation
is that of :mod:`contact_ddp_ros.solver.ddp`: an indefinite Quu cuts θ first.

Equalities c = 0 are proximal: V has y c + ½ σ c², and y ← y + σ c after each step, which is the Newton step with the dual
regularisation 1/σ. So one that no control of its own node reaches, as the height of a foot at touchdown, needs no
elimination. σ rises as the steps become full.

Step. The controls of a trial are rolled out, so z is the true z of a trajectory without gaps, and

    s(α) = z(α) + (1 − α) (s − z):

the distance of z and s shrinks by exactly 1 − α, as gaps do, and once it is zero it stays so: from then on every
iterate is strictly feasible. α keeps s(α) ≥ (1 − τ) s (fraction to the boundary); y's own step keeps y positive. z's
linear prediction in Δy is taken from the trial, which differs from it in second order.

Merit. φ = J − μ Σ w ln s + y c + ½ σ c² + ω (Σ|d| + Σ w|z − s|), the last term with the weight of
:mod:`contact_ddp_ros.solver.gaps`. While z = s for all the sweep's change is that of φ to second order, so that Armijo's
rule holds for some α: at fixed μ, y of the equalities and σ, a descent method on the barrier function. μ falls when the
expected reduction of a full step is below a multiple of μ Σ w.

Sources: Nocedal and Wright (2006), Chapter 19; Wächter and Biegler (2006); Pavlov et al. (2021) for DDP.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.config import parameter, validate
from contact_ddp_ros.errors import SolverError
from contact_ddp_ros.solver.checks import checked_array
from contact_ddp_ros.solver.ddp import Run, checked_guess
from contact_ddp_ros.solver.options import SolverOptions
from contact_ddp_ros.solver.penalties import MU, SIGMA
from contact_ddp_ros.solver.protocol import Problem, node_data
from contact_ddp_ros.solver.solution import Guess, Solution, Termination
from contact_ddp_ros.solver.workspace import Workspace

Array = NDArray[np.float64]


@dataclass(frozen=True)
class InteriorPointOptions:
    """Settings of the interior point.

    Inequalities should be scaled so that 1 is much.
    """

    mu: float = parameter(0.1, low=1e-12, description="barrier parameter μ to begin with, relative to the cost")
    mu_factor: float = parameter(0.1, low=1e-3, high=0.9, description="factor on μ")
    mu_power: float = parameter(1.5, low=1.0, high=2.0, description="μ falls to this power of itself where that is less")
    mu_test: float = parameter(
        3.0, low=0.0, description="μ falls where a full step is expected to bring less than this multiple of μ Σ w"
    )
    gap_tolerance: float = parameter(
        1e-9, low=1e-14, high=1.0, description="μ Σ w at the end, relative to the cost: bound of the optimum's error"
    )
    slack_min: float = parameter(0.05, low=1e-9, description="least slack of a first trajectory")
    boundary: float = parameter(0.99, low=0.5, high=0.99999, description="fraction to the boundary τ of a step")
    sigma: float = parameter(1e4, low=1e-6, description="penalty σ of equalities to begin with")
    sigma_factor: float = parameter(5.0, low=1.0, description="factor on σ after a full step")
    sigma_max: float = parameter(1e8, low=1e-6, description="largest σ")
    equality_tolerance: float = parameter(1e-8, low=0.0, description="largest residual of an equality at the end")

    def __post_init__(self) -> None:
        """Raises ParameterError for a number out of its range."""
        validate(self)


@dataclass(frozen=True)
class InteriorSolution:
    """A solution with its multipliers.

    Attributes:
        solution: its cost is the objective alone.
        equality_multipliers: (N+1, n_e).
        slacks, multipliers: (N, n_i); ∞ and 0 where a node lacks an inequality.
        mu: barrier parameter at the end.
        mus: barrier parameter of each iteration.
    """

    solution: Solution
    equality_multipliers: Array
    slacks: Array = field(repr=False)
    multipliers: Array = field(repr=False)
    mu: float = 0.0
    mus: tuple[float, ...] = ()


class InteriorPointSolver:
    """Solve problems with hard constraints; work arrays are reused between solves of equal size."""

    def __init__(self, options: SolverOptions | None = None, interior: InteriorPointOptions | None = None) -> None:
        self.options = options or SolverOptions(max_iterations=200)
        self.interior = interior or InteriorPointOptions()
        self._work: Workspace | None = None

    def solve(
        self,
        problem: Problem,
        x0: ArrayLike,
        guess: Guess,
        *,
        hessian_blend: float = 1.0,
        max_iterations: int | None = None,
        warm: InteriorSolution | None = None,
    ) -> InteriorSolution:
        """Minimise the problem's cost subject to its constraints from x0, starting at a guess.

        Args:
            problem: to be solved, whose inequalities its `step` tells of (n_i).
            x0: (n_x,) initial state.
            guess: nominal trajectory, and gains of the first rollout.
            hessian_blend: θ to begin with.
            max_iterations: limit of this solve, in place of the option.
            warm: earlier outcome of a problem of the same nodes, whose multipliers and μ are taken over.

        Raises:
            SolverError: as :meth:`contact_ddp_ros.solver.ddp.DdpSolver.solve`.
        """
        data = node_data(problem, penalty=(self.interior.sigma, 1.0, 0.0))
        x_start, guess = checked_array("x0", x0, (problem.n_x,)), checked_guess(problem, guess)
        if self._work is None or not self._work.fits(problem):
            self._work = Workspace(problem)
        run = _InteriorRun(problem, data, self._work, self.options, self.interior)
        run.start(x_start, guess, hessian_blend)
        run.begin(warm)
        solution = run.end(guess, max_iterations if max_iterations is not None else self.options.max_iterations)
        return run.outcome(solution)


class _InteriorRun(Run):
    """A solve in progress, with slacks, multipliers and μ; `cost` is the merit without its ω-term."""

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
        self.mus: list[float] = []
        self._multipliers, self._penalty = data[4], data[5]
        n, n_e = problem.n_nodes, problem.n_e
        weights = np.ones(n) if problem.inequality_weights is None else problem.inequality_weights
        self._w = np.repeat(weights[:, None], problem.n_i, axis=1)
        self._duals = self._multipliers[:n, n_e : n_e + 2 * problem.n_i]
        self._begun = False
        self._bounded = 1.0

    def begin(self, warm: InteriorSolution | None) -> None:
        """Set slacks, multipliers and μ for the first trajectory."""
        if not np.isfinite(self.cost):
            return
        z, c = self._constraints(self.work.nominal[3])
        self._has = np.isfinite(z)
        self._w = np.where(self._has, self._w, 0.0)
        self._total_weight = float(self._w.sum())
        self._objective = self.cost - self._equality_cost(c)
        mu = self.interior.mu * (1.0 + abs(self._objective)) / max(self._total_weight, 1e-12)
        slacks = np.where(self._has, np.maximum(z, self.interior.slack_min), np.inf)
        y = mu / slacks
        if warm is not None:
            mu = warm.mu
            slacks = np.where(self._has, np.maximum(z, np.minimum(warm.slacks, self.interior.slack_min)), np.inf)
            y = np.where(self._has, warm.multipliers, 0.0)
            self._multipliers[:, : self.problem.n_e] = warm.equality_multipliers
        self._set(slacks, y)
        self._penalty[MU] = mu if self.problem.n_i else 0.0
        gaps = self.gaps.d if self.gaps.are_open else np.zeros((self.problem.n_nodes, self.problem.n_x))
        self.gaps.set(gaps, self._infeasibility(z))
        self._begun = True
        self.cost = self._merit_of(self._objective, slacks, c)

    def outcome(self, solution: Solution) -> InteriorSolution:
        """The solution with its multipliers; a violated constraint is named where the solve has failed."""
        return InteriorSolution(
            solution,
            self._multipliers[:, : self.problem.n_e].copy(),
            self._s.copy(),
            self._y.copy(),
            float(self._penalty[MU]),
            tuple(self.mus),
        )

    @property
    def objective(self) -> float:
        """J, without barrier and multipliers."""
        return self._objective if self._begun else self.cost

    @property
    def _s(self) -> Array:
        return self._duals[:, 0::2]

    @property
    def _y(self) -> Array:
        return self._duals[:, 1::2]

    def _set(self, slacks: Array, multipliers: Array) -> None:
        self._duals[:, 0::2] = slacks
        self._duals[:, 1::2] = multipliers

    def _constraints(self, residuals: Array) -> tuple[Array, Array]:
        """z (N, n_i) and c (N+1, n_e) of a trajectory."""
        n_e = self.problem.n_e
        return residuals[:-1, n_e:-1], residuals[:, :n_e]

    def _equality_cost(self, c: Array) -> float:
        y = self._multipliers[:, : self.problem.n_e]
        return float(((y + 0.5 * self._penalty[SIGMA] * c) * c).sum())

    def _infeasibility(self, z: Array) -> float:
        distance = np.subtract(z, self._s, out=np.zeros_like(z), where=self._has)
        return float((self._w * np.abs(distance)).sum())

    def _merit_of(self, objective: float, slacks: Array, c: Array) -> float:
        barrier = np.log(slacks, out=np.zeros_like(slacks), where=self._has)
        return objective + self._equality_cost(c) - float(self._penalty[MU] * (self._w * barrier).sum())

    def _rollout(
        self, xs: Array, us: Array, gains: Array, alpha: float, into: tuple[Array, Array, Array, Array]
    ) -> float:
        cost = super()._rollout(xs, us, gains, alpha, into)
        self._bounded = 1.0
        if not self._begun or not np.isfinite(cost):
            return cost
        z, c = self._constraints(into[3])
        old, _ = self._constraints(self.work.nominal[3])
        slacks = self._slacks(z, old, alpha)
        fraction = 1.0 - np.divide(slacks, self._s, out=np.ones_like(slacks), where=self._has).min(initial=1.0)
        if fraction > self.interior.boundary:
            self._bounded = self.interior.boundary / float(fraction)
            return np.inf
        gap = np.subtract(z, self._s, out=np.zeros_like(z), where=self._has)
        bend = self._y / self._s
        psi = (0.5 * bend * gap - self._penalty[MU] / self._s) * gap
        self._trial_objective = cost - float((self._w * psi).sum()) - self._equality_cost(c)
        self._trial_slacks = slacks
        return self._merit_of(self._trial_objective, slacks, c)

    def _slacks(self, z: Array, old: Array, alpha: float) -> Array:
        """s(α) for z(α), from z before."""
        if alpha == 1.0 or not self.gaps.are_open:
            return z
        distance = np.subtract(self._s, old, out=np.zeros_like(z), where=self._has)
        return z + (1.0 - alpha) * distance

    def _shorter(self, alpha: float) -> float:
        if self._bounded < 1.0:
            shorter = alpha * min(max(self._bounded, 0.1), 0.99)
            self._longest = shorter
            return shorter
        return super()._shorter(alpha)

    def _with_constraints(self, linear: float, change: float) -> tuple[float, float]:
        z, _ = self._constraints(self.work.nominal[3])
        gap = np.subtract(z, self._s, out=np.zeros_like(z), where=self._has)
        mu = self._penalty[MU]
        slope = -float((self._w * mu * gap / self._s).sum())
        return linear + slope, change + slope + 0.5 * float((self._w * self._y / self._s * gap * gap).sum())

    def _is_optimal(self, reduction: float) -> bool:
        if not super()._is_optimal(reduction):
            return False
        _, c = self._constraints(self.work.nominal[3])
        return (
            self._penalty[MU] <= self._mu_min() and np.abs(c).max(initial=0.0) <= self.interior.equality_tolerance
        )

    def _mu_min(self) -> float:
        return self.interior.gap_tolerance * (1.0 + abs(self._objective)) / max(self._total_weight, 1e-12)

    def _after_step(self, alpha: float, reduction: float) -> None:
        """Take over slacks and multipliers of the step; lower μ and raise σ where the step allows it."""
        settings, mu, sigma = self.interior, self._penalty[MU], self._penalty[SIGMA]
        z, c = self._constraints(self.work.nominal[3])
        old_z, old_c = self._constraints(self.work.trial[3])
        self.mus.append(float(mu))
        ahead = old_z + np.subtract(z, old_z, out=np.zeros_like(z), where=self._has) / alpha
        distance = np.subtract(ahead, self._s, out=np.zeros_like(z), where=self._has)
        change = mu / self._s - self._y - self._y / self._s * distance
        fall = np.divide(-change, self._y, out=np.zeros_like(change), where=self._y > 0.0).max(initial=0.0)
        length = min(1.0, settings.boundary / fall) if fall > 0.0 else 1.0
        y = self._y + length * change
        slacks = np.array(self._trial_slacks)
        y = np.where(self._has, np.clip(y, mu / slacks / 1e10, mu / slacks * 1e10), 0.0)
        self._set(slacks, y)
        equality = old_c + (c - old_c) / alpha
        self._multipliers[:, : self.problem.n_e] += alpha * sigma * equality
        self._objective = self._trial_objective
        if alpha == 1.0:
            self._penalty[SIGMA] = min(sigma * settings.sigma_factor, settings.sigma_max)
        if not self.gaps.are_open and reduction <= settings.mu_test * mu * self._total_weight:
            self._penalty[MU] = max(self._mu_min(), min(settings.mu_factor * mu, mu**settings.mu_power))
        self.cost = self._merit_of(self._objective, slacks, c)
