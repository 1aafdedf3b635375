"""A recording as one HTML file: robot, ghost of its plan and forces in space, played by viser's client in any browser.

The file needs neither a network nor a server; only the writing needs one, which viser's scenes belong to.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from html import escape
from io import StringIO
from itertools import takewhile
from pathlib import Path
from typing import Final

import numpy as np
import viser

from contact_ddp_ros.base.errors import RecordingError
from contact_ddp_ros.robot.joints import BASE_LINK
from contact_ddp_ros.runs import scene as look
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.report.style import run_title
from contact_ddp_ros.runs.scene import Moment, Pose, RecordedRobot
from contact_ddp_ros.runs.web_scene import GHOST, ROOT, add_arrows, add_body, add_ground, place, point, segments, show

SUFFIX = ".html"

RATE: Final = 50.0
"""Pictures per second of the run."""

LONGEST: Final = 60.0
"""Longest part of a run that is shown, from its beginning [s]."""

_CAMERA, _LOOK_AT = np.array([-0.55, -1.25, 0.55]), np.array([0.0, 0.0, 0.2])
"""Where the camera begins, behind the robot, for the ground ahead to be seen, and where it looks [m]."""

_FIELD, _HEIGHT = 0.7, 0.4
"""Angle that the camera sees [rad]; where the trunk gets higher above the ground [m], it is farther off."""

_CLIMB = 0.1
"""Share of a change of the ground's height that the view follows from one picture to the next."""

_STYLE = "position:fixed;left:1em;bottom:3.6em;z-index:1;pointer-events:none;font:13px/1.5 sans-serif;color:#333"


def write(recording: Recording, path: Path) -> None:
    """Write the run's first LONGEST seconds, the world moving below the robot.

    Raises:
        RecordingError: no state of the robot is known.
        ContactDdpError: the robot or its ground cannot be built here.
    """
    motion = RecordedRobot(recording)
    time = float(recording.ticks["time"][0])
    end = time + LONGEST
    moments = list(takewhile(lambda moment: moment.time <= end, motion.moments(RATE)))
    if not moments:
        raise RecordingError("the recording has no state of the robot to show")
    with _server() as server:
        scene = _Scene(server, motion, moments)
        serializer = server.get_scene_serializer()
        for moment in moments:
            serializer.insert_sleep(moment.time - time)
            scene.draw(moment)
            time = moment.time
        serializer.insert_sleep(1.0 / RATE)
        page = serializer.as_html()
    path.write_text(_captioned(page, run_title(recording)), encoding="utf-8")


@contextmanager
def _server() -> Iterator[viser.ViserServer]:
    """Server that nobody is told of, on any free port of this machine alone."""
    with redirect_stdout(StringIO()):  # it announces itself and its end there
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        yield server
    finally:
        with redirect_stdout(StringIO()):
            server.stop()


class _Scene:
    """Scene of a recorded robot in its world."""

    def __init__(self, server: viser.ViserServer, motion: RecordedRobot, moments: Sequence[Moment]) -> None:
        """Draws what stays; the camera is far enough off to see the robot where it is highest."""
        self._trunk = motion.bodies.index(BASE_LINK)
        places = np.array([moment.robot.positions[self._trunk] for moment in moments])
        self._height = moments[0].ground
        away = max(1.0, float(np.max(places[:, 2] - [moment.ground for moment in moments])) / _HEIGHT)
        camera, scene = server.initial_camera, server.scene
        camera.position, camera.look_at, camera.fov = away * _CAMERA, away * _LOOK_AT, _FIELD
        self._paths = list(motion.paths())
        self._root = scene.add_frame(ROOT, show_axes=False)
        add_ground(scene, f"{ROOT}/ground", [one for one in motion.shapes if not one.body], places[:, :2])
        self._plan = scene.add_frame(f"{ROOT}/plan", show_axes=False, visible=False)
        self._robot: dict[int, viser.FrameHandle] = {}
        self._ghost: dict[int, viser.FrameHandle] = {}
        for body, name in enumerate(motion.bodies):
            shapes = [shape for shape in motion.shapes if shape.body == body]
            if body and shapes:
                self._robot[body], _ = add_body(scene, f"{ROOT}/robot/{name}", shapes)
                self._ghost[body], _ = add_body(scene, f"{ROOT}/plan/{look.GHOST_PREFIX}{name}", shapes, tint=GHOST)
        self._measured = add_arrows(scene, f"{ROOT}/forces/measured", look.bytes_of(look.MEASURED_FORCE)[:3])
        self._planned = add_arrows(scene, f"{ROOT}/forces/planned", look.bytes_of(look.PLANNED_FORCE)[:3], 0.004)
        self._lines = [
            scene.add_line_segments(
                f"{ROOT}/plan/{name}",
                np.zeros((1, 2, 3), dtype=np.float32),
                look.bytes_of(colour)[:3],
                thickness=2.0,
                thickness_units="screen",
            )
            for name, colour in (("trunk", look.TRUNK_PATH), ("feet", look.FOOT_PATH))
        ]

    def draw(self, moment: Moment) -> None:
        """Move everything to where it is; the view follows the robot, and the ground's height slowly."""
        robot, ghost = moment.robot, moment.ghost
        self._height += _CLIMB * (moment.ground - self._height)
        self._root.position = -np.array([*robot.positions[self._trunk, :2], self._height])
        _place(self._robot, robot)
        show(self._plan, ghost is not None)
        if ghost is not None:
            _place(self._ghost, ghost)
        begun = [path for path in self._paths if path.time <= moment.time]
        if begun:
            trunk_line, feet_lines = self._lines
            trunk_line.points = segments(begun[-1].trunk)
            feet_lines.points = np.concatenate([segments(sole) for sole in begun[-1].soles])
            self._paths = self._paths[len(begun) :]
        point(self._measured, moment.soles, moment.forces, look.FORCE_SCALE)
        point(self._planned, moment.soles, moment.planned, look.FORCE_SCALE)


def _place(frames: Mapping[int, viser.FrameHandle], pose: Pose) -> None:
    """Place bodies to the nearest 2⁻¹³, whose many zero bits take no room in the compressed file."""
    positions, wxyz = pose.positions, np.roll(pose.quaternions, 1, axis=1)
    place(frames, *(np.round(values * 2.0**13) / 2.0**13 for values in (positions, wxyz)))


def _captioned(page: str, title: str) -> str:
    """The page with the run's title and what its colours mean."""
    colours = (("measured forces", look.MEASURED_FORCE), ("planned forces", look.PLANNED_FORCE))
    legend = " &nbsp; ".join(
        f'<span style="color:rgb{look.bytes_of(colour)[:3]}">&#8593; {name}</span>' for name, colour in colours
    )
    title, (head, _, tail) = escape(title), page.rpartition("</body>")
    head = head.replace("<title>Viser</title>", f"<title>{title}</title>", 1)
    words = f"{title}<br>{legend} &nbsp; pale robot and lines: the plan"
    return f'{head}<div style="{_STYLE}">{words}</div></body>{tail}'
