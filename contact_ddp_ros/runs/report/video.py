"""The film of a run, rendered afterwards from its recording: the same way with and without ROS."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import RecordingError
from contact_ddp_ros.runs.recording.recording import Recording
from contact_ddp_ros.runs.report.captions import Captions
from contact_ddp_ros.runs.report.kinematics import state_at

if TYPE_CHECKING:
    from contact_ddp_ros.plants.render import FrameRenderer, View

VIDEO_FILE = "run.mp4"
STILL_FILE = "robot.png"

LONGEST = 20.0
"""Longest part of a run that is filmed, from its beginning, unless told otherwise [s]."""

_PUSH_SHOWN = 0.25
"""A push is shown at least this long, for people to see it [s]."""


def render_recording(
    recording: Recording,
    path: Path,
    *,
    frames_per_second: float = 30.0,
    speed: float = 1.0,
    longest: float = LONGEST,
    progress: Callable[[float], None] | None = None,
    view: "View | None" = None,
) -> None:
    """Replay the recorded states into a video, with the pushes and the measured contact forces as arrows.

    In the corner stand time, speed and phase of the gait; a pale robot is where the newest kept plan has it.

    Args:
        recording: of at least one tick.
        path: of the file; its suffix (.mp4, .gif) decides the format. Written whole or not at all.
        frames_per_second: of the film.
        speed: simulated time per time of the film; below 1 is slow motion.
        longest: film at most that much simulated time [s].
        progress: called with the share of the frames that are done.
        view: where the camera is; by default close by.

    Raises:
        RecordingError: there is nothing to film.
        SimulationError: this machine cannot render, or cannot encode.
    """
    from contact_ddp_ros.plants.render import write_video

    rows = _frame_rows(recording, speed / frames_per_second, longest)
    if not rows.size:
        raise RecordingError("the recording has no tick to film")
    captions = Captions(recording)
    with _renderer(recording, view) as renderer:

        def frames() -> Iterator[NDArray[np.uint8]]:
            for count, row in enumerate(rows):
                if progress is not None:
                    progress(count / len(rows))
                yield _frame(renderer, recording, int(row), captions)

        write_video(path, frames(), frames_per_second)


def render_still(recording: Recording, path: Path, time: float | None = None) -> None:
    """One picture: of the instant given, else of the highest pitch while all feet are in the air, late in the run.

    Raises:
        RecordingError, SimulationError: as :func:`render_recording`.
    """
    from contact_ddp_ros.plants.render import write_image

    if not len(recording.ticks["time"]):
        raise RecordingError("the recording has no tick to picture")
    row = _telling_row(recording) if time is None else int(np.searchsorted(recording.ticks["time"], time))
    with _renderer(recording) as renderer:
        last = len(recording.ticks["time"]) - 1
        write_image(path, _frame(renderer, recording, min(row, last), Captions(recording)))


def _renderer(recording: Recording, view: "View | None" = None) -> "FrameRenderer":
    """Renderer of the recorded robot, on its ground, with its payload."""
    from contact_ddp_ros.plants.options import PayloadOptions, SimOptions
    from contact_ddp_ros.plants.render import THREE_QUARTER_VIEW, FrameRenderer
    from contact_ddp_ros.robot.model import load_robot

    options, world = recording.info.options, (recording.info.parameters or {}).get("simulator", {})
    payload = PayloadOptions(**{name: world.get(f"payload.{name}", 0.0) for name in ("mass", "x", "y")})
    shown = SimOptions(terrain=options.get("terrain", "flat"), payload=payload)
    return FrameRenderer(load_robot(options.get("robot")), shown, view=view or THREE_QUARTER_VIEW)


def _frame(renderer: "FrameRenderer", recording: Recording, row: int, captions: Captions) -> NDArray[np.uint8]:
    ticks = recording.ticks
    forces = ticks["contact_forces"][row]
    return renderer.frame(
        state_at(recording, row),
        push=_push(recording, float(ticks["time"][row])),
        contact_forces=forces if np.isfinite(forces).all() else None,
        ghost=captions.ghost(row),
        text=captions.lines(row),
    )


def _frame_rows(recording: Recording, period: float, longest: float) -> NDArray[np.int64]:
    """Rows of the ticks to show, one per `period` of simulated time; ticks that are not finite end the film."""
    ticks = recording.ticks
    known = np.isfinite(ticks["position"]).all(axis=1) & np.isfinite(ticks["joint_positions"]).all(axis=1)
    count = int(np.argmin(known)) if not known.all() else len(known)
    if not count:
        return np.empty(0, dtype=np.int64)
    time = ticks["time"][:count]
    wanted = np.arange(time[0], min(time[-1], time[0] + longest) + 1e-9, period)
    return np.minimum(np.searchsorted(time, wanted - 1e-9), count - 1)


def _push(recording: Recording, time: float) -> NDArray[np.float64] | None:
    force = np.zeros(3)
    for push in recording.info.options.get("pushes", ()):
        if push["time"] <= time < push["time"] + max(push["duration"], _PUSH_SHOWN):
            force += push["force"]
    return force if force.any() else None


def _telling_row(recording: Recording) -> int:
    """Tick for a still picture, in the last third of the run: nose up as far as it gets with no foot on the ground."""
    pitch, forces = recording.rpy[:, 1].copy(), recording.ticks["contact_forces"][:, :, 2]
    touching = (np.nan_to_num(forces) > 0.0).any(axis=1)
    late = np.arange(len(pitch)) >= 2 * len(pitch) // 3
    flying = late & ~touching
    pitch[~(flying if flying.any() else late)] = np.inf
    return int(np.argmin(pitch))
