"""Interface of the models: coordinates for planner and controller, and the maps to them and back.

The horizontal frame in which a model's coordinates are planned.

A plan knows neither place nor heading. The whole body's is made in a frame that stands where the robot is and points
along the wanted heading, and turned back into `odom` afterwards: plans from two places or headings are one, and the
sides of the friction pyramid lie along and across the heading.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.ground import Ground, LocalGround
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import COMPILED
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HorizontalFrame:
    """A frame of states (x, y, ..., yaw, ...) and their rates, by its origin [m] and heading in `odom` [rad].

    Attributes:
        x, y: of the origin.
        heading: of its first axis.
        yaw: index of the yaw in q.
    """

    x: float
    y: float
    heading: float
    yaw: int

    def into(self, xs: Array) -> Array:
        """(..., 2n) states of `odom` in this frame; the first one's yaw is within half a turn of it."""
        first = float(xs.reshape(-1, xs.shape[-1])[0, self.yaw])
        turns = round((first - self.heading) / (2.0 * math.pi))
        moved = np.array(xs, np.float64)
        moved[..., 0] -= self.x
        moved[..., 1] -= self.y
        moved[..., self.yaw] -= self.heading + 2.0 * math.pi * turns
        return _turn_states(moved, self.heading)

    def out_of(self, xs: Array) -> Array:
        """(..., 2n) states of this frame in `odom`."""
        moved = _turn_states(np.array(xs, np.float64), -self.heading)
        moved[..., 0] += self.x
        moved[..., 1] += self.y
        moved[..., self.yaw] += self.heading
        return moved

    def policy_into(self, policy: Policy) -> Policy:
        """A policy of `odom` for states of this frame."""
        return self._with(policy, self.into(policy.states), self.heading)

    def policy_out_of(self, policy: Policy) -> Policy:
        """A policy of this frame for states of `odom`."""
        return self._with(policy, self.out_of(policy.states), -self.heading)

    def ground(self, ground: Ground) -> LocalGround:
        """The ground of `odom` in this frame."""
        return LocalGround(ground.height_at(self.x, self.y), ground.ahead(self.heading), ground.aside(self.heading))

    def _with(self, policy: Policy, states: Array, angle: float) -> Policy:
        gains, forces = (np.array(one, np.float64) for one in (policy.gains, policy.forces))
        _turn(forces.reshape(-1, 3), 0, angle)
        return replace(policy, states=states, gains=_turn_states(gains, angle), forces=forces)


def _turn_states(rows: Array, angle: float) -> Array:
    """The rows (..., 2n), whose columns belong to (q, v), in axes that are turned by an angle [rad], in place."""
    flat = rows.reshape(-1, rows.shape[-1])
    for column in (0, rows.shape[-1] // 2):
        _turn(flat, column, angle)
    return rows


@njit(nb.void(nb.float64[:, ::1], nb.int64, nb.float64), **COMPILED)
def _turn(rows, column, angle):  # type: ignore[no-untyped-def]
    """Turn the axes of components `column` and the next of rows (N, m) by an angle [rad], in place."""
    cos, sin = math.cos(angle), math.sin(angle)
    for k in range(len(rows)):
        first, second = rows[k, column], rows[k, column + 1]
        rows[k, column], rows[k, column + 1] = cos * first + sin * second, cos * second - sin * first


@dataclass(frozen=True)
class OwnFrame:
    """The frame of a model whose coordinates are planned as they are: those of a plane along the robot's heading.

    Attributes:
        x, y: where the robot is in `odom` [m].
        heading: its own [rad].
    """

    x: float
    y: float
    heading: float

    def into(self, xs: Array) -> Array:
        """States unchanged: this frame is `odom`."""
        return xs

    def policy_into(self, policy: Policy) -> Policy:
        """Policy unchanged."""
        return policy

    def policy_out_of(self, policy: Policy) -> Policy:
        """Policy unchanged."""
        return policy

    def ground(self, ground: Ground) -> LocalGround:
        """The ground along the heading, through the foot of `odom`'s origin on the robot's line."""
        left = math.cos(self.heading) * self.y - math.sin(self.heading) * self.x
        return LocalGround(ground.height + ground.aside(self.heading) * left, ground.ahead(self.heading))


class Model(Protocol):
    """Coordinates x = (q, v), (n_x,), controls u, (n_u,), and contact points with forces along `axes`."""

    @property
    def name(self) -> str:
        """Name of the model, for messages."""
        ...

    @property
    def robot(self) -> Robot:
        """The robot that it is a model of."""
        ...

    @property
    def tree(self) -> RigidBodyTree:
        """The rigid bodies that are planned for."""
        ...

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of q, in the order of the tree's joints."""
        ...

    @property
    def axes(self) -> tuple[int, ...]:
        """World axes along which contacts act, the normal last."""
        ...

    @property
    def legs_of(self) -> Mapping[str, tuple[str, ...]]:
        """Legs that each contact point, in the tree's order, stands for."""
        ...

    @property
    def chart(self) -> Chart:
        """Euler convention of the attitude; the default one where the coordinates have none."""
        ...

    @property
    def height(self) -> int:
        """Index of the trunk's height in q; what comes before is horizontal."""
        ...

    @property
    def second_order_below(self) -> float:
        """The :class:`SolverOptions` of solves that begin far from their optimum."""
        ...

    @property
    def torque_limits(self) -> Array:
        """(n_u,) what each control can be at most [N m]."""
        ...

    def state(self, state: RobotState) -> Array:
        """(n_x,) the coordinates of a measured state."""
        ...

    def frame(self, state: RobotState, heading: float) -> HorizontalFrame | OwnFrame:
        """The frame in which a plan for a heading [rad] is made from a state."""
        ...

    def forward_velocity(self, x: Array) -> float:
        """Velocity of the trunk's origin along its heading [m/s]."""
        ...

    def robot_state(self, x: Array, actual: RobotState, time: float = 0.0) -> RobotState:
        """The robot in a state of the model; what the model does not have is as in `actual`. Velocities are zero."""
        ...

    def joint_targets(self, x: Array, u: Array) -> tuple[Array, Array, Array]:
        """Positions [rad], velocities [rad/s] and torques [N m] of the robot's joints for x and u."""
        ...
