"""The robot read from its URDF: the published numbers, the mirror image, and clear errors for bad files."""

import re
from pathlib import Path

import numpy as np
import pytest

from contact_ddp_ros.base import files as share
from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.joints import FOOT_NAMES, JOINT_NAMES, LEG_NAMES, joint_index
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import foot_positions
from contact_ddp_ros.robot.tree import Joint
from contact_ddp_ros.robot.urdf import read_description

ROBOT = load_robot()
JOINTS = {joint.name: joint for joint in ROBOT.tree.joints}
TEXT = ROBOT.urdf.read_text(encoding="utf-8")

ROTOR_MASS, ROTOR_INERTIA = 0.055, np.array([33.0, 33.0, 63.0]) * 1e-6
LINKS = {
    "abad": (0.54, [0.0, 0.036, 0.0], (381.0, 560.0, 444.0, 58.0, 0.45, 0.95)),
    "hip": (0.634, [0.0, 0.016, -0.02], (1983.0, 2103.0, 408.0, 245.0, 13.0, 1.5)),
    "knee": (0.064, [0.0, 0.0, -0.061], (245.0, 248.0, 6.0, 0.0, 0.0, 0.0)),
}
"""Mass, centre of mass and 1e-6 (xx, yy, zz, xy, xz, yz) of a left leg, from Cheetah-Software's MiniCheetah.h."""


def tensor(entries: tuple[float, ...]) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = np.array(entries) * 1e-6
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def shifted(mass: float, inertia: np.ndarray, com: np.ndarray) -> np.ndarray:
    """Inertia about the frame's origin."""
    return inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))


def expected_link(kind: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia about the frame's origin of a left link with the rotor it carries."""
    mass, com, entries = LINKS[kind]
    inertia = tensor(entries)
    moments, axes = np.linalg.eigh(inertia)
    deficit = max(moments[2] - moments[1] - moments[0], 0.0)
    inertia = axes @ np.diag(moments + deficit / 3.0 * np.array([1.0, 1.0, -1.0])) @ axes.T
    origin = shifted(mass, inertia, np.array(com))
    rotor_at = {"abad": [0.0, 0.04, 0.0], "hip": [0.0, 0.0, 0.0]}.get(kind)
    first = mass * np.array(com)
    if rotor_at is None:
        return mass, np.array(com), origin
    spin_along_y = np.diag(ROTOR_INERTIA[[0, 2, 1]])
    origin = origin + shifted(ROTOR_MASS, spin_along_y, np.array(rotor_at))
    total = mass + ROTOR_MASS
    return total, (first + ROTOR_MASS * np.array(rotor_at)) / total, origin


@pytest.mark.parametrize("leg", LEG_NAMES)
@pytest.mark.parametrize("kind", LINKS)
def test_links_have_the_published_inertias(leg: str, kind: str) -> None:
    mirror = np.diag([1.0, 1.0 if leg.endswith("l") else -1.0, 1.0])
    mass, com, inertia = expected_link(kind)
    joint: Joint = JOINTS[f"{leg}_{kind}_joint"]
    assert joint.mass == pytest.approx(mass, abs=1e-12)
    assert np.allclose(joint.com, mirror @ com, atol=1e-9)
    assert np.allclose(shifted(joint.mass, joint.inertia, joint.com), mirror @ inertia @ mirror, atol=1e-7)


def test_trunk_carries_four_rotors() -> None:
    trunk = JOINTS["base_roll"]
    inertia = tensor((11253.0, 36203.0, 42673.0, 0.0, 0.0, 0.0))
    for x in (0.125, -0.125):
        for y in (0.049, -0.049):
            inertia += shifted(ROTOR_MASS, np.diag(ROTOR_INERTIA[[2, 0, 1]]), np.array([x, y, 0.0]))
    assert trunk.mass == pytest.approx(3.52)
    assert np.allclose(trunk.com, 0.0)
    assert np.allclose(trunk.inertia, inertia, atol=1e-9)


def test_drives() -> None:
    gears = np.array([6.0, 6.0, 9.33] * 4)
    assert [joint.name for joint in ROBOT.tree.joints[6:]] == list(JOINT_NAMES)
    assert np.allclose([joint.armature for joint in ROBOT.tree.joints[6:]], 63e-6 * gears**2, rtol=1e-4)
    assert np.allclose(ROBOT.effort_limits, [17.0, 17.0, 26.0] * 4)
    assert np.allclose(ROBOT.velocity_limits, [40.0, 40.0, 26.0] * 4)
    assert all(joint.damping == 0.01 and joint.dry_friction == 0.2 for joint in ROBOT.tree.joints[6:])
    assert ROBOT.tree.actuated == tuple(range(6, 18))
    assert (ROBOT.lower < ROBOT.standing).all() and (ROBOT.standing < ROBOT.upper).all()


def test_geometry_and_signs() -> None:
    """Foot x = 0.209 sin(hip) + 0.195 sin(hip + knee) from the hip; positive abduction about +x moves the foot left."""
    angles = np.array([0.0, 0.7, 0.4] * 4)
    feet = foot_positions(ROBOT, angles)
    x = 0.209 * np.sin(0.7) + 0.195 * np.sin(1.1)
    z = -0.209 * np.cos(0.7) - 0.195 * np.cos(1.1)
    signs = np.array([[1, -1], [1, 1], [-1, -1], [-1, 1]])
    assert np.allclose(feet[:, 0], 0.19 * signs[:, 0] + x)
    assert np.allclose(feet[:, 1], 0.115 * signs[:, 1])
    assert np.allclose(feet[:, 2], z)
    angles[joint_index("fl", "abad")] = 0.2
    assert foot_positions(ROBOT, angles)[1, 1] > feet[1, 1]


def test_standing_state_touches_the_ground() -> None:
    state = ROBOT.standing_state(time=2.0)
    feet = state.position + foot_positions(ROBOT, state.joint_positions)
    assert state.time == 2.0 and state.is_finite()
    assert np.allclose(feet[:, 2], ROBOT.foot_radius, atol=1e-9)
    assert 0.25 < state.position[2] < 0.35
    assert [contact.name for contact in ROBOT.tree.contacts] == list(FOOT_NAMES)


def test_hash_is_the_fingerprint_of_the_numbers(tmp_path: Path) -> None:
    reformatted, changed = tmp_path / "same.urdf", tmp_path / "other.urdf"
    reformatted.write_text(re.sub(r"<!--.*?-->", "", TEXT, flags=re.DOTALL), encoding="utf-8")
    changed.write_text(TEXT.replace('mass value="3.52"', 'mass value="3.53"'), encoding="utf-8")
    assert load_robot(reformatted).model_hash == ROBOT.model_hash
    assert load_robot(changed).model_hash != ROBOT.model_hash
    assert 0 <= ROBOT.model_hash < 2**63


SPOILT_HIP = ('"fl_hip_joint" type="revolute"', '"fl_hip_joint" type="continuous"')
SPOILT = {
    "not XML": (lambda text: text[:4000], "well-formed"),
    "not a URDF": (lambda text: "<sdf></sdf>", "<robot>"),
    "empty": (lambda text: "", "well-formed"),
    "no link": (lambda text: '<robot name="nothing"></robot>', "pinocchio"),
    "missing joint": (
        lambda text: text.replace('"fl_knee_joint" type="revolute"', '"fl_knee_joint" type="fixed"'),
        "fl_knee_joint",
    ),
    "fixed joint": (
        lambda text: text.replace('"fl_hip_joint" type="revolute"', '"fl_hip_joint" type="fixed"'),
        "fl_hip",
    ),
    "continuous": (
        lambda text: text.replace(*SPOILT_HIP),
        "kind",
    ),
    "sliding": (lambda text: text.replace('"fl_hip_joint" type="revolute"', '"fl_hip_joint" type="prismatic"'), "kind"),
    "missing foot": (lambda text: text.replace("hr_foot", "hr_paw"), "hr_foot"),
    "no sphere": (lambda text: text.replace('<sphere radius="0.0175"/>', '<box size="1 1 1"/>'), "sphere"),
    "negative mass": (lambda text: text.replace('mass value="0.689"', 'mass value="-0.689"'), "mass"),
    "no mass": (lambda text: text.replace('mass value="0.689"', 'mass value="0"'), "mass"),
    "thin body": (lambda text: text.replace('izz="0.00000590625"', 'izz="0.0000001"'), "sum of the other two"),
    "armature text": (lambda text: text.replace('armature="0.005484"', 'armature="much"'), "armature"),
    "negative armature": (lambda text: text.replace('armature="0.005484"', 'armature="-1"'), "negative"),
    "limits": (lambda text: text.replace('lower="-2.8" upper="2.8"', 'lower="2.8" upper="-2.8"'), "limits"),
    "no effort": (lambda text: text.replace('effort="26"', 'effort="0"'), "limits"),
}


@pytest.mark.parametrize("case", SPOILT)
def test_a_spoilt_description_is_a_model_error(tmp_path: Path, case: str) -> None:
    spoil, match = SPOILT[case]
    path = tmp_path / "spoilt.urdf"
    path.write_text(spoil(TEXT), encoding="utf-8")
    assert spoil(TEXT) != TEXT
    with pytest.raises(ModelError, match=match) as caught:
        read_description(path)
    assert "spoilt.urdf" in str(caught.value)


MENDED = {
    "floating root": (
        '<link name="base_link">',
        '<link name="world"/><joint name="free" type="floating"><parent link="world"/><child link="base_link"/></joint>'
        '<link name="base_link">',
        "joint free is floating",
    ),
    "continuous": (*SPOILT_HIP, "joints.lower is estimated"),
    "no effort": ('effort="26"', 'effort="0"', "joints.effort is estimated"),
    "feet of another name": ("hr_foot", "hr_paw", ""),
}


@pytest.mark.parametrize("case", MENDED)
def test_a_description_in_this_packages_names_is_mended_as_others_are(tmp_path: Path, case: str) -> None:
    old, new, words = MENDED[case]
    assert old in TEXT
    path = tmp_path / "mended.urdf"
    path.write_text(TEXT.replace(old, new), encoding="utf-8")
    robot = load_robot(path)
    assert robot.mass == pytest.approx(ROBOT.mass)
    assert robot.standing_height() == pytest.approx(ROBOT.standing_height(), abs=0.001)
    assert any(words in note for note in robot.notes) or not words, robot.notes


def test_an_unreadable_file_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read"):
        load_robot(tmp_path / "nowhere.urdf")
    with pytest.raises(ModelError, match="cannot read"):
        load_robot(tmp_path)
    binary = tmp_path / "binary.urdf"
    binary.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(ModelError, match="cannot read"):
        load_robot(binary)


def test_the_installed_description_is_found_where_there_is_no_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "lib" / "python3" / "site-packages"
    monkeypatch.setattr(share, "__file__", str(site / "contact_ddp_ros" / "base" / "files.py"))
    with pytest.raises(ModelError, match="none of"):
        load_robot()
    installed = tmp_path / "share" / "contact_ddp_ros" / "urdf" / "mini_cheetah.urdf"
    installed.parent.mkdir(parents=True)
    installed.write_text(TEXT, encoding="utf-8")
    assert load_robot().urdf == installed
    assert load_robot().model_hash == ROBOT.model_hash
