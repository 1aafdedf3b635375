"""Pictures show the robot where it is; videos are whole or absent; a machine that cannot render says what it lacks."""

import ctypes.util
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError, SimulationError
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.render import LIBRARIES, FrameRenderer, Image, View, write_image, write_video
from contact_ddp_ros.robot.load import load_robot

ROBOT = load_robot()
STANDING = ROBOT.standing_state()
WIDTH, HEIGHT = 160, 96

needs_gl = pytest.mark.skipif(
    not any(ctypes.util.find_library(library) for library in LIBRARIES.values()), reason="no library to render with"
)


@pytest.fixture(scope="module")
def renderer() -> Iterator[FrameRenderer]:
    with FrameRenderer(ROBOT, width=WIDTH, height=HEIGHT, view=View(90.0, -6.0, 1.0)) as opened:
        yield opened


def dark(image: Image) -> NDArray[np.bool_]:
    return image.max(axis=2) < 60


@needs_gl
def test_the_picture_follows_the_robot_over_the_ground_but_not_up(renderer: FrameRenderer) -> None:
    image = renderer.frame(STANDING)
    assert image.shape == (HEIGHT, WIDTH, 3)
    assert 50 < dark(image).sum() < image.size // 6
    column = np.flatnonzero(dark(image).any(axis=0)).mean()
    far = renderer.frame(dataclasses.replace(STANDING, position=STANDING.position + np.array([5.0, -3.0, 0.0])))
    assert np.flatnonzero(dark(far).any(axis=0)).mean() == pytest.approx(column, abs=3.0)
    high = renderer.frame(dataclasses.replace(STANDING, position=STANDING.position + np.array([0.0, 0.0, 0.1])))
    top = [int(np.flatnonzero(dark(picture).any(axis=1)).min()) for picture in (image, high)]
    assert top[1] < top[0]


@needs_gl
def test_the_picture_follows_the_ground_up() -> None:
    rows = []
    with FrameRenderer(ROBOT, SimOptions(terrain="slope:20"), WIDTH, HEIGHT) as tilted:
        for x in (0.0, 4.0):
            moved = np.array([x, 0.0, x * np.tan(np.radians(20.0))])
            image = tilted.frame(dataclasses.replace(STANDING, position=STANDING.position + moved))
            rows.append(np.flatnonzero(dark(image).any(axis=1)).mean())
    assert rows[1] == pytest.approx(rows[0], abs=3.0)


@needs_gl
def test_the_robot_faces_right_in_the_side_view(renderer: FrameRenderer) -> None:
    """Stretching the front legs forward adds dark pixels on the right."""
    joints = STANDING.joint_positions.copy()
    joints[[1, 4]], joints[[2, 5]] = 1.4, 0.0
    lifted = dataclasses.replace(STANDING, joint_positions=joints)
    columns = [int(np.flatnonzero(dark(renderer.frame(state)).any(axis=0)).max()) for state in (STANDING, lifted)]
    assert columns[1] > columns[0] + 5


@needs_gl
def test_arrows_show_pushes_and_contact_forces(renderer: FrameRenderer) -> None:
    plain = renderer.frame(STANDING).astype(int)
    pushed = renderer.frame(STANDING, push=np.array([40.0, 0.0, 0.0])).astype(int)
    orange = (pushed[..., 0] - pushed[..., 2] > 90) & (np.abs(pushed - plain).sum(axis=2) > 60)
    assert orange.sum() > 5
    forces = np.zeros((4, 3))
    forces[:, 2] = 60.0
    loaded = renderer.frame(STANDING, contact_forces=forces).astype(int)
    green = (loaded[..., 1] - loaded[..., 0] > 30) & (np.abs(loaded - plain).sum(axis=2) > 60)
    assert green.sum() > 5
    assert np.array_equal(renderer.frame(STANDING, push=np.zeros(3), contact_forces=np.zeros((4, 3))), plain)


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_videos_hold_every_frame(tmp_path: Path, suffix: str) -> None:
    imageio = pytest.importorskip("imageio.v3")
    path = tmp_path / f"run{suffix}"
    shades = [np.full((64, 96, 3), 20 * i, dtype=np.uint8) for i in range(10)]
    write_video(path, iter(shades), 25.0)
    frames = np.asarray(imageio.imread(path, index=None) if suffix == ".mp4" else imageio.imread(path))
    assert frames.shape[:3] == (10, 64, 96)
    assert np.abs(frames[7, ..., :3].astype(int) - 140).max() < 12
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_broken_or_empty_video_leaves_no_file(tmp_path: Path, suffix: str) -> None:
    def broken() -> Iterator[Image]:
        yield np.zeros((64, 96, 3), dtype=np.uint8)
        raise SimulationError("the renderer stopped")

    with pytest.raises(SimulationError, match="stopped"):
        write_video(tmp_path / f"run{suffix}", broken(), 25.0)
    with pytest.raises(SimulationError, match="no frame"):
        write_video(tmp_path / f"run{suffix}", iter(()), 25.0)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"\.mp4"):
        write_video(tmp_path / "run.avi", iter(()), 25.0)


@needs_gl
def test_a_picture_is_written(tmp_path: Path, renderer: FrameRenderer) -> None:
    imageio = pytest.importorskip("imageio.v3")
    image = renderer.frame(STANDING)
    write_image(tmp_path / "robot.png", image)
    assert np.array_equal(imageio.imread(tmp_path / "robot.png"), image)


def test_without_a_library_the_error_names_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)
    with pytest.raises(SimulationError, match=r"libegl1 libgl1-mesa-dri.*libosmesa6"):
        FrameRenderer(ROBOT, width=WIDTH, height=HEIGHT)


def test_an_image_larger_than_the_buffer_is_refused() -> None:
    with pytest.raises(ParameterError, match="image size"):
        FrameRenderer(ROBOT, width=100_000, height=HEIGHT)
