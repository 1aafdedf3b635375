"""The robot and its world in the browser: shapes once for each world, poses with every snapshot."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import viser
from numpy.typing import NDArray

from contact_ddp_ros.apps.play.overlay import LAYERS, Overlay, below
from contact_ddp_ros.plants.figure import Figure
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.runs.live.commands import Command, Grab, Release
from contact_ddp_ros.runs.live.snapshot import PlanView, Snapshot
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.scenario import scenario
from contact_ddp_ros.runs.web_scene import DARK, GHOST, LIGHT, ROOT, Tint, add_body, add_ground, place, show

Array = NDArray[np.float64]

_CAMERA, _LOOK_AT = (0.55, -1.25, 0.55), (0.05, 0.0, 0.2)
_CAMERA_UPRIGHT, _LOOK_AT_UPRIGHT = (0.9, -2.2, 0.75), (0.05, 0.0, -0.6)
"""Camera and what it looks at in upright windows, as of phones, where controls hold the lower half [m]."""

_KEPT: Final = (160, 80, 160), 0.6
"""Look of the robot that is kept for a comparison."""


class Scene:
    """Scene of one world; remade for another."""

    def __init__(self, server: viser.ViserServer, send: Callable[[Command], None], shadows: bool = True) -> None:
        """`send` gets what the mouse does to the robot; `shadows` are slow without a graphics card."""
        self._server = server
        self._send = send
        self.follow = True
        """True if the view moves along with the robot."""
        self.ghost_ahead = 0.12
        """Lead of the ghost on its plan [s]; 0 for no ghost."""
        server.initial_camera.position = _CAMERA
        server.initial_camera.look_at = _LOOK_AT
        server.on_client_connect(_frame)
        self.cast_shadows(shadows)
        self.aside = 0.4
        """Distance in y by which the robot that is kept is drawn aside [m]."""
        self.shown = set(LAYERS)
        """Layers of the overlay that are drawn, of LAYERS."""
        self._ground = LIGHT
        self._root: Any = None
        self._grabbed: tuple[str, Array] | None = None

    def cast_shadows(self, cast: bool) -> None:
        """Draw shadows, or not."""
        self._server.scene.configure_default_lights(cast_shadow=cast)

    def darken(self, dark: bool) -> None:
        """Draw a dark ground, or a light one."""
        self._ground = DARK if dark else LIGHT
        if self._root is not None:
            self._add_ground()

    def build(self, options: RunOptions, *, draggable: bool = True, kept: bool = False) -> None:
        """Draw another robot or world; where `draggable`, the mouse pulls its links; `kept`: there is a second robot.

        Raises:
            ContactDdpError: the options describe no world.
        """
        found = scenario(options)
        robot = found.robot
        figure = Figure(robot, found.simulator)
        scene = self._server.scene
        with self._server.atomic():
            if self._root is not None:
                self._root.remove()
            self._root = scene.add_frame(ROOT, show_axes=False)
            self._figure, self._plan = figure, PlanView(robot)
            moving = sorted({shape.body for shape in figure.shapes if shape.body})
            self._bodies = {body: self._add_body("robot", body, draggable) for body in moving}
            self._ghosts = {body: self._add_body("ghost", body, tint=GHOST) for body in moving}
            self._kept = {body: self._add_body("kept", body, tint=_KEPT) for body in moving if kept}
            self._add_ground()
            self._overlay = Overlay(scene, ROOT, figure, self._plan, self.shown)
            self._poses = figure.poses(robot.standing_state())
            place(self._bodies, *self._poses)
            self._show_ghost(False)

    def draw(self, snapshot: Snapshot) -> None:
        """Move everything to where a snapshot has it."""
        with self._server.atomic():
            self._poses = self._figure.poses(snapshot.state)
            self._root.position = -below(snapshot) if self.follow else np.zeros(3)
            place(self._bodies, *self._poses)
            plan = snapshot.plan
            self._show_ghost(plan is not None and self.ghost_ahead > 0.0)
            if plan is not None and self.ghost_ahead > 0.0:
                ahead = self._plan.at(plan, snapshot.state.time + self.ghost_ahead, snapshot.state)
                place(self._ghosts, *self._figure.poses(ahead))
            if snapshot.kept is not None:
                positions, wxyz = self._figure.poses(snapshot.kept.state)
                place(self._kept, positions + [0.0, self.aside, 0.0], wxyz)
            self._overlay.draw(snapshot)

    def _add_ground(self) -> None:
        shapes = [shape for shape in self._figure.shapes if not shape.body]
        add_ground(self._server.scene, f"{ROOT}/ground", shapes, colours=self._ground)

    def _add_body(self, group: str, body: int, draggable: bool = False, tint: Tint | None = None) -> viser.FrameHandle:
        shapes = [shape for shape in self._figure.shapes if shape.body == body]
        path = f"{ROOT}/{group}/{self._figure.bodies[body]}"
        frame, meshes = add_body(self._server.scene, path, shapes, tint=tint)
        for mesh in meshes if draggable else ():
            self._make_draggable(mesh, self._figure.bodies[body], body)
        return frame

    def _make_draggable(self, handle: viser.MeshHandle, link: str, body: int) -> None:
        """Dragging pulls the link by the point that was grabbed."""

        @handle.on_drag("left")
        async def _(event: viser.SceneNodeDragEvent[viser.MeshHandle]) -> None:
            if event.phase == "end":
                self._grabbed = None
                self._send(Release())
                return
            offset = np.asarray(self._root.position)
            if event.phase == "start" or self._grabbed is None:
                positions, quaternions = self._poses
                rotation = quaternion_to_matrix(np.roll(quaternions[body], -1))
                self._grabbed = link, rotation.T @ (np.array(event.start_position) - offset - positions[body])
            name, point = self._grabbed
            target = np.array(event.end_position) - offset
            self._send(Grab(name, _triple(point), _triple(target)))

    def _show_ghost(self, visible: bool) -> None:
        for frame in self._ghosts.values():
            show(frame, visible)


def _frame(client: viser.ClientHandle) -> None:
    """Frame the robot in the free part of an upright window."""
    if client.camera.aspect < 1.0:
        client.camera.position, client.camera.look_at = _CAMERA_UPRIGHT, _LOOK_AT_UPRIGHT


def _triple(vector: Array) -> tuple[float, float, float]:
    x, y, z = (float(number) for number in vector)
    return x, y, z
