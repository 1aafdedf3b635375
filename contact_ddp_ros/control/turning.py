"""Coordinates of a robot that turns over: whole turns are counted, and no angle is singular on the way.

The state of a whole body that may turn over: in the chart of its plan, in the frame of its start, turns counted.

The planar state of a robot that may turn over: pitch counts whole turns and passes ±90° without a singularity.

:meth:`contact_ddp_ros.robot.models.planar.PlanarModel.state` takes the pitch from ZYX Euler angles, which jump there.
Here the plane is held: it is the vertical one along the heading at the beginning, and the pitch the turn about its
normal nearest to the trunk's attitude,

    θ = atan2(R₁₃ − R₃₁, R₁₁ + R₃₃)

with R from trunk axes to axes of the plane, followed from one state to the next.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.attitude import ANGLES
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.rotation import (
    quaternion_product,
    quaternion_to_matrix,
    quaternion_to_rpy,
    rpy_to_quaternion,
    wrap_angle,
)
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]


class TurningPlane:
    """The plane through a standing state, and the pitch in it."""

    def __init__(self, model: PlanarModel, state: RobotState, ground: float = 0.0) -> None:
        """Hold the heading and the place of an upright state: x counts from there, z from the height `ground` [m]."""
        self._model = model
        yaw = float(quaternion_to_rpy(state.orientation)[2])
        cosine, sine = math.cos(yaw), math.sin(yaw)
        self.axes = np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]])
        """(3, 3) from `odom` to the plane: along it, to its left, up."""
        self.origin = np.array([state.position[0], state.position[1], ground])
        self.pitch = 0.0

    def state(self, state: RobotState) -> Array:
        """(14,) of the planar model; to be called with every state, at most half a turn after the last one."""
        rotation = self.axes @ quaternion_to_matrix(state.orientation)
        pitch = math.atan2(rotation[0, 2] - rotation[2, 0], rotation[0, 0] + rotation[2, 2])
        self.pitch += wrap_angle(pitch - self.pitch)
        position, velocity = self.axes @ (state.position - self.origin), rotation @ state.linear_velocity
        pairs, n = self._model.pairs, self._model.tree.n
        x = np.empty(2 * n)
        x[:3] = position[0], position[2], self.pitch
        x[n : n + 3] = velocity[0], velocity[2], (rotation @ state.angular_velocity)[1]
        x[3:n] = state.joint_positions[pairs].mean(axis=1)
        x[n + 3 :] = state.joint_velocities[pairs].mean(axis=1)
        return x

    def error(self, state: RobotState, nominal: Array) -> Array:
        """(14,) of a state from a nominal one (14,), as the gains of a plan multiply it; as :meth:`state`."""
        return self.state(state) - nominal

    def tilt(self, state: RobotState) -> float:
        """Angle between the trunk's lateral axis and the plane's normal [rad]: roll and yaw together."""
        lateral = self.axes @ quaternion_to_matrix(state.orientation)[:, 1]
        return math.acos(min(max(float(lateral[1]), -1.0), 1.0))


class TurningBody:
    """The frame along the heading of a first state, with its origin on the ground below it, and turns since then."""

    def __init__(self, model: WholeBodyModel, state: RobotState, turn: float = 0.0, ground: float = 0.0) -> None:
        """Hold the heading and the place of a state that is turned about its plan's axis by about `turn` [rad].

        The frame's origin is at the height `ground` [m].
        """
        self._model = model
        yaw = float(quaternion_to_rpy(state.orientation)[2])
        self._back = rpy_to_quaternion(0.0, 0.0, -yaw)
        self.axes = quaternion_to_matrix(self._back)
        """(3, 3) from `odom` to the frame: ahead, to the left, up."""
        self.origin = np.array([state.position[0], state.position[1], ground])
        self._angles = np.array([0.0, 0.0, turn])

    def inside(self, state: RobotState) -> RobotState:
        """State as the frame has it."""
        return replace(
            state,
            position=self.axes @ (state.position - self.origin),
            orientation=quaternion_product(self._back, state.orientation),
        )

    def state(self, state: RobotState) -> Array:
        """(36,) of the model; to be called with every state, at most half a turn after the last one."""
        inside = self.inside(state)
        x = self._model.state(inside)
        x[ANGLES] = self._model.chart.angles(quaternion_to_matrix(inside.orientation), self._angles)
        self._angles = x[ANGLES].copy()
        return x

    def error(self, state: RobotState, nominal: Array) -> Array:
        """(36,) of a state from a nominal one (36,), as the gains of a plan multiply it."""
        return self._model.deviation(self.inside(state), nominal, self._model.chart)

    def tilt(self, state: RobotState) -> float:
        """Angle between the axis that the motion turns about and where it was at the start [rad]."""
        axis = self._model.chart.axes[-1]
        turned = quaternion_to_matrix(self.inside(state).orientation) @ axis
        return float(np.arccos(np.clip(turned @ axis, -1.0, 1.0)))


def follower_of(
    model: PlanarModel | WholeBodyModel, state: RobotState, turn: float = 0.0, ground: float = 0.0
) -> TurningPlane | TurningBody:
    """Follower of a robot's turns for a model, from a state on; `turn`, `ground` as for :class:`TurningBody`."""
    if isinstance(model, PlanarModel):
        return TurningPlane(model, state, ground)
    return TurningBody(model, state, turn, ground)
