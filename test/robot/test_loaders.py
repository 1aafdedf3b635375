"""Every reader of the URDF sees the same robot: what one leaves out, another would make up."""

from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

from contact_ddp_ros.base.mujoco_engine import mujoco
from contact_ddp_ros.plants.gazebo.sdf import model_sdf
from contact_ddp_ros.plants.mujoco_model import build_model
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.joints import FOOT_NAMES
from contact_ddp_ros.robot.load import load_robot

dart = pytest.importorskip("dartpy", reason="pinned in requirements-engines.txt")

ROBOT = load_robot()
MASS = 8.912
"""Trunk, four rotors, and four legs of Cheetah-Software's tables [kg]."""

SHANK_MASS, SHANK_COM, SHANK_INERTIA = 0.064, np.array([0.0, 0.0, -0.061]), np.diag([245e-6, 248e-6, 6e-6])


def moments_about_origin(mass: float, com: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    return inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))


def test_every_link_has_an_inertial() -> None:
    """Bullet and DART give a link without one a mass of 1 kg."""
    links = ElementTree.parse(ROBOT.urdf).findall("link")
    masses = {link.get("name"): link.find("inertial/mass") for link in links}
    assert [name for name, mass in masses.items() if mass is None] == []
    total = sum(float(mass.get("value", "nan")) for mass in masses.values() if mass is not None)
    assert total == pytest.approx(MASS, abs=1e-12)


def test_pinocchio() -> None:
    model = pin.buildModelFromUrdf(str(ROBOT.urdf), pin.JointModelFreeFlyer())
    assert pin.computeTotalMass(model) == pytest.approx(MASS, abs=1e-9)
    for leg in ("fr", "fl", "hr", "hl"):
        body = model.inertias[model.getJointId(f"{leg}_knee_joint")]
        assert body.mass == pytest.approx(SHANK_MASS, abs=1e-15)
        np.testing.assert_allclose(body.lever, SHANK_COM, atol=1e-15)
        np.testing.assert_allclose(body.inertia, SHANK_INERTIA, atol=1e-15)


@pytest.mark.parametrize("fuse", [True, False])
def test_mujoco(fuse: bool) -> None:
    """Bodies fused where they are fixed to one another, as by default with URDF, and kept apart."""
    spec = mujoco.MjSpec.from_file(str(ROBOT.urdf))
    spec.compiler.fusestatic = fuse
    spec.body("base_link").add_freejoint()
    model = spec.compile()
    assert sum(model.body_mass) == pytest.approx(MASS, abs=1e-9)


def test_the_simulated_robot() -> None:
    model = build_model(ROBOT, SimOptions())
    assert sum(model.body_mass) == pytest.approx(MASS, abs=1e-9)


def test_dart() -> None:
    skeleton = dart.utils.DartLoader().parseSkeleton(str(ROBOT.urdf))
    assert skeleton.getMass() == pytest.approx(MASS, abs=1e-9)
    total, first, about_origin = 0.0, np.zeros(3), np.zeros((3, 3))
    knee = skeleton.getBodyNode("fr_knee")
    for name in ("fr_knee", "fr_foot"):
        node = skeleton.getBodyNode(name)
        offset = node.getTransform(knee).translation()
        com = offset + node.getLocalCOM()
        mass, inertia = node.getMass(), node.getInertia().getMoment()
        total, first = total + mass, first + mass * com
        about_origin += moments_about_origin(mass, com, inertia)
    com = first / total
    np.testing.assert_allclose(com, SHANK_COM, atol=1e-12)
    expected = moments_about_origin(SHANK_MASS, SHANK_COM, SHANK_INERTIA)
    np.testing.assert_allclose(about_origin, expected, atol=1e-12)


def test_gazebo() -> None:
    links = ElementTree.fromstring(model_sdf(ROBOT)).findall("model/link")
    assert sum(float(link.findtext("inertial/mass", "nan")) for link in links) == pytest.approx(MASS, abs=1e-9)
    assert not {link.get("name") for link in links} & set(FOOT_NAMES)
