"""Faults of what the controller and the planner receive: seven kinds on each of state, policy, velocity command, clock.

    off           nothing comes any more (of the clock: it shows zero)
    stuck         the last one is repeated, with a stamp that looks new where there is one
    garbage       numbers that are none, far too large, or in arrays of the wrong size
    wrong         numbers that might be true: legs exchanged, a plan for another place or another model or of ten times
                  the torque, a speed that no robot runs, a clock one second ahead
    slow          too seldom (the clock: at half speed)
    delayed       too late
    intermittent  with gaps of random length

Outside its window a fault changes nothing. Everything random comes from a seed.
"""

import dataclasses
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import MessageError, ParameterError
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.state import Expiring, JointCommand, RobotState, VelocityCommand
from contact_ddp_ros.runs.loop import Channel

Array = NDArray[np.float64]

KINDS = ("off", "stuck", "garbage", "wrong", "slow", "delayed", "intermittent")

STATE_INTERVAL, STATE_DELAY = 0.1, 0.1
"""Interval and delay of states [s]."""

_COMMAND_PERIOD = 0.1
"""Between two velocity commands [s]."""

_COMMAND_TIMEOUT = 0.5
"""After which the commanded velocity is zero, as by default in the nodes [s]."""

_NONSENSE = (np.nan, np.inf, -np.inf, 1e30, -1e308)

_SILLY_SPEED = 100.0
"""[m/s]"""


class Fault(Channel):
    """A fault of one kind between `begin` and `end` [s].

    Attributes:
        onset: since when what arrives has been faulty without a break [s]; where it is not, since never (infinity).
        torque_share: largest magnitude so far of a torque that was fed forward, as a share of the actuator's limit;
            infinite after a command that was not finite.
    """

    def __init__(self, kind: str, begin: float, end: float, seed: int, limits: Array) -> None:
        """`limits`: (12,) of the actuators [N m]. Raises ParameterError on an unknown kind."""
        if kind not in KINDS:
            raise ParameterError(f"no fault of kind {kind!r}; there are {', '.join(KINDS)}")
        self.kind, self.begin, self.end = kind, begin, end
        self.onset = np.inf
        self.torque_share = 0.0
        self._rng = np.random.default_rng(seed)
        self._limits = limits
        self._gap_until, self._fine_until = -np.inf, -np.inf

    def command(self, command: JointCommand, now: float) -> JointCommand:
        """Unchanged; its feedforward is compared with the limits."""
        parts = (command.torques, command.velocities, *(() if command.positions is None else (command.positions,)))
        finite = all(np.isfinite(part).all() for part in parts)
        share = float(np.abs(command.torques / self._limits).max()) if finite else np.inf
        self.torque_share = max(self.torque_share, share)
        return command

    def _active(self, now: float) -> bool:
        return self.begin <= now + 1e-9 < self.end

    def _faulty(self, now: float, faulty: bool) -> bool:
        """Keep the onset; `faulty` again."""
        if not faulty:
            self.onset = np.inf
        elif self.onset == np.inf:
            self.onset = now
        return faulty

    def _in_gap(self, now: float, gaps: tuple[float, float]) -> bool:
        """True while the link is gone: gaps and the times between them are of random length in a range [s]."""
        if now >= max(self._gap_until, self._fine_until):
            gap = float(self._rng.uniform(*gaps))
            self._gap_until = now + gap
            self._fine_until = self._gap_until + float(self._rng.uniform(*gaps))
        return now < self._gap_until

    def _garbled(self, array: Array) -> Array:
        """The array with one entry that is no number or far too large, or without its last row."""
        broken, nonsense = array.copy(), int(self._rng.integers(len(_NONSENSE) + 1))
        if nonsense == len(_NONSENSE):
            return broken[:-1]
        broken.flat[self._rng.integers(broken.size)] = _NONSENSE[nonsense]
        return broken


Message = TypeVar("Message", RobotState, Policy, float)


class MessageFault(Fault, Generic[Message]):
    """Fault of messages, one by one.

    Attributes:
        interval, delay, gaps: how slow, how late, and for how long gone [s].
    """

    interval: float
    delay: float
    gaps: tuple[float, float]

    def __init__(self, kind: str, begin: float, end: float, seed: int, limits: Array) -> None:
        super().__init__(kind, begin, end, seed, limits)
        self._sent: deque[tuple[float, Message]] = deque(maxlen=100)
        self._last: Message | None = None
        self._arrived = -np.inf

    def _through(self, message: Message, now: float) -> Message | None:
        """The message that arrives in place of one; None for nothing."""
        self._sent.append((now, message))
        arrives: Message | None = getattr(self, f"_{self.kind}")(message, now) if self._active(now) else message
        return arrives

    def _keep(self, message: Message, now: float) -> None:
        """This has arrived as it was sent."""
        self._last, self._arrived = message, now

    def _off(self, _message: Message, _now: float) -> Message | None:
        return None

    def _slow(self, message: Message, now: float) -> Message | None:
        return message if now - self._arrived >= self.interval - 1e-9 else None

    def _delayed(self, _message: Message, now: float) -> Message | None:
        return next(old for sent, old in self._sent if now - sent <= self.delay + 1e-9)

    def _intermittent(self, message: Message, now: float) -> Message | None:
        return None if self._in_gap(now, self.gaps) else message


class StateFault(MessageFault[RobotState]):
    """Fault of the robot's measured state."""

    interval, delay, gaps = STATE_INTERVAL, STATE_DELAY, (0.02, 0.24)

    def state(self, state: RobotState) -> RobotState | None:
        """The newest that has arrived; until something arrives that is the one before."""
        arrives = self._through(state, state.time)
        self._faulty(state.time, arrives is not state)
        if arrives is state:
            self._keep(state, state.time)
        return self._last if arrives is None else arrives

    def _stuck(self, state: RobotState, now: float) -> RobotState | None:
        return None if self._last is None else dataclasses.replace(self._last, time=now)

    def _garbage(self, state: RobotState, _now: float) -> RobotState:
        name = str(self._rng.choice([field.name for field in dataclasses.fields(state) if field.name != "time"]))
        broken: Any = {name: self._garbled(getattr(state, name))}
        return dataclasses.replace(state, **broken)

    def _wrong(self, state: RobotState, _now: float) -> RobotState:
        half = len(state.joint_positions) // 2
        q, v = np.roll(state.joint_positions, half), np.roll(state.joint_velocities, half)
        return dataclasses.replace(state, joint_positions=q, joint_velocities=v)


class PolicyFault(MessageFault[Policy]):
    """Fault of the planner's policies; each is due at some time."""

    interval, delay, gaps = 0.1, 0.06, (0.02, 0.15)

    def policies(self, policy: Policy, due: float) -> Sequence[tuple[float, Policy]]:
        """Policies that arrive instead of one, and when."""
        arrives, when = self._through(policy, due), due
        if self.kind == "delayed" and self._active(due):
            when += self.delay
        good = arrives is policy and when == due
        self._faulty(due, not good)
        if good:
            self._keep(policy, due)
        return [] if arrives is None else [(when, arrives)]

    def _delayed(self, policy: Policy, _due: float) -> Policy:
        return policy

    def _stuck(self, _policy: Policy, _due: float) -> Policy | None:
        return self._last

    def _garbage(self, policy: Policy, _due: float) -> Policy:
        name = str(self._rng.choice(["times", "states", "controls", "gains", "forces"]))
        return _unchecked(policy, name, self._garbled(getattr(policy, name)))

    def _wrong(self, policy: Policy, _due: float) -> Policy:
        damages: list[Callable[[], Policy]] = [
            lambda: dataclasses.replace(policy, controls=10.0 * policy.controls + 100.0),
            lambda: dataclasses.replace(policy, states=policy.states + 2.0),
            lambda: dataclasses.replace(policy, model_hash=policy.model_hash + 1),
            lambda: dataclasses.replace(policy, epoch=policy.epoch + 1),
        ]
        return damages[self._rng.integers(len(damages))]()


class VelocityFault(MessageFault[float]):
    """Fault of the velocity command, which is sent ten times a second and counts for half a second."""

    interval, delay, gaps = 1.0, 0.3, (0.1, 1.5)

    def __init__(self, kind: str, begin: float, end: float, seed: int, limits: Array) -> None:
        super().__init__(kind, begin, end, seed, limits)
        self._command = Expiring(VelocityCommand())
        self._next = -np.inf

    def speed(self, speed: float, now: float) -> float:
        """The speed in force [m/s]."""
        if now >= self._next - 1e-9:
            self._next = now + _COMMAND_PERIOD
            arrives = self._through(speed, now)
            self._faulty(now, arrives is not speed)
            # as in a node, what is refused changes nothing, and the last command counts until it expires
            with suppress(MessageError):
                if arrives is not None:
                    self._command.put(VelocityCommand(forward=arrives))
                    self._keep(arrives, now)
        return self._command.at(now, _COMMAND_TIMEOUT).forward

    def _stuck(self, _speed: float, _now: float) -> float:
        return self._sent[0][1]

    def _garbage(self, _speed: float, _now: float) -> float:
        return float(_NONSENSE[self._rng.integers(len(_NONSENSE))])

    def _wrong(self, _speed: float, _now: float) -> float:
        return float(self._rng.choice([-1.0, 1.0])) * _SILLY_SPEED


class ClockFault(Fault):
    """Fault of the controller's clock."""

    delay, ahead, gaps = 0.03, 1.0, (0.005, 0.06)
    _shown = 0.0

    def clock(self, now: float) -> float:
        """Reading of the clock [s]."""
        shown = getattr(self, f"_{self.kind}")(now) if self._active(now) else now
        self._faulty(now, shown != now)
        self._shown = shown if np.isfinite(shown) else self._shown
        return float(shown)

    def _off(self, _now: float) -> float:
        return 0.0

    def _stuck(self, _now: float) -> float:
        return self._shown

    def _garbage(self, _now: float) -> float:
        return float(_NONSENSE[self._rng.integers(len(_NONSENSE))])

    def _wrong(self, now: float) -> float:
        return now + self.ahead

    def _slow(self, now: float) -> float:
        return self.begin + 0.5 * (now - self.begin)

    def _delayed(self, now: float) -> float:
        return now - self.delay

    def _intermittent(self, now: float) -> float:
        return self._shown if self._in_gap(now, self.gaps) else now


FAULTS: dict[str, type[Fault]] = {
    "state": StateFault,
    "policy": PolicyFault,
    "velocity": VelocityFault,
    "clock": ClockFault,
}
"""By what is faulty."""


def _unchecked(policy: Policy, name: str, array: Array) -> Policy:
    """A policy as it would be if its own checks had failed to notice something."""
    broken = object.__new__(Policy)
    for field in dataclasses.fields(policy):
        object.__setattr__(broken, field.name, array if field.name == name else getattr(policy, field.name))
    return broken
