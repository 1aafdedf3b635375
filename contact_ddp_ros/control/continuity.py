"""What two states that follow each other tell: one that has jumped cannot be true, one that never changes is not alive.

A measurement may pass every limit and still be wrong: an estimator that has lost the robot, a driver that repeats its
last message under new stamps, legs exchanged on the wire. No joint is faster than its limit and no trunk is thrown, so

    |q_k − q_last| <= v_max (t_k − t_last) + joint_jump                      (likewise position and tilt of the trunk)

and while the robot bounds its joints and its trunk never repeat themselves to the last bit for `stuck_timeout`. One
that stands may: how long it has stood still before it bounds says nothing.
"""

import math

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.config import SafetyConfig
from contact_ddp_ros.control.findings import Finding, Violation
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

_MEMORY = 0.1
"""A state older than this says nothing about the present one [s]."""

_JOINT_FIELDS = ("joint_positions", "joint_velocities")
_BASE_FIELDS = ("position", "orientation", "linear_velocity", "angular_velocity")


class StateContinuity:
    """Compares each state, which has passed the supervisor's checks, with the last one that was believed."""

    def __init__(self, robot: Robot, config: SafetyConfig) -> None:
        """Take velocity limits from the robot, margins and time-outs from the configuration."""
        self._speed = config.velocity_factor * robot.velocity_limits
        self._config = config
        self._last: RobotState | None = None
        self._changed = {"joint": -math.inf, "trunk": -math.inf}

    def forget(self) -> None:
        """The next state may be any."""
        self._last = None

    def take_over(self, other: "StateContinuity") -> None:
        """Go on from where another one, of other parameters, was."""
        self._last, self._changed = other._last, other._changed

    def check(self, state: RobotState, moving: bool) -> Finding | None:
        """What is wrong with the sequence up to `state`, or None; `moving`: the robot is to be in motion."""
        last = self._last
        if last is None or not 0.0 < state.time - last.time <= _MEMORY:
            if last is None or state.time != last.time:
                self._believe(state)
            return None
        finding = self._jump(last, state) or (self._stuck(last, state) if moving else None)
        if finding is None:
            self._believe(state, last if moving else None)
        return finding

    def _believe(self, state: RobotState, last: RobotState | None = None) -> None:
        for part, fields in (("joint", _JOINT_FIELDS), ("trunk", _BASE_FIELDS)):
            if last is None or _differ(last, state, fields):
                self._changed[part] = state.time
        self._last = state

    def _jump(self, last: RobotState, state: RobotState) -> Finding | None:
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
        angle = 2.0 * math.acos(min(1.0, abs(float(state.orientation @ last.orientation))))
        if not angle <= config.trunk_turn_rate * dt + config.turn_jump:
            return _jump_finding("the trunk", angle, config.trunk_turn_rate * dt + config.turn_jump, "rad", dt)
        return None

    def _stuck(self, last: RobotState, state: RobotState) -> Finding | None:
        for part, fields in (("joint", _JOINT_FIELDS), ("trunk", _BASE_FIELDS)):
            still = 0.0 if _differ(last, state, fields) else state.time - self._changed[part]
            if not still <= self._config.stuck_timeout:
                text = f"no {part} state has changed for {1e3 * still:.0f} ms; "
                text += f"allowed: {1e3 * self._config.stuck_timeout:.0f} ms"
                return Finding(Violation.STATE_STUCK, text)
        return None


def _differ(one: RobotState, other: RobotState, fields: tuple[str, ...]) -> bool:
    return any((getattr(one, field) != getattr(other, field)).any() for field in fields)


def _jump_finding(what: str, found: float, allowed: float, unit: str, dt: float) -> Finding:
    text = f"{what} moved {found:.2f} {unit} in {1e3 * dt:.1f} ms; allowed: {allowed:.2f} {unit}"
    return Finding(Violation.STATE_JUMP, text)
