"""The bridge to Gazebo as a node in its own process, with DART behind Gazebo's topics in this one."""

import os
import signal
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from threading import Event, Thread

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from ros_graph import PATIENCE, NodeMaker, Operator, Watcher
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from contact_ddp_ros.base.errors import GazeboError
from contact_ddp_ros.control.config import DriveConfig
from contact_ddp_ros.plants.dart import DartWorld
from contact_ddp_ros.plants.gazebo.bindings import EMULATOR
from contact_ddp_ros.plants.gazebo.config import Names
from contact_ddp_ros.plants.gazebo.emulator.server import GazeboEmulator
from contact_ddp_ros.plants.gazebo.emulator.transport import EMULATOR_MESSAGES, SocketBus
from contact_ddp_ros.plants.gazebo.sdf import world_sdf
from contact_ddp_ros.plants.gazebo.world_control import ControlProcess, WorldClaim, WorldRequest
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import JointCommand
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import joint_command_message
from contact_ddp_ros.ros.gazebo_bridge_node import GazeboBridgeNode
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.runtime import publisher, subscribe
from contact_ddp_ros.ros.timebase import stamp_ns

ROBOT = load_robot()
NAME = "gazebo_bridge"
STANDING = JointCommand(ROBOT.standing, np.zeros(12), np.zeros(12))


@pytest.fixture(autouse=True)
def partition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gazebo's topics for this process alone."""
    monkeypatch.setenv("GZ_PARTITION", f"node_test_{os.getpid()}")


@pytest.fixture
def server(partition: None) -> Iterator[GazeboEmulator]:
    with serving() as served:
        yield served


@contextmanager
def serving() -> Iterator[GazeboEmulator]:
    stop = Event()
    with SocketBus() as bus:
        served = GazeboEmulator(DartWorld(world_sdf(ROBOT)), bus, EMULATOR_MESSAGES)
        thread = Thread(target=served.run, args=(stop,), daemon=True)
        thread.start()
        yield served
        stop.set()
        thread.join()


@contextmanager
def bridge(environment: dict[str, str], **parameters: object) -> Iterator[NodeProcesses]:
    with NodeProcesses(environment) as processes:
        options = {f"node.{name}": value for name, value in parameters.items()}
        processes.start(NAME, {"node.release": EMULATOR, **options})
        yield processes


class Commander(Watcher):
    """Answers every state with a command, where it is told to."""

    def __init__(self, make_node: NodeMaker, executor: SingleThreadedExecutor) -> None:
        super().__init__(make_node, executor)
        self.command_of: Callable[[JointState], JointCommand | None] = lambda _state: None
        self.joints: list[JointState] = []
        self.joint_stamps: list[int] = []
        self.last: Odometry | None = None
        subscribe(self.node, io.JOINT_STATES, self._on_joints)
        subscribe(self.node, io.ODOM, self._keep)

    def spin(self, duration: float) -> None:
        """Answer states for `duration` [s] of the wall clock."""
        end = clock.monotonic() + duration
        self.until(lambda: clock.monotonic() >= end)

    def _keep(self, message: Odometry) -> None:
        self.last = message

    def _on_joints(self, message: JointState) -> None:
        self.joints.append(message)
        self.joint_stamps.append(stamp_ns(message.header.stamp))
        command = self.command_of(message)
        if command is not None:
            self.command.publish(joint_command_message(command, message.header.stamp))


def test_in_lock_step_every_state_waits_for_its_command(
    server: GazeboEmulator, loopback: dict[str, str], make_node: NodeMaker, executor: SingleThreadedExecutor
) -> None:
    with bridge(loopback, lockstep=True) as processes:
        commander = Commander(make_node, executor)
        commander.until(lambda: len(commander.joints) > 1)
        first = commander.joint_stamps[0]
        assert commander.joint_stamps[-1] == first, "nobody has answered"
        assert commander.call(io.PAUSE, SetBool.Request(data=True)).success
        for _ in range(3):
            assert commander.call(io.STEP, Trigger.Request()).success
        assert commander.call(io.PAUSE, SetBool.Request(data=False)).success
        assert commander.call(io.PAUSE, SetBool.Request(data=True)).success
        commander.command_of = lambda _state: STANDING
        commander.spin(0.5)
        assert commander.joint_stamps[-1] == first, "steps that nobody has used do not slip into the next pause"
        assert commander.call(io.STEP, Trigger.Request()).success
        commander.until(lambda: commander.joint_stamps[-1] == first + 2_000_000)
        assert commander.call(io.PAUSE, SetBool.Request(data=False)).success
        commander.until(lambda: commander.joint_stamps[-1] > first + 100_000_000)
        assert set(np.diff(sorted(set(commander.joint_stamps)))) == {2_000_000}
        assert commander.heights[-1] > 0.25
        assert commander.last is not None
        assert (commander.last.header.frame_id, commander.last.child_frame_id) == ("odom", "base_link")
        before = commander.joint_stamps[-1]
        assert commander.call(io.RESET, Trigger.Request()).success, "also while it waits for a command"
        commander.until(lambda: commander.joint_stamps[-1] > before + 100_000_000)
        commander.command_of = lambda _state: None
        processes.signal(NAME, signal.SIGTERM)
        assert processes.wait(NAME, PATIENCE) == 0
        assert "Traceback" not in processes.log(NAME)
    assert (server.efforts == 0.0).all()


def test_in_steps_time_goes_on_without_answers_and_obeys_services_pushes_and_somebody_else(
    loopback: dict[str, str], make_node: NodeMaker, executor: SingleThreadedExecutor
) -> None:
    """A server that is slower to start is waited for; a bridge that is started again takes commands at once."""
    commander = Commander(make_node, executor)
    with bridge(loopback, start_paused=True) as processes:
        commander.until(lambda: "no server" in processes.log(NAME))
        with serving():
            obeys_services(commander, processes)
            obeys_pushes(commander, processes)
            goes_on_after_somebody_else(commander, processes)
            commander.command_of = lambda _state: None
            commander.until(lambda: "the drives damp" in processes.log(NAME))
            processes.signal(NAME, signal.SIGKILL)
            processes.wait(NAME, PATIENCE)
            with bridge(loopback) as again:
                takes_commands_at_once_and_none_of_before(commander, again)


def obeys_services(commander: Commander, processes: NodeProcesses) -> None:
    commander.until(lambda: len(commander.joints) > 1)
    held = commander.joint_stamps[-1]
    assert commander.joint_stamps[0] == held
    for count in (1, 2):
        assert commander.call(io.STEP, Trigger.Request()).success
        commander.until(lambda count=count: commander.joint_stamps[-1] == held + count * 2_000_000)
    assert commander.call(io.PAUSE, SetBool.Request(data=False)).success
    commander.until(lambda: commander.joint_stamps[-1] > held + 50_000_000)
    assert "the drives damp" not in processes.log(NAME), "there has been no command yet to miss"
    assert commander.call(io.RESET, Trigger.Request()).success
    commander.command_of = lambda _state: STANDING
    before = commander.joint_stamps[-1]
    commander.until(lambda: commander.joint_stamps[-1] > before + 200_000_000)
    assert commander.heights[-1] > 0.25
    steps = np.diff(commander.joint_stamps)
    assert steps.min() >= 0
    assert np.count_nonzero(steps % 2_000_000) <= 1, "whole periods, but for the reset"


def obeys_pushes(commander: Commander, processes: NodeProcesses) -> None:
    push = publisher(commander.node, io.PUSH)
    upwards = WrenchStamped()
    upwards.wrench.force.z = 4.0 * 9.81 * ROBOT.mass

    def lifted() -> bool:
        push.publish(upwards)
        return commander.heights[-1] > ROBOT.standing_height() + 0.1

    commander.until(lifted)
    turned = WrenchStamped()
    turned.wrench.torque.z = 1.0
    commander.until(lambda: push.publish(turned) or "push refused" in processes.log(NAME))


def goes_on_after_somebody_else(commander: Commander, processes: NodeProcesses) -> None:
    """Pauses and resets by the buttons of Gazebo's window."""
    with ControlProcess(EMULATOR, Names()) as somebody:
        somebody.ask(WorldRequest(pause=True))
        paused = commander.joint_stamps[-1]
        commander.until(lambda: commander.joint_stamps[-1] > paused + 50_000_000)
        while "somebody has reset" not in processes.log(NAME):
            somebody.ask(WorldRequest(pause=True, reset=True))
            commander.spin(0.5)
    reset = commander.joint_stamps[-1]
    commander.until(lambda: commander.joint_stamps[-1] > reset + 200_000_000)
    assert commander.heights[-1] > 0.2
    assert np.diff(commander.joint_stamps).min() >= 0
    processes.check()


def takes_commands_at_once_and_none_of_before(commander: Commander, processes: NodeProcesses) -> None:
    old = commander.joints[-1].header.stamp
    commander.joints.clear()
    commander.joint_stamps.clear()
    stand_tall = JointCommand(ROBOT.standing + 0.3, np.zeros(12), np.zeros(12))

    def insist() -> bool:
        commander.command.publish(joint_command_message(stand_tall, old))
        return "is left out" in processes.log(NAME)

    commander.until(insist)
    commander.until(lambda: len(commander.joints) > 10)
    assert commander.joint_stamps[-1] < stamp_ns(old)
    assert not driven(commander.joints), "the drives damp"
    commander.joints.clear()
    commander.command_of = lambda _state: STANDING
    commander.until(lambda: driven(commander.joints))
    assert commander.joint_stamps[-1] < stamp_ns(old), "at once, not when that time has come"


def driven(states: list[JointState]) -> bool:
    """True if the drives do anything else than damp from one state to the next."""
    for before, after in pairwise(states):
        if stamp_ns(after.header.stamp) - stamp_ns(before.header.stamp) == 2_000_000:
            damping = -DriveConfig().gains(4).kd_damping * np.array(before.velocity)
            if not np.allclose(after.effort, damping, atol=1e-6):
                return True
    return False


def is_up(watcher: Watcher) -> bool:
    return watcher.heights[-1] > 0.9 * ROBOT.standing_height()


def has_damped(events: list[tuple[str, str]]) -> bool:
    return any(mode == "damp" and reason for mode, reason in events)


@pytest.mark.parametrize("lockstep", [True, False])
def test_the_controller_may_share_its_process(
    lockstep: bool,
    server: GazeboEmulator,
    loopback: dict[str, str],
    make_node: NodeMaker,
    executor: SingleThreadedExecutor,
) -> None:
    """States and commands are handed over within the process; the robot stands up from its belly."""
    pace, both = {"node.lockstep": lockstep}, f"{NAME} + controller"
    own = {NAME: {"node.release": EMULATOR, **pace}}
    own["controller"] = {"use_sim_time": True, "stand.ramp_time": 0.5, **pace}
    with NodeProcesses(loopback) as processes:
        processes.start_composed(NAME, own)
        watcher = Watcher(make_node, executor)
        watcher.until(lambda: bool(watcher.heights) and watcher.heights[-1] < 0.5 * ROBOT.standing_height())
        operator = Operator(make_node, executor)
        accepted, reason = operator.tell(io.STAND)
        assert accepted, reason
        operator.until(lambda: is_up(watcher) or has_damped(operator.events))
        assert is_up(watcher), operator.events
        if lockstep:
            assert not np.any(np.diff(watcher.stamps) % 2_000_000), "whole periods"
        processes.signal(both, signal.SIGTERM)
        assert processes.wait(both, PATIENCE) == 0
        assert "Traceback" not in processes.log(both)
    assert (server.efforts == 0.0).all()


def test_a_second_bridge_of_one_world_and_one_without_gazebos_bindings_are_refused(make_node: NodeMaker) -> None:
    def made(release: str) -> GazeboBridgeNode:
        return GazeboBridgeNode(make_node(NAME, parameter_overrides=[Parameter("node.release", value=release)]))

    with WorldClaim(Names()), pytest.raises(GazeboError, match=f"process {os.getpid()} drives"):
        made(EMULATOR)
    with pytest.raises(GazeboError, match="python3-gz-transport13"):
        made("harmonic")


def test_it_ends_on_request_while_it_waits_for_a_server(loopback: dict[str, str]) -> None:
    with bridge(loopback) as processes:
        while "no server" not in processes.log(NAME):
            processes.check()
            clock.sleep(0.05)
        processes.signal(NAME, signal.SIGINT)
        assert processes.wait(NAME, PATIENCE) == 0
        assert "Traceback" not in processes.log(NAME)
