"""The supervisor: checks states and commands before they are used, and names the first violation.

Checks go from the cheap and certain to the rest: size (an array of another size cannot be read further), finite, age,
tilt, joint positions and velocities, torque. Each is written as `not (x < limit)`, so that a NaN trips it. Sequences
of states are checked by :mod:`contact_ddp_ros.control.state_plausibility`, policies by
:mod:`contact_ddp_ros.control.policy_validator`.

Violations that the safety checks find, and faults, with their descriptions.
"""

import math
from dataclasses import dataclass
from enum import Enum

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import short_numbers
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.control.config import SafetyConfig
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import COMPILED, READ, quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState


class ViolationKind(Enum):
    """Kinds of safety violations; the values are the names used in diagnostics."""

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
    NOT_EXECUTED = "not_executed"
    NO_POLICY = "no_policy"
    SOLVE_FAILED = "solve_failed"
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
class SafetyViolation:
    """One violation and its description: what was found, what is allowed."""

    violation: ViolationKind
    text: str

    def __post_init__(self) -> None:
        """Keep numbers short, however far from what is allowed they are."""
        object.__setattr__(self, "text", short_numbers(self.text))

    def __str__(self) -> str:
        """Name and text, for logs."""
        return f"{self.violation.value}: {self.text}"


@dataclass(frozen=True)
class Fault:
    """A finding that made the controller fall back to damping at `time` [s]; it stays until re-armed."""

    finding: SafetyViolation
    time: float

    @property
    def violation(self) -> ViolationKind:
        """Kind of the violation."""
        return self.finding.violation

    def __str__(self) -> str:
        """Name and text, for logs."""
        return str(self.finding)


Array = NDArray[np.float64]
_Pair = tuple[float, float]
"""Roll and pitch [rad]."""

_QUATERNION_TOLERANCE = 1e-2
"""Tolerance of an orientation's norm about one."""
_BASE_SIZES = {"position": 3, "orientation": 4, "linear_velocity": 3, "angular_velocity": 3}
_BEYOND_BELIEF = 2.0
"""Joint velocity over its limit that is a fault at once."""
_CONFIRMED = 0.5
"""Share of a velocity that the change of the joint's position must have to confirm it."""
_BEYOND_RETURN = 1.9
"""Tilt over its limit that is a fault at once."""
_STOPS = 5.0
"""Excess over a joint's margin, in margins, that a stop may yield to a thrown leg; further is a fault at once."""
_YIELD = 0.5
"""Excess over that of a joint that lies on its stop, in margins, while the robot gets up."""
_PAIR = nb.types.UniTuple(nb.float64, 2)
_TORQUE_SLACK = 1e-6
"""Rounding allowed in the sum of feedforward and drive torque, relative to the limit."""


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
        self._limits = config.state_timeout, config.clock_tolerance
        self._never = np.full(robot.n_joints, np.inf)
        self._fast_since, self._fast_from = self._never, np.zeros(robot.n_joints)
        """Times [s] and positions [rad] (12,) at which joints became too fast; infinite times elsewhere."""
        self._tilted_since: float | None = None
        """Time since which the trunk is tilted beyond its limits [s]."""
        self._beyond_since: float | None = None
        """Time since which a joint is beyond its range and the margin [s]."""
        self._beyond_at_rest = np.zeros(robot.n_joints)
        """Excess (12,) of joints beyond it when the robot last neither moved nor got up [rad]."""
        self._trunk_limits = config.trunk_speed, config.trunk_turn_rate

    def state(
        self,
        state: RobotState | None,
        now: float,
        ground: Ground | None = None,
        *,
        may_lie: bool = False,
        moving: bool = False,
        rising: bool = False,
        torques: Array | None = None,
    ) -> SafetyViolation | None:
        """The first thing wrong with a state at time `now` [s] above a ground, level by default; or None.

        One that `may_lie` may have any tilt, one that is `moving` may come back from more than the limits, and one that
        is `rising` may do so with its joints, which lying on their stops have left them.
        `torques` (12,) are those commanded at the last state [N m]; none by default.
        """
        if state is None:
            return SafetyViolation(ViolationKind.NO_STATE, "no robot state has arrived")
        tilts = (math.inf, math.inf) if may_lie else (self.config.roll, self.config.pitch)
        lean = (0.0, 0.0) if ground is None else ground.parallel(float(quaternion_to_rpy(state.orientation)[2]))
        if self._is_fine(state, now, lean, tilts):
            self._tilted_since = self._beyond_since = None
            self._beyond_at_rest[:] = 0.0
            self._fast_since = self._never
            return None
        torques = np.zeros(len(self._lower)) if torques is None else torques
        return self._first_finding(state, now, lean, tilts, moving, rising, torques)

    def _is_fine(self, state: RobotState, now: float, lean: _Pair, tilts: _Pair) -> bool:
        """All checks of a state at once, compiled; what exactly is wrong is for the ones below to say."""
        return state.has_sizes(len(self._lower)) and _is_fine(
            state.time,
            now,
            state.position,
            state.orientation,
            state.linear_velocity,
            state.angular_velocity,
            state.joint_positions,
            state.joint_velocities,
            self._lower,
            self._upper,
            self._velocity,
            (*self._limits, *tilts),
            self._trunk_limits,
            lean,
        )

    def _first_finding(
        self, state: RobotState, now: float, lean: _Pair, tilts: _Pair, moving: bool, rising: bool, torques: Array
    ) -> SafetyViolation | None:
        return (
            self._state_size(state)
            or self._state_finite(state)
            or self._state_age(state.time, now)
            or self._tilt(state, now, lean, tilts, self.config.tilt_time if moving else 0.0)
            or self._joint_positions(state, now, moving, rising)
            or self._trunk_velocity(state)
            or self._joint_velocities(state, torques)
        )

    def command(self, feedforward: Array, total: Array) -> SafetyViolation | None:
        """True if joint torques, as fed forward and as the drives will add them up (12,) [N m], are within limits."""
        if _within(feedforward, total, self._effort):
            return None
        if not (np.isfinite(feedforward).all() and np.isfinite(total).all()):
            return SafetyViolation(
                ViolationKind.COMMAND_NOT_FINITE, f"torque of {JOINT_NAMES[int(np.argmin(np.isfinite(total)))]}"
            )
        for torques in (feedforward, total):
            within = np.abs(torques) <= self._effort
            if not within.all():
                joint = int(np.argmin(within))
                text = f"{JOINT_NAMES[joint]} at {torques[joint]:.1f} N m; allowed: {self._effort[joint]:.1f}"
                return SafetyViolation(ViolationKind.TORQUE, text)
        return None

    def _state_size(self, state: RobotState) -> SafetyViolation | None:
        for name, allowed in self._shapes.items():
            shape = np.shape(getattr(state, name))
            if shape != allowed:
                return SafetyViolation(ViolationKind.STATE_SIZE, f"{name} has shape {shape}; allowed: {allowed}")
        return None

    def _state_finite(self, state: RobotState) -> SafetyViolation | None:
        if state.is_finite():
            return None
        bad = [name for name in ("time", *self._shapes) if not np.isfinite(getattr(state, name)).all()]
        return SafetyViolation(ViolationKind.STATE_NOT_FINITE, f"not a finite number in {', '.join(bad)}")

    def _state_age(self, stamp: float, now: float) -> SafetyViolation | None:
        age = now - stamp
        if not age <= self.config.state_timeout:
            text = f"the robot state is {1e3 * age:.1f} ms old; allowed: {1e3 * self.config.state_timeout:.1f} ms"
            return SafetyViolation(ViolationKind.STATE_STALE, text)
        if not age >= -self.config.clock_tolerance:
            text = f"the robot state is stamped {-1e3 * age:.1f} ms ahead of the clock"
            return SafetyViolation(ViolationKind.STATE_FROM_FUTURE, text)
        return None

    def _tilt(
        self, state: RobotState, now: float, lean: _Pair, tilts: _Pair, tilt_time: float
    ) -> SafetyViolation | None:
        """Tilted for too long, or so far that nothing brings it back."""
        norm = math.hypot(*state.orientation.tolist())
        if not abs(norm - 1.0) < _QUATERNION_TOLERANCE:
            return SafetyViolation(ViolationKind.ORIENTATION, f"the orientation has norm {norm:.3f}; allowed: 1")
        angles = quaternion_to_rpy(state.orientation).tolist()[:2]
        away = [angle - own for angle, own in zip(angles, lean, strict=True)]
        shares = np.abs(away) / tilts
        if (shares < 1.0).all():
            self._tilted_since = None
            return None
        since = self._tilted_since = _earlier(self._tilted_since, now)
        worst = int(np.argmax(shares))
        returns = bool(shares[worst] < _BEYOND_RETURN)
        if returns and now - since < tilt_time:
            return None
        where = f" about the ground's {lean[worst]:.2f}" if abs(lean[worst]) > 0.005 else ""
        longer = f", beyond it for {tilt_time:.2f} s" if returns and tilt_time > 0.0 else ""
        text = f"{('roll', 'pitch')[worst]} is {angles[worst]:.2f} rad; allowed: ±{tilts[worst]:.2f}{where}{longer}"
        return SafetyViolation(ViolationKind.TILT, text)

    def _joint_positions(self, state: RobotState, now: float, moving: bool, rising: bool) -> SafetyViolation | None:
        """Beyond the range for too long or going there while it gets up, or further than any stop gives way."""
        q = state.joint_positions
        beyond = np.maximum(self._lower - q, q - self._upper)
        joint = int(np.argmax(beyond))
        if beyond[joint] < 0.0:
            self._beyond_since = None
            return None
        since = self._beyond_since = _earlier(self._beyond_since, now)
        returns = moving and now - since < self.config.position_time
        lain = self._beyond_at_rest
        if not moving and not rising:
            lain[:] = np.maximum(beyond, 0.0)
        yields = np.where(lain > 0.0, lain + _YIELD * self.config.position_margin, 0.0)
        returns |= rising and bool((beyond < yields).all())
        if returns and beyond[joint] < (_STOPS - 1.0) * self.config.position_margin:
            return None
        text = f"{JOINT_NAMES[joint]} at {q[joint]:.2f} rad; allowed: {self._lower[joint]:.2f} to "
        return SafetyViolation(ViolationKind.JOINT_POSITION, f"{text}{self._upper[joint]:.2f}")

    def _joint_velocities(self, state: RobotState, torques: Array) -> SafetyViolation | None:
        """Too fast for too long, or so fast that it cannot be true.

        A joint that the ground or the trunk throws comes back. It has longer than one that is driven on by command, or
        whose velocity its position does not confirm.
        """
        q, v, since, config = state.joint_positions, state.joint_velocities, self._fast_since, self.config
        fast = np.abs(v) >= self._velocity
        self._fast_from = np.where(fast & np.isfinite(since), self._fast_from, q)
        self._fast_since = since = np.where(fast, np.minimum(since, state.time), np.inf)
        lasted, direction = state.time - since, np.sign(v)
        confirmed = direction * (q - self._fast_from) >= _CONFIRMED * self._velocity * lasted
        coasts = confirmed & (direction * torques <= _TORQUE_SLACK * self._effort)
        too_long = lasted >= np.where(coasts, max(config.coasting_time, config.velocity_time), config.velocity_time)
        shares = np.where(too_long | (np.abs(v) >= _BEYOND_BELIEF * self._velocity), np.abs(v) / self._velocity, 0.0)
        joint = int(np.argmax(shares))
        if shares[joint] < 1.0:
            return None
        for_long = f" for {1e3 * lasted[joint]:.0f} ms" if too_long[joint] else ""
        text = f"{JOINT_NAMES[joint]} at {v[joint]:.1f} rad/s{for_long}; allowed: ±{self._velocity[joint]:.1f}"
        return SafetyViolation(ViolationKind.JOINT_VELOCITY, text)

    def _trunk_velocity(self, state: RobotState) -> SafetyViolation | None:
        for name, unit, limit in (
            ("linear_velocity", "m/s", self.config.trunk_speed),
            ("angular_velocity", "rad/s", self.config.trunk_turn_rate),
        ):
            largest = float(np.abs(getattr(state, name)).max())
            if not largest < limit:
                text = f"{name} has a component of {largest:.3g} {unit}; allowed: ±{limit:g}"
                return SafetyViolation(ViolationKind.TRUNK_VELOCITY, text)
        return None


def _earlier(since: float | None, now: float) -> float:
    """Beginning of something that goes on `now` [s]; a clock that has jumped back begins it anew."""
    return now if since is None else min(since, now)


@njit(nb.boolean(READ, READ, READ), **COMPILED)
def _within(feedforward, total, limits):  # type: ignore[no-untyped-def]
    """True if every torque lies in ± its limit; a NaN does not."""
    inside = True
    for fed, summed, limit in zip(feedforward, total, limits):
        inside &= abs(fed) <= limit and abs(summed) <= limit
    return inside


@njit(nb.boolean(READ, nb.float64), **COMPILED)
def _below(values, limit):  # type: ignore[no-untyped-def]
    """True if every value lies strictly within ± one limit; a NaN does not."""
    inside = True
    for value in values:
        inside &= abs(value) < limit
    return inside


@njit(
    nb.boolean(nb.float64, nb.float64, *[READ] * 9, nb.types.UniTuple(nb.float64, 4), _PAIR, _PAIR),
    **COMPILED,
)
def _is_fine(  # type: ignore[no-untyped-def]
    stamp,
    now,
    position,
    orientation,
    linear_velocity,
    angular_velocity,
    joint_positions,
    joint_velocities,
    lower,
    upper,
    velocity,
    limits,
    trunk_limits,
    lean,
):
    state_timeout, clock_tolerance, roll, pitch = limits
    if not (-clock_tolerance <= now - stamp <= state_timeout) or not _below(position, np.inf):
        return False
    norm = math.sqrt((orientation * orientation).sum())
    if not abs(norm - 1.0) < _QUATERNION_TOLERANCE:
        return False
    angles = quaternion_to_rpy(orientation)
    if not (abs(angles[0] - lean[0]) < roll and abs(angles[1] - lean[1]) < pitch):
        return False
    for j in range(len(lower)):
        if not (lower[j] < joint_positions[j] < upper[j] and abs(joint_velocities[j]) < velocity[j]):
            return False
    return _below(linear_velocity, trunk_limits[0]) and _below(angular_velocity, trunk_limits[1])
