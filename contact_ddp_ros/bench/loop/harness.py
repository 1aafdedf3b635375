"""How benchmarks run the closed loop: up to an instant or a fault, from a bound that is under way, or with a planner
that is listened to or told what to do.

A loop that bounds already is made once in a process and copied for every run that goes on from there.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from contact_ddp_ros.closed_loop import ClosedLoop
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.errors import BenchmarkError
from contact_ddp_ros.links import Links
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.options import RunOptions
from contact_ddp_ros.robot.ground import Felt
from contact_ddp_ros.robot.state import RobotState

SPEED = 0.5
"""Commanded while bounding [m/s]."""

STANDING = 0.5
"""When the robot stands, and begins to bound [s]."""


def advance(loop: ClosedLoop, time: float, *, past_faults: bool = False) -> None:
    """To an instant [s] or, unless it goes on past faults, to the first one."""
    while loop.simulator.time < time - 1e-9 and (past_faults or loop.controller.fault is None):
        loop.tick()


NOTHING_FELT = Felt()


def bounding_loop(seconds: float, links: Links | None = None) -> ClosedLoop:
    """A loop of its own that has been bounding for a while [s], from now on through `links`.

    Raises:
        BenchmarkError: it does not bound.
    """
    return _made(seconds).fork(links)


@cache
def _made(seconds: float) -> ClosedLoop:
    options = RunOptions(duration=60.0, speed=((0.0, SPEED),), overrides={"controller.stand.ramp_time": STANDING})
    loop = ClosedLoop(options)
    advance(loop, STANDING + seconds)
    if loop.controller.mode is not ControlMode.MOVE:
        raise BenchmarkError(f"it does not bound before anything happens: {loop.controller.fault}")
    return loop


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
