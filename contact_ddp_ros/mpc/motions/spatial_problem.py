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

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.motion_controller import foot_heights, model_for
from contact_ddp_ros.dynamics.mechanism import Foot, prepare
from contact_ddp_ros.dynamics.motion import Geometry
from contact_ddp_ros.mpc.custom_term import Constraint, NodeSymbols
from contact_ddp_ros.mpc.horizon import Horizon
from contact_ddp_ros.mpc.motions.limits import JointRange
from contact_ddp_ros.mpc.motions.problem import MotionConfig, MotionProblem, PlanarMotionProblem
from contact_ddp_ros.mpc.planar_reference import PlanarLeg
from contact_ddp_ros.robot.joint_pd import MotorConfig
from contact_ddp_ros.robot.joints import JOINT_NAMES, LEG_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.motion import MotionSpec
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

_LENGTH = 0.1
"""Length by which distances are divided [m]."""

_SINK = 0.008
"""Depth below the ground allowed to the drives of a robot that lies, whose discs end at the hip in the plan [m]."""

_FOOT_HEIGHT = 0.005
"""Largest height of the feet above the ground at the beginning [m]."""

_ROUNDING = 1e-4
"""Radius of rounding of the corner that the lowest height of a disc has where it lies flat."""


def motion_problem(task: MotionSpec, robot: Robot, config: MotionConfig | None = None) -> MotionProblem:
    """The problem of a motion; ParameterError where it moves legs apart that its model moves alike."""
    model = model_for(task, robot)
    if isinstance(model, PlanarModel):
        return PlanarMotionProblem(model, task, config)
    return SpatialMotionProblem(model, task, config)


class SpatialClearance(Constraint):
    """Hips and knees of every leg above level ground, and feet in flight; see :class:`motions.limits.Clearance`.

    Hips are points or, where their drives may touch the ground, discs of radius r about their axes n, whose lowest
    point is r √(1 − n_z²) below the centre.
    """

    name = "clearance"

    def __init__(
        self,
        tree: RigidBodyTree,
        legs: Sequence[PlanarLeg],
        *,
        hip_margin: Array,
        knee_margin: float,
        foot_clearance: Array,
        drive_radius: float = 0.0,
    ) -> None:
        """Least heights [m] of hips (N+1,), axes of knees and feet (N+1, n_f), by node; radius of the hips [m]."""
        self._mechanism, self._legs = prepare(tree), tuple(legs)
        self._knee_margin, self._drive_radius = knee_margin, drive_radius
        self._values = np.column_stack([hip_margin, foot_clearance])
        self.parameters = ("hip_margin", *(f"{leg.foot}_clearance" for leg in legs))  # type: ignore[misc]

    def residual(self, knot: NodeSymbols) -> Any:
        """A row of height / 0.1 m for the hip, knee and foot of each leg."""
        rows = []
        for leg, (hip, knee) in zip(self._legs, self.heights(knot.q), strict=True):
            rows += [hip - knot.parameters["hip_margin"], knee - self._knee_margin]
            rows.append(knot.feet[leg.foot][2] - knot.parameters[f"{leg.foot}_clearance"])
        return cs.vertcat(*rows) / _LENGTH

    def heights(self, q: Any) -> list[tuple[Any, Any]]:
        """Heights of the lowest point of the hip and of the axis of the knee of each leg [m]."""
        geometry = Geometry(self._mechanism, self._mechanism.absolute(q))

        def height(joint: int, point: Array) -> Any:
            return geometry.position(Foot(str(joint), joint, point, 0.0))[2]

        found = []
        for leg in self._legs:
            hip = height(leg.hip, np.zeros(3))
            if self._drive_radius:
                slope = height(leg.hip, self._mechanism.links[leg.hip].axis) - hip
                hip -= self._drive_radius * cs.sqrt(1.0 - slope**2 + _ROUNDING)
            found.append((hip, height(leg.knee, np.zeros(3))))
        return found

    def values(self, horizon: Horizon) -> Array:
        """(N+1, 1 + n_f) least heights of the hips and of the feet [m]."""
        return self._values


class SpatialMotionProblem(MotionProblem):
    """A motion of all coordinates."""

    def __init__(
        self,
        model: WholeBodyModel,
        task: MotionSpec,
        config: MotionConfig | None = None,
        motor: MotorConfig | None = None,
    ) -> None:
        """Build the problem in the Euler convention of the task; arguments of :class:`MotionProblem`.

        Raises:
            ParameterError: the motion begins in a posture that is beyond a limit.
        """
        self.joints = np.arange(model.robot.n_joints)
        super().__init__(model, task, config, motor)
        if task.start:
            self._check_start()

    def _check_start(self) -> None:
        ranges, _, clearance = self._limits()
        assert isinstance(ranges, JointRange) and isinstance(clearance, SpatialClearance)
        model, q, begins = self.model, self.start[: self.model.tree.n], f"motion {self.task.name!r} begins with"
        joints = zip(JOINT_NAMES, q[list(model.tree.actuated)], *ranges.bounds, strict=True)
        for name, angle, lower, upper in joints:
            if not lower <= angle <= upper:
                raise ParameterError(f"{begins} {name} at {angle:.2f} rad; allowed: {lower:.2f} to {upper:.2f}")
        heights = foot_heights(self.task, model.robot)
        for leg, foot, parts in zip(LEG_NAMES, heights, clearance.heights(cs.SX(q)), strict=True):
            hip, knee = map(float, parts)
            for part, height, lower, upper in (
                ("foot", foot, 0.0, _FOOT_HEIGHT),
                ("hip's drive", hip, -_SINK, np.inf),
                ("knee", knee, self.config.knee_margin, np.inf),
            ):
                if not lower <= height <= upper:
                    limits = f"{lower} to {upper}" if upper < np.inf else f"{lower} or more"
                    raise ParameterError(
                        f"{begins} the {part} of {leg} {height:.3f} m above the ground; allowed: {limits}"
                    )

    def _tilt(self) -> float:
        return 0.0

    def _clearance(self) -> Constraint:
        config, task = self.config, self.task
        radius = config.drive_radius if task.start else 0.0
        lying = (self.times < task.flights[0][0]) & bool(task.start)
        return SpatialClearance(
            self.model.tree,
            self.legs,
            hip_margin=np.where(lying, -_SINK, config.hip_margin - radius),
            drive_radius=radius,
            knee_margin=config.knee_margin,
            foot_clearance=self._foot_clearance(),
        )
