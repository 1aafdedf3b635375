"""Shapes against pinocchio's reader of the same URDF."""

import numpy as np
import pinocchio as pin
import pytest

from contact_ddp_ros.robot.joints import FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.shapes import read_outline

ROBOT = load_robot()
KINDS = {"visual": pin.GeometryType.VISUAL, "collision": pin.GeometryType.COLLISION}


@pytest.mark.parametrize("purpose", sorted(KINDS))
def test_shapes_are_where_pinocchio_has_them(purpose: str) -> None:
    outline = read_outline(ROBOT.urdf)
    model = pin.buildModelFromUrdf(str(ROBOT.urdf))
    expected = pin.buildGeomFromUrdf(model, str(ROBOT.urdf), KINDS[purpose]).geometryObjects
    carrier_of = {0: "base_link", **{model.getJointId(name): outline.moved_links[name] for name in JOINT_NAMES}}
    shapes = [shape for shape in outline.shapes if shape.purpose == purpose]
    assert len(shapes) == len(expected) > 0
    for number, shape in enumerate(shapes):
        index = [earlier.link for earlier in shapes[:number]].count(shape.link)
        (found,) = [one for one in expected if one.name == f"{shape.link}_{index}"]
        assert carrier_of[found.parentJoint] == shape.carrier
        np.testing.assert_allclose(found.placement.translation, shape.translation, atol=1e-9)
        np.testing.assert_allclose(found.placement.rotation, shape.rotation, atol=1e-9)
        if purpose == "visual":
            np.testing.assert_allclose(found.meshColor, shape.colour, atol=1e-6)
        if shape.kind == "sphere":
            assert found.geometry.radius == pytest.approx(shape.size[0])


def test_a_foot_belongs_to_its_shank() -> None:
    feet = [shape for shape in read_outline(ROBOT.urdf).shapes if shape.link in FOOT_NAMES]
    assert {shape.link: shape.carrier for shape in feet} == {
        foot: foot.replace("_foot", "_knee") for foot in FOOT_NAMES
    }
