"""The robot in MuJoCo under its planner and controller, without ROS: one call, one recording."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_type_hints

from contact_ddp_ros.base.errors import ParameterError, did_you_mean
from contact_ddp_ros.runs.closed_loop import run
from contact_ddp_ros.runs.options import BACKENDS, RunOptions
from contact_ddp_ros.runs.recording import Recorder, Recording
from contact_ddp_ros.runs.scenario import check_run

WITHOUT_EFFECT = ("backend", "composed", "video", "out")
"""Fields of RunOptions about nodes and files, which a call without either does not take."""


def simulate(
    options: RunOptions | None = None, *, listener: Callable[[Recorder], None] | None = None, **changes: Any
) -> Recording:
    """Run the closed loop of planner, controller and MuJoCo, in lock-step unless `lockstep=False`.

    The robot begins standing, and moves as soon as it stands and there is a plan. In lock-step the same arguments give
    the same recording, to the last bit, but for wall-clock times. Pictures and files are left to the caller.

    Args:
        options: of the run, :class:`RunOptions` by default.
        listener: called with the recorder after every control tick, for progress.
        changes: fields of :class:`RunOptions` by name, on top of `options`, such as `duration=2.0`, `speed=0.5`,
            `gait="trot"`, `overrides={"planner.weight.pitch": 60}`; None changes nothing.

    Raises:
        ParameterError: an option does not exist or is out of its range, before anything is simulated.
        ContactDdpError: the robot's description, the compiler or the simulator is not usable.
    """
    for name in changes:
        if name not in _CHANGES:
            meant = did_you_mean(name, [*_CHANGES, "options", "listener"])
            raise ParameterError(f"simulate has no option {name!r}; {meant}")
    chosen = replace(options or RunOptions(), **{name: one for name, one in changes.items() if one is not None})
    if chosen.backend != BACKENDS[0]:
        raise ParameterError(f"backend is {chosen.backend!r}, which has nodes; simulate takes {BACKENDS[0]!r} alone")
    check_run(chosen)
    return run(chosen, Recorder(listener, chosen.record_plans))


_CHANGES = {name: kind | None for name, kind in get_type_hints(RunOptions).items() if name not in WITHOUT_EFFECT}
_OFFERED = inspect.signature(simulate)
_ADDED = [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
    for name, kind in _CHANGES.items()
]
simulate.__signature__ = _OFFERED.replace(  # type: ignore[attr-defined]
    parameters=[*list(_OFFERED.parameters.values())[:2], *_ADDED]
)
