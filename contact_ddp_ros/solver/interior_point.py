r"""Primal-dual interior point in the backward sweep: hard inequalities and equalities without an outer loop.

Each inequality z(x, u) ≥ 0 of a node has a slack s > 0 and a multiplier y > 0. Newton's step on

    ∇L = 0,    z − s = 0,    y s = μ

with L = Σ_k ℓ − w yᵀz + …, once Δs = z_zΔ + (z − s) and Δy = μ/s − y − Σ Δs are eliminated, Σ = y/s, leaves the
problem of the sweep with ψ(z) = ½ Σ (z − s)² − (μ/s)(z − s) in the place of the inequality: w Σ z_zᵀz_z joins Q's
Hessian, w (Σ (z − s) − μ/s) z_z its gradient, and the curvature of z, contracted with the same slope, joins S, as the
dynamics' contracted with V'x does (:func:`contact_ddp_ros.solver.penalties.inequality`). The regularisation is that of
:mod:`contact_ddp_ros.solver.ddp`: an indefinite Quu cuts θ first.

Equalities c = 0 are proximal: the cost has y c + ½ σ c², and y ← y + σ c after each step, which is the Newton step with
the dual regularisation 1/σ. So one that no control of its own node reaches, as the height of a foot at touchdown, needs
no elimination. σ rises as the steps become full.

Step. The controls of a trial are rolled out, so z is the true z of a trajectory without gaps, and

    s(α) = z(α) + (1 − α) (s − z):

the distance of z and s shrinks by exactly 1 − α, as gaps do, and once it is zero it stays so: the iterates are strictly
feasible. α keeps s(α) ≥ (1 − τ) s (fraction to the boundary). Along a limit on the state that is active at many nodes
that rule stops the solve far from the optimum: z(α) is curved, and the distance to the limit as small as μ. Where it
leaves less than `detached_step`, slacks stop at (1 − τ) s, or at a share of the violation if that is more, and their
inequalities may be violated until later steps close the distance. y's own step keeps y positive. z's linear prediction
in Δy is taken from the trial, which differs from it in second order.

Merit. φ = J − μ Σ w ln s + y c + ½ σ c² + ω Σ w|z − s| + ω_d Σ|d|, the last term that of
:mod:`contact_ddp_ros.solver.gaps`, ω raised by the same rule. At fixed μ, y of the equalities, σ and ω the sweep's
direction descends on φ, and for small α no slack stops: Armijo's rule holds for some α. μ falls when the expected
reduction of a full step is below a multiple of μ Σ w.

See eqs. (27) and (28) of docs/mathematics.md. Sources: Nocedal and Wright (2006), Chapter 19; Wächter and Biegler
(2006); Pavlov et al. (2021) for DDP.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.config import parameter, validate
from contact_ddp_ros.errors import SolverError
from contact_ddp_ros.solver import slacks
from contact_ddp_ros.solver.checks import checked_array
from contact_ddp_ros.solver.ddp import Run, checked_guess
from contact_ddp_ros.solver.gaps import MARGIN
from contact_ddp_ros.solver.options import SolverOptions
from contact_ddp_ros.solver.penalties import MU, SIGMA
from contact_ddp_ros.solver.protocol import Problem, node_data
from contact_ddp_ros.solver.solution import Guess, Solution, Termination
from contact_ddp_ros.solver.workspace import Workspace

Array = NDArray[np.float64]


FEASIBLE = 1e-6
"""Largest violation of a constraint that counts as none."""

_EQUALITIES_MOST = 10.0
"""Bound of what ½ σ c² may add at first, relative to the cost: a larger σ drives the first steps into the limits."""

_TOTAL_MIN = 1e-6
"""Least Σ w, for problems without inequalities."""


def interior_options(options: SolverOptions) -> SolverOptions:
    """Options of a solve with what suits the interior point: a tighter end; a deeper cut of θ saves sweeps."""
    return replace(options, tolerance=1e-10, hessian_blend_cut=0.1)


@dataclass(frozen=True)
class InteriorPointOptions:
    """Settings of the interior point.

    Inequalities should be scaled so that 1 is much.
    """

    mu: float = parameter(0.1, low=1e-12, description="barrier parameter μ to begin with, relative to the cost")
    warm_mu: float = parameter(1e-4, low=1e-12, description="the same of a warm start")
    mu_factor: float = parameter(0.1, low=1e-3, high=0.9, description="factor on μ")
    mu_power: float = parameter(1.5, low=1.0, high=2.0, description="exponent of μ's fall after a full step")
    mu_test: float = parameter(
        3.0, low=0.0, description="μ falls where a full step is expected to bring less than this multiple of μ Σ w"
    )
    gap_tolerance: float = parameter(
        1e-9, low=1e-14, high=1.0, description="μ Σ w at the end, relative to the cost: bound of the optimum's error"
    )
    slack_min: float = parameter(0.05, low=1e-9, description="least slack of a first trajectory")
    boundary: float = parameter(0.99, low=0.5, high=0.99999, description="fraction to the boundary τ of a step")
    detached_step: float = parameter(
        0.15, low=0.0, high=1.0, description="where the boundary leaves less of a step, slacks leave their inequalities"
    )
    sigma: float = parameter(1e3, low=1e-6, description="largest penalty σ of equalities to begin with")
    sigma_factor: float = parameter(5.0, low=1.0, description="factor on σ after a full step")
    sigma_max: float = parameter(1e8, low=1e-6, description="largest σ")
    equality_tolerance: float = parameter(1e-8, low=0.0, description="largest residual of an equality at the end")

    def __post_init__(self) -> None:
        """Raises ParameterError for a number out of its range."""
        validate(self)


@dataclass(frozen=True)
class Multipliers:
    """Of a problem's constraints, node by node.

    Attributes:
        equalities: (N+1, n_e).
        inequalities: (N, n_i), 0 where a node lacks one.
    """

    equalities: Array
    inequalities: Array


@dataclass(frozen=True)
class InteriorSolution:
    """A solution with its multipliers.

    Attributes:
        solution: its cost is the objective alone.
        multipliers: of all constraints.
        slacks: (N, n_i), ∞ where a node lacks an inequality.
        mu: barrier parameter at the end.
        mus: barrier parameter of each iteration.
    """

    solution: Solution
    multipliers: Multipliers = field(repr=False)
    slacks: Array = field(repr=False)
    mu: float = 0.0
    mus: tuple[float, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether the dynamics hold exactly and every constraint within FEASIBLE."""
        found = self.solution
        worst = max(found.equality_violation, found.inequality_violation)
        return found.is_finite and found.gap == 0.0 and worst <= FEASIBLE


class InteriorPointSolver:
    """Solve problems with hard constraints; work arrays are reused between solves of equal size."""

    def __init__(self, options: SolverOptions | None = None, interior: InteriorPointOptions | None = None) -> None:
        self.options = options or interior_options(SolverOptions(max_iterations=200))
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
        warm: Multipliers | None = None,
        mu: float | None = None,
    ) -> InteriorSolution:
        """Minimise the problem's cost subject to its constraints from x0, starting at a guess.

        Args:
            problem: to be solved, whose inequalities its `step` tells of (n_i).
            x0: (n_x,) initial state.
            guess: nominal trajectory, and gains of the first rollout.
            hessian_blend: θ to begin with.
            max_iterations: limit of this solve, in place of the option.
            warm: multipliers to begin with, as those of an earlier solution.
            mu: barrier parameter that is held, in the cost's units; by default it falls to the options' end.

        Raises:
            SolverError: as :meth:`contact_ddp_ros.solver.ddp.DdpSolver.solve`, or `warm` is of another size.
        """
        data = node_data(problem, penalty=(self.interior.sigma, 1.0, 0.0))
        x_start, guess = checked_array("x0", x0, (problem.n_x,)), checked_guess(problem, guess)
        if self._work is None or not self._work.fits(problem):
            self._work = Workspace(problem)
        if warm is not None:
            found = warm.equalities.shape, warm.inequalities.shape
            needed = (problem.n_nodes + 1, problem.n_e), (problem.n_nodes, problem.n_i)
            if found != needed:
                raise SolverError(f"warm has multipliers of shapes {found}; needed: {needed}, as the problem")
        run = _InteriorRun(problem, data, self._work, self.options, self.interior)
        run.start(x_start, guess, hessian_blend)
        run.begin(warm, mu)
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
        self._sizes = problem.n_e, problem.n_i
        weights = problem.inequality_weights
        self._weights = np.ones(problem.n_nodes) if weights is None else weights
        self._slacks = np.zeros((problem.n_nodes, problem.n_i))
        self._objective = self._trial_objective = np.inf
        self._begun = False
        self._weight = 0.0
        self._held = False
        self._least = 1.0
        self._detached = False
        self._unit = self._total = 1.0

    def begin(self, warm: Multipliers | None, held: float | None) -> None:
        """Set slacks, multipliers and μ for the first trajectory."""
        if not np.isfinite(self.cost):
            return
        residuals, (n_e, n_i) = self.work.nominal[3], self._sizes
        equalities = slacks.equality_cost(residuals, self._multipliers, self._penalty, n_e)
        self._objective = self.cost - equalities
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
            self._multipliers[:-1, n_e::2] = np.maximum(residuals[:-1, n_e:-1], mu / given)
            self._multipliers[:-1, n_e + 1 :: 2] = 1.0 / self._multipliers[:-1, n_e::2]
        self._multipliers[:-1, n_e + 1 :: 2] *= mu
        self._penalty[MU] = mu
        self._begun = True
        self.cost = self._merit()

    def outcome(self, solution: Solution) -> InteriorSolution:
        """The solution with its multipliers; a violated constraint is named where the solve has failed."""
        n_e, _ = self._sizes
        if solution.termination is not Termination.CONVERGED:
            solution = replace(solution, message=f"{solution.message}; {self._worst_constraint()}")
        return InteriorSolution(
            solution=solution,
            multipliers=Multipliers(self._multipliers[:, :n_e].copy(), self._multipliers[:-1, n_e + 1 :: 2].copy()),
            slacks=self._multipliers[:-1, n_e::2].copy(),
            mu=float(self._penalty[MU]),
            mus=tuple(self.mus),
        )

    def _worst_constraint(self) -> str:
        """The largest violation in words."""
        n_e, _ = self._sizes
        residuals = self.work.nominal[3]
        violations = np.hstack([np.abs(residuals[:, :n_e]), -residuals[:, n_e:-1]])
        if not violations.size or not violations.max() > 0.0:
            return "no constraint is violated"
        k, index = (int(one) for one in np.unravel_index(np.argmax(violations), violations.shape))
        name, violation = self.problem.constraint_name(index), violations[k, index]
        return f"the most violated constraint is {name} of node {k}, by {violation:.3g}"

    @property
    def objective(self) -> float:
        """J, without barrier and multipliers."""
        return self._objective if self._begun else self.cost

    def _distance(self) -> tuple[float, float, float]:
        found: tuple[float, float, float] = slacks.distance(
            self.work.nominal[3], self._multipliers, self._weights, self._penalty, *self._sizes
        )
        return found

    def _merit(self) -> float:
        """φ without the gaps' term at the nominal trajectory."""
        equalities = slacks.equality_cost(self.work.nominal[3], self._multipliers, self._penalty, self._sizes[0])
        barrier = slacks.barrier_cost(self._multipliers, self._weights, *self._sizes)
        apart, _, _ = self._distance()
        return float(self._objective + equalities - self._penalty[MU] * barrier + self._weight * apart)

    def _rollout(
        self, xs: Array, us: Array, gains: Array, alpha: float, into: tuple[Array, Array, Array, Array]
    ) -> float:
        cost = super()._rollout(xs, us, gains, alpha, into)
        if not self._begun or not np.isfinite(cost):
            return cost
        nominal = self.work.nominal[3]
        apart, psi, barrier, equalities, self._least = slacks.trial(
            *(into[3], nominal, self._multipliers, self._weights, self._penalty),
            *self._sizes,
            alpha,
            self.interior.boundary,
            self._slacks,
        )
        if self._least < 1.0 - self.interior.boundary and not self._detached:
            return np.inf
        self._trial_objective = cost - psi - equalities
        return self._trial_objective + barrier + equalities + self._weight * apart

    def _line_search(self, linear: float, quadratic: float, converged: bool) -> tuple[float, float]:
        self._detached = False
        return super()._line_search(linear, quadratic, converged)

    def _shorter(self, alpha: float) -> float:
        beyond = 1.0 - self._least
        if self._detached or beyond <= self.interior.boundary:
            return super()._shorter(alpha)
        self._longest = alpha * min(max(self.interior.boundary / beyond, 0.1), 0.99)
        if self._longest < self.interior.detached_step:
            self._detached, self._longest = True, 1.0
        return self._longest

    def _with_constraints(self, linear: float, change: float) -> tuple[float, float]:
        apart, slope, bend = self._distance()
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
        worst = float(np.abs(self.work.nominal[3][:, : self._sizes[0]]).max(initial=0.0))
        apart, _, _ = self._distance()
        settled = max(worst, apart / max(self._total, _TOTAL_MIN)) <= self.interior.equality_tolerance
        centred = self._held or self._penalty[MU] <= self.interior.gap_tolerance * self._unit
        return centred and settled and super()._is_optimal(reduction)

    def _after_step(self, alpha: float, reduction: float) -> None:
        """Take over slacks and multipliers of the step; lower μ and raise σ where the step allows it."""
        settings, mu = self.interior, float(self._penalty[MU])
        self.mus.append(mu)
        nominal, previous = self.work.nominal[3], self.work.trial[3]
        slacks.advance(
            *(nominal, previous, self._multipliers, self._penalty),
            *self._sizes,
            alpha,
            settings.boundary,
            self._slacks,
        )
        self._objective = self._trial_objective
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
        self.cost = self._merit()
