"""The last policy as the guess of the next solve, and what else a solve leaves for the next one.

First guess of a cold solve: a heuristic controller, handed over as an affine policy about the reference.

Feet on the ground carry the weight (Jᵀ of the mean stance force), joints follow the reference by PD; in the tail of a
rigid body the forces themselves do, and bring it back to the reference. The solver's first
rollout closes the policy, so no other simulation is needed.

Multipliers of the touchdown heights, kept from one solve to the next.

A touchdown is known by the grid step, counted from the gait's epoch, at which it lies, so that its multipliers follow
it through the receding horizon. A new touchdown takes those of the one a gait cycle before.

How far a solution is outside the limits of its problem, limit by limit and node by node.

How many iterations a solve may take before its deadline, by the time that those of the last solves took.

When a solve from the cold guess challenges the warm-started one, and which of them counts.

A warm start also keeps what is bad: a plan made while the robot lay on its belly, or was picked up, may lead to a local
optimum that the solve converges to ever after. In a moving gait the horizon leaves it behind; while the gait is held
each horizon is the last one, so there both are solved now and then. In any gait the cold guess is tried where the warm
start is lost: far from the last plan its gains may do harm, and would again at the next call.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.mpc.config import GuessConfig
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Guess, Solution, Termination
from contact_ddp_ros.robot.gaits.grid import KnotGrid
from contact_ddp_ros.robot.policy import Policy

Array = NDArray[np.float64]


def heuristic_guess(
    builder: ProblemBuilder, grid: KnotGrid, xs: Array, config: GuessConfig, wanted: NDArray[np.bool_] | None = None
) -> Guess:
    """The guess along a grid whose times count from the gait's epoch, about reference states xs (N+1, 2n).

    Only the (N,) nodes that are `wanted`, all by default, need have their controls: another guess knows the rest.
    """
    n = builder.tree.n
    wanted = np.ones(grid.n_nodes, dtype=bool) if wanted is None else wanted
    us = builder.reference.weight_carrying_torques(grid, xs, wanted)
    gains = np.zeros((grid.n_nodes, us.shape[1], 2 * n))
    share = 0.5 * len(next(iter(builder.model.legs_of.values())))  # the gains are those of a pair
    for a, joint in enumerate(builder.tree.actuated):
        gains[:, a, joint] = -share * config.kp
        gains[:, a, n + joint] = -share * config.kd
    step = builder.config.gait.step
    if (grid.durations > step).any():  # which such gains would make unstable
        slower = np.minimum(step / np.maximum(grid.durations, step), 1.0)[:, None, None]
        gains[:, :, :n] *= slower**2
        gains[:, :, n:] *= slower
    gains[grid.switches] = 0.0
    if grid.near is not None:
        us[grid.near :], gains[grid.near :] = builder.balancing_forces(grid, xs, wanted)
    return Guess(xs, us, gains)


class TouchdownMultipliers:
    """The multipliers (n_f,) of each touchdown; grids here are in times from the gait's epoch."""

    def __init__(self, step: float) -> None:
        """`step` of the grid [s]."""
        self._step = step
        self._values: dict[int, Array] = {}

    def __len__(self) -> int:
        return len(self._values)

    def of(self, grid: KnotGrid, cycle: int, n_feet: int) -> Array:
        """(N+1, n_f) initial multipliers along a grid, zero where none is known; a gait cycle lasts `cycle` steps."""
        multipliers = np.zeros((grid.n_nodes + 1, n_feet))
        for k in np.flatnonzero(grid.switches):
            key = self._key(grid.times[k])
            known = self._values.get(key, self._values.get(key - cycle))
            if known is not None:
                multipliers[k] = known
        return multipliers

    def update(self, grid: KnotGrid, cycle: int, multipliers: Array) -> None:
        """Keep the multipliers (N+1, n_f) of a solve, and forget touchdowns more than two cycles before its grid."""
        for k in switches_ahead(grid):
            self._values[self._key(grid.times[k])] = multipliers[k].copy()
        oldest = self._key(grid.times[0]) - 2 * cycle
        self._values = {key: value for key, value in self._values.items() if key >= oldest}

    def _key(self, time: float) -> int:
        return round(time / self._step)


def switches_ahead(grid: KnotGrid) -> NDArray[np.int64]:
    """Nodes of the switches that the plan can still influence: not one at its very start."""
    return 1 + np.flatnonzero(grid.switches[1:])


@dataclass(frozen=True)
class Excess:
    """The largest violation of one kind of limit, relative to its scale, the node that has it, and the limit's name."""

    amount: float
    node: int
    name: str = ""


def no_violations() -> Mapping[str, Excess]:
    """Violations of a plan whose limits nothing is known of."""
    return {}


def violations(problem: Problem, solution: Solution) -> dict[str, Excess]:
    """The inequalities that are violated, by kind: a constraint's name up to " of ", as in "friction of front"."""
    found: dict[str, Excess] = {}
    for index, column in enumerate(solution.inequalities.T):
        node = int(np.argmin(column))
        amount = -float(column[node])
        name = problem.constraint_name(problem.n_e + index)
        kind, _, _ = name.partition(" of ")
        if amount > 0.0 and (kind not in found or amount > found[kind].amount):
            found[kind] = Excess(amount, node, name)
    return found


def worst_violation(problem: Problem, solution: Solution, times: Array, tolerated: float) -> str:
    """The limit that a solution exceeds most, the amount and the place in words; `times` (N+1,) are the nodes' [s]."""
    found = violations(problem, solution).values()
    if not found:
        return f"a limit is violated by {solution.inequality_violation:.3g} times its scale; tolerated: {tolerated:g}"
    worst = max(found, key=lambda one: one.amount)
    ahead = 1e3 * (times[worst.node] - times[0])
    where = f"node {worst.node}, {ahead:.0f} ms ahead"
    return f"{worst.name} is exceeded by {worst.amount:.3g} times its scale at {where}; tolerated: {tolerated:g}"


_SHARE = 0.2
"""Share of the last solve in the running mean of the time that an iteration takes."""


class IterationBudget:
    """Running mean of the time per iteration."""

    def __init__(self) -> None:
        self._mean = 0.0

    def record(self, seconds: float, iterations: int) -> None:
        """Take the duration [s] and the number of iterations of a solve into the mean."""
        if iterations:
            self._mean += _SHARE * (seconds / iterations - self._mean)

    def iterations(self, deadline: float | None, most: int) -> int:
        """Iterations that end before a deadline on the clock of `time.perf_counter` [s]: at least one, `most` at most.

        `most` where there is no deadline, or no solve has been recorded.
        """
        if deadline is None or self._mean <= 0.0:
            return most
        return min(max(int((deadline - perf_counter()) / self._mean), 1), most)


LOST = 1.0
"""A limit broken by more than this, relative to its scale, is not on its way to being kept. Of 10 000 plans of
survived pushes none breaks one by as much."""

_INTERVAL = 0.1
"""Time between two challenges [s]."""

_TIE = 1e-7
"""Times that differ by less are equal [s]."""


class ColdRestart:
    """The clock of the challenges."""

    def __init__(self) -> None:
        self._last = -math.inf

    def is_due(self, time: float) -> bool:
        """True if a challenge is due at `time` [s]; if so, the next one is due an interval later."""
        if 0.0 <= time - self._last < _INTERVAL - _TIE:
            return False
        self._last = time
        return True


def is_infeasible(solution: Solution) -> bool:
    """True if a solution is no plan: it diverged, or breaks a limit by more than :data:`LOST`."""
    return solution.termination is Termination.DIVERGED or not solution.inequality_violation <= LOST


def better(warm: Solution, cold: Solution) -> Solution:
    """Feasible solution with the lower cost, or the less violated one where both are infeasible."""
    if is_infeasible(warm) or is_infeasible(cold):
        return min(warm, cold, key=_violation)
    return cold if cold.cost < warm.cost else warm


def _violation(solution: Solution) -> float:
    diverged = solution.termination is Termination.DIVERGED or math.isnan(solution.inequality_violation)
    return math.inf if diverged else solution.inequality_violation


class WarmStart:
    """Warm start: trajectory and multipliers that the last solve has left; empty at first."""

    def __init__(self, step: float) -> None:
        """`step` of the grid [s]."""
        self._step = step
        self.forget()

    def forget(self) -> None:
        """Start the next solve cold."""
        self.policy: Policy | None = None
        """The last one with its tail, in `odom`."""
        self.near: int | None = None
        """Number of fine steps of that grid."""
        self.inequalities: Array = np.zeros((0, 0))
        """(N, n_i) multipliers of its inequalities."""
        self.hessian_blend = 1.0
        """θ with which its solve ended."""
        self.touchdowns = TouchdownMultipliers(self._step)

    def delay(self, time: float) -> None:
        """Let the last policy begin so much later [s]: its gait has been moved."""
        if self.policy is not None and time != 0.0:
            self.policy = replace(self.policy, times=self.policy.times + time)


def shifted(last: Policy, grid: KnotGrid, beyond: Guess, near: int | None = None) -> Guess:
    """A policy on a later grid, and another guess where it :func:`reaches` no node; `near` is that of its own grid."""
    rows = _rows(last, grid.times[:-1] + _TIE, grid.switches)
    known = np.flatnonzero(reaches(last, grid, near))
    xs, us, gains = beyond.xs.copy(), beyond.us.copy(), beyond.gains.copy()
    xs[known] = _states(last, rows[known], grid.times[known])
    us[known] = last.controls[rows[known]]
    gains[known] = last.gains[rows[known]]
    us[grid.switches] = 0.0
    gains[grid.switches] = 0.0
    # the first node may lie inside an interval: its nominal state is interpolated
    if known.size and not grid.switches[0]:
        xs[0] = last.sample(float(grid.times[0])).state
    return Guess(xs, us, gains)


def _states(last: Policy, rows: NDArray[np.int64], times: Array) -> Array:
    """(n, n_x) states of the policy at times within these rows, interpolated in its longer steps.

    Not those of the first node, whose time is the measurement's, nor of a step after a switch there.
    """
    states = last.states[rows]
    elapsed, spans = times - last.times[rows], np.diff(last.times)[rows]
    between = 2 + np.flatnonzero((elapsed[2:] > _TIE) & (spans[2:] > _TIE))
    share = (elapsed[between] / spans[between])[:, None]
    states[between] += share * (last.states[rows[between] + 1] - states[between])
    return states


def reaches(last: Policy, grid: KnotGrid, near: int | None = None) -> NDArray[np.bool_]:
    """(N,) which nodes of a later grid a policy knows of: before its end, and in a tail where its own grid's is."""
    known = grid.times[:-1] < last.end - _TIE
    if grid.near is not None:
        begins = last.times[near] if near is not None else last.end
        known &= (np.arange(grid.n_nodes) >= grid.near) == (grid.times[:-1] > begins - _TIE)
    return np.asarray(known)


def shifted_multipliers(last: Policy, multipliers: Array, grid: KnotGrid, near: int | None = None) -> Array:
    """Multipliers (N, n_i) of the last plan's inequalities on a later grid, 0 where it :func:`reaches` no node."""
    n_nodes = len(grid.times) - 1
    found = np.zeros((n_nodes, multipliers.shape[1]))
    known = np.flatnonzero(reaches(last, grid, near))
    found[known] = multipliers[_rows(last, grid.times[:-1] + _TIE, grid.switches)[known]]
    return found


def _rows(last: Policy, times: Array, switches: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows of the policy for nodes just after `times`: a switch maps to the switch, a step to the step."""
    rows = np.searchsorted(last.times, times, side="right") - 1
    # a switch shares its time with the step after it, which searchsorted finds: step back by one
    rows = np.where(switches, rows - 1, rows)
    return np.clip(rows, 0, len(last.controls) - 1)
