"""Robots with names and signs of their own become the same kind of robot, with the dynamics of their own URDF."""

import re
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
import quadruped

from contact_ddp_ros.base.errors import ModelError, ParameterError
from contact_ddp_ros.robot.joints import FOOT_NAMES, JOINT_NAMES, LEG_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot, foot_positions
from contact_ddp_ros.robot.models.planar import averaged, reduce_to_plane
from contact_ddp_ros.robot.profile import packaged_robots

PUBLISHED = sorted(set(packaged_robots()) - {"mini_cheetah"})
OTHERS = {
    "hyq_description/robots/hyq_no_sensors.urdf": ("<<>>", "hips 8 cm below the root link, hind knees forwards"),
    "anymal_c_simple_description/urdf/anymal.urdf": ("<<<<", "a bent zero pose"),
    "anymal_b_simple_description/robots/anymal-kinova.urdf": ("<<<<", "a bent zero pose, an arm"),
}
"""Knees that bend backwards (<) or forwards, of fr, fl, hr and hl, and what else is unlike the Mini Cheetah."""


def free_model(text: str) -> pin.Model:
    return pin.buildModelFromXML(text, pin.JointModelFreeFlyer())


def test_the_mini_cheetah_is_a_robot_like_others() -> None:
    named, plain = load_robot("mini_cheetah"), load_robot()
    assert named.model_hash == plain.model_hash and named.description == plain.description
    np.testing.assert_array_equal(named.standing, plain.standing)


def robot_of(name: str) -> Robot:
    """A packaged robot, or that of a URDF of example-robot-data."""
    if name in PUBLISHED:
        return load_robot(name)
    files = metadata.distribution("example-robot-data").files or []
    return load_robot(Path(str(next(one for one in files if one.as_posix().endswith(name)).locate())))


def centre_of(urdf: Path, link: str) -> np.ndarray:
    """Centre of the collision sphere of a link, in its frame."""
    sphere = ElementTree.parse(urdf).find(f"link[@name='{link}']/collision/geometry/sphere/../../origin")
    return np.array([0.0, 0.0, 0.0] if sphere is None else sphere.get("xyz", "").split(), float)


@pytest.mark.parametrize("name", [*PUBLISHED, *OTHERS])
def test_dynamics_are_those_of_the_published_description(name: str) -> None:
    """Inverse dynamics, floating base included, and the feet, against pinocchio's model of the URDF itself."""
    robot = robot_of(name)
    joints = robot.joint_map
    assert robot.profile is not None and joints is not None
    knees = [robot.tree.joints[point.body].axis[1] for point in robot.tree.contacts]
    assert "".join("<" if axis < 0.0 else ">" for axis in knees) == OTHERS.get(name, ("<<<<",))[0]
    original = free_model(robot.urdf.read_text(encoding="utf-8"))
    ours = free_model(robot.description)
    theirs = [joint for leg in LEG_NAMES for joint in robot.profile.legs[leg].joints]
    root = pin.SE3(*joints.root)
    balls = [(leg.foot, centre_of(robot.urdf, leg.foot)) for leg in robot.profile.legs.values()]
    place = [original.idx_vs[original.getJointId(joint)] for joint in theirs]
    here = [ours.idx_vs[ours.getJointId(joint)] for joint in JOINT_NAMES]
    random = np.random.default_rng(3)
    for _ in range(5):
        base = random.normal(size=7)
        base[3:] /= np.linalg.norm(base[3:])
        angles, rates, accelerations = random.uniform(-1.0, 1.0, (3, 12))
        motion = random.uniform(-1.0, 1.0, (2, 6))
        q, v, a = np.r_[base, np.zeros(12)], np.r_[motion[0], np.zeros(12)], np.r_[motion[1], np.zeros(12)]
        for full, values in ((q, angles), (v, rates), (a, accelerations)):
            full[np.array(here) + len(full) - ours.nv] = values
        q0 = pin.neutral(original)
        q0[:7] = pin.SE3ToXYZQUAT(pin.XYZQUATToSE3(base) * root)
        v0, a0 = (np.r_[root.actInv(pin.Motion(one)).vector, np.zeros(original.nv - 6)] for one in motion)
        q0[np.array(place) + 1] = joints.zeros + joints.signs * angles
        for joint, angle in robot.profile.lock.items():
            at, size = original.idx_qs[original.getJointId(joint)], original.nqs[original.getJointId(joint)]
            q0[at : at + size] = [angle] if size == 1 else [np.cos(angle), np.sin(angle)]
        v0[place], a0[place] = joints.signs * rates, joints.signs * accelerations
        torques = pin.rnea(ours, ours.createData(), q, v, a)
        expected = pin.rnea(original, original.createData(), q0, v0, a0)
        np.testing.assert_allclose(torques[:6], root.act(pin.Force(expected[:6])).vector, atol=1e-9)
        np.testing.assert_allclose(torques[here], joints.signs * expected[place], atol=1e-9)
        data = original.createData()
        pin.framesForwardKinematics(original, data, q0)
        trunk = data.oMi[1] * root.inverse()
        frames = [data.oMf[original.getFrameId(foot)] for foot, _ in balls]
        feet = [trunk.actInv(frame.act(centre)) for frame, (_, centre) in zip(frames, balls, strict=True)]
        np.testing.assert_allclose(foot_positions(robot, angles), feet, atol=1e-12)
    assert robot.mass == pytest.approx(pin.computeTotalMass(original))


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_robots_stand_within_their_limits(name: str) -> None:
    robot = load_robot(name)
    assert (robot.lower < robot.standing).all() and (robot.standing < robot.upper).all()
    feet = foot_positions(robot, robot.standing)
    np.testing.assert_allclose(feet[:, 2], robot.foot_radius - robot.standing_height(), atol=1e-12)
    hips = np.array([0.5 * (feet[0, 0] + feet[1, 0]), 0.5 * (feet[2, 0] + feet[3, 0])])
    tree = reduce_to_plane(robot)
    np.testing.assert_allclose(hips, [tree.joints[3].translation[0], tree.joints[5].translation[0]], atol=1e-12)
    assert [point.name for point in robot.tree.contacts] == list(FOOT_NAMES)


def small(folder: Path, text: str | None = None, **changes: object) -> Robot:
    return load_robot(quadruped.write(folder, text, **changes))


def test_frames_that_are_turned_and_axes_that_point_the_other_way_make_no_difference(tmp_path: Path) -> None:
    plain = small(tmp_path)
    for other in (small(tmp_path, quadruped.urdf(turned=True)), small(tmp_path, quadruped.urdf(sign=-1))):
        for one, same in zip(plain.tree.joints, other.tree.joints, strict=True):
            for field in ("axis", "rotation", "translation", "com", "inertia"):
                np.testing.assert_allclose(getattr(same, field), getattr(one, field), atol=1e-12, err_msg=one.name)
        np.testing.assert_allclose(foot_positions(other, other.standing), foot_positions(plain, plain.standing))
        np.testing.assert_allclose((other.lower, other.upper), (plain.lower, plain.upper))


def test_the_file_says_what_the_urdf_does_not(tmp_path: Path) -> None:
    joints = {"armature": [1e-3, 2e-3, 3e-3], "effort": [5, 6, 7], "lower": [-0.5, -2.0, 0.4]}
    robot = small(tmp_path, joints=joints, foot_radius=0.03, standing_height=0.3)
    drives = robot.tree.joints[6:]
    assert [joint.armature for joint in drives] == joints["armature"] * 4
    assert [joint.damping for joint in drives] == [0.02] * 12
    np.testing.assert_array_equal(robot.effort_limits, joints["effort"] * 4)
    np.testing.assert_array_equal(robot.lower, joints["lower"] * 4)
    assert robot.foot_radius == 0.03
    assert robot.standing_height() == pytest.approx(0.3)


def test_the_file_says_which_way_knees_bend_where_limits_do_not(tmp_path: Path) -> None:
    text = re.sub(r'lower="\S+" upper="\S+"', 'lower="-3" upper="3"', quadruped.urdf())
    knees = {leg: small(tmp_path, text, knees=given) for leg, given in (("", {}), ("hr", {"hr": "forward"}))}
    bends = {leg: [bool(robot.joint_map.forward[one]) for one in LEG_NAMES] for leg, robot in knees.items()}  # type: ignore[union-attr]
    assert bends == {"": [False] * 4, "hr": [leg == "hr" for leg in LEG_NAMES]}
    feet = foot_positions(knees["hr"], knees["hr"].standing)
    np.testing.assert_allclose(feet, foot_positions(knees[""], knees[""].standing), atol=1e-12)
    axes = [knees["hr"].tree.joints[point.body].axis[1] for point in knees["hr"].tree.contacts]
    assert axes == [-1.0, -1.0, 1.0, -1.0]


def test_small_differences_of_left_and_right_are_averaged_and_named(tmp_path: Path) -> None:
    exact = reduce_to_plane(small(tmp_path))
    robot = small(tmp_path, quadruped.urdf(offset=0.002), asymmetry=0.006)
    difference = averaged(robot)
    assert difference is not None
    assert "centre of mass of" in str(difference) and "2 mm" in str(difference)
    assert difference.share == pytest.approx(0.002 / (quadruped.THIGH + quadruped.SHANK))
    hips = [tree.joints[3] for tree in (exact, reduce_to_plane(robot))]
    assert hips[1].com[0] - hips[0].com[0] == pytest.approx(0.001)
    assert robot.tree.joints[7].com[0] == pytest.approx(0.012), "the robot itself stays as it is described"


def test_real_asymmetries_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"centre of mass of f._hip: 2 mm, a share of 0.0053; allowed: 0.005"):
        reduce_to_plane(small(tmp_path, quadruped.urdf(offset=0.002), asymmetry=0.005))
    with pytest.raises(ModelError, match=r"left and right are not mirror images.*asymmetry allows"):
        reduce_to_plane(small(tmp_path, quadruped.urdf(offset=0.002)))
    front_and_hind_may_differ = small(tmp_path, quadruped.urdf(rear_mass=1.3))
    assert reduce_to_plane(front_and_hind_may_differ).mass == pytest.approx(front_and_hind_may_differ.mass)


SPOILT_URDFS = {
    "negative mass": (('<mass value="0.2"', '<mass value="-0.2"'), "Rf_shank has a mass of -0.2 kg"),
    "no axis": (('<axis xyz="0.0 -1.0 0.0"', '<axis xyz="0.0 0.0 0.0"'), "joint Rf1 has the axis .*length 1"),
    "other axis": (('<axis xyz="0.0 -1.0 0.0"', '<axis xyz="0.0 0.8 0.6"'), "Rf2, its knee, turns about .*needed: y"),
    "sliding": (('"Rf1" type="revolute"', '"Rf1" type="prismatic"'), "another kind: {'Rf1'"),
    "arm": (('"Lh3" type="fixed"', '"Lh3" type="revolute"'), "are of no leg .'Lh3'"),
    "no sphere": (("collision>", "visual>"), "Rf_ball has no collision sphere; say foot_radius"),
}


@pytest.mark.parametrize("case", SPOILT_URDFS)
def test_a_description_that_does_not_fit_is_refused_by_name(tmp_path: Path, case: str) -> None:
    (old, new), words = SPOILT_URDFS[case]
    text = quadruped.urdf()
    spoilt = text.replace(old, new) if case == "no sphere" else text.replace(old, new, 1)
    if case == "arm":
        spoilt = spoilt.replace(
            '-0.18"/></joint>', '-0.18"/><axis xyz="0 1 0"/><limit effort="1" velocity="1"/></joint>'
        )
    assert spoilt != text
    with pytest.raises(ModelError, match=words):
        small(tmp_path, spoilt)


SPOILT_FILES = {
    "unknown key": ({"leg": {}}, "unknown key leg; did you mean legs?"),
    "no urdf": ({"urdf": None}, "urdf is missing"),
    "three legs": ({"legs": {leg: quadruped.names(leg) for leg in ("fr", "fl", "hr")}}, "needed: fr, fl, hr, hl"),
    "two joints": ({"legs": quadruped.content()["legs"] | {"fl": ["Lf0", "Lf1"]}}, "legs.fl is .*abad, hip, knee"),
    "a name twice": ({"legs": quadruped.content()["legs"] | {"fl": quadruped.names("fr")}}, "Rf0, .*more than once"),
    "joint key": ({"joints": {"efort": [1, 1, 1]}}, "joints has the unknown key efort; did you mean effort?"),
    "joint pair": ({"joints": {"effort": [1, 1]}}, "joints.effort is .1, 1."),
    "negative armature": ({"joints": {"armature": [0.1, 0.1, -0.1]}}, "that are not negative"),
    "asymmetry": ({"asymmetry": 2.0}, "asymmetry is 2.0; allowed: a positive number up to 1"),
    "section": ({"parameters": {"plannr": {}}}, "unknown key plannr; did you mean planner?"),
    "the run's": ({"parameters": {"simulator": {"friction": 0.5}}}, "has friction, which every run chooses"),
    "joints without legs": ({"legs": None, "joints": {}, "foot_radius": 0.02}, "need legs"),
    "list": ({"parameters": [1]}, "parameters holds list"),
    "lock of a leg": ({"lock": ["Rf1"]}, "lock has Rf1, of legs; allowed: joints of no leg"),
    "lock without legs": ({"lock": ["arm"], "legs": None}, "lock needs legs"),
    "lock": ({"lock": {"arm": "up"}}, "lock is .*up.*; allowed: a list of joints' names, or a mapping"),
    "knees": ({"knees": {"fr": "up"}}, "knees.fr is 'up'; allowed: backward or forward"),
    "place of a foot": ({"legs": quadruped.content()["legs"] | {"fl": ["a", "b", "c", [1, 2]]}}, "place .x, y, z."),
}


@pytest.mark.parametrize("case", SPOILT_FILES)
def test_a_file_that_says_what_it_may_not_is_refused_by_name(tmp_path: Path, case: str) -> None:
    changes, words = SPOILT_FILES[case]
    file = quadruped.write(tmp_path, **changes)
    with pytest.raises(ParameterError, match=words.replace("?", r"\?")) as told:
        load_robot(file)
    assert str(file) in str(told.value)


def test_unreachable_heights_and_limits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"which legs of 0.200 and 0.180 m do not reach"):
        small(tmp_path, standing_height=0.5)
    with pytest.raises(ModelError, match=r"standing, fr_knee_joint is at .* its limits are 2.00 and 2.70"):
        small(tmp_path, joints={"lower": [-0.5, -2.0, 2.0]})


def test_a_misspelt_robot_is_answered_with_those_there_are() -> None:
    with pytest.raises(ParameterError, match=r"no robot is called 'g01'; did you mean go1.*Allowed: go1, go2, mini_ch"):
        load_robot("g01")


def test_a_missing_package_is_named_with_what_installs_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no-such-robots.*is not installed; install it with `pip install no-s"):
        small(tmp_path, package="no-such-robots")
    assert metadata.distribution("example-robot-data")
    with pytest.raises(ModelError, match=r"0 files of the PyPI package example-robot-data end with small.urdf"):
        small(tmp_path, package="example-robot-data")
