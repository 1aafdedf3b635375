"""The robot in MuJoCo under its planner and controller, without ROS: one call, one recording."""

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from contact_ddp_ros.closed_loop import run
from contact_ddp_ros.errors import ParameterError
from contact_ddp_ros.options import BACKENDS, GAIT_SUFFIXES, RunOptions
from contact_ddp_ros.recording import Recorder, Recording
from contact_ddp_ros.run_checks import check_run
from contact_ddp_ros.suggestions import did_you_mean


def simulate(
    options: RunOptions | None = None,
    *,
    gait: str | Path | None = None,
    model: str | None = None,
    listener: Callable[[Recorder], None] | None = None,
    **choices: Any,
) -> Recording:
    """Run the closed loop of planner, controller and MuJoCo, in lock-step unless `lockstep=False`.

    The robot begins standing, and moves as soon as it stands and there is a plan. In lock-step the same arguments give
    the same recording, to the last bit, but for wall-clock times. Pictures and files are left to the caller.

    Args:
        options: of the run, :class:`RunOptions` by default.
        gait: name of a packaged gait or path of a gait file, short for the override `planner.gait.name`.
        model: what is planned for, "whole_body" or "planar", short for the override `planner.model`.
        listener: called with the recorder after every control tick, for progress.
        choices: fields of RunOptions on top of `options`; `speed` may be one number [m/s].

    Raises:
        ParameterError: an option does not exist or is out of its range, before anything is simulated.
        ContactDdpError: the robot's description, the compiler or the simulator is not usable.
    """
    known = [field.name for field in fields(RunOptions)]
    for name in choices:
        if name not in known:
            raise ParameterError(f"no option of a run is called {name!r}; {did_you_mean(name, known)}")
    if isinstance(choices.get("speed"), int | float):
        choices["speed"] = ((0.0, float(choices["speed"])),)
    chosen = replace(options or RunOptions(), **choices)
    if chosen.backend != BACKENDS[0]:
        raise ParameterError(f"backend is {chosen.backend!r}, which has nodes; simulate takes {BACKENDS[0]!r} alone")
    if gait is not None:
        if not isinstance(gait, str | Path):
            raise ParameterError(f"gait is {gait!r}; allowed: a packaged gait's name or the path of a file")
        is_file = Path(gait).suffix in GAIT_SUFFIXES
        name = str(Path(gait).absolute()) if is_file else str(gait)
        chosen = replace(chosen, overrides={**chosen.overrides, "planner.gait.name": name})
    if model is not None:
        chosen = replace(chosen, overrides={**chosen.overrides, "planner.model": model})
    check_run(chosen)
    return run(chosen, Recorder(listener, chosen.record_plans))
