"""`contact-ddp robot check`: legs are found by structure, what is missing is named, and the file written can be run."""

import importlib.util
import re
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import quadruped
import yaml

from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.planar import reduce_to_plane
from contact_ddp_ros.robot.profile import load_profile
from contact_ddp_ros.robot.symmetry import leg_length
from contact_ddp_ros.robot.urdf import default_urdf
from contact_ddp_ros.robot.urdf_check.inspection import MARK, inspect

of_others = pytest.mark.skipif(
    importlib.util.find_spec("example_robot_data") is None, reason="pinned in requirements-robots.txt"
)


def published(name: str) -> Path:
    """A URDF of the extra `robots`."""
    files = metadata.distribution("example-robot-data").files or []
    return Path(str(next(file for file in files if file.as_posix().endswith(name)).locate()))


def small(folder: Path, text: str) -> Path:
    path = folder / "small.urdf"
    path.write_text(text, encoding="utf-8")
    return path


@of_others
@pytest.mark.parametrize("name", ["go1", "go2", "solo12"])
def test_legs_of_published_robots_are_those_of_their_files(name: str) -> None:
    profile = load_profile(name)
    result = inspect(profile.urdf)
    assert result.problems == ()
    assert result.found.legs == profile.legs


@of_others
@pytest.mark.parametrize(
    "name", ["a1_description/urdf/a1.urdf", "laikago.urdf", "b1_description/urdf/b1-z1.urdf", "hyq_no_sensors.urdf"]
)
def test_a_starting_file_of_another_robot_reduces_to_the_plane(name: str, tmp_path: Path) -> None:
    result = inspect(published(name))
    assert result.fits, result.problems
    file = tmp_path / f"{published(name).stem}.yaml"
    file.write_text(result.starting_file(tmp_path), encoding="utf-8")
    robot = load_robot(file)
    assert result.robot is not None and robot.model_hash == result.robot.model_hash
    assert reduce_to_plane(robot).n == 7
    assert (np.array([joint.armature for joint in robot.tree.joints[6:]]) > 0.0).all()


UNFIT = {
    "solo_description/robots/solo.urdf": "no legs: FL_HFE, FL_KFE; .*needed: four legs, each with abad, hip, knee",
    "bolt.urdf": "2 chains of joints on the trunk are legs: FL_HAA, FL_HFE, FL_KFE; .*no legs: none",
}


@of_others
@pytest.mark.parametrize("name", UNFIT)
def test_a_robot_with_other_legs_is_told_why(name: str) -> None:
    result = inspect(published(name))
    assert not result.fits
    assert any(_matches(UNFIT[name], problem) for problem in result.problems), result.problems


def test_the_packaged_robot_needs_nothing_but_its_urdf(tmp_path: Path) -> None:
    result = inspect(default_urdf())
    assert result.fits and result.canonical and result.notes == ()
    file = tmp_path / "robot.yaml"
    file.write_text(result.starting_file(tmp_path), encoding="utf-8")
    assert yaml.safe_load(file.read_text(encoding="utf-8")) == {"urdf": str(default_urdf().resolve())}
    assert load_robot(file).model_hash == load_robot().model_hash


@pytest.mark.parametrize("options", [{"turned": True}, {"sign": -1}, {"offset": 0.002}], ids=str)
def test_legs_are_found_whatever_their_frames_signs_and_names(options: dict, tmp_path: Path) -> None:
    result = inspect(small(tmp_path, quadruped.urdf(**options)))
    assert {leg: [*one.joints, one.foot] for leg, one in result.found.legs.items()} == {
        leg: quadruped.names(leg) for leg in LEG_NAMES
    }
    assert result.fits
    assert (result.additions.asymmetry is not None) == ("offset" in options)


RF1 = '<axis xyz="0.0 -1.0 0.0"/><limit lower="-3.0" upper="1.0" effort="20" velocity="30"/>'
DAMAGE = {
    "other axis": (
        RF1,
        RF1.replace("0.0 -1.0 0.0", "0.0 -0.8 0.6"),
        "3 chains .*no legs: Rf0, Rf1, Rf2; needed.*hip and knee turn about one axis",
    ),
    "sliding": ('"Rf1" type="revolute"', '"Rf1" type="prismatic"', "3 chains .*no legs: Rf0, Rf1, Rf2; needed"),
    "no hip": ('"Rf1" type="revolute"', '"Rf1" type="fixed"', "3 chains .*no legs: Rf0, Rf2; needed"),
    "mimic": (RF1, f'{RF1}<mimic joint="Rf2"/>', "leg fr: joint Rf1 mimics Rf2; needed: a drive of its own"),
    "no masses": ('<mass value="5"/>', '<mass value="0"/>', "the root link has a mass of 0"),
    "grams": ('<mass value="5"/>', '<mass value="5000"/>', "a robot of 50.. kg with legs of 0.38 m is no quadruped"),
    "inertia in g": (
        'ixx="0.03" iyy="0.08" izz="0.09"',
        'ixx="30" iyy="80" izz="90"',
        "trunk has .*needed: inertias in kg",
    ),
    "same corner": ('xyz="0.2 -0.05 0.01"', 'xyz="0.2 0.45 0.01"', "Rf1 at .*needed: one front and one hind leg"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_named_with_what_is_needed(case: str, tmp_path: Path) -> None:
    old, new, words = DAMAGE[case]
    text = quadruped.urdf()
    assert old in text
    result = inspect(small(tmp_path, text.replace(old, new, 1)))
    assert not result.fits
    assert any(_matches(words, problem) for problem in result.problems), result.problems
    assert not any("/tmp" in problem or "robot.yaml" in problem for problem in result.problems)


WORLD = '<link name="world"/><joint name="up" type="{kind}"><parent link="world"/><child link="body"/>{more}</joint>'
MENDED = {
    "floating root": (
        '<robot name="small">',
        f'<robot name="small">{WORLD.format(kind="floating", more="")}',
        "joint up is floating",
    ),
    "slider above": (
        '<robot name="small">',
        '<robot name="small">'
        + WORLD.format(
            kind="prismatic", more='<axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/>'
        ),
        "joint up is locked at zero",
    ),
    "footprint": (
        '<robot name="small">',
        '<robot name="small">' + WORLD.format(kind="fixed", more='<origin xyz="0.1 0 0.29"/>'),
        r"\[0.1, 0.0, 0.3\] m from the root link world",
    ),
    "long axis": ('xyz="0.0 -1.0 0.0"', 'xyz="0.0 -2.0 0.0"', "joint Rf1 has an axis of length 2"),
    "no limits": (
        '"Lh1" type="revolute"',
        '"Lh1" type="continuous"',
        "joints.lower is estimated .*angle beyond one turn",
    ),
    "no limit": (RF1, RF1[: RF1.index("<limit")], "joints.lower is estimated .*angle beyond one turn"),
    "tail": (
        "</robot>",
        '<link name="tail"/><joint name="wag" type="revolute"><parent link="body"/><child link="tail"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>',
        "joint wag is locked at zero",
    ),
    "no mass": (
        '<mass value="0.2"/><origin xyz="0.0 0.0 -0.08"/>',
        '<mass value="0"/><origin xyz="0.0 0.0 -0.08"/>',
        "moved by Rf2 has no mass; it gets",
    ),
    "unlike legs": ('<mass value="0.9"/>', '<mass value="1.9"/>', "left and right differ, .*: mass of f._hip: 1 kg"),
    "placeholder of an inertia": (
        '<origin xyz="0.0 0.0 -0.08"/><inertia ixx="0.0006',
        '<origin xyz="0.0 0.0 -0.08"/><inertia ixx="0.04',
        "moved by Rf2 has a radius of gyration of 0.4.* m, .* rod",
    ),
    "impossible inertia": ('ixx="0.03" iyy="0.08" izz="0.09"', 'ixx="0.03" iyy="0.03" izz="0.09"', "which no body has"),
}
"""Text of the URDF, in its place, and what is said."""


@pytest.mark.parametrize("case", MENDED)
def test_what_only_other_readers_mind_is_mended_and_told(case: str, tmp_path: Path) -> None:
    old, new, words = MENDED[case]
    text = quadruped.urdf()
    assert old in text
    result = inspect(small(tmp_path, text.replace(old, new, 1)))
    assert result.fits, result.problems
    assert any(_matches(words, note) for note in result.notes), result.notes
    plain, mended = load_robot(small(tmp_path, text)), result.robot
    assert mended is not None
    hips = [robot.tree.joints[7].translation + robot.tree.joints[6].translation for robot in (plain, mended)]
    np.testing.assert_allclose(hips[1], hips[0], atol=1e-9)
    assert mended.standing_height() == pytest.approx(plain.standing_height())
    np.testing.assert_allclose(mended.standing, plain.standing)


def test_a_file_in_any_encoding_and_a_xacro_file_are_read(tmp_path: Path) -> None:
    text = quadruped.urdf()
    plain = load_robot(small(tmp_path, text))
    for encoding in ("utf-16", "latin-1"):
        (tmp_path / "small.urdf").write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{text}'.encode(encoding))
        assert load_robot(tmp_path / "small.urdf").model_hash == plain.model_hash
    folder = tmp_path / "small_description" / "xacro"
    folder.mkdir(parents=True)
    space = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
    (folder / "mass.xacro").write_text(f'<robot {space}><xacro:property name="m" value="5"/></robot>')
    whole = text.replace('<robot name="small">', f'<robot name="small" {space}><xacro:include filename="{{}}"/>')
    whole = whole.replace("{}", "$(find small_description)/xacro/mass.xacro").replace(
        'mass value="5"', 'mass value="${m}"'
    )
    file = folder / "small.xacro"
    file.write_text(whole.replace('velocity="30"', 'velocity="$(arg speed)"'), encoding="utf-8")
    assert inspect(file, {"speed": "30"}).robot.model_hash == plain.model_hash  # type: ignore[union-attr]
    with pytest.raises(ModelError, match="Undefined substitution argument speed; arguments are given as NAME:=VALUE"):
        load_robot(file)


SENTENCES = {
    "no such link": (
        '<child link="Rf_thigh"/>',
        '<child link="Thigh"/>',
        "joint Rf1 has the child 'Thigh', which is no",
    ),
    "two roots": ('<robot name="small">', '<robot name="small"><link name="lid"/>', r"root links \['lid', 'body'\]"),
    "type": ('"Rf1" type="revolute"', '"Rf1" type="hinge"', "joint Rf1 is of type 'hinge'; allowed: revolute"),
    "limit": ('effort="20"', 'effort="20 N m"', "effort of joint .* is '20 N m'; it must be a finite number"),
    "origin": ('xyz="0.2 -0.05 0.01"', 'xyz="0.2, -0.05, 0.01"', "xyz of an origin of Rf0 is '0.2,'"),
    "size": ('radius="0.02"', 'radius=""', "link .*_ball has a sphere with .*allowed: radius as finite numbers"),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_what_is_written_wrong_is_named(case: str, tmp_path: Path) -> None:
    old, new, words = SENTENCES[case]
    text = quadruped.urdf()
    assert old in text
    with pytest.raises(ModelError, match=words):
        inspect(small(tmp_path, text.replace(old, new, 1)))


def test_what_is_no_urdf_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    text = quadruped.urdf()
    for spoilt in (
        "",
        "<robot>",
        text.replace('radius="0.02"', 'radius="big"'),
        text.replace('value="5"', 'value="a"'),
    ):
        assert main(["robot", "check", "--no-walk", str(small(tmp_path, spoilt))]) == 1
        told = capsys.readouterr().err
        assert told.startswith("contact-ddp: ") and told.count("\n") == 1
    assert main(["robot", "check", str(tmp_path / "none.urdf")]) == 1


def test_a_leg_without_a_foot_is_named(tmp_path: Path) -> None:
    text = quadruped.urdf()
    start = text.index('<joint name="Rf3"')
    result = inspect(small(tmp_path, text[:start] + text[text.index("</link>", start) + len("</link>") :]))
    assert result.found.legs == {} and _matches("leg fr: no foot on link Rf_shank", result.problems[0])
    with pytest.raises(ModelError, match="the legs were not found"):
        result.starting_file(tmp_path)


def footless(shank: str) -> str:
    """The small quadruped without links for its feet, its shanks having a shape."""
    text = re.sub(r'<joint name="..3".*?</joint><link name=".._ball">.*?</link>', "", quadruped.urdf(), flags=re.DOTALL)
    return re.sub(r'(<link name=".._shank">)', rf"\1<collision>{shank}</collision>", text)


MESH = """v 0.01 0.01 0
v -0.01 0.01 0
v 0 -0.01 0
v 0 0 -0.2
f 1 2 3
f 1 2 4
f 2 3 4
f 3 1 4
"""


@pytest.mark.parametrize(
    ("shape", "end"),
    [
        ('<geometry><mesh filename="package://small/shank.obj"/></geometry>', 0.2),
        ('<origin xyz="0 0 -0.1"/><geometry><box size="0.03 0.02 0.16"/></geometry>', 0.18),
        ('<origin xyz="0 0 -0.09"/><geometry><cylinder radius="0.02" length="0.18"/></geometry>', 0.18),
    ],
    ids=["mesh", "box", "cylinder"],
)
def test_a_foot_without_a_link_is_at_the_end_of_the_shank(shape: str, end: float, tmp_path: Path) -> None:
    folder = tmp_path / "small" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "small" / "shank.obj").write_text(MESH)
    result = inspect(small(folder, footless(shape)))
    assert result.fits and any(_matches("leg fr has no link for its foot", note) for note in result.notes)
    file = tmp_path / "mine.yaml"
    file.write_text(result.starting_file(tmp_path), encoding="utf-8")
    robot = load_robot(file)
    sole = robot.tree.contacts[0].position[2] - robot.foot_radius
    assert sole == pytest.approx(-end, abs=0.003), "the sole is where the shape ends"


def test_feet_of_unlike_radii_have_their_mean(tmp_path: Path) -> None:
    result = inspect(small(tmp_path, quadruped.urdf().replace('radius="0.02"', 'radius="0.024"', 1)))
    assert result.fits and result.robot is not None
    assert result.robot.foot_radius == pytest.approx(0.021)
    assert any(_matches("foot_radius is 0.021 m: the mean of .*, 0.02 to 0.024 m", note) for note in result.notes)


def test_a_joint_that_cannot_be_at_zero_is_locked_at_its_limit(tmp_path: Path) -> None:
    arm = (
        '<link name="arm"><inertial><mass value="0.3"/><origin xyz="0.1 0 0"/>'
        '<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="shoulder" type="revolute"><parent link="body"/><child link="arm"/><origin xyz="0 0 0.1"/>'
        '<axis xyz="0 -2 0"/><limit lower="0.5" upper="2" effort="1" velocity="1"/></joint></robot>'
    )
    result = inspect(small(tmp_path, quadruped.urdf().replace("</robot>", arm)))
    assert any(_matches("joint shoulder is locked at 0.5", note) for note in result.notes)
    file = tmp_path / "mine.yaml"
    text = result.starting_file(tmp_path)
    lever = {}
    file.write_text(text.replace("shoulder: 0.5", "shoulder: 90"), encoding="utf-8")
    with pytest.raises(ModelError, match=r"lock has 90 for joint shoulder; allowed: 0.5 to 2, angles in rad"):
        load_robot(file)
    for angle in (0.5, 1.5):
        file.write_text(text.replace("shoulder: 0.5", f"shoulder: {angle}"), encoding="utf-8")
        trunk = load_robot(file).tree.joints[5]
        lever[angle] = trunk.com * trunk.mass
    moved = 0.3 * 0.1 * np.array([np.cos(1.5) - np.cos(0.5), 0.0, np.sin(1.5) - np.sin(0.5)])
    np.testing.assert_allclose(lever[1.5] - lever[0.5], moved, atol=1e-6)


def test_what_a_urdf_lacks_is_estimated_from_the_robots_size_and_marked(tmp_path: Path) -> None:
    text = quadruped.urdf().replace('effort="20" velocity="30"', 'effort="0" velocity="1e6"')
    result = inspect(small(tmp_path, text.replace("collision>", "visual>")))
    assert {one.key for one in result.additions.estimates} == {"armature", "effort", "velocity"}
    file = tmp_path / "mine.yaml"
    file.write_text(result.starting_file(tmp_path), encoding="utf-8")
    marked = [
        line.split(":")[0].strip() for line in file.read_text(encoding="utf-8").splitlines() if f"# {MARK}" in line
    ]
    assert {"armature", "effort", "velocity", "foot_radius"} <= set(marked)
    robot, reference = load_robot(file), load_robot()
    length = (quadruped.THIGH + quadruped.SHANK) / leg_length(reference.tree)
    expected = reference.effort_limits * length * robot.mass / reference.mass
    np.testing.assert_allclose(robot.effort_limits, expected, rtol=1e-3)


def test_the_command_writes_a_file_once_and_says_what_it_read(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    urdf, file = small(tmp_path, quadruped.urdf()), tmp_path / "mine.yaml"
    words = ["robot", "check", "--no-walk", str(urdf), "-o", str(file)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "Rf_ball" in printed and f"--robot {file}" in printed and "rad/s" in printed
    assert yaml.safe_load(file.read_text(encoding="utf-8"))["urdf"] == "small.urdf"
    before = file.read_text(encoding="utf-8")
    assert main(words) == 2
    assert "--force to replace it" in capsys.readouterr().err
    assert main([*words, "--force"]) == 0
    assert file.read_text(encoding="utf-8") == before
    assert main(["robot", "check", str(urdf), "-o", str(tmp_path / "mine.txt")]) == 2
    urdf.write_text(quadruped.urdf().replace('"Rf1" type="revolute"', '"Rf1" type="fixed"'), encoding="utf-8")
    assert main(["robot", "check", str(urdf)]) == 1
    assert "problem: 3 chains" in capsys.readouterr().out


def _matches(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None
