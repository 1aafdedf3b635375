"""The optimal control problem of a motion of the whole body, and what must not touch the ground in it.

The chart of the attitude (:mod:`contact_ddp_ros.robot.attitude`) is the one whose last angle is about the axis that the
motion turns about: yaw, roll, pitch for a flip and yaw, pitch, roll for a barrel roll. Turns are counted by that angle,
and no attitude on the way is near the chart's singularity.
"""

from collections.abc import Sequence
from typing import Any

import casadi as cs
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.config import MotorConfig
from contact_ddp_ros.dynamics.mechanism import Foot, prepare
from contact_ddp_ros.dynamics.motion import Geometry
from contact_ddp_ros.models.planar import PlanarModel
from contact_ddp_ros.models.whole_body import WholeBodyModel
from contact_ddp_ros.motions.motion import MotionTask
from contact_ddp_ros.motions.problem import MotionConfig, MotionProblem, PlanarMotionProblem
from contact_ddp_ros.mpc.constraint import Constraint
from contact_ddp_ros.mpc.horizon import Horizon
from contact_ddp_ros.mpc.planar_reference import PlanarLeg
from contact_ddp_ros.mpc.user_term import NodeSymbols
from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

_LENGTH = 0.1
"""By which distances are divided [m]."""


def chart_of(task: MotionTask) -> Chart:
    """The chart that a motion is planned in."""
    return Chart.YAW_ROLL_PITCH if task.rotation else Chart.YAW_PITCH_ROLL


def model_for(task: MotionTask, robot: Robot) -> PlanarModel | WholeBodyModel:
    """The model of a robot that a motion is planned with, in its chart."""
    return PlanarModel(robot) if task.model == PlanarModel.name else WholeBodyModel(robot, chart_of(task))


def motion_problem(task: MotionTask, robot: Robot, config: MotionConfig | None = None) -> MotionProblem:
    """The problem of a motion; ParameterError where it moves legs apart that its model moves alike."""
    model = model_for(task, robot)
    if isinstance(model, PlanarModel):
        return PlanarMotionProblem(model, task, config)
    return SpatialMotionProblem(model, task, config)


class SpatialClearance(Constraint):
    """Hips and knees of every leg above level ground, and feet in flight; see :class:`motions.limits.Clearance`."""

    name = "clearance"

    def __init__(
        self,
        tree: RigidBodyTree,
        legs: Sequence[PlanarLeg],
        *,
        hip_margin: float,
        knee_margin: float,
        foot_clearance: Array,
    ) -> None:
        """Least heights [m] of the axes of hips and knees, and (N+1, n_f) of the feet by node."""
        self._mechanism, self._legs = prepare(tree), tuple(legs)
        self._margins = hip_margin, knee_margin
        self._feet = foot_clearance
        self.parameters = tuple(f"{leg.foot}_clearance" for leg in legs)  # type: ignore[misc]

    def residual(self, knot: NodeSymbols) -> Any:
        """A row of height / 0.1 m for the hip, knee and foot of each leg."""
        geometry = Geometry(self._mechanism, self._mechanism.absolute(knot.q))
        rows = []
        for leg, parameter in zip(self._legs, self.parameters, strict=True):
            for joint, margin in zip((leg.hip, leg.knee), self._margins, strict=True):
                rows.append(geometry.position(Foot(leg.foot, joint, np.zeros(3), 0.0))[2] - margin)
            rows.append(knot.feet[leg.foot][2] - knot.parameters[parameter])
        return cs.vertcat(*rows) / _LENGTH

    def values(self, horizon: Horizon) -> Array:
        """(N+1, n_f) least heights of the feet [m]."""
        return self._feet


class SpatialMotionProblem(MotionProblem):
    """A motion of all coordinates."""

    def __init__(
        self,
        model: WholeBodyModel,
        task: MotionTask,
        config: MotionConfig | None = None,
        motor: MotorConfig | None = None,
    ) -> None:
        """As :class:`MotionProblem`; the model in the chart of the task."""
        self.joints = np.arange(model.robot.n_joints)
        super().__init__(model, task, config, motor)

    def _tilt(self) -> float:
        return 0.0

    def _clearance(self) -> Constraint:
        config = self.config
        return SpatialClearance(
            self.model.tree,
            self.legs,
            hip_margin=config.hip_margin,
            knee_margin=config.knee_margin,
            foot_clearance=self._foot_clearance(),
        )
