"""`contact-ddp robot check`: legs are found by structure, what is missing is named, and the file written can be run."""

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
from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.robot.models.planar import reduce_to_plane
from contact_ddp_ros.robot.profile import load_profile
from contact_ddp_ros.robot.symmetry import leg_length
from contact_ddp_ros.robot.urdf import default_urdf
from contact_ddp_ros.robot.urdf_check.inspection import MARK, inspect


def published(name: str) -> Path:
    """A URDF of the extra `robots`."""
    files = metadata.distribution("example-robot-data").files or []
    return Path(str(next(file for file in files if file.as_posix().endswith(name)).locate()))


def small(folder: Path, text: str) -> Path:
    path = folder / "small.urdf"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["go1", "go2", "solo12"])
def test_legs_of_published_robots_are_those_of_their_files(name: str) -> None:
    profile = load_profile(name)
    result = inspect(profile.urdf)
    assert result.problems == ()
    assert result.found.legs == profile.legs


@pytest.mark.parametrize("name", ["a1_description/urdf/a1.urdf", "laikago.urdf", "b1_description/urdf/b1.urdf"])
def test_a_starting_file_of_another_robot_reduces_to_the_plane(name: str, tmp_path: Path) -> None:
    result = inspect(published(name))
    assert result.fits, result.problems
    file = tmp_path / "robot.yaml"
    file.write_text(result.starting_file(tmp_path), encoding="utf-8")
    robot = load_robot(file)
    assert result.robot is not None and robot.model_hash == result.robot.model_hash
    assert reduce_to_plane(robot).n == 7
    assert (np.array([joint.armature for joint in robot.tree.joints[6:]]) > 0.0).all()


UNFIT = {
    "solo_description/robots/solo.urdf": "FL_HFE, FL_KFE; .*needed: four legs, each with abad, hip, knee",
    "b1_description/urdf/b1-z1.urdf": 'of no leg: joint1, .*jointGripper; needed: type="fixed"',
    "hyq_no_sensors.urdf": "leg hr: rh_kfe_joint, its knee, .*knees that all bend backwards",
    "anymal_b_simple_description/robots/anymal.urdf": "hr_foot is 1.. mm behind the hip with all joints at zero",
    "bolt.urdf": "2 of the chains of joints on the trunk have three joints",
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_robot_that_cannot_bound_in_the_plane_is_told_why(name: str) -> None:
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
    "other axis": (RF1, RF1.replace("0.0 -1.0 0.0", "0.0 0.0 1.0"), "leg fr: joint Rf1, its hip, turns about"),
    "sliding": (
        '"Rf1" type="revolute"',
        '"Rf1" type="prismatic"',
        "leg fr: joint Rf1 is Prismatic.*; needed: a revolute",
    ),
    "no hip": ('"Rf1" type="revolute"', '"Rf1" type="fixed"', "3 of the chains .* Rf0, Rf2"),
    "same corner": ('xyz="0.2 -0.05 0.01"', 'xyz="0.2 0.45 0.01"', "Rf1 at .*needed: one front and one hind leg"),
    "no trunk": (
        '<robot name="small">',
        '<robot name="small"><link name="world"/><joint name="up" type="prismatic"><parent link="world"/>'
        '<child link="body"/><axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>',
        "the trunk is moved by joint up; needed: the trunk as the root",
    ),
    "no mass": (
        '<mass value="0.2"/><origin xyz="0.0 0.0 -0.08"/><inertia ixx="0.0006',
        '<mass value="0"/><origin xyz="0.0 0.0 -0.08"/><inertia ixx="0.0006',
        "leg fr: link Rf_shank, .* has a mass of 0 kg",
    ),
    "unlike legs": ('<mass value="0.9"/>', '<mass value="1.9"/>', "not mirror images: mass of f._hip"),
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


def test_what_is_no_urdf_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    text = quadruped.urdf()
    for spoilt in (
        "",
        "<robot>",
        text.replace('radius="0.02"', 'radius="big"'),
        text.replace('value="5"', 'value="a"'),
    ):
        assert main(["robot", "check", str(small(tmp_path, spoilt))]) == 1
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
    words = ["robot", "check", str(urdf), "-o", str(file)]
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
    assert "problem: 3 of the chains" in capsys.readouterr().out


def _matches(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None
