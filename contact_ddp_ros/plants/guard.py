"""Safety filter of the robot's joint commands: watchdog, limits, soft start.

    damping --(the controller damps, too)--> ready --(it commands positions)--> enabled
       ^---------(silence, malformed commands, no state: trip)---------'  |
       '----------------------(the controller damps)---------------------'

After a trip the joints damp until the controller itself has damped, so somebody has to tell it to stand again; the same
holds at the start. From the first command with positions on, stiffness and feedforward grow from zero while the damping
gives way to the drives' own. Targets are kept within the joints' range and everything that the drives will make of them
within the torque limits.

Times are those of a clock that does not jump; where time is simulated, of that one.
"""

from dataclasses import dataclass
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.robot.joint_pd import JointTargets, limited_command
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

Array = NDArray[np.float64]

_NOT_YET = "the controller has not damped yet"


@dataclass(frozen=True)
class GuardConfig:
    """Limits and timeouts of the safety filter."""

    torque_share: float = parameter(
        1.0, low=0.05, high=1.0, description="largest torque over the actuators' limits; choose less for first tests"
    )
    soft_start: float = parameter(
        0.5, low=0.0, high=5.0, unit="s", description="time in which stiffness and torque grow after damping"
    )
    command_timeout: float = parameter(
        0.02,
        low=0.002,
        high=1.0,
        unit="s",
        description="time without a command of the controller after which joints damp",
    )
    state_timeout: float = parameter(
        0.08,
        low=0.002,
        high=1.0,
        unit="s",
        description="time without a state of the robot after which joints damp; the controller bridges as much",
    )


class CommandGuard:
    """Converts joint commands to torque targets within limits; for several threads."""

    def __init__(self, robot: Robot, gains: DriveGains, config: GuardConfig) -> None:
        """`gains`: those of the drives, equal to the controller's."""
        self._lock = RLock()
        self._config = config
        self._robot = robot
        self._gains = gains
        self._damping = JointCommand.damping(robot.n_joints)
        self._command = self._damping
        self.stamp = 0.0
        """Stamp of the state that the last command answered [s]."""
        self.obstacle = ""
        """Reason not to begin to follow commands; empty where there is none."""
        self._fault: str | None = _NOT_YET
        self._enabled: float | None = None
        self._last_command = -np.inf
        self._measured: tuple[RobotState, float] | None = None
        self._tripped: float | None = None

    def tune(self, gains: DriveGains, config: GuardConfig) -> None:
        """Replace gains and limits."""
        self._gains, self._config = gains, config

    @property
    def fault(self) -> str | None:
        """Reason why the joints damp whatever the command; None where they follow commands."""
        return self._fault

    @property
    def tripped(self) -> float | None:
        """Time of the trip [s], until the controller has damped; None otherwise."""
        return self._tripped

    @property
    def enabled(self) -> bool:
        """True if torque targets other than damping are sent."""
        return self._enabled is not None

    @property
    def state(self) -> RobotState | None:
        """The last state of the robot; None before the first."""
        return None if self._measured is None else self._measured[0]

    def measured(self, state: RobotState, now: float) -> None:
        """Process a state of the robot, received at `now` [s]."""
        self._measured = (state, now)

    def command(self, command: JointCommand, stamp: float, now: float) -> None:
        """Process a command received at `now` [s] for the state of `stamp` [s]; a malformed one trips the filter."""
        with self._lock:
            self.stamp, self._last_command = stamp, now
            if not self._well_formed(command):
                self.trip("joint command of another size or not finite", now)
            elif command.positions is None:
                self._fault = self._tripped = None
                self._damp()
            elif self._fault is None and self._enabled is None and self.obstacle:
                self.trip(self.obstacle, now)
            elif self._fault is None:
                if self._enabled is None:
                    self._enabled = now
                self._command = command

    def trip(self, reason: str, now: float, stamp: float | None = None) -> None:
        """Damp from `now` [s] on, until the controller has damped, too.

        `stamp` [s] is that of the state that this answers, if any.
        """
        with self._lock:
            self.stamp = self.stamp if stamp is None else stamp
            if self._enabled is not None or self._fault is None:
                self._fault, self._tripped = reason, now
            self._damp()

    def targets(self, now: float) -> tuple[JointCommand, DriveGains]:
        """Joint command for `now` [s], after the watchdog's check, and the gains to execute it with."""
        with self._lock:
            self._watch(now)
            return self._limited(now)

    def _well_formed(self, command: JointCommand) -> bool:
        parts = [command.velocities, command.torques]
        parts += [] if command.positions is None else [command.positions]
        return all(np.shape(part) == (self._robot.n_joints,) and bool(np.isfinite(part).all()) for part in parts)

    def _damp(self) -> None:
        self._command, self._enabled = self._damping, None

    def _watch(self, now: float) -> None:
        if self._enabled is None:
            return
        timeout, silence = self._config.command_timeout, now - self._last_command
        if not silence <= timeout:
            self.trip(f"no joint command for {1e3 * silence:.0f} ms; allowed: {1e3 * timeout:.0f} ms", now)
            return
        timeout, age = self._config.state_timeout, np.inf if self._measured is None else now - self._measured[1]
        if not age <= timeout:
            self.trip(f"no robot state for {1e3 * age:.0f} ms; allowed: {1e3 * timeout:.0f} ms", now)

    def _limited(self, now: float) -> tuple[JointCommand, DriveGains]:
        """The present command within the limits, and the gains to execute it with."""
        command, measured = self._command, self._measured
        if self._enabled is None or command.positions is None or measured is None:
            return self._damping, self._gains
        share = 1.0
        if self._config.soft_start > 0.0:
            share = min(max((now - self._enabled) / self._config.soft_start, 0.0), 1.0)
        gains = self._gains
        ramped = DriveGains(
            kp=share * gains.kp, kd=share * gains.kd + (1.0 - share) * gains.kd_damping, kd_damping=gains.kd_damping
        )
        robot, limits = self._robot, self._config.torque_share * self._robot.effort_limits
        targets = JointTargets(
            np.clip(command.positions, robot.lower, robot.upper),
            np.clip(command.velocities, -robot.velocity_limits, robot.velocity_limits),
            share * command.torques,
        )
        return limited_command(targets, measured[0], ramped, limits).command, ramped
