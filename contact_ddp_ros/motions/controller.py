"""The controller of one motion: hold its start, follow the policy, land when the ground is felt, stand.

    u = ubar + K (x − xbar),      tau = spread(u) / 2 + kp (qbar_j − q_j) + kd (vbar_j − v_j)

as :mod:`contact_ddp_ros.control.planar_tracker` does it, within the motors' torque-speed curve, with the pitch of
:mod:`contact_ddp_ros.motions.turning_plane`; a plan of the whole body has torques for every joint and its error by
:mod:`contact_ddp_ros.motions.turning_body`. The policy is looked up at the motion's own time, which jumps to the
touchdown of the present flight where the feet feel the ground before it, and waits there where they do not, so that
what follows the impact never runs in the air. From a touchdown on, and while it is late, the joints are held with gains
of a landing, up to the next flight: strides between two flights are held so, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.config import parameter, validate
from contact_ddp_ros.control.config import ControllerConfig, Triple
from contact_ddp_ros.control.drives import JointTargets, TorqueSpeedCurve, limited_command
from contact_ddp_ros.control.findings import Fault, Finding
from contact_ddp_ros.control.lateral_kernel import ABADS
from contact_ddp_ros.control.safety import Supervisor
from contact_ddp_ros.control.stand import StandLaw
from contact_ddp_ros.estimation.contact import ContactEstimate
from contact_ddp_ros.estimation.momentum import MomentumObserver
from contact_ddp_ros.models.planar import PlanarModel
from contact_ddp_ros.motions.motion import MotionTask
from contact_ddp_ros.motions.spatial_problem import model_for
from contact_ddp_ros.motions.start import start_state
from contact_ddp_ros.motions.turning_body import TurningBody, follower_of
from contact_ddp_ros.motions.turning_plane import TurningPlane
from contact_ddp_ros.policy import Policy, PolicySample
from contact_ddp_ros.robot.joints import FOOT_NAMES
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

Array = NDArray[np.float64]


_BEFORE_TOUCHDOWN = 1e-6
"""Where the clock waits for the ground: in the last step of the flight [s]."""


class MotionStage(Enum):
    """What the controller is doing: in the posture that the motion starts in, or standing, before it begins; on the
    ground between two flights it strides, and lands after the last one.
    """

    START = "start"
    STAND = "stand"
    TAKE_OFF = "take_off"
    FLIGHT = "flight"
    STRIDE = "stride"
    LANDING = "landing"
    END = "end"
    FAULT = "fault"


@dataclass(frozen=True)
class ExecutionConfig:
    """How a motion is executed."""

    early: float = parameter(
        0.5, low=0.0, high=1.0, description="share of the flight after which a foot that is felt is a landing"
    )
    wait: float = parameter(
        0.15, low=0.0, high=1.0, unit="s", description="longest wait for the ground after the planned touchdown"
    )
    catch_time: float = parameter(
        0.3, low=0.05, high=2.0, unit="s", description="time to reach the standing pose after the motion"
    )
    kp: float = parameter(
        60.0, low=0.0, high=300.0, unit="N m/rad", description="position gains of the joints from a touchdown on"
    )
    kd: float = parameter(
        2.5, low=0.0, high=6.0, unit="N m s/rad", description="velocity gains of the joints from a touchdown on"
    )
    feedback: Triple = parameter(
        (1.0, 1.0, 1.0),
        low=0.0,
        high=1.0,
        description="share of the policy's gains before the first flight, in flights and after them",
    )


class MotionController:
    """Of one robot and one plan; holds the posture in which the motion begins until it does."""

    def __init__(
        self,
        robot: Robot,
        task: MotionTask,
        policy: Policy,
        config: ControllerConfig | None = None,
        execution: ExecutionConfig | None = None,
    ) -> None:
        """`policy` counts from the beginning of the motion.

        Raises:
            ParameterError: a parameter is out of its range.
        """
        self._robot, self._task, self._policy = robot, task, policy
        self._model = model_for(task, robot)
        self._config, self.execution = config or ControllerConfig(), execution or ExecutionConfig()
        validate(self.execution)
        self.drive_gains: DriveGains = self._config.drive.gains(len(FOOT_NAMES))
        self._stand = StandLaw(
            robot, LegGeometry.from_tree(robot.tree, FOOT_NAMES), self.drive_gains, self._config.stand
        )
        self._supervisor = Supervisor(robot, self._config.safety)
        self._curve = TorqueSpeedCurve.of(robot.velocity_limits, self._config.motor)
        self._observer, self.contacts = MomentumObserver(robot), ContactEstimate(len(FOOT_NAMES))
        self._abad_kp = self._config.stand.kp[0] - self.drive_gains.kp[ABADS]
        self._abad_kd = self._config.stand.kd[0] - self.drive_gains.kd[ABADS]
        self._command = JointCommand.damping(robot.n_joints)
        self._body: TurningPlane | TurningBody | None = None
        self._begun: float | None = None
        self._shift = 0.0
        self._touchdowns: list[float] = []
        self._clock = 0.0
        self._start = start_state(task, robot).joint_positions
        self.stage = MotionStage.STAND if not task.start else MotionStage.START
        self.fault: Fault | None = None

    @property
    def config(self) -> ControllerConfig:
        """The parameters in use."""
        return self._config

    @property
    def motion_time(self) -> float:
        """The time at which the policy was looked up last, from the motion's beginning [s]."""
        return self._clock

    @property
    def touchdowns(self) -> tuple[float, ...]:
        """When the ground was felt after each flight so far, on the clock of the states [s]."""
        return tuple(self._touchdowns)

    @property
    def sample(self) -> PolicySample:
        """The policy at :attr:`motion_time`."""
        return self._policy.sample(self._clock)

    def begin(self, state: RobotState) -> None:
        """Begin the motion at a state that is upright, or lies as the motion begins."""
        self._body, self._begun = follower_of(self._model, state, self._task.start_turn), state.time
        self.stage = MotionStage.TAKE_OFF

    def update(self, state: RobotState) -> JointCommand:
        """The command for the drives, from a state; damping for good after a fault."""
        finding = self._supervisor.state(state, state.time, may_lie=True)
        if finding is None and self.stage is not MotionStage.FAULT:
            self._feel(state)
            limited = limited_command(
                self._targets(state), state, self.drive_gains, self._robot.effort_limits, self._curve
            )
            finding = self._supervisor.command(limited.command.torques, limited.total)
            self._command = limited.command
        if finding is not None:
            self._fail(finding, state.time)
        return self._command

    def _fail(self, finding: Finding, now: float) -> None:
        self.stage = MotionStage.FAULT
        self.fault = self.fault or Fault(finding, now)
        self._command = JointCommand.damping(self._robot.n_joints)

    def _feel(self, state: RobotState) -> None:
        limits = self._robot.effort_limits
        torques = np.clip(
            self.drive_gains.torques(self._command, state.joint_positions, state.joint_velocities), -limits, limits
        )
        self._observer.update(state, torques, self._config.estimation.observer_rate)
        scheduled: Sequence[bool] = [self.stage is not MotionStage.FLIGHT] * len(FOOT_NAMES)
        self.contacts.update(state.time, self._observer.forces[:, 2], np.array(scheduled), self._config.estimation)

    def _targets(self, state: RobotState) -> JointTargets:
        if self.stage is MotionStage.START:
            return self._stand.stiffly(self._start, np.zeros_like(self._start), state)
        if self._body is None or self._begun is None or self.stage is MotionStage.END:
            return self._stand.targets(state, state.time)
        self._clock = self._follow(state.time)
        if self._clock >= self._policy.end:
            self.stage = MotionStage.END
            self._stand.start(state.time, state.joint_positions, self.execution.catch_time)
            return self._stand.targets(state, state.time)
        sample = self._policy.sample(self._clock)
        u = sample.control + self._share() * (sample.gain @ self._body.error(state, sample.state))
        targets = JointTargets(*self._model.joint_targets(sample.state, u))
        torques = targets.torques.copy()
        if self._stiff:
            torques += (self.execution.kp - self.drive_gains.kp) * (targets.positions - state.joint_positions)
            torques += (self.execution.kd - self.drive_gains.kd) * (targets.velocities - state.joint_velocities)
        if isinstance(self._model, PlanarModel):  # whose plan has no abductions
            torques[ABADS] -= self._abad_kp * state.joint_positions[ABADS]
            torques[ABADS] -= self._abad_kd * state.joint_velocities[ABADS]
        return replace(targets, torques=torques)

    @property
    def _waiting(self) -> bool:
        """Whether the ground should have been felt, and has not."""
        flights, flown = self._task.flights, len(self._touchdowns)
        return self.stage is MotionStage.FLIGHT and self._clock >= flights[flown][1] - _BEFORE_TOUCHDOWN

    @property
    def _stiff(self) -> bool:
        """Whether the joints have the gains of a landing."""
        return self._waiting or self.stage in (MotionStage.STRIDE, MotionStage.LANDING)

    def _share(self) -> float:
        """Of the policy's gains in the present stage; none while the ground is late, which the policy does not know."""
        if self._waiting:
            return 0.0
        before, flying, after = self.execution.feedback
        return {MotionStage.TAKE_OFF: before, MotionStage.FLIGHT: flying}.get(self.stage, after)

    def _follow(self, now: float) -> float:
        """The motion's time: that since the beginning, shifted by what landings were early or late [s]."""
        assert self._begun is not None
        planned = now - self._begun + self._shift
        ahead = self._task.flights[len(self._touchdowns) :]
        if not ahead or planned < ahead[0][0]:
            return planned
        take_off, touchdown = ahead[0]
        self.stage = MotionStage.FLIGHT
        felt = bool(self.contacts.contact.any()) and planned >= take_off + self.execution.early * (touchdown - take_off)
        if not felt and planned < touchdown + self.execution.wait:
            return min(planned, touchdown - _BEFORE_TOUCHDOWN)
        self._touchdowns.append(now)
        self._shift += touchdown - planned
        self.stage = MotionStage.STRIDE if len(ahead) > 1 else MotionStage.LANDING
        return touchdown
