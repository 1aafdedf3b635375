"""Tracking of whole-body policies: feedback of all coordinates, no stabiliser beside it.

u = ubar + K (x - xbar),        tau = u + kp (qbar_j - q_j) + kd (vbar_j - v_j)          (the drives add the PD part)
"""

import numpy as np

from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.robot.joint_pd import JointTargets
from contact_ddp_ros.robot.models.model import Model
from contact_ddp_ros.robot.models.whole_body import YAW
from contact_ddp_ros.robot.policy import PolicySample
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState


class WholeBodyTracker:
    """See :class:`contact_ddp_ros.control.tracker.Tracker`."""

    lateral_command = None
    """There is no stabiliser."""

    def __init__(self, model: Model, config: ControllerConfig) -> None:
        """`model` is the planner's."""
        self._model = model
        self._feedback = config.move.feedback
        self._normals = slice(len(model.axes) - 1, None, len(model.axes))
        self.heading = 0.0

    def reset(self, state: RobotState) -> None:
        """Begin at a state."""
        self.heading = float(quaternion_to_rpy(state.orientation)[2])

    def take_over(self, other: "WholeBodyTracker") -> None:
        """Go on from where another tracker is."""
        self.heading = other.heading

    def steer(self, yaw_rate: float, lateral_velocity: float) -> None:
        """Nothing: the planner steers."""

    def targets(self, sample: PolicySample, state: RobotState, dt: float, measured: PolicySample) -> JointTargets:
        """The joints' targets for a checked state, `dt` [s] after the last ones."""
        self.heading = float(sample.state[YAW])
        u = sample.control
        if self._feedback:
            u = u + sample.gain @ self._model.deviation(state, measured.state, measured.chart)
        return JointTargets(*self._model.joint_targets(sample.state, u))

    def contacts(self, sample: PolicySample) -> tuple[bool, ...]:
        """Feet that carry load by plan, in the order of FOOT_NAMES."""
        return tuple(bool(load) for load in np.asarray(sample.forces[self._normals]) > 0.0)
