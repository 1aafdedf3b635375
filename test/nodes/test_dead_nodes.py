"""Each node killed in the middle of a bound: the others go to damping, and go on with its successor."""

from collections.abc import Iterator
from pathlib import Path
from signal import SIGKILL

import pytest
from rclpy.executors import SingleThreadedExecutor
from ros_graph import BUILDING, NodeMaker, Operator

from contact_ddp_ros.nodes import interfaces as io
from contact_ddp_ros.nodes.domain import PROFILE
from contact_ddp_ros.nodes.processes import NodeProcesses

LEASE = "<sec>3</sec>"
"""Time after which participants of the test take one that says nothing for dead."""

PARAMETERS = {
    "controller": {"stand.ramp_time": 0.3, "safety.policy_periods": 20.0},
    "planner": {},
    "simulator": {},
}


class Robot:
    """The three nodes and who operates them."""

    def __init__(self, operator: Operator, processes: NodeProcesses, lockstep: bool) -> None:
        self.operator = operator
        self.processes = processes
        self.common = {"use_sim_time": True, "node.lockstep": lockstep}
        for name in PARAMETERS:
            self.start(name)

    def start(self, name: str) -> None:
        self.processes.start(name, {**PARAMETERS[name], **self.common})

    def kill(self, name: str) -> None:
        self.processes.signal(name, SIGKILL)
        self.processes.wait(name)

    def insist(self, service: io.Service) -> None:
        """Ask until it is granted: a node that has just come needs a state first."""
        self.operator.until(lambda: self.operator.tell(service)[0], BUILDING)

    def bound(self) -> None:
        """From wherever it is; the robot may have to be picked up."""
        operator = self.operator
        while operator.mode != "bound":
            operator.tell(io.RESET)
            self.insist(io.STAND)
            while operator.mode == "stand":
                operator.tell(io.BOUND)  # a request is given up where the planner takes long to come
                operator.watch(1.0)

    def damps(self, *reasons: str) -> None:
        """Wait until the controller has gone to damping, for one of these reasons."""
        self.operator.until(lambda: self.operator.mode == "damp")
        text = self.operator.events[-1][1]
        assert any(reason in text for reason in reasons), text


@pytest.fixture
def processes(loopback: dict[str, str], tmp_path: Path) -> Iterator[NodeProcesses]:
    """Processes that notice quickly when one of them is killed."""
    profile = tmp_path / PROFILE.name
    lease = "<leaseDuration>\n            <sec>10</sec>"
    text = (Path(__file__).parents[2] / PROFILE).read_text(encoding="utf-8")
    assert lease in text
    profile.write_text(text.replace(lease, lease.replace("<sec>10</sec>", LEASE)), encoding="utf-8")
    names = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
    with NodeProcesses({**loopback, **{name: str(profile) for name in names if name in loopback}}) as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize("lockstep", [True, False], ids=["lock-step", "real time"])
def test_a_killed_node_leaves_damping_and_its_successor_is_accepted(
    make_node: NodeMaker, executor: SingleThreadedExecutor, processes: NodeProcesses, lockstep: bool
) -> None:
    robot = Robot(Operator(make_node, executor), processes, lockstep)
    robot.bound()
    robot.kill("planner")
    robot.damps("policy_stale", "policy_over")
    robot.start("planner")
    robot.bound()
    robot.kill("simulator")
    robot.damps("state_stale")
    robot.start("simulator")
    robot.bound()
    robot.kill("controller")
    words = "whoever commanded is gone" if lockstep else "no joint command"
    robot.operator.until(lambda: words in processes.log("simulator"))
    robot.operator.heights.clear()
    robot.operator.until(lambda: len(robot.operator.heights) > 0 and robot.operator.heights[-1] < 0.15)
    robot.operator.events.clear()
    robot.start("controller")
    robot.bound()
