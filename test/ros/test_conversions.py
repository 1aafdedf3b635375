"""Messages to data and back: nothing is lost, nothing malformed gets through."""

import dataclasses
import math

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose, Quaternion, Twist, WrenchStamped
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.rotation import rotation_vector_to_quaternion, rpy_to_quaternion
from contact_ddp_ros.robot.state import BodyPose, JointCommand, RobotState, VelocityCommand
from contact_ddp_ros.ros import conversions as convert
from contact_ddp_ros.ros import timebase

FINITE = st.floats(-1e3, 1e3)
JOINTS = arrays(np.float64, len(JOINT_NAMES), elements=FINITE, fill=FINITE)
TIMES = st.floats(0.0, 1e6) | st.floats(1.7e9, 2.0e9)
"""Seconds of a simulation, and of the wall clock."""

STAMPS = st.integers(0, (2**31 - 1) * 1_000_000_000 - 1)
SEEDS = st.integers(0, 2**32 - 1)


def random_state(time: float, seed: int) -> RobotState:
    random = np.random.default_rng(seed)
    orientation = rotation_vector_to_quaternion(random.uniform(-3.0, 3.0, 3))
    linear, angular, position = random.normal(size=(3, 3))
    joints, rates = random.normal(size=(2, len(JOINT_NAMES)))
    return RobotState(time, position, orientation, linear, angular, joints, rates)


def resolution(time: float) -> float:
    """A nanosecond, or what a floating-point number of that size [s] and its rounding to nanoseconds can tell apart."""
    return max(1e-9, 2.0 * math.ulp(time))


def standing() -> RobotState:
    zeros = np.zeros(12)
    return RobotState(1.5, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3), zeros, zeros)


def messages() -> tuple[JointState, Odometry]:
    return convert.joint_state_message(standing(), np.zeros(12)), convert.odometry_message(standing())


@given(TIMES)
def test_stamps_are_exact_to_the_nanosecond(time: float) -> None:
    stamp = convert.to_stamp(time)
    assert timebase.stamp_ns(stamp) == convert.time_ns(time)
    assert convert.from_stamp(stamp) == pytest.approx(time, abs=resolution(time))


@given(STAMPS)
def test_stamps_of_the_wall_clock_lose_no_nanosecond(stamp: int) -> None:
    message = convert.stamp_message(stamp)
    assert convert.is_time(message)
    assert timebase.stamp_ns(message) == stamp


@pytest.mark.parametrize("time", [-1e-3, math.nan, math.inf, 2.0**31])
def test_times_that_no_stamp_holds_are_refused(time: float) -> None:
    with pytest.raises(MessageError, match="stamp"):
        convert.to_stamp(time)


@given(TIMES, SEEDS, st.permutations(range(12)))
def test_a_state_survives_in_any_order_of_joints(time: float, seed: int, order: list[int]) -> None:
    state = random_state(time, seed)
    joints = convert.joint_state_message(state, np.zeros(12))
    joints.name = [joints.name[i] for i in order]
    joints.position = [joints.position[i] for i in order]
    joints.velocity = [joints.velocity[i] for i in order]
    back = convert.robot_state(joints, convert.odometry_message(state))
    assert back.time == pytest.approx(state.time, abs=resolution(time))
    for field in dataclasses.fields(RobotState)[1:]:
        np.testing.assert_array_equal(getattr(back, field.name), getattr(state, field.name))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda j, o: setattr(j, "name", j.name[:-1]), "missing"),
        (lambda j, o: setattr(j, "name", [*j.name[:-1], j.name[0]]), "twice"),
        (lambda j, o: setattr(j, "name", [*j.name[:-1], "tail_joint"]), "tail_joint"),
        (lambda j, o: setattr(j, "name", [*j.name, "tail_joint"]), "unknown"),
        (lambda j, o: setattr(j, "position", j.position[:-1]), "position holds 11"),
        (lambda j, o: setattr(j, "velocity", []), "velocity holds 0"),
        (lambda j, o: setattr(j, "position", [math.nan] * 12), "joint_positions"),
        (lambda j, o: setattr(j, "velocity", [math.inf] * 12), "joint_velocities"),
        (lambda j, o: setattr(o.pose.pose.position, "z", math.nan), "position"),
        (lambda j, o: setattr(o.twist.twist.angular, "x", math.inf), "angular_velocity"),
        (lambda j, o: setattr(o.pose.pose.orientation, "w", 0.0), "norm"),
        (lambda j, o: setattr(o.pose.pose.orientation, "w", 1.01), "norm"),
        (lambda j, o: setattr(o.header, "frame_id", "map"), "'map'"),
        (lambda j, o: setattr(o, "child_frame_id", "imu"), "'imu'"),
    ],
)
def test_a_malformed_state_is_refused(damage: object, words: str) -> None:
    joints, odometry = messages()
    damage(joints, odometry)  # type: ignore[operator]
    with pytest.raises(MessageError, match=words):
        convert.robot_state(joints, odometry)


@given(JOINTS, SEEDS, st.booleans())
def test_a_command_survives(positions: np.ndarray, seed: int, damping: bool) -> None:
    velocities, torques = np.random.default_rng(seed).normal(size=(2, len(JOINT_NAMES)))
    command = JointCommand(None if damping else positions, velocities, torques)
    stamp = Time(sec=3, nanosec=4_000_000)
    message = convert.joint_command_message(command, stamp)
    back = convert.joint_command(message)
    assert message.header.stamp == stamp
    assert len(message.points[0].positions) == (0 if damping else 12)
    if damping:
        assert back.positions is None
    else:
        np.testing.assert_array_equal(back.positions, positions)
    np.testing.assert_array_equal(back.velocities, velocities)
    np.testing.assert_array_equal(back.torques, torques)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda m: setattr(m, "points", []), "0 points"),
        (lambda m: setattr(m, "points", [m.points[0], JointTrajectoryPoint()]), "2 points"),
        (lambda m: setattr(m, "joint_names", m.joint_names[1:]), "missing"),
        (lambda m: setattr(m.points[0], "positions", [0.0]), "positions holds 1"),
        (lambda m: setattr(m.points[0], "velocities", []), "velocities holds 0"),
        (lambda m: setattr(m.points[0], "effort", [math.nan] * 12), "torques"),
    ],
)
def test_a_malformed_command_is_refused(damage: object, words: str) -> None:
    message: JointTrajectory = convert.joint_command_message(JointCommand(*[np.zeros(12)] * 3), Time())
    damage(message)  # type: ignore[operator]
    with pytest.raises(MessageError, match=words):
        convert.joint_command(message)


def test_a_body_pose_is_height_roll_and_pitch() -> None:
    message = Pose()
    assert convert.body_pose(message) == BodyPose(None, 0.0, 0.0)
    message.position.z = 0.22
    x, y, z, w = rpy_to_quaternion(0.1, -0.2, 0.0).tolist()
    message.orientation = Quaternion(x=x, y=y, z=z, w=w)
    found = convert.body_pose(message)
    assert (found.height, found.roll, found.pitch) == pytest.approx((0.22, 0.1, -0.2))


@pytest.mark.parametrize(
    ("place", "turned", "said"),
    [
        ((0.0, 0.0, math.nan), (0.0, 0.0, 0.0, 1.0), "position of a body pose is"),
        ((0.0, 0.0, 0.2), (0.0, 0.0, 0.0, 0.0), "length 0; allowed: 1"),
        ((0.0, 0.0, 0.2), (0.0, 0.0, math.nan, 1.0), "length nan; allowed: 1"),
        ((0.1, 0.0, 0.2), (0.0, 0.0, 0.0, 1.0), r"x 0.1 m, y 0 m and yaw 0 rad; allowed: 0, as these follow cmd_vel"),
        ((0.0, 0.0, 0.2), (0.0, 0.0, 0.6, 0.8), "yaw 1.287 rad; allowed: 0"),
    ],
)
def test_a_body_pose_that_cannot_be_held_is_refused(
    place: tuple[float, float, float], turned: tuple[float, float, float, float], said: str
) -> None:
    message = Pose()
    message.position.x, message.position.y, message.position.z = place
    x, y, z, w = turned
    message.orientation = Quaternion(x=x, y=y, z=z, w=w)
    with pytest.raises(MessageError, match=said):
        convert.body_pose(message)


def test_velocity_commands_and_pushes_must_be_finite() -> None:
    twist = Twist()
    twist.linear.x, twist.linear.y, twist.angular.z = 0.5, -0.1, 0.2
    assert convert.velocity_command(twist) == VelocityCommand(0.5, -0.1, 0.2)
    twist.angular.z = math.nan
    with pytest.raises(MessageError, match="finite"):
        convert.velocity_command(twist)
    push = WrenchStamped()
    push.wrench.force.y = 40.0
    np.testing.assert_array_equal(convert.push_force(push), [0.0, 40.0, 0.0])
    push.header.frame_id = "base_link"
    with pytest.raises(MessageError, match="base_link"):
        convert.push_force(push)
    push.header.frame_id, push.wrench.torque.x = "odom", 1.0
    with pytest.raises(MessageError, match="torque"):
        convert.push_force(push)


def test_contacts_survive_and_what_is_none_is_refused() -> None:
    feet = (True, False, True, False)
    assert convert.contacts(convert.contacts_message(feet)) == feet
    for values in ([1.0] * 3, [1.0, 0.0, 0.5, 0.0], [math.nan] * 4):
        with pytest.raises(MessageError, match="fr_foot"):
            convert.contacts(Float64MultiArray(data=values))
