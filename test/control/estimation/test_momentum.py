"""The observer against forces that pinocchio's dynamics are driven with."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from contact_ddp_ros.control.estimation.momentum import MomentumObserver
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import foot_positions
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import free_flyer_model

ROBOT = load_robot()
STEP = 0.0005
RATE = 1000.0


def test_the_model_weighs_what_the_robot_weighs() -> None:
    model = free_flyer_model(ROBOT.tree)
    assert pin.computeTotalMass(model) == pytest.approx(ROBOT.mass)
    data = model.createData()
    state = ROBOT.standing_state()
    q = np.concatenate([state.position, state.orientation, state.joint_positions])
    assert pin.rnea(model, data, q, np.zeros(18), np.zeros(18))[2] == pytest.approx(9.81 * ROBOT.mass, rel=1e-6)


def simulated(force: np.ndarray, foot: int, torques: np.ndarray, steps: int) -> list[RobotState]:
    """States of a robot in free fall with a force on one foot's lowest point, by pinocchio's forward dynamics."""
    model = free_flyer_model(ROBOT.tree)
    data = model.createData()
    point = ROBOT.tree.contacts[foot]
    joint = model.getJointId(ROBOT.tree.joints[point.body].name)
    damping = np.array([0.0] * 6 + [one.damping for one in ROBOT.tree.joints[6:]])
    start = ROBOT.standing_state()
    q = np.concatenate([start.position, start.orientation, start.joint_positions])
    v = np.concatenate([np.zeros(6), np.linspace(-1.0, 1.0, 12)])
    states = []
    for k in range(steps):
        states.append(
            RobotState(k * STEP, q[:3].copy(), q[3:7].copy(), v[:3].copy(), v[3:6].copy(), q[7:].copy(), v[6:].copy())
        )
        pin.forwardKinematics(model, data, q)
        rotation = data.oMi[joint].rotation
        arm = point.position + rotation.T @ np.array([0.0, 0.0, -ROBOT.foot_radius])
        local = rotation.T @ force
        forces = pin.StdVec_Force()
        for index in range(model.njoints):
            forces.append(pin.Force(local, np.cross(arm, local)) if index == joint else pin.Force.Zero())
        dry = 0.2 * np.tanh(v[6:] / 0.2)
        tau = np.concatenate([np.zeros(6), torques - dry]) - damping * v
        a = pin.aba(model, data, q, v, tau, forces)
        v = v + STEP * a
        q = pin.integrate(model, q, STEP * v)
    return states


@pytest.mark.parametrize("foot", range(4))
def test_a_force_on_a_foot_is_found(foot: int) -> None:
    force, torques = np.array([8.0, -5.0, 40.0]), np.linspace(-1.0, 1.0, 12)
    observer = MomentumObserver(ROBOT)
    for state in simulated(force, foot, torques, 60):
        observer.update(state, torques, RATE)
    np.testing.assert_allclose(observer.forces[foot], force, atol=1.0, err_msg="it lags 1 ms behind")
    others = np.delete(observer.forces, foot, axis=0)
    assert np.abs(others).max() < 1.5


def test_the_feet_are_where_the_joints_put_them() -> None:
    state = dataclasses.replace(ROBOT.standing_state(), orientation=np.array([0.1, -0.2, 0.3, 0.9]) / np.sqrt(0.95))
    observer = MomentumObserver(ROBOT)
    observer.update(state, np.zeros(12), RATE)
    centres = state.position + foot_positions(ROBOT, state.joint_positions) @ quaternion_to_matrix(state.orientation).T
    np.testing.assert_allclose(observer.points, centres - [0.0, 0.0, ROBOT.foot_radius], atol=1e-9)


def test_the_knees_are_where_pinocchio_has_them() -> None:
    state = dataclasses.replace(ROBOT.standing_state(), orientation=np.array([0.1, -0.2, 0.3, 0.9]) / np.sqrt(0.95))
    observer = MomentumObserver(ROBOT)
    observer.update(state, np.zeros(12), RATE)
    model = free_flyer_model(ROBOT.tree)
    data = model.createData()
    pin.forwardKinematics(model, data, np.concatenate([state.position, state.orientation, state.joint_positions]))
    knees = [data.oMi[model.getJointId(f"{leg}_knee_joint")].translation for leg in LEG_NAMES]
    np.testing.assert_allclose(observer.knees, knees, atol=1e-9)


def test_joint_torques_push_the_feet_by_virtual_work() -> None:
    state, torques = ROBOT.standing_state(), np.linspace(-3.0, 4.0, 12)
    observer = MomentumObserver(ROBOT)
    observer.update(state, torques, RATE)
    pushed, points = observer.driven.copy(), observer.points.copy()
    for joint in range(12):
        moved = state.joint_positions.copy()
        moved[joint] += 1e-6
        observer.update(dataclasses.replace(state, joint_positions=moved), torques, RATE)
        work = (pushed * (observer.points - points)).sum() / 1e-6
        assert work == pytest.approx(torques[joint], rel=0.12, abs=0.05), "short levers are damped"


def test_a_pause_begins_anew() -> None:
    states = simulated(np.array([0.0, 0.0, 40.0]), 0, np.zeros(12), 60)
    observer = MomentumObserver(ROBOT)
    for state in states:
        observer.update(state, np.zeros(12), RATE)
    assert observer.forces[0, 2] > 30.0
    observer.update(dataclasses.replace(states[-1], time=5.0), np.zeros(12), RATE)
    assert not observer.forces.any()
