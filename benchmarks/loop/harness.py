"""How benchmarks run the closed loop: to its end, up to an instant or a fault, from a bound that is under way, or with
a planner that is listened to or told what to do.

A loop that bounds already is made once in a process and copied for every run that goes on from there.

Closed loops as data: the common options of all benchmarks of the loop, and the changes of one case.

Where nothing else is said, the nominal robot bounds at 0.5 m/s on level ground of friction 0.8, without noise, planner
delay and pushes.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import BenchmarkError, ContactDdpError
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.mpc.config import GaitConfig
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.mpc.planar_reference import planar_schedule
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.loop import Channel
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.recording.record import CONTROL_MODES
from contact_ddp_ros.runs.study.study import Case, Target

SPEED = 0.5
"""Commanded speed unless it is what varies [m/s]."""

CYCLE = planar_schedule(GaitConfig()).period
"""Period of the gait [s]."""

PUSH_DURATION = 0.1
"""Duration of a push [s]."""

RECOVERY = 2.0
"""Longest time until the robot is straight again after a push [s]."""

DIRECTIONS = {"forward": (1.0, 0.0), "backward": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}
"""Unit vectors in `odom` axes, x forward, y left."""


def bounding(overrides: Mapping[str, Any], speed: float = SPEED, **options: Any) -> RunOptions:
    """Options of a run at a speed [m/s], with parameters "section.name" → value, and others of RunOptions.

    Parameters of the section `run` are options, too.
    """
    own = {name.partition(".")[2]: value for name, value in overrides.items() if name.startswith("run.")}
    rest = {name: value for name, value in overrides.items() if not name.startswith("run.")}
    return RunOptions(**{"speed": ((0.0, speed),), "video": False, **options, **own}, overrides=rest)


def changed(options: RunOptions, overrides: Mapping[str, Any] | None = None, **others: Any) -> RunOptions:
    """Options with some of them changed; parameters are added to those that there are, which count more."""
    return replace(options, overrides={**(overrides or {}), **options.overrides}, **others)


def cases(
    base: RunOptions, groups: Mapping[str, Mapping[str, Mapping[str, Any]]], target: Target | None = None
) -> list[Case]:
    """The runs of a grid: by group and name, the options that are unlike the base; a target of every group."""
    return [
        Case(group, name, changed(base, **unlike), target=target)
        for group, members in groups.items()
        for name, unlike in members.items()
    ]


def push_of(impulse: float, towards: tuple[float, float] | float, time: float) -> Push:
    """A push of an impulse [N s] that begins at a time [s], along a unit vector or by its angle from forward [rad]."""
    x, y = towards if isinstance(towards, tuple) else (math.cos(towards), math.sin(towards))
    force = impulse / PUSH_DURATION
    return Push(time, (force * x, force * y, 0.0), PUSH_DURATION)


STANDING = 0.5
"""When the robot stands, and begins to bound [s]."""

_SETTLED = 5.0
"""By then a motion is steady [s]."""


def advance(loop: ClosedLoop, time: float, *, past_faults: bool = False) -> None:
    """To an instant [s] or, unless it goes on past faults, to the first one."""
    while loop.plant.time < time - 1e-9 and (past_faults or loop.controller.fault is None):
        loop.tick()


def bounding_loop(seconds: float, channel: Channel | None = None) -> ClosedLoop:
    """A loop of its own that has been bounding for a while [s], from now on through `channel`.

    Raises:
        BenchmarkError: it does not bound.
    """
    return _made(seconds).fork(channel)


@cache
def _made(seconds: float) -> ClosedLoop:
    loop = ClosedLoop(bounding({"controller.stand.ramp_time": STANDING}, duration=60.0, video=True))
    advance(loop, STANDING + seconds)
    if loop.controller.mode is not ControlMode.MOVE:
        raise BenchmarkError(f"it does not bound before anything happens: {loop.controller.fault}")
    return loop


def settling(duration: float) -> float:
    """When in a run of a duration figures of the motion begin to count: of a short one over its last two fifths [s]."""
    return min(_SETTLED, 0.6 * duration)


def settled(recording: Recording) -> NDArray[np.int64]:
    """Rows of the ticks at which figures count."""
    return np.flatnonzero(recording.ticks["time"] >= settling(float(recording.info.options["duration"])))


def moved(options: RunOptions, moving: float) -> tuple[Recording | None, str]:
    """A whole run, and why it fell, failed or did not move for so long [s] at its end: empty where it did.

    A robot that does not begin to move does not fall, either. One that recovers may have fallen before.
    """
    try:
        loop = ClosedLoop(options)
        recording = loop.run()
    except ContactDdpError as error:
        return None, f"failed: {error}"
    fault = next((event for event in recording.events if event.fault), None)
    if fault is not None and not options.recover:
        return recording, f"{fault.time:.2f} s: {fault.text}"
    time, modes = recording.ticks["time"], recording.ticks["control_mode"]
    still = np.flatnonzero((time > options.duration - moving) & (modes != CONTROL_MODES.index("move")))
    if still.size:
        why = fault.text if fault else loop.controller.waiting_for
        return recording, f"not moving: {why or f'in {CONTROL_MODES[modes[still[-1]]]} until {time[still[-1]]:.2f} s'}"
    return recording, ""


class PlannerProxy:
    """A planner between the loop and the real one, to which it passes everything on.

    Subclasses override :meth:`solve`, which sees the plans of the bound only.
    """

    def __init__(self, planner: Any) -> None:
        self.planner = planner

    def plan(self, state: RobotState, speed: float, *, hold: bool = False, **options: Any) -> PlanResult:
        """As the planner's."""
        if hold:
            held: PlanResult = self.planner.plan(state, speed, hold=True, **options)
            return held
        return self.solve(state, speed, **options)

    def solve(self, state: RobotState, speed: float, **options: Any) -> PlanResult:
        """One plan of the bound."""
        result: PlanResult = self.planner.plan(state, speed, hold=False, **options)
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.planner, name)


Proxy = TypeVar("Proxy", bound=PlannerProxy)


def loop_with(options: RunOptions, proxy_of: Callable[[Any], Proxy]) -> tuple[ClosedLoop, Proxy]:
    """A loop whose planner has a proxy, and that proxy."""
    loop = ClosedLoop(options)
    proxy = proxy_of(loop.planner)
    loop.planner = proxy  # type: ignore[assignment]
    return loop, proxy
