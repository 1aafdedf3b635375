import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.config import DriveConfig
from contact_ddp_ros.robot.joint_pd import JointTargets, MotorConfig, TorqueSpeedCurve, limited_command, softness
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.tree import joint_inertias

ROBOT: Robot = load_robot()
GAINS = DriveConfig().gains(4)
INERTIAS = joint_inertias(ROBOT.tree, ROBOT.standing)
WILD = arrays(float, 12, elements=st.floats(-1e6, 1e6))


def joint_state(q: np.ndarray, v: np.ndarray):
    return dataclasses.replace(ROBOT.standing_state(), joint_positions=q, joint_velocities=v)


@settings(deadline=None)
@given(positions=WILD, velocities=WILD, torques=WILD, q=WILD, v=WILD)
def test_nothing_ever_exceeds_the_actuators(positions, velocities, torques, q, v) -> None:
    limits = ROBOT.effort_limits
    state = joint_state(q, v)
    limited = limited_command(JointTargets(positions, velocities, torques), state, GAINS, limits)
    command = limited.command
    drive = GAINS.kp * (command.positions - q) + GAINS.kd * (command.velocities - v)
    slack = limits * (1.0 + 1e-6) + 1e-7 * (np.abs(q) + np.abs(v))
    assert (np.abs(command.torques) <= limits).all()
    assert (np.abs(limited.total) <= slack).all()
    assert (np.abs(command.torques + drive) <= slack).all()


def test_a_modest_command_passes_unchanged() -> None:
    state = joint_state(ROBOT.standing, np.zeros(12))
    targets = JointTargets(ROBOT.standing + 0.05, np.full(12, 0.1), np.linspace(-5.0, 5.0, 12))
    limited = limited_command(targets, state, GAINS, ROBOT.effort_limits)
    np.testing.assert_array_equal(limited.command.positions, targets.positions)
    np.testing.assert_array_equal(limited.command.velocities, targets.velocities)
    np.testing.assert_allclose(limited.command.torques, targets.torques)
    np.testing.assert_allclose(limited.total, targets.torques + GAINS.kp * 0.05 + GAINS.kd * 0.1)


def test_targets_give_way_where_feedforward_alone_cannot_make_up_for_them() -> None:
    state = joint_state(ROBOT.standing, np.zeros(12))
    wanted = 0.9 * ROBOT.effort_limits
    offset = 0.5 * ROBOT.effort_limits / GAINS.kp
    targets = JointTargets(ROBOT.standing - offset, np.zeros(12), wanted + GAINS.kp * offset)
    limited = limited_command(targets, state, GAINS, ROBOT.effort_limits)
    np.testing.assert_allclose(limited.total, wanted)
    np.testing.assert_allclose(limited.command.torques, ROBOT.effort_limits)


def test_torque_falls_along_the_motors_curve_but_brakes_in_full() -> None:
    curve = TorqueSpeedCurve.of(ROBOT.velocity_limits, MotorConfig(full_speed=0.9, idle_speed=1.2))
    limits = ROBOT.effort_limits
    for share, left in ((0.8, 1.0), (1.05, 0.5), (1.3, 0.0)):
        state = joint_state(ROBOT.standing, share * ROBOT.velocity_limits)
        for sign, allowed in ((1.0, left), (-1.0, 1.0)):
            wanted = sign * 3.0 * limits + GAINS.kd * state.joint_velocities
            targets = JointTargets(ROBOT.standing, np.zeros(12), wanted)
            total = limited_command(targets, state, GAINS, limits, curve).total
            np.testing.assert_allclose(total, sign * allowed * limits, atol=1e-9)


def test_a_curve_without_a_slope_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"idle_speed is 0.8; allowed: above motor.full_speed, 0.9"):
        TorqueSpeedCurve.of(ROBOT.velocity_limits, MotorConfig(full_speed=0.9, idle_speed=0.8))


def test_a_moving_leg_is_softened_for_a_delay_inside_the_drives() -> None:
    """Half of the phase margin is left, at the same damping ratio; nothing changes for delays that take less."""
    delay = 0.01
    found = softness(GAINS, INERTIAS, delay)
    frequencies = np.linspace(1.0, 200.0, 200_000)
    for kp, kd, inertia, factor in zip(GAINS.kp[:3], GAINS.kd[:3], INERTIAS[:3], found[:3], strict=True):

        def crossover(k: float, d: float, inertia: float = inertia) -> float:
            return float(frequencies[np.argmin(np.abs(np.hypot(k, d * frequencies) - inertia * frequencies**2))])

        before = crossover(kp, kd)
        margin = np.arctan2(kd * before, kp)
        after = crossover(factor**2 * kp, factor * kd)
        left = np.arctan2(factor * kd * after, factor**2 * kp) - after * delay
        assert left == pytest.approx(0.5 * margin, abs=1e-3)
    assert softness(GAINS, INERTIAS, 0.002).tolist() == [1.0] * 12
    assert softness(GAINS, INERTIAS, 0.0).tolist() == [1.0] * 12


def test_softened_targets_make_the_drives_act_softer():
    rng = np.random.default_rng(0)
    n = 12
    positions, velocities, measured, rates = rng.normal(size=(4, n))
    state = joint_state(measured, rates)
    factor = softness(GAINS, INERTIAS, 0.01)
    targets = JointTargets(positions, velocities, np.zeros(n)).softened(factor, state)
    torque = GAINS.kp * (targets.positions - measured) + GAINS.kd * (targets.velocities - rates)
    wanted = factor**2 * GAINS.kp * (positions - measured) + factor * GAINS.kd * (velocities - rates)
    assert torque == pytest.approx(wanted)
