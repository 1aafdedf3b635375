"""The node between the package and a robot with its own driver: states as it tells them, commands as it takes them."""

import signal
import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import quadruped
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from ros_graph import BUILDING, PATIENCE, NodeMaker
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.config import DriveConfig
from contact_ddp_ros.plants.engines import make_simulator
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import DriveGains, JointCommand
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import doubles, imu_message, joint_command_message, stamp_message, to_stamp
from contact_ddp_ros.ros.driver_node import DriverNode
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.reports import status_values
from contact_ddp_ros.ros.runtime import publisher, subscribe


@dataclass
class Habits:
    """Habits of a driver: period [s], topics and joints of its messages, lag of stamps [s], form of commands, gait."""

    period: float = 0.002
    halves: bool = False
    more: tuple[str, ...] = ()
    lag: float = 0.0
    velocities: bool = True
    command: str = "effort"
    gait: str = "trot"
    names: list[str] = field(default_factory=list)
    signs: np.ndarray = field(default_factory=lambda: np.ones(12))


class Stranger:
    """A robot in MuJoCo behind a driver of its own, which steps with every answer."""

    def __init__(self, make_node: NodeMaker, executor: SingleThreadedExecutor, source: str, habits: Habits) -> None:
        self.node, self.executor, self.habits = make_node("stranger"), executor, habits
        executor.add_node(self.node)
        self.robot = load_robot(source)
        still = DriveGains(np.zeros(12), np.zeros(12), np.zeros(12))
        self.plant = make_simulator(self.robot, still, SimOptions())
        joints = self.robot.joint_map
        assert joints is not None
        self.names = habits.names or list(joints.names)
        self.signs, self.zeros = habits.signs * joints.signs, habits.signs * joints.zeros
        self.root = joints.root
        topics = ["/front/joint_states", "/hind/joint_states"] if habits.halves else ["/robot/joint_states"]
        self.topics = topics
        self.joints = [self.node.create_publisher(JointState, topic, 10) for topic in topics]
        self.imu = self.node.create_publisher(Imu, "/imu", 10)
        self.clock = self.node.create_publisher(Clock, "/clock", 10)
        self.speed = self.node.create_publisher(Twist, "cmd_vel", 10)
        self.answers, self.events = 0, list[str]()
        self.command: JointCommand | None = None
        if habits.command == "hybrid":
            self.rows = np.zeros((12, 5))
            for joint, name in enumerate(self.names):
                self.node.create_subscription(
                    Float64MultiArray, f"/{name}/commands", lambda one, joint=joint: self._on_row(joint, one), 10
                )
        else:
            self.node.create_subscription(Float64MultiArray, "/efforts", self._on_efforts, 10)
        self.node.create_subscription(
            DiagnosticStatus,
            io.CONTROLLER_EVENTS.name,
            lambda message: self.events.append(f"{status_values(message)['mode']}: {message.message}"),
            10,
        )

    def _on_efforts(self, message: Float64MultiArray) -> None:
        self.command = JointCommand(np.zeros(12), np.zeros(12), self.signs * np.array(message.data))
        self.answers += 1

    def _on_row(self, joint: int, message: Float64MultiArray) -> None:
        self.rows[joint] = message.data
        if joint == len(self.rows) - 1:
            positions, velocities, efforts, kp, kd = self.rows.T
            self.gains = DriveGains(kp.copy(), kd.copy(), kd.copy())
            wanted = self.signs * (positions - self.zeros) if kp.any() else None
            self.command = JointCommand(wanted, self.signs * velocities, self.signs * efforts)
            self.answers += 1

    def torques(self) -> np.ndarray:
        state = self.plant.read()
        if self.command is None:  # its driver holds it until somebody commands
            return 80.0 * (self.robot.standing - state.joint_positions) - 2.0 * state.joint_velocities
        if self.habits.command == "effort":
            return self.command.torques
        return self.gains.torques(self.command, state.joint_positions, state.joint_velocities)

    def tell(self) -> None:
        state, truth = self.plant.read(), self.plant.truth()
        self.clock.publish(Clock(clock=to_stamp(state.time)))
        positions, velocities = self.zeros + self.signs * state.joint_positions, self.signs * state.joint_velocities
        efforts = self.signs * truth.applied_torques
        sample = imu_message(state, self.plant.imu())
        gyro = self.root[0].T @ self.plant.imu().angular_velocity
        force = self.root[0].T @ self.plant.imu().specific_force
        sample.angular_velocity.x, sample.angular_velocity.y, sample.angular_velocity.z = gyro.tolist()
        sample.linear_acceleration.x, sample.linear_acceleration.y, sample.linear_acceleration.z = force.tolist()
        sample.header.stamp = to_stamp(state.time)
        self.imu.publish(sample)
        parts = [range(6), range(6, 12)] if self.habits.halves else [range(12)]
        for index, (part, one) in enumerate(zip(parts, self.joints, strict=True)):
            more = self.habits.more if index == 0 else ()
            at = list(part)[::-1]
            message = JointState(
                name=[*more, *(self.names[joint] for joint in at)],
                position=doubles(np.concatenate([np.full(len(more), 0.3), positions[at]])),
            )
            message.header.stamp = to_stamp(state.time + (index + 1) * self.habits.lag)
            if self.habits.velocities:
                message.velocity = doubles(np.concatenate([np.zeros(len(more)), velocities[at]]))
                message.effort = doubles(np.concatenate([np.zeros(len(more)), efforts[at]]))
            one.publish(message)

    def tick(self, patience: float = 2.0) -> None:
        """Tell the state, wait for the answer and step."""
        answers, deadline = self.answers, clock.monotonic() + patience
        self.tell()
        while self.answers == answers and clock.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=0.01)
        for _ in range(max(1, round(self.habits.period / 0.001))):  # its drives run every millisecond
            state = self.plant.read()
            self.plant.write(JointCommand(state.joint_positions, np.zeros(12), self.torques()))
            self.plant.advance(max(1, round(0.001 / self.plant.timestep)))

    def call(self, service: io.Service) -> None:
        client = self.node.create_client(Trigger, service.name)
        deadline = clock.monotonic() + PATIENCE
        while True:
            while not client.service_is_ready():
                assert clock.monotonic() < deadline
                self.executor.spin_once(timeout_sec=0.05)
            future = client.call_async(Trigger.Request())
            while not future.done():
                assert clock.monotonic() < deadline, service.name
                self.tick(0.2)
            if future.result().success:
                return
            assert clock.monotonic() < deadline, future.result().message
            self.tick(0.2)


DRIVERS = {
    "positions alone, in halves with a gripper, names of its own, stamps apart": Habits(
        period=0.005,
        halves=True,
        velocities=False,
        more=("gripper",),
        lag=0.0004,
        names=[f"leg{leg}_motor{motor}" for leg in range(4) for motor in range(3)],
        signs=np.array([1.0, -1.0, 1.0] * 4),
    ),
    "impedances of the joints, 100 states per second": Habits(command="hybrid", period=0.01, gait="bound"),
}


@pytest.mark.parametrize("name", DRIVERS)
def test_a_robot_with_its_own_driver_stands_and_moves(
    name: str,
    processes: NodeProcesses,
    make_node: NodeMaker,
    executor: SingleThreadedExecutor,
    tmp_path,
) -> None:
    """IMU and joints alone; the root link 30 cm below the hips, hind knees forwards."""
    root = '<robot name="odd"><link name="footprint"/><joint name="up" type="fixed"><parent link="footprint"/>'
    root += '<child link="body"/><origin xyz="-0.1 0 0.3"/></joint>'
    source = tmp_path / "odd.urdf"
    source.write_text(quadruped.urdf(hind=-1).replace('<robot name="small">', root), encoding="utf-8")
    habits = DRIVERS[name]
    stranger = Stranger(make_node, executor, str(source), habits)
    own = {"use_sim_time": True, "node.lockstep": True, "node.urdf": str(source)}
    driver = {
        "driver.joint_topics": ",".join(stranger.topics),
        "driver.imu_topic": "/imu",
        "driver.joints": ",".join(habits.names),
        "driver.signs": ",".join(map(str, habits.signs)),
        "driver.command": habits.command,
        "driver.command_topic": "/{joint}/commands" if habits.command == "hybrid" else "/efforts",
    }
    processes.start("driver", {**own, **driver})
    processes.start("controller", own)
    processes.start("planner", {**own, "gait.name": habits.gait, "node.cmd_vel_timeout": 10.0})
    deadline = clock.monotonic() + BUILDING
    while not stranger.answers:
        assert clock.monotonic() < deadline
        stranger.tick(0.2)
    stranger.call(io.STAND)
    while not any("stand" in event for event in stranger.events[-1:]) or stranger.plant.read().time < 1.0:
        stranger.tick()
    stranger.call(io.MOVE)
    begun = stranger.plant.read().time
    way: list[float] = []
    while stranger.plant.read().time < begun + 2.8:
        stranger.speed.publish(Twist())
        message = Twist()
        message.linear.x = 0.4
        stranger.speed.publish(message)
        stranger.tick()
        truth = stranger.plant.truth()
        if stranger.plant.read().time > begun + 1.6:
            way.append(float(truth.state.linear_velocity[0]))
    assert stranger.plant.read().position[2] > 0.15, stranger.events[-5:]
    assert np.mean(way) == pytest.approx(0.4, abs=0.04), stranger.events[-5:]
    processes.signal("driver", signal.SIGKILL)
    deadline = clock.monotonic() + PATIENCE
    while stranger.command.positions is not None and stranger.command.torques.any():
        assert clock.monotonic() < deadline, "a killed node leaves joints that damp"
        executor.spin_once(timeout_sec=0.02)


def told(names: tuple[str, ...], stamp: int, positions: np.ndarray, velocities: np.ndarray) -> JointState:
    message = JointState(name=list(names), position=doubles(positions), velocity=doubles(velocities))
    message.header.stamp = stamp_message(stamp)
    return message


class Listener:
    """A driver and a controller in one: topics of both sides of a node that runs beside it."""

    def __init__(self, make_node: NodeMaker, executor: SingleThreadedExecutor, kind: type) -> None:
        self.node, self.executor = make_node("listener"), executor
        executor.add_node(self.node)
        self.states = self.node.create_publisher(JointState, "/robot/joint_states", 10)
        self.odometry = self.node.create_publisher(Odometry, "/robot/odom", 10)
        self.command = publisher(self.node, io.JOINT_COMMAND)
        self.got: list[object] = []
        self.odom: list[Odometry] = []
        self.node.create_subscription(kind, "/robot/commands", self.got.append, 10)
        subscribe(self.node, io.ODOM, self.odom.append)

    def until(self, condition: Callable[[], bool], act: Callable[[], None]) -> None:
        deadline = clock.monotonic() + PATIENCE
        while not condition():
            assert clock.monotonic() < deadline, self.got[-1:]
            act()
            self.executor.spin_once(timeout_sec=0.01)


def test_the_joints_of_a_silent_robot_damp_whatever_is_commanded(
    processes: NodeProcesses, make_node: NodeMaker, executor: SingleThreadedExecutor
) -> None:
    """Efforts computed from a state of long ago would push for ever."""
    own = {
        "driver.joint_topics": "/robot/joint_states",
        "driver.imu_topic": "",
        "driver.command_topic": "/robot/commands",
    }
    processes.start("driver", own)
    listener = Listener(make_node, executor, Float64MultiArray)
    robot = load_robot()
    command = JointCommand(robot.standing, np.zeros(12), np.full(12, 2.0))

    def commanded() -> None:
        now = clock.time_ns()  # stamps of today's wall clock
        listener.command.publish(joint_command_message(command, to_stamp(1e-9 * now)))

    def alive() -> None:
        listener.states.publish(told(JOINT_NAMES, clock.time_ns(), robot.standing, np.full(12, 3.0)))
        commanded()

    gains = DriveConfig().gains(4)
    law = 2.0 - gains.kd * 3.0
    listener.until(lambda: any(np.allclose(one.data, law) for one in listener.got[-3:]), alive)
    listener.until(lambda: bool(listener.got) and not any(listener.got[-1].data), commanded)


def test_odometry_of_the_root_link_becomes_the_trunks_and_a_trajectory_has_the_drivers_angles(
    processes: NodeProcesses, make_node: NodeMaker, executor: SingleThreadedExecutor, tmp_path: Path
) -> None:
    source = tmp_path / "odd.urdf"
    root = '<robot name="odd"><link name="footprint"/><joint name="up" type="fixed"><parent link="footprint"/>'
    root += '<child link="body"/><origin xyz="-0.1 0 0.3"/></joint>'
    source.write_text(quadruped.urdf(hind=-1).replace('<robot name="small">', root), encoding="utf-8")
    joints = load_robot(source).joint_map
    assert joints is not None
    own = {"driver.joint_topics": "/robot/joint_states", "driver.imu_topic": "", "driver.odom_topic": "/robot/odom"}
    own |= {"driver.command": "trajectory", "driver.command_topic": "/robot/commands", "node.urdf": str(source)}
    processes.start("driver", {**own, "driver.offsets": ",".join(["0.25"] * 12)})
    listener = Listener(make_node, executor, JointTrajectory)
    wanted = np.linspace(-0.5, 0.6, 12)
    command = JointCommand(wanted, np.full(12, 0.1), np.full(12, 2.0))
    yaw, height = 1.2, 0.4
    told_odom = Odometry()
    told_odom.pose.pose.position.x, told_odom.pose.pose.position.z = 3.0, height
    told_odom.pose.pose.orientation.z, told_odom.pose.pose.orientation.w = np.sin(yaw / 2), np.cos(yaw / 2)
    told_odom.twist.twist.linear.x, told_odom.twist.twist.angular.z = 0.5, 2.0

    def alive() -> None:
        stamp = clock.time_ns()
        told_odom.header.stamp = stamp_message(stamp)
        listener.odometry.publish(told_odom)
        listener.states.publish(told(joints.names, stamp, joints.zeros, np.zeros(12)))
        listener.command.publish(joint_command_message(command, stamp_message(stamp)))

    listener.until(lambda: bool(listener.odom) and any(one.points[0].positions for one in listener.got), alive)
    trunk, moves = listener.odom[-1].pose.pose.position, listener.odom[-1].twist.twist.linear
    behind = 0.1  # the trunk's middle, 0.31 m above the footprint
    assert (trunk.x, trunk.y) == pytest.approx((3.0 - behind * np.cos(yaw), -behind * np.sin(yaw)))
    assert trunk.z == pytest.approx(height + 0.31)
    assert (moves.x, moves.y) == pytest.approx((0.5, -behind * 2.0))
    message = next(one for one in listener.got if one.points[0].positions)
    assert message.joint_names == list(joints.names)
    np.testing.assert_allclose(message.points[0].positions, 0.25 + joints.zeros + joints.signs * wanted)
    np.testing.assert_allclose(message.points[0].effort, joints.signs * 2.0)


MISTAKES = {
    "a topic of both": ({"driver.joint_topics": "/joint_states"}, "/joint_states of the driver is .*namespace"),
    "names": ({"driver.joints": "a,b"}, "driver.joints has 2 names; allowed: twelve different ones"),
    "signs": ({"driver.signs": ",".join(["2"] * 12)}, "driver.signs is '2,.*allowed: twelve of 1 and -1"),
    "offsets": ({"driver.offsets": "0.1, x"}, "driver.offsets is '0.1, x'; allowed: twelve numbers"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_parameters_that_fit_no_driver_are_refused(name: str, make_node: NodeMaker) -> None:
    given, words = MISTAKES[name]
    given = {"driver.joint_topics": "/robot/joint_states", "driver.imu_topic": "/robot/imu"} | given
    with pytest.raises(ParameterError, match=words):
        DriverNode(make_node("driver", parameter_overrides=[Parameter(key, value=one) for key, one in given.items()]))
