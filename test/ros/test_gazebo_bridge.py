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
from ros_graph import PATIENCE, NodeMaker, Operator, Watcher
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

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
from contact_ddp_ros.ros.conversions import from_stamp, joint_command_message
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.runtime import publisher, subscribe
from contact_ddp_ros.ros.timebase import stamp_ns

ROBOT = load_robot()
NAME = "gazebo_bridge"
STANDING = JointCommand(ROBOT.standing, np.zeros(12), np.zeros(12))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[GazeboEmulator]:
    monkeypatch.setenv("GZ_PARTITION", f"node_test_{os.getpid()}")
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
    variables = {**environment, "GZ_PARTITION": os.environ["GZ_PARTITION"]}
    with NodeProcesses(variables) as processes:
        options = {f"node.{name}": value for name, value in parameters.items()}
        processes.start(NAME, {"node.release": EMULATOR, **options})
        yield processes


class Commander(Watcher):
    """Answers every state with a command, where it is told to."""

    def __init__(self, make_node: NodeMaker, executor: SingleThreadedExecutor) -> None:
        super().__init__(make_node, executor)
        self.command_of: Callable[[JointState], JointCommand | None] = lambda _state: None
        self.joints: list[JointState] = []
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
        command = self.command_of(message)
        if command is not None:
            self.command.publish(joint_command_message(command, message.header.stamp))


def test_in_lock_step_every_state_waits_for_its_command(
    server: GazeboEmulator, loopback: dict[str, str], make_node: NodeMaker, executor: SingleThreadedExecutor
) -> None:
    with bridge(loopback, lockstep=True) as processes:
        commander = Commander(make_node, executor)
        commander.until(lambda: len(commander.joints) > 1)
        first = from_stamp(commander.joints[0].header.stamp)
        assert from_stamp(commander.joints[-1].header.stamp) == first, "nobody has answered"
        commander.command_of = lambda _state: STANDING
        commander.until(lambda: from_stamp(commander.joints[-1].header.stamp) > first + 0.1)
        stamps = sorted({stamp_ns(message.header.stamp) for message in commander.joints})
        assert set(np.diff(stamps)) == {2_000_000}
        assert commander.heights[-1] > 0.25
        assert commander.last is not None
        assert (commander.last.header.frame_id, commander.last.child_frame_id) == ("odom", "base_link")
        before = stamps[-1]
        assert commander.call(io.RESET, Trigger.Request()).success, "also while it waits for a command"
        commander.until(lambda: stamp_ns(commander.joints[-1].header.stamp) > before + 100_000_000)
        commander.command_of = lambda _state: None
        processes.signal(NAME, signal.SIGTERM)
        assert processes.wait(NAME, PATIENCE) == 0
        assert "Traceback" not in processes.log(NAME)
    assert (server.efforts == 0.0).all()


def test_in_steps_time_goes_on_without_answers_and_obeys_services(
    server: GazeboEmulator, loopback: dict[str, str], make_node: NodeMaker, executor: SingleThreadedExecutor
) -> None:
    with bridge(loopback, start_paused=True) as processes:
        commander = Commander(make_node, executor)
        commander.until(lambda: len(commander.joints) > 1)
        held = stamp_ns(commander.joints[-1].header.stamp)
        assert stamp_ns(commander.joints[0].header.stamp) == held
        for count in (1, 2):
            assert commander.call(io.STEP, Trigger.Request()).success
            commander.until(lambda count=count: stamp_ns(commander.joints[-1].header.stamp) == held + count * 2_000_000)
        assert commander.call(io.PAUSE, SetBool.Request(data=False)).success
        commander.until(lambda: stamp_ns(commander.joints[-1].header.stamp) > held + 50_000_000)
        assert "the drives damp" not in processes.log(NAME), "there has been no command yet to miss"
        assert commander.call(io.RESET, Trigger.Request()).success
        commander.command_of = lambda _state: STANDING
        before = stamp_ns(commander.joints[-1].header.stamp)
        commander.until(lambda: stamp_ns(commander.joints[-1].header.stamp) > before + 200_000_000)
        assert commander.heights[-1] > 0.25
        stamps = np.array([stamp_ns(message.header.stamp) for message in commander.joints])
        assert np.diff(stamps).min() >= 0
        moving = np.diff(stamps)[np.diff(stamps) > 0]
        assert np.count_nonzero(moving % 2_000_000) <= 1, "whole periods, but for the reset"
        commander.command_of = lambda _state: None
        commander.until(lambda: "the drives damp" in processes.log(NAME))
        processes.signal(NAME, signal.SIGINT)
        assert processes.wait(NAME, PATIENCE) == 0
        assert "Traceback" not in processes.log(NAME)
    assert (server.efforts == 0.0).all()


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
    own = {"node.release": EMULATOR, **pace}
    with NodeProcesses({**loopback, "GZ_PARTITION": os.environ["GZ_PARTITION"]}) as processes:
        processes.start_composed(NAME, {NAME: own, "controller": {"use_sim_time": True, **pace}})
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


def test_pauses_and_resets_by_somebody_else_do_not_end_it(
    server: GazeboEmulator, loopback: dict[str, str], make_node: NodeMaker, executor: SingleThreadedExecutor
) -> None:
    """As when somebody uses the buttons of Gazebo's window."""
    with bridge(loopback) as processes, ControlProcess(EMULATOR, Names()) as somebody:
        commander = Commander(make_node, executor)
        commander.command_of = lambda _state: STANDING
        commander.until(lambda: len(commander.joints) > 20)
        for _ in range(2):
            somebody.ask(WorldRequest(pause=True))
            paused = from_stamp(commander.joints[-1].header.stamp)
            commander.until(lambda paused=paused: from_stamp(commander.joints[-1].header.stamp) > paused + 0.05)
            while "somebody has reset" not in processes.log(NAME):
                somebody.ask(WorldRequest(pause=True, reset=True))
                commander.spin(0.5)
            reset = from_stamp(commander.joints[-1].header.stamp)
            commander.until(lambda reset=reset: from_stamp(commander.joints[-1].header.stamp) > reset + 0.2)
        assert commander.heights[-1] > 0.2
        assert np.diff([stamp_ns(message.header.stamp) for message in commander.joints]).min() >= 0
        processes.check()


def test_a_bridge_that_is_started_again_takes_commands_at_once_and_none_of_before(
    server: GazeboEmulator, loopback: dict[str, str], make_node: NodeMaker, executor: SingleThreadedExecutor
) -> None:
    commander = Commander(make_node, executor)
    with bridge(loopback) as processes:
        commander.command_of = lambda _state: STANDING
        commander.until(lambda: bool(commander.joints) and from_stamp(commander.joints[-1].header.stamp) > 2.0)
        processes.signal(NAME, signal.SIGKILL)
        processes.wait(NAME, PATIENCE)
    old = commander.joints[-1].header.stamp
    commander.joints.clear()
    commander.command_of = lambda _state: None
    stand_tall = JointCommand(ROBOT.standing + 0.3, np.zeros(12), np.zeros(12))
    with bridge(loopback) as processes:

        def insist() -> bool:
            commander.command.publish(joint_command_message(stand_tall, old))
            return "is left out" in processes.log(NAME)

        commander.until(insist)
        commander.until(lambda: len(commander.joints) > 10)
        assert from_stamp(commander.joints[-1].header.stamp) < from_stamp(old)
        assert not driven(commander.joints), "the drives damp"
        commander.joints.clear()
        commander.command_of = lambda _state: STANDING
        commander.until(lambda: driven(commander.joints))
        assert from_stamp(commander.joints[-1].header.stamp) < from_stamp(old), "at once, not when that time has come"


def driven(states: list[JointState]) -> bool:
    """Whether the drives do anything else than damp from one state to the next."""
    for before, after in pairwise(states):
        if stamp_ns(after.header.stamp) - stamp_ns(before.header.stamp) == 2_000_000:
            damping = -DriveConfig().gains(4).kd_damping * np.array(before.velocity)
            if not np.allclose(after.effort, damping, atol=1e-6):
                return True
    return False


def test_a_second_bridge_of_one_world_is_refused(server: GazeboEmulator, loopback: dict[str, str]) -> None:
    with WorldClaim(Names()), bridge(loopback) as second:
        assert second.wait(NAME, PATIENCE) == 1
        assert f"process {os.getpid()} drives" in second.log(NAME)


def test_a_step_that_was_asked_for_before_does_not_slip_into_the_next_pause(
    server: GazeboEmulator, loopback: dict[str, str], make_node: NodeMaker, executor: SingleThreadedExecutor
) -> None:
    """In lock-step: permits that nobody has used, for the state has not been answered yet."""
    with bridge(loopback, lockstep=True, start_paused=True):
        commander = Commander(make_node, executor)
        commander.until(lambda: len(commander.joints) > 1)
        held = stamp_ns(commander.joints[-1].header.stamp)
        for _ in range(3):
            assert commander.call(io.STEP, Trigger.Request()).success
        assert commander.call(io.PAUSE, SetBool.Request(data=False)).success
        assert commander.call(io.PAUSE, SetBool.Request(data=True)).success
        commander.command_of = lambda _state: STANDING
        commander.spin(1.0)
        assert stamp_ns(commander.joints[-1].header.stamp) == held
        assert commander.call(io.STEP, Trigger.Request()).success
        commander.until(lambda: stamp_ns(commander.joints[-1].header.stamp) == held + 2_000_000)


def test_it_waits_for_a_server_that_is_slower_to_start(
    loopback: dict[str, str], make_node: NodeMaker, executor: SingleThreadedExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GZ_PARTITION", f"node_test_{os.getpid()}")
    with bridge(loopback) as processes:
        commander = Commander(make_node, executor)
        commander.until(lambda: "no server" in processes.log(NAME))
        with serving():
            commander.until(lambda: len(commander.joints) > 1)
            processes.signal(NAME, signal.SIGTERM)
            assert processes.wait(NAME, PATIENCE) == 0


def test_it_ends_on_request_while_it_waits_for_a_server(
    loopback: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GZ_PARTITION", f"node_test_{os.getpid()}")
    with bridge(loopback) as processes:
        while "no server" not in processes.log(NAME):
            processes.check()
            clock.sleep(0.05)
        processes.signal(NAME, signal.SIGINT)
        assert processes.wait(NAME, PATIENCE) == 0
        assert "Traceback" not in processes.log(NAME)


def test_a_push_by_topic_reaches_the_world(
    server: GazeboEmulator, loopback: dict[str, str], make_node: NodeMaker, executor: SingleThreadedExecutor
) -> None:
    with bridge(loopback) as processes:
        commander = Commander(make_node, executor)
        commander.until(lambda: len(commander.joints) > 1)
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


def test_without_gazebos_bindings_it_ends_and_names_the_packages(
    monkeypatch: pytest.MonkeyPatch, loopback: dict[str, str]
) -> None:
    monkeypatch.setenv("GZ_PARTITION", f"none_{os.getpid()}")
    with NodeProcesses(loopback) as processes:
        processes.start(NAME, {"node.release": "harmonic"})
        assert processes.wait(NAME, PATIENCE) == 1
        assert "python3-gz-transport13" in processes.log(NAME)
