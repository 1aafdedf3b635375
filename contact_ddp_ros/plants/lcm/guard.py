"""Safety filter of the robot's joint commands: watchdog, limits, soft start.

    damping --(the controller damps, too)--> ready --(it commands positions)--> enabled
       ^---------(silence, malformed commands, no state: trip)---------'  |
       '----------------------(the controller damps)---------------------'

After a trip the joints damp until the controller itself has damped, so somebody has to tell it to stand again; the same
holds at the start. From the first command with positions on, stiffness and feedforward grow from zero while the damping
gives way to the drives' own. Targets are kept within the joints' range and everything that the drives will make of them
within the torque limits.

Times are those of a clock that does not jump; where time is simulated, of that one.

Comparison of what the robot's joints execute with the torque targets that were sent to it.

Cheetah-Software publishes after every tick what its drives are commanded (`leg_control_command`). The robot follows
where that is, bit for bit in single precision, a recent frame. It does not while its program brings the legs to a pose
of its own, under the radio's stop, after its own time-out, or where somebody else commands it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.plants.lcm import conventions
from contact_ddp_ros.plants.lcm.codec import LEG_CONTROL_COMMAND, PD_TAU_TARGETS, Frame, decode, encode
from contact_ddp_ros.robot.joint_pd import JointTargets, limited_command
from contact_ddp_ros.robot.joints import FOOT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

_OLDEST: Final = 0.03
"""Age of targets from which on executing them counts as not following: the robot's own time-out [s]."""
_MEMORY: Final = 0.5
"""Memory of sent targets, to tell old ones from somebody else's [s]."""
_SENT: Final = ("q_des", "qd_des", "tau_ff", "kp", "kd")
_EXECUTED: Final = ("q_des", "qd_des", "tau_ff", "kp_joint", "kd_joint")
_CARTESIAN: Final = ("f_ff", "kp_cartesian", "kd_cartesian")
"""Members that move the legs by way of the feet, which no torque targets do."""


class ExecutionWatch:
    """Remembers sent targets and judges executed commands; one thread may send while another one receives."""

    def __init__(self) -> None:
        """Start before anything was sent."""
        self._lock = Lock()
        self._sent: dict[bytes, float] = {}
        """Times of the last sending of each frame [s], in single precision and in that order."""
        self._damped = -np.inf
        """Time of the last frame without stiffness and feedforward [s]."""
        self._followed = False
        """Flag of a frame with stiffness or feedforward sent after that."""

    def sent(self, targets: bytes, now: float) -> None:
        """Remember torque targets that are sent at `now` [s]."""
        frame = decode(targets, [PD_TAU_TARGETS])
        key, pulls = _key(frame, _SENT), _any(frame, ("tau_ff", "kp"))
        with self._lock:
            self._sent.pop(key, None)
            self._sent[key] = now
            self._followed = pulls
            if not pulls:
                self._damped = now
            while self._sent and now - next(iter(self._sent.values())) > _MEMORY:
                del self._sent[next(iter(self._sent))]

    def executed(self, data: bytes, now: float) -> str:
        """Description of what the joints do instead of what was sent, from a frame received at `now` [s].

        Empty where they follow. Damping is harmless, whoever commands it, unless targets other than damping were sent.

        Raises:
            LinkError: the frame is malformed.
        """
        frame = decode(data, [LEG_CONTROL_COMMAND])
        pulls = _any(frame, ("tau_ff", "kp_joint", *_CARTESIAN))
        with self._lock:
            sent = None if _any(frame, _CARTESIAN) else self._sent.get(_key(frame, _EXECUTED))
            damping_is_wanted = not self._followed or now - self._damped <= _OLDEST
        if sent is not None and now - sent <= _OLDEST:
            return ""
        if pulls and sent is not None:
            return f"the joints execute targets {1e3 * (now - sent):.0f} ms old; allowed: {1e3 * _OLDEST:.0f} ms"
        if pulls:
            return (
                f"somebody else moves the legs, with {frame.array('kp_joint').max():.0f} N m/rad: the robot's program"
                " on the way to its initial pose, or another sender of targets"
            )
        if not _any(frame, ("kd_joint",)):
            return "the joints are limp: the radio's stop is pressed, or the robot's program disables the legs"
        return "" if damping_is_wanted else "the joints damp instead of following targets: damp, then stand"


def _key(frame: Frame, names: tuple[str, ...]) -> bytes:
    return np.concatenate([frame.array(name) for name in names]).astype(np.float32).tobytes()


def _any(frame: Frame, names: tuple[str, ...]) -> bool:
    return any(bool(frame.array(name).any()) for name in names)


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
    """Converts joint commands to torque targets within limits; one thread passes states, another one commands."""

    def __init__(self, robot: Robot, gains: DriveGains, config: GuardConfig) -> None:
        """`gains`: those of the drives, equal to the controller's."""
        self._config = config
        self._robot = robot
        self._gains = gains
        self._damping = JointCommand.damping(robot.n_joints)
        self._command = self._damping
        self._stamp = 0.0
        self._fault: str | None = _NOT_YET
        self._enabled: float | None = None
        self._last_command = -np.inf
        self._measured: tuple[RobotState, float] | None = None
        self._tripped: float | None = None
        self._count = 0
        self._contacts = conventions.contact_phases((True,) * len(FOOT_NAMES))

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
        self._stamp, self._last_command = stamp, now
        if not self._well_formed(command):
            self.trip("joint command of another size or not finite", now)
        elif command.positions is None:
            self._fault = self._tripped = None
            self._damp()
        elif self._fault is None:
            if self._enabled is None:
                self._enabled = now
            self._command = command

    def contacts(self, contacts: Sequence[bool]) -> None:
        """Set which feet are on the ground by plan, passed on to the robot's state estimator."""
        self._contacts = conventions.contact_phases(contacts)

    def trip(self, reason: str, now: float, stamp: float | None = None) -> None:
        """Damp from `now` [s] on, until the controller has damped, too.

        `stamp` [s] is that of the state that this answers, if any.
        """
        self._stamp = self._stamp if stamp is None else stamp
        if self._enabled is not None or self._fault is None:
            self._fault, self._tripped = reason, now
        self._damp()

    def frame(self, now: float) -> bytes:
        """Encode the torque targets for `now` [s], after the watchdog's check."""
        self._watch(now)
        self._count += 1
        values = {**conventions.target_values(*self._limited(now)), "se_contactState": self._contacts}
        return encode(PD_TAU_TARGETS, {**values, **conventions.stamps(self._stamp, self._count)})

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
