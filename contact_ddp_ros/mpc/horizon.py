"""The receding horizon: where it lies on the grid of its gaits, when another gait begins, the references along it.

The first step is shortened so that it ends on the grid. A gait that is new begins where a cycle ends, and not before
the end of the present horizon: its first landings come into the plan from there, as if they had always been meant.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.mpc.config import RIGID_BODY, HorizonConfig
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.robot.gaits.grid import KnotGrid, coarsened, knot_grid, with_tail
from contact_ddp_ros.robot.gaits.sequence import GaitSequence
from contact_ddp_ros.robot.ground import LocalGround

Array = NDArray[np.float64]

_ON_GRID = 1e-6
"""An instant within this share of a step of a grid point counts as on it."""

_SHORTEST_STEP = 0.25
"""A first step shorter than this share of a full one is merged into the next."""


@dataclass(frozen=True)
class Horizon:
    """Horizon data that the numbers of a term may depend on, for N nodes and the end.

    Attributes:
        times: (N+1,) from the gait's epoch [s].
        stance: (N+1, n_f) which contact point is on the ground, in the model's order.
        states: (N+1, 2n) reference states x = (q, v) [m, rad, m/s, rad/s].
        config: the planner's parameters.
        speed: commanded [m/s].
    """

    times: Array
    stance: NDArray[np.bool_]
    states: Array
    config: Any
    speed: float


@dataclass(frozen=True)
class GaitHorizon(Horizon):
    """References of a gait along a horizon, from which the packaged terms and references of a user's own follow.

    All is in the planner's axes: those of a sagittal model are the plane's; those of the whole body have their origin
    below the trunk and their first axis along its heading.

    Attributes:
        switches: (N,) which nodes are switches of the mode; they have no duration.
        clearances: (N+1, n_f) reference heights of the feet's lowest points above the ground [m].
        swinging: (N+1, n_f) which foot is in the air by the gait's phases.
        forces: (N+1, n_f n_a) reference contact forces, foot by foot, the normal last [N].
        motion: commanded, from the first instant on.
        ground: below the robot.
        coordinates: (n,) names of q.
        state_weights: (2n,) of the running cost.
        torque_limits: (n_u,) of the actuators [N m].
        mean_force: normal force of a foot that carries the weight over a cycle [N].
        pair_share: (n_f,) legs at each contact point over those of a pair, 1 or a half.
        near: node from which on the robot is one rigid body, None where it is nowhere; terms on torques, on heights and
            of the user's do not count there.
    """

    switches: NDArray[np.bool_]
    clearances: Array
    swinging: NDArray[np.bool_]
    forces: Array
    motion: TrunkCommand
    ground: LocalGround
    coordinates: tuple[str, ...]
    state_weights: Array
    torque_limits: Array
    mean_force: float
    pair_share: Array
    near: int | None = None

    def column(self, name: str, rate: bool = False) -> int:
        """Column of `states` with a coordinate, or with its rate; ParameterError where there is none."""
        if name not in self.coordinates:
            raise ParameterError(f"no coordinate is called {name!r}; there are {', '.join(self.coordinates)}")
        return self.coordinates.index(name) + (len(self.coordinates) if rate else 0)


def horizon_grid(sequence: GaitSequence, cycles: float, time: float, far: HorizonConfig | None = None) -> KnotGrid:
    """The grid of so many cycles from `time` [s], in times of the sequence's epoch, with the longer steps of `far`."""
    step = sequence.step
    start, position = _start(sequence, time)
    # A state measured at a switch may be that before or after it. Contact resets are projections, which leave a
    # state that has been reset already as it is, so the switch is taken as ahead.
    n_steps = _steps(sequence, cycles, start)
    grid = knot_grid(sequence, start, n_steps, step, switch_at_start=position < start + _ON_GRID)
    if far is not None:
        near = round(far.near / step)
        if far.far_step > step:
            grid = coarsened(grid, sequence, step, near, far.far_step)
        if far.far_model == RIGID_BODY:
            grid = with_tail(grid, near)
    times, durations = grid.times.copy(), grid.durations.copy()
    first = 1 if grid.switches[0] else 0
    if abs(times[first] - time) > _ON_GRID * step:
        times[: first + 1] = time
        durations[first] = times[first + 1] - time
    return replace(grid, times=times, durations=durations)


def followed(sequence: GaitSequence, gait: int, cycles: float, time: float) -> GaitSequence:
    """The sequence at `time` [s]: without gaits that are over, and with the gait of index `gait` as the last one."""
    if len(sequence.sections) == 1 and sequence.sections[0].gait == gait:
        return sequence
    start, _ = _start(sequence, time)
    kept = sequence.since(start - steps_of_cycle(sequence, start))
    return kept if kept.sections[-1].gait == gait else kept.then(gait, start + _steps(sequence, cycles, start))


def steps_of_cycle(sequence: GaitSequence, start: int) -> int:
    """Length of the cycle in which a step lies, in steps."""
    return _steps(sequence, 1.0, start)


def _start(sequence: GaitSequence, time: float) -> tuple[int, float]:
    """The step at which the horizon from `time` begins, and where that time lies, in steps from the epoch."""
    position = (time - sequence.epoch) / sequence.step
    start = math.floor(position + _ON_GRID)
    return (start + 1 if start + 1 - position < _SHORTEST_STEP else start), position


def _steps(sequence: GaitSequence, cycles: float, start: int) -> int:
    return round(cycles * sequence.schedule(sequence.section_at(start)).period / sequence.step)
