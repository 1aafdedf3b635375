"""The planar model moves as the whole robot does when left and right move alike; the maps go there and back."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracle import pinocchio_model

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.joints import JOINT_NAMES, joint_index
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.planar import PLANAR_FOOT_NAMES, PLANAR_JOINT_NAMES, PlanarModel, reduce_to_plane
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]
ROBOT = load_robot()
PLANAR = reduce_to_plane(ROBOT)
MAP = PlanarModel(ROBOT)
SEEDS = st.integers(0, 2**32 - 1)


def free_flyer(robot: Robot) -> pin.Model:
    """Pinocchio's own reading of the URDF on a free-flyer, with armature."""
    model = pin.buildModelFromUrdf(str(robot.urdf), pin.JointModelFreeFlyer())
    armature = np.zeros(model.nv)
    for joint in robot.tree.joints[6:]:
        armature[model.idx_vs[model.getJointId(joint.name)]] = joint.armature
    model.armature = armature
    return model


FULL = free_flyer(ROBOT)


def full_order(model: pin.Model, base: Array, joints: Array) -> Array:
    """Base part and joint values (12,) in pinocchio's velocity order."""
    values = np.zeros(model.nv)
    values[:6] = base
    for name, value in zip(JOINT_NAMES, joints, strict=True):
        values[model.idx_vs[model.getJointId(name)]] = value
    return values


def lift(q: Array, v: Array, acceleration: Array) -> tuple[Array, Array, Array]:
    """Free-flyer configuration, velocity and acceleration (base in its own axes) of a planar motion."""
    quaternion = rpy_to_quaternion(0.0, q[2], 0.0)
    rotation = quaternion_to_matrix(quaternion)
    joint_q, joint_v = MAP.joint_state(np.concatenate([q, v]))
    _, joint_a = MAP.joint_state(np.concatenate([q, acceleration]))
    omega, omega_dot = np.array([0.0, v[2], 0.0]), np.array([0.0, acceleration[2], 0.0])
    linear = rotation.T @ np.array([v[0], 0.0, v[1]])
    linear_dot = rotation.T @ np.array([acceleration[0], 0.0, acceleration[1]]) - np.cross(omega, linear)
    configuration = pin.neutral(FULL)
    configuration[:3] = q[0], 0.0, q[1]
    configuration[3:7] = quaternion
    for name, value in zip(JOINT_NAMES, joint_q, strict=True):
        configuration[FULL.idx_qs[FULL.getJointId(name)]] = value
    velocity = full_order(FULL, np.concatenate([linear, omega]), joint_v)
    return configuration, velocity, full_order(FULL, np.concatenate([linear_dot, omega_dot]), joint_a)


def project(configuration: Array, force: Array) -> tuple[Array, Array]:
    """Planar generalised force of a full one, and the part of it that leaves the plane."""
    rotation = quaternion_to_matrix(configuration[3:7])
    linear, moment = rotation @ force[:3], force[3:6]
    joints = np.array([force[FULL.idx_vs[FULL.getJointId(name)]] for name in JOINT_NAMES])
    pairs = joints[MAP.pairs]
    planar = np.concatenate([[linear[0], linear[2], moment[1]], pairs.sum(axis=1)])
    return planar, np.concatenate([[linear[1], moment[0], moment[2]], pairs[:, 0] - pairs[:, 1]])


def random_motion(seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.5, 1.5, 7), rng.normal(scale=4.0, size=7), rng.normal(scale=20.0, size=7)


def test_names_and_sizes() -> None:
    assert tuple(joint.name for joint in PLANAR.joints) == PLANAR_JOINT_NAMES
    assert tuple(contact.name for contact in PLANAR.contacts) == PLANAR_FOOT_NAMES
    assert PLANAR.actuated == (3, 4, 5, 6)
    assert [PLANAR.joints[i].effort_limit for i in PLANAR.actuated] == [34.0, 52.0, 34.0, 52.0]
    assert all(contact.radius == ROBOT.foot_radius for contact in PLANAR.contacts)


@settings(deadline=None)
@given(SEEDS)
def test_mass_centre_of_mass_and_inertia(seed: int) -> None:
    q, v, acceleration = random_motion(seed)
    model = pinocchio_model(PLANAR)
    data, full_data = model.createData(), FULL.createData()
    configuration, velocity, _ = lift(q, v, acceleration)
    pin.ccrba(model, data, q, v)
    pin.ccrba(FULL, full_data, configuration, velocity)
    assert pin.computeTotalMass(model) == pytest.approx(pin.computeTotalMass(FULL), rel=1e-12)
    assert np.allclose(data.com[0], full_data.com[0], rtol=1e-9, atol=1e-12)
    assert np.allclose(data.Ig.inertia, full_data.Ig.inertia, rtol=1e-9, atol=1e-12)
    assert np.allclose(data.hg.np, full_data.hg.np, rtol=1e-9, atol=1e-9)


@settings(deadline=None)
@given(SEEDS)
def test_inverse_dynamics(seed: int) -> None:
    q, v, acceleration = random_motion(seed)
    model = pinocchio_model(PLANAR)
    planar = pin.rnea(model, model.createData(), q, v, acceleration)
    motion = lift(q, v, acceleration)
    expected, outside = project(motion[0], pin.rnea(FULL, FULL.createData(), *motion))
    scale = np.abs(expected).max()
    assert np.abs(planar - expected).max() < 1e-9 * scale
    assert np.abs(outside).max() < 1e-9 * scale


@settings(deadline=None)
@given(SEEDS)
def test_mass_matrix(seed: int) -> None:
    q, _, _ = random_motion(seed)
    model = pinocchio_model(PLANAR)
    planar = pin.crba(model, model.createData(), q)
    planar = np.triu(planar) + np.triu(planar, 1).T
    configuration = lift(q, np.zeros(7), np.zeros(7))[0]
    full = pin.crba(FULL, FULL.createData(), configuration)
    full = np.triu(full) + np.triu(full, 1).T
    basis = np.array([lift(q, unit, np.zeros(7))[1] for unit in np.eye(7)]).T
    assert np.abs(planar - basis.T @ full @ basis).max() < 1e-9 * np.abs(planar).max()


@settings(deadline=None)
@given(SEEDS)
def test_forward_dynamics(seed: int) -> None:
    """With the abductions held, as the planar model supposes."""
    q, v, _ = random_motion(seed)
    torques = np.random.default_rng(seed).uniform(-30.0, 30.0, 4)
    model = pinocchio_model(PLANAR)
    planar = pin.aba(model, model.createData(), q, v, np.concatenate([np.zeros(3), torques]))
    configuration, velocity, _ = lift(q, v, np.zeros(7))
    force = full_order(FULL, np.zeros(6), MAP.joint_targets(np.zeros(14), torques)[2])
    data = FULL.createData()
    bias = pin.rnea(FULL, data, configuration, velocity, np.zeros(FULL.nv))
    mass_matrix = np.triu(pin.crba(FULL, data, configuration))
    mass_matrix += np.triu(mass_matrix, 1).T
    held = [FULL.idx_vs[FULL.getJointId(name)] for name in JOINT_NAMES if "abad" in name]
    free = np.setdiff1d(np.arange(FULL.nv), held)
    full = np.zeros(FULL.nv)
    full[free] = np.linalg.solve(mass_matrix[np.ix_(free, free)], (force - bias)[free])
    _, _, expected = lift(q, v, planar)
    assert np.abs(full - expected).max() < 1e-9 * np.abs(full).max()


@settings(deadline=None)
@given(SEEDS)
def test_feet(seed: int) -> None:
    q, v, acceleration = random_motion(seed)
    model = pinocchio_model(PLANAR)
    data, full_data = model.createData(), FULL.createData()
    pin.framesForwardKinematics(model, data, q)
    pin.framesForwardKinematics(FULL, full_data, lift(q, v, acceleration)[0])
    for pair, legs in {"front": ("fr", "fl"), "back": ("hr", "hl")}.items():
        planar = data.oMf[model.getFrameId(f"{pair}_foot")].translation
        feet = [full_data.oMf[FULL.getFrameId(f"{leg}_foot")].translation for leg in legs]
        assert np.allclose(planar, np.mean(feet, axis=0), atol=1e-12)
        assert np.allclose(feet[0][[0, 2]], planar[[0, 2]], atol=1e-12)


def test_the_whole_tree_is_the_urdf() -> None:
    """The 18-DoF tree against pinocchio's free-flyer: centre of mass, momentum and joint-space inertia."""
    model = pinocchio_model(ROBOT.tree)
    rng = np.random.default_rng(0)
    for _ in range(20):
        q, joint_v = rng.uniform(-1.2, 1.2, 18), rng.normal(size=12)
        configuration = pin.neutral(FULL)
        configuration[:3] = q[:3]
        configuration[3:7] = rpy_to_quaternion(q[5], q[4], q[3])
        for name, value in zip(JOINT_NAMES, q[6:], strict=True):
            configuration[FULL.idx_qs[FULL.getJointId(name)]] = value
        data, full_data = model.createData(), FULL.createData()
        pin.ccrba(model, data, q, np.concatenate([np.zeros(6), joint_v]))
        pin.ccrba(FULL, full_data, configuration, full_order(FULL, np.zeros(6), joint_v))
        assert np.allclose(data.com[0], full_data.com[0], atol=1e-12)
        assert np.allclose(data.Ig.inertia, full_data.Ig.inertia, rtol=1e-9, atol=1e-12)
        assert np.allclose(data.hg.np, full_data.hg.np, rtol=1e-9, atol=1e-9)
        order = [FULL.idx_vs[FULL.getJointId(name)] for name in JOINT_NAMES]
        legs = np.triu(pin.crba(model, data, q))[6:, 6:]
        full = pin.crba(FULL, full_data, configuration)
        full = np.triu(full) + np.triu(full, 1).T
        assert np.allclose(legs + np.triu(legs, 1).T, full[np.ix_(order, order)], rtol=1e-9, atol=1e-12)


@settings(deadline=None)
@given(SEEDS, st.floats(-3.1, 3.1), st.floats(-1.4, 1.4))
def test_planar_state_drops_only_what_leaves_the_plane(seed: int, yaw: float, pitch: float) -> None:
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal(size=2), [pitch], rng.normal(size=11)])
    joint_q, joint_v = MAP.joint_state(x)
    spread = rng.normal(size=(2, 4))
    for values, difference in ((joint_q, spread[0]), (joint_v, spread[1])):
        values[MAP.pairs[:, 0]] += difference
        values[MAP.pairs[:, 1]] -= difference
    forward, left = np.array([np.cos(yaw), np.sin(yaw)]), np.array([-np.sin(yaw), np.cos(yaw)])
    sideways = rng.normal(size=2)
    quaternion = rpy_to_quaternion(0.0, pitch, yaw)
    world_velocity = np.array([*(x[7] * forward + sideways[1] * left), x[8]])
    rotation = quaternion_to_matrix(quaternion)
    heading = quaternion_to_matrix(rpy_to_quaternion(0.0, 0.0, yaw))
    state = RobotState(
        time=0.0,
        position=np.array([*(x[0] * forward + sideways[0] * left), x[1]]),
        orientation=quaternion,
        linear_velocity=rotation.T @ world_velocity,
        angular_velocity=rotation.T @ heading @ np.array([0.0, x[9], 0.7]),
        joint_positions=joint_q,
        joint_velocities=joint_v,
    )
    assert np.allclose(MAP.state(state), x, atol=1e-9)


def test_joint_maps() -> None:
    x = np.arange(14.0)
    positions, velocities = MAP.joint_state(x)
    assert positions[joint_index("fl", "hip")] == 3.0 and positions[joint_index("hr", "knee")] == 6.0
    assert velocities[joint_index("fr", "knee")] == 11.0 and velocities[joint_index("hl", "hip")] == 12.0
    assert all(values[joint_index(leg, "abad")] == 0.0 for leg in ("fr", "fl", "hr", "hl") for values in (positions,))
    torques = MAP.joint_targets(np.zeros(14), np.array([2.0, 4.0, 6.0, 8.0]))[2]
    assert torques[joint_index("fr", "hip")] == 1.0 and torques[joint_index("hl", "knee")] == 4.0
    assert torques.sum() == pytest.approx(20.0)


@pytest.mark.parametrize("change", ["com", "translation", "inertia"])
def test_a_lopsided_robot_is_refused(change: str) -> None:
    joints = list(ROBOT.tree.joints)
    index = next(i for i, joint in enumerate(joints) if joint.name == "fl_knee_joint")
    spoilt = {
        "com": {"com": joints[index].com + [0.0, 0.01, 0.0]},
        "translation": {"translation": joints[index].translation + [0.01, 0.0, 0.0]},
        "inertia": {"inertia": joints[index].inertia + 1e-5 * np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])},
    }
    joints[index] = dataclasses.replace(joints[index], **spoilt[change])
    lopsided = dataclasses.replace(ROBOT, tree=dataclasses.replace(ROBOT.tree, joints=tuple(joints)))
    with pytest.raises(ModelError, match="mirror"):
        reduce_to_plane(lopsided)
