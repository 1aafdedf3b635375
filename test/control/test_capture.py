"""Capture in physics: a robot that runs or spins steps until it is slow, with the trunk up and level."""

import numpy as np
import pytest

from contact_ddp_ros.control.capture import CaptureLaw
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.stand import StandLaw
from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.joint_pd import limited_command
from contact_ddp_ros.robot.joints import FOOT_NAMES
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.loop import Channel
from contact_ddp_ros.runs.options import RunOptions

STEPS_PER_TICK = 2


def capture_law(robot: Robot, config: ControllerConfig) -> CaptureLaw:
    geometry = LegGeometry.from_tree(robot.tree, FOOT_NAMES)
    return CaptureLaw(robot, geometry, StandLaw(robot, geometry, config.drive.gains(len(FOOT_NAMES)), config.stand))


def standing(controller: Controller, simulator: MujocoSimulator) -> None:
    controller.update(simulator.read(), simulator.time)
    controller.request(ControlMode.STAND)
    while not controller.standing:
        simulator.write(controller.update(simulator.read(), simulator.time))
        simulator.advance(STEPS_PER_TICK)


@pytest.mark.parametrize(
    ("forward", "left", "turn", "friction"),
    [(2.3, 0.0, 0.0, 0.8), (-1.5, 0.0, 0.0, 0.4), (0.0, 1.0, 0.0, 0.8), (1.5, 0.5, 3.0, 0.4)],
)
def test_a_trunk_that_is_set_moving_is_stopped_by_steps(
    robot: Robot, controller: Controller, forward: float, left: float, turn: float, friction: float
) -> None:
    simulator = MujocoSimulator(robot, controller.drive_gains, SimOptions(friction=friction))
    standing(controller, simulator)
    simulator.data.qvel[:6] = forward, left, 1.0, 0.0, 0.0, turn
    law, ground = capture_law(robot, controller.config), Ground()
    law.start(simulator.read(), simulator.time)
    began, tilt, pairs = simulator.time, 0.0, set()
    while True:
        state = simulator.read()
        targets = law.targets(state, simulator.time, 0.0, ground)
        if targets is None:
            break
        simulator.write(limited_command(targets, state, controller.drive_gains, robot.effort_limits).command)
        simulator.advance(STEPS_PER_TICK)
        tilt = max(tilt, np.abs(quaternion_to_rpy(state.orientation)[:2]).max())
        pairs.add(law.contacts)
    state = simulator.read()
    assert tilt < 0.6
    assert simulator.time - began < 1.5
    assert np.hypot(*state.linear_velocity[:2]) < 0.5 and abs(state.angular_velocity[2]) < 1.5
    assert state.position[2] > 0.8 * robot.standing_height()
    assert law.done
    assert pairs == {(True, True, True, True), (True, False, False, True), (False, True, True, False)}


def test_it_is_over_at_once_where_the_robot_is_slow(robot: Robot, controller: Controller) -> None:
    simulator = MujocoSimulator(robot, controller.drive_gains)
    law = capture_law(robot, controller.config)
    law.start(simulator.read(), 0.0)
    assert law.done


class CutOff(Channel):
    """No policy arrives from a time [s] on."""

    def __init__(self, time: float) -> None:
        self.time = time

    def policies(self, policy, due):  # type: ignore[no-untyped-def]
        return () if due >= self.time else ((due, policy),)


def test_a_gait_whose_plans_end_comes_to_a_stand_on_a_floor_that_grips() -> None:
    cut = 2.0
    options = RunOptions(
        duration=cut + 2.5,
        speed=((0.0, 2.3),),
        turn=0.3,
        overrides={"planner.gait.name": "bound", "controller.stand.ramp_time": 0.3},
        record_plans=0,
        video=False,
    )
    loop = ClosedLoop(options, channel=CutOff(cut))
    loop.run()
    assert loop.controller.fault is None
    assert loop.controller.retreats == 1
    assert loop.controller.standing
    assert np.abs(loop.plant.truth().state.linear_velocity).max() < 0.1
