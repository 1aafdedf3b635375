"""Getting up in physics, from whatever side the robot has fallen on."""

from dataclasses import replace

import numpy as np
import pytest

from contact_ddp_ros.control.config import MoveConfig, StandConfig
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.safety import ViolationKind
from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.runs.closed_loop import run as run_loop
from contact_ddp_ros.runs.figures import figures_of
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording.record import CONTROL_MODES

STEPS_PER_TICK = 2
STEEP_AND_WEAK = SimOptions(terrain="slope:8,60", friction=0.6, torque_scale=0.7)
LIES = {
    "back": (np.pi, 0.1, 1.0),
    "left": (-1.6, 0.2, -2.0),
    "right": (1.5, -0.2, 0.0),
    "nose": (0.3, 1.4, 0.5),
    "belly": (0.0, 0.0, 0.0),
}
"""Roll, pitch and yaw with which it is dropped [rad]."""


def fallen(robot: Robot, controller: Controller, simulator: MujocoSimulator, rpy: tuple[float, float, float]) -> None:
    """Drop a damping robot with its legs anyhow, and let it come to rest."""
    random = np.random.default_rng(5)
    legs = np.clip(robot.standing + random.uniform(-0.6, 0.6, robot.n_joints), robot.lower, robot.upper)
    state = replace(
        robot.standing_state(),
        position=np.array([0.0, 0.0, 0.55]),
        orientation=rpy_to_quaternion(*rpy),
        joint_positions=legs,
    )
    simulator.reset(state)
    run(controller, simulator, 1.5)


def run(controller: Controller, simulator: MujocoSimulator, duration: float) -> None:
    for _ in range(round(duration / simulator.timestep / STEPS_PER_TICK)):
        simulator.write(controller.update(simulator.read(), simulator.time))
        simulator.advance(STEPS_PER_TICK)


def get_up(controller: Controller, simulator: MujocoSimulator, patience: float = 20.0) -> None:
    assert controller.request(ControlMode.RECOVER).accepted
    end = simulator.time + patience
    while controller.mode is not ControlMode.DAMP and not controller.standing and simulator.time < end:
        run(controller, simulator, 0.1)


@pytest.mark.parametrize(
    ("lies", "options"), [*((one, SimOptions()) for one in ("right", "nose", "belly")), ("back", STEEP_AND_WEAK)]
)
def test_it_gets_up(robot: Robot, controller: Controller, lies: str, options: SimOptions) -> None:
    simulator = MujocoSimulator(robot, controller.drive_gains, options)
    fallen(robot, controller, simulator, LIES[lies])
    start = simulator.truth().state.position
    get_up(controller, simulator)
    assert controller.standing, controller.fault
    run(controller, simulator, 0.5)
    state = simulator.truth().state
    assert controller.mode is ControlMode.STAND
    assert quaternion_to_matrix(state.orientation)[2, 2] > 0.95
    assert np.linalg.norm((state.position - start)[:2]) < 1.0


def test_it_gives_up_where_its_legs_are_too_weak(robot: Robot, controller: Controller) -> None:
    simulator = MujocoSimulator(robot, controller.drive_gains, SimOptions(torque_scale=0.01))
    fallen(robot, controller, simulator, LIES["back"])
    get_up(controller, simulator, 40.0)
    fault = controller.fault
    assert fault is not None and fault.violation is ViolationKind.TILT
    assert "rolls the robot lies on its back, not on its belly" in str(fault)
    assert controller.request(ControlMode.RECOVER).accepted, "it may be tried again"


def test_modes_on_the_way_up(robot: Robot, controller: Controller) -> None:
    simulator = MujocoSimulator(robot, controller.drive_gains)
    fallen(robot, controller, simulator, LIES["left"])
    refused = controller.request(ControlMode.STAND)
    assert not refused.accepted and "tilt" in refused.reason
    controller.request(ControlMode.RECOVER)
    run(controller, simulator, 0.2)
    assert controller.mode is ControlMode.RECOVER
    assert controller.request(ControlMode.STAND).reason == "stand: as soon as it has got up"
    waiting = controller.request(ControlMode.MOVE)
    assert waiting.accepted and waiting.reason == "move: waiting, still getting up"
    controller.configure(replace(controller.config, stand=StandConfig(kp=(70.0, 70.0, 70.0))))
    assert controller.mode is ControlMode.RECOVER, "parameters change on the way"
    assert controller.request(ControlMode.DAMP).accepted
    assert controller.mode is ControlMode.DAMP
    get_up(controller, simulator)
    assert controller.standing
    on_feet = controller.request(ControlMode.RECOVER)
    assert on_feet.accepted and on_feet.reason == "recover: it is on its feet"


def test_a_request_to_move_waits_for_as_long_as_getting_up_takes(robot: Robot, controller: Controller) -> None:
    simulator = MujocoSimulator(robot, controller.drive_gains)
    fallen(robot, controller, simulator, LIES["back"])
    controller.configure(replace(controller.config, move=MoveConfig(request_timeout=2.5)))
    controller.request(ControlMode.RECOVER)
    controller.request(ControlMode.MOVE)
    while controller.mode is ControlMode.RECOVER:
        run(controller, simulator, 0.1)
    assert controller.waiting_for, "its time-out begins with the stand"
    run(controller, simulator, 3.0)
    assert controller.mode is ControlMode.STAND and not controller.waiting_for, "no policy came"


def test_a_run_that_was_stopped_ends_standing_after_a_fall() -> None:
    push = Push(1.2, (0.0, 900.0, 0.0), 0.1)
    prompt = {"controller.stand.ramp_time": 0.3}
    options = RunOptions(duration=9.2, pushes=(push,), stop_time=1.7, recover=True, video=False, overrides=prompt)
    recording = run_loop(options)
    summary = figures_of(recording)
    assert summary["fell"] and summary["up_again_time_s"] is None
    assert recording.ticks["control_mode"][-1] == CONTROL_MODES.index("stand")


def test_it_needs_a_state_that_can_be_used(controller: Controller, robot: Robot) -> None:
    answer = controller.request(ControlMode.RECOVER)
    assert not answer.accepted and answer.reason.startswith("cannot get up: no usable robot state")
    bad = replace(robot.standing_state(), joint_positions=np.full(robot.n_joints, np.nan))
    controller.update(bad, 0.0)
    assert not controller.request(ControlMode.RECOVER).accepted
