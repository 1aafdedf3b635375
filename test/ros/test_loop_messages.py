"""States and commands as bytes: what is written and read in place is what message objects say."""

import array
import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Imu, JointState
from trajectory_msgs.msg import JointTrajectory

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.control.estimation.state_filter import StateFilter
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import ImuSample, JointCommand, RobotState
from contact_ddp_ros.ros.conversions import (
    estimate_message,
    imu_message,
    joint_command_message,
    joint_state_message,
    odometry_message,
    robot_state,
    stamp_message,
)
from contact_ddp_ros.ros.loop_messages import (
    CommandReader,
    CommandWriter,
    ImuReader,
    StateReader,
    StateWriter,
    stamp_of,
)
from contact_ddp_ros.ros.timebase import stamp_ns

PARTS = ("position", "orientation", "linear_velocity", "angular_velocity", "joint_positions", "joint_velocities")
STAMPS = st.integers(0, (2**31 - 1) * 1_000_000_000 - 1)


@st.composite
def states(draw: st.DrawFn) -> RobotState:
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    quaternion = random.standard_normal(4)
    vectors = (random.standard_normal(n) for n in (3, 3, 3, 12, 12))
    position, linear, angular, q, v = vectors
    return RobotState(1.5, position, quaternion / np.linalg.norm(quaternion), linear, angular, q, v)


def as_bytes(state: RobotState) -> tuple[bytes, bytes]:
    return serialize_message(joint_state_message(state, np.zeros(12))), serialize_message(odometry_message(state))


@settings(deadline=None)
@given(states(), STAMPS)
def test_written_states_are_those_of_message_objects(state: RobotState, stamp: int) -> None:
    writer, torques = StateWriter(), np.arange(12.0)
    joints = deserialize_message(writer.joint_states(stamp, state, torques), JointState)
    odometry = deserialize_message(writer.odometry(stamp, state), Odometry)
    assert stamp_ns(joints.header.stamp) == stamp_ns(odometry.header.stamp) == stamp
    assert list(joints.effort) == list(torques)
    back = robot_state(joints, odometry, 0.0)
    for part in PARTS:
        np.testing.assert_array_equal(getattr(back, part), getattr(state, part))
    assert not np.any(odometry.pose.covariance) and not np.any(odometry.twist.covariance)


@settings(deadline=None)
@given(st.lists(states(), min_size=3, max_size=3), st.permutations(range(12)))
def test_states_are_read_whatever_the_order_of_the_joints(several: list[RobotState], order: list[int]) -> None:
    reader = StateReader()
    for time, state in enumerate(several):
        message = joint_state_message(state, np.zeros(12))
        message.name = [JOINT_NAMES[index] for index in order]
        message.position = array.array("d", state.joint_positions[order])
        message.velocity = array.array("d", state.joint_velocities[order])
        read = reader.read(serialize_message(message), serialize_message(odometry_message(state)), float(time))
        assert read.time == time
        for part in PARTS:
            np.testing.assert_array_equal(getattr(read, part), getattr(state, part))


def test_a_publisher_that_changes_its_order_is_still_understood() -> None:
    reader, state = StateReader(), dataclasses.replace(_state(), joint_positions=np.arange(12.0))
    reader.read(*as_bytes(state), 0.0)
    turned = joint_state_message(state, np.zeros(12))
    turned.name = list(JOINT_NAMES[::-1])
    turned.position = array.array("d", state.joint_positions[::-1])
    read = reader.read(serialize_message(turned), serialize_message(odometry_message(state)), 0.0)
    np.testing.assert_array_equal(read.joint_positions, state.joint_positions)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    ("joints", "odometry", "words"),
    [
        ({"position": array.array("d", [np.nan] * 12)}, {}, "not finite"),
        ({"position": array.array("d", [0.0] * 11)}, {}, "11 numbers"),
        ({"name": ["knee"] * 12}, {}, "missing"),
        ({}, {"child_frame_id": "trunk"}, "base_link"),
        ({}, {"w": 0.5}, "norm"),
    ],
)
def test_what_is_wrong_is_refused_in_place_too(known: bool, joints: dict, odometry: dict, words: str) -> None:
    reader, state = StateReader(), _state()
    if known:
        reader.read(*as_bytes(state), 0.0)
    first, second = joint_state_message(state, np.zeros(12)), odometry_message(state)
    for name, value in joints.items():
        setattr(first, name, value)
    if "w" in odometry:
        second.pose.pose.orientation.w = odometry["w"]
    else:
        for name, value in odometry.items():
            setattr(second, name, value)
    with pytest.raises(MessageError, match=words):
        reader.read(serialize_message(first), serialize_message(second), 0.0)


@settings(deadline=None)
@given(STAMPS, st.integers(0, 2**32 - 1), st.lists(st.booleans(), min_size=2, max_size=6))
def test_commands_survive_damping_and_following_in_turn(stamp: int, seed: int, damping: list[bool]) -> None:
    random, writer, reader = np.random.default_rng(seed), CommandWriter(), CommandReader()
    for damps in damping:
        positions = None if damps else random.standard_normal(12)
        command = JointCommand(positions, random.standard_normal(12), random.standard_normal(12))
        message = writer.message(stamp, command)
        objects = joint_command_message(command, stamp_message(stamp))
        assert deserialize_message(message, JointTrajectory) == objects
        for wire in (message, serialize_message(objects)):
            assert stamp_of(wire) == stamp
            back = reader.read(wire)[1]
            assert (back.positions is None) == damps
            if positions is not None:
                np.testing.assert_array_equal(back.positions, positions)
            np.testing.assert_array_equal(back.velocities, command.velocities)
            np.testing.assert_array_equal(back.torques, command.torques)


def test_a_command_that_is_not_finite_is_refused_in_place_too() -> None:
    reader, writer, zeros = CommandReader(), CommandWriter(), np.zeros(12)
    reader.read(writer.message(0, JointCommand(zeros, zeros, zeros)))
    with pytest.raises(MessageError, match="not finite"):
        reader.read(writer.message(0, JointCommand(zeros, zeros, np.full(12, np.inf))))


def _state() -> RobotState:
    zeros = np.zeros(12)
    return RobotState(1.5, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3), zeros, zeros)


def test_later_messages_are_read_in_place_whatever_the_padding_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Serialisers leave in the padding what the memory held before."""
    state, reader, commands = _state(), StateReader(), CommandReader()
    command = JointCommand(np.zeros(12), np.ones(12), np.ones(12))
    objects = joint_command_message(command, stamp_message(1)), joint_state_message(state, np.zeros(12))
    kept = [[serialize_message(each) for each in (*objects, odometry_message(state))] for _ in range(20)]
    for message, joints, odometry in kept[:1]:
        commands.read(message)
        reader.read(joints, odometry, 0.0)
    monkeypatch.setattr("contact_ddp_ros.ros.loop_messages.deserialize_message", None)
    for message, joints, odometry in kept:
        commands.read(message)
        reader.read(joints, odometry, 0.0)


def imu_and_joints(state: RobotState, force: np.ndarray) -> tuple[JointState, Imu]:
    sample = ImuSample(state.time, state.angular_velocity, force)
    return joint_state_message(state, np.arange(12.0)), imu_message(state, sample)


@settings(deadline=None)
@given(states(), st.randoms())
def test_a_sample_of_the_imu_comes_with_the_joints_in_any_order(state: RobotState, random) -> None:
    joints, imu = imu_and_joints(state, np.array([0.1, 0.2, 9.8]))
    order = random.sample(range(12), 12)
    for name in ("name", "position", "velocity", "effort"):
        setattr(joints, name, [list(getattr(joints, name))[k] for k in order])
    reader, messages = ImuReader(), (serialize_message(joints), serialize_message(imu))
    reader.read(*messages, 1.0)
    sample, positions, velocities, torques = reader.read(*messages, 2.5)
    assert sample.time == 2.5
    np.testing.assert_array_equal(sample.angular_velocity, state.angular_velocity)
    np.testing.assert_array_equal(sample.specific_force, [0.1, 0.2, 9.8])
    np.testing.assert_array_equal(positions, state.joint_positions)
    np.testing.assert_array_equal(velocities, state.joint_velocities)
    np.testing.assert_array_equal(torques, np.arange(12.0))


@pytest.mark.parametrize(
    ("part", "values", "text"),
    [
        ("effort", [], "0 numbers of effort for 12 joints"),
        ("velocity", [0.0] * 11, "11 numbers of velocity for 12 joints"),
        ("position", [float("nan")] * 12, "a number that is not finite of position"),
    ],
)
def test_joints_that_the_estimator_cannot_use_are_named(part: str, values: list[float], text: str) -> None:
    still = RobotState(0.0, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), *np.zeros((2, 3)), *np.zeros((2, 12)))
    joints, imu = imu_and_joints(still, np.zeros(3))
    reader = ImuReader()
    reader.read(serialize_message(joints), serialize_message(imu), 0.0)
    setattr(joints, part, values)
    with pytest.raises(MessageError, match=text):
        reader.read(serialize_message(joints), serialize_message(imu), 0.0)


def test_an_imu_without_numbers_is_refused() -> None:
    still = RobotState(0.0, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), *np.zeros((2, 3)), *np.zeros((2, 12)))
    reader, (joints, imu) = ImuReader(), imu_and_joints(still, np.zeros(3))
    reader.read(serialize_message(joints), serialize_message(imu), 0.0)
    imu.linear_acceleration.x = np.nan
    with pytest.raises(MessageError, match="imu holds"):
        reader.read(serialize_message(joints), serialize_message(imu), 0.0)
    imu.linear_acceleration_covariance[0] = -1.0
    with pytest.raises(MessageError, match="no linear acceleration"):
        reader.read(serialize_message(joints), serialize_message(imu), 0.0)


def test_an_estimate_tells_the_covariances_of_the_filter() -> None:
    robot = load_robot()
    estimate = StateFilter(robot)
    standing = robot.standing_state()
    estimate.begin(standing.orientation, np.zeros(3), standing.position)
    message = estimate_message(standing, (estimate.pose_covariance, estimate.twist_covariance), 5_000_000_002)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (5, 2)
    np.testing.assert_array_equal(np.reshape(message.pose.covariance, (6, 6)), estimate.pose_covariance)
    np.testing.assert_array_equal(np.reshape(message.twist.covariance, (6, 6)), estimate.twist_covariance)
    assert message.pose.pose.position.z == standing.position[2]
