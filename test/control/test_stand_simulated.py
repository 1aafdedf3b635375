"""The stand in physics: up from lying, through pushes, out of a fall with speed, and softly down."""

import dataclasses

import numpy as np
import pytest

from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_to_rpy, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState

STEPS_PER_TICK = 2
LYING_LEG = (0.0, -1.4, 2.6)
TUCKED_LEG = (0.0, -1.0, 1.9)
PUSH_TIME = 0.1


@pytest.fixture
def simulator(robot: Robot, controller: Controller) -> MujocoSimulator:
    return MujocoSimulator(robot, controller.drive_gains)


def run(controller: Controller, simulator: MujocoSimulator, duration: float) -> list[RobotState]:
    states = []
    for _ in range(round(duration / simulator.timestep / STEPS_PER_TICK)):
        states.append(simulator.read())
        simulator.write(controller.update(states[-1], simulator.time))
        simulator.advance(STEPS_PER_TICK)
    return states


def stand(controller: Controller, simulator: MujocoSimulator) -> None:
    controller.update(simulator.read(), simulator.time)
    assert controller.request(ControlMode.STAND).accepted
    run(controller, simulator, controller.config.stand.ramp_time + 0.2)
    assert controller.standing


def tilts(states: list[RobotState]) -> np.ndarray:
    return np.abs([quaternion_to_rpy(state.orientation)[:2] for state in states]).max(axis=0)


def test_it_holds_still(robot: Robot, controller: Controller, simulator: MujocoSimulator) -> None:
    stand(controller, simulator)
    states = run(controller, simulator, 1.0)
    heights = np.array([state.position[2] for state in states])
    np.testing.assert_allclose(heights, robot.standing_height(), atol=0.005)
    assert tilts(states).max() < 0.01
    assert np.abs(states[-1].linear_velocity).max() < 0.01


@pytest.mark.parametrize(("degrees", "heading"), [(22, 180), (15, 90), (18, 45)])
def test_it_stands_on_a_slope_above_the_middle_of_its_feet(
    robot: Robot, controller: Controller, degrees: float, heading: float
) -> None:
    options = SimOptions(terrain=f"slope:{degrees},{heading}")
    simulator = MujocoSimulator(robot, controller.drive_gains, options)
    stand(controller, simulator)
    states = run(controller, simulator, 0.5)
    assert controller.mode is ControlMode.STAND, str(controller.fault)
    state, slope = states[-1], np.deg2rad(degrees)
    assert np.abs(state.linear_velocity).max() < 0.02
    felt = controller.estimator.ground
    assert felt is not None and np.hypot(*felt.slopes) == pytest.approx(np.tan(slope), rel=0.1)
    assert np.abs(felt.tilt_of(state.orientation)).max() < 0.12
    middle = controller.estimator.footholds[-4:].mean(axis=0)
    assert np.hypot(*(state.position - middle)[:2]) < 0.25 * robot.standing_height() * np.tan(slope)
    assert controller._stand.obstacle(state, simulator.time, felt, controller.config.move) == ""


@pytest.mark.parametrize("impulse", [(0.0, -4.0, 0.0), (-4.0, 0.0, 0.0)])
def test_it_withstands_pushes(
    robot: Robot, controller: Controller, simulator: MujocoSimulator, impulse: tuple[float, float, float]
) -> None:
    stand(controller, simulator)
    simulator.push(np.array(impulse) / PUSH_TIME, PUSH_TIME)
    states = run(controller, simulator, 1.5)
    assert controller.mode is ControlMode.STAND
    assert tilts(states).max() < 0.1
    assert states[-1].position[2] == pytest.approx(robot.standing_height(), abs=0.01)
    assert np.abs(states[-1].linear_velocity).max() < 0.02


def test_it_gets_up_from_lying(robot: Robot, controller: Controller, simulator: MujocoSimulator) -> None:
    lying = dataclasses.replace(
        robot.standing_state(), position=np.array([0.0, 0.0, 0.12]), joint_positions=np.tile(LYING_LEG, 4)
    )
    simulator.reset(lying)
    run(controller, simulator, 0.5)
    stand(controller, simulator)
    assert simulator.read().position[2] == pytest.approx(robot.standing_height(), abs=0.01)


def test_it_gets_up_level_from_where_a_leap_was_damped(
    robot: Robot, controller: Controller, simulator: MujocoSimulator
) -> None:
    sprawled = np.array([*(0.0, -2.06, 2.23) * 2, *(0.0, -1.13, 2.1) * 2])
    simulator.reset(
        dataclasses.replace(
            robot.standing_state(),
            position=np.array([0.0, 0.0, 0.14]),
            orientation=rpy_to_quaternion(0.0, 0.39, 0.0),
            joint_positions=sprawled,
        )
    )
    run(controller, simulator, 0.3)
    controller.update(simulator.read(), simulator.time)
    assert controller.request(ControlMode.STAND).accepted
    config = controller.config.stand
    states = run(controller, simulator, config.fold_time + config.ramp_time + 0.2)
    assert controller.standing, str(controller.fault)
    folded = round(config.fold_time / simulator.timestep / STEPS_PER_TICK)
    assert tilts(states[folded:]).max() < 0.15
    assert simulator.read().position[2] == pytest.approx(robot.standing_height(), abs=0.01)


def test_damping_lowers_it_softly(controller: Controller, simulator: MujocoSimulator) -> None:
    stand(controller, simulator)
    controller.request(ControlMode.DAMP)
    states = run(controller, simulator, 2.0)
    heights = np.array([state.position[2] for state in states])
    sinking = np.diff(heights) / (STEPS_PER_TICK * simulator.timestep)
    assert heights[-1] < 0.5 * heights[0]
    assert sinking.min() > -1.0, "half the speed of a free fall from there"
    assert tilts(states).max() < 0.2
    assert np.abs(states[-1].joint_velocities).max() < 0.1


@pytest.mark.parametrize(("speed", "sinking", "pitch", "pitch_rate"), [(0.5, 1.0, -0.15, -2.0), (-0.5, 1.0, 0.15, 2.0)])
def test_it_catches_itself_from_the_middle_of_a_bound(
    robot: Robot, controller: Controller, simulator: MujocoSimulator, speed, sinking, pitch, pitch_rate
) -> None:
    flying = dataclasses.replace(
        robot.standing_state(),
        position=np.array([0.0, 0.0, 0.33]),
        orientation=rpy_to_quaternion(0.0, pitch, 0.0),
        linear_velocity=np.array([speed, 0.0, -sinking]),
        angular_velocity=np.array([0.0, pitch_rate, 0.0]),
        joint_positions=np.tile(TUCKED_LEG, 4),
    )
    simulator.reset(flying)
    controller.update(simulator.read(), 0.0)
    assert controller.request(ControlMode.STAND).accepted
    controller._stand.catch(simulator.read(), 0.0, Ground())
    states = run(controller, simulator, 1.5)
    assert controller.mode is ControlMode.STAND, str(controller.fault)
    assert tilts(states).max() < 0.35
    assert states[-1].position[2] == pytest.approx(robot.standing_height(), abs=0.01)
    assert np.abs(states[-1].linear_velocity).max() < 0.05


def test_a_state_that_stops_coming_damps_in_time(controller: Controller, simulator: MujocoSimulator) -> None:
    stand(controller, simulator)
    frozen = simulator.read()
    after = 0.0
    while controller.mode is ControlMode.STAND:
        simulator.write(controller.update(frozen, simulator.time))
        simulator.advance()
        after += simulator.timestep
    assert after <= controller.config.safety.state_timeout + 2.5 * simulator.timestep
