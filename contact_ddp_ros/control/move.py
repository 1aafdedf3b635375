"""The law of MOVE: which policy is followed, where on it the robot is, and the joint targets that it asks for.

Policy tracking: joint targets from a whole-body policy and the measured state.

    u = ubar + K (x - xbar),        tau = u + kp (qbar_j - q_j) + kd (vbar_j - v_j)      (the drives add the PD part)

The policy in use, and when its planned forces lift and land feet.

See eq. (23) of docs/mathematics.md.
"""

import math
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.config import ControllerConfig, MoveConfig
from contact_ddp_ros.control.estimation.estimator import Estimator
from contact_ddp_ros.control.gait_clock import GaitClock
from contact_ddp_ros.control.policy_validator import PolicyValidator
from contact_ddp_ros.control.safety import SafetyViolation, ViolationKind
from contact_ddp_ros.robot.joint_pd import JointTargets, softness
from contact_ddp_ros.robot.joints import FOOT_NAMES, LEG_NAMES
from contact_ddp_ros.robot.models.whole_body import YAW, WholeBodyModel
from contact_ddp_ros.robot.policy import Policy, PolicySample
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import joint_inertias

Array = NDArray[np.float64]


class PolicySlot:
    """The policy in use and at most one that is yet to begin."""

    def __init__(self) -> None:
        """Empty."""
        self.current: Policy | None = None
        self._next: Policy | None = None

    def clear(self) -> None:
        """Drop both."""
        self.current = self._next = None

    def put(self, policy: Policy, now: float) -> None:
        """Use `policy` as soon as it has begun; a newer one replaces one that still waits."""
        self.at(now)
        if policy.start <= now or self.current is None:
            self.current, self._next = policy, None
        else:
            self._next = policy

    def at(self, now: float) -> Policy | None:
        """The policy in use at time `now` [s]."""
        if self._next is not None and self._next.start <= now:
            self.current, self._next = self._next, None
        return self.current


def in_flight(forces: Array) -> bool:
    """True if the plan has no foot on the ground, from its forces (n_f,) [N]."""
    return not forces.any()


def time_to_touchdown(policy: Policy, now: float) -> float:
    """Time until the plan puts a foot on the ground, from flight [s]; zero in stance, infinite beyond the horizon."""
    k = policy.node(now)
    stance = np.flatnonzero(policy.forces[k:].any(axis=1))
    if not stance.size:
        return np.inf
    return max(float(policy.times[k + stance[0]]) - now, 0.0) if stance[0] else 0.0


def landings(policy: Policy) -> Array:
    """Times at which the plan puts down a foot while others stand, or as they leave, from its second step on [s]."""
    steps = np.flatnonzero(np.diff(policy.times) > 0.0)  # the switches between have no forces
    down = policy.forces[steps] != 0.0
    lands = (down[1:] & ~down[:-1]).any(axis=1) & down[:-1].any(axis=1)
    return policy.times[steps[1:]][lands]


def last_exit(policy: Policy, lead: float) -> float:
    """The last good instant for leaving the bound before the policy ends [s]: in the air, `lead` [s] before touchdown.

    Where the horizon ends in the air, that is at its end; in a gait without flights `lead` before a foot lands beside
    others, and where no foot ever leaves the ground, at its beginning.
    """
    airborne = ~policy.forces.any(axis=1) & (np.diff(policy.times) > 0.0)
    nodes = np.flatnonzero(airborne)
    if not nodes.size:
        beside = landings(policy)
        return max(policy.start, float(beside[-1]) - lead) if beside.size else policy.start
    last = int(nodes[-1])
    end = float(policy.times[last + 1])
    if not policy.forces[last + 1 :].any():
        return end
    grounded = np.flatnonzero(policy.forces[:last].any(axis=1))
    begin = float(policy.times[grounded[-1] + 1]) if grounded.size else policy.start
    return max(begin, end - lead)


def exit_obstacle(policy: Policy, state: RobotState, now: float, config: MoveConfig) -> str:
    """Why now is no good instant for leaving the bound; empty where it is one."""
    speed = float(np.hypot(state.linear_velocity[0], state.linear_velocity[1]))
    if not speed <= config.exit_speed:
        return f"slowing down from {speed:.2f} to {config.exit_speed:.2f} m/s"
    if config.exit_instant == "now":
        return ""
    good = in_flight(policy.forces[policy.node(now)])
    if config.exit_instant == "touchdown":
        good = good and time_to_touchdown(policy, now) <= config.exit_lead
    if not good and np.asarray(policy.forces[np.diff(policy.times) > 0.0].any(axis=1)).all():  # a gait without flights
        ahead = landings(policy) - now
        good = bool(((ahead >= 0.0) & (ahead <= config.exit_lead)).any()) or not ahead.size
    return "" if good else f"waiting for {config.exit_instant}"


class PolicyTracker:
    """Feedback law of all coordinates along a policy."""

    def __init__(self, model: WholeBodyModel, config: ControllerConfig) -> None:
        """`model` is the planner's."""
        self._model = model
        self.config = config
        self._normals = slice(len(model.axes) - 1, None, len(model.axes))
        self.heading = 0.0
        """Yaw that is held [rad]."""

    def reset(self, state: RobotState) -> None:
        """Begin at a state."""
        self.heading = float(quaternion_to_rpy(state.orientation)[2])

    def targets(self, sample: PolicySample, state: RobotState, measured: PolicySample) -> JointTargets:
        """The joints' targets for a checked state.

        `sample` is the policy where the targets will act, `measured` where the state was measured: how far it is from
        the plan then is taken to be how far it will be.
        """
        self.heading = float(sample.state[YAW])
        u = sample.control
        if self.config.move.feedback:
            u = u + sample.gain @ self._model.deviation(state, measured.state, measured.chart)
        return JointTargets(*self._model.joint_targets(sample.state, u))

    def contacts(self, sample: PolicySample) -> tuple[bool, ...]:
        """Feet that carry load by plan, in the order of FOOT_NAMES."""
        return tuple(bool(load) for load in np.asarray(sample.forces[self._normals]) > 0.0)


_ALL_FEET = (True,) * len(FOOT_NAMES)


class MoveLaw:
    """Admits policies and follows the one in use; its public attributes are for diagnosis."""

    def __init__(self, model: WholeBodyModel, model_hash: int, config: ControllerConfig) -> None:
        """`model_hash` is the fingerprint that policies must carry."""
        self._model = model
        self._gate = PolicyValidator(model, model_hash, config.safety)
        self._slot = PolicySlot()
        groups = [[LEG_NAMES.index(leg) for leg in legs] for legs in model.legs_of.values()]
        self.clock = GaitClock(groups, len(model.axes))
        """Where the gait is."""
        self.refused: SafetyViolation | None = None
        """SafetyViolation on the last policy, or on why the planner had none; None where all was well."""
        self.refusals: Counter[ViolationKind] = Counter()
        """Counts of policies refused or not found so far, by violation."""
        self._in_vain = 0
        """Plans in a row that gave no policy to follow."""
        self.contacts = _ALL_FEET
        """Feet that the plan had on the ground at the last update, in the order of FOOT_NAMES; all unless it moves."""
        self._inertias = joint_inertias(model.robot.tree, model.robot.standing)
        self._tracker = PolicyTracker(model, config)
        self.configure(config)

    @property
    def heading(self) -> float:
        """Yaw that is held while moving [rad]."""
        return self._tracker.heading

    def policy_age(self, now: float) -> float:
        """Age of the policy in use at time `now` [s]; not a number where there is none."""
        policy = self._slot.current
        return math.nan if policy is None else now - policy.start

    def policy(self, now: float) -> Policy | None:
        """The policy in use at time `now` [s]; None where there is none."""
        return self._slot.at(now)

    def sample(self, now: float) -> PolicySample | None:
        """That policy where the gait is at time `now` [s]; None where there is none."""
        policy = self._slot.at(now)
        return None if policy is None else policy.sample(self.clock.time(policy, now))

    def configure(self, config: ControllerConfig) -> None:
        """Take over new parameters."""
        self._config = self._tracker.config = config
        self._softness = softness(config.drive.gains(len(FOOT_NAMES)), self._inertias, config.move.drive_delay)
        self._gate.config = self._gate.pace.config = config.safety

    def offer(self, policy: Policy, now: float, following: bool, state: RobotState | None) -> SafetyViolation | None:
        """Use a policy that arrives at time `now` [s]; what is wrong with it where it is refused."""
        found = self._gate.check(policy, now, following=following, state=state)
        if found is None:
            self._slot.put(policy, now)
            self.refused, self._in_vain = None, 0
        else:
            self.miss(found)
        return found

    def miss(self, reason: SafetyViolation) -> None:
        """Count a plan that gives no policy to follow, and why."""
        self._gate.missed()
        self.refused = reason
        self.refusals[reason.violation] += 1
        self._in_vain += reason.violation is not ViolationKind.POLICY_SEQUENCE  # one that came late, or twice

    def drop(self) -> None:
        """Drop the policies."""
        self._slot.clear()

    def forget(self) -> None:
        """Drop the policies and their order: the clock has jumped."""
        self._slot.clear()
        self._in_vain = 0
        self._gate.forget()

    def begin(self, state: RobotState) -> None:
        """Begin to follow policies at a state: its heading is held."""
        self._tracker.reset(state)
        self.clock.restart()

    def rest(self) -> None:
        """Note that no policy is followed, until :meth:`targets` does."""
        self.contacts = _ALL_FEET

    def entry_obstacle(self, now: float) -> str:
        """Why no policy can be followed from time `now` [s] on; empty where one can."""
        policy = self._slot.at(now)
        finding = self._gate.lateness(policy, now)
        if finding is not None or policy is None:
            return f"{finding}{self._why_none()}"
        return f"the policy begins in {policy.start - now:.3f} s" if policy.start > now else ""

    def exit_obstacle(self, state: RobotState, now: float) -> str:
        """Why now is no good instant for leaving the gait; empty where it is one."""
        policy = self._slot.at(now)
        return "" if policy is None else exit_obstacle(policy, state, self.clock.time(policy, now), self._config.move)

    def reason_to_stand(self, state: RobotState, now: float) -> SafetyViolation | None:
        """Why the robot must stop now: there is no policy, it is late and no longer fits, or about to end; or None."""
        policy = self._slot.at(now)
        late = self._gate.lateness(policy, now)
        if late is None or policy is None:
            return late
        if late.violation is not ViolationKind.POLICY_OVER:
            away = self._gate.away(policy, self.clock.time(policy, now), state)
            if away is not None:
                late = SafetyViolation(late.violation, f"{late.text}; it {away.text}")
            elif self.clock.time(policy, now) < last_exit(policy, self._config.move.exit_lead):
                return None
        return SafetyViolation(late.violation, f"{late.text}{self._why_none()}")

    def _why_none(self) -> str:
        """Why no policy has taken the place of the last one, where plans came: they failed or were refused."""
        if self.refused is None or not self._in_vain:
            return ""
        plans = "the last plan was" if self._in_vain == 1 else f"{self._in_vain} plans in a row were"
        return f", since {plans} refused or failed: {self.refused}"

    def targets(self, state: RobotState, now: float, estimator: Estimator) -> JointTargets:
        """Follow the policy where it will be when the command acts, from where it was when the state was measured.

        There must be one, for which :meth:`reason_to_stand` finds none; contact that is felt moves the gait's clock.
        """
        policy = self._slot.at(now)
        assert policy is not None
        self.clock.follow(policy, now, estimator.contacts.contact.tolist(), self._config.estimation)
        acts, was = now + self._config.move.command_delay, min(state.time, now)
        sample = policy.sample(self.clock.time(policy, acts))
        measured = sample if was == acts else policy.sample(self.clock.time(policy, was))
        self.contacts = self._tracker.contacts(sample)
        return self.softened(self._tracker.targets(sample, state, measured), state)

    def softened(self, targets: JointTargets, state: RobotState) -> JointTargets:
        """Targets as drives bear them whose torque comes late."""
        return targets if self._config.move.drive_delay == 0.0 else targets.softened(self._softness, state)
