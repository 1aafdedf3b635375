r"""Differential dynamic programming with a homotopy between Gauss-Newton and full second order.

Full DDP needs care that iLQR does not: away from a minimum the curvature S of the dynamics can make Quu indefinite, and
Levenberg's ρI, which shrinks the step in every direction, then stalls for tens of iterations. Instead S enters scaled,

    H_θ = H_GN + θ S,       θ ∈ [0, 1].

H_GN is positive semidefinite by construction, so some θ always gives a descent direction; Armijo's rule then gives
convergence to a stationary point for any bounded sequence of θ. θ is cut where it gives no step at all (Quu is not
positive definite, or every step of the line search fails) and raised after every step taken, however short or badly
predicted: a model that lacks curvature predicts badly and overshoots, so neither is a reason to stay with it. Near a
minimum with H_1 positive definite every H_θ = (1 − θ) H_GN + θ H_1 is so too: nothing cuts θ, it reaches 1 within a few
iterations and with it comes DDP's quadratic rate. Levenberg's ρ remains as the last resort at θ = 0.

Shooting: "single" rolls every trajectory out; "multiple" takes the guess's states as they are, and its steps close
their gaps (:mod:`contact_ddp_ros.solver.gaps`), by the same sweep and with the same θ.

Variants: "ddp" as above, "ddp_tensor" the same for a problem whose `second` is computed the conventional way, and
"ilqr", which keeps θ at 0.
"""

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.errors import SolverError
from contact_ddp_ros.solver.gaps import Gaps, evaluate, slope
from contact_ddp_ros.solver.node_function import node_function
from contact_ddp_ros.solver.options import SolverOptions
from contact_ddp_ros.solver.protocol import FIRST, N_PENALTY, SECOND, STEP, Problem
from contact_ddp_ros.solver.solution import Guess, Iteration, Solution, Termination
from contact_ddp_ros.solver.sweeps import backward, expand, rollout
from contact_ddp_ros.solver.workspace import Workspace

Array = NDArray[np.float64]

_ROUNDING = 1e-14
"""A change of the cost below this share of it is rounding and no reason to refuse a step: so near a minimum Armijo's
rule sees noise only, and refusals would hold the error at the square root of rounding (Hager and Zhang 2005)."""


@dataclass
class _Effort:
    """What one iteration has cost so far: seconds per stage, and counts."""

    partials_time: float = 0.0
    sweep_time: float = 0.0
    rollout_time: float = 0.0
    sweeps: int = 0
    rollouts: int = 0
    curved_sweeps: float = 0.0
    flat_sweeps: float = 0.0

    def add_sweep(self, share: float, curved: bool) -> None:
        """A sweep over that share of the nodes, with second-order curvature or without."""
        self.sweeps += 1
        if curved:
            self.curved_sweeps += share
        else:
            self.flat_sweeps += share


class _Run:
    """One solve in progress: the nominal trajectory, its expansion, and the regularisation (θ, ρ)."""

    def __init__(self, problem: Problem, data: tuple[Array, ...], work: Workspace, options: SolverOptions) -> None:
        self.problem, self.data, self.work, self.options = problem, data, work, options
        self._step = node_function(problem.step, STEP)
        self._first = node_function(problem.first, FIRST)
        self._second = node_function(problem.second, SECOND)
        self.cost = np.inf
        self.theta = 0.0
        self.rho = 0.0
        self.gaps = Gaps(problem.n_x)
        self.iterations: list[Iteration] = []
        self._effort = _Effort()
        self._expanded = False

    def start(self, x0: Array, guess: Guess, theta: float) -> None:
        """Roll the guess out from x0, or take its states as they are."""
        started = perf_counter()
        self.work.forget_sweep()
        self.work.nominal[0][0] = x0
        self.work.nominal[3][:] = np.inf  # nodes that a diverging rollout does not reach hold no constraint
        if self.options.shooting == "multiple":
            self.cost = self._take(guess)
        else:
            self.cost = self._rollout(guess.xs, guess.us, guess.gains, 0.0, self.work.nominal)
        self._effort.rollout_time += perf_counter() - started
        self.theta = 0.0 if self.options.variant == "ilqr" else min(max(theta, 0.0), 1.0)

    def iterate(self) -> Termination | None:
        """One iteration: expansion, sweep, line search; a reason to stop, or None."""
        options = self.options
        self._expand()
        swept = self._sweep()
        if swept is None:
            return Termination.STALLED
        linear, quadratic, gradient = swept
        theta, rho = self.theta, self.rho
        # a step that Levenberg's term holds short promises little wherever it is
        free = rho <= options.rho_min
        converged = (
            free and not self.gaps.are_open and -(linear + quadratic) <= options.tolerance * (1.0 + abs(self.cost))
        )
        alpha, new_cost = self._line_search(linear, quadratic, converged)
        closed = self.gaps.gain(alpha)
        expected = closed - (alpha * linear + alpha * alpha * quadratic)
        actual, self.cost = self.cost - new_cost + closed, new_cost
        if alpha > 0.0:
            self.gaps.close(alpha)
            self.work.nominal, self.work.trial = self.work.trial, self.work.nominal
            self._expanded = False
        self._record(expected, actual, alpha, theta, rho, gradient)
        if converged:
            return Termination.CONVERGED
        if alpha > 0.0:
            self._be_bolder()
        elif rho > options.rho_max:
            return Termination.STALLED
        else:
            self._be_more_cautious()
        return None

    def _expand(self) -> None:
        if self._expanded:
            return
        started = perf_counter()
        expand(self._first, self.data, *self.work.nominal[:3], self.work.expansion)
        self._effort.partials_time += perf_counter() - started
        self._expanded = True

    def _sweep(self) -> tuple[float, float, float] | None:
        """Backward sweep with the least caution that makes every Quu + ρI positive definite.

        Returns linear and quadratic term of the cost's expected change and the largest |Qu|; None beyond ρ's limit.
        """
        work, started = self.work, perf_counter()
        while True:
            failed, linear, quadratic, gradient = backward(
                self._second,
                self.data,
                self.problem.has_control,
                *work.nominal[:3],
                work.expansion,
                self.gaps.d,
                self.theta,
                self.rho,
                *work.unfinished,
            )
            self._effort.add_sweep(1.0 - max(failed, 0) / self.problem.n_nodes, self.theta > 0.0)
            if failed < 0 or self.rho > self.options.rho_max:
                break
            self._be_more_cautious()
        if failed < 0:
            work.keep_sweep()
            if self.gaps.are_open:
                change = linear + quadratic
                linear = slope(self.problem.has_control, work.expansion, work.ks, work.gains, self.gaps.d)
                quadratic = change - linear
                self.gaps.weigh(linear, change)
        self._effort.sweep_time += perf_counter() - started
        return None if failed >= 0 else (linear, quadratic, gradient)

    def _line_search(self, linear: float, quadratic: float, converged: bool) -> tuple[float, float]:
        """First step of 1, c, c², … that satisfies Armijo's rule (on the merit, with gaps), or 0, and the cost there.

        Once converged, the reductions expected are below rounding: one full step is tried and kept if it does not hurt.
        """
        options, work, started = self.options, self.work, perf_counter()
        xs, us = work.nominal[:2]
        work.trial[0][0] = xs[0]
        alpha, accepted, cost = 1.0, 0.0, self.cost
        rounding = _ROUNDING * abs(self.cost)
        while alpha >= options.step_min:
            new_cost = self._rollout(xs, us, work.gains, alpha, work.trial)
            closed = self.gaps.gain(alpha)
            expected = alpha * linear + alpha * alpha * quadratic - closed
            rise = new_cost - self.cost - rounding
            if rise - closed <= options.armijo * expected or (converged and rise <= 0.0):
                accepted, cost = alpha, new_cost
                break
            if converged:
                break
            alpha *= options.step_factor
        self._effort.rollout_time += perf_counter() - started
        return accepted, cost

    def _rollout(
        self, xs: Array, us: Array, gains: Array, alpha: float, into: tuple[Array, Array, Array, Array]
    ) -> float:
        self._effort.rollouts += 1
        has_control, ks, gaps = self.problem.has_control, self.work.ks, self.gaps.d
        cost: float = rollout(self._step, self.data, has_control, xs, us, ks, gains, alpha, gaps, *into)
        return cost

    def _take(self, guess: Guess) -> float:
        """The guess's states and controls as nominal trajectory, gaps included; its cost."""
        xs, us = self.work.nominal[:2]
        xs[1:] = guess.xs[1:]
        us[:] = np.where(self.problem.has_control[:, None], guess.us, 0.0)
        gaps = np.empty((self.problem.n_nodes, self.problem.n_x))
        cost: float = evaluate(self._step, self.data, *self.work.nominal, gaps)
        if np.isfinite(cost):
            self.gaps.open(gaps)
        return cost

    def _be_more_cautious(self) -> None:
        """After an indefinite Quu or a failed line search: less curvature first, Levenberg last."""
        options = self.options
        if self.theta > 0.0:
            self.theta *= options.theta_cut
            if self.theta < options.theta_min:
                self.theta = 0.0
        else:
            self.rho = max(options.rho_min, self.rho * options.rho_factor)

    def _be_bolder(self) -> None:
        """After an accepted step: more curvature, less of Levenberg's term."""
        options = self.options
        self.rho = self.rho / options.rho_factor if self.rho > options.rho_min else 0.0
        if options.variant != "ilqr":
            self.theta = min(1.0, max(self.theta, options.theta_min) * options.theta_grow)

    def _record(self, expected: float, actual: float, alpha: float, theta: float, rho: float, gradient: float) -> None:
        residuals, effort = self.work.nominal[3], self._effort
        self.iterations.append(
            Iteration(
                cost=self.cost,
                expected=expected,
                actual=actual,
                step=alpha,
                theta=theta,
                rho=rho,
                gradient=gradient,
                gap=self.gaps.largest,
                equality=float(np.abs(residuals[:, :-1]).max(initial=0.0)),
                inequality=float(residuals[:, -1].max(initial=0.0)),
                partials_time=effort.partials_time,
                sweep_time=effort.sweep_time,
                rollout_time=effort.rollout_time,
                sweeps=effort.sweeps,
                rollouts=effort.rollouts,
                curved_sweeps=effort.curved_sweeps,
                flat_sweeps=effort.flat_sweeps,
            )
        )
        self._effort = _Effort()


class DdpSolver:
    """Solves problems by hybrid DDP; keeps its work arrays between solves of equal size."""

    def __init__(self, options: SolverOptions | None = None) -> None:
        self.options = options or SolverOptions()
        self._work: Workspace | None = None

    def solve(
        self,
        problem: Problem,
        x0: Array,
        guess: Guess,
        *,
        multipliers: Array | None = None,
        penalty: Array | None = None,
        theta: float = 1.0,
        max_iterations: int | None = None,
    ) -> Solution:
        """Minimise the problem's cost from x0, starting at a guess.

        Args:
            problem: what to solve.
            x0: (n_x,) initial state.
            guess: nominal trajectory, and gains of the first rollout.
            multipliers: (N+1, n_e) augmented-Lagrangian multipliers, zero by default.
            penalty: (σ, δ, ε) as the problem's functions read them, (1, 0.1, 0) by default.
            theta: curvature share to begin with.
            max_iterations: overrides the option.

        Raises:
            SolverError: where x0, the guess, the multipliers or the penalty do not fit the problem or are not finite.
        """
        data = _data(problem, multipliers, penalty)
        guess = Guess(*(np.ascontiguousarray(array, dtype=np.float64) for array in (guess.xs, guess.us, guess.gains)))
        _check(problem, x0, guess, data)
        if self._work is None or not self._work.fits(problem):
            self._work = Workspace(problem)
        run = _Run(problem, data, self._work, self.options)
        run.start(x0, guess, theta)
        initial_cost = run.cost
        limit = max_iterations if max_iterations is not None else self.options.max_iterations
        termination = None if np.isfinite(run.cost) else Termination.DIVERGED
        while termination is None:
            termination = Termination.ITERATIONS if len(run.iterations) >= limit else run.iterate()
        xs, us, aux, residuals = (array.copy() for array in self._work.nominal)
        return Solution(
            xs=xs,
            us=us,
            gains=self._work.gains.copy() if run.iterations else np.array(guess.gains),
            aux=aux,
            residuals=residuals,
            cost=run.cost,
            initial_cost=initial_cost,
            gap=run.gaps.largest if np.isfinite(run.cost) else np.inf,
            theta=run.theta,
            termination=termination,
            iterations=tuple(run.iterations),
            Vx=self._work.vx.copy(),
            Vxx=self._work.vxx.copy(),
        )


def _data(problem: Problem, multipliers: Array | None, penalty: Array | None) -> tuple[Array, ...]:
    """The tuple that the problem's functions read."""
    if multipliers is None:
        multipliers = np.zeros((problem.n_nodes + 1, max(problem.n_e, 1)))
    if penalty is None:
        penalty = np.array([1.0, 0.1, 0.0])
    multipliers, penalty = (np.ascontiguousarray(array, dtype=np.float64) for array in (multipliers, penalty))
    own = (problem.integers, problem.node_integers, problem.parameters, problem.node_parameters)
    return (*own, multipliers, penalty)  # type: ignore[return-value]


def _check(problem: Problem, x0: Array, guess: Guess, data: tuple[Array, ...]) -> None:
    n, n_x, n_u = problem.n_nodes, problem.n_x, problem.n_u
    *_, multipliers, penalty = data
    arrays = {
        "x0": (x0, (n_x,)),
        "guess.xs": (guess.xs, (n + 1, n_x)),
        "guess.us": (guess.us, (n, n_u)),
        "guess.gains": (guess.gains, (n, n_u, n_x)),
        "multipliers": (multipliers, (n + 1, max(problem.n_e, 1))),
        "penalty": (penalty, (N_PENALTY,)),
    }
    for name, (array, allowed) in arrays.items():
        if np.shape(array) != allowed:
            raise SolverError(f"{name} has shape {np.shape(array)}; the problem needs {allowed}")
        if not np.isfinite(array).all():
            raise SolverError(f"{name} holds a number that is not finite; every entry must be")
