"""Values that a parameter does not allow, offered while the robot bounds: each is refused, and nothing changes.

Two loops run side by side from the same start. One is offered everything that must be refused, parameter after
parameter; after each the configurations must be the very same objects, and the commands to the drives equal to the last
bit, until a plan made afterwards has been followed; and in the end for a cycle of the gait.
"""

import math
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from benchmarks.loop.harness import bounding_loop
from benchmarks.loop.live_change import BOUND_FIRST, apply, tunable
from contact_ddp_ros.base.config import ParameterSpec
from contact_ddp_ros.base.errors import BenchmarkError, ParameterError
from contact_ddp_ros.robot.state import JointCommand
from contact_ddp_ros.runs.channel import Links
from contact_ddp_ros.runs.closed_loop import CONTROL_PERIOD, ClosedLoop


@dataclass(frozen=True)
class Refusals:
    """The job: which parameters are offered what they do not allow."""

    parameters: tuple[str, ...]
    name: str = "refusals"
    cost: float = 10.0


class _Tap(Links):
    """Keeps the bits of the last command."""

    bits: tuple[bytes, ...] = ()

    def command(self, command: JointCommand, now: float) -> JointCommand:
        self.bits = tuple(np.asarray(each).tobytes() for each in astuple(command))
        return command


@dataclass
class _Twin:
    """A bounding loop whose commands are seen."""

    tap: _Tap
    loop: ClosedLoop

    @classmethod
    def bounding(cls) -> "_Twin":
        tap = _Tap()
        return cls(tap, bounding_loop(BOUND_FIRST, tap))


def offer(refusals: Refusals) -> dict[str, Any]:
    """Run the job: how many values were offered, and for each that was not refused or changed something, what."""
    twin, undisturbed = _Twin.bounding(), _Twin.bounding()
    table, offered, found = tunable(), 0, []
    for parameter in refusals.parameters:
        loop = twin.loop
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
        if not _same_commands(twin, undisturbed, loop.ticks_per_plan if parameter.startswith("planner.") else 1):
            found.append(f"{parameter} changed the command")
        if found:
            break  # what follows would differ too
    cycle = round(twin.loop.planner.builder.schedule.period / CONTROL_PERIOD)
    if not found and not _same_commands(twin, undisturbed, cycle):
        found.append("the commands of the next cycle differ")
    return {"offered": offered, "found": found}


def _same_commands(one: _Twin, other: _Twin, ticks: int) -> bool:
    for _ in range(ticks):
        one.loop.tick()
        other.loop.tick()
        if one.tap.bits != other.tap.bits:
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
