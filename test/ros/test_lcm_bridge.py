"""The bridge to the robot as a process: real frames in, real frames out, damping at every exit."""

import dataclasses
import signal
import time as clock
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from lcm_frames import ROBOT, N, estimate_frame, leg_frame, microstrain_frame
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from ros_graph import GUARD, PATIENCE, PERIOD, KeptNodes, NodeMaker, PlayedRobot
from std_msgs.msg import String
from std_srvs.srv import Trigger

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.control.estimation.state_estimator import StateEstimator
from contact_ddp_ros.plants.lcm import conventions
from contact_ddp_ros.plants.lcm.codec import (
    CHEETAH_SOFTWARE,
    LEG_CONTROL_COMMAND,
    MICROSTRAIN,
    PD_TAU_TARGETS,
    TARGETS_CHANNEL,
    WALK_THESE_WAYS,
    Frame,
    Layout,
    decode,
    encode,
)
from contact_ddp_ros.plants.lcm.transport import Link, LinkOptions, free_port
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.robot.state import JointCommand
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import contacts_message, from_stamp, joint_command_message, robot_state, to_stamp
from contact_ddp_ros.ros.demo import run_demo
from contact_ddp_ros.ros.lcm_bridge_node import LcmBridgeNode
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.runtime import publisher, subscribe
from contact_ddp_ros.runs.options import SENSOR_ERRORS, RunOptions
from contact_ddp_ros.runs.recording import CONTROL_MODES, Recorder
from contact_ddp_ros.runs.sensor_log import read_log

STATE = dataclasses.replace(ROBOT.standing_state(), linear_velocity=np.array([0.1, 0.2, 0.3]))
STAND = JointCommand(ROBOT.standing + 0.05, np.zeros(N), np.ones(N))

TRIES = 5
"""On a busy machine the robot played here may be the first to stay silent for too long."""


class Robot(PlayedRobot):
    """A robot whose own software talks over LCM."""

    name, stand = "bridge", STAND

    def __init__(self, make_node: NodeMaker, executor: SingleThreadedExecutor, options: LinkOptions) -> None:
        super().__init__(make_node, executor)
        self.link = Link(options)
        self.parameters = {**GUARD, "link.port": options.port}
        self.link.subscribe(TARGETS_CHANNEL, lambda data: self.commands.append(decode(data, [PD_TAU_TARGETS])))
        self.layout: Layout = WALK_THESE_WAYS
        self.imu_on = Event()
        self.odometry: list[Odometry] = []
        self.heard.append(self.odometry)
        subscribe(self.node, io.ODOM, self.odometry.append)
        self.contacts = publisher(self.node, io.CONTACTS)
        self.begin(self._speak)

    @staticmethod
    def damps(command: Frame) -> bool:
        return conventions.joint_command(command)[0].positions is None

    def begin_anew(self) -> None:
        self.imu_on.clear()
        self.layout = WALK_THESE_WAYS
        super().begin_anew()

    def hear(self) -> None:
        self.link.receive(0.0)

    def _speak(self) -> None:
        packets = 0
        while not self.ended.is_set():
            if self.sending.is_set():
                packets += int(self.imu_on.is_set())
                for channel in [one for one, unit in self.layout.imus.items() if unit is MICROSTRAIN]:
                    self.link.publish(channel, microstrain_frame(STATE, packets))
                self.link.publish(self.layout.leg_channel, leg_frame(STATE, self.layout))
                self.link.publish(self.layout.estimate_channel, estimate_frame(STATE, self.layout))
            clock.sleep(5.0 * PERIOD)


damps = Robot.damps


@pytest.fixture(scope="module")
def lasting_robot(make_lasting_node: NodeMaker, lasting_executor: SingleThreadedExecutor) -> Iterator[Robot]:
    made = Robot(make_lasting_node, lasting_executor, LinkOptions(port=free_port()))
    yield made
    made.close()


def test_the_robot_stands_and_bounds_over_lcm_up_a_slope() -> None:
    overrides = {"controller.stand.ramp_time": 0.2, "bridge.guard.soft_start": 0.1}
    push = Push(1.0, (0.0, 20.0, 0.0), 0.05)
    options = RunOptions(duration=2.3, backend="lcm", terrain="slope:8", pushes=(push,), overrides=overrides)
    recording = run_demo(options, Recorder())
    ticks = recording.ticks
    np.testing.assert_allclose(np.diff(ticks["time"]), PERIOD, atol=1e-9)
    modes = [CONTROL_MODES[index].lower() for index in ticks["control_mode"]]
    assert len(modes) == 1150
    assert modes.count("move") > 700
    assert not [event for event in recording.events if event.fault]
    assert any("push" in event.text for event in recording.events)
    assert ticks["position"][-1, 0] > 0.3, "it runs forward"
    assert ticks["position"][-1, 2] - ticks["position"][0, 2] > 0.01, "and up"
    assert recording.info.heights(ticks["position"]).min() > 0.2
    assert np.abs(ticks["torques"]).max() > 5.0
    airborne = (np.abs(ticks["contact_forces"]).sum(axis=(1, 2)) < 1.0) & (np.array(modes) == "move")
    assert airborne.mean() > 0.2
    assert recording.solves["ok"].all()


@pytest.mark.slow
def test_the_robot_trots_on_the_estimate_from_the_imu_over_lcm(tmp_path: Path) -> None:
    overrides = {"planner.gait.name": "trot", "bridge.guard.soft_start": 0.1, **SENSOR_ERRORS}
    run = {"duration": 4.0, "speed": ((0.0, 0.5),), "overrides": overrides}
    ticks = run_demo(RunOptions(backend="lcm", state="estimated", **run), Recorder(), tmp_path / "bag").ticks
    late = ticks["time"] > 2.4
    way = np.diff(ticks["position"][late][[0, -1], 0])[0]
    assert way / np.ptp(ticks["time"][late]) == pytest.approx(0.5, rel=0.03), "by the emulator's truth"
    log = read_log(tmp_path / "bag")
    estimated = np.array([state.linear_velocity for state in log.states(StateEstimator(ROBOT))])
    true = [np.interp(log.times, log.odometry[:, 0], log.odometry[:, k]) for k in (8, 9, 10)]
    errors = (estimated - np.stack(true, axis=1))[log.times > 2.4]
    assert np.sqrt((errors**2).mean(axis=0)).max() < 0.02


def test_it_damps_unasked_and_follows_who_has_damped(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    bridge()
    robot.until_next(damps)
    robot.sending.set()
    robot.until(lambda: len(robot.joints) > 0)
    count = len(robot.joints)
    robot.commands.clear()
    robot.until(lambda: len(robot.joints) > count + 10, STAND)
    assert all(map(damps, robot.commands)), "the controller has not damped yet"
    robot.enable()
    command, gains = conventions.joint_command(robot.commands[-1])
    assert command.positions is not None
    np.testing.assert_allclose(command.positions, STAND.positions)
    np.testing.assert_allclose(command.torques, STAND.torques)
    assert gains.kp.all()
    robot.contacts.publish(contacts_message((False, False, True, True)))
    robot.until_next(lambda frame: frame.array("se_contactState").tolist() == [0.0, 0.0, 0.5, 0.5], STAND)


def test_states_are_stamped_on_receipt(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    bridge()
    began = clock.time()
    robot.sending.set()
    robot.until(lambda: len(robot.joints) > 20 and len(robot.odometry) > 20 and len(robot.imu) > 0)
    stamps = [from_stamp(message.header.stamp) for message in robot.joints]
    assert all(began < stamp < receipt for stamp, receipt in zip(stamps, robot.receipts))
    assert (np.diff(stamps) > 0.0).all()
    poses = {from_stamp(message.header.stamp): message for message in robot.odometry}
    pairs = [(message, poses[stamp]) for message, stamp in zip(robot.joints, stamps) if stamp in poses]
    assert pairs
    state = robot_state(*pairs[-1])
    np.testing.assert_allclose(state.joint_positions, STATE.joint_positions, atol=1e-6)
    np.testing.assert_allclose(state.linear_velocity, STATE.linear_velocity, atol=1e-6)
    np.testing.assert_allclose(pairs[-1][0].effort, np.linspace(-5.0, 5.0, N), atol=1e-6)
    assert robot.imu[-1].linear_acceleration.z == pytest.approx(9.81, abs=1e-5)


def test_silence_of_the_controller_ends_in_damping(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    processes, words = bridge(), "no joint command for"
    for _ in range(TRIES):
        robot.enable()
        robot.until_next(damps)
        robot.until_next(damps, STAND)
        if words in processes.log("bridge"):
            break
    robot.says(processes, words)
    robot.enable()


def test_a_malformed_command_ends_in_damping(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    processes = bridge()
    robot.enable()
    broken = joint_command_message(STAND, to_stamp(clock.time()))
    broken.joint_names = broken.joint_names[:-1]
    robot.command.publish(broken)
    robot.until_next(damps)
    robot.says(processes, "joint command refused: joints missing")
    robot.until_next(damps, STAND)


def test_a_second_commander_ends_in_damping(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    processes = bridge()
    robot.enable()
    stiff = {"q_des": ROBOT.standing, "kp": np.full(N, 9.0)}
    robot.link.publish(TARGETS_CHANNEL, encode(PD_TAU_TARGETS, stiff))
    robot.until_next(damps)
    robot.says(processes, "somebody else sends torque targets")


def test_own_frames_are_no_strangers_however_late_they_come_back(
    make_node: NodeMaker, link_options: LinkOptions
) -> None:
    port = Parameter("link.port", value=link_options.port)
    stalled = LcmBridgeNode(make_node("stalled", parameter_overrides=[port]))
    for _ in range(1000):
        stalled._send()
    count = 0
    while stalled._link.receive(0.2):
        count += 1
    assert count > 0, "everybody on the link hears everybody"
    assert not stalled._stranger


def test_garbage_from_the_network_does_no_harm(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    processes = bridge()
    robot.enable()
    random = np.random.default_rng(0)
    frame = leg_frame(STATE, robot.layout)
    for size in random.integers(0, 600, 40):
        for data in (random.bytes(size), frame[: size % len(frame)]):
            robot.link.publish(robot.layout.leg_channel, data)
            robot.link.publish(robot.layout.estimate_channel, data)
    robot.says(processes, "frame refused")
    count = len(robot.joints)
    robot.until(lambda: len(robot.joints) > count + 5, STAND)
    processes.check()


def test_damping_is_the_last_word(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    processes = bridge()
    robot.enable()
    processes.signal("bridge", signal.SIGTERM)
    assert processes.wait("bridge", PATIENCE) == 0
    while robot.link.receive(0.2):
        pass
    assert all(map(damps, robot.commands[-5:]))
    assert not all(map(damps, robot.commands))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("link.interface", "nosuch0", "no network interface 'nosuch0'"), ("node.lockstep", True, "use_sim_time")],
)
def test_parameters_that_fit_no_bridge_are_refused(make_node: NodeMaker, name: str, value: object, words: str) -> None:
    with pytest.raises(ContactDdpError, match=words):
        LcmBridgeNode(make_node("refused", parameter_overrides=[Parameter(name, value=value)]))


def test_a_controller_on_the_estimate_says_that_it_waits_for_an_imu_and_damps_without(
    robot: Robot, bridge: Callable[..., KeptNodes], processes: NodeProcesses
) -> None:
    robot.layout = CHEETAH_SOFTWARE
    bridge(node__layout=CHEETAH_SOFTWARE.name)
    processes.start("controller", {"node.state": "imu"})
    stand = robot.node.create_client(Trigger, io.STAND.name)
    assert stand.wait_for_service(PATIENCE)
    robot.sending.set()

    def answer() -> Trigger.Response:
        future = stand.call_async(Trigger.Request())
        robot.executor.spin_until_future_complete(future, timeout_sec=PATIENCE)
        return future.result()

    waits = "inertial unit; the state estimator waits for its samples"
    robot.until(lambda: waits in answer().message)
    robot.imu_on.set()
    robot.until(lambda: answer().success)
    robot.imu_on.clear()
    robot.until(lambda: waits in answer().message)
    assert "damping: " in processes.log("controller")


def test_the_controller_s_side_is_told_what_the_robot_does_instead(
    robot: Robot, bridge: Callable[..., KeptNodes]
) -> None:
    robot.layout = CHEETAH_SOFTWARE
    told: list[String] = []
    subscribe(robot.node, io.EXECUTION, told.append)
    started = bridge(node__layout=CHEETAH_SOFTWARE.name)
    robot.until(lambda: len(told) > 0)
    assert told[-1].data == ""
    robot.enable()

    def tells(words: str, **values: object) -> None:
        """The robot tells this command until the bridge says so."""
        frame = encode(LEG_CONTROL_COMMAND, values)
        count = len(told)

        def said() -> bool:
            robot.link.publish(CHEETAH_SOFTWARE.command_channel, frame)
            return any(words in message.data for message in told[count:])

        robot.until(said, STAND)

    tells("the joints damp instead of following targets", kd_joint=np.full(N, 2.5))
    tells("limp")
    tells("somebody else moves the legs, with 5 N m/rad", q_des=ROBOT.standing, kp_joint=np.full(N, 5.0))
    robot.says(started, "joints at first: fr_hip_joint reads -0.80 rad, -1.23 ± 0.42 expected")


def test_a_stand_waits_for_the_initial_pose_of_the_robot_s_program(
    robot: Robot, bridge: Callable[..., KeptNodes], processes: NodeProcesses
) -> None:
    bridge(use_sim_time=True)
    processes.start("controller", {"use_sim_time": True})
    stand = robot.node.create_client(io.STAND.type, io.STAND.name)
    assert stand.wait_for_service(PATIENCE)
    processes.start_emulator("robot_emulator", {"initial_pose": 10.0, "link.port": robot.parameters["link.port"]})
    answers: list[str] = []
    deadline = clock.monotonic() + PATIENCE
    while not any("somebody else moves the legs" in answer for answer in answers):
        assert clock.monotonic() < deadline, answers
        future = stand.call_async(io.STAND.type.Request())
        robot.executor.spin_until_future_complete(future, timeout_sec=PATIENCE)
        answers.append(future.result().message)
        assert not future.result().success
