"""One parameter changed while the robot bounds: how far it may go before the robot no longer does.

A :class:`Change` is a job: towards one of the parameter's bounds, or to another of its choices. The value goes through
the check of a whole configuration and the object's own `configure`, as from a node. What must change together does:

* the simulated drives take over the controller's gains (`controller.drive.*`);
* plans are asked for at the period that follows from `planner.rate`, and at `controller.safety.planner_period`.

The simulator is symmetric, so what acts sideways shows in a disturbed robot only: it gets a push to the left right
after the change.

What acts on the way back to a stand (`controller.stand.*`, `controller.move.exit_*`) is followed by one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from benchmarks.loop import bisection
from benchmarks.loop.cases import DIRECTIONS, push_of
from benchmarks.loop.harness import advance, bounding_loop
from contact_ddp_ros.base.config import ParameterSpec, Value, replace, specs
from contact_ddp_ros.base.errors import BenchmarkError, ContactDdpError, ParameterError
from contact_ddp_ros.base.safe_ranges import SafeRange, shown
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.safety import Violation
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.runs.closed_loop import CONTROL_PERIOD, ClosedLoop

BOUND_FIRST = 1.0
"""Bounding before the change [s]."""

PUSH = 2.0
"""Sideways impulse with a change [N s], half of what it comes through in any phase by default."""

SIDES = ("low", "high")
"""Towards which bound the value of a number goes."""

_LIMITS = "controller.safety."
"""Parameters that are there to end in damping."""

_STANDING = ("controller.stand.", "controller.move.exit_")

_STAND_PATIENCE, _STAND_AFTER = 6.0, 1.5
"""Longest wait for a stand beyond the controller's own; standing afterwards [s]."""

_DECADES = 100.0
"""Ratio of bound and default from which on a range is searched by factors."""


class End(Enum):
    """What became of a run; the values are for people."""

    HELD = "held"
    DAMPS = "damps"
    FALLS = "falls"
    STAYS = "does not stand"
    REFUSED = "refused"
    FAILS = "fails"


@dataclass(frozen=True)
class Verdict:
    """How a run ended, and by which sign or fault."""

    end: End
    sign: str = ""

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.end.value}: {self.sign}" if self.sign else self.end.value


@dataclass(frozen=True)
class Change:
    """One parameter, one direction.

    Attributes:
        parameter: with its section.
        towards: one of SIDES where it is a number or several, else the value as text.
        steps: halvings of the search where the bound itself does not hold.
        seconds: bounding after the change [s].
    """

    parameter: str
    towards: str
    steps: int
    seconds: float

    @property
    def name(self) -> str:
        """Unique."""
        return f"{self.parameter} {self.towards}"

    @property
    def cost(self) -> float:
        """Simulated time at least [s]."""
        return BOUND_FIRST + self.seconds


def tunable() -> dict[str, ParameterSpec]:
    """Every parameter of planner and controller that may change while they are active, by name with its section.

    Texts that are not chosen from a list, such as the gait's, have no range to be measured.
    """
    return {
        f"{section}.{name}": spec
        for section, config in (("planner", PlannerConfig()), ("controller", ControllerConfig()))
        for name, spec in specs(config).items()
        if not spec.structural and (spec.choices or not isinstance(spec.default, str))
    }


def changes(parameter: str, spec: ParameterSpec, steps: int, seconds: float) -> list[Change]:
    """Away from the default of a parameter, everywhere it can go."""
    if isinstance(spec.default, bool):
        towards = [str(not spec.default).lower()]
    elif isinstance(spec.default, str):
        towards = [choice for choice in spec.choices if choice != spec.default]
    else:
        towards = [side for side in SIDES if value_at(spec, side, 1.0) != spec.default]
    return [Change(parameter, each, steps, seconds) for each in towards]


def value_at(spec: ParameterSpec, side: str, share: float) -> Value:
    """The value on the way from the default (share 0) to a bound (share 1); entries of several go together.

    By factors where the two are decades apart, else linear; three digits are enough. Whole numbers are rounded.
    """
    bound = spec.low if side == "low" else spec.high
    if bound is None or isinstance(spec.default, bool | str):
        raise BenchmarkError(f"parameter {spec.name} has no {side} bound")
    if isinstance(spec.default, tuple):
        return tuple(_between(entry, bound, share) for entry in spec.default)
    between = _between(spec.default, bound, share)
    return round(between) if isinstance(spec.default, int) else between


def _between(default: float, bound: float, share: float) -> float:
    if share in (0.0, 1.0):
        return float(bound if share else default)
    by_factors = min(default, bound) > 0.0 and max(default, bound) / min(default, bound) >= _DECADES
    between = default * (bound / default) ** share if by_factors else default + share * (bound - default)
    low, high = sorted((default, bound))
    return min(max(float(f"{between:.3g}"), low), high)


def apply(loop: ClosedLoop, parameter: str, value: Any) -> None:
    """Change one parameter of a running loop, and what must change together with it.

    Raises:
        ParameterError: the value is not allowed; nothing has changed then.
    """
    section, _, name = parameter.partition(".")
    if section == "planner":
        loop.planner.configure(replace(loop.planner.config, {name: value}))
    else:
        loop.controller.configure(replace(loop.controller.config, {name: value}))
    if parameter == "planner.rate":
        apply(loop, "controller.safety.planner_period", 1.0 / value)
    if parameter == "controller.safety.planner_period":
        loop.ticks_per_plan = max(1, round(value / CONTROL_PERIOD))
    if name.startswith("drive."):
        assert isinstance(loop.simulator, MujocoSimulator)
        loop.simulator.tune(loop.controller.drive_gains, SimOptions())


def perform(change: Change) -> dict[str, Any]:
    """Run a job: the last value that held, the verdict on what lies beyond it, and all that was tried."""
    spec = tunable()[change.parameter]
    return search(change, spec, lambda value: run(change.parameter, value, change.seconds))


def search(change: Change, spec: ParameterSpec, judged: Callable[[Value], Verdict]) -> dict[str, Any]:
    """The same with the runs of one's choice. The default is taken as held; no value is judged twice."""
    verdicts: dict[Value, Verdict] = {}

    def held(value: Value) -> bool:
        if value == spec.default:
            return True
        if value not in verdicts:
            verdicts[value] = judged(value)
        return verdicts[value].end is End.HELD

    if change.towards in SIDES and not isinstance(spec.default, bool | str):

        def on_the_way(share: float) -> bool:
            return held(value_at(spec, change.towards, share))

        limit = bisection.search(on_the_way, 0.0, 1.0, change.steps)
        if not limit.held and limit.lost is not None:  # finer, where hardly anything holds
            limit = bisection.search(on_the_way, 0.0, limit.lost, change.steps)
        # a bound may hold where the way to it does not: halfway must hold too
        while limit.held > 0.0 and not on_the_way(0.5 * limit.held):
            limit = bisection.search(on_the_way, 0.0, 0.5 * limit.held, change.steps)
        last = value_at(spec, change.towards, limit.held)
        beyond = None if limit.lost is None else value_at(spec, change.towards, limit.lost)
    else:
        value: Value = change.towards == "true" if isinstance(spec.default, bool) else change.towards
        last, beyond = (value, None) if held(value) else (spec.default, value)
    return {
        "held": last,
        "lost": beyond,
        "why": "" if beyond is None else verdicts[beyond].text,
        "tried": [[value, verdict.text] for value, verdict in verdicts.items()],
    }


def run(parameter: str, value: Value, seconds: float) -> Verdict:
    """Change a parameter in a loop of its own and go on; an error of the run is a verdict, not an end."""
    loop = bounding_loop(BOUND_FIRST)
    try:
        apply(loop, parameter, value)
    except ParameterError as error:
        return Verdict(End.REFUSED, str(error))
    push = push_of(PUSH, DIRECTIONS["left"], loop.simulator.time)
    loop.simulator.push(np.array(push.force), push.duration)
    try:
        advance(loop, loop.simulator.time + seconds)
        stood = _stand(loop) if parameter.startswith(_STANDING) else True
    except ContactDdpError as error:
        return Verdict(End.FAILS, str(error))
    fault, fall = loop.controller.fault, loop.recorder.finish().fall
    return judge(parameter, None if fault is None else fault.violation, "" if fall is None else fall.reason, stood)


def judge(parameter: str, fault: Violation | None, fall: str, stood: bool = True) -> Verdict:
    """Of what a run showed: the controller's fault, the first sign of a fall, whether it stood where it had to.

    A limit of the supervisor that ends in damping does its work. Of any other parameter a tilt is a fall.
    """
    if fault is not None and (parameter.startswith(_LIMITS) or fault is not Violation.TILT):
        return Verdict(End.DAMPS, fault.value)
    if fault is not None or fall:
        return Verdict(End.FALLS, fall if fault is None else fault.value)
    return Verdict(End.HELD) if stood else Verdict(End.STAYS)


def _stand(loop: ClosedLoop) -> bool:
    """Back to a stand; whether it gets there."""
    controller = loop.controller
    controller.request(ControlMode.STAND)
    give_up = loop.simulator.time + controller.config.move.exit_timeout + _STAND_PATIENCE
    while not controller.standing and controller.fault is None and loop.simulator.time < give_up:
        loop.tick()
    advance(loop, loop.simulator.time + _STAND_AFTER)
    return controller.standing


def as_range(spec: ParameterSpec, results: Mapping[str, Mapping[str, Any]]) -> SafeRange:
    """What held and why not more, from the results of a parameter's changes by direction."""
    lost = {towards: f"{one['why']} at {shown(one['lost'])}" for towards, one in results.items() if one["why"]}
    if isinstance(spec.default, bool | str):
        return SafeRange([spec.default, *(one["held"] for one in results.values() if not one["why"])], lost)
    return SafeRange([results[side]["held"] if side in results else spec.default for side in SIDES], lost)
