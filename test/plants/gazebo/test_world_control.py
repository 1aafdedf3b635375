"""The helper that makes requests in its own process, and has the last word however we end; the world's lock."""

import os
import signal
import subprocess
import sys
import time as clock
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from plants.gazebo.scripted import GAINS

from contact_ddp_ros.base.errors import GazeboError
from contact_ddp_ros.plants.dart import DartWorld
from contact_ddp_ros.plants.gazebo.bindings import EMULATOR
from contact_ddp_ros.plants.gazebo.bridge import GazeboBridge
from contact_ddp_ros.plants.gazebo.config import BridgeConfig, Names
from contact_ddp_ros.plants.gazebo.emulator.server import GazeboEmulator
from contact_ddp_ros.plants.gazebo.emulator.transport import EMULATOR_MESSAGES, SocketBus, SocketNode
from contact_ddp_ros.plants.gazebo.sdf import world_sdf
from contact_ddp_ros.plants.gazebo.transport import load_bindings
from contact_ddp_ros.plants.gazebo.world_control import ControlProcess, WorldClaim, WorldRequest
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import JointCommand

ROBOT = load_robot()
PATIENCE = 60.0

OWNER = """
import sys
from contact_ddp_ros.plants.gazebo.world_control import WorldClaim
from contact_ddp_ros.plants.gazebo.config import Names
claim = WorldClaim(Names(world=sys.argv[1]))
print("claimed", flush=True)
sys.stdin.read()
"""

KILLED_BRIDGE = """
import os, signal, sys
import numpy as np
from contact_ddp_ros.plants.gazebo.efforts import Efforts
from contact_ddp_ros.plants.gazebo.config import Names
from contact_ddp_ros.plants.gazebo.bindings import EMULATOR
from contact_ddp_ros.plants.gazebo.transport import load_bindings
from contact_ddp_ros.plants.gazebo.world_control import ControlProcess
bindings = load_bindings(EMULATOR)
control = ControlProcess(EMULATOR, Names())
Efforts(bindings, Names(), bindings.node()).send(np.full(12, 5.0))
print("sent", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[GazeboEmulator]:
    """An emulator that other processes of this test's partition reach."""
    monkeypatch.setenv("GZ_PARTITION", f"test_{os.getpid()}")
    stop = Event()
    with SocketBus() as bus:
        served = GazeboEmulator(DartWorld(world_sdf(ROBOT)), bus, EMULATOR_MESSAGES, real_time=False)
        thread = Thread(target=served.run, args=(stop,), daemon=True)
        thread.start()
        yield served
        stop.set()
        thread.join()


def until(condition: Callable[[], bool]) -> None:
    deadline = clock.monotonic() + PATIENCE
    while not condition():
        assert clock.monotonic() < deadline, "nothing happened"
        clock.sleep(0.01)


def test_requests_move_the_world_of_another_process(server: GazeboEmulator) -> None:
    with ControlProcess(EMULATOR, Names()) as control:
        control.ask(WorldRequest(pause=True, steps=3))
        until(lambda: server.world.stamp == 3_000_000)
        control.ask(WorldRequest(pause=True, reset=True))
        until(lambda: server.world.stamp == 0)
        control.ask(WorldRequest(pause=False))
        until(lambda: server.world.stamp > 10_000_000)


def test_what_fails_is_told_and_the_helper_lives_on(server: GazeboEmulator) -> None:
    with ControlProcess(EMULATOR, Names(world="elsewhere")) as control:
        for _ in range(2):
            with pytest.raises(GazeboError, match="/world/elsewhere/control"):
                control.ask(WorldRequest(pause=True), timeout=0.1)


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next(
    server: GazeboEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ControlProcess(EMULATOR, Names(world="elsewhere")) as control:
        os.kill(control.pid, signal.SIGSTOP)
        monkeypatch.setattr("contact_ddp_ros.plants.gazebo.world_control._PATIENCE", 0.0)
        with pytest.raises(GazeboError, match="does not answer in time"):
            control.ask(WorldRequest(pause=True), timeout=0.07)
        os.kill(control.pid, signal.SIGCONT)
        monkeypatch.setattr("contact_ddp_ros.plants.gazebo.world_control._PATIENCE", PATIENCE)
        with pytest.raises(GazeboError, match=r"within 0\.03 s"):
            control.ask(WorldRequest(pause=True), timeout=0.03)


def test_a_helper_without_bindings_says_so() -> None:
    with pytest.raises(GazeboError, match=r"allowed: .*emulator"):
        ControlProcess("fortress", Names())


def test_a_bridge_between_processes_moves_the_robot_and_leaves_it_limp(server: GazeboEmulator) -> None:
    bindings = load_bindings(EMULATOR)
    config = BridgeConfig(settle=False)
    with GazeboBridge(ROBOT, GAINS, bindings, ControlProcess(EMULATOR, Names()), config) as bridge:
        bridge.start()
        for _ in range(5):
            bridge.write(JointCommand(ROBOT.standing, np.zeros(12), np.zeros(12)))
            bridge.advance(2)
            state = bridge.state
        assert state.time == pytest.approx(0.013)
        np.testing.assert_allclose(state.joint_positions, server.world.joint_positions)
        np.testing.assert_allclose(state.position, server.world.position, atol=2e-6)
        assert np.abs(server.efforts).max() > 1.0
    until(lambda: bool((server.efforts == 0.0).all()))


def test_a_killed_bridge_leaves_zero_effort(server: GazeboEmulator) -> None:
    root = str(Path(__file__).resolve().parents[3])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    bridge = subprocess.Popen(
        [sys.executable, "-c", KILLED_BRIDGE],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert bridge.stdout is not None
        assert bridge.stdout.readline() == b"sent\n"
        until(lambda: bool((server.efforts == 5.0).all()))
    finally:
        bridge.send_signal(signal.SIGKILL)
        bridge.wait()
    until(lambda: bool((server.efforts == 0.0).all()))


def test_two_emulators_do_not_share_a_partition(server: GazeboEmulator) -> None:
    with pytest.raises(GazeboError, match="GZ_PARTITION"):
        SocketBus()


def test_a_node_finds_a_server_that_comes_later_and_again_when_it_has_been_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GZ_PARTITION", f"later_{os.getpid()}")
    double, heard = EMULATOR_MESSAGES.Double, Event()
    node = SocketNode()
    publisher = node.advertise("/there", double)
    assert node.subscribe(double, "/back", lambda _message: heard.set())
    assert not node.request("/ask", double(), double, double, 50)[0]
    for _ in range(2):
        with SocketBus() as bus:
            bus.subscribe("/there", lambda message, bus=bus: bus.publish("/back", message))
            bus.serve("/ask", double, lambda question: question)
            heard.clear()
            until(lambda: publisher.publish(double()) and heard.wait(0.05))
            assert node.request("/ask", double(), double, double, 10_000)[0]


def test_a_world_has_one_bridge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GZ_PARTITION", f"claim_{os.getpid()}")
    with WorldClaim(Names()):
        with pytest.raises(GazeboError, match=rf"process {os.getpid()} .*'contact_ddp'.*GZ_PARTITION"):
            WorldClaim(Names(), patience=0.0)
        WorldClaim(Names(world="elsewhere")).release()
        monkeypatch.setenv("GZ_PARTITION", f"claim_{os.getpid()}_other")
        WorldClaim(Names()).release()
        monkeypatch.setenv("GZ_PARTITION", f"claim_{os.getpid()}")
    WorldClaim(Names(), patience=0.0).release()


def test_a_killed_bridge_leaves_its_world_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GZ_PARTITION", f"claim_{os.getpid()}")
    root = str(Path(__file__).resolve().parents[3])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-c", OWNER, "killed"]
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        try:
            assert owner.stdout is not None
            assert owner.stdout.readline() == b"claimed\n"
            with pytest.raises(GazeboError, match=f"process {owner.pid}"):
                WorldClaim(Names(world="killed"), patience=0.0)
        finally:
            owner.send_signal(signal.SIGKILL)
            owner.wait()
    WorldClaim(Names(world="killed"), patience=0.0).release()
