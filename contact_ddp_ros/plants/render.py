"""Pictures of the robot from recorded states: a camera that follows it, and videos written whole or not at all.

An off-screen OpenGL context on a machine without a display: EGL, else OSMesa.

MUJOCO_GL=egl or MUJOCO_GL=osmesa chooses; otherwise the first whose library is installed is taken. MuJoCo's own choice
is fixed when it is first imported, so its context classes are used directly here.
"""

import ctypes.util
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError, SimulationError
from contact_ddp_ros.base.files import written_whole
from contact_ddp_ros.base.mujoco_engine import mujoco
from contact_ddp_ros.plants.mujoco_model import COLLISION_GROUP, build_model
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.terrain.words import parse_terrain
from contact_ddp_ros.robot.joints import FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import RobotState

LIBRARIES: Final = {"egl": "EGL", "osmesa": "OSMesa"}
"""Shared library that each kind of context needs, in order of preference."""

INSTALL_HINT: Final = (
    "install one of them: `apt-get install libegl1 libgl1-mesa-dri` or `apt-get install libosmesa6`; "
    "MUJOCO_GL=egl or MUJOCO_GL=osmesa chooses between them"
)


def offscreen_context(width: int, height: int) -> Any:
    """A context to render into, made current; it has `make_current` and `free`.

    Raises:
        SimulationError: no library is installed, or the one chosen cannot make a context.
    """
    kind = _choose()
    # PyOpenGL binds to one platform when first imported; MuJoCo's classes refuse another one.
    os.environ["PYOPENGL_PLATFORM"] = kind
    try:
        if kind == "egl":
            from mujoco.egl import GLContext
        else:
            from mujoco.osmesa import GLContext
        context = GLContext(width, height)
        context.make_current()
    except Exception as error:  # PyOpenGL raises anything, AttributeError included, where a driver is missing
        raise SimulationError(f"cannot render off screen with {kind}: {error}; {INSTALL_HINT}") from error
    return context


def _choose() -> str:
    wished = os.environ.get("MUJOCO_GL", "").strip().lower()
    installed = [kind for kind, library in LIBRARIES.items() if ctypes.util.find_library(library)]
    if wished in LIBRARIES:
        return wished
    if not installed:
        raise SimulationError(f"cannot render: neither libEGL nor libOSMesa is installed; {INSTALL_HINT}")
    return installed[0]


Array = NDArray[np.float64]
Image = NDArray[np.uint8]

VIDEO_SUFFIXES: Final = (".mp4", ".gif")

_MAX_SHAPES = 2000
_VIDEO_QUALITY = 7
"""imageio's scale from 0 to 10 of the mp4's bit rate."""

_EVEN_SIZES = 2
"""H.264 as every player reads it wants even image sizes; imageio resizes to a multiple of this [pixels]."""

_FORCE_COLOUR, _PUSH_COLOUR = (0.13, 0.55, 0.30, 0.9), (0.90, 0.35, 0.10, 1.0)
_GHOST_COLOUR = (0.24, 0.51, 0.78, 0.3)
_FORCE_SCALE, _PUSH_SCALE = 1.0 / 500.0, 1.0 / 150.0
"""Length of an arrow per force [m/N]."""

_PUSH_CLEARANCE = 0.1
"""Height of a push's arrow above the trunk's origin, where the trunk does not hide it [m]."""

_ARROW_WIDTH, _SMALLEST_FORCE = 0.008, 1.0
"""Width of an arrow [m], and the force below which none is drawn [N]."""

_AROUND: Final = np.array([[x, 0.0] for x in np.linspace(-0.6, 0.6, 41)])
"""Points beside the robot (41, 2) whose mean height is the level of the ground, so that a step is no jerk [m]."""


@dataclass(frozen=True)
class View:
    """Camera pose relative to the robot, which it follows over the ground but not off it.

    Attributes:
        azimuth: direction in which it looks, about z from x [deg]; 90 looks to the left: the robot's right side.
        elevation: of that direction [deg]; negative looks down.
        distance: to the point looked at [m].
        height: of that point above the ground [m].
    """

    azimuth: float = 118.0
    elevation: float = -12.0
    distance: float = 0.95
    height: float = 0.19


THREE_QUARTER_VIEW: Final = View()


@dataclass(frozen=True)
class Quality:
    """Rendering quality: antialiasing samples, width of the shadow map [pixels], facets of round shapes."""

    samples: int
    shadow_size: int
    slices: int
    stacks: int


DRAFT: Final = Quality(samples=0, shadow_size=1024, slices=14, stacks=6)
"""Quality of videos: a sixth of the time of FINE without a graphics card."""

FINE: Final = Quality(samples=8, shadow_size=4096, slices=48, stacks=24)
"""Quality of single pictures."""


class FrameRenderer:
    """Renders states to RGB images off screen; use it as a context manager, or call :meth:`close`."""

    def __init__(
        self,
        robot: Robot,
        options: SimOptions | None = None,
        width: int = 960,
        height: int = 540,
        view: View = THREE_QUARTER_VIEW,
        quality: Quality = DRAFT,
    ) -> None:
        """Build the scene and an off-screen context.

        Raises:
            ParameterError: the size is larger than the frame buffer.
            SimulationError: this machine has no library to render with; the text names the packages.
        """
        self._context: Any = None
        world = SimOptions() if options is None else options
        self._model, self._terrain = build_model(robot, world), parse_terrain(world.terrain)
        self._data = mujoco.MjData(self._model)
        self._ghost: mujoco.MjData | None = None
        limit = self._model.vis.global_
        if not (0 < width <= limit.offwidth and 0 < height <= limit.offheight):
            raise ParameterError(f"image size {width} x {height}; allowed: up to {limit.offwidth} x {limit.offheight}")
        drawn = self._model.vis.quality
        drawn.offsamples, drawn.shadowsize = quality.samples, quality.shadow_size
        drawn.numslices, drawn.numstacks = quality.slices, quality.stacks
        self._size = mujoco.MjrRect(0, 0, width, height)
        self._view = view
        self._q_index = np.array([self._model.joint(name).qposadr[0] for name in JOINT_NAMES])
        self._feet = np.array([self._model.geom(name).id for name in FOOT_NAMES])
        self._context = offscreen_context(width, height)
        self._scene = mujoco.MjvScene(self._model, _MAX_SHAPES)
        self._drawing = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_150.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._drawing)
        self._option = mujoco.MjvOption()
        self._option.geomgroup[COLLISION_GROUP] = 0
        self._camera = mujoco.MjvCamera()

    def frame(
        self,
        state: RobotState,
        push: Array | None = None,
        contact_forces: Array | None = None,
        *,
        ghost: RobotState | None = None,
        text: Mapping[str, str] | None = None,
    ) -> Image:
        """An RGB image (height, width, 3) of a state.

        Args:
            state: of the robot.
            push: (3,) force on the trunk in `odom` axes [N], drawn as an arrow that ends above the trunk.
            contact_forces: (4, 3) forces on the feet in `odom` axes [N], drawn as arrows from the ground.
            ghost: another state of the robot, drawn pale.
            text: lines in the upper left corner, names beside values.
        """
        self._place(self._data, state)
        camera = self._camera
        level = float(self._terrain.heights(state.position[:2] + _AROUND).mean())
        camera.lookat[:] = [state.position[0], state.position[1], level + self._view.height]
        camera.azimuth, camera.elevation = self._view.azimuth, self._view.elevation
        camera.distance = self._view.distance
        mujoco.mjv_updateScene(
            self._model, self._data, self._option, None, camera, mujoco.mjtCatBit.mjCAT_ALL.value, self._scene
        )
        if push is not None and np.linalg.norm(push) > _SMALLEST_FORCE:
            tip = state.position + [0.0, 0.0, _PUSH_CLEARANCE]
            self._arrow(tip - _PUSH_SCALE * np.asarray(push), tip, _PUSH_COLOUR)
        if contact_forces is not None:
            self._draw_contact_forces(contact_forces)
        if ghost is not None:
            self._add_ghost(ghost)
        self._context.make_current()
        mujoco.mjr_render(self._size, self._scene, self._drawing)
        if text:
            font, corner = mujoco.mjtFont.mjFONT_NORMAL.value, mujoco.mjtGridPos.mjGRID_TOPLEFT.value
            names, values = "\n".join(text), "\n".join(text.values())
            mujoco.mjr_overlay(font, corner, self._size, names, values, self._drawing)
        image = np.empty((self._size.height, self._size.width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(image, None, self._size, self._drawing)
        return image[::-1].copy()

    def close(self) -> None:
        """Give the context back; the renderer cannot be used afterwards."""
        if self._context is not None:
            self._context.make_current()
            self._drawing.free()
            self._context.free()
            self._context = None

    def __enter__(self) -> "FrameRenderer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _place(self, data: mujoco.MjData, state: RobotState) -> None:
        data.qpos[:3] = state.position
        data.qpos[3:7] = np.roll(state.orientation, 1)
        data.qpos[self._q_index] = state.joint_positions
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_comPos(self._model, data)
        mujoco.mj_camlight(self._model, data)

    def _add_ghost(self, state: RobotState) -> None:
        """Put the robot in another state into the scene, pale."""
        if self._ghost is None:
            self._ghost = mujoco.MjData(self._model)
        self._place(self._ghost, state)
        before, dynamic = self._scene.ngeom, mujoco.mjtCatBit.mjCAT_DYNAMIC.value
        mujoco.mjv_addGeoms(self._model, self._ghost, self._option, mujoco.MjvPerturb(), dynamic, self._scene)
        for index in range(before, self._scene.ngeom):
            shape = self._scene.geoms[index]
            shape.rgba[:] = _GHOST_COLOUR
            shape.transparent = 1

    def _draw_contact_forces(self, contact_forces: Array) -> None:
        centres = self._data.geom_xpos[self._feet]
        for centre, radius, force in zip(centres, self._model.geom_size[self._feet, 0], contact_forces, strict=True):
            if np.linalg.norm(force) > _SMALLEST_FORCE:
                sole = centre - [0.0, 0.0, radius]
                self._arrow(sole, sole + _FORCE_SCALE * force, _FORCE_COLOUR)

    def _arrow(self, start: Array, end: Array, colour: tuple[float, float, float, float]) -> None:
        scene = self._scene
        if scene.ngeom >= scene.maxgeom:
            return
        shape = scene.geoms[scene.ngeom]
        kind = mujoco.mjtGeom.mjGEOM_ARROW
        mujoco.mjv_initGeom(shape, kind, np.zeros(3), np.zeros(3), np.zeros(9), np.array(colour, dtype=np.float32))
        mujoco.mjv_connector(shape, kind, _ARROW_WIDTH, np.asarray(start, float), np.asarray(end, float))
        scene.ngeom += 1


def write_video(path: Path, frames: Iterable[Image], frames_per_second: float) -> None:
    """Write images of equal size as .mp4 (H.264) or .gif, whole or not at all.

    Raises:
        ParameterError: the file name has another suffix.
        SimulationError: there is no frame, or the encoder fails.
    """
    path = Path(path)
    if path.suffix not in VIDEO_SUFFIXES:
        raise ParameterError(f"video {path.name} has the suffix {path.suffix!r}; allowed: {', '.join(VIDEO_SUFFIXES)}")
    try:
        with written_whole(path) as temporary:
            if _encode(temporary, frames, frames_per_second) == 0:
                raise SimulationError(f"video {path} has no frame; record at least one state")
    except (OSError, ImportError, RuntimeError) as error:
        raise SimulationError(f"cannot write the video {path}: {error}") from error


def write_image(path: Path, image: Image) -> None:
    """Write one image as .png, whole or not at all."""
    import imageio.v3 as imageio

    with written_whole(Path(path)) as temporary:
        imageio.imwrite(temporary, image)


def _encode(path: Path, frames: Iterable[Image], frames_per_second: float) -> int:
    """Write the frames one by one as they come; the number of them."""
    import imageio.v2 as imageio

    settings: dict[str, Any] = {"duration": 1000.0 / frames_per_second, "loop": 0}
    if path.suffix == ".mp4":
        settings = {"fps": frames_per_second, "quality": _VIDEO_QUALITY, "macro_block_size": _EVEN_SIZES}
    writer, count = None, 0
    try:
        for frame in frames:
            if writer is None:
                writer = imageio.get_writer(path, **settings)
            writer.append_data(frame)
            count += 1
    finally:
        if writer is not None:
            writer.close()
    return count
