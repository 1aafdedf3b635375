"""The nodes as processes: bounding in lock-step, refusing what is wrong at the start, ending in damping."""

import itertools
import os
import signal
import subprocess
import sys
import time as clock
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from ros_graph import PATIENCE, PERIOD, FakeRobot, KeptNodes, NodeMaker, Operator, Watcher
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from contact_ddp_ros.base.errors import NodeError
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.state import JointCommand
from contact_ddp_ros.ros import composed_node
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import joint_command_message, to_stamp
from contact_ddp_ros.ros.demo import run_demo
from contact_ddp_ros.ros.estimate_messages import PlanRequest
from contact_ddp_ros.ros.policy_message import SCHEMA, STATUS_FAILED, no_policy_message, policy_message
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.reports import ERROR
from contact_ddp_ros.ros.runtime import REFUSED, subscribe
from contact_ddp_ros.ros.single_instance import reserved_domain
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import CONTROL_MODES, Recorder, Recording


@pytest.fixture(scope="module")
def lasting_fake(make_lasting_node: NodeMaker, lasting_executor: SingleThreadedExecutor) -> FakeRobot:
    return FakeRobot(make_lasting_node, lasting_executor)


@pytest.fixture
def fake(lasting_fake: FakeRobot, kept: KeptNodes) -> FakeRobot:
    """Robot of a controller that does not move it."""
    parameters = {"node.lockstep": True, "use_sim_time": True, "node.lockstep_timeout": 0.2, "stand.ramp_time": 0.2}
    kept.keep("controller", {**parameters, "node.state": "odom"})
    lasting_fake.begin_anew()
    return lasting_fake


def damping(command: JointTrajectory) -> bool:
    return len(command.points[0].positions) == 0 and not any(command.points[0].effort)


def run_through_nodes(*, composed: bool) -> Recording:
    push = Push(0.6, (0.0, 20.0, 0.0), 0.05)
    overrides = {"controller.stand.ramp_time": 0.2}
    options = RunOptions(duration=1.3, stop_time=0.8, pushes=(push,), overrides=overrides, composed=composed)
    return run_demo(options, Recorder())


@pytest.fixture(scope="module")
def apart() -> Recording:
    """A run with each node in its own process."""
    return run_through_nodes(composed=False)


def test_the_robot_bounds_through_the_nodes(apart: Recording) -> None:
    ticks = apart.ticks
    modes = [CONTROL_MODES[index] for index in ticks["control_mode"]]
    np.testing.assert_allclose(np.diff(ticks["time"]), PERIOD, atol=1e-9)
    assert len(modes) == 650
    assert "move" in {mode.lower() for mode in modes}
    assert {mode.lower() for mode, time in zip(modes, ticks["time"]) if time > 1.2} == {"stand"}
    assert not [event for event in apart.events if event.fault]
    assert any("push" in event.text for event in apart.events)
    assert set(ticks["mode"]) >= {0, 1, 2}
    assert np.abs(ticks["contact_forces"]).max() > 10.0
    assert len(apart.solves["time"]) > 50
    assert apart.solves["ok"].all()


def test_one_process_for_controller_and_simulator_changes_nothing(apart: Recording) -> None:
    together = run_through_nodes(composed=True)
    for name in ("time", "position", "orientation", "joint_positions", "joint_velocities", "torques"):
        np.testing.assert_array_equal(together.ticks[name], apart.ticks[name], err_msg=name)
    modes = [recording.ticks["control_mode"][1:] for recording in (together, apart)]
    np.testing.assert_array_equal(*modes, err_msg="the stand may be asked for before or after t = 0")
    assert set(apart.info.processors or {}) == {"controller", "planner", "simulator"}
    assert set(together.info.processors or {}) == {"controller + simulator", "planner"}


def test_a_composed_process_without_a_robot_says_what_may_play_it(capfd: pytest.CaptureFixture[str]) -> None:
    assert composed_node.main(["planner"]) == REFUSED
    assert "planner was given to play the robot; allowed: simulator, gazebo_bridge, bridge" in capfd.readouterr().err


def test_malformed_states_end_in_damping_until_rearmed(fake: FakeRobot) -> None:
    fake.stand_up()
    permuted = fake.tick(_reversed)
    assert not damping(permuted)
    for damage, words in ((_without_a_joint, "joint"), (_not_a_number, "not finite"), (_wrong_frame, "map")):
        assert damping(fake.tick(damage))
        future = fake.stand.call_async(Trigger.Request())
        fake.until(future.done)
        assert not future.result().success
        assert "a state has come and was refused" in future.result().message
        assert words in future.result().message
        fake.until(lambda words=words: any("was refused" in event and words in event for event in fake.events))
        assert damping(fake.tick()), "the fault is latched"
        assert any(event.startswith("damp: ") and len(event) > len("damp: ") for event in fake.events)
        fake.stand_up()


def test_a_bound_that_waits_for_a_fresh_policy_says_so_once_a_second(fake: FakeRobot) -> None:
    model, good = fake.robot.model_hash, 2  # of a planner that was silent, the first is not waited for

    def plan(request: PlanRequest) -> Float64MultiArray:
        nonlocal good
        if good == 0:
            return no_policy_message(request.stamp, STATUS_FAILED, model)
        good -= 1
        times = 1e-9 * request.stamp + np.array([0.0, 0.08])
        states = np.tile(WholeBodyModel(fake.robot).state(fake.robot.standing_state()), (2, 1))
        arrays = np.full((1, 12), 2.5), np.zeros((1, 12, 36)), np.zeros(1, dtype=int), np.zeros((1, 12))
        return policy_message(Policy(times, states, *arrays, 1, 1, model), request.stamp)

    fake.stand_up()  # a change of mode drops the policies
    fake.plan = plan
    fake.tick_until(lambda: good == 0)
    for _ in range(60):
        fake.tick()
    future = fake.move.call_async(Trigger.Request())
    fake.until(future.done)
    for _ in range(100):
        fake.tick()
    fake.until(lambda: "policy_over" in fake.events[-1])
    over = [event for event in fake.events if "policy_over" in event]
    assert len(over) == 1, "its age grows with every tick"


def test_policies_that_do_not_fit_never_move_the_robot(fake: FakeRobot) -> None:
    model_hash = fake.robot.model_hash

    def plan(n_x: int, model: int, schema: float = SCHEMA) -> Callable[[PlanRequest], Float64MultiArray]:
        def answer(request: PlanRequest) -> Float64MultiArray:
            times = 1e-9 * request.stamp + np.array([0.0, 0.5])
            controls, gains, modes = np.full((1, 12), 15.0), np.zeros((1, 12, n_x)), np.zeros(1, dtype=int)
            policy = Policy(times, np.zeros((2, n_x)), controls, gains, modes, np.zeros((1, 12)), 1, 1, model)
            message = policy_message(policy, request.stamp)
            message.data[0] = schema
            return message

        return answer

    fake.plan = plan(36, model_hash + 1)
    fake.stand_up()
    fake.tick_until(lambda: any("policy_model" in event for event in fake.events), lambda word: not damping(word))
    future = fake.move.call_async(Trigger.Request())
    fake.until(future.done)
    assert future.result().success, "it waits for a policy that fits"
    for _ in range(50):
        fake.tick()  # ten policies in a tenth of a second
    fake.until(lambda: "refused or failed: policy_model" in fake.events[-1])
    assert sum("policy refused: policy_model" in event for event in fake.events) == 1, "one event a second"
    fake.plan = plan(14, model_hash)
    fake.tick_until(lambda: any("policy_size" in event for event in fake.events), lambda word: not damping(word))
    kinds = itertools.cycle((plan(36, model_hash + 1), plan(14, model_hash)))
    fake.plan = lambda request: next(kinds)(request)
    for _ in range(50):
        fake.tick()
    assert sum("policy refused" in event for event in fake.events) == 2, "one event a second of each kind"
    fake.plan = plan(36, model_hash, schema=3.0)
    for _ in range(10):
        assert not damping(fake.tick())
    assert not any(event.startswith("move") for event in fake.events)


def test_parameters_change_while_the_controller_runs(
    fake: FakeRobot, make_lasting_node: NodeMaker, lasting_executor: SingleThreadedExecutor
) -> None:
    operator = Operator(make_lasting_node, lasting_executor)
    fake.tick()

    def change(**values: object) -> tuple[bool, str]:
        return operator.set("controller", **values)

    assert change(stand__ramp_time=2, safety__roll=0.4) == (True, "")
    assert change(stand__ramp_time=0.2) == (True, "")
    assert not change(safety__roll=0.3, safety__pitch=9.0)[0]
    accepted, reason = change(stand__pose=[2.9, -0.8, 1.6], stand__ramp_time=3.0)
    assert not accepted
    assert "stand.pose" in reason
    assert not change(node__lockstep=False)[0]


def test_damping_is_the_last_word(fake: FakeRobot, kept: KeptNodes) -> None:
    fake.stand_up()
    count = len(fake.commands)
    kept.signal("controller", signal.SIGTERM)
    fake.until(lambda: len(fake.commands) > count)
    assert damping(fake.commands[-1])
    assert kept.wait("controller", PATIENCE) == 0
    assert "Traceback" not in kept.log("controller")


def test_time_is_held_stepped_and_the_robot_reset_and_drives_damp_without_good_commands(
    make_node: NodeMaker, executor: SingleThreadedExecutor, processes: NodeProcesses
) -> None:
    watcher = Watcher(make_node, executor)
    said: list[tuple[bytes, str]] = []
    subscribe(watcher.node, io.DIAGNOSTICS, lambda array: said.extend((one.level, one.message) for one in array.status))
    processes.start("simulator", {"node.start_paused": True, "use_sim_time": True})
    watcher.until(lambda: len(watcher.stamps) > 3)
    assert set(watcher.stamps) == {0}
    assert watcher.call(io.STEP, Trigger.Request()).success
    watcher.until(lambda: watcher.stamps[-1] > 0)
    assert set(watcher.stamps) == {0, round(PERIOD * 1e9)}
    assert watcher.call(io.PAUSE, SetBool.Request(data=False)).success
    watcher.until(lambda: watcher.heights[-1] < 0.2)
    assert watcher.call(io.PAUSE, SetBool.Request(data=True)).success
    assert watcher.call(io.RESET, Trigger.Request()).success
    held = watcher.stamps[-1]
    watcher.stamps.clear()
    watcher.call(io.STEP, Trigger.Request())
    watcher.until(lambda: len(watcher.stamps) > 0 and watcher.heights[-1] > 0.25)
    assert watcher.stamps[-1] >= held, "the clock goes on"
    assert watcher.call(io.PAUSE, SetBool.Request(data=False)).success
    watcher.until(lambda: watcher.command.get_subscription_count() > 0)
    stand = JointCommand(load_robot().standing, np.zeros(12), np.zeros(12))
    assert "no joint command for" not in processes.log("simulator")
    watcher.command.publish(joint_command_message(stand, to_stamp(1e-9 * watcher.stamps[-1])))
    watcher.until(lambda: "no joint command for" in processes.log("simulator") and watcher.heights[-1] < 0.15)
    broken = joint_command_message(stand, to_stamp(1e-9 * watcher.stamps[-1]))
    broken.points[0].effort = [float("nan")] * 12
    watcher.command.publish(broken)
    watcher.until(lambda: "torques hold a number that is not finite" in processes.log("simulator"))
    watcher.until(lambda: any(level == ERROR and "1 malformed" in message for level, message in said))


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("controller", {"safety.rol": 0.4}, "unknown parameter safety.rol"),
        ("planner", {"node.urdf": "/nowhere/robot.urdf"}, "/nowhere/robot.urdf"),
        ("simulator", {"node.pushes": "1,2,3"}, "t,fx,fy,fz,dt"),
        ("frames", {"use_sim_time": "maybe"}, "use_sim_time"),
    ],
)
def test_a_node_that_cannot_start_says_why_in_one_line(
    processes: NodeProcesses, name: str, parameters: dict[str, object], words: str
) -> None:
    processes.start(name, parameters)
    assert processes.wait(name, PATIENCE) == 1
    lines = [line for line in processes.log(name).splitlines() if "FATAL" in line]
    assert len(lines) == 1
    assert words in lines[0]
    assert "Traceback" not in processes.log(name)
    with pytest.raises(NodeError, match="ended with code 1"):
        processes.check()


def test_a_parameter_file_that_is_none_is_one_line(processes: NodeProcesses, tmp_path: Path) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("controller: [")
    processes.start("controller", {}, ["--params-file", str(file)])
    assert processes.wait("controller", PATIENCE) == 1
    assert "Traceback" not in processes.log("controller")


REFUSING = """
import os, signal, sys
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.ros.runtime import run_node

class Refusal(ContactDdpError):
    def __str__(self):
        os.kill(os.getpid(), signal.SIGINT)
        return "no, thank you"

def build(node):
    raise Refusal

sys.exit(run_node("refusing", build, []))
"""


def test_a_refusal_is_told_although_a_signal_comes_at_that_moment(loopback: dict[str, str]) -> None:
    environment = {**os.environ, **loopback, "PYTHONPATH": str(Path(__file__).parents[2])}
    ended = subprocess.run([sys.executable, "-c", REFUSING], env=environment, capture_output=True, text=True)
    assert "Traceback" not in ended.stderr
    assert "no, thank you" in ended.stderr
    assert ended.returncode == 1


def test_nodes_end_with_their_parent(loopback: dict[str, str]) -> None:
    started = NodeProcesses(loopback)
    started.start("simulator", {"node.lockstep": True, "use_sim_time": True})
    child: subprocess.Popen[bytes] = started._children["simulator"]
    deadline = clock.monotonic() + PATIENCE
    while "simulating" not in started.log("simulator"):
        assert clock.monotonic() < deadline
        clock.sleep(0.05)
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(PATIENCE) == 0
    started.stop()


def test_two_reservations_never_meet() -> None:
    with reserved_domain() as one, reserved_domain() as other:
        assert one != other


def _reversed(joints: JointState, _odometry: Odometry) -> None:
    joints.name, joints.position, joints.velocity = joints.name[::-1], joints.position[::-1], joints.velocity[::-1]


def _without_a_joint(joints: JointState, _odometry: Odometry) -> None:
    joints.name, joints.position, joints.velocity = joints.name[:-1], joints.position[:-1], joints.velocity[:-1]


def _not_a_number(joints: JointState, _odometry: Odometry) -> None:
    joints.position[4] = float("nan")


def _wrong_frame(_joints: JointState, odometry: Odometry) -> None:
    odometry.header.frame_id = "map"
