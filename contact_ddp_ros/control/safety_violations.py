"""Violations that the safety checks find, and faults, with their descriptions."""

from dataclasses import dataclass
from enum import Enum

from contact_ddp_ros.base.errors import short_numbers


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
class Finding:
    """One violation and its description: what was found, what is allowed."""

    violation: Violation
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

    finding: Finding
    time: float

    @property
    def violation(self) -> Violation:
        """What was wrong."""
        return self.finding.violation

    def __str__(self) -> str:
        """Name and text, for logs."""
        return str(self.finding)
