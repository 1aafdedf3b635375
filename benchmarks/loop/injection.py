"""One fault injected into a bound that is under way, what the controller does about it, and what of that is wrong.

:mod:`benchmarks.loop.reliability` says what must hold.
"""

from dataclasses import dataclass, field

import numpy as np

from benchmarks.loop.cases import CYCLE, SPEED
from benchmarks.loop.faults import FAULTS, KINDS, Fault
from benchmarks.loop.harness import STANDING, advance, bounding_loop
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.runs.closed_loop import CONTROL_PERIOD, ClosedLoop

LIMITS = {"state": 0.02, "clock": 0.02}
"""Longest time from the beginning of a fault to damping [s]; policy and velocity command have none."""

_HISTORY = 0.35
"""Before a fault, from when on it listens to what it may hand out late [s]."""

_STAND_PATIENCE = 5.0
"""Longest way up after a fault [s]."""

_SPEED_BAND = 0.15
"""Mean speed of the last cycle, about the command [m/s]."""


@dataclass(frozen=True)
class Course:
    """How long the parts of a run are [s].

    Attributes:
        before: bounding, until the first instant at which the fault may begin. fault: its length.
        after: from its end to the request to stand. again: bounding afterwards, until the speed is looked at.
    """

    before: float = 1.0
    fault: float = 0.5
    after: float = 0.5
    again: float = 1.5


QUICK = Course(before=0.45, after=0.2, again=0.5)


@dataclass(frozen=True)
class Injection:
    """One run: what is faulty, how, and from which seed."""

    target: str
    kind: str
    seed: int
    course: Course = Course()
    cost: float = 1.0

    @property
    def name(self) -> str:
        """Unique among the injections of a benchmark."""
        return f"{self.target}, {self.kind}, seed {self.seed}"


@dataclass
class Reaction:
    """What one run showed.

    Attributes:
        injection: that was run.
        damped_after: from the beginning of an unbroken fault to damping [s]; NaN where it did not damp.
        fault: named by the controller; empty where there was none.
        bounding: whether it bounded throughout.
        stood: whether it came to a stand by itself, for want of policies.
        torque_share: largest torque that was fed forward, as a share of the actuator's limit.
        applied_share: the same of the torque that the simulated actuators gave.
        rearmed: whether it stood and bounded again afterwards, at the speed commanded.
        failed: the error that ended the run; empty where there was none.
    """

    injection: Injection
    damped_after: float = float("nan")
    fault: str = ""
    bounding: bool = True
    stood: bool = False
    torque_share: float = 0.0
    applied_share: float = 0.0
    rearmed: bool = False
    failed: str = ""

    @property
    def complaints(self) -> list[str]:
        """What did not hold of what must; empty where all did."""
        limit = LIMITS.get(self.injection.target)
        found = [self.failed] if self.failed else []
        if limit is not None and not self.damped_after <= limit + 1e-6:
            found.append(f"damped after {1e3 * self.damped_after:.0f} ms, allowed: {1e3 * limit:.0f} ms")
        if self.injection.target == "velocity" and not self.bounding:
            found.append("the bound ended")
        if self.injection.target == "policy" and self.fault:
            found.append(f"damped: {self.fault}")
        if not max(self.torque_share, self.applied_share) <= 1.0 + 1e-6:
            found.append(f"torque at {max(self.torque_share, self.applied_share):.3f} of the limit")
        if not self.rearmed:
            found.append("did not bound again")
        return found


def inject(injection: Injection) -> Reaction:
    """One run; whatever escapes from it is a finding, not an end."""
    reaction = Reaction(injection)
    try:
        _Run(injection, reaction).run()
    except Exception as error:  # noqa: BLE001  (an exception that a fault lets escape is just what is looked for)
        reaction.failed = f"{type(error).__name__}: {error}"
    return reaction


@dataclass
class _Run:
    """One closed loop with a fault in it, stepped to its end."""

    injection: Injection
    reaction: Reaction
    loop: ClosedLoop = field(init=False)
    fault: Fault = field(init=False)

    def __post_init__(self) -> None:
        injection, robot = self.injection, load_robot()
        number = (list(FAULTS).index(injection.target), KINDS.index(injection.kind))
        phase = float(np.random.default_rng((injection.seed, *number)).uniform(0.0, CYCLE))
        begin = CONTROL_PERIOD * round((STANDING + injection.course.before + phase) / CONTROL_PERIOD)
        make, end = FAULTS[injection.target], begin + injection.course.fault
        self.fault = make(injection.kind, begin, end, injection.seed, robot.effort_limits)
        self.loop = bounding_loop(injection.course.before - _HISTORY, self.fault)
        self._limits = robot.effort_limits

    def run(self) -> None:
        fault, reaction = self.fault, self.reaction
        self._go_on_to(fault.begin)
        if self.loop.controller.mode is not ControlMode.MOVE:
            raise ContactDdpError(f"it did not bound before the fault: {self.loop.controller.fault}")
        self._watch(fault.end)
        self._go_on_to(fault.end + self.injection.course.after)
        reaction.rearmed = self._rearm()
        reaction.torque_share = fault.torque_share
        applied = np.abs(self.loop.recorder.finish().ticks["torques"]) / self._limits
        reaction.applied_share = float(applied.max()) if np.isfinite(applied).all() else float("inf")

    def _watch(self, end: float) -> None:
        """Through the fault, until a little after its end: when the controller damps, and why."""
        controller, reaction = self.loop.controller, self.reaction
        while self._now < end + self.injection.course.after / 2:
            now, onset = self._now, self.fault.onset
            self.loop.tick()
            onset = min(onset, self.fault.onset)
            reaction.bounding &= controller.mode is ControlMode.MOVE
            reaction.stood |= controller.mode is ControlMode.STAND
            if controller.mode is ControlMode.DAMP and np.isnan(reaction.damped_after):
                reaction.fault = "" if controller.fault is None else controller.fault.violation.value
                reaction.damped_after = now - onset if np.isfinite(onset) else float("inf")

    def _rearm(self) -> bool:
        """Stand up and bound again where it damps; whether it bounds at the commanded speed at the end."""
        controller = self.loop.controller
        if controller.mode is not ControlMode.MOVE:
            if not controller.request(ControlMode.STAND).accepted:
                return False
            give_up = self._now + _STAND_PATIENCE
            while not controller.standing:
                if controller.fault is not None or self._now > give_up:
                    return False
                self.loop.tick()
            if not controller.request(ControlMode.MOVE).accepted:
                return False
        self._go_on_to(self._now + self.injection.course.again)
        start = self.loop.simulator.truth().state
        self._go_on_to(self._now + CYCLE)
        end = self.loop.simulator.truth().state
        distance = float(np.linalg.norm((end.position - start.position)[:2]))
        near = abs(distance / (end.time - start.time) - SPEED) < _SPEED_BAND
        return controller.mode is ControlMode.MOVE and near

    def _go_on_to(self, time: float) -> None:
        advance(self.loop, time, past_faults=True)

    @property
    def _now(self) -> float:
        return self.loop.simulator.time
