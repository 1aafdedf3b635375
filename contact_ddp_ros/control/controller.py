"""The joint controller: takes robot states and policies, keeps the mode, and gives joint commands.

Every :meth:`Controller.update` checks the state, moves the mode machine of :mod:`contact_ddp_ros.control.modes`, lets
the law of the present mode say what it wants of the joints, limits that to the actuators and checks it once more. What
cannot be trusted ends in damping: a fault is latched until a request to stand (or :meth:`Controller.rearm`) clears it.

All methods may be called from any thread; each holds one lock for well under a millisecond.
"""

import math
from collections import Counter
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.config import validate
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.continuity import StateContinuity
from contact_ddp_ros.control.drives import JointTargets, TorqueSpeedCurve, limited_command, softness
from contact_ddp_ros.control.findings import Fault, Finding, Violation
from contact_ddp_ros.control.gait_clock import GaitClock
from contact_ddp_ros.control.lateral import LateralCommand
from contact_ddp_ros.control.modes import Answer, ControlMode, ModeMachine
from contact_ddp_ros.control.planar_tracker import PlanarTracker
from contact_ddp_ros.control.policy_gate import PolicyGate
from contact_ddp_ros.control.recover import RecoverLaw
from contact_ddp_ros.control.safety import Supervisor
from contact_ddp_ros.control.stand import StandLaw
from contact_ddp_ros.control.tracker import Tracker
from contact_ddp_ros.control.tracking import PolicySlot, exit_obstacle, last_exit
from contact_ddp_ros.control.whole_body_tracker import WholeBodyTracker
from contact_ddp_ros.errors import ParameterError
from contact_ddp_ros.estimation.estimator import Estimator
from contact_ddp_ros.models.choice import model_of
from contact_ddp_ros.models.planar import PlanarModel
from contact_ddp_ros.policy import Policy, PolicySample
from contact_ddp_ros.robot.floating_base import joint_inertias
from contact_ddp_ros.robot.ground import Felt
from contact_ddp_ros.robot.joints import FOOT_NAMES, LEG_NAMES
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

Array = NDArray[np.float64]

_ALL_FEET = (True,) * len(FOOT_NAMES)

_WAY_DOWN = 1.0
"""A fault this soon after the robot had to leave the bound is put down to that [s]."""


class Controller:
    """One robot's joint controller; begins in DAMP."""

    def __init__(self, robot: Robot, config: ControllerConfig, model_hash: int | None = None) -> None:
        """`model_hash` is the fingerprint that policies must carry, by default the robot's.

        Raises:
            ParameterError: a parameter is out of its range, or the standing pose beyond the joint limits.
        """
        self._robot = robot
        self._geometry = LegGeometry.from_tree(robot.tree, FOOT_NAMES)
        self._model = model_of(config.model, robot)
        expected = robot.model_hash if model_hash is None else model_hash
        self._gate = PolicyGate(self._model, expected, config.safety)
        self._lock = Lock()
        self._slot = PolicySlot()
        self._refused: Finding | None = None
        self._modes = ModeMachine()
        self._refusals: Counter[Violation] = Counter()
        self._now: float | None = None
        self._state: RobotState | None = None
        self._finding: Finding | None = Finding(Violation.NO_STATE, "no robot state has arrived")
        self._moved = False
        """Whether the last update followed a policy."""
        self._contacts = _ALL_FEET
        self._retreat: Fault | None = None
        self._retreats = 0
        self._steering = (0.0, 0.0)
        self._continuity = StateContinuity(robot, config.safety)
        self._estimator = Estimator(robot, config.estimation)
        self._command = JointCommand.damping(robot.n_joints)
        legs = [[LEG_NAMES.index(leg) for leg in group] for group in self._model.legs_of.values()]
        self._clock = GaitClock(legs, len(self._model.axes))
        self._stand: StandLaw
        self._recover = RecoverLaw(robot)
        self._inertias = joint_inertias(robot.tree, robot.standing)
        self._tracker: Tracker
        self._adopt(config)

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock, of which a copy has its own."""
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    @property
    def mode(self) -> ControlMode:
        """What the controller is doing."""
        return self._modes.mode

    @property
    def fault(self) -> Fault | None:
        """The fault that keeps the controller in DAMP, or None."""
        return self._modes.fault

    @property
    def finding(self) -> Finding | None:
        """What is wrong at present, in DAMP too; None where all is well."""
        return self._finding

    @property
    def config(self) -> ControllerConfig:
        """The parameters in use."""
        return self._config

    @property
    def drive_gains(self) -> DriveGains:
        """The gains that the joint drives must have."""
        return self._drive

    @property
    def waiting_for(self) -> str:
        """What an accepted request that has not been carried out yet waits for; empty where there is none."""
        return self._modes.waiting_for

    @property
    def standing(self) -> bool:
        """Whether it stands, the way up completed."""
        return self.mode is ControlMode.STAND and self._now is not None and self._stand.progress(self._now) >= 1.0

    @property
    def stopping(self) -> bool:
        """Whether it is to leave the bound: whoever commands the speed should now command zero."""
        return self._modes.wish is ControlMode.STAND

    @property
    def steering(self) -> tuple[float, float]:
        """Commanded yaw rate [rad/s] and velocity to the left [m/s]."""
        return self._steering

    @property
    def refused_policies(self) -> dict[str, int]:
        """How many policies were refused so far, by the name of what was wrong."""
        return {violation.value: count for violation, count in self._refusals.items()}

    @property
    def refused_policy(self) -> Finding | None:
        """What was wrong with the last policy; None where nothing was."""
        return self._refused

    @property
    def felt(self) -> Felt:
        """What contact has taught, for the planner."""
        return Felt(self._estimator.ground, self._clock.advance)

    @property
    def estimator(self) -> Estimator:
        """What is felt, for diagnosis."""
        return self._estimator

    def policy_age(self, now: float) -> float:
        """Age of the policy in use at time `now` [s]; not a number where there is none."""
        policy = self._slot.current
        return math.nan if policy is None else now - policy.start

    @property
    def retreats(self) -> int:
        """How often the robot had to stand because no policy came in time."""
        return self._retreats

    @property
    def retreat(self) -> Fault | None:
        """Why and when it last had to; None where it never had."""
        return self._retreat

    @property
    def heading(self) -> float:
        """Yaw that is held while bounding [rad]."""
        return self._tracker.heading

    @property
    def lateral_command(self) -> LateralCommand | None:
        """What the stabiliser did in the last update, for diagnosis; None unless bounding."""
        return self._tracker.lateral_command if self._moved else None

    @property
    def contacts(self) -> tuple[bool, ...]:
        """Feet that the plan had on the ground at the last update, in the order of FOOT_NAMES; all unless it bounds."""
        return self._contacts

    def sample(self, now: float) -> PolicySample | None:
        """The policy in use at time `now` [s]; None where there is none."""
        with self._lock:
            policy = self._slot.at(now)
            return None if policy is None else policy.sample(self._clock.time(policy, now))

    def configure(self, config: ControllerConfig) -> None:
        """Take over new parameters; the mode, the policy and the heading stay.

        Raises:
            ParameterError: as the constructor; the old parameters stay in use.
        """
        with self._lock:
            self._adopt(config)

    def steer(self, yaw_rate: float, lateral_velocity: float = 0.0) -> None:
        """Command the yaw rate [rad/s] and the velocity to the left [m/s]; kept until changed.

        Raises:
            ParameterError: one of them is not finite.
        """
        if not (math.isfinite(yaw_rate) and math.isfinite(lateral_velocity)):
            raise ParameterError(f"steering command is ({yaw_rate}, {lateral_velocity}); allowed: finite numbers")
        with self._lock:
            self._steering = (yaw_rate, lateral_velocity)
            self._tracker.steer(yaw_rate, lateral_velocity)

    def rearm(self) -> Answer:
        """Clear a latched fault and stay in DAMP."""
        with self._lock:
            fault, self._modes.fault = self._modes.fault, None
            return Answer(True, f"cleared {fault.violation.value}" if fault else "no fault was latched")

    def request(self, mode: ControlMode) -> Answer:
        """Ask for a mode. DAMP is taken at once; STAND and RECOVER clear a fault; MOVE waits for a policy for now."""
        with self._lock:
            before, now = self.mode, self._now
            answer = self._modes.request(mode, now or 0.0, self._obstacle(mode))
            if self.mode is before:
                return answer
            self._slot.clear()
            self._recover.start()
            if self.mode is ControlMode.STAND and now is not None and self._state is not None:
                self._stand.start(now, self._state.joint_positions, self._config.stand.ramp_time, fold=True)
            return answer

    def set_policy(self, policy: Policy, now: float) -> Answer:
        """Offer a policy at time `now` [s]. One that does not fit is refused, named and counted, and never used."""
        with self._lock:
            state = None if self._state is None else self._model.state(self._state)
            finding = self._gate.check(policy, now, following=self.mode is ControlMode.MOVE, state=state)
            self._refused = finding
            if finding is not None:
                self._refusals[finding.violation] += 1
                return Answer(False, str(finding))
            self._slot.put(policy, now)
            return Answer(True, f"policy {policy.sequence} of epoch {policy.epoch}")

    def update(self, state: RobotState | None, now: float) -> JointCommand:
        """The command for the joint drives at time `now` [s], from the latest state (None where none has arrived)."""
        with self._lock:
            self._command = self._next_command(state, now)
            return self._command

    def _next_command(self, state: RobotState | None, now: float) -> JointCommand:
        last, scheduled = self._now, self._contacts
        self._moved = False
        self._contacts = _ALL_FEET
        finding = self._advance_clock(now) or self._judge(state, now)
        self._finding = finding
        self._state = state if finding is None else None
        if finding is None and state is not None and self.mode is not ControlMode.RECOVER:
            self._estimator.update(state, self._command, self._drive, scheduled)
        if self.mode is ControlMode.DAMP:
            return self._damping()
        if finding is not None or state is None:
            return self._fail(finding or Finding(Violation.NO_STATE, "no robot state has arrived"), now)
        dt = 0.0 if last is None else now - last
        self._stand.watch(state, now)
        self._move_mode(state, now)
        targets = self._targets(state, now, dt)
        if isinstance(targets, Finding):
            return self._fail(targets, now)
        limited = limited_command(targets, state, self._drive, self._robot.effort_limits, self._curve)
        finding = self._supervisor.command(limited.command.torques, limited.total)
        return self._fail(finding, now) if finding else limited.command

    def _judge(self, state: RobotState | None, now: float) -> Finding | None:
        may_lie = self.mode is ControlMode.RECOVER
        finding = self._supervisor.state(state, now, self._estimator.ground, may_lie=may_lie)
        if finding is not None or state is None:
            return finding
        return self._continuity.check(state, moving=self.mode is ControlMode.MOVE)

    def _adopt(self, config: ControllerConfig) -> None:
        validate(config)
        if config.model != self._model.name:
            raise ParameterError(f"model is fixed while the controller exists, at {self._model.name}; restart it")
        for name in ("pose", "fold"):
            angles = np.tile(np.asarray(getattr(config.stand, name), float), len(FOOT_NAMES))
            if not ((angles >= self._robot.lower) & (angles <= self._robot.upper)).all():
                found = getattr(config.stand, name)
                raise ParameterError(f"stand.{name} is {found}; allowed: within the joint limits of the robot")
        supervisor = Supervisor(self._robot, config.safety)
        continuity = StateContinuity(self._robot, config.safety)
        continuity.take_over(self._continuity)
        drive = config.drive.gains(len(FOOT_NAMES))
        stand = StandLaw(self._robot, self._geometry, drive, config.stand)
        tracker = self._new_tracker(config)
        tracker.steer(*self._steering)
        if self.mode is ControlMode.MOVE:
            tracker.take_over(self._tracker)
        if self.mode is ControlMode.STAND:
            stand.take_over(self._stand)
        self._config, self._supervisor, self._continuity = config, supervisor, continuity
        self._drive, self._stand, self._tracker = drive, stand, tracker
        self._softness = softness(drive, self._inertias, config.move.drive_delay)
        self._curve = TorqueSpeedCurve.of(self._robot.velocity_limits, config.motor)
        self._gate.config = self._gate.pace.config = config.safety
        self._estimator.config = config.estimation

    def _new_tracker(self, config: ControllerConfig) -> Tracker:
        if self._model.name == PlanarModel.name:
            return PlanarTracker(self._model, self._geometry, config)
        return WholeBodyTracker(self._model, config)

    def _advance_clock(self, now: float) -> Finding | None:
        """Note the time. Where it jumps back, ages begin anew, and policies, being of another time, are dropped."""
        if not math.isfinite(now):
            return Finding(Violation.CLOCK_NOT_FINITE, f"the time is {now}")
        last, self._now = self._now, now
        if last is None or now >= last - self._config.safety.clock_tolerance:
            return None
        self._slot.clear()
        self._gate.forget()
        self._continuity.forget()
        self._estimator.forget()
        self._modes.restart_clock(now)
        self._stand.shift(now - last)
        self._recover.shift(now - last)
        if self.mode is not ControlMode.MOVE:
            return None
        return Finding(Violation.CLOCK_BACKWARDS, f"the clock stepped back by {last - now:.3f} s")

    def _obstacle(self, mode: ControlMode) -> str:
        """Why a mode cannot begin at present; empty where it can."""
        if mode is ControlMode.DAMP:
            return ""
        if mode is ControlMode.RECOVER and self._finding is not None and self._finding.violation is Violation.TILT:
            return ""
        if self._state is None or self._now is None:
            return f"no usable robot state ({self._finding})"
        policy = self._slot.at(self._now)
        if self.mode is ControlMode.MOVE:
            if policy is None:
                return ""
            return exit_obstacle(policy, self._state, self._clock.time(policy, self._now), self._config.move)
        if mode in (ControlMode.STAND, ControlMode.RECOVER):
            return ""
        if self.mode is ControlMode.RECOVER:
            return "still getting up"
        if not self._stand.progress(self._now) >= 1.0:
            return "still standing up"
        finding = self._supervisor.policy_age(policy, self._now, self._gate.pace.timeout)
        if finding is not None or policy is None:
            refused = self._refused
            return f"{finding}{'' if refused is None else f'; the last one was refused: {refused.violation.value}'}"
        if policy.start > self._now:
            return f"the policy begins in {policy.start - self._now:.3f} s"
        return self._stand.obstacle(self._state, self._now, policy.ground, self._config.move)

    def _move_mode(self, state: RobotState, now: float) -> None:
        """Carry out the request that waits, if its moment has come."""
        wish, config = self._modes.wish, self._config
        if wish is None or self.mode is ControlMode.RECOVER:
            return
        if self._modes.resuming:
            patience = config.move.resume_timeout
        else:
            patience = config.move.exit_timeout if wish is ControlMode.STAND else config.move.request_timeout
        if not self._modes.advance(now, self._obstacle(wish), patience):
            return
        if wish is ControlMode.MOVE:
            self._tracker.reset(state)
            self._clock.restart()
        else:
            self._slot.clear()
            self._stand.start(now, state.joint_positions, config.stand.catch_time)

    def _targets(self, state: RobotState, now: float, dt: float) -> JointTargets | Finding:
        if self.mode is ControlMode.RECOVER:
            return self._recover_targets(state, now)
        if self.mode is ControlMode.STAND:
            return self._stand.targets(state, now, self._late(state, now))
        policy = self._slot.at(now)
        if policy is None:
            return Finding(Violation.NO_POLICY, "no policy has arrived")
        reason = self._reason_to_stand(policy, state, now)
        if reason is None:
            felt = self._estimator.contacts.contact.tolist()
            self._clock.follow(policy, now, felt, self._config.estimation)
            return self._move_targets(policy, state, now, dt)
        self._retreats += 1
        self._retreat = Fault(reason, now)
        self._modes.retreat(now, f"moving again: {reason}")
        self._slot.clear()
        self._stand.start(now, state.joint_positions, self._config.stand.catch_time)
        return self._stand.targets(state, now, self._late(state, now))

    def _recover_targets(self, state: RobotState, now: float) -> JointTargets | Finding:
        """Get up; once it lies on its belly, go on with the way to the stand."""
        late = self._late(state, now)
        targets = self._recover.targets(state, now, self._stand, late)
        if not self._recover.done:
            return self._recover.finding(state) or targets
        self._modes.got_up(now)
        self._estimator.forget()
        self._stand.start(now, state.joint_positions, self._config.stand.ramp_time)
        return self._stand.targets(state, now, late)

    def _late(self, state: RobotState, now: float) -> float:
        """From the measurement of a state to the torque that answers it [s]."""
        return now + self._config.move.command_delay - state.time

    def _reason_to_stand(self, policy: Policy, state: RobotState, now: float) -> Finding | None:
        """Why the robot must leave the bound now: its policy is late and no longer fits, or about to end; or None."""
        late = self._supervisor.policy_age(policy, now, self._gate.pace.timeout)
        if late is None or late.violation is Violation.POLICY_OVER:
            return late
        away = self._gate.away(policy, self._clock.time(policy, now), self._model.state(state))
        if away is not None:
            return Finding(late.violation, f"{late.text}; it {away.text}")
        return late if self._clock.time(policy, now) >= last_exit(policy, self._config.move.exit_lead) else None

    def _move_targets(self, policy: Policy, state: RobotState, now: float, dt: float) -> JointTargets:
        """Follow the policy where it will be when the command acts, from where it was when the state was measured."""
        self._moved = True
        acts, was = now + self._config.move.command_delay, min(state.time, now)
        sample = policy.sample(self._clock.time(policy, acts))
        measured = sample if was == acts else policy.sample(self._clock.time(policy, was))
        self._contacts = self._tracker.contacts(sample)
        targets = self._tracker.targets(sample, state, dt, measured)
        return targets if self._config.move.drive_delay == 0.0 else targets.softened(self._softness, state)

    def _fail(self, finding: Finding, now: float) -> JointCommand:
        retreat = self._retreat
        if retreat is not None and self._modes.resuming and now - retreat.time < _WAY_DOWN:
            finding = Finding(finding.violation, f"{finding.text}; on the way down for want of policies: {retreat}")
        self._modes.fail(finding, now)
        self._slot.clear()
        self._estimator.forget()
        return self._damping()

    def _damping(self) -> JointCommand:
        return JointCommand.damping(self._robot.n_joints)
