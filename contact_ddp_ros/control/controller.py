"""The joint controller: takes robot states and policies, keeps the mode, and gives joint commands.

Every :meth:`Controller.update` checks the state, moves the mode machine of :mod:`contact_ddp_ros.control.modes`, lets
the law of the present mode say what it wants of the joints, limits that to the actuators and checks it once more. What
cannot be trusted ends in damping: a fault is latched until a request to stand (or :meth:`Controller.rearm`) clears it.

All methods may be called from any thread; each holds one lock for well under a millisecond.
"""

import math
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np

from contact_ddp_ros.base.config import validate
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.capture import CaptureLaw
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.estimation.estimator import Estimator
from contact_ddp_ros.control.modes import Answer, ControlMode, ModeMachine
from contact_ddp_ros.control.motion_controller import Motion
from contact_ddp_ros.control.move import MoveLaw
from contact_ddp_ros.control.recover import RecoverLaw
from contact_ddp_ros.control.safety import Fault, SafetyViolation, Supervisor, ViolationKind
from contact_ddp_ros.control.stand import StandLaw
from contact_ddp_ros.control.state_plausibility import PlaceAnchor, StateContinuity
from contact_ddp_ros.robot.ground import Ground, TerrainEstimate
from contact_ddp_ros.robot.joint_pd import JointTargets, TorqueSpeedCurve, limited_command
from contact_ddp_ros.robot.joints import FOOT_NAMES
from contact_ddp_ros.robot.known_pose import KnownPose
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.policy import Policy, PolicySample
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

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
        self._model = WholeBodyModel(robot)
        self._lock = Lock()
        self._modes = ModeMachine()
        self._now: float | None = None
        self._state: RobotState | None = None
        """The last state, where nothing is wrong with it."""
        self._measured: RobotState | None = None
        """The last state, whatever is."""
        self.finding: SafetyViolation | None = SafetyViolation(ViolationKind.NO_STATE, "no robot state has arrived")
        """Present safety violation, in DAMP too; None where all is well."""
        self.retreat: Fault | None = None
        """Why and when the robot last had to stand because no policy came in time; None where it never had."""
        self.retreats = 0
        """Number of times that the robot had to stand for want of policies."""
        self.config: ControllerConfig
        """The parameters in use."""
        self.drive_gains: DriveGains
        """The gains that the joint drives must have."""
        self.estimator = Estimator(robot, config.estimation)
        """Contact and terrain estimator, for diagnosis."""
        expected = robot.model_hash if model_hash is None else model_hash
        self.move = MoveLaw(self._model, expected, config)
        """Tracking of the policies, for diagnosis."""
        self.execution = ""
        """Text on joints that do something else than they are commanded; empty where nothing else is known."""
        self.unlocated = ""
        """Text on why the trunk's place is not known; empty where it is."""
        self._known_pose = KnownPose(robot)
        self._continuity = StateContinuity(robot, config.safety)
        self.anchor = PlaceAnchor(config.safety)
        """Frame in which the robot stands and walks, for diagnosis."""
        self._command = JointCommand.damping(robot.n_joints)
        self._torques = self._no_torques = np.zeros(robot.n_joints)
        """Drive torques of the last command at its state (12,) [N m]; zero while it damps."""
        self._stand: StandLaw
        self._capture: CaptureLaw
        self._ground = Ground()
        """Ground of the plan that was followed last, for where none is felt."""
        self._recover = RecoverLaw(robot)
        self._motion: Motion | None = None
        self._adopt(config)

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock, of which a copy has its own."""
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    @property
    def mode(self) -> ControlMode:
        """Present control mode."""
        return self._modes.mode

    @property
    def fault(self) -> Fault | None:
        """The fault that keeps the controller in DAMP, or None."""
        return self._modes.fault

    @property
    def waiting_for(self) -> str:
        """Condition that an accepted request still waits for; empty where there is none."""
        return self._modes.waiting_for

    @property
    def given_up(self) -> str:
        """Obstacle because of which a request to move, or to move again, was given up; empty once another comes."""
        return self._modes.given_up

    @property
    def standing(self) -> bool:
        """True if the robot stands, the way up completed."""
        if self.mode is not ControlMode.STAND or self._now is None or not self._capture.done:
            return False
        return self._stand.progress(self._now) >= 1.0

    @property
    def stopping(self) -> bool:
        """True if the robot is to leave the gait for a stand: the speed command should be zero."""
        return self._modes.wish is ControlMode.STAND

    @property
    def contacts(self) -> tuple[bool, ...]:
        """Feet that carry load by plan, in the order of FOOT_NAMES."""
        if self.mode is ControlMode.MOTION and self._motion is not None:
            return self._motion.contacts
        if self.mode is ControlMode.STAND and not self._capture.done:
            return self._capture.contacts
        return self.move.contacts

    @property
    def felt(self) -> TerrainEstimate:
        """Terrain and load estimate from contact, for the planner."""
        feeling = self.estimator
        own = feeling.payload, feeling.drive_inertia
        return TerrainEstimate(feeling.ground, self.move.clock.advance, feeling.feet, feeling.roughness, *own)

    def sample(self, now: float) -> PolicySample | None:
        """The policy in use at time `now` [s]; None where there is none."""
        with self._lock:
            return self.move.sample(now)

    def configure(self, config: ControllerConfig) -> None:
        """Take over new parameters; the mode, the policy and the heading stay.

        Raises:
            ParameterError: as the constructor; the old parameters stay in use.
        """
        with self._lock:
            self._adopt(config)

    def rearm(self) -> Answer:
        """Clear a latched fault and stay in DAMP."""
        with self._lock:
            fault, self._modes.fault = self._modes.fault, None
            return Answer(True, f"cleared {fault.violation.value}" if fault else "no fault was latched")

    def request(self, mode: ControlMode) -> Answer:
        """Ask for a mode. DAMP is taken at once; STAND and RECOVER clear a fault; MOVE waits for a valid policy.

        MOTION has a request of its own, :meth:`perform`.
        """
        with self._lock:
            if mode is ControlMode.MOTION:
                return Answer(False, "which motion? it has to be performed")
            return self._request(mode)

    def perform(self, motion: Motion) -> Answer:
        """Ask for a motion: out of a stand, as soon as the robot is at rest; one that begins lying out of DAMP."""
        with self._lock:
            if self.mode is ControlMode.MOTION and self._motion is not None:
                return Answer(False, f"still in {self._motion.name}")
            if self.mode is not (ControlMode.DAMP if motion.lies else ControlMode.STAND):
                first = "begins lying; damp first" if motion.lies else "begins in a stand; request a stand first"
                return Answer(False, f"in {self.mode.value}; {motion.name} {first}")
            self._motion = motion
            return self._request(ControlMode.MOTION)

    def _request(self, mode: ControlMode) -> Answer:
        before, now = self.mode, self._now
        answer = self._modes.request(mode, now or 0.0, self._obstacle(mode))
        if self.mode is before:
            return answer
        self.move.drop()
        self._capture.done = True
        self._recover.start()
        if now is not None and self._measured is not None:
            if self.mode is ControlMode.STAND:
                self._stand.start(now, self._measured.joint_positions, self.config.stand.ramp_time, fold=True)
            elif self.mode is ControlMode.MOTION:
                self._begin_motion(self._measured)
        return answer

    def _begin_motion(self, state: RobotState) -> None:
        assert self._motion is not None
        ground = self.estimator.ground
        x, y, _ = state.position.tolist()
        self._motion.begin(state, None if ground is None else ground.height_at(x, y))

    def set_policy(self, policy: Policy, now: float) -> Answer:
        """Offer a policy at time `now` [s]. One that does not fit is refused, named and counted, and never used."""
        with self._lock:
            finding = self.move.offer(policy, now, self.mode is ControlMode.MOVE, self._state)
            accepted = f"policy {policy.sequence} of epoch {policy.epoch}"
            return Answer(True, accepted) if finding is None else Answer(False, str(finding))

    def miss_policy(self, reason: str) -> None:
        """Note that the planner had no policy to offer, and why: what the robot does for want of one says so."""
        with self._lock:
            self.move.miss(SafetyViolation(ViolationKind.SOLVE_FAILED, reason))

    def localised(self, state: RobotState | None) -> RobotState | None:
        """A measured state in the frame in which the robot walks, for whoever plans for this controller.

        That frame goes on where the source of the trunk's place corrects itself in steps.
        """
        with self._lock:
            sound = state is not None and state.has_sizes(self._robot.n_joints) and self.anchor.believes(state)
            return self._anchored(state) if sound and state is not None else state

    def _anchored(self, state: RobotState) -> RobotState:
        if self.mode not in (ControlMode.DAMP, ControlMode.RECOVER):
            return self.anchor.follow(state)
        if self.anchor.moved:  # where feet have stood is known in the frame that ends
            self.estimator.forget()
            self._continuity.forget()
        self.anchor.release()
        return state

    def update(self, state: RobotState | None, now: float) -> JointCommand:
        """The command for the joint drives at time `now` [s], from the latest state (None where none has arrived)."""
        with self._lock:
            self._command = self._next_command(state, now)
            return self._command

    def _next_command(self, state: RobotState | None, now: float) -> JointCommand:
        last, scheduled = self._now, self.contacts
        self.move.rest()
        finding = self._advance_clock(now)
        if finding is None:
            state, finding = self._judge(state, now)
        if finding is not None and finding.violation is ViolationKind.STATE_JUMP:
            self.estimator.forget()  # where feet have stood is not known from where the robot is now
        self.finding, self._torques = finding, self._no_torques
        self._measured, self._state = state, state if finding is None else None
        if state is not None and self.config.safety.check_known_pose:
            self._known_pose.watch(state, limp=finding is None and self.mode is ControlMode.DAMP)
        if finding is None and state is not None and not self._lies:
            delay = self.config.move.drive_delay
            on_its_feet = self.standing or self.mode is ControlMode.MOVE
            reached = (now if last is None else last) + max(self.config.move.command_delay - delay, 0.0)
            self.estimator.update(state, self._command, self.drive_gains, scheduled, delay, on_its_feet, reached)
        if self.mode is ControlMode.DAMP:
            return JointCommand.damping(self._robot.n_joints)
        if finding is not None or state is None:
            return self._fail(finding or SafetyViolation(ViolationKind.NO_STATE, "no robot state has arrived"), now)
        self._stand.watch(state, now)
        self._move_mode(state, now)
        targets = self._targets(state, now)
        if isinstance(targets, SafetyViolation):
            return self._fail(targets, now)
        limited = limited_command(targets, state, self.drive_gains, self._robot.effort_limits, self._curve)
        finding = self._supervisor.command(limited.command.torques, limited.total)
        if finding is not None:
            return self._fail(finding, now)
        self._torques = limited.total
        return limited.command

    @property
    def _lies(self) -> bool:
        """True if the robot may lie on anything but its feet, whose forces are then not the ground's alone."""
        lying = self.mode is ControlMode.MOTION and self._motion is not None and self._motion.on_the_ground
        return lying or self.mode is ControlMode.RECOVER

    def _judge(self, state: RobotState | None, now: float) -> tuple[RobotState | None, SafetyViolation | None]:
        """A measured state in the frame in which the robot walks, and the first thing that is wrong with it."""
        moving = self.mode in (ControlMode.MOVE, ControlMode.MOTION)
        may_lie = self.mode in (ControlMode.RECOVER, ControlMode.MOTION)
        ground, torques = self.estimator.ground, self._torques
        rising = self.mode is ControlMode.STAND and not self.standing
        finding = self._supervisor.state(
            state, now, ground, may_lie=may_lie, moving=moving, rising=rising, torques=torques
        )
        if finding is not None or state is None:
            if finding is not None and finding.violation is ViolationKind.STATE_NOT_FINITE and self.unlocated:
                finding = replace(finding, text=f"{finding.text}: {self.unlocated}")
            return state, finding
        state = self._anchored(state) if self.anchor.believes(state) else state
        finding = self.anchor.finding(state.time) or self._continuity.check(state, moving=moving)
        return state, finding or (
            SafetyViolation(ViolationKind.NOT_EXECUTED, self.execution) if self.execution else None
        )

    def _adopt(self, config: ControllerConfig) -> None:
        validate(config)
        for name in ("pose", "fold"):
            angles = np.tile(np.asarray(getattr(config.stand, name), float), len(FOOT_NAMES))
            if not ((angles >= self._robot.lower) & (angles <= self._robot.upper)).all():
                found = getattr(config.stand, name)
                raise ParameterError(f"stand.{name} is {found}; allowed: within the joint limits of the robot")
        if config.safety.check_known_pose and not self._robot.gears.all():
            raise ParameterError(
                "safety.check_known_pose needs the drives' gear ratios: gear in the URDF's <dynamics>, or joints.gear"
                " in the robot's file; set it to false where encoders sit at the joints"
            )
        supervisor = Supervisor(self._robot, config.safety)
        continuity = StateContinuity(self._robot, config.safety)
        continuity.take_over(self._continuity)
        drive = config.drive.gains(len(FOOT_NAMES))
        stand = StandLaw(self._robot, self._geometry, drive, config.stand)
        capture = CaptureLaw(self._robot, self._geometry, stand)
        if self.mode is ControlMode.STAND:
            stand.take_over(self._stand)
            capture.take_over(self._capture)
        self.config, self._supervisor, self._continuity = config, supervisor, continuity
        self.drive_gains, self._stand, self._capture = drive, stand, capture
        self.move.configure(config)
        self._curve = TorqueSpeedCurve.of(self._robot.velocity_limits, config.motor)
        self.estimator.config, self.anchor.config = config.estimation, config.safety

    def _advance_clock(self, now: float) -> SafetyViolation | None:
        """Note the time. Where it jumps back, ages count from the new time, and policies of the old one are dropped."""
        if not math.isfinite(now):
            return SafetyViolation(ViolationKind.CLOCK_NOT_FINITE, f"the time is {now}")
        last, self._now = self._now, now
        if last is None or now >= last - self.config.safety.clock_tolerance:
            return None
        self.move.forget()
        self._continuity.forget()
        self.anchor.release()
        self.estimator.forget()
        self._modes.restart_clock(now)
        self._stand.shift(now - last)
        self._capture.shift(now - last)
        self._recover.shift(now - last)
        if self.mode not in (ControlMode.MOVE, ControlMode.MOTION):
            return None
        return SafetyViolation(ViolationKind.CLOCK_BACKWARDS, f"the clock stepped back by {last - now:.3f} s")

    def _obstacle(self, mode: ControlMode) -> str:
        """Why a mode cannot begin at present; empty where it can."""
        if mode is ControlMode.DAMP:
            return ""
        if self.config.safety.check_known_pose and self.mode is ControlMode.DAMP and not self._known_pose.seen:
            return self._known_pose.obstacle
        tilted = self.finding is not None and self.finding.violation is ViolationKind.TILT
        if mode is ControlMode.RECOVER and tilted:
            return ""
        if mode is ControlMode.MOTION and self._motion is not None and self._motion.lies:
            usable = tilted or self.finding is None
            if usable and self._measured is not None:
                return self._motion.obstacle(self._measured)
        if self._state is None or self._now is None:
            return f"no usable robot state ({self.finding})"
        if self.mode is ControlMode.MOVE:
            return self.move.exit_obstacle(self._state, self._now)
        if mode in (ControlMode.STAND, ControlMode.RECOVER):
            return ""
        if self.mode in (ControlMode.RECOVER, ControlMode.MOTION):
            return "still getting up" if self.mode is ControlMode.RECOVER else "still in a motion"
        if not self.standing:
            return "still standing up"
        if mode is ControlMode.MOTION and self._motion is not None:
            ground = self.estimator.ground or Ground()
            found = self._stand.obstacle(self._state, self._now, ground, self.config.move)
            return found or self._motion.obstacle(self._state)
        obstacle, policy = self.move.entry_obstacle(self._now), self.move.policy(self._now)
        if obstacle or policy is None:
            return obstacle
        return self._stand.obstacle(self._state, self._now, policy.ground, self.config.move)

    def _move_mode(self, state: RobotState, now: float) -> None:
        """Carry out the request that waits, if its moment has come."""
        wish, config = self._modes.wish, self.config.move
        if wish is None or self.mode in (ControlMode.RECOVER, ControlMode.MOTION):
            return
        if self._modes.resuming:
            patience = config.resume_timeout
        else:
            patience = config.exit_timeout if wish is ControlMode.STAND else config.request_timeout
        if not self._modes.advance(now, self._obstacle(wish), patience):
            return
        if wish is ControlMode.MOVE:
            self.move.begin(state)
        elif wish is ControlMode.MOTION:
            self.move.drop()
            self._begin_motion(state)
        else:
            self._catch(state, now)

    def _catch(self, state: RobotState, now: float) -> None:
        """Begin to stand out of the gait, by steps where it is fast, above the ground that is felt, or the plan's."""
        policy = self.move.policy(now)
        ground = self.estimator.ground or (Ground() if policy is None else policy.ground)
        self.move.drop()
        self._ground = ground
        self._capture.start(state, now)
        self._stand.catch(state, now, ground)

    def _stand_up(self, state: RobotState, now: float, duration: float) -> None:
        """Begin to stand where getting up or a motion has led, of whose ground nothing is known yet."""
        self._modes.got_up(now)
        self.estimator.forget()
        self._stand.start(now, state.joint_positions, duration)

    def _targets(self, state: RobotState, now: float) -> JointTargets | SafetyViolation:
        """What the law of the present mode wants, or of the stand where that mode ends now."""
        late = now + self.config.move.command_delay - state.time
        if self.mode is ControlMode.MOVE:
            reason = self.move.reason_to_stand(state, now)
            if reason is None:
                return self.move.targets(state, now, self.estimator)
            if reason.violation is ViolationKind.NO_POLICY:
                return reason
            self.retreats += 1
            self.retreat = Fault(reason, now)
            self._modes.retreat(now, f"moving again: {reason}")
            self._catch(state, now)
        elif self.mode is ControlMode.RECOVER:
            targets = self._recover.targets(state, now, self._stand, late)
            if not self._recover.done:
                return self._recover.finding(state) or targets
            self._stand_up(state, now, self.config.stand.ramp_time)
        elif self.mode is ControlMode.MOTION and self._motion is not None:
            found = self._motion.targets(state, late, self.estimator.contacts.contact, self._stand)
            if not self._motion.done:
                return found if isinstance(found, SafetyViolation) else self.move.softened(found, state)
            self._stand_up(state, now, self._motion.catch_time)
        if not self._capture.done:
            ground = self.estimator.ground or self._ground
            steps = self._capture.targets(state, now, late, ground)
            if steps is not None:
                return steps
            self._stand.catch(state, now, ground)
        return self._stand.targets(state, now, late, self.estimator.ground)

    def _fail(self, finding: SafetyViolation, now: float) -> JointCommand:
        retreat = self.retreat
        if retreat is not None and self._modes.resuming and now - retreat.time < _WAY_DOWN:
            finding = SafetyViolation(
                finding.violation, f"{finding.text}; on the way down for want of policies: {retreat}"
            )
        self._modes.fail(finding, now)
        self.move.drop()
        self.estimator.forget()
        return JointCommand.damping(self._robot.n_joints)
