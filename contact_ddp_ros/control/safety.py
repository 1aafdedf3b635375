"""The supervisor: names what is wrong with a state, a policy or a command, before anything acts on it.

Checks go from the cheap and certain to the rest: size (an array of another size cannot be read further), finite, age,
tilt, joint positions and velocities, torque. Each is written as `not (x < limit)`, so that a NaN trips it.
"""

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.config import SafetyConfig
from contact_ddp_ros.policy import Policy
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.planar import PLANAR_JOINT_NAMES
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

_QUATERNION_TOLERANCE = 1e-2
"""How far the norm of an orientation may be from one."""
_BASE_SIZES = {"position": 3, "orientation": 4, "linear_velocity": 3, "angular_velocity": 3}
_TORQUE_SLACK = 1e-6
"""Rounding allowed in the sum of feedforward and drive torque, relative to the limit."""

_LONGEST_KNOT, _LARGEST_STEP, _LARGEST_VELOCITY, _LARGEST_GAIN, _LARGEST_FORCE = 0.1, 1.0, 100.0, 1e5, 1e4
"""Far beyond what a plan of this robot holds, and what else would not be noticed before it is acted on; SI units."""

FASTEST_TRUNK, FASTEST_TURN = 10.0, 30.0
"""No Mini Cheetah's trunk is faster [m/s], [rad/s]."""


class Violation(Enum):
    """What can be wrong; the values are the names used in diagnostics."""

    NO_STATE = "no_state"
    STATE_SIZE = "state_size"
    STATE_NOT_FINITE = "state_not_finite"
    STATE_STALE = "state_stale"
    STATE_FROM_FUTURE = "state_from_future"
    CLOCK_BACKWARDS = "clock_backwards"
    CLOCK_NOT_FINITE = "clock_not_finite"
    ORIENTATION = "orientation"
    TILT = "tilt"
    JOINT_POSITION = "joint_position"
    JOINT_VELOCITY = "joint_velocity"
    TRUNK_VELOCITY = "trunk_velocity"
    STATE_JUMP = "state_jump"
    STATE_STUCK = "state_stuck"
    COMMAND_NOT_FINITE = "command_not_finite"
    TORQUE = "torque"
    NO_POLICY = "no_policy"
    POLICY_SIZE = "policy_size"
    POLICY_NOT_FINITE = "policy_not_finite"
    POLICY_MODEL = "policy_model"
    POLICY_EPOCH = "policy_epoch"
    POLICY_SEQUENCE = "policy_sequence"
    POLICY_STALE = "policy_stale"
    POLICY_OVER = "policy_over"
    POLICY_FROM_FUTURE = "policy_from_future"
    POLICY_RANGE = "policy_range"
    POLICY_TORQUE = "policy_torque"
    POLICY_AWAY = "policy_away"


@dataclass(frozen=True)
class Finding:
    """One violation and its description: what was found, what is allowed."""

    violation: Violation
    text: str

    def __str__(self) -> str:
        """Name and text, for logs."""
        return f"{self.violation.value}: {self.text}"


@dataclass(frozen=True)
class Fault:
    """A finding that made the controller fall back to damping at `time` [s]; it stays until re-armed."""

    finding: Finding
    time: float

    @property
    def violation(self) -> Violation:
        """What was wrong."""
        return self.finding.violation

    def __str__(self) -> str:
        """Name and text, for logs."""
        return str(self.finding)


class Supervisor:
    """Checks against the limits of one robot."""

    def __init__(self, robot: Robot, config: SafetyConfig) -> None:
        """Take the limits from the robot; margins and time-outs from the configuration."""
        self.config = config
        joints = {"joint_positions": robot.n_joints, "joint_velocities": robot.n_joints}
        self._shapes = {name: (size,) for name, size in (_BASE_SIZES | joints).items()}
        self._lower = robot.lower - config.position_margin
        self._upper = robot.upper + config.position_margin
        self._velocity = config.velocity_factor * robot.velocity_limits
        self._effort = robot.effort_limits * (1.0 + _TORQUE_SLACK)

    def state(self, state: RobotState | None, now: float) -> Finding | None:
        """The first thing wrong with a state at time `now` [s], or None."""
        if state is None:
            return Finding(Violation.NO_STATE, "no robot state has arrived")
        return (
            self._state_size(state)
            or self._state_finite(state)
            or self._state_age(state.time, now)
            or self._tilt(state)
            or self._joints(state)
            or self._trunk_velocity(state)
        )

    def policy_age(self, policy: Policy | None, now: float) -> Finding | None:
        """Whether a policy that was accepted may still be followed at `now` [s]."""
        if policy is None:
            return Finding(Violation.NO_POLICY, "no policy has arrived")
        age = now - policy.start
        if not age <= self.config.policy_timeout:
            text = f"the policy is {age:.3f} s old; allowed: {self.config.policy_timeout:.3f} s"
            return Finding(Violation.POLICY_STALE, text)
        if not now < policy.end:
            return Finding(Violation.POLICY_OVER, f"the policy ended {now - policy.end:.3f} s ago")
        return None

    def command(self, feedforward: Array, total: Array) -> Finding | None:
        """Whether joint torques, as fed forward and as the drives will add them up (12,) [N m], are within limits."""
        if not (np.isfinite(feedforward).all() and np.isfinite(total).all()):
            return Finding(Violation.COMMAND_NOT_FINITE, f"torque of {_worst_name(np.isfinite(total), JOINT_NAMES)}")
        for torques in (feedforward, total):
            within = np.abs(torques) <= self._effort
            if not within.all():
                joint = int(np.argmin(within))
                text = f"{JOINT_NAMES[joint]} at {torques[joint]:.1f} N m; allowed: {self._effort[joint]:.1f}"
                return Finding(Violation.TORQUE, text)
        return None

    def _state_size(self, state: RobotState) -> Finding | None:
        for name, allowed in self._shapes.items():
            shape = np.shape(getattr(state, name))
            if shape != allowed:
                return Finding(Violation.STATE_SIZE, f"{name} has shape {shape}; allowed: {allowed}")
        return None

    def _state_finite(self, state: RobotState) -> Finding | None:
        if state.is_finite():
            return None
        bad = [name for name in ("time", *self._shapes) if not np.isfinite(getattr(state, name)).all()]
        return Finding(Violation.STATE_NOT_FINITE, f"not a finite number in {', '.join(bad)}")

    def _state_age(self, stamp: float, now: float) -> Finding | None:
        age = now - stamp
        if not age <= self.config.state_timeout:
            text = f"the robot state is {1e3 * age:.1f} ms old; allowed: {1e3 * self.config.state_timeout:.1f} ms"
            return Finding(Violation.STATE_STALE, text)
        if not age >= -self.config.clock_tolerance:
            text = f"the robot state is stamped {-1e3 * age:.1f} ms ahead of the clock"
            return Finding(Violation.STATE_FROM_FUTURE, text)
        return None

    def _tilt(self, state: RobotState) -> Finding | None:
        norm = math.hypot(*state.orientation.tolist())
        if not abs(norm - 1.0) < _QUATERNION_TOLERANCE:
            return Finding(Violation.ORIENTATION, f"the orientation has norm {norm:.3f}; allowed: 1")
        roll, pitch, _ = quaternion_to_rpy(state.orientation).tolist()
        for name, angle, limit in (("roll", roll, self.config.roll), ("pitch", pitch, self.config.pitch)):
            if not abs(angle) < limit:
                return Finding(Violation.TILT, f"{name} is {angle:.2f} rad; allowed: ±{limit:.2f}")
        return None

    def _joints(self, state: RobotState) -> Finding | None:
        q, v = state.joint_positions, state.joint_velocities
        within = (q > self._lower) & (q < self._upper)
        if not within.all():
            joint = int(np.argmin(within))
            text = f"{JOINT_NAMES[joint]} at {q[joint]:.2f} rad; allowed: {self._lower[joint]:.2f} to "
            return Finding(Violation.JOINT_POSITION, f"{text}{self._upper[joint]:.2f}")
        within = np.abs(v) < self._velocity
        if not within.all():
            joint = int(np.argmin(within))
            text = f"{JOINT_NAMES[joint]} at {v[joint]:.1f} rad/s; allowed: ±{self._velocity[joint]:.1f}"
            return Finding(Violation.JOINT_VELOCITY, text)
        return None

    def _trunk_velocity(self, state: RobotState) -> Finding | None:
        for name, unit, limit in (
            ("linear_velocity", "m/s", FASTEST_TRUNK),
            ("angular_velocity", "rad/s", FASTEST_TURN),
        ):
            largest = float(np.abs(getattr(state, name)).max())
            if not largest < limit:
                text = f"{name} has a component of {largest:.3g} {unit}; allowed: ±{limit:g}"
                return Finding(Violation.TRUNK_VELOCITY, text)
        return None


class PolicyGate:
    """Admits policies one after another: right sizes, finite, of this model, in order, of the present."""

    def __init__(self, torques: Array, n_x: int, n_forces: int, model_hash: int, config: SafetyConfig) -> None:
        """Sizes are those of the planner's model, whose fingerprint is `model_hash`.

        `torques` are what each of its controls (n_u,) can be at most [N m].
        """
        self.config = config
        self._torques, n_u = torques, len(torques)
        self._sizes = {"state": n_x, "control": n_u, "force": n_forces}
        self._model_hash = model_hash
        self._last: Policy | None = None

    def forget(self) -> None:
        """Forget the order so far: the next policy may be of any epoch and sequence."""
        self._last = None

    def check(self, policy: Policy, now: float, following: bool, state: Array | None = None) -> Finding | None:
        """What is wrong with a policy at time `now` [s], or None, and then its successors must come after it.

        `state` is the measured one (n_x,) in the planner's coordinates, where one is known: a policy must pass near it.
        Where the last policy is being followed (`following`), one of another epoch is refused; otherwise a later epoch
        is always welcome, and an earlier one once the last policy has run out (the planner has been restarted).
        """
        finding = self._size(policy) or self._finite(policy) or self._order(policy, now, following)
        finding = finding or self._age(policy, now) or self._range(policy) or self._torque(policy)
        finding = finding or self._away(policy, now, state)
        if finding is None:
            self._last = policy
        return finding

    def _size(self, policy: Policy) -> Finding | None:
        n = len(policy.controls)
        n_x, n_u, n_forces = self._sizes.values()
        wanted = {
            "times": (n + 1,),
            "states": (n + 1, n_x),
            "controls": (n, n_u),
            "gains": (n, n_u, n_x),
            "modes": (n,),
            "forces": (n, n_forces),
        }
        for name, shape in wanted.items():
            found = np.shape(getattr(policy, name))
            if found != shape or n == 0:
                return Finding(Violation.POLICY_SIZE, f"{name} has shape {found}; allowed: {shape}, at least one knot")
        return None

    def _finite(self, policy: Policy) -> Finding | None:
        for name in ("times", "states", "controls", "gains", "forces"):
            if not np.isfinite(getattr(policy, name)).all():
                return Finding(Violation.POLICY_NOT_FINITE, f"not a finite number in {name}")
        return None

    def _order(self, policy: Policy, now: float, following: bool) -> Finding | None:
        if policy.model_hash != self._model_hash:
            text = f"made for model {policy.model_hash:x}; this controller runs {self._model_hash:x}"
            return Finding(Violation.POLICY_MODEL, text)
        last = self._last
        if last is None:
            return None
        expired = not now - last.start <= self.config.policy_timeout
        if policy.epoch != last.epoch:
            if following or (policy.epoch < last.epoch and not expired):
                text = f"epoch {policy.epoch} while following epoch {last.epoch}"
                return Finding(Violation.POLICY_EPOCH, text)
        elif policy.sequence <= last.sequence and not (expired and not following):
            text = f"sequence {policy.sequence} after {last.sequence} of the same epoch"
            return Finding(Violation.POLICY_SEQUENCE, text)
        return None

    def _age(self, policy: Policy, now: float) -> Finding | None:
        age = now - policy.start
        if not age <= self.config.policy_timeout:
            text = f"starts {age:.3f} s ago; allowed: {self.config.policy_timeout:.3f} s"
            return Finding(Violation.POLICY_STALE, text)
        if not now < policy.end:
            return Finding(Violation.POLICY_OVER, f"ended {now - policy.end:.3f} s ago")
        if not -age <= self.config.policy_timeout + self.config.clock_tolerance:
            text = f"starts {-age:.3f} s from now; allowed: {self.config.policy_timeout:.3f} s"
            return Finding(Violation.POLICY_FROM_FUTURE, text)
        return None

    def _range(self, policy: Policy) -> Finding | None:
        """No plan of this robot runs back in time, jumps from knot to knot, or needs such velocities and gains."""
        n_q = policy.states.shape[1] // 2
        for what, values, low, high in (
            ("time between knots [s]", np.diff(policy.times), 0.0, _LONGEST_KNOT),
            ("step between knots [m, rad]", np.diff(policy.states[:, :n_q], axis=0), -_LARGEST_STEP, _LARGEST_STEP),
            ("velocity [m/s, rad/s]", policy.states[:, n_q:], -_LARGEST_VELOCITY, _LARGEST_VELOCITY),
            ("gain [N m/m ... N m s/rad]", policy.gains, -_LARGEST_GAIN, _LARGEST_GAIN),
            ("force [N]", policy.forces, -_LARGEST_FORCE, _LARGEST_FORCE),
        ):
            if not (values.min() >= low and values.max() <= high):
                text = f"{what} from {values.min():.3g} to {values.max():.3g}; allowed: {low:g} to {high:g}"
                return Finding(Violation.POLICY_RANGE, text)
        return None

    def _torque(self, policy: Policy) -> Finding | None:
        allowed = self.config.policy_torque_factor * self._torques
        within = np.abs(policy.controls) <= allowed
        if within.all():
            return None
        knot, control = np.argwhere(~within)[0]
        text = f"control {control} of knot {knot} is {policy.controls[knot, control]:.1f} N m"
        return Finding(Violation.POLICY_TORQUE, f"{text}; allowed: ±{allowed[control]:.1f}")

    def _away(self, policy: Policy, now: float, state: Array | None) -> Finding | None:
        """Planar coordinates: x, height, then angles."""
        if state is None:
            return None
        n_q = len(state) // 2
        away = np.abs(policy.sample(now).state - state)[1:n_q]
        allowed = np.full(n_q - 1, self.config.policy_angle)
        allowed[0] = self.config.policy_height
        within = away <= allowed
        if within.all():
            return None
        index = int(np.argmin(within))
        what, unit = PLANAR_JOINT_NAMES[index + 1], "m" if index == 0 else "rad"
        text = f"has {what} {away[index]:.2f} {unit} from where it is; allowed: {allowed[index]:.2f} {unit}"
        return Finding(Violation.POLICY_AWAY, text)


def _worst_name(fine: Array, names: tuple[str, ...]) -> str:
    return names[int(np.argmin(fine))]
