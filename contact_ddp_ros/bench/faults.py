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

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.velocity import Expiring, VelocityCommand
from contact_ddp_ros.errors import MessageError, ParameterError
from contact_ddp_ros.links import Links
from contact_ddp_ros.policy import Policy
from contact_ddp_ros.robot.state import JointCommand, RobotState

Array = NDArray[np.float64]

KINDS = ("off", "stuck", "garbage", "wrong", "slow", "delayed", "intermittent")

STATE_INTERVAL, STATE_DELAY, STATE_GAPS = 0.03, 0.03, (0.005, 0.06)
POLICY_INTERVAL, POLICY_DELAY, POLICY_GAPS = 0.1, 0.06, (0.02, 0.15)
SPEED_INTERVAL, SPEED_DELAY, SPEED_GAPS = 1.0, 0.3, (0.1, 1.5)
CLOCK_DELAY, CLOCK_AHEAD, CLOCK_GAPS = 0.03, 1.0, (0.005, 0.06)
"""How slow, how late, and for how long gone [s]."""

_COMMAND_PERIOD = 0.1
"""Between two velocity commands [s]."""

_COMMAND_TIMEOUT = 0.5
"""After which the commanded velocity is zero, as by default in the nodes [s]."""

_NONSENSE = (np.nan, np.inf, -np.inf, 1e30, -1e308)

_SILLY_SPEED = 100.0
"""[m/s]"""


class Fault(Links):
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
        """Whether the link is gone: gaps and the times between them are of random length in a range [s]."""
        if now >= max(self._gap_until, self._fine_until):
            gap = float(self._rng.uniform(*gaps))
            self._gap_until = now + gap
            self._fine_until = self._gap_until + float(self._rng.uniform(*gaps))
        return now < self._gap_until


class StateFault(Fault):
    """Of the robot's measured state."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self._sent: deque[RobotState] = deque(maxlen=100)
        self._last: RobotState | None = None

    def state(self, state: RobotState) -> RobotState | None:
        """The newest that has arrived; until something arrives that is the one before."""
        now = state.time
        self._sent.append(state)
        active = self._active(now)
        arrives = not active or getattr(self, f"_{self.kind}")(state)
        if active and arrives is not False and arrives is not True:
            self._faulty(now, True)
            return arrives  # type: ignore[no-any-return]
        self._faulty(now, not arrives)
        if arrives:
            self._last = state
        return self._last

    def _off(self, _: RobotState) -> bool:
        return False

    def _stuck(self, state: RobotState) -> RobotState | bool:
        return False if self._last is None else dataclasses.replace(self._last, time=state.time)

    def _garbage(self, state: RobotState) -> RobotState:
        fields = [field.name for field in dataclasses.fields(state) if field.name != "time"]
        name = str(self._rng.choice(fields))
        broken = getattr(state, name).copy()
        nonsense = int(self._rng.integers(len(_NONSENSE) + 1))
        if nonsense == len(_NONSENSE):
            return dataclasses.replace(state, **{name: broken[:-1]})
        broken[self._rng.integers(len(broken))] = _NONSENSE[nonsense]
        return dataclasses.replace(state, **{name: broken})

    def _wrong(self, state: RobotState) -> RobotState:
        half = len(state.joint_positions) // 2
        q, v = np.roll(state.joint_positions, half), np.roll(state.joint_velocities, half)
        return dataclasses.replace(state, joint_positions=q, joint_velocities=v)

    def _slow(self, state: RobotState) -> bool:
        return self._last is None or state.time - self._last.time >= STATE_INTERVAL - 1e-9

    def _delayed(self, state: RobotState) -> RobotState:
        return next(old for old in self._sent if state.time - old.time <= STATE_DELAY + 1e-9)

    def _intermittent(self, state: RobotState) -> bool:
        return not self._in_gap(state.time, STATE_GAPS)


class PolicyFault(Fault):
    """Of the planner's policies; each is due at some time."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self._last: Policy | None = None
        self._arrived = -np.inf

    def policies(self, policy: Policy, due: float) -> Sequence[tuple[float, Policy]]:
        """What arrives instead of a policy, and when."""
        if not self._active(due):
            self._faulty(due, False)
            self._last, self._arrived = policy, due
            return ((due, policy),)
        arrives: list[tuple[float, Policy]] = getattr(self, f"_{self.kind}")(policy, due)
        good = any(one is policy and when == due for when, one in arrives)
        self._faulty(due, not good)
        if good:
            self._last, self._arrived = policy, due
        return arrives

    def _off(self, _policy: Policy, _due: float) -> list[tuple[float, Policy]]:
        return []

    def _stuck(self, _policy: Policy, due: float) -> list[tuple[float, Policy]]:
        return [] if self._last is None else [(due, self._last)]

    def _garbage(self, policy: Policy, due: float) -> list[tuple[float, Policy]]:
        name = str(self._rng.choice(["times", "states", "controls", "gains", "forces"]))
        broken = getattr(policy, name).copy()
        nonsense = int(self._rng.integers(len(_NONSENSE) + 1))
        if nonsense == len(_NONSENSE):
            broken = broken[:-1]
        else:
            broken.flat[self._rng.integers(broken.size)] = _NONSENSE[nonsense]
        return [(due, _unchecked(policy, name, broken))]

    def _wrong(self, policy: Policy, due: float) -> list[tuple[float, Policy]]:
        damages: list[Callable[[], Policy]] = [
            lambda: dataclasses.replace(policy, controls=10.0 * policy.controls + 100.0),
            lambda: dataclasses.replace(policy, states=policy.states + 2.0),
            lambda: dataclasses.replace(policy, model_hash=policy.model_hash + 1),
            lambda: dataclasses.replace(policy, epoch=policy.epoch + 1),
        ]
        return [(due, damages[self._rng.integers(len(damages))]())]

    def _slow(self, policy: Policy, due: float) -> list[tuple[float, Policy]]:
        return [(due, policy)] if due - self._arrived >= POLICY_INTERVAL - 1e-9 else []

    def _delayed(self, policy: Policy, due: float) -> list[tuple[float, Policy]]:
        return [(due + POLICY_DELAY, policy)]

    def _intermittent(self, policy: Policy, due: float) -> list[tuple[float, Policy]]:
        return [] if self._in_gap(due, POLICY_GAPS) else [(due, policy)]


class VelocityFault(Fault):
    """Of the velocity command, which is sent ten times a second and counts for half a second."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self._command = Expiring(VelocityCommand())
        self._sent: deque[tuple[float, float]] = deque(maxlen=64)
        self._arrived = -np.inf
        self._next = -np.inf

    def speed(self, speed: float, now: float) -> float:
        """The speed in force [m/s]."""
        if now >= self._next - 1e-9:
            self._next = now + _COMMAND_PERIOD
            self._sent.append((now, speed))
            arrives = getattr(self, f"_{self.kind}")(speed, now) if self._active(now) else speed
            self._faulty(now, arrives is not speed)
            if arrives is not None:
                self._receive(arrives, now)
        return self._command.at(now, _COMMAND_TIMEOUT).forward

    def _receive(self, speed: float, now: float) -> None:
        try:
            self._command.put(VelocityCommand(forward=speed))
            self._arrived = now
        except MessageError:
            return  # as a node does: refused, and the last command counts until it expires

    def _off(self, _speed: float, _now: float) -> float | None:
        return None

    def _stuck(self, _speed: float, _now: float) -> float:
        return self._sent[0][1]

    def _garbage(self, _speed: float, _now: float) -> float:
        return float(_NONSENSE[self._rng.integers(len(_NONSENSE))])

    def _wrong(self, _speed: float, _now: float) -> float:
        return float(self._rng.choice([-1.0, 1.0])) * _SILLY_SPEED

    def _slow(self, speed: float, now: float) -> float | None:
        return speed if now - self._arrived >= SPEED_INTERVAL - 1e-9 else None

    def _delayed(self, _speed: float, now: float) -> float:
        return next(old for sent, old in self._sent if now - sent <= SPEED_DELAY + 1e-9)

    def _intermittent(self, speed: float, now: float) -> float | None:
        return None if self._in_gap(now, SPEED_GAPS) else speed


class ClockFault(Fault):
    """Of the controller's clock."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self._shown = 0.0

    def clock(self, now: float) -> float:
        """What it shows [s]."""
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
        return now + CLOCK_AHEAD

    def _slow(self, now: float) -> float:
        return self.begin + 0.5 * (now - self.begin)

    def _delayed(self, now: float) -> float:
        return now - CLOCK_DELAY

    def _intermittent(self, now: float) -> float:
        return self._shown if self._in_gap(now, CLOCK_GAPS) else now


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
