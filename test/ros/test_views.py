"""Paths and markers: where the plan and the forces are shown."""

import math
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from visualization_msgs.msg import Marker

from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import foot_positions
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy, rotation_vector_to_quaternion
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.ros.plan_views import force_markers, path_message, plan_markers

ROBOT = load_robot()
HEADING = 0.7
PITCH = 0.1


def turned() -> RobotState:
    """The standing robot, turned and moved."""
    yaw = rotation_vector_to_quaternion(np.array([0.0, 0.0, HEADING]))
    standing = ROBOT.standing_state(2.0)
    position = np.array([1.0, -0.5, standing.position[2]])
    zeros = np.zeros(3)
    return RobotState(2.0, position, yaw, zeros, zeros, standing.joint_positions, standing.joint_velocities)


def plan(forces: np.ndarray, pitch: float = 0.0) -> Policy:
    """A plan that stays where the robot is, with these forces at its nodes (N, 4)."""
    n = len(forces)
    x = PlanarModel(load_robot()).state(turned())
    x[2] = pitch
    times = 2.0 + 0.004 * np.arange(n + 1)
    return Policy(times, np.tile(x, (n + 1, 1)), np.zeros((n, 4)), np.zeros((n, 4, 14)), np.zeros(n, int), forces)


def test_the_path_lies_in_the_plane_of_the_heading() -> None:
    state = turned()
    policy = plan(np.zeros((2, 4)), PITCH)
    policy.states[:, 0] += [0.0, 0.1, 0.2]
    path = path_message(policy, state, ROBOT, 1)
    assert len(path.poses) == 3
    start, end = path.poses[0].pose, path.poses[-1].pose
    np.testing.assert_allclose([start.position.x, start.position.y], state.position[:2], atol=1e-12)
    way = [end.position.x - start.position.x, end.position.y - start.position.y]
    np.testing.assert_allclose(way, [0.2 * math.cos(HEADING), 0.2 * math.sin(HEADING)], atol=1e-12)
    orientation = np.array([getattr(end.orientation, axis) for axis in "xyzw"])
    np.testing.assert_allclose(quaternion_to_rpy(orientation), [0.0, PITCH, HEADING], atol=1e-9)


@given(st.floats(-3.0, 3.0), st.floats(-1.0, 1.0), st.integers(0, 2**32 - 1))
def test_the_displayed_plan_starts_where_the_trunk_is(yaw: float, pitch: float, seed: int) -> None:
    position = np.random.default_rng(seed).normal(size=3)
    orientation = rotation_vector_to_quaternion(np.array([0.0, 0.0, yaw]))
    state = replace(ROBOT.standing_state(2.0), position=position, orientation=orientation)
    policy = plan(np.zeros((2, 4)))
    policy.states[:, :3] = [math.cos(yaw) * position[0] + math.sin(yaw) * position[1], position[2], pitch]
    pose = path_message(policy, state, ROBOT, 1).poses[0].pose
    np.testing.assert_allclose([pose.position.x, pose.position.y, pose.position.z], position, atol=1e-9)
    shown = np.array([getattr(pose.orientation, axis) for axis in "xyzw"])
    np.testing.assert_allclose(quaternion_to_rpy(shown), [0.0, pitch, yaw], atol=1e-9)


def test_planned_forces_stand_on_the_feet_and_touchdowns_are_where_they_begin() -> None:
    state = turned()
    forces = np.zeros((6, 4))
    forces[2:, 2:] = [20.0, 100.0]
    trunk, touchdowns, arrows = plan_markers(plan(forces), state, ROBOT, stride=1).markers
    assert trunk.type == Marker.LINE_STRIP
    rotation = quaternion_to_matrix(state.orientation)
    feet = state.position + foot_positions(ROBOT, state.joint_positions) @ rotation.T
    back = feet[2:] - [0.0, 0.0, ROBOT.foot_radius]
    shown = np.array([[p.x, p.y, p.z] for p in touchdowns.points])
    np.testing.assert_allclose(shown, back, atol=1e-9)
    ends = np.array([[p.x, p.y, p.z] for p in arrows.points]).reshape(-1, 2, 3)
    assert len(ends) == 2 * 4, "two legs at four nodes"
    np.testing.assert_allclose(ends[:2, 0], back, atol=1e-9)
    direction = ends[0, 1] - ends[0, 0]
    forward = np.array([math.cos(HEADING), math.sin(HEADING)])
    np.testing.assert_allclose(direction[:2] / direction[2], 0.2 * forward, atol=1e-9)


def test_a_foot_in_the_air_has_no_arrow() -> None:
    forces = np.zeros((4, 3))
    forces[1] = [0.0, 5.0, 80.0]
    markers = force_markers(turned(), forces, ROBOT).markers
    assert [marker.action for marker in markers] == [Marker.DELETE, Marker.ADD, Marker.DELETE, Marker.DELETE]
    begin, end = markers[1].points
    assert end.y - begin.y > 0.0
    assert math.isclose((end.z - begin.z) / (end.y - begin.y), 16.0)
    assert len({marker.id for marker in markers}) == len(markers)
