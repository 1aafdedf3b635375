"""The lifecycle of the nodes: nothing before activation, damping before silence, and a way on after errors."""

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Event, Thread

import pytest
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros_graph import PATIENCE, FakeRobot, NodeMaker, Operator
from std_msgs.msg import Float64
from trajectory_msgs.msg import JointTrajectory

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.lifecycle import Lifecycle, _ManagedNode
from contact_ddp_ros.ros.parameters import NodeParameters
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.reports import OK

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
PARAMETERS = {
    "node.lockstep": True,
    "use_sim_time": True,
    "stand.ramp_time": 0.2,
    "node.autostart": False,
    "node.state": "odom",
}


@dataclass(frozen=True)
class Own:
    autostart: bool = parameter(False, structural=True)
    discovery_time: float = 0.0


@dataclass(frozen=True)
class Settings:
    size: int = parameter(3, low=1, high=9, structural=True)
    gain: float = parameter(1.0, low=0.0, high=9.0)
    node: Own = field(default_factory=Own)


class Toy:
    """Work that notes what becomes of it; a size of 9 cannot be built."""

    built: "list[Toy]"

    def __init__(self, node: Node, parameters: NodeParameters[Settings]) -> None:
        if parameters.config.size == 9:
            raise ParameterError("a size of 9 is too much")
        self.node = node
        self.size = parameters.config.size
        self.gain = parameters.config.gain
        self.said: list[str] = []
        self.publisher = node.create_publisher(Float64, "toy", 1)
        self.running = Event()
        Toy.built.append(self)

    def configure(self, config: Settings) -> None:
        self.gain = config.gain

    def run(self, stop: Event) -> None:
        self.running.set()
        stop.wait()
        self.running.clear()

    def wake(self) -> None:
        pass

    def farewell(self) -> None:
        self.said.append("farewell")

    def report(self) -> tuple[bytes, str, dict[str, object]]:
        return OK, "well", {}


@pytest.fixture
def managed(context: Context) -> Iterator[tuple[_ManagedNode, Lifecycle[Settings]]]:
    Toy.built = []
    node = _ManagedNode("toy", context=context, enable_rosout=False)
    yield node, Lifecycle(node, Settings(), Toy, io.PLANNER_ACTIVE)
    node.destroy_node()


def change(node: Node, **values: object) -> bool:
    return bool(node.set_parameters_atomically([Parameter(k, value=v) for k, v in values.items()]).successful)


def test_topics_and_object_live_as_long_as_the_node_is_configured(
    managed: tuple[_ManagedNode, Lifecycle[Settings]],
) -> None:
    node, lifecycle = managed
    before = len(list(node.publishers))
    assert not Toy.built
    assert change(node, size=4, gain=2.0)
    assert node.trigger_configure() == SUCCESS
    assert (Toy.built[0].size, Toy.built[0].gain) == (4, 2.0)
    assert len(list(node.publishers)) == before + 1
    assert node.trigger_activate() == SUCCESS
    assert lifecycle.active
    assert node.trigger_deactivate() == SUCCESS
    assert Toy.built[0].said == ["farewell"]
    assert node.trigger_cleanup() == SUCCESS
    assert len(list(node.publishers)) == before


def test_activation_builds_anew_what_a_parameter_has_shaped(
    managed: tuple[_ManagedNode, Lifecycle[Settings]],
) -> None:
    node, _ = managed
    before = len(list(node.publishers))
    node.trigger_configure()
    assert change(node, gain=3.0)
    assert Toy.built[0].gain == 3.0
    node.trigger_activate()
    assert not change(node, size=5), "active"
    node.trigger_deactivate()
    node.trigger_activate()
    assert len(Toy.built) == 1
    node.trigger_deactivate()
    assert change(node, size=5)
    node.trigger_activate()
    assert [toy.size for toy in Toy.built] == [3, 5]
    assert len(list(node.publishers)) == before + 2, "the toy's, and the one that says who is active"
    assert change(node, gain=4.0)
    assert (Toy.built[0].gain, Toy.built[1].gain) == (3.0, 4.0)


def test_what_cannot_be_built_leaves_the_state_as_it_was(managed: tuple[_ManagedNode, Lifecycle[Settings]]) -> None:
    node, lifecycle = managed
    change(node, size=9)
    assert node.trigger_configure() == FAILURE
    change(node, size=3)
    assert node.trigger_configure() == SUCCESS
    change(node, size=9)
    assert node.trigger_activate() == FAILURE
    assert not lifecycle.active
    change(node, size=3)
    assert node.trigger_activate() == SUCCESS
    assert len(Toy.built) == 1, "what there was is as good as before"


def test_transitions_of_another_thread_interrupt_the_work_and_wait_for_it(
    managed: tuple[_ManagedNode, Lifecycle[Settings]],
) -> None:
    node, lifecycle = managed
    stop, results = Event(), []

    def person() -> None:
        for go in (node.trigger_configure, node.trigger_activate):
            results.append(go())
        assert Toy.built[0].running.wait(PATIENCE)
        results.append(node.trigger_deactivate())
        results.append(list(Toy.built[0].said))
        stop.set()
        lifecycle.wake()

    thread = Thread(target=person)
    thread.start()
    lifecycle.run(stop)
    thread.join()
    assert results == [SUCCESS, SUCCESS, SUCCESS, ["farewell"]]
    assert not Toy.built[0].running.is_set()


@pytest.fixture
def operator(make_node: NodeMaker, executor: SingleThreadedExecutor) -> Operator:
    return Operator(make_node, executor)


def damping(command: JointTrajectory) -> bool:
    return len(command.points[0].positions) == 0 and not any(command.points[0].effort)


def test_a_controller_goes_through_its_states(
    make_node: NodeMaker, executor: SingleThreadedExecutor, operator: Operator, processes: NodeProcesses
) -> None:
    processes.start("controller", PARAMETERS)
    fake = FakeRobot(make_node, executor)
    assert operator.state("controller") == "unconfigured"
    assert not fake.stand.service_is_ready()
    assert operator.change("controller", "configure")
    accepted, reason = operator.tell(io.STAND)
    assert not accepted
    assert "activate" in reason
    assert operator.set("controller", node__planner_delay=0.01) == (True, "")
    assert operator.change("controller", "activate")
    fake.stand_up()
    assert not operator.change("controller", "configure"), "active already"
    accepted, reason = operator.set("controller", node__planner_delay=0.0, stand__ramp_time=0.3)
    assert not accepted
    assert reason == "node.planner_delay cannot change now; deactivate the node first"
    assert not damping(fake.tick())
    count = len(fake.commands)
    assert operator.change("controller", "deactivate")
    fake.until(lambda: len(fake.commands) > count)
    assert all(damping(command) for command in fake.commands[count:])
    assert operator.state("controller") == "inactive"
    assert operator.change("controller", "activate")
    assert damping(fake.tick())
    fake.stand_up()
    count = len(fake.commands)
    assert operator.change("controller", "shutdown")
    assert operator.state("controller") == "finalized"
    fake.until(lambda: len(fake.commands) > count)
    assert damping(fake.commands[-1])
    processes.signal("controller", signal.SIGINT)
    assert processes.wait("controller", PATIENCE) == 0
    fake.until(lambda: "controller" not in operator.node.get_node_names())


def test_a_planner_that_cannot_be_configured_says_why_and_may_be_told_better(
    operator: Operator, processes: NodeProcesses
) -> None:
    processes.start("planner", {"node.autostart": False, "gait.step": 0.007})
    assert not operator.change("planner", "configure")
    assert operator.state("planner") == "unconfigured"
    errors = [line for line in processes.log("planner").splitlines() if "[ERROR]" in line]
    assert len(errors) == 1
    assert "step" in errors[0]
    assert operator.set("planner", gait__step=0.004) == (True, "")
    assert operator.change("planner", "configure")
    assert operator.change("planner", "activate")
    processes.check()


def test_a_signal_ends_a_node_in_whatever_state(operator: Operator, processes: NodeProcesses) -> None:
    ends: list[Callable[[], bool]] = [lambda: operator.state("planner") == "unconfigured"]
    ends.append(lambda: "building the planner" in processes.log("planner"))
    for autostart, ready in zip((False, True), ends):
        processes.start("planner", {"node.autostart": autostart})
        operator.until(ready)
        processes.signal("planner", signal.SIGTERM)
        assert processes.wait("planner", PATIENCE) == 0
        assert "Traceback" not in processes.log("planner")
