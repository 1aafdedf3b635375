"""Plausibility of consecutive robot states: no jump faster than the robot can move, no frozen state while it moves.

A measurement may pass every limit and still be wrong: an estimator that has lost the robot, a driver that repeats its
last message under new stamps, legs exchanged on the wire. No joint is faster than its limit and no trunk is thrown, so

    |q_k − q_last| <= v_max (t_k − t_last) + joint_jump                      (likewise position and tilt of the trunk)

and while the robot bounds its joints and its trunk never repeat themselves to the last bit for `stuck_timeout`. One
that stands may: how long it has stood still before it bounds says nothing.

A trunk that rests may, too, while its joints only begin to move: simulators send no change that is too small for them.

A source of the trunk's place may correct itself in steps: a map, motion capture, a loop that closes. Nothing has moved
then, and control lives by velocity and attitude: :class:`PlaceAnchor` keeps the frame in which the robot walks.

States that have jumped and then go on from where they jumped to are believed after a moment: the robot was put there,
by a reset of the simulator for one. The jump itself has been found by then, and what moved the robot has been stopped.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.control.config import SafetyConfig
from contact_ddp_ros.control.safety import SafetyViolation, ViolationKind
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import COMPILED, READ, WRITTEN, quaternion_to_matrix, wrap_angle
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

_MEMORY = 0.1
"""A state older than this says nothing about the present one [s]."""

_SETTLED = 0.008
"""States that have gone on for this long from where they jumped to are where the robot is [s]."""

_BEGINNING = 2e-3
"""Motion of a joint that need not have moved the trunk yet [rad]."""

_THROWN = 50.0
"""Acceleration that a trunk may have between two states, as at an impact [m/s^2]."""

_FARTHEST = 1e7
"""Distance from the origin beyond which no map has a robot [m]."""

_UNIT = 0.01
"""Largest deviation of a quaternion's norm from 1."""

_KICK = 2.0
"""Change of the trunk's velocity from one state to the next that no correction of its place explains [m/s]."""

_MOST_JUMPS, _JUMPS_WITHIN = 10, 1.0
"""Number of jumps of the trunk's place, within a time [s], of a source that is not to be believed."""

_PARTS = ("joint", "trunk")
_ALL_NEW = (True, True)
"""Both parts have changed."""


class StateContinuity:
    """Compares each state, which has passed the supervisor's checks, with the last one that was believed."""

    def __init__(self, robot: Robot, config: SafetyConfig) -> None:
        """Take velocity limits from the robot, margins and time-outs from the configuration."""
        self._speed = config.velocity_factor * robot.velocity_limits
        self._config = config
        self._last: RobotState | None = None
        self._resting: RobotState | None = None
        self._jumped: RobotState | None = None
        self._jumped_at = -math.inf
        self._changed = {"joint": -math.inf, "trunk": -math.inf}

    def forget(self) -> None:
        """The next state may be any."""
        self._last = self._jumped = None

    def take_over(self, other: "StateContinuity") -> None:
        """Go on from where another one, of other parameters, was."""
        self._last, self._changed = other._last, other._changed
        self._resting, self._jumped, self._jumped_at = other._resting, other._jumped, other._jumped_at

    def check(self, state: RobotState, moving: bool) -> SafetyViolation | None:
        """Fault of the sequence up to `state`, or None; `moving`: the robot is to be in motion."""
        last = self._last
        if last is None or not 0.0 < state.time - last.time <= _MEMORY:
            if last is None or state.time != last.time:
                self._believe(state)
            return None
        near, *changes = self._compare(last, state)
        jump = None if near else self._jump(last, state)
        if jump is not None and not self._has_settled(state):
            return jump
        finding = self._stuck(state, changes) if moving else None
        if finding is None:
            self._believe(state, changes if moving else _ALL_NEW)
        return finding

    def _has_settled(self, state: RobotState) -> bool:
        """True if a state that has jumped goes on from others that jumped there, for long enough."""
        before, self._jumped = self._jumped, state
        if before is None or not 0.0 < state.time - before.time <= _MEMORY or self._jump(before, state) is not None:
            self._jumped_at = state.time
        return state.time - self._jumped_at >= _SETTLED

    def _believe(self, state: RobotState, changes: Sequence[bool] = _ALL_NEW) -> None:
        for part, changed in zip(_PARTS, changes):
            if changed:
                self._changed[part] = state.time
                if part == "trunk":
                    self._resting = state
        self._last, self._jumped = state, None

    def _compare(self, last: RobotState, state: RobotState) -> tuple[bool, bool, bool]:
        """True if a state is as near to the last one as it can be, and whether joints and trunk differ from it."""
        config, dt = self._config, state.time - last.time
        return _compare(
            last.joint_positions,
            last.joint_velocities,
            last.position,
            last.orientation,
            last.linear_velocity,
            last.angular_velocity,
            state.joint_positions,
            state.joint_velocities,
            state.position,
            state.orientation,
            state.linear_velocity,
            state.angular_velocity,
            self._speed,
            dt,
            config.joint_jump,
            config.trunk_speed * dt + config.base_jump,
            config.trunk_turn_rate * dt + config.turn_jump,
        )

    def _jump(self, last: RobotState, state: RobotState) -> SafetyViolation | None:
        dt, config = state.time - last.time, self._config
        moved = np.abs(state.joint_positions - last.joint_positions)
        within = moved <= self._speed * dt + config.joint_jump
        if not within.all():
            joint = int(np.argmin(within))
            allowed = self._speed[joint] * dt + config.joint_jump
            return _jump_finding(JOINT_NAMES[joint], moved[joint], allowed, "rad", dt)
        distance = float(np.abs(state.position - last.position).max())
        if not distance <= config.trunk_speed * dt + config.base_jump:
            return _jump_finding("the trunk", distance, config.trunk_speed * dt + config.base_jump, "m", dt)
        angle = _turned(state.orientation, last.orientation)
        if not angle <= config.trunk_turn_rate * dt + config.turn_jump:
            return _jump_finding("the trunk", angle, config.trunk_turn_rate * dt + config.turn_jump, "rad", dt)
        return None

    def _stuck(self, state: RobotState, changes: Sequence[bool]) -> SafetyViolation | None:
        for part, changed in zip(_PARTS, changes):
            if changed:
                continue
            still = state.time - self._changed[part]
            if part == "trunk" and self._begins_to_move(state):
                continue
            if not still <= self._config.stuck_timeout:
                text = f"no {part} state has changed for {1e3 * still:.0f} ms; "
                text += f"allowed: {1e3 * self._config.stuck_timeout:.0f} ms"
                return SafetyViolation(ViolationKind.STATE_STUCK, text)
        return None

    def _begins_to_move(self, state: RobotState) -> bool:
        """True if no joint has moved by much since the trunk last did."""
        resting = self._resting
        return resting is not None and bool(
            (np.abs(state.joint_positions - resting.joint_positions) <= _BEGINNING).all()
        )


class PlaceAnchor:
    """Frame in which the trunk's place and heading go on where their source corrects them in steps.

    Attributes:
        config: limits of the steps.
        offset, yaw: (3,) [m] and angle [rad] of that frame in `odom`: p = turn(yaw) p_odom + offset.
        jumps: number of steps so far.
    """

    def __init__(self, config: SafetyConfig) -> None:
        """Begin with the source's own frame."""
        self.config, self.jumps = config, 0
        self.release()

    def release(self) -> None:
        """Go on in the source's own frame."""
        self.offset, self.yaw = np.zeros(3), 0.0
        self._last: RobotState | None = None
        self._times: deque[float] = deque(maxlen=_MOST_JUMPS)

    @property
    def moved(self) -> bool:
        """True if the frame is another than the source's own."""
        return self.yaw != 0.0 or any(self.offset.tolist())

    def believes(self, state: RobotState) -> bool:
        """True if a state of the right sizes has a place and an attitude at all, from which a frame can be told."""
        near = max(map(abs, state.position.tolist())) < _FARTHEST
        return near and abs(math.hypot(*state.orientation.tolist()) - 1.0) < _UNIT and state.is_finite()

    def place(self, state: RobotState) -> RobotState:
        """A state in that frame."""
        if not self.moved:
            return state
        c, s = math.cos(0.5 * self.yaw), math.sin(0.5 * self.yaw)
        x, y, z, w = state.orientation.tolist()
        position = quaternion_to_matrix(np.array([0.0, 0.0, s, c])) @ state.position + self.offset
        orientation = np.array([c * x - s * y, c * y + s * x, c * z + s * w, c * w - s * z])
        return replace(state, position=position, orientation=orientation)

    def follow(self, state: RobotState) -> RobotState:
        """A new state that is believed in that frame, which takes up a step of its place."""
        last = self._last
        if last is not None and state.time == last.time:
            return self.place(state)
        self._last = state
        if last is None or not 0.0 < state.time - last.time <= _MEMORY:
            return self.place(state)
        dt, config = state.time - last.time, self.config
        went, step, turn, kick = _stepped(
            last.position,
            last.orientation,
            last.linear_velocity,
            last.angular_velocity,
            state.position,
            state.orientation,
            state.linear_velocity,
            dt,
        )
        far, kicked = step > config.base_jump + 0.5 * _THROWN * dt * dt, kick > _KICK
        if kicked or (not far and abs(turn) <= config.turn_jump + config.trunk_turn_rate * dt):
            return self.place(state)
        was = self.place(replace(state, position=went))
        self.yaw = wrap_angle(self.yaw - turn)
        self.offset = np.zeros(3)
        self.offset = was.position - self.place(state).position
        self.jumps += 1
        self._times.append(state.time)
        return self.place(state)

    def finding(self, now: float) -> SafetyViolation | None:
        """Violation by a place that jumps all the time, at `now` [s]; None where it does not."""
        if len(self._times) < _MOST_JUMPS or now - self._times[0] > _JUMPS_WITHIN:
            return None
        text = f"the trunk's place has jumped {_MOST_JUMPS} times within {now - self._times[0]:.2f} s"
        return SafetyViolation(ViolationKind.STATE_JUMP, f"{text}; allowed: fewer within {_JUMPS_WITHIN:g} s")


@njit(nb.float64(READ, READ), **COMPILED)
def _turned(one, other):  # type: ignore[no-untyped-def]
    """Angle between two orientations (4,) [rad]."""
    return 2.0 * math.acos(min(1.0, abs((one * other).sum())))


@njit(nb.types.Tuple((WRITTEN, nb.float64, nb.float64, nb.float64))(*[READ] * 7, nb.float64), **COMPILED)
def _stepped(p0, o0, l0, a0, p, o, l, dt):  # type: ignore[no-untyped-def]
    """Place to which the trunk has gone (3,) [m] in dt, how far place [m] and heading [rad] are from there, and the
    largest change of a velocity [m/s].

    The heading is the part about the vertical of the rotation from the expected attitude to the present one.
    """
    before = quaternion_to_matrix(o0)
    went, up = p0 + dt * (before @ np.ascontiguousarray(l0)), dt * (before @ np.ascontiguousarray(a0))
    dot = o[0] * o0[0] + o[1] * o0[1] + o[2] * o0[2] + o[3] * o0[3]
    turn = 2.0 * math.atan2(o[2] * o0[3] - o[3] * o0[2] - o[0] * o0[1] + o[1] * o0[0], dot)
    return went, np.abs(p - went).max(), wrap_angle(turn - up[2]), np.abs(l - l0).max()


@njit(nb.types.UniTuple(nb.boolean, 3)(*[READ] * 13, *[nb.float64] * 4), **COMPILED)
def _compare(q0, v0, p0, o0, l0, a0, q, v, p, o, l, a, speed, dt, joint_jump, distance, angle):  # type: ignore[no-untyped-def]
    """:meth:`StateContinuity._compare`: joints, position, orientation, linear and angular velocity before and now."""
    near = _turned(o, o0) <= angle
    joints, trunk = False, (o != o0).any()
    for j in range(len(q)):
        near &= abs(q[j] - q0[j]) <= speed[j] * dt + joint_jump
        joints |= q[j] != q0[j] or v[j] != v0[j]
    for k in range(3):
        near &= abs(p[k] - p0[k]) <= distance
        trunk |= p[k] != p0[k] or l[k] != l0[k] or a[k] != a0[k]
    return near, joints, trunk


def _jump_finding(what: str, found: float, allowed: float, unit: str, dt: float) -> SafetyViolation:
    text = f"{what} moved {found:.2f} {unit} in {1e3 * dt:.1f} ms; allowed: {allowed:.2f} {unit}"
    return SafetyViolation(ViolationKind.STATE_JUMP, text)
