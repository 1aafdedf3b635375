"""The film of a run, rendered afterwards from its recording: the same way with and without ROS.

Captions of a film beside the robot: time, speed, phase, and the ghost of its plan.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import RecordingError
from contact_ddp_ros.runs.motions.result import MotionResult
from contact_ddp_ros.runs.recording.recording import Recording

if TYPE_CHECKING:
    from contact_ddp_ros.plants.render import FrameRenderer, View
import math

from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.policy_kinematics import PolicyPoses
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.recording import analysis
from contact_ddp_ros.runs.recording.record import CONTROL_MODES, kept_at
from contact_ddp_ros.runs.report.style import gait_name
from contact_ddp_ros.runs.robot_scaling import scales
from contact_ddp_ros.runs.scene import RecordedRobot


class Captions:
    """Captions of the ticks of a recording."""

    def __init__(self, recording: Recording) -> None:
        """Works out what all pictures need; loads the robot where plans were kept."""
        ticks, period = recording.ticks, recording.info.control_period
        self._motion = MotionResult(recording) if recording.motion else None
        self._recording = recording
        self._speed = analysis.held_mean(recording.heading_velocity[:, 0], analysis.gait_period(recording), period)
        self._phase = analysis.phase(recording)
        self._gait = gait_name(recording)
        shown = recording.plans if PolicyPoses.knows(recording.info.plan_coordinates) else {}
        self._robot = RecordedRobot(recording) if shown or recording.motion else None
        self._plans = kept_at(shown, ticks["time"])

    def ghost(self, row: int) -> RobotState | None:
        """Pose of the robot at a tick in the newest kept plan; None where none covers it."""
        return None if self._robot is None else self._robot.ghost(row)

    def lines(self, row: int) -> dict[str, str]:
        """Names and values; what nobody knows is left out."""
        if self._motion is not None:
            return self._motion.caption(row)
        recording, ticks = self._recording, self._recording.ticks
        time, command = float(ticks["time"][row]), float(ticks["commanded_speed"][row])
        found = {"time": f"{time:.2f} s", "speed": f"{self._speed[row]:.2f} m/s"}
        if math.isfinite(command):
            found["speed"] += f", asked for {command:.2f}"
        if math.isfinite(self._phase[row]):
            mode = int(ticks["mode"][row])
            name = recording.info.mode_names[mode].replace("_", " ") if mode >= 0 else ""
            found[self._gait] = f"{100.0 * self._phase[row]:.0f} % {name}".strip()
        elif ticks["control_mode"][row] >= 0:
            found["mode"] = CONTROL_MODES[ticks["control_mode"][row]]
        if self._plans[row] >= 0:
            age = time - float(recording.plans["times"][self._plans[row], 0])
            found["ghost"] = f"plan of {max(age, 0.0):.2f} s ago"
        return found


VIDEO_FILE = "run.mp4"
STILL_FILE = "robot.png"

LONGEST = 20.0
"""Longest part of a run that is filmed, from its beginning, unless told otherwise [s]."""

_SLOW, _BEFORE, _AFTER = 0.35, 0.25, 0.5
"""Speed of the film of a jump or a flip, and the stand before it and after it that is shown [s]."""

_PUSH_SHOWN = 0.25
"""A push is shown at least this long, for people to see it [s]."""


def render_recording(
    recording: Recording,
    path: Path | str,
    *,
    frames_per_second: float = 25.0,
    speed: float | None = None,
    longest: float = LONGEST,
    progress: Callable[[float], None] | None = None,
    view: "View | None" = None,
) -> None:
    """Replay the recorded states into a video, with the pushes and the measured contact forces as arrows.

    In the corner stand time, speed and phase of the gait; a pale robot is where the newest kept plan has it. A jump or
    a flip is filmed from a little before its beginning to a little after its end.

    Args:
        recording: of at least one tick.
        path: of the file; its suffix (.mp4, .gif) decides the format. Written whole or not at all.
        frames_per_second: of the film.
        speed: simulated time per time of the film; below 1 is slow motion, by default of a jump or a flip alone.
        longest: film at most that much simulated time [s].
        progress: called with the share of the frames that are done.
        view: where the camera is; by default close by, or beside a jump or a flip.

    Raises:
        RecordingError: there is nothing to film.
        SimulationError: this machine cannot render, or cannot encode.
    """
    from contact_ddp_ros.plants.render import write_video

    speed = (_SLOW if recording.motion else 1.0) if speed is None else speed
    pictures = frames(recording, speed / frames_per_second, longest=longest, progress=progress, view=view)
    write_video(Path(path), pictures, frames_per_second)


def frames(
    recording: Recording,
    period: float,
    *,
    width: int = 960,
    longest: float = LONGEST,
    progress: Callable[[float], None] | None = None,
    view: "View | None" = None,
) -> Iterator[NDArray[np.uint8]]:
    """Pictures of :func:`render_recording`, one per `period` of simulated time [s], `width` pixels wide."""
    rows, captions = _frame_rows(recording, period, longest), Captions(recording)
    if not rows.size:
        raise RecordingError("the recording has no tick to film")
    with _renderer(recording, view, width) as renderer:
        for count, row in enumerate(rows):
            if progress is not None:
                progress(count / len(rows))
            yield _frame(renderer, recording, int(row), captions)


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


def _renderer(recording: Recording, view: "View | None" = None, width: int = 960) -> "FrameRenderer":
    """Renderer of the recorded robot, on its ground, with its payload."""
    from contact_ddp_ros.plants.options import PayloadOptions, SimOptions
    from contact_ddp_ros.plants.render import THREE_QUARTER_VIEW, FrameRenderer, View

    options, world = recording.info.options, (recording.info.parameters or {}).get("simulator", {})
    payload = PayloadOptions(**{name: world.get(f"payload.{name}", 0.0) for name in ("mass", "x", "y")})
    shown = SimOptions(terrain=options.get("terrain", "flat"), payload=payload)
    usual = THREE_QUARTER_VIEW
    if recording.motion:
        usual = View(azimuth=200.0 if options["motion"]["roll"] else 105.0, elevation=-8.0, distance=1.7, height=0.38)
    height, robot = width * 9 // 16 // 2 * 2, load_robot(options.get("robot"))
    size, _ = scales(robot)
    usual = replace(usual, distance=size * usual.distance, height=size * usual.height)
    return FrameRenderer(robot, shown, width, height, view or usual)


def _frame(renderer: "FrameRenderer", recording: Recording, row: int, captions: Captions) -> NDArray[np.uint8]:
    ticks = recording.ticks
    forces = ticks["contact_forces"][row]
    return renderer.frame(
        recording.state(row),
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
    begin, end = float(time[0]), float(time[-1])
    if recording.motion:
        run = MotionResult(recording)
        begin, end = max(begin, run.begun - _BEFORE), min(end, run.begun + run.task.duration + _AFTER)
    wanted = np.arange(begin, min(end, begin + longest) + 1e-9, period)
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
