"""The link over DDS on this machine: the robot's emulator stands in lock-step, services, strangers, and the handset."""

import os
import time as clock
from collections.abc import Callable, Iterator
from threading import Event, Thread

import numpy as np
import pytest

from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.plants.unitree.config import UnitreeLinkOptions
from contact_ddp_ros.plants.unitree.conventions import Measurement, UnitreeConventions
from contact_ddp_ros.plants.unitree.emulator import UnitreeEmulator, UnitreeEmulatorConfig
from contact_ddp_ros.plants.unitree.link import LOW_CMD_TOPIC, LOW_STATE_TOPIC, UnitreeLink
from contact_ddp_ros.plants.unitree.messages import LOW_CMD, LOW_STATE
from contact_ddp_ros.plants.unitree.motion_service import MotionService
from contact_ddp_ros.plants.unitree.remote import BUTTONS, Handset, read_handset
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import DriveGains, JointCommand

ROBOT = load_robot("go2")
N = ROBOT.n_joints
STIFF = DriveGains(np.full(N, 80.0), np.full(N, 2.0), np.full(N, 2.0))
PATIENCE = 60.0


@pytest.fixture
def options() -> UnitreeLinkOptions:
    """A DDS domain of this process."""
    return UnitreeLinkOptions(domain=100 + os.getpid() % 100)


def until(condition: Callable[[], bool], *links: UnitreeLink) -> None:
    deadline = clock.monotonic() + PATIENCE
    while not condition():
        assert clock.monotonic() < deadline, "nothing happened"
        for link in links:
            link.receive(0.01)


@pytest.fixture
def running() -> Iterator[Callable[[UnitreeEmulator], UnitreeEmulator]]:
    """Runs an emulator in a thread."""
    stop, threads = Event(), []

    def run(emulator: UnitreeEmulator) -> UnitreeEmulator:
        threads.append(Thread(target=emulator.run, args=(stop,)))
        threads[-1].start()
        return emulator

    yield run
    stop.set()
    for thread in threads:
        thread.join(5.0)


class Commander:
    """The bridge's part without ROS: reads states and answers them."""

    def __init__(self, options: UnitreeLinkOptions) -> None:
        self.link, self.conventions = UnitreeLink(options), UnitreeConventions(ROBOT, (0.0, 0.0, 0.0))
        self.measured: Measurement | None = None
        self.link.subscribe(LOW_STATE_TOPIC, LOW_STATE, self._keep)
        self.send = self.link.publisher(LOW_CMD_TOPIC, LOW_CMD)

    def _keep(self, data: bytes) -> None:
        tick = 1e-3 * int(LOW_STATE.decode(data)["tick"])
        self.measured = self.conventions.measurement(data, tick)

    def next(self) -> Measurement:
        self.measured = None
        until(lambda: self.measured is not None, self.link)
        assert self.measured is not None
        return self.measured


def test_the_robot_stands_over_the_link_in_lock_step(
    options: UnitreeLinkOptions, running: Callable[[UnitreeEmulator], UnitreeEmulator]
) -> None:
    config = UnitreeEmulatorConfig(lockstep=True, link=options)
    emulator, commander = UnitreeEmulator(ROBOT, config), Commander(options)
    running(emulator)
    stand = JointCommand(ROBOT.standing, np.zeros(N), np.zeros(N))
    for tick in range(300):
        measured = commander.next()
        assert measured.state.time == pytest.approx(0.002 * tick), "it waits for the answer to each state"
        command = JointCommand.damping(N) if tick < 5 else stand
        commander.send(commander.conventions.command(command, STIFF, measured.state.time))
    assert np.abs(measured.state.joint_positions - ROBOT.standing).max() < 0.1
    assert measured.imu.specific_force[2] == pytest.approx(9.81, abs=0.5)
    assert emulator.malformed == 0


def test_a_damaged_command_is_not_executed(options: UnitreeLinkOptions) -> None:
    emulator, commander = UnitreeEmulator(ROBOT, UnitreeEmulatorConfig(link=options)), Commander(options)
    command = bytearray(commander.conventions.command(JointCommand(ROBOT.standing, np.zeros(N), np.ones(N)), STIFF))
    command[40] ^= 1

    def refused() -> bool:
        commander.send(bytes(command))
        emulator._receive(0.01)
        return emulator.malformed > 0

    until(refused)
    assert emulator._targets is None


def test_the_motion_service_lets_go_and_takes_over(
    options: UnitreeLinkOptions, running: Callable[[UnitreeEmulator], UnitreeEmulator]
) -> None:
    link = UnitreeLink(options)
    service = MotionService(link)
    assert service.active() == "", "there is nobody to ask"
    running(UnitreeEmulator(ROBOT, UnitreeEmulatorConfig(link=options, service="normal")))
    stop = Event()
    listener = Thread(target=lambda: [link.receive(0.05) for _ in iter(stop.is_set, True)])
    listener.start()
    try:
        until(lambda: service.exists)
        assert service.active() == "normal"
        service.release()
        assert service.active() == ""
        service.select("normal")
        assert service.active() == "normal"
    finally:
        stop.set()
        listener.join(5.0)


def test_a_service_that_does_not_answer_is_an_error(options: UnitreeLinkOptions) -> None:
    silent, link = UnitreeLink(options), UnitreeLink(options)
    service, other = MotionService(link, timeout=0.2), MotionService(silent)
    heard: list[object] = []
    silent.subscribe("rt/api/motion_switcher/request", other._request, heard.append)
    until(lambda: service.exists)
    with pytest.raises(LinkError, match=r"has not answered request 1001 for 0\.2 s"):
        service.active()


def test_others_on_a_topic_are_told_from_oneself(options: UnitreeLinkOptions) -> None:
    here, there = UnitreeLink(options), UnitreeLink(options)
    strange: list[bytes] = []
    own, other = (link.publisher(LOW_CMD_TOPIC, LOW_CMD) for link in (here, there))
    here.subscribe(LOW_CMD_TOPIC, LOW_CMD, strange.append, strangers=True)
    assert here.types(LOW_CMD_TOPIC) <= {"unitree_go::msg::dds_::LowCmd_"}
    for _ in range(20):
        own(LOW_CMD.encode(LOW_CMD.new()))
        here.receive(0.01)
    assert not strange

    def heard() -> bool:
        other(LOW_CMD.encode(LOW_CMD.new()))
        return bool(strange)

    until(heard, here)


def test_a_writer_that_leaves_is_no_message(options: UnitreeLinkOptions) -> None:
    here = UnitreeLink(options)
    heard: list[bytes] = []
    here.subscribe(LOW_STATE_TOPIC, LOW_STATE, heard.append)
    there: list[UnitreeLink] = [UnitreeLink(options)]
    send = [there[0].publisher(LOW_STATE_TOPIC, LOW_STATE)]

    def arrived() -> bool:
        send[0](LOW_STATE.encode(LOW_STATE.new()))
        return bool(heard)

    until(arrived, here)
    send.clear()
    there.clear()
    count = len(heard)
    for _ in range(20):
        here.receive(0.05)
    assert len(heard) <= count + 1


def test_an_interface_that_is_not_there_is_named() -> None:
    with pytest.raises(LinkError, match=r"no network interface 'nosuch0'; there are .*lo"):
        UnitreeLink(UnitreeLinkOptions(interface="nosuch0"))


def test_the_robot_has_domain_0_and_a_simulator_on_lo_domain_1() -> None:
    chosen = [UnitreeLinkOptions(one).chosen_domain for one in ("lo", "eth0")]
    assert chosen == [1, 0]


def test_the_handset_reads_as_unitrees_own_reader_has_it() -> None:
    # As wireless_controller.py takes it apart: bits from R1 on in byte 2, from A on in byte 3, floats from byte 4 on.
    data = bytearray(40)
    data[2], data[3] = 0b00100000, 0b00000010
    data[4:8], data[20:24] = np.float32(0.5).tobytes(), np.float32(-1.0).tobytes()
    handset = read_handset(bytes(data))
    assert handset == Handset(frozenset({"L2", "B"}), (0.5, -1.0), (0.0, 0.0))
    everything = Handset(frozenset(BUTTONS), (0.25, 0.5), (-0.75, -1.0))
    assert read_handset(everything.encode()) == everything
    assert not read_handset(bytes(40)).moves
    data[4:8] = np.float32(np.nan).tobytes()
    with pytest.raises(LinkError, match="sticks of the handset"):
        read_handset(bytes(data))
