"""The bridge's last word: nothing but damping before the controller damped, after silence or garbage; limits; ramp."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lcm_frames import ROBOT, N, random_state
from numpy.typing import NDArray

from contact_ddp_ros.control.config import DriveConfig, SafetyConfig
from contact_ddp_ros.plants.guard import CommandGuard, GuardConfig
from contact_ddp_ros.robot.state import DriveGains, JointCommand

Array = NDArray[np.float64]
GAINS = DriveConfig().gains(4)
STAND = JointCommand(ROBOT.standing, np.zeros(N), np.full(N, 2.0))
DAMPING = JointCommand.damping(N)
STANDING = ROBOT.standing_state()


def guard(**values: float) -> CommandGuard:
    return CommandGuard(ROBOT, GAINS, GuardConfig(**values))


def ready(**values: float) -> CommandGuard:
    """One that would follow commands."""
    made = guard(**values)
    made.measured(STANDING, 0.0)
    made.command(DAMPING, 0.0, 0.0)
    return made


def enabled(**values: float) -> CommandGuard:
    """One that follows them since time 0, without a ramp unless asked for."""
    made = ready(**{"soft_start": 0.0, **values})
    made.command(STAND, 0.0, 0.0)
    return made


def damps(targets: tuple[JointCommand, DriveGains]) -> bool:
    command, gains = targets
    assert command.positions is not None or (gains.kd_damping == GAINS.kd_damping).all()
    return command.positions is None


def followed(made: CommandGuard, now: float) -> tuple[JointCommand, Array, DriveGains]:
    """Command that is no damping, its positions, and gains."""
    command, gains = made.targets(now)
    assert command.positions is not None
    return command, command.positions, gains


def test_at_first_nothing_but_damping_passes() -> None:
    made = guard()
    made.measured(STANDING, 0.0)
    assert damps(made.targets(0.0))
    made.command(STAND, 0.0, 0.0)
    assert damps(made.targets(0.0))
    assert made.fault is not None
    made.command(DAMPING, 0.0, 0.002)
    assert made.fault is None
    made.command(STAND, 0.0, 0.004)
    made.measured(STANDING, 0.1)
    made.command(STAND, 0.0, 0.1)
    assert not damps(made.targets(0.1))


def test_commands_pass_unchanged_within_limits() -> None:
    command, positions, gains = followed(enabled(), 0.0)
    np.testing.assert_allclose(positions, STAND.positions)
    np.testing.assert_allclose(command.torques, STAND.torques)
    np.testing.assert_allclose(gains.kp, GAINS.kp)
    np.testing.assert_allclose(gains.kd, GAINS.kd)


def test_the_bridge_waits_for_a_state_as_long_as_the_controller_goes_on_without_one() -> None:
    assert GuardConfig().state_timeout == SafetyConfig().state_timeout


@pytest.mark.parametrize(("silent", "timeout"), [("joint command", 0.02), ("robot state", 0.08)])
def test_silence_ends_in_damping_until_the_controller_damps_too(silent: str, timeout: float) -> None:
    made = enabled()
    made.command(STAND, 0.0, 0.1 if silent == "robot state" else 0.0)
    made.measured(STANDING, 0.1 if silent == "joint command" else 0.0)
    assert not damps(made.targets(timeout - 0.001))
    assert damps(made.targets(timeout + 0.011))
    assert made.fault is not None
    assert silent in made.fault
    made.measured(STANDING, 0.1)
    made.command(STAND, 0.0, 0.1)
    assert damps(made.targets(0.1)), "a trip is latched"
    made.command(DAMPING, 0.0, 0.102)
    made.command(STAND, 0.0, 0.104)
    assert not damps(made.targets(0.104))


def test_an_obstacle_keeps_it_from_beginning_and_not_from_going_on() -> None:
    made = ready()
    made.obstacle = "the battery is empty"
    made.command(STAND, 0.0, 0.0)
    assert damps(made.targets(0.0))
    assert made.fault == "the battery is empty"
    going = enabled()
    going.obstacle = "the battery is empty"
    going.command(STAND, 0.0, 0.001)
    assert not damps(going.targets(0.001))


def test_silence_while_damping_is_no_fault() -> None:
    made = ready()
    assert damps(made.targets(100.0))
    assert made.fault is None


@pytest.mark.parametrize(
    "command",
    [
        JointCommand(np.full(N, math.nan), np.zeros(N), np.zeros(N)),
        JointCommand(ROBOT.standing, np.full(N, math.inf), np.zeros(N)),
        JointCommand(ROBOT.standing, np.zeros(N), np.full(N, -math.inf)),
        JointCommand(ROBOT.standing[:11], np.zeros(N), np.zeros(N)),
        JointCommand(None, np.zeros(N), np.full(N, math.nan)),
    ],
)
def test_malformed_commands_end_in_damping(command: JointCommand) -> None:
    made = enabled()
    made.command(command, 0.0, 0.001)
    assert damps(made.targets(0.001))
    made.command(STAND, 0.0, 0.002)
    assert damps(made.targets(0.002)), "a trip is latched"


def test_a_trip_keeps_its_first_reason() -> None:
    made = enabled()
    made.trip("message refused", 0.1)
    made.trip("something else", 0.2)
    assert made.fault == "message refused"
    assert made.tripped == 0.1
    assert damps(made.targets(0.0))


def test_stiffness_and_torque_grow_from_zero() -> None:
    made = ready(soft_start=0.5)
    previous: Array | None = None
    for now in np.arange(0.0, 0.6, 0.01):
        made.measured(STANDING, now)
        made.command(STAND, 0.0, now)
        command, _, gains = followed(made, now)
        share = min(now / 0.5, 1.0)
        np.testing.assert_allclose(gains.kp, share * GAINS.kp, atol=1e-9)
        np.testing.assert_allclose(command.torques, share * STAND.torques, atol=1e-9)
        np.testing.assert_allclose(gains.kd, share * GAINS.kd + (1.0 - share) * GAINS.kd_damping)
        assert previous is None or np.abs(command.torques - previous).max() < 0.05
        previous = command.torques


def test_the_ramp_begins_anew_after_damping() -> None:
    made = ready(soft_start=0.5)
    made.command(STAND, 0.0, 0.0)
    made.command(DAMPING, 0.0, 1.0)
    made.measured(STANDING, 2.0)
    made.command(STAND, 0.0, 2.0)
    assert not followed(made, 2.0)[2].kp.any()


@given(
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([0.1, 1.0, 10.0, 1e3, 1e9]),
    share=st.floats(0.05, 1.0),
    ramp=st.floats(0.0, 1.0),
)
def test_whatever_is_commanded_torques_stay_within_limits(seed: int, scale: float, share: float, ramp: float) -> None:
    random, state = np.random.default_rng(seed), random_state(seed)
    made = guard(torque_share=share, soft_start=1.0, command_timeout=1.0)
    made.command(DAMPING, 0.0, 0.0)
    made.command(JointCommand(*(scale * random.normal(size=(3, N)))), 0.0, 0.0)
    made.measured(state, ramp)
    command, positions, gains = followed(made, ramp)
    limits = share * ROBOT.effort_limits * (1.0 + 1e-6)
    drive = gains.kp * (positions - state.joint_positions) + gains.kd * (command.velocities - state.joint_velocities)
    assert (np.abs(command.torques) <= limits).all()
    assert (np.abs(command.torques + drive) <= limits).all()


def test_targets_stay_within_the_joints_range() -> None:
    made = enabled()
    made.command(JointCommand(np.full(N, 9.0), np.full(N, 99.0), np.zeros(N)), 0.0, 0.0)
    command, positions, _ = followed(made, 0.0)
    assert (positions <= ROBOT.upper).all()
    assert (command.velocities <= ROBOT.velocity_limits).all()
