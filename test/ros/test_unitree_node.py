"""The bridge to a robot of Unitree as a process: states in, motor commands out, damping at every exit."""

import gc
import signal
import time as clock
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist
from rclpy.executors import SingleThreadedExecutor
from ros_graph import GUARD, PATIENCE, KeptNodes, NodeMaker, PlayedRobot
from std_srvs.srv import Trigger

from contact_ddp_ros.plants.unitree.config import UnitreeLinkOptions
from contact_ddp_ros.plants.unitree.conventions import UnitreeConventions
from contact_ddp_ros.plants.unitree.link import LOW_CMD_TOPIC, LOW_STATE_TOPIC, UnitreeLink
from contact_ddp_ros.plants.unitree.messages import LOW_CMD, LOW_STATE, Struct, checksum
from contact_ddp_ros.plants.unitree.motion_service import MotionServiceEmulator
from contact_ddp_ros.plants.unitree.remote import Handset
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import DriveGains, ImuSample, JointCommand
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import from_stamp
from contact_ddp_ros.ros.demo import run_demo
from contact_ddp_ros.ros.runtime import subscribe
from contact_ddp_ros.runs.options import SENSOR_ERRORS, RunOptions
from contact_ddp_ros.runs.recording import CONTROL_MODES, Recorder

ROBOT = load_robot("go2")
N = ROBOT.n_joints
STATE = ROBOT.standing_state()
STAND = JointCommand(ROBOT.standing + 0.05, np.zeros(N), np.ones(N))
DAMPING = JointCommand.damping(N)
PARAMETERS = {
    **GUARD,
    "guard.state_timeout": 0.5,
    "imu_place.x": 0.0,
    "imu_place.z": 0.0,
    "remote.deadman": "R1",
    "remote.forward": 1.5,
}
GAINS = DriveGains(np.full(N, 40.0), np.full(N, 1.0), np.full(N, 2.0))


class Robot(PlayedRobot):
    """A Go2 on its DDS domain."""

    name, stand = "unitree", STAND

    def __init__(self, make_node: NodeMaker, executor: SingleThreadedExecutor, options: UnitreeLinkOptions) -> None:
        super().__init__(make_node, executor)
        self.options, self.link = options, UnitreeLink(options)
        self.parameters = {**PARAMETERS, "link.domain": options.domain}
        self.conventions = UnitreeConventions(ROBOT, (0.0, 0.0, 0.0))
        self.link.subscribe(LOW_CMD_TOPIC, LOW_CMD, lambda data: self.commands.append(LOW_CMD.decode(data)))
        self._tell = self.link.publisher(LOW_STATE_TOPIC, LOW_STATE)
        self.changes: dict[str, Any] = {}
        self.handset, self.time = Handset(), 0.0
        self.speeds: list[Twist] = []
        self.executions: list[str] = []
        self.reports: list[str] = []
        self.heard += [self.speeds, self.executions, self.reports]
        subscribe(self.node, io.CMD_VEL, self.speeds.append)
        subscribe(self.node, io.EXECUTION, lambda message: self.executions.append(message.data))
        subscribe(self.node, io.DIAGNOSTICS, self._on_report)
        self.begin(self._speak, self._listen)

    @staticmethod
    def damps(command: Any) -> bool:
        motors = command["motor_cmd"]
        return not (motors["kp"].any() or motors["tau"].any())

    def begin_anew(self) -> None:
        self.changes, self.handset = {}, Handset()
        super().begin_anew()

    def _on_report(self, message: DiagnosticArray) -> None:
        self.reports += [one.message for one in message.status if one.name == "/unitree"]

    def _speak(self) -> None:
        while not self.ended.wait(0.005):
            if self.sending.is_set():
                self.time += 0.005
                sample = ImuSample(self.time, np.zeros(3), np.array([0.0, 0.0, 9.81]))
                data = self.conventions.state(STATE, np.linspace(-5.0, 5.0, N), sample, self.handset.encode())
                record = LOW_STATE.decode(data)
                record["tick"] = round(200 * self.time)  # of a simulator at a fifth of real time
                for name, value in self.changes.items():
                    part, _, field = name.partition("__")
                    if field:
                        record[part][field] = value
                    else:
                        record[part] = value
                record["crc"] = self.changes.get("crc", checksum(record))
                self._tell(LOW_STATE.encode(record))

    def _listen(self) -> None:
        while not self.ended.is_set():
            self.link.receive(0.05)

    def call(self, name: str) -> Trigger.Response:
        """Answer of a service."""
        client = self.node.create_client(Trigger, name)
        assert client.wait_for_service(PATIENCE)
        future = client.call_async(Trigger.Request())
        self.executor.spin_until_future_complete(future, timeout_sec=PATIENCE)
        return future.result()


damps = Robot.damps


@pytest.fixture(scope="module")
def lasting_robot(
    make_lasting_node: NodeMaker, lasting_executor: SingleThreadedExecutor, loopback: dict[str, str]
) -> Iterator[Robot]:
    options = UnitreeLinkOptions(domain=100 + int(loopback["ROS_DOMAIN_ID"]))
    made = Robot(make_lasting_node, lasting_executor, options)
    yield made
    made.close()


def test_a_humanoid_is_refused_by_the_name_of_its_messages(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    humanoid = UnitreeLink(robot.options)
    tell = humanoid.publisher(LOW_STATE_TOPIC, Struct("unitree_hg.msg.dds_.LowState_", (("tick", "<u4", 0),)))
    bridge()
    robot.until(lambda: any("unitree_hg::msg::dds_::LowState_; allowed" in one for one in robot.reports))
    assert tell is not None and not robot.joints
    del tell, humanoid
    gc.collect()  # the next test's node is to see the Go2 alone


def test_a_go2_stands_and_bounds_over_unitrees_messages_on_its_imu() -> None:
    overrides = {"controller.stand.ramp_time": 0.2, "unitree.guard.soft_start": 0.1, **SENSOR_ERRORS}
    options = RunOptions(duration=2.7, backend="unitree", overrides=overrides, speed=((0.0, 0.5),))
    recording = run_demo(options, Recorder())
    ticks = recording.ticks
    np.testing.assert_allclose(np.diff(ticks["time"]), 0.002, atol=1e-9)
    modes = [CONTROL_MODES[index].lower() for index in ticks["control_mode"]]
    assert modes.count("move") > 700
    assert not [event for event in recording.events if event.fault]
    late = ticks["time"] > 1.6
    way = np.diff(ticks["position"][late][[0, -1], 0])[0]
    assert way / np.ptp(ticks["time"][late]) == pytest.approx(0.5, rel=0.06), "by the emulator's truth"


def test_states_come_with_unitrees_conventions_turned_into_ours(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    bridge()
    began = clock.time()
    robot.sending.set()
    robot.until(lambda: len(robot.joints) > 20 and len(robot.imu) > 20)
    stamps = [from_stamp(message.header.stamp) for message in robot.joints]
    assert min(stamps) > began and (np.diff(stamps) > 0.0).all()
    np.testing.assert_allclose(robot.joints[-1].position, STATE.joint_positions, atol=1e-6)
    np.testing.assert_allclose(robot.joints[-1].effort, np.linspace(-5.0, 5.0, N), atol=1e-6)
    assert robot.imu[-1].linear_acceleration.z == pytest.approx(9.81, abs=1e-5)


def test_it_damps_unasked_and_follows_who_has_damped(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    bridge()
    robot.enable()
    motors = robot.commands[-1]["motor_cmd"][:N]
    expected = UnitreeConventions(ROBOT, (0.0, 0.0, 0.0)).commanded(LOW_CMD.encode(robot.commands[-1]))[0]
    assert expected.positions is not None and motors["kp"].all()
    np.testing.assert_allclose(expected.positions, STAND.positions, atol=1e-6)
    assert int(robot.commands[-1]["crc"]) == checksum(robot.commands[-1])


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "hot motor": (
        {"motor_state__temperature": np.where(np.arange(20) == 5, 90, 30)},
        "the motor FL_calf_joint has 90 °C",
    ),
    "damaged": ({"crc": 7}, "no robot state for"),
    "silent": ({}, "no robot state for"),
    "stop of the handset": ({}, "the handset's stop, L2 and B"),
    "second commander": ({}, "somebody else sends motor commands, too"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_in_damping_until_the_controller_damps_too(
    robot: Robot, bridge: Callable[..., KeptNodes], fault: str
) -> None:
    started = bridge()
    robot.enable()
    changes, words = FAULTS[fault]
    since = len(started.log("unitree"))
    robot.changes = changes
    if fault == "silent":
        robot.sending.clear()
    if fault == "stop of the handset":
        robot.handset = Handset(frozenset({"L2", "B"}))
    if fault == "second commander":
        other = UnitreeLink(robot.options).publisher(LOW_CMD_TOPIC, LOW_CMD)
        deadline = clock.monotonic() + PATIENCE
        while words not in started.log("unitree")[since:] and clock.monotonic() < deadline:
            other(robot.conventions.command(STAND, GAINS))
            robot.until(lambda: True, STAND)
    robot.says(started, words, STAND, since)
    robot.until_next(damps, STAND)
    robot.changes, robot.handset = {}, Handset()
    robot.sending.set()
    count = len(robot.commands)
    robot.until(lambda: len(robot.commands) > count + 20, STAND)
    assert all(map(damps, robot.commands[count + 5 :])), "a trip is latched"
    robot.enable()


def test_sticks_drive_while_the_deadmans_button_is_held(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    bridge()
    robot.handset = Handset(left=(0.0, 0.5))
    robot.sending.set()
    robot.until(lambda: len(robot.joints) > 100)
    assert not robot.speeds
    robot.handset = Handset(frozenset({"R1"}), (-1.0, 0.5), (0.5, 0.0))
    robot.until(lambda: len(robot.speeds) > 0 and robot.speeds[-1].linear.x == 0.75)
    assert (robot.speeds[-1].linear.y, robot.speeds[-1].angular.z) == (0.5, -0.5)
    robot.handset = Handset(left=(0.0, 0.5))
    robot.until(lambda: robot.speeds[-1].linear.x == 0.0)


def test_buttons_ask_the_controller(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    asked: list[str] = []

    def answer(name: str) -> Callable[[Trigger.Request, Trigger.Response], Trigger.Response]:
        def answered(_request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            asked.append(name)
            response.success, response.message = False, "not now"
            return response

        return answered

    asks = (io.STAND, io.MOVE, io.RECOVER)
    served = [robot.node.create_service(one.type, one.name, answer(one.name)) for one in asks]
    started = bridge()
    robot.sending.set()
    robot.until(lambda: len(robot.joints) > 0)
    for buttons, name in (({"select"}, "stand"), ({"start"}, "move"), ({"L1", "start"}, "recover")):
        asked.clear()

        def pressed(buttons: set[str] = buttons) -> bool:
            robot.handset = Handset() if robot.handset.buttons else Handset(frozenset(buttons))
            deadline = clock.monotonic() + 0.3
            robot.until(lambda: bool(asked) or clock.monotonic() > deadline)
            return bool(asked)

        robot.until(pressed)
        assert asked[0] == name
    robot.says(started, "asked by the handset: not now")
    for service in served:
        robot.node.destroy_service(service)


def test_an_empty_battery_keeps_the_robot_down_and_is_told(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    bridge()
    robot.changes = {"bms_state__soc": 5}
    robot.sending.set()
    robot.until(lambda: any("the battery has 5 %" in one for one in robot.reports), DAMPING)
    count = len(robot.commands)
    robot.until(lambda: len(robot.commands) > count + 20, DAMPING)
    robot.until(lambda: len(robot.commands) > count + 60, STAND)
    assert all(map(damps, robot.commands[count:]))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_damping_is_the_last_word(robot: Robot, bridge: Callable[..., KeptNodes], number: int) -> None:
    started = bridge()
    robot.enable()
    before = len(robot.commands)
    started.signal("unitree", number)
    started.wait("unitree", PATIENCE)
    robot.until(lambda: len(robot.commands) > before and damps(robot.commands[-1]))
    first = next(index for index, one in enumerate(robot.commands) if damps(one) and index >= before)
    robot.until(lambda: len(robot.commands) > first + 20)
    count = 0
    while count < len(robot.commands):  # the helper of a killed node goes on for a while
        count = len(robot.commands)
        clock.sleep(0.5)
    assert all(map(damps, robot.commands[first:]))


def test_a_slow_simulator_is_sent_commands_at_its_own_pace(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    """A command every 2 ms is two states' time here, and at the pace of the wall clock two fifths of one."""
    bridge(use_sim_time=True)
    robot.sending.set()
    robot.until(lambda: len(robot.joints) > 250 and len(robot.commands) > 0)
    robot.commands.clear()
    begun = robot.time
    robot.until(lambda: robot.time > begun + 1.0)
    assert 10 < len(robot.commands) < 200


def test_nothing_is_sent_while_the_robots_own_service_moves_it(robot: Robot, bridge: Callable[..., KeptNodes]) -> None:
    service = MotionServiceEmulator(robot.link, "normal")
    bridge()
    robot.sending.set()
    robot.until(lambda: any("motion service 'normal' moves it" in one for one in robot.executions))
    robot.commands.clear()
    robot.until(lambda: len(robot.joints) > 50, STAND)
    assert not robot.commands
    robot.changes = {"motor_state__dq": np.where(np.arange(20) == 3, 2.0, 0.0)}
    clock.sleep(0.2)
    refused = robot.call("motion_service/release")
    assert not refused.success and "must lie or stand still" in refused.message
    robot.changes = {}
    robot.until(lambda: robot.call("motion_service/release").success)
    assert service.mode == ""
    robot.until_next(damps)
    robot.until(lambda: robot.executions[-1] == "")
    robot.until(lambda: robot.call("motion_service/restore").success)
    assert service.mode == "normal"
    clock.sleep(0.2)
    robot.commands.clear()
    robot.until(lambda: len(robot.reports) > 0 and "'normal'" in robot.reports[-1], STAND)
    assert not robot.commands
    del service
