"""The planar state of a robot that may turn over: pitch counts whole turns and passes ±90° without a singularity.

:meth:`contact_ddp_ros.robot.models.planar.PlanarModel.state` takes the pitch from ZYX Euler angles, which jump there.
Here the plane is held: it is the vertical one along the heading at the beginning, and the pitch the turn about its
normal nearest to the trunk's attitude,

    θ = atan2(R₁₃ − R₃₁, R₁₁ + R₃₃)

with R from trunk axes to axes of the plane, followed from one state to the next.
"""

import math

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy, wrap_angle
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
