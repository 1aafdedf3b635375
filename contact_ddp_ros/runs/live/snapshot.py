"""One instant of a robot as the page draws it: immutable data, SI units, vectors in `odom` unless said otherwise.

Plans as the page shows them, and the pose of the planned robot.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.config import ParameterSpec, Value
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.policy_kinematics import PolicyPoses, landings
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.live.commands import Answer, Building, Command, Drive
from contact_ddp_ros.runs.options import RunOptions

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """A policy thinned out for drawing.

    Attributes:
        times: (N,) [s].
        states: (N, n_x) planned states.
        forces: (N, n_f) planned contact forces [N].
        landings: rows of `states` at which a foot touches down, with the index of its leg.
        ground: that the plan counts on, with the friction that it may use.
    """

    times: Array
    states: Array
    forces: Array
    landings: tuple[tuple[int, int], ...]
    ground: Ground


@dataclass(frozen=True)
class Solve:
    """One solve of the planner.

    Attributes:
        time: of the state that it starts from [s].
        solve_ms: wall-clock time [ms].
        iterations: of DDP.
        theta: blend of the dynamics' second-order terms, 0 to 1.
        cost: of the plan.
        terms: cost by term, in the order of `World.cost_terms`; empty where unknown.
        late: whether it took longer than the planner's period.
    """

    time: float
    solve_ms: float
    iterations: int
    theta: float
    cost: float
    terms: tuple[float, ...]
    late: bool


@dataclass(frozen=True)
class Spring:
    """The mouse's pull.

    Attributes:
        place: (3,) where it acts [m].
        target: (3,) where the mouse is [m].
        force: (3,) [N].
        impulse: time integral of the force's magnitude since it began [N s].
    """

    place: Array
    target: Array
    force: Array
    impulse: float


@dataclass(frozen=True)
class Touch:
    """Contact and terrain estimate.

    Attributes:
        contacts: which feet it feels on the ground, in the order of FOOT_NAMES.
        ground: the plane that the feet have found; None before there is one.
        footholds: (N, 3) where feet have stood [m].
    """

    contacts: tuple[bool, ...]
    ground: Ground | None
    footholds: Array


@dataclass(frozen=True)
class Snapshot:
    """One instant.

    Attributes:
        state: of the robot.
        mode: of the controller: damp, stand, move, recover or motion.
        waiting: what an accepted request waits for; empty where there is none.
        fall: why the robot fell; empty where it did not.
        drive: commanded motion.
        cut: which part of it is not followed, and why; empty where all of it is.
        speed: measured along the heading, averaged over about a gait cycle [m/s].
        rpy: (3,) roll, pitch, yaw [rad].
        plan: that is followed; None where there is none.
        planned_contacts: which feet the plan has on the ground now, in the order of FOOT_NAMES.
        touch: what the robot feels of the ground; None where that is not known here.
        contact_forces: (4, 3) of the ground on the feet [N]; None where nobody measures them.
        planned_forces: (n_f,) of the plan now [N]; None where there is none.
        push: (3,) force on the trunk now [N].
        spring: the mouse's pull; None where there is none.
        solves: those since the snapshot before.
        solves_late, solves_total: counts since the start or the last reset.
        real_time_factor: simulated over wall-clock time of about the last second.
        pace: wanted real-time factor.
        paused: whether time stands.
        world: counts the worlds built; see :class:`World`.
        kept: of the robot that is kept for a comparison; None where there is none.
    """

    state: RobotState
    mode: str
    waiting: str
    fall: str
    drive: Drive
    cut: str
    speed: float
    rpy: Array
    plan: Plan | None
    planned_contacts: tuple[bool, ...]
    touch: Touch | None
    contact_forces: Array | None
    planned_forces: Array | None
    push: Array
    spring: Spring | None
    solves: tuple[Solve, ...]
    solves_late: int
    solves_total: int
    real_time_factor: float
    pace: float
    paused: bool
    world: int
    kept: "Snapshot | None" = None


@dataclass(frozen=True)
class World:
    """World that stays until a loop is rebuilt.

    Attributes:
        number: counts them.
        options: that it was built from.
        parameters: every parameter by "section.name", its value as the default.
        declared: the values of a run without options.
        cost_terms: names of the terms of the planner's cost.
        abilities: names of the commands that this robot understands; see :mod:`contact_ddp_ros.runs.live.commands`.
        motions: names of the jumps and flips that it can be asked for.
        kept: parameters of the robot that is kept for a comparison; None where there is none.
    """

    number: int
    options: RunOptions
    parameters: Mapping[str, ParameterSpec]
    declared: Mapping[str, Value]
    cost_terms: tuple[str, ...]
    abilities: frozenset[str]
    motions: tuple[str, ...] = ()
    kept: Mapping[str, Value] | None = None


STRIDE = 3
"""Nodes of a policy from one drawn to the next."""


def plan_of(policy: Policy, stride: int = STRIDE) -> Plan:
    """A policy thinned out for drawing; touchdowns are kept whatever the stride."""
    policy = policy.shown
    forces = policy.forces
    lands = dict(landings(forces))
    rows = sorted({*range(0, len(policy.times), stride), *lands})
    padded = np.vstack([forces, np.zeros((1, forces.shape[1]))])
    return Plan(
        times=policy.times[rows],
        states=policy.states[rows],
        forces=padded[rows],
        landings=tuple((rows.index(k), leg) for k, legs in lands.items() for leg in legs),
        ground=policy.ground,
    )


def touch_of(controller: Controller) -> Touch:
    """Contact and terrain estimate of a controller so far."""
    estimator = controller.estimator
    return Touch(
        contacts=tuple(map(bool, estimator.contacts.contact)),
        ground=estimator.ground,
        footholds=estimator.footholds,
    )


class PlanView(PolicyPoses):
    """Robots in the states of plans."""

    def at(self, plan: Plan, time: float, actual: RobotState) -> RobotState:
        """The planned robot at an instant [s], clamped to the horizon."""
        x = np.array([np.interp(time, plan.times, column) for column in plan.states.T])
        return self.state(x, actual, time)


News = Building | Answer | World | Snapshot
"""Messages from a robot to the page."""


class Link(Protocol):
    """Link of the page to a robot: commands there; answers, worlds and the newest snapshot back. No method waits.

    Two kinds exist: a loop in a process of its own (:mod:`contact_ddp_ros.apps.play.process`), and running ROS 2 nodes
    (:mod:`contact_ddp_ros.ros.play_link`).
    """

    def send(self, command: Command) -> None:
        """Ask for something; the answer comes with `news`."""
        ...

    def news(self) -> list[News]:
        """Messages since the last call, in order; snapshots come no faster than they are asked for."""
        ...

    def failure(self) -> str:
        """Why the robot can no longer be reached; empty while it can."""
        ...

    def close(self) -> None:
        """End what was started; safe to call twice."""
        ...
