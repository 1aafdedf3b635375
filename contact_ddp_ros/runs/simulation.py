"""The robot in MuJoCo under its planner and controller, without ROS: one call, one recording."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NoReturn

from contact_ddp_ros.base.choices import GAIT_SUFFIXES
from contact_ddp_ros.base.errors import ParameterError, did_you_mean
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.closed_loop import run
from contact_ddp_ros.runs.options import BACKENDS, RunOptions
from contact_ddp_ros.runs.recording import Recorder, Recording
from contact_ddp_ros.runs.run_checks import check_run

WITHOUT_EFFECT = ("backend", "composed", "video", "out")
"""Fields of RunOptions about nodes and files, which a call without either does not take."""


def simulate(
    options: RunOptions | None = None,
    *,
    gait: str | Path | None = None,
    listener: Callable[[Recorder], None] | None = None,
    duration: float | None = None,
    speed: float | tuple[tuple[float, float], ...] | None = None,
    left: float | None = None,
    turn: float | None = None,
    gaits: tuple[tuple[float, str], ...] | None = None,
    ramp: bool | None = None,
    variant: str | None = None,
    robot: str | None = None,
    lockstep: bool | None = None,
    pushes: tuple[Push, ...] | None = None,
    seed: int | None = None,
    friction: float | None = None,
    trunk_mass_scale: float | None = None,
    terrain: str | None = None,
    planner_delay: float | None = None,
    state: str | None = None,
    stand_time: float | None = None,
    stop_time: float | None = None,
    recover: bool | None = None,
    record_plans: int | None = None,
    config: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    **unknown: NoReturn,
) -> Recording:
    """Run the closed loop of planner, controller and MuJoCo, in lock-step unless `lockstep=False`.

    The robot begins standing, and moves as soon as it stands and there is a plan. In lock-step the same arguments give
    the same recording, to the last bit, but for wall-clock times. Pictures and files are left to the caller.

    Args:
        options: of the run, :class:`RunOptions` by default; each further argument that is given is the field of its
            name on top, and described there.
        gait: name of a packaged gait or path of a gait file, short for the override `planner.gait.name`.
        listener: called with the recorder after every control tick, for progress.
        speed: one number [m/s], or breakpoints (time [s], speed [m/s]).
        unknown: nothing; names that do not exist are refused with the nearest one.

    Raises:
        ParameterError: an option does not exist or is out of its range, before anything is simulated.
        ContactDdpError: the robot's description, the compiler or the simulator is not usable.
    """
    known = [field.name for field in fields(RunOptions) if field.name not in WITHOUT_EFFECT]
    given = {name: value for name, value in locals().items() if name in known and value is not None}
    for name in unknown:
        meant = did_you_mean(name, [*known, "options", "gait", "listener"])
        raise ParameterError(f"simulate has no option {name!r}; {meant}")
    if isinstance(speed, int | float):
        given["speed"] = ((0.0, float(speed)),)
    chosen = replace(options or RunOptions(), **given)
    if chosen.backend != BACKENDS[0]:
        raise ParameterError(f"backend is {chosen.backend!r}, which has nodes; simulate takes {BACKENDS[0]!r} alone")
    if gait is not None:
        if not isinstance(gait, str | Path):
            raise ParameterError(f"gait is {gait!r}; allowed: a packaged gait's name or the path of a file")
        is_file = Path(gait).suffix in GAIT_SUFFIXES
        name = str(Path(gait).absolute()) if is_file else str(gait)
        chosen = replace(chosen, overrides={**chosen.overrides, "planner.gait.name": name})
    check_run(chosen)
    return run(chosen, Recorder(listener, chosen.record_plans))
