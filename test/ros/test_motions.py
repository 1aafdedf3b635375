"""Jumps and flips by the controller's services, with the physics in this process."""

import numpy as np
import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from ros_graph import NodeMaker
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.plants.engines import make_simulator
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.motion import load_motion
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.controller_node import ControllerNode
from contact_ddp_ros.ros.conversions import joint_command, joint_state_message, odometry_message
from contact_ddp_ros.ros.node_config import ControllerNodeConfig
from contact_ddp_ros.ros.parameters import NodeParameters

STEPS = 2
"""Of the physics per command."""


class Rig:
    """A controller's node and a robot, tick by tick."""

    def __init__(self, make_node: NodeMaker, executor: SingleThreadedExecutor, motions: str) -> None:
        given = {"node.motions": motions, "node.state": "odom"}
        node = make_node("controller", parameter_overrides=[Parameter(name, value=one) for name, one in given.items()])
        self.node = ControllerNode(node, NodeParameters(node, ControllerNodeConfig()))
        self.node._now = lambda state: state.time
        self.node._stop.clear()
        self.node._commands = self
        self.controller = self.node._controller
        self.simulator = make_simulator(load_robot(), self.controller.drive_gains, SimOptions())
        self.person = make_node("person")
        self.executor = executor
        for one in (node, self.person):
            executor.add_node(one)

    def publish(self, message: bytes) -> None:
        self.simulator.write(joint_command(deserialize_message(message, JointTrajectory)))

    def tick(self) -> None:
        state = self.simulator.read()
        messages = joint_state_message(state, np.zeros(12)), odometry_message(state)
        joints, odometry = map(serialize_message, messages)
        self.node._answer(round(state.time * 1e9), joints, odometry)
        self.simulator.advance(STEPS)

    def until(self, mode: ControlMode, longest: float = 6.0) -> None:
        end = self.simulator.time + longest
        while self.controller.mode is not mode:
            self.tick()
            assert self.simulator.time < end and self.controller.fault is None, str(self.controller.fault)

    def call(self, service: io.Service) -> tuple[bool, str]:
        client = self.person.create_client(service.type, service.name)
        assert client.wait_for_service(60.0)
        future = client.call_async(Trigger.Request())
        self.executor.spin_until_future_complete(future, 60.0)
        return future.result().success, future.result().message


def test_it_jumps_where_it_is_told_to_and_stands(make_node: NodeMaker, executor: SingleThreadedExecutor) -> None:
    rig = Rig(make_node, executor, "jump")
    jump = io.motion_service("jump")
    rig.tick()
    accepted, reason = rig.call(jump)
    assert not accepted and "jump begins in a stand" in reason
    assert rig.call(io.STAND)[0] and rig.call(jump)[0]
    rig.until(ControlMode.MOTION)
    accepted, reason = rig.call(jump)
    assert not accepted and reason == "still in jump"
    begun, planned = rig.simulator.read().position[0], [rig.controller.contacts]
    while rig.controller.mode is ControlMode.MOTION:
        rig.tick()
        planned += [rig.controller.contacts] if rig.controller.contacts != planned[-1] else []
    assert rig.controller.mode is ControlMode.STAND, str(rig.controller.fault)
    assert planned[0] == planned[-1] == (True,) * 4 and (False,) * 4 in planned
    assert rig.simulator.time > load_motion("jump").duration
    for _ in range(300):
        rig.tick()
    state = rig.simulator.read()
    assert state.position[0] - begun == pytest.approx(0.6, abs=0.05)
    assert rig.controller.standing and abs(state.position[2] - load_robot().standing_height()) < 0.02


def test_from_its_back_it_gets_onto_its_feet(make_node: NodeMaker, executor: SingleThreadedExecutor) -> None:
    rig = Rig(make_node, executor, " recovery , recovery_side")
    lying = rig.simulator.read()
    lying.position[:] = 0.0, 0.0, 0.12
    lying.orientation[:] = 0.0, 1.0, 0.0, 0.0
    rig.simulator.reset(lying)
    for _ in range(250):
        rig.tick()
    accepted, reason = rig.call(io.motion_service("recovery_side"))
    assert not accepted and "it lies on its back; recovery_side begins where it lies on its right" in reason
    assert rig.call(io.motion_service("recovery"))[0] and rig.controller.mode is ControlMode.MOTION
    rig.until(ControlMode.STAND)
    for _ in range(300):
        rig.tick()
    state = rig.simulator.read()
    assert quaternion_to_matrix(state.orientation)[2, 2] > 0.99
    assert abs(state.position[2] - load_robot().standing_height()) < 0.02


@pytest.mark.parametrize(("motions", "words"), [("jumb", "'jumb'.*jump"), ("jump,jump", "'jump' is named twice")])
def test_motions_that_are_none_are_refused(make_node: NodeMaker, motions: str, words: str) -> None:
    node = make_node("controller", parameter_overrides=[Parameter("node.motions", value=motions)])
    with pytest.raises(ParameterError, match=words):
        ControllerNode(node, NodeParameters(node, ControllerNodeConfig()))
