"""The drives' law over Gazebo's topics, the watchdog, and what happens at the end, after a reset and in lock-step."""

import dataclasses
import math
import time as clock
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plants.gazebo.messages import STEP, joint_states, odometry
from plants.gazebo.scripted import GAINS, ROBOT, ScriptedServer, step

from contact_ddp_ros.base.errors import GazeboError, MessageError
from contact_ddp_ros.plants.gazebo.bridge import GazeboBridge
from contact_ddp_ros.plants.gazebo.config import DAMPED, BridgeConfig, Names
from contact_ddp_ros.plants.gazebo.emulator.server import running_emulator
from contact_ddp_ros.plants.gazebo.emulator.transport import Bus, emulator_bindings
from contact_ddp_ros.plants.gazebo.sdf import straight_height, world_sdf
from contact_ddp_ros.plants.gazebo.simulator import GazeboSimulator
from contact_ddp_ros.plants.gazebo.world_control import DirectControl, WorldRequest
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

PATIENCE = 60.0

LIMITS = ROBOT.effort_limits
COMMAND = JointCommand(np.arange(12.0) + np.tile([0.1, -0.2, 3.0], 4), np.full(12, -5.0), np.linspace(-3.0, 3.0, 12))


def commanded(server: ScriptedServer) -> np.ndarray:
    q, v = server.expected()
    torques = COMMAND.torques + GAINS.kp * (COMMAND.positions - q) + GAINS.kd * (COMMAND.velocities - v)
    return sent(torques)


def damped(server: ScriptedServer, kd_damping: np.ndarray = GAINS.kd_damping) -> np.ndarray:
    v = server.expected()[1]
    return sent(-kd_damping * v)


def sent(torques: np.ndarray) -> np.ndarray:
    """The efforts for these torques of the law."""
    return np.clip(torques, -LIMITS, LIMITS)


def test_before_steps_come_twelve_efforts_of_the_drives_law() -> None:
    server = ScriptedServer()
    with server.bridge() as bridge:
        bridge.start()
        assert all(request.pause for request in server.requests), "time stands"
        for _ in range(4):
            bridge.write(COMMAND)
            expected, before, stamp = commanded(server), len(server.events), server.stamp
            state = step(bridge, 2)
            assert server.events[before:] == ["effort"] * 12 + ["mark", "request"]
            np.testing.assert_allclose(server.efforts, expected, atol=1e-9)
            assert state.time == pytest.approx(1e-9 * (stamp + 2 * STEP))
            assert (server.requests[-1].pause, server.requests[-1].multi_step) == (True, 2)
        at_limit = np.abs(bridge.torques) == LIMITS
        assert at_limit.any()
        assert not at_limit.all()


def check_next(server: ScriptedServer, bridge: GazeboBridge, law: Callable[[ScriptedServer], np.ndarray]) -> None:
    """Make a step and compare the efforts sent before it with those of a law at the state before it."""
    expected = law(server)
    bridge.advance(1)
    np.testing.assert_allclose(server.efforts, expected, atol=1e-9)


def test_drives_damp_before_the_first_command_and_after_silence() -> None:
    server = ScriptedServer()
    with server.bridge(command_timeout=0.02) as bridge:
        bridge.start()
        check_next(server, bridge, damped)
        assert bridge.silent
        bridge.write(COMMAND)
        for _ in range(20):
            check_next(server, bridge, commanded)
        assert not bridge.silent
        bridge.advance(1)
        check_next(server, bridge, damped)
        assert bridge.silent
        bridge.write(COMMAND)
        check_next(server, bridge, commanded)


def test_gains_and_watchdog_change_while_it_drives() -> None:
    server = ScriptedServer()
    with server.bridge(command_timeout=0.02) as bridge:
        bridge.start()
        bridge.write(COMMAND)
        gains = DriveGains(2.0 * GAINS.kp, GAINS.kd, 0.5 * GAINS.kd_damping)
        bridge.configure(dataclasses.replace(bridge.config, command_timeout=0.01), gains)
        check_next(server, bridge, lambda server: sent(gains.torques(COMMAND, *server.expected())))
        bridge.advance(10)
        check_next(server, bridge, lambda server: damped(server, gains.kd_damping))


def test_a_command_to_damp_is_obeyed() -> None:
    server = ScriptedServer()
    with server.bridge() as bridge:
        bridge.start()
        bridge.write(JointCommand.damping(12))
        check_next(server, bridge, damped)
        assert not bridge.silent


@pytest.mark.parametrize(
    "command",
    [
        JointCommand(np.full(12, math.nan), np.zeros(12), np.zeros(12)),
        JointCommand(np.zeros(12), np.zeros(12), np.full(12, math.inf)),
        JointCommand(np.zeros(11), np.zeros(12), np.zeros(12)),
    ],
)
def test_a_malformed_command_is_refused_and_damps(command: JointCommand) -> None:
    server = ScriptedServer()
    with server.bridge() as bridge:
        bridge.start()
        bridge.write(COMMAND)
        with pytest.raises(MessageError, match="12 finite numbers"):
            bridge.write(command)
        check_next(server, bridge, damped)


def test_joints_are_told_zero_effort_at_the_end_and_nothing_after_it() -> None:
    server = ScriptedServer()

    def interrupted_run() -> None:
        with server.bridge() as bridge:
            bridge.start()
            bridge.write(COMMAND)
            bridge.advance(1)
            assert np.abs(server.efforts).min() > 0.0
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_run()
    assert (server.efforts == 0.0).all()
    count = len(server.events)
    server.tell()
    assert len(server.events) == count


def test_garbage_is_counted_and_makes_no_state() -> None:
    server = ScriptedServer()
    with server.bridge() as bridge:
        bridge.start()
        bridge.write(COMMAND)
        before = bridge.state
        poisoned = joint_states(server.stamp + STEP)
        poisoned.joint[0].axis1.position = math.nan
        server.tell(joints=poisoned)
        server.tell(joints=joint_states(server.stamp + STEP, ("wheel",)))
        headless = odometry(server.stamp + STEP)
        headless.pose.orientation.w = 7.0
        server.tell(base=headless)
        assert bridge.malformed == 3
        assert bridge.state is before
        server.tell()
        check_next(server, bridge, commanded)


def test_our_time_goes_on_when_gazebos_goes_back() -> None:
    """Somebody else resets the world, in Gazebo's window."""
    server = ScriptedServer()
    with server.bridge() as bridge:
        bridge.start()
        bridge.write(COMMAND)
        bridge.advance(10)
        last = bridge.time
        server.stamp = 0
        server.tell(2)
        assert bridge.state.time == pytest.approx(last + 0.001)
        server.tell()
        assert bridge.state.time == pytest.approx(last + 0.002)
        check_next(server, bridge, damped)  # a command from before counts no more


def test_a_world_whose_joints_carry_the_drives_damping_is_refused() -> None:
    server = ScriptedServer()
    server.format = DAMPED
    with server.bridge() as bridge, pytest.raises(GazeboError, match="write it without --drive-damping"):
        bridge.start()


def test_steps_are_not_asked_for_before_the_efforts_have_arrived() -> None:
    server = ScriptedServer()
    with server.bridge() as bridge:
        bridge.start()
        server.acknowledging = False
        before = len(server.events)
        with pytest.raises(GazeboError, match="acknowledged"):
            bridge.advance(2)
        assert server.events[before:] == ["effort"] * 12 + ["mark"]


def test_a_world_that_acknowledges_nothing_is_warned_of_and_works(caplog: pytest.LogCaptureFixture) -> None:
    server = ScriptedServer()
    server.acknowledging = False
    with server.bridge() as bridge:
        bridge.start()
        assert "does not acknowledge efforts" in caplog.text
        bridge.write(COMMAND)
        expected = commanded(server)
        bridge.advance(2)
        np.testing.assert_allclose(server.efforts, expected, atol=1e-9)


def test_a_server_that_is_slow_to_make_steps_is_asked_once() -> None:
    """Joint states of the instant before may come several times after the request; they say nothing about its steps."""
    server = ScriptedServer()
    with server.bridge() as bridge:
        state = bridge.start()
        server.repeats = 5
        for _ in range(3):
            last, before = state, len(server.requests)
            state = step(bridge, 2)
            assert len(server.requests) == before + 1
            assert state.time == pytest.approx(last.time + 0.002)


def test_a_state_that_is_lost_is_stepped_beyond() -> None:
    server = ScriptedServer()
    with server.bridge() as bridge:
        last = bridge.start()
        server.repeats, server.lose = 5, 3
        before = len(server.requests)
        assert step(bridge, 2).time == pytest.approx(last.time + 0.004)
        assert [request.multi_step for request in server.requests[before:]] == [2, 1, 1]
        server.lose = 99
        with pytest.raises(GazeboError, match="odometry"):
            bridge.advance(2)


@pytest.mark.parametrize("settle", [False, True])
def test_another_time_step_than_the_worlds_is_found_out(settle: bool) -> None:
    world = world_sdf(ROBOT, SimOptions(timestep=0.0005))
    with running_emulator(world) as (_, bindings):
        control = DirectControl(bindings, Names(), bindings.node())
        config = BridgeConfig(settle=settle, answer_timeout=1.0)
        refused = pytest.raises(GazeboError, match=r"takes 0\.0005 s.*gazebo\.timestep is 0\.001 s")
        with GazeboBridge(ROBOT, GAINS, bindings, control, config) as bridge, refused:
            bridge.start()


def test_every_step_of_a_shorter_length_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with running_emulator(world_sdf(ROBOT, SimOptions(timestep=0.0005))) as (_, bindings):
        control = DirectControl(bindings, Names(), bindings.node())
        config = BridgeConfig(settle=False, timestep=0.0005)
        with GazeboBridge(ROBOT, GAINS, bindings, control, config) as bridge:
            times = [bridge.start().time, *(step(bridge, 3).time for _ in range(4))]
    np.testing.assert_allclose(np.diff(times), 0.0015)
    assert "did not come" not in caplog.text


def test_a_server_that_makes_no_steps_is_found_out() -> None:
    server = ScriptedServer()
    with server.bridge() as bridge:
        bridge.start()
        server.deaf = True
        with pytest.raises(GazeboError, match="no state"):
            bridge.advance(1)


def test_a_world_without_the_robot_is_found_out() -> None:
    server = ScriptedServer()
    server.deaf = True
    with server.bridge() as bridge, pytest.raises(GazeboError, match="contact-ddp sdf"):
        bridge.start()
    with server.bridge(settle=True, model="rover") as bridge, pytest.raises(GazeboError, match="rover"):
        bridge.start()


def test_without_a_server_the_error_says_what_to_look_at() -> None:
    bindings = emulator_bindings(Bus())
    control = DirectControl(bindings, Names(), bindings.node())
    with GazeboBridge(ROBOT, GAINS, bindings, control, BridgeConfig(server_timeout=0.1)) as bridge:
        with pytest.raises(GazeboError, match=r"/world/contact_ddp/control.*GZ_PARTITION"):
            bridge.start()
        with pytest.raises(GazeboError, match="no state"):
            bridge.state  # noqa: B018


def test_the_emulators_first_odometry_is_the_servers() -> None:
    """The height over a step, after the start and after a reset, in a mean that forgets it after ten messages."""
    with running_emulator(world_sdf(ROBOT)) as (server, bindings):
        control, node = DirectControl(bindings, Names(), bindings.node()), bindings.node()
        told: list[float] = []
        node.subscribe(bindings.messages.Odometry, Names().odometry, lambda one: told.append(one.twist.linear.z))
        for _ in range(2):
            control.ask(WorldRequest(pause=True, steps=12))
            until(lambda: server.world.stamp == 12 * STEP and len(told) == 11)
            assert told[0] == pytest.approx(straight_height(ROBOT) / 1e-3, rel=1e-3)
            assert told[9] == pytest.approx(told[0] / 10.0, rel=1e-2)
            assert abs(told[10]) < 0.1
            control.ask(WorldRequest(pause=True, reset=True))
            until(lambda: server.world.stamp == 0)
            told.clear()


def test_no_state_of_the_bridge_has_the_first_odometrys_velocity() -> None:
    for differences in (True, False):
        with running_emulator(world_sdf(ROBOT)) as (server, bindings):
            control = DirectControl(bindings, Names(), bindings.node())
            config = BridgeConfig(settle=False, differences=differences)
            with GazeboBridge(ROBOT, GAINS, bindings, control, config) as bridge:
                speeds = [bridge.start().linear_velocity, *(step(bridge, 1).linear_velocity for _ in range(20))]
                control.ask(WorldRequest(pause=True, reset=True))
                until(lambda: server.world.stamp == 0)
                speeds += [step(bridge, 1).linear_velocity for _ in range(20)]
        assert np.abs(speeds).max() < 0.5


def test_the_robot_is_put_on_its_legs_and_after_a_reset_again() -> None:
    with running_emulator(world_sdf(ROBOT)) as (server, bindings):
        control = DirectControl(bindings, Names(), bindings.node())
        with GazeboBridge(ROBOT, GAINS, bindings, control, BridgeConfig()) as bridge:
            assert server.world.position[2] == pytest.approx(straight_height(ROBOT))
            first = bridge.start()
            assert abs(first.position[2] - ROBOT.standing_height()) < 0.02
            assert np.abs(first.joint_positions - ROBOT.standing).max() < 0.1
            assert np.abs(first.linear_velocity).max() < 0.02
            for _ in range(150):
                last = step(bridge, 2)
            assert last.position[2] < first.position[2] - 0.03, "it sinks, damping"
            bridge.reset()
            again = bridge.state
            np.testing.assert_allclose(again.position, first.position, atol=1e-9)
            np.testing.assert_allclose(again.joint_positions, first.joint_positions, atol=1e-9)
            assert again.time == pytest.approx(last.time + 0.001)
            assert step(bridge, 2).time == pytest.approx(again.time + 0.002)
        assert (server.efforts == 0.0).all()


def test_runs_in_lock_step_do_not_depend_on_the_order_of_messages() -> None:
    ends = []
    for seed in (0, 1):
        with running_emulator(world_sdf(ROBOT), seed=seed) as (_, bindings):
            control = DirectControl(bindings, Names(), bindings.node())
            config = BridgeConfig(settle=False)
            with GazeboBridge(ROBOT, GAINS, bindings, control, config) as bridge:
                simulator = GazeboSimulator(ROBOT, bridge)
                for _ in range(60):
                    simulator.write(JointCommand(ROBOT.standing, np.zeros(12), np.zeros(12)))
                    simulator.advance(2)
                ends.append(simulator.read())
    np.testing.assert_array_equal(ends[0].position, ends[1].position)
    np.testing.assert_array_equal(ends[0].joint_velocities, ends[1].joint_velocities)
    assert ends[0].time == ends[1].time == pytest.approx(0.12)


def test_a_pause_by_somebody_else_midway_is_stepped_over(caplog: pytest.LogCaptureFixture) -> None:
    """The button in Gazebo's window: the server makes some of the steps, and those that are left with the next ones."""
    server = ScriptedServer()
    with server.bridge(answer_timeout=PATIENCE) as bridge:
        last = bridge.start()
        before = len(server.requests)
        server.halt_after = 1
        state = step(bridge, 2)
        assert 0.002 <= state.time - last.time <= 0.0031
        assert [request.multi_step for request in server.requests[before:]] == [2, 1]
        assert "paused" in caplog.text
        assert step(bridge, 2).time == pytest.approx(state.time + 0.002)


@pytest.mark.parametrize("settle", [True, False])
def test_after_a_reset_by_somebody_else_it_stands_again(settle: bool) -> None:
    with running_emulator(world_sdf(ROBOT)) as (server, bindings):
        control = DirectControl(bindings, Names(), bindings.node())
        config = BridgeConfig(settle=settle)
        with GazeboBridge(ROBOT, GAINS, bindings, control, config) as bridge:
            first = bridge.start()
            for _ in range(20):
                bridge.write(COMMAND)
                last = step(bridge, 2)
            assert not bridge.silent
            control.ask(WorldRequest(pause=True, reset=True))
            until(lambda: server.world.stamp == 0)
            state = step(bridge, 2)
            assert state.time > last.time
            assert not bridge.expects(last.time), "a command from before counts no more"
            assert bridge.expects(state.time)
            if settle:
                np.testing.assert_allclose(state.position, first.position, atol=1e-9)
            again = step(bridge, 2)
            assert again.time == pytest.approx(state.time + 0.002)
            np.testing.assert_allclose(bridge.torques, damping(state), atol=1e-9)


def test_only_commands_for_states_of_this_bridge_are_expected() -> None:
    server = ScriptedServer()
    server.stamp = 5_000_000_000
    with server.bridge() as bridge:
        assert not bridge.expects(0.0)
        first = bridge.start()
        server.tell(4)
        assert bridge.expects(first.time)
        assert bridge.expects(bridge.state.time)
        assert not bridge.expects(first.time - 0.001)
        assert not bridge.expects(bridge.state.time + 0.001)


def test_a_world_of_another_format_is_refused() -> None:
    server = ScriptedServer()
    server.format = 3
    with server.bridge() as bridge, pytest.raises(GazeboError, match=r"format 3.*contact-ddp sdf"):
        bridge.start()


def test_a_push_gives_its_impulse_to_the_trunk() -> None:
    server = ScriptedServer()
    impulse = np.zeros(3)

    def on_wrench(message: Any) -> None:
        assert message.entity.name == server.names.model
        impulse[:] += 0.001 * np.array([message.wrench.force.x, message.wrench.force.y, message.wrench.force.z])

    server.bus.subscribe(server.names.wrench, on_wrench)
    with server.bridge() as bridge:
        bridge.start()
        bridge.push(np.array([10.0, -4.0, 0.0]), 0.025)
        for _ in range(20):
            bridge.advance(2)
    np.testing.assert_allclose(impulse, [0.25, -0.1, 0.0], atol=0.011)


def test_a_push_moves_the_robot_in_dart() -> None:
    with running_emulator(world_sdf(ROBOT)) as (_, bindings):
        control = DirectControl(bindings, Names(), bindings.node())
        with GazeboBridge(ROBOT, GAINS, bindings, control, BridgeConfig(settle=False)) as bridge:
            simulator = GazeboSimulator(ROBOT, bridge)
            height = simulator.read().position[2]
            simulator.push(np.array([0.0, 0.0, 2.0 * 9.81 * ROBOT.mass]), 0.05)
            simulator.advance(50)
            assert simulator.read().linear_velocity[2] == pytest.approx(9.81 * 0.05, rel=0.35)
            assert simulator.read().position[2] > height + 0.005


def damping(state: RobotState) -> np.ndarray:
    return np.clip(-GAINS.kd_damping * state.joint_velocities, -LIMITS, LIMITS)


def until(condition: Callable[[], object]) -> None:
    deadline = clock.monotonic() + PATIENCE
    while not condition():
        assert clock.monotonic() < deadline, "nothing happened"
        clock.sleep(0.002)
