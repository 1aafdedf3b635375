from pathlib import Path

import mujoco
import numpy as np
import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.terrain.shapes import Terrain
from contact_ddp_ros.plants.terrain.words import parse_terrain
from contact_ddp_ros.robot.rotation import quaternion_to_matrix

LINE = np.column_stack([np.arange(0.05, 4.0, 0.1), np.zeros(40), np.zeros(40)])


def test_flat_is_flat() -> None:
    assert parse_terrain("flat") == Terrain()
    assert not parse_terrain("flat").heights(LINE).any()


@pytest.mark.parametrize(
    ("heading", "x", "y"), [(0.0, 1.0, 0.0), (90.0, 0.0, 1.0), (180.0, -1.0, 0.0), (45.0, 0.7071, 0.7071)]
)
def test_a_slope_climbs_along_its_heading(heading: float, x: float, y: float) -> None:
    terrain = parse_terrain(f"slope:10,{heading}")
    there = np.array([[2.0 * x, 2.0 * y, 0.0]])
    assert terrain.heights(there)[0] == pytest.approx(2.0 * np.tan(np.radians(10.0)), rel=1e-3)
    normal = quaternion_to_matrix(terrain.tilt)[:, 2]
    assert normal @ [*there[0, :2], terrain.heights(there)[0]] == pytest.approx(0.0, abs=1e-9)
    assert normal[2] == pytest.approx(np.cos(np.radians(10.0)))


@pytest.mark.parametrize(("word", "last"), [("stairs:0.02,3", 0.06), ("stairs:-0.03,4", -0.12), ("step:2,0.01", 0.01)])
def test_steps_begin_at_zero_and_end_at_their_sum(word: str, last: float) -> None:
    heights = parse_terrain(word).heights(LINE)
    assert heights[0] == 0.0
    assert heights[-1] == pytest.approx(last)
    assert (np.sign(last) * np.diff(heights) >= -1e-12).all()


def test_treads_are_as_long_as_asked() -> None:
    heights = parse_terrain("stairs:0.02,2,1.0").heights(LINE)
    edges = LINE[1:, 0][np.diff(heights) > 0.01] - 0.05
    np.testing.assert_allclose(edges, [1.0, 2.0])


def test_boxes_follow_their_seed_and_height() -> None:
    first, again, other = (
        parse_terrain(word).heights(LINE) for word in ("boxes:0.03,1", "boxes:0.03,1", "boxes:0.03,2")
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert 0.0 <= first.min() <= first.max() <= 0.03
    assert first.max() > 0.02
    assert not first[:7].any(), "the robot starts on level ground"


def test_stones_lie_above_and_below_and_are_unlike_left_and_right() -> None:
    terrain = parse_terrain("stones:0.03,4")
    left, right = (terrain.heights(LINE + [0.0, y, 0.0]) for y in (0.1, -0.1))
    assert not left[:7].any() and not right[:7].any(), "the robot starts on level ground"
    assert -0.03 <= min(left.min(), right.min()) < -0.02 and 0.02 < max(left.max(), right.max()) <= 0.03
    assert (left[9:] != right[9:]).all()
    assert not terrain.heights(LINE + [14.4, 0.0, 0.0]).any(), "level again behind them"
    assert (parse_terrain("stones:0.03").heights(LINE + [0.0, 0.1, 0.0]) != left).any()


@pytest.mark.parametrize("rise", [0.04, -0.04])
def test_a_kerb_raises_or_lowers_the_left(rise: float) -> None:
    terrain = parse_terrain(f"kerb:{rise}")
    for y, wanted in ((0.1, rise), (-0.1, 0.0)):
        heights = terrain.heights(LINE + [0.0, y, 0.0])
        assert not heights[:7].any()
        assert heights[8:] == pytest.approx(np.full(len(heights) - 8, wanted))


def test_hills_are_smooth_around_a_level_start_and_within_their_height() -> None:
    terrain = parse_terrain("rough:0.08,1,3")
    x, y = np.meshgrid(np.arange(-60.0, 60.0, 0.07), np.arange(-50.0, 50.0, 0.07))
    points = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    heights, distance = terrain.heights(points), np.hypot(*points.T[:2])
    assert not heights[distance < 0.4].any(), "the robot starts on level ground"
    assert not heights[(np.abs(points[:, 0]) > 40.0) | (np.abs(points[:, 1]) > 30.0)].any(), "level again behind them"
    assert np.abs(heights).max() == pytest.approx(0.08, rel=0.02)
    assert heights[(distance > 1.5) & (distance < 20.0)].std() > 0.01
    slopes = np.diff(heights.reshape(x.shape), axis=1) / 0.07
    assert np.degrees(np.arctan(np.abs(slopes))).max() < 15.0
    assert (parse_terrain("rough:0.08,1,4").heights(points) != heights).any()
    np.testing.assert_array_equal(parse_terrain("rough:0.08,1,3").heights(points), heights)


def test_shorter_hills_of_one_height_are_steeper() -> None:
    line = np.column_stack([np.arange(2.0, 20.0, 0.1), np.zeros(180), np.zeros(180)])
    steep, gentle = (np.diff(parse_terrain(f"rough:0.05,{n}").heights(line)).std() for n in (0.5, 2.0))
    assert steep > 2.0 * gentle
    assert not parse_terrain("rough:0").heights(line).any()


SCENE = """
<mujoco>
  <asset><mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" pos="0 0 0.4"/>
    <geom name="ramp" type="box" pos="2 0.5 0.6" size="1 0.6 0.05" euler="8 -20 30"/>
    <geom name="stand" type="box" pos="0 0 0.4" size="0.5 0.5 0.1"/>
    <geom name="sign" type="sphere" pos="1 1 3" size="0.1" contype="0" conaffinity="0"/>
    <body pos="0 0 3"><freejoint/><geom name="ball" type="sphere" size="0.1"/></body>
    {}
  </worldbody>
</mujoco>
"""


def test_a_scene_has_the_still_boxes_of_its_file_where_rays_hit_them(tmp_path: Path) -> None:
    file = tmp_path / "scene.xml"
    file.write_text(SCENE.format(""))
    terrain = parse_terrain(str(file))
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rng, hit = np.random.default_rng(0), np.zeros(1, dtype=np.int32)
    points = np.column_stack([rng.uniform(-1.0, 4.0, 300), rng.uniform(-1.0, 2.0, 300), np.zeros(300)])
    down = np.array([0.0, 0.0, -1.0])
    rays = [2.0 - mujoco.mj_ray(model, data, [*point[:2], 2.0], down, None, 1, -1, hit) for point in points]
    np.testing.assert_allclose(terrain.heights(points), np.array(rays) - 0.5, atol=1e-9)
    assert abs(terrain.heights(np.zeros((1, 3)))[0]) < 1e-12, "the robot begins on the stand"
    assert terrain.heights(points).max() > 0.2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('<geom name="hill" type="mesh" mesh="wedge"/>', "geom hill is mesh; allowed: level planes and boxes"),
        ('<geom type="plane" size="0 0 1" euler="5 0 0"/>', "geom number 4 is a tilted plane"),
        ("<gem/>", "gem"),
    ],
)
def test_what_a_scene_may_not_hold_is_named(tmp_path: Path, more: str, said: str) -> None:
    file = tmp_path / "scene.xml"
    file.write_text(SCENE.format(more))
    with pytest.raises(ParameterError, match=said):
        parse_terrain(str(file))


def test_a_scene_without_a_floor_or_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "scene.xml"
    with pytest.raises(ParameterError, match=r"scene\.xml"):
        parse_terrain(str(file))
    file.write_text("<mujoco/>")
    with pytest.raises(ParameterError, match="no level plane"):
        parse_terrain(str(file))


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("rough:0.3", r"height is 0.3; allowed: \[0, 0.2\] m"),
        ("rough:0.05,0.1", "length is 0.1"),
        ("hill", "finite numbers: flat"),
        ("slope", "finite numbers: flat"),
        ("slope:x", "finite numbers: flat"),
        ("slope:1,2,3", "finite numbers: flat"),
        ("slope:nan", "finite numbers: flat"),
        ("slope:45", r"slope is 45; allowed: \[0, 30\] degrees"),
        ("stairs:0.5,2", "rise is 0.5"),
        ("stairs:0.02,1.5", "a whole number"),
        ("boxes:-0.1", "height is -0.1"),
        ("step:1e9,0.01", "x is 1e"),
    ],
)
def test_other_words_are_refused(word: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        parse_terrain(word)
