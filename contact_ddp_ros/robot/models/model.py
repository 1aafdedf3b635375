"""Interface of the models: coordinates for planner and controller, and the maps to them and back."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.frame import HorizontalFrame, OwnFrame
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]


class Model(Protocol):
    """Coordinates x = (q, v), (n_x,), controls u, (n_u,), and contact points with forces along `axes`."""

    @property
    def name(self) -> str:
        """For messages."""
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
        """By contact point, in the tree's order, the legs that it stands for."""
        ...

    @property
    def chart(self) -> Chart:
        """Of the attitude; the default one where the coordinates have none."""
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

    def difference(self, x: Array, nominal: Array) -> Array:
        """(n_x,) from a nominal state to another, as feedback gains multiply it."""
        ...

    def deviation(self, state: RobotState, nominal: Array, chart: Chart) -> Array:
        """(n_x,) of a measured state from a nominal one in a chart, as feedback gains of that chart multiply it."""
        ...

    def robot_state(self, x: Array, actual: RobotState, time: float = 0.0) -> RobotState:
        """The robot in a state of the model; what the model does not have is as in `actual`. Velocities are zero."""
        ...

    def joint_targets(self, x: Array, u: Array) -> tuple[Array, Array, Array]:
        """Positions [rad], velocities [rad/s] and torques [N m] of the robot's joints for x and u."""
        ...
