"""The drives as a node: efforts for every joint state, for ros2_control and for ros_gz_bridge."""

import signal

import numpy as np
import pytest
from rclpy.executors import SingleThreadedExecutor
from ros_graph import PATIENCE, NodeMaker, Watcher
from std_msgs.msg import Float64, Float64MultiArray

from contact_ddp_ros.control.config import DriveConfig
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import JointCommand, RobotState
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import joint_command_message, joint_state_message, to_stamp
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.runtime import publisher, subscribe

ROBOT = load_robot()
GAINS = DriveConfig().gains(4)
JOINT_DAMPING = (0.7, 0.4, 0.4)
COMMAND = JointCommand(ROBOT.standing + 0.1, np.full(12, 0.3), np.linspace(-2.0, 2.0, 12))


class Joints(Watcher):
    """Plays the simulator's joints."""

    def __init__(self, make_node: NodeMaker, executor: SingleThreadedExecutor) -> None:
        super().__init__(make_node, executor)
        self.states = publisher(self.node, io.JOINT_STATES)
        self.efforts = np.full(12, np.nan)
        self.time = 0.0
        subscribe(self.node, io.EFFORTS, self._on_efforts)
        for index, name in enumerate(JOINT_NAMES):
            subscribe(self.node, io.joint_effort(name), lambda message, index=index: self._on_effort(index, message))

    def moving(self) -> RobotState:
        self.time += 0.001
        return RobotState(
            self.time, np.zeros(3), np.array([0, 0, 0, 1.0]), np.zeros(3), np.zeros(3), ROBOT.standing, np.full(12, 0.5)
        )

    def told(self, efforts: np.ndarray, command: JointCommand | None = None) -> None:
        """Tell states, and a command, until these efforts come."""

        def come() -> bool:
            if command is not None:
                self.command.publish(joint_command_message(command, to_stamp(self.time)))
            self.states.publish(joint_state_message(self.moving(), np.zeros(12)))
            return bool(np.allclose(self.efforts, efforts, atol=1e-9))

        self.until(come)

    def _on_efforts(self, message: Float64MultiArray) -> None:
        self.efforts = np.array(message.data)

    def _on_effort(self, index: int, message: Float64) -> None:
        self.efforts[index] = message.data


@pytest.mark.parametrize(("output", "end"), [("group", signal.SIGTERM), ("joints", signal.SIGKILL)])
def test_states_are_answered_by_the_drives_law_and_zero_efforts_are_the_last(
    output: str, end: signal.Signals, processes: NodeProcesses, make_node: NodeMaker, executor: SingleThreadedExecutor
) -> None:
    """Whoever takes the efforts holds the last ones for ever."""
    own = 0.5 * np.tile(JOINT_DAMPING, 4)
    parameters = {"node.output": output, "node.joint_damping": JOINT_DAMPING, "use_sim_time": True}
    processes.start("drives", parameters)
    joints = Joints(make_node, executor)
    state = joints.moving()
    damping = -GAINS.kd_damping * 0.5 + own
    joints.told(damping)
    joints.told(GAINS.torques(COMMAND, state.joint_positions, state.joint_velocities) + own, COMMAND)
    joints.time += 1.0
    joints.told(damping)
    topic = (io.EFFORTS if output == "group" else io.joint_effort(JOINT_NAMES[-1])).name
    joints.until(lambda: joints.node.count_publishers(topic) == 2)
    processes.signal("drives", end)
    assert processes.wait("drives", PATIENCE) == (0 if end is signal.SIGTERM else -end)
    joints.until(lambda: not joints.efforts.any())
