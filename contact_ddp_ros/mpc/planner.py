"""Receding-horizon bounding MPC: a measured state in, a policy out.

The horizon begins at the measurement's own instant: the first step is shortened so that it ends on the gait's grid, and
every later step lies on it. Each solve starts from the last policy, shifted; what the policy did not reach begins from
the heuristic controller of a cold solve. (What the policy did one gait cycle before is the worse guess: its gains, made
for the middle of a horizon, overshoot from the state at its end.) A touchdown's multipliers travel with it, and a new
one takes those of a cycle before. Where the shifted policy diverges from the measured state, the heuristic controller
is the guess for all of the horizon. A solve that diverges even so, or holds a number that is not finite, is reported
and gives no policy; the last good one stays the warm start.

A warm start also keeps what is bad: a plan made while the robot lay on its belly, or was picked up, may lead to a local
optimum that the solve converges to ever after. In a bound the horizon leaves it behind; while the gait is held each
horizon is the last one, so there the heuristic controller challenges the plan now and then, and the cheaper one counts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.config import validate
from contact_ddp_ros.errors import MessageError, ParameterError
from contact_ddp_ros.hybrid.grid import KnotGrid, knot_grid
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.contact_problem import Penalty
from contact_ddp_ros.mpc.cost_terms import cost_terms, no_cost_terms
from contact_ddp_ros.mpc.guess import heuristic_guess
from contact_ddp_ros.mpc.problem import BoundingProblem
from contact_ddp_ros.mpc.rate_limit import RateLimited
from contact_ddp_ros.policy import Policy
from contact_ddp_ros.robot.joints import N_JOINTS
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.planar import PlanarMap, reduce_to_plane
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import RigidBodyTree
from contact_ddp_ros.solver.ddp import DdpSolver
from contact_ddp_ros.solver.options import SolverOptions
from contact_ddp_ros.solver.protocol import Problem
from contact_ddp_ros.solver.solution import Guess, Iteration, Solution, Termination

Array = NDArray[np.float64]

_ON_GRID = 1e-6
"""An instant within this share of a step of a grid point counts as on it."""

_TIE = 1e-7
"""Times of grid points that differ by less are equal [s]."""

_MEMORY = 0.5
"""Plans older than this are no warm start for a gait that is held at its beginning [s]."""

_CHALLENGE = 0.1
"""While the gait is held, the warm start must hold its own against a cold one this often [s]."""

_ITERATION_SHARE = 0.2
"""Share of the last solve in the running mean of the time that an iteration takes."""

_SHORTEST_STEP = 0.25
"""A first step shorter than this share of a full one is merged into the next."""


@dataclass(frozen=True)
class PlanResult:
    """What one call of the planner gave.

    Attributes:
        policy: None where the solve failed.
        status: name of the termination reason, or of the failure.
        message: the same for people.
        solve_time: wall-clock time of the call [s].
        iterations: one record per DDP iteration.
        cost: of the plan, penalties included.
        touchdown_error: largest height error of a landing foot in the plan [m].
        inequality_violation: largest violated constraint of the plan, relative to its scale; 0 where all hold.
        friction_violation: largest violation of the friction cone or the normal force in the plan [N].
        cold: whether there was no plan to start from, so that it took as long as it had to.
        cost_terms: (7,) when called, the cost by term as in :mod:`contact_ddp_ros.mpc.cost_terms`; for records.
    """

    policy: Policy | None
    status: str
    message: str
    solve_time: float
    iterations: tuple[Iteration, ...]
    cost: float
    touchdown_error: float
    inequality_violation: float
    friction_violation: float
    cold: bool = False
    cost_terms: Callable[[], Array] = no_cost_terms


class BoundingPlanner:
    """Plans bounds for one robot; call :meth:`reset` before the first plan of a gait."""

    def __init__(self, robot: Robot, config: PlannerConfig | None = None, epoch: int = 0) -> None:
        """`epoch` of the first gait; a planner that follows another one must begin with a later epoch."""
        self.config = config or PlannerConfig()
        validate(self.config)
        self.tree: RigidBodyTree = reduce_to_plane(robot)
        self.model_hash = robot.model_hash
        self.problem = BoundingProblem(self.tree, self.config)
        self._map = PlanarMap()
        self._solver = DdpSolver(SolverOptions(variant=self.config.variant, max_iterations=self.config.iterations))
        self.epoch = epoch
        self._epoch_time = 0.0
        self._sequence = 0
        self._last: Policy | None = None
        self._challenged = -math.inf
        self._theta = 1.0
        self._speed = RateLimited()
        self._height = RateLimited(self.config.reference.height)
        self._multipliers: dict[int, Array] = {}
        self._iteration_time = 0.0

    def configure(self, config: PlannerConfig) -> None:
        """Apply new parameters from the next solve on.

        Raises:
            ParameterError: a structural one differs (the gait's timing, the variant); nothing has changed then.
        """
        validate(config)
        if config.gait != self.config.gait or config.variant != self.config.variant:
            raise ParameterError("gait timing, integrator and variant are fixed while the planner exists; restart it")
        self.config = config
        self._solver = DdpSolver(SolverOptions(variant=config.variant, max_iterations=config.iterations))

    @property
    def gait_start(self) -> float:
        """When the gait's first mode began [s]."""
        return self._epoch_time

    def reset(self, time: float) -> None:
        """Start a new gait whose first mode begins at `time` [s]."""
        self.epoch += 1
        self._epoch_time = time
        self._forget()

    def plan(self, state: RobotState, speed: float, *, hold: bool = False, deadline: float | None = None) -> PlanResult:
        """Solve from a measured state for a commanded speed [m/s].

        With `hold` the gait stays at its beginning: each plan starts the first mode at the state's own instant, so that
        a robot that stands may begin to bound with any of them. Where there is a `deadline`, on the clock of
        `time.perf_counter` [s], iterations that would not end in time are left out, but for one.

        Raises:
            MessageError: an array of the state has another size, or the state or the speed is not finite.
        """
        if not state.has_sizes(N_JOINTS):
            raise MessageError(f"an array of the state has another size; no plan is made but for {N_JOINTS} joints")
        if not state.is_finite():
            raise MessageError("the state holds a number that is not finite; no plan is made from it")
        if not math.isfinite(speed):
            raise MessageError(f"the commanded speed is {speed}; allowed: a finite number")
        x0, time, reference = self._map.planar_state(state), state.time, self.config.reference
        challenge = hold and not 0.0 <= time - self._challenged < _CHALLENGE - _TIE
        if hold:
            self._hold(time, float(x0[1]) - self.config.ground.height)
        if challenge:
            self._challenged = time
        target = min(max(speed, -reference.speed_limit), reference.speed_limit)
        speed = self._speed.approach(target, reference.acceleration, time)
        height = self._height.approach(reference.height, reference.height_rate, time)
        return self.plan_planar(x0, time, speed, height, challenge=challenge, deadline=deadline)

    def plan_planar(
        self,
        x0: Array,
        time: float,
        speed: float,
        height: float | None = None,
        *,
        challenge: bool = False,
        deadline: float | None = None,
    ) -> PlanResult:
        """The same from a planar state (2n,) at an instant, for a reference speed and height taken as they are.

        With `challenge` it is solved from the warm start and from the cold guess, and the cheaper plan counts.
        """
        started = perf_counter()
        grid = self._grid(time)
        phased = self._relative(grid)
        config = self.config
        if height is not None:
            config = replace(config, reference=replace(config.reference, height=height))
        problem, xs_reference = self.problem.build(phased, config, speed, float(x0[0]))
        heuristic = heuristic_guess(self.problem, phased, xs_reference)
        multipliers = self._multipliers_on(grid)
        cold = self._last is None
        if cold:
            solution = self._solve(problem, x0, heuristic, multipliers, self.config.first_iterations)
        else:
            shifted = self._shifted(grid, heuristic)
            solution = self._solve(problem, x0, shifted, multipliers, self._affordable(deadline))
            # far from the last plan its gains may do harm, and would again at the next call
            if challenge or solution.termination is Termination.DIVERGED:
                solution = _better(solution, self._solve(problem, x0, heuristic, multipliers, self.config.iterations))
        terms = partial(cost_terms, self.problem, problem, grid, solution, multipliers, self._penalty())
        return replace(self._result(grid, solution, multipliers, started, terms), cold=cold)

    def _affordable(self, deadline: float | None) -> int:
        """Iterations that end before the deadline if they take as long as the last ones, at least one."""
        if deadline is None or self._iteration_time <= 0.0:
            return self.config.iterations
        return min(max(int((deadline - perf_counter()) / self._iteration_time), 1), self.config.iterations)

    def _penalty(self) -> Array:
        constraint = self.config.constraint
        return Penalty(constraint.touchdown_penalty, constraint.barrier_width, constraint.barrier_weight).array()

    def _solve(self, problem: Problem, x0: Array, guess: Guess, multipliers: Array, iterations: int) -> Solution:
        started = perf_counter()
        solution = self._solver.solve(
            problem,
            x0,
            guess,
            multipliers=multipliers,
            penalty=self._penalty(),
            theta=self._theta,
            max_iterations=iterations,
        )
        if solution.iterations:
            taken = (perf_counter() - started) / len(solution.iterations)
            self._iteration_time += _ITERATION_SHARE * (taken - self._iteration_time)
        return solution

    def _result(
        self, grid: KnotGrid, solution: Solution, multipliers: Array, started: float, terms: Callable[[], Array]
    ) -> PlanResult:
        termination = solution.termination
        failed = termination is Termination.DIVERGED or not self._is_finite(solution)
        policy = None
        friction_violation = math.inf
        if not failed:
            forces = self.problem.forces(grid, solution.aux)
            friction_violation = self._friction_violation(forces)
            self._sequence += 1
            policy = Policy(
                times=grid.times.copy(),
                states=solution.xs,
                controls=solution.us,
                gains=solution.gains,
                modes=grid.modes[:-1].copy(),
                forces=forces,
                sequence=self._sequence,
                epoch=self.epoch,
                model_hash=self.model_hash,
                ground=self.config.ground,
            )
            self._last = policy
            self._theta = solution.theta
            sigma = self.config.constraint.touchdown_penalty
            for k in self._switches_ahead(grid):
                key = self._switch_key(grid.times[k])
                self._multipliers[key] = multipliers[k] + sigma * solution.residuals[k, :-1]
            self._drop_old_multipliers(grid)
        return PlanResult(
            policy=policy,
            status="DIVERGED" if failed else termination.name,
            message=Termination.DIVERGED.value if failed else termination.value,
            solve_time=perf_counter() - started,
            iterations=solution.iterations,
            cost=solution.cost,
            touchdown_error=float(np.abs(solution.residuals[self._switches_ahead(grid), :-1]).max(initial=0.0)),
            inequality_violation=solution.inequality_violation,
            friction_violation=friction_violation,
            cost_terms=terms,
        )

    def _hold(self, time: float, height: float) -> None:
        """Let the gait begin at `time`, at rest at the present height; the warm start keeps its phase."""
        last = self._last
        if last is not None and not (time - last.start <= _MEMORY and last.start - self._epoch_time <= _MEMORY):
            self._forget()  # what was planned long ago, or in the middle of the gait, leads astray
        self._speed.restart(0.0, time)
        self._height.restart(height, time)
        delay = time - self._epoch_time
        self._epoch_time = time
        if self._last is not None:
            self._last = replace(self._last, times=self._last.times + delay)

    def _forget(self) -> None:
        self._last = None
        self._theta = 1.0
        self._speed.restart(0.0, self._epoch_time)
        self._height.restart(self.config.reference.height, self._epoch_time)
        self._multipliers = {}

    def _grid(self, time: float) -> KnotGrid:
        """The horizon from `time`, in absolute times."""
        step = self.config.gait.step
        schedule = replace(self.problem.schedule, epoch=self._epoch_time)
        n_steps = round(self.config.gait.horizon_cycles * schedule.period / step)
        position = (time - self._epoch_time) / step
        start = math.floor(position + _ON_GRID)
        if start + 1 - position < _SHORTEST_STEP:
            start += 1
        # A state measured at a switch may be that before or after it. Contact resets are projections, which leave a
        # state that has been reset already as it is, so the switch is taken as ahead.
        grid = knot_grid(schedule, start, n_steps, step, switch_at_start=position < start + _ON_GRID)
        times, durations = grid.times.copy(), grid.durations.copy()
        first = 1 if grid.switches[0] else 0
        if abs(times[first] - time) > _ON_GRID * step:
            times[: first + 1] = time
            durations[first] = times[first + 1] - time
        return KnotGrid(times, durations, grid.modes, grid.switches, grid.start_step)

    def _relative(self, grid: KnotGrid) -> KnotGrid:
        """The grid on the clock whose zero is the gait's epoch."""
        return KnotGrid(grid.times - self._epoch_time, grid.durations, grid.modes, grid.switches, grid.start_step)

    def _shifted(self, grid: KnotGrid, beyond: Guess) -> Guess:
        """The last policy on a later grid, and another guess beyond its end."""
        last = self._last
        assert last is not None
        rows = self._rows(grid.times[:-1] + _TIE, grid.switches)
        known = np.flatnonzero(grid.times[:-1] < last.end - _TIE)
        xs, us, gains = beyond.xs.copy(), beyond.us.copy(), beyond.gains.copy()
        xs[known] = last.states[rows[known]]
        us[known] = last.controls[rows[known]]
        gains[known] = last.gains[rows[known]]
        us[grid.switches] = 0.0
        gains[grid.switches] = 0.0
        # the first node may lie inside an interval: its nominal state is interpolated
        if known.size and not grid.switches[0]:
            xs[0] = last.sample(float(grid.times[0])).state
        return Guess(xs, us, gains)

    def _rows(self, times: Array, switches: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Rows of the last policy for nodes just after `times`: a switch maps to the switch, a step to the step."""
        last = self._last
        assert last is not None
        rows = np.searchsorted(last.times, times, side="right") - 1
        # a switch shares its time with the step after it, which searchsorted finds: step back by one
        rows = np.where(switches, rows - 1, rows)
        return np.clip(rows, 0, len(last.controls) - 1)

    @staticmethod
    def _switches_ahead(grid: KnotGrid) -> NDArray[np.int64]:
        """Nodes of the switches that the plan can still influence: not one at its very start."""
        return 1 + np.flatnonzero(grid.switches[1:])

    def _switch_key(self, time: float) -> int:
        return round((time - self._epoch_time) / self.config.gait.step)

    def _multipliers_on(self, grid: KnotGrid) -> Array:
        """(N+1, n_f) multipliers of the horizon's touchdowns; a new touchdown takes those of the one a cycle before."""
        multipliers = np.zeros((grid.n_nodes + 1, self.problem.sizes[2]))
        cycle = round(self.problem.schedule.period / self.config.gait.step)
        for k in np.flatnonzero(grid.switches):
            key = self._switch_key(grid.times[k])
            known = self._multipliers.get(key)
            if known is None:
                known = self._multipliers.get(key - cycle)
            if known is not None:
                multipliers[k] = known
        return multipliers

    def _drop_old_multipliers(self, grid: KnotGrid) -> None:
        cycle = round(self.problem.schedule.period / self.config.gait.step)
        oldest = self._switch_key(grid.times[0]) - 2 * cycle
        self._multipliers = {key: value for key, value in self._multipliers.items() if key >= oldest}

    def _friction_violation(self, forces: Array) -> float:
        n_a = self.problem.n_axes
        friction = self.config.ground.friction
        worst = 0.0
        for foot in range(len(self.problem.feet)):
            normal = forces[:, (foot + 1) * n_a - 1]
            worst = max(worst, float((-normal).max()))
            for axis in range(n_a - 1):
                worst = max(worst, float((np.abs(forces[:, foot * n_a + axis]) - friction * normal).max()))
        return max(worst, 0.0)

    @staticmethod
    def _is_finite(solution: Solution) -> bool:
        return bool(
            np.isfinite(solution.cost)
            and np.isfinite(solution.xs).all()
            and np.isfinite(solution.us).all()
            and np.isfinite(solution.gains).all()
        )


def _better(warm: Solution, cold: Solution) -> Solution:
    """The cheaper of two solutions of one problem, of those that did not diverge."""
    if warm.termination is Termination.DIVERGED:
        return cold
    return cold if cold.termination is not Termination.DIVERGED and cold.cost < warm.cost else warm
