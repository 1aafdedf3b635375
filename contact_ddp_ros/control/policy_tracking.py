"""Policy tracking: joint targets from a whole-body policy and the measured state.

    u = ubar + K (x - xbar),        tau = u + kp (qbar_j - q_j) + kd (vbar_j - v_j)      (the drives add the PD part)

The policy in use, and when its planned forces lift and land feet.

See eq. (23) of docs/mathematics.md.
"""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.config import ControllerConfig, MoveConfig
from contact_ddp_ros.robot.joint_pd import JointTargets
from contact_ddp_ros.robot.models.whole_body import YAW, WholeBodyModel
from contact_ddp_ros.robot.policy import Policy, PolicySample
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState

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
