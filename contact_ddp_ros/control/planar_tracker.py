"""Tracking of planar policies by the three-dimensional robot.

    u = ubar + K (x - xbar)                                     (planar torques, both legs of a pair together)
    tau = spread(u) / 2 + kp (qbar_j - q_j) + kd (vbar_j - v_j)           (the drives add the PD part)

The stabiliser of :mod:`contact_ddp_ros.control.lateral` adds what keeps the robot upright and on its line.

See eq. (23) of docs/mathematics.md.
"""

from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.lateral import LateralCommand, LateralStabiliser
from contact_ddp_ros.control.lateral_kernel import ABADS
from contact_ddp_ros.robot.joint_pd import JointTargets
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.models.model import Model
from contact_ddp_ros.robot.policy import PolicySample
from contact_ddp_ros.robot.state import RobotState

_RAMP = 0.5
"""Time from rest to the largest turn and side velocity [s]."""


class PlanarTracker:
    """See :class:`contact_ddp_ros.control.tracker.Tracker`."""

    def __init__(self, model: Model, geometry: LegGeometry, config: ControllerConfig) -> None:
        """`geometry` is that of the robot's legs."""
        self._model = model
        self._feedback = config.move.feedback
        self._lateral = LateralStabiliser(model.robot, geometry, config.lateral)
        self._n_axes = len(model.axes)
        contact_of = {leg: at for at, legs in enumerate(model.legs_of.values()) for leg in legs}
        self._contact_of_leg = [contact_of[leg] for leg in LEG_NAMES]
        self._limits = config.lateral.turn_limit, config.lateral.side_limit
        self._wanted = self._steering = (0.0, 0.0)
        self.lateral_command: LateralCommand | None = None
        """What the stabiliser did last, for diagnosis."""

    @property
    def heading(self) -> float:
        """Yaw that is held [rad]."""
        return self._lateral.heading

    def reset(self, state: RobotState) -> None:
        """Begin at a state: hold its heading and its line."""
        self._lateral.reset(state)
        self._steering = (0.0, 0.0)

    def take_over(self, other: "PlanarTracker") -> None:
        """Go on from where another tracker is, under this one's configuration."""
        self._lateral.take_over(other._lateral)
        self._wanted, self._steering = other._wanted, other._steering

    def steer(self, yaw_rate: float, lateral_velocity: float) -> None:
        """Turn the heading at `yaw_rate` [rad/s] and move left at `lateral_velocity` [m/s] from now on.

        Both are cut to the configured limits and approached within :data:`_RAMP`.
        """
        self._wanted = yaw_rate, lateral_velocity

    def targets(self, sample: PolicySample, state: RobotState, dt: float, measured: PolicySample) -> JointTargets:
        """The joints' targets for a checked state, `dt` [s] after the last ones."""
        ramped = zip(self._wanted, self._steering, self._limits, strict=True)
        turn, left = (_approached(*one, dt) for one in ramped)
        self._steering = turn, left
        self._lateral.steer(*self._steering)
        planar, lateral = self.planar_targets(sample, state, measured), self._lateral.update(state, sample, dt)
        self.lateral_command = lateral
        planar.positions[ABADS] = lateral.abad_positions
        planar.velocities[ABADS] = lateral.abad_velocities
        return JointTargets(planar.positions, planar.velocities, planar.torques + lateral.torques)

    def planar_targets(self, sample: PolicySample, state: RobotState, measured: PolicySample) -> JointTargets:
        """What the policy alone asks for, abductions at zero."""
        x, u = sample.state, sample.control
        if self._feedback:
            u = u + sample.gain @ self._model.deviation(state, measured.state, measured.chart)
        return JointTargets(*self._model.joint_targets(x, u))

    def contacts(self, sample: PolicySample) -> tuple[bool, ...]:
        """Feet that carry load by plan, in the order of FOOT_NAMES."""
        loads = sample.forces.tolist()[self._n_axes - 1 :: self._n_axes]
        return tuple([loads[contact] > 0.0 for contact in self._contact_of_leg])


def _approached(wanted: float, value: float, limit: float, dt: float) -> float:
    """The value after `dt` [s] on its way to a wanted one within ± limit."""
    step = limit / _RAMP * max(dt, 0.0)
    return value + min(max(min(max(wanted, -limit), limit) - value, -step), step)
