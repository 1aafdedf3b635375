"""Each node killed in the middle of a bound: the robot stands or damps, and goes on with the node's successor."""

import time as clock
from collections.abc import Callable, Iterator
from pathlib import Path
from signal import SIGKILL

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from ros_graph import BUILDING, NodeMaker, Operator

from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.reports import status_values
from contact_ddp_ros.ros.runtime import subscribe
from contact_ddp_ros.ros.single_instance import PROFILE, profile_variables

LEASE = "<sec>3</sec>"
"""Time after which participants of the test take one that says nothing for dead."""

PARAMETERS = {
    "controller": {"stand.ramp_time": 0.3},
    "planner": {},
    "simulator": {},
}


SAID = {
    "/planner": {"lifecycle", "solve rate [Hz]", "mean solve [ms]", "longest solve [ms]", "overruns", "epoch"},
    "/controller": {"lifecycle", "mode", "fault", "tick rate [Hz]", "overruns", "state age [ms]", "policy age [ms]"},
    "/simulator": {"mode", "real-time factor", "tick rate [Hz]", "command age [ms]", "late ticks"},
}
"""What diagnostics must hold, by node."""


def _note(message: DiagnosticArray, seen: dict[str, dict[str, str]]) -> None:
    for status in message.status:
        seen[status.name] = status_values(status)


class Robot:
    """The three nodes and who operates them."""

    def __init__(self, operator: Operator, processes: NodeProcesses) -> None:
        self.operator = operator
        self.processes = processes
        for name in PARAMETERS:
            self.start(name)

    def start(self, name: str) -> None:
        self.processes.start(name, {**PARAMETERS[name], "use_sim_time": True, "node.lockstep": True})

    def kill(self, name: str) -> None:
        self.processes.signal(name, SIGKILL)
        self.processes.wait(name)

    def insist(self, service: io.Service) -> None:
        """Ask until it is granted: a node that has just come needs a state first."""
        deadline = clock.monotonic() + BUILDING
        while True:
            granted, words = self.operator.tell(service)
            if granted:
                return
            self.processes.check()
            assert clock.monotonic() < deadline, f"{service.name} is refused: {words}; {self.last_words()}"
            self.operator.watch(0.02)

    def bound(self) -> None:
        """From wherever it is; the robot may have to be picked up."""
        operator, deadline = self.operator, clock.monotonic() + BUILDING
        while operator.mode != "move":
            operator.tell(io.RESET)
            self.insist(io.STAND)
            while operator.mode == "stand":
                assert clock.monotonic() < deadline, f"it only stands; {self.last_words()}"
                operator.tell(io.MOVE)  # a request is given up where the planner takes long to come
                operator.watch(1.0)
            assert clock.monotonic() < deadline, f"it does not bound; {self.last_words()}"

    def bounds_until(self, condition: Callable[[], bool]) -> None:
        """Let it bound until the condition holds."""
        deadline = clock.monotonic() + BUILDING
        while not condition():
            assert clock.monotonic() < deadline, f"it does not come to that; {self.last_words()}"
            assert self.operator.mode == "move", f"it does not bound any more; {self.last_words()}"
            self.operator.watch(0.05)

    def last_words(self) -> str:
        """What the nodes have said last."""
        logs = (f"{name}: {self.processes.log(name)[-1000:]}" for name in PARAMETERS)
        return "\n".join([f"the last events are {self.operator.events[-5:]}", *logs])

    def stands_for_want_of_policies(self) -> None:
        """Wait until the controller has brought the robot to a stand."""
        self.operator.until(lambda: self.operator.mode in ("stand", "damp"))
        texts = [text for _, text in self.operator.events[-3:]]
        assert any("want of policies: policy_" in text for text in texts), texts


@pytest.fixture
def processes(loopback: dict[str, str], tmp_path: Path) -> Iterator[NodeProcesses]:
    """Processes that notice quickly when one of them is killed."""
    profile = tmp_path / PROFILE.name
    lease = "<leaseDuration>\n            <sec>10</sec>"
    text = (Path(__file__).parents[2] / PROFILE).read_text(encoding="utf-8")
    assert lease in text
    profile.write_text(text.replace(lease, lease.replace("<sec>10</sec>", LEASE)), encoding="utf-8")
    with NodeProcesses({**loopback, **profile_variables(str(profile))}) as started:
        yield started


@pytest.mark.slow
def test_a_killed_node_leaves_a_safe_robot_and_its_successor_is_accepted(
    make_node: NodeMaker, executor: SingleThreadedExecutor, processes: NodeProcesses
) -> None:
    robot = Robot(Operator(make_node, executor), processes)
    seen: dict[str, dict[str, str]] = {}
    shown: set[str] = set()
    subscribe(robot.operator.node, io.DIAGNOSTICS, lambda message: _note(message, seen))
    for topic in (io.PLAN, io.PLAN_MARKERS, io.FORCE_MARKERS, io.MODE, io.FELT, io.STATE_AGE, io.SOLVE_TIME):
        subscribe(robot.operator.node, topic, lambda _message, name=topic.name: shown.add(name))
    robot.bound()
    robot.bounds_until(lambda: len(shown) == 7)
    robot.bounds_until(lambda: all(name in seen and SAID[name] <= set(seen[name]) for name in SAID))
    robot.kill("planner")
    robot.stands_for_want_of_policies()
    robot.start("planner")
    robot.bound()
    robot.kill("simulator")
    robot.operator.until(lambda: robot.operator.mode == "damp")
    assert "state_stale" in robot.operator.events[-1][1]
    robot.start("simulator")
    robot.bound()
    robot.kill("controller")
    robot.operator.until(lambda: "whoever commanded is gone" in processes.log("simulator"))
    robot.operator.heights.clear()
    robot.operator.until(lambda: len(robot.operator.heights) > 0 and robot.operator.heights[-1] < 0.15)
    robot.operator.events.clear()
    robot.start("controller")
    robot.bound()
