import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.joints import FOOT_NAMES
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.tree import composite_body, joint_inertias

DOWN = np.array([0.0, 0.0, -1.0])
SEEDS = range(5)


@pytest.fixture(scope="module")
def geometry(robot: Robot) -> LegGeometry:
    return LegGeometry.from_tree(robot.tree, FOOT_NAMES)


def random_joints(robot: Robot, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(robot.lower, robot.upper)


@pytest.mark.parametrize("seed", SEEDS)
def test_points_and_jacobians_agree_with_pinocchio(robot: Robot, geometry: LegGeometry, seed: int) -> None:
    model = pin.buildModelFromUrdf(str(robot.urdf))
    data = model.createData()
    q = random_joints(robot, seed)
    order = [model.joints[model.getJointId(robot.tree.joints[i].name)].idx_q for i in geometry.joints.ravel()]
    q_pin = np.zeros(model.nq)
    q_pin[order] = q
    pin.forwardKinematics(model, data, q_pin)
    pin.updateFramePlacements(model, data)
    points, jacobians = geometry.points_and_jacobians(q, DOWN)
    for leg, foot in enumerate(FOOT_NAMES):
        frame = model.getFrameId(foot)
        centre = data.oMf[frame].translation
        np.testing.assert_allclose(points[leg], centre + robot.foot_radius * DOWN, atol=1e-12)
        full = pin.computeFrameJacobian(model, data, q_pin, frame, pin.LOCAL_WORLD_ALIGNED)
        of_leg = full[:, order[3 * leg : 3 * leg + 3]]
        at_contact = of_leg[:3] + np.cross(of_leg[3:].T, robot.foot_radius * DOWN).T
        np.testing.assert_allclose(jacobians[leg], at_contact, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobian_of_the_centre_agrees_with_finite_differences(robot: Robot, geometry: LegGeometry, seed: int) -> None:
    q, step = random_joints(robot, seed), 1e-6
    _, jacobians = geometry.points_and_jacobians(q, 0.0 * DOWN)
    for joint in range(len(q)):
        ahead, behind = q.copy(), q.copy()
        ahead[joint] += step
        behind[joint] -= step
        moved = (
            geometry.points_and_jacobians(ahead, 0.0 * DOWN)[0] - geometry.points_and_jacobians(behind, 0.0 * DOWN)[0]
        )
        leg, column = divmod(joint, 3)
        expected = np.zeros_like(moved)
        expected[leg] = jacobians[leg][:, column]
        np.testing.assert_allclose(moved / (2.0 * step), expected, atol=1e-8)


def test_read_only_and_integer_joint_positions_are_read(robot: Robot, geometry: LegGeometry) -> None:
    frozen = robot.standing.copy()
    frozen.setflags(write=False)
    np.testing.assert_array_equal(
        geometry.points_and_jacobians(frozen, DOWN)[0], geometry.points_and_jacobians(robot.standing, DOWN)[0]
    )
    geometry.points_and_jacobians(np.zeros(12, dtype=int), DOWN)


@pytest.mark.parametrize("seed", SEEDS)
def test_composite_body_agrees_with_the_robot_read_by_pinocchio(robot: Robot, geometry: LegGeometry, seed: int) -> None:
    model = pin.buildModelFromUrdf(str(robot.urdf), pin.JointModelFreeFlyer())
    data = model.createData()
    q = random_joints(robot, seed)
    q_pin = pin.neutral(model)
    for index, angle in zip(geometry.joints.ravel(), q):
        q_pin[model.joints[model.getJointId(robot.tree.joints[index].name)].idx_q] = angle
    pin.ccrba(model, data, q_pin, np.zeros(model.nv))
    body = composite_body(robot.tree, q)
    assert body.mass == pytest.approx(pin.computeTotalMass(model))
    np.testing.assert_allclose(body.com, data.com[0], atol=1e-10)
    np.testing.assert_allclose(body.inertia, data.Ig.inertia, atol=1e-10)


def test_joint_inertias_are_torque_per_acceleration(robot: Robot) -> None:
    model = pin.buildModelFromUrdf(str(robot.urdf))
    data, rest = model.createData(), np.zeros(model.nv)
    q = np.zeros(model.nq)
    columns = [model.joints[model.getJointId(joint.name)].idx_v for joint in robot.tree.joints[6:]]
    q[columns] = robot.standing
    still = pin.rnea(model, data, q, rest, rest)
    found = joint_inertias(robot.tree, robot.standing)
    for joint, column, inertia in zip(robot.tree.joints[6:], columns, found, strict=True):
        torque = pin.rnea(model, data, q, rest, np.eye(model.nv)[column]) - still
        assert inertia == pytest.approx(torque[column] + joint.armature, rel=1e-9)


def test_feet_that_do_not_hang_from_one_trunk_are_refused(robot: Robot) -> None:
    joints = list(robot.tree.joints)
    first = next(i for i, joint in enumerate(joints) if joint.name == "fr_abad_joint")
    joints[first] = dataclasses.replace(joints[first], kind="prismatic")
    with pytest.raises(ModelError, match="prismatic"):
        LegGeometry.from_tree(dataclasses.replace(robot.tree, joints=tuple(joints)), FOOT_NAMES)
    joints[first] = dataclasses.replace(robot.tree.joints[first], parent=0)
    with pytest.raises(ModelError, match="one trunk"):
        LegGeometry.from_tree(dataclasses.replace(robot.tree, joints=tuple(joints)), FOOT_NAMES)
