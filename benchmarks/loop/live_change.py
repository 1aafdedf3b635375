"""One parameter changed while the robot bounds: how far it may go before the robot no longer does.

A case is one parameter towards one of its bounds, or to another of its choices. The value goes through the check of a
whole configuration and the object's own `configure`, as from a node. What must change together does:

* the simulated drives take over the controller's gains (`controller.drive.*`);
* plans are asked for at the period that follows from `planner.rate`, and at `controller.safety.planner_period`.

The simulator is symmetric, so what acts sideways shows in a disturbed robot only: it gets a push to the left right
after the change.

What acts on the way back to a stand (`controller.stand.*`, `controller.move.exit_*`) is followed by one. Values that a
parameter does not allow are offered to a loop of their own (:func:`offer`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from benchmarks.loop import budget
from benchmarks.loop.harness import DIRECTIONS, advance, bounding_loop, push_of
from contact_ddp_ros.base.config import ParameterSpec, Value, replace, specs
from contact_ddp_ros.base.errors import BenchmarkError, ContactDdpError, ParameterError
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.safety import ViolationKind
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.state import JointCommand
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.loop import CONTROL_PERIOD, Channel

BOUND_FIRST = 1.0
"""Bounding before the change [s]."""

PUSH = 2.0
"""Sideways impulse with a change [N s], half of what it comes through in any phase by default."""

SIDES = ("low", "high")
"""Bounds towards which the value of a number goes."""

_LIMITS = "controller.safety."
"""Parameters that are there to end in damping."""

_STANDING = ("controller.stand.", "controller.move.exit_")

_STAND_PATIENCE, _STAND_AFTER = 6.0, 1.5
"""Longest wait for a stand beyond the controller's own; standing afterwards [s]."""

_DECADES = 100.0
"""Ratio of bound and default from which on a range is searched by factors."""


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


def directions(spec: ParameterSpec) -> list[str]:
    """Ways off the default of a parameter: of a number SIDES as far as there is room, else the other values."""
    if isinstance(spec.default, bool):
        return [str(not spec.default).lower()]
    if isinstance(spec.default, str):
        return [choice for choice in spec.choices if choice != spec.default]
    return [side for side in SIDES if value_at(spec, side, 1.0) != spec.default]


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
        assert isinstance(loop.plant, MujocoSimulator)
        loop.plant.tune(loop.controller.drive_gains, SimOptions())


Judge = Callable[[Value], str]
"""Verdict on a value: why it does not hold, empty where it does."""


def search(spec: ParameterSpec, towards: str, steps: int, judged: Judge) -> dict[str, Any]:
    """The last value that held, why the one beyond it did not, and all that was tried.

    The default is taken as held; no value is judged twice. `steps` are halvings where the bound itself does not hold.
    """
    verdicts: dict[Value, str] = {}

    def held(value: Value) -> bool:
        if value == spec.default:
            return True
        if value not in verdicts:
            verdicts[value] = judged(value)
        return not verdicts[value]

    if towards in SIDES and not isinstance(spec.default, bool | str):

        def on_the_way(share: float) -> bool:
            return held(value_at(spec, towards, share))

        limit = budget.search(on_the_way, 0.0, 1.0, steps)
        if not limit.held and limit.lost is not None:  # finer, where hardly anything holds
            limit = budget.search(on_the_way, 0.0, limit.lost, steps)
        # a bound may hold where the way to it does not: halfway must hold too
        while limit.held > 0.0 and not on_the_way(0.5 * limit.held):
            limit = budget.search(on_the_way, 0.0, 0.5 * limit.held, steps)
        last = value_at(spec, towards, limit.held)
        beyond = None if limit.lost is None else value_at(spec, towards, limit.lost)
    else:
        value: Value = towards == "true" if isinstance(spec.default, bool) else towards
        last, beyond = (value, None) if held(value) else (spec.default, value)
    return {
        "held": last,
        "lost": beyond,
        "why": "" if beyond is None else verdicts[beyond],
        "tried": [[value, verdict or "held"] for value, verdict in verdicts.items()],
    }


def run(parameter: str, value: Value, seconds: float) -> str:
    """Change a parameter in a loop of its own and go on [s]; why it does not hold, an error of the run included."""
    loop = bounding_loop(BOUND_FIRST)
    try:
        apply(loop, parameter, value)
    except ParameterError as error:
        return f"refused: {error}"
    push = push_of(PUSH, DIRECTIONS["left"], loop.plant.time)
    loop.plant.push(np.array(push.force), push.duration)
    try:
        advance(loop, loop.plant.time + seconds)
        stood = _stand(loop) if parameter.startswith(_STANDING) else True
    except ContactDdpError as error:
        return f"fails: {error}"
    fault, fall = loop.controller.fault, loop.recorder.finish().fall
    return judge(parameter, None if fault is None else fault.violation, "" if fall is None else fall.reason, stood)


def judge(parameter: str, fault: ViolationKind | None, fall: str, stood: bool = True) -> str:
    """Verdict on a run: the controller's fault, the first sign of a fall, whether it stood where it had to.

    A limit of the supervisor that ends in damping does its work. Of any other parameter a tilt is a fall.
    """
    if fault is not None and (parameter.startswith(_LIMITS) or fault is not ViolationKind.TILT):
        return f"damps: {fault.value}"
    if fault is not None or fall:
        return f"falls: {fall if fault is None else fault.value}"
    return "" if stood else "does not stand"


def _stand(loop: ClosedLoop) -> bool:
    """Back to a stand; whether it gets there."""
    controller = loop.controller
    controller.request(ControlMode.STAND)
    give_up = loop.plant.time + controller.config.move.exit_timeout + _STAND_PATIENCE
    while not controller.standing and controller.fault is None and loop.plant.time < give_up:
        loop.tick()
    advance(loop, loop.plant.time + _STAND_AFTER)
    return controller.standing


class _Tap(Channel):
    """Keeps the bits of the last command."""

    bits: tuple[bytes, ...] = ()

    def command(self, command: JointCommand, now: float) -> JointCommand:
        self.bits = tuple(np.asarray(each).tobytes() for each in astuple(command))
        return command


def offer(parameters: Sequence[str]) -> dict[str, Any]:
    """Offer what parameters do not allow: number of values, and each that was not refused or changed something.

    Two loops run side by side from the same start. One is offered everything that must be refused; after each parameter
    its configurations must be the very same objects, and the commands to the drives equal to the last bit, until a plan
    made afterwards has been followed; and in the end for a cycle of the gait.
    """
    twins = [(tap, bounding_loop(BOUND_FIRST, tap)) for tap in (_Tap(), _Tap())]
    loop, table, offered, found = twins[0][1], tunable(), 0, []
    for parameter in parameters:
        before = (loop.planner.config, loop.controller.config, loop.ticks_per_plan)
        for value in spoilt(table[parameter]):
            offered += 1
            try:
                apply(loop, parameter, value)
            except ParameterError:
                continue
            found.append(f"{parameter} took {value!r}")
        after = (loop.planner.config, loop.controller.config, loop.ticks_per_plan)
        if any(now is not then for now, then in zip(after, before, strict=True)):
            found.append(f"{parameter} changed the configuration")
        if not _same_commands(twins, loop.ticks_per_plan if parameter.startswith("planner.") else 1):
            found.append(f"{parameter} changed the command")
        if found:
            break  # what follows would differ too
    cycle = round(loop.planner.builder.schedule.period / CONTROL_PERIOD)
    if not found and not _same_commands(twins, cycle):
        found.append("the commands of the next cycle differ")
    return {"offered": offered, "found": found}


def _same_commands(twins: Sequence[tuple[_Tap, ClosedLoop]], ticks: int) -> bool:
    for _ in range(ticks):
        for _, loop in twins:
            loop.tick()
        if len({tap.bits for tap, _ in twins}) > 1:
            return False
    return True


def spoilt(spec: ParameterSpec) -> list[Any]:
    """Values of every kind that the parameter does not allow: just beyond its bounds, none at all, another type."""
    default = spec.default
    if isinstance(default, bool):
        return [1, 0.5, "true", None, [default]]
    if isinstance(default, str):
        return ["", default.upper(), 1, True, None, [default]]
    if spec.low is None or spec.high is None:
        raise BenchmarkError(f"parameter {spec.name} lacks a bound")
    if isinstance(default, int):
        beyond: list[Any] = [int(spec.low) - 1, int(spec.high) + 1, 1.5]
    else:
        beyond = [math.nextafter(spec.low, -math.inf), math.nextafter(spec.high, math.inf)]
    wrong = [*beyond, math.nan, math.inf, -math.inf, "text", True, None, [1.0]]
    if not isinstance(default, tuple):
        return wrong
    return [(*default[:-1], each) for each in wrong] + [(), (*default, default[-1]), default[0], "text", None]
