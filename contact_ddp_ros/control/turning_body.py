"""The state of a whole body that may turn over: in the chart of its plan, in the frame of its start, turns counted."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.turning_plane import TurningPlane
from contact_ddp_ros.robot.attitude import ANGLES
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.rotation import (
    quaternion_product,
    quaternion_to_matrix,
    quaternion_to_rpy,
    rpy_to_quaternion,
)
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]


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
        """The same state as the frame has it."""
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
    """What follows a robot's turns for a model, from a state on; `turn`, `ground` as for :class:`TurningBody`."""
    if isinstance(model, PlanarModel):
        return TurningPlane(model, state, ground)
    return TurningBody(model, state, turn, ground)
