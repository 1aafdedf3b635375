"""The film of a motion, in slow motion, with the planned robot as a pale one."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.render import FrameRenderer, View, write_video
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.motions.result import MotionResult
from contact_ddp_ros.runs.recording import Recording

_VIEW = View(azimuth=105.0, elevation=-8.0, distance=1.7, height=0.38)
_FROM_AHEAD = View(azimuth=200.0, elevation=-8.0, distance=1.7, height=0.38)
"""Camera poses for a motion in the plane, and for one to the side."""

_BEFORE, _AFTER = 0.25, 0.5
"""Parts of the stand before the motion and after it that are shown [s]."""


def film_motion(
    recording: Recording, path: Path | str, *, frames_per_second: float = 30.0, speed: float = 0.35, width: int = 960
) -> None:
    """Render a run to .mp4 or .gif, whole or not at all.

    Args:
        recording: of the motion.
        path: of the file.
        frames_per_second: of the film.
        speed: simulated time per time of the film.
        width: of the picture [pixels]; the height is 9/16 of it.

    Raises:
        SimulationError: this machine cannot render, or cannot encode.
    """
    write_video(Path(path), frames(MotionResult(recording), speed / frames_per_second, width), frames_per_second)


def frames(run: MotionResult, period: float, width: int = 960) -> Iterator[NDArray[np.uint8]]:
    """Pictures of a run, one per `period` of simulated time [s]."""
    robot, view = run.model.robot, _FROM_AHEAD if run.task.roll else _VIEW
    end = run.begun + run.task.duration + _AFTER
    world = SimOptions(terrain=run.recording.info.options["terrain"])
    with FrameRenderer(robot, world, width, width * 9 // 16 // 2 * 2, view) as renderer:
        for instant in np.arange(run.begun - _BEFORE, min(end, run.times[-1]), period):
            row = int(np.searchsorted(run.times, instant - 1e-9))
            yield renderer.frame(
                run.states[row], contact_forces=run.forces[row], ghost=_ghost(run, row), text=_text(run, row)
            )


def _ghost(run: MotionResult, row: int) -> RobotState | None:
    """The planned robot, along the line on which the motion began."""
    model = run.model
    if not run.moving[row]:
        return None
    start = run.states[int(np.searchsorted(run.times, run.begun - 1e-9))]
    x = run.planned[row]
    if isinstance(model, WholeBodyModel):
        yaw = float(quaternion_to_rpy(start.orientation)[2])
        return model.robot_state(model.frame(start, yaw).out_of(x), start)
    planned = model.robot_state(x, start)
    shift = np.array([start.position[0], 0.0, 0.0])
    return RobotState(**{**vars(planned), "position": planned.position + shift})


def _text(run: MotionResult, row: int) -> dict[str, str]:
    x, turning = run.coordinates[row], run.turning
    return {
        "stage": run.stages[row].value.replace("_", " "),
        "time": f"{run.times[row] - run.begun:.2f} s",
        "height": f"{run.heights[row]:.2f} m",
        "roll" if run.task.roll else "pitch": f"{math.degrees(x[turning]):.0f} deg",
    }
