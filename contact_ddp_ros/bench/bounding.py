"""Loops that bound already: made once in a process, copied for every run that goes on from there."""

from functools import cache

from contact_ddp_ros.closed_loop import ClosedLoop
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.errors import BenchmarkError
from contact_ddp_ros.links import Links
from contact_ddp_ros.options import RunOptions

SPEED = 0.5
"""Commanded while bounding [m/s]."""

STANDING = 0.5
"""When the robot stands, and begins to bound [s]."""


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
    if loop.controller.mode is not ControlMode.BOUND:
        raise BenchmarkError(f"it does not bound before anything happens: {loop.controller.fault}")
    return loop


def advance(loop: ClosedLoop, time: float) -> None:
    """To an instant [s], or to the first fault."""
    while loop.simulator.time < time - 1e-9 and loop.controller.fault is None:
        loop.tick()
