"""Any URDF as a tree, against pinocchio's model of it."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from arm import arm
from oracle import pinocchio_model

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.joints import BASE_JOINTS
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.third_party_urdf import read_tree
from contact_ddp_ros.robot.urdf import default_urdf


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_text(arm(damping=0.3), encoding="utf-8")
    return path


def test_the_joints_are_those_of_the_file(urdf: Path) -> None:
    turn, extend, wrist = read_tree(urdf).joints
    assert [turn.name, extend.name, wrist.name] == ["turn", "extend", "wrist"]
    assert [turn.kind, extend.kind, wrist.kind] == ["revolute", "prismatic", "revolute"]
    assert np.allclose(wrist.axis, [0.0, 0.6, 0.8])
    assert (turn.lower, turn.upper) == (-np.inf, np.inf)
    assert (extend.lower, extend.upper, extend.effort_limit) == (-0.1, 0.4, 20.0)
    assert (wrist.damping, wrist.armature) == (0.3, 0.01)
    assert wrist.mass == pytest.approx(0.6), "the tip is part of the hand"
    assert read_tree(urdf).actuated == (0, 1), "a joint without effort has no actuator"


def test_its_mass_matrix_is_pinocchios(urdf: Path) -> None:
    model = pin.buildModelFromXML(arm())
    tree = read_tree(urdf)
    q = np.array([0.7, 0.2, -0.4])
    mine = pinocchio_model(tree)
    mine.armature[:] = 0.0
    theirs = np.array([np.cos(q[0]), np.sin(q[0]), *q[1:]])
    assert np.allclose(pin.crba(mine, mine.createData(), q), pin.crba(model, model.createData(), theirs))


def test_contacts_are_origins_of_links(urdf: Path) -> None:
    (tip,) = read_tree(urdf, ["tip"], radius=0.02).contacts
    assert tip.body == 2 and tip.radius == 0.02
    assert np.allclose(tip.position, [0.12, 0.03, -0.02])


def test_a_floating_base_comes_first(urdf: Path) -> None:
    tree = read_tree(urdf, ["base", "tip"], floating_base=True)
    assert [joint.name for joint in tree.joints] == [name for name, _, _ in BASE_JOINTS] + ["turn", "extend", "wrist"]
    assert tree.mass == pytest.approx(2.0 + 1.5 + 0.8 + 0.6)
    assert [point.body for point in tree.contacts] == [5, 8]
    assert tree.actuated == (6, 7)


def test_the_robot_is_the_same_by_either_way() -> None:
    by_name = {joint.name: joint for joint in load_robot().tree.joints}
    tree = read_tree(default_urdf(), floating_base=True)
    assert sorted(by_name) == sorted(joint.name for joint in tree.joints)
    for joint in tree.joints:
        other = by_name[joint.name]
        assert joint.mass == other.mass and joint.effort_limit == other.effort_limit
        assert np.array_equal(joint.inertia, other.inertia) and np.array_equal(joint.translation, other.translation)


def test_what_cannot_be_used_is_named(urdf: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no link 'tipp'; did you mean tip"):
        read_tree(urdf, ["tipp"])
    with pytest.raises(ModelError, match="link 'base' is fixed to the world"):
        read_tree(urdf, ["base"])
    with pytest.raises(ModelError, match="cannot read the robot description"):
        read_tree(tmp_path / "none.urdf")
    urdf.write_text(arm().replace('"continuous"', '"floating"'), encoding="utf-8")
    with pytest.raises(ModelError, match="'turn' has 6 degrees of freedom"):
        read_tree(urdf)
    urdf.write_text('<robot name="stone"><link name="stone"/></robot>', encoding="utf-8")
    with pytest.raises(ModelError, match="no joint that moves"):
        read_tree(urdf)
    with pytest.raises(ModelError, match="root link has a mass of 0"):
        read_tree(urdf, floating_base=True)
