"""Errors, delays, loads and weak motors of the simulated world."""

import numpy as np
import pytest

from contact_ddp_ros.control.config import DriveConfig
from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.plants.options import DelayOptions, PayloadOptions, SimOptions, StateErrorOptions
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import JointCommand

ROBOT = load_robot()
GAINS = DriveConfig().gains(4)


def simulator(**options) -> MujocoSimulator:
    return MujocoSimulator(ROBOT, GAINS, SimOptions(**options))


def test_constant_errors_are_in_the_measured_state_alone() -> None:
    sim = simulator(error=StateErrorOptions(z=0.02, roll=0.03, pitch=-0.04, yaw=0.5))
    measured, true = sim.read(), sim.truth().state
    assert measured.position[2] - true.position[2] == pytest.approx(0.02)
    np.testing.assert_allclose(quaternion_to_rpy(measured.orientation), [0.03, -0.04, 0.5], atol=1e-12)
    np.testing.assert_array_equal(measured.joint_positions, true.joint_positions)


def test_a_delayed_state_keeps_its_stamp() -> None:
    sim, prompt = simulator(delay=DelayOptions(state=0.01)), simulator()
    past = []
    for _ in range(30):
        past.append(prompt.read())
        for each in (sim, prompt):
            each.advance()
    late = sim.read()
    assert sim.time - late.time == pytest.approx(0.01)
    np.testing.assert_array_equal(late.joint_positions, past[20].joint_positions)


@pytest.mark.parametrize("kind", ["command", "torque"])
def test_commands_and_torques_act_later(kind: str) -> None:
    sim = simulator(delay=DelayOptions(**{kind: 0.005}))
    sim.advance(10)
    torques = np.zeros(12)
    torques[2] = 3.0
    sim.write(JointCommand(ROBOT.standing, np.zeros(12), torques))
    seen = []
    for _ in range(8):
        before = sim.truth().applied_torques[2]
        sim.advance()
        seen.append(abs(sim.truth().applied_torques[2] - before) > 1.0)
    assert seen.index(True) == 5


def test_weak_motors_give_their_share() -> None:
    command = JointCommand(ROBOT.standing + 0.1, np.zeros(12), np.zeros(12))
    pulls = []
    for scale in (1.0, 0.55):
        sim = simulator(torque_scale=scale)
        sim.write(command)
        sim.advance()
        pulls.append(sim.truth().applied_torques.copy())
    np.testing.assert_allclose(pulls[1], 0.55 * pulls[0])


def test_a_payload_weighs_and_lies_where_asked() -> None:
    loaded, plain = simulator(payload=PayloadOptions(mass=2.0, x=0.1, y=0.06)), simulator()
    assert loaded.model.body_mass.sum() - plain.model.body_mass.sum() == pytest.approx(2.0)
    body = loaded.model.body("payload")
    np.testing.assert_allclose(body.pos[:2], [0.1, 0.06])
    assert body.pos[2] > 0.03
    # what MuJoCo makes of that: the whole robot's centre moves by the payload's share of the way to it
    at = [sim.data.subtree_com[sim.model.body("base_link").id] for sim in (loaded, plain)]
    trunk = loaded.truth().state.position
    expected = (8.912 * (at[1] - trunk) + 2.0 * body.pos) / 10.912
    np.testing.assert_allclose(at[0] - trunk, expected, atol=1e-3)


@pytest.mark.parametrize("terrain", ["slope:10", "slope:-8,30", "slope:10,90"])
def test_the_robot_begins_standing_on_a_slope(terrain: str) -> None:
    sim = simulator(terrain=terrain)
    assert np.abs(sim.truth().foot_heights).max() < 1e-3


def test_errors_noise_and_weakness_may_change_while_it_runs() -> None:
    sim = simulator()
    sim.tune(GAINS, SimOptions(error=StateErrorOptions(z=0.02), torque_scale=0.5))
    sim.write(JointCommand(ROBOT.standing + 0.1, np.zeros(12), np.zeros(12)))
    sim.advance()
    strong = simulator()
    strong.write(JointCommand(ROBOT.standing + 0.1, np.zeros(12), np.zeros(12)))
    strong.advance()
    np.testing.assert_allclose(sim.truth().applied_torques, 0.5 * strong.truth().applied_torques)
    assert sim.read().position[2] - sim.truth().state.position[2] == pytest.approx(0.02)
