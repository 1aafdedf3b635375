"""The state estimate as a message: of the estimator's own node, and of the controller's."""

import struct
from dataclasses import replace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import serialize_message
from ros_graph import NodeMaker, Watcher
from sensor_msgs.msg import Imu, JointState

from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import ImuSample
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import imu_message, joint_state_message, stamp_message
from contact_ddp_ros.ros.estimator_node import EstimatorNode
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.reports import ERROR, OK
from contact_ddp_ros.ros.runtime import publisher, subscribe
from contact_ddp_ros.ros.timebase import stamp_ns

STANDING = load_robot().standing_state()
BEGIN = 1_800_000_000_000_000_000
"""A stamp of the wall clock [ns]."""


@pytest.mark.parametrize(("name", "topic"), [("estimator", io.ODOM), ("controller", io.ESTIMATE)])
def test_a_robot_at_rest_is_where_it_stands_at_the_stamps_of_its_samples(
    name: str, topic: io.Topic, processes: NodeProcesses, make_node: NodeMaker, executor: SingleThreadedExecutor
) -> None:
    watcher = Watcher(make_node, executor)
    joints, imu = publisher(watcher.node, io.JOINT_STATES), publisher(watcher.node, io.IMU)
    told: list[Odometry] = []
    said: list[str] = []
    sent: set[int] = set()
    subscribe(watcher.node, topic, told.append)
    subscribe(watcher.node, io.DIAGNOSTICS, lambda array: said.extend(_of(array, name)))
    processes.start(name, {})

    def estimated() -> bool:
        stamp = BEGIN + 2_000_000 * len(sent)
        sent.add(stamp)
        for sender, message in zip((joints, imu), _still(), strict=True):
            message.header.stamp = stamp_message(stamp)
            sender.publish(message)
        return len(told) > 3 and len(said) > 1

    watcher.until(estimated)
    last = told[-1]
    assert stamp_ns(last.header.stamp) in sent
    assert (last.header.frame_id, last.child_frame_id) == (io.ODOM_FRAME, io.BASE_FRAME)
    assert last.pose.pose.position.z == pytest.approx(STANDING.position[2], abs=2e-3)
    assert abs(last.twist.twist.linear.x) < 1e-3
    assert min(last.pose.covariance[0], last.twist.covariance[0]) > 0.0


def test_a_stamp_that_fits_no_message_is_refused_and_the_next_is_taken(make_node: NodeMaker) -> None:
    work = EstimatorNode(make_node("estimator"))
    joints, imu = (serialize_message(one) for one in _still())
    late = struct.pack("<iI", 2**31 - 1, 2**32 - 1)
    for stamp in (late, struct.pack("<iI", -5, 0)):
        for kind, message in enumerate((joints, imu)):
            work._on_message(kind, message[:4] + stamp + message[12:])
    level, text, values = work._report()
    assert (level, values["malformed messages"], values["estimates"]) == (ERROR, 2, 0)
    assert "allowed: 0 to" in text
    for kind, message in enumerate((joints, imu)):
        work._on_message(kind, message[:4] + struct.pack("<iI", 1_800_000_000, 0) + message[12:])
    level, _, values = work._report()
    assert (level, values["estimates"]) == (OK, 1)


def _still() -> tuple[JointState, Imu]:
    sample = ImuSample(0.0, np.zeros(3), np.array([0.0, 0.0, 9.81]))
    state = replace(STANDING, time=0.0, angular_velocity=np.zeros(3))
    return joint_state_message(state, np.zeros(12)), imu_message(state, sample)


def _of(array: DiagnosticArray, name: str) -> list[str]:
    return [one.message for one in array.status if one.name == f"/{name}"]
