"""Who is the second controller, planner or clock of a namespace is refused by name."""

from collections.abc import Iterator
from signal import SIGKILL

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from ros_graph import PATIENCE, NodeMaker, Operator
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Empty

from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros import single_instance as claim
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.runtime import REFUSED, publisher, subscribe

PATIENT = {"use_sim_time": True, "node.discovery_time": PATIENCE}
"""Of a node that is to find another one, however long discovery takes on a busy machine."""


@pytest.fixture
def first(loopback: dict[str, str]) -> Iterator[NodeProcesses]:
    with NodeProcesses(loopback) as started:
        yield started


@pytest.fixture
def second(loopback: dict[str, str]) -> Iterator[NodeProcesses]:
    with NodeProcesses(loopback) as started:
        yield started


@pytest.fixture
def operator(make_node: NodeMaker, executor: SingleThreadedExecutor) -> Operator:
    """Of a domain that has forgotten the controllers which other tests killed."""
    made = Operator(make_node, executor)
    made.until(lambda: active(made) == 0)
    return made


def test_a_second_controller_is_not_activated_until_the_first_one_is_not(
    operator: Operator, first: NodeProcesses, second: NodeProcesses
) -> None:
    other = ["-r", "__node:=spare", "-p", "use_sim_time:=true", "-p", "node.autostart:=false"]
    other += ["-p", f"node.discovery_time:={PATIENCE}"]  # several announcements, however busy the machine
    first.start("controller", {"use_sim_time": True})
    second.start("controller", {}, other)
    operator.until(lambda: operator.state("controller") == "active")
    assert operator.change("spare", "configure")
    assert not operator.change("spare", "activate")
    assert operator.state("spare") == "inactive"
    (error,) = (line for line in second.log("controller").splitlines() if "[ERROR]" in line)
    assert "/controller/active is published by /controller already" in error
    assert operator.change("controller", "deactivate")
    assert operator.set("spare", node__discovery_time=0.3) == (True, "")
    assert operator.change("spare", "activate")
    assert not operator.change("controller", "activate")


def active(operator: Operator) -> int:
    return int(operator.node.count_publishers(io.CONTROLLER_ACTIVE.name))


def test_a_second_controller_of_the_same_name_ends_and_a_killed_one_has_a_successor(
    operator: Operator, first: NodeProcesses, second: NodeProcesses
) -> None:
    first.start("controller", {"use_sim_time": True})
    operator.until(lambda: active(operator) == 1)
    second.start("controller", PATIENT)
    assert second.wait("controller", PATIENCE) == REFUSED
    assert "/controller/active is published by /controller already" in second.log("controller")
    first.signal("controller", SIGKILL)
    first.wait("controller")
    first.start("controller", {"use_sim_time": True})
    operator.until(lambda: active(operator) == 2)  # the dead one is known here
    first.check()


def test_of_two_controllers_that_start_at_once_one_ends(
    operator: Operator, first: NodeProcesses, second: NodeProcesses
) -> None:
    both = (first, second)
    for one in both:
        one.start("controller", PATIENT)
    operator.until(lambda: any("already and allows one publisher" in one.log("controller") for one in both))
    operator.until(lambda: active(operator) == 1)


def test_a_second_clock_is_refused(operator: Operator, make_node: NodeMaker, first: NodeProcesses) -> None:
    publisher(make_node("foreign_clock"), io.CLOCK)
    first.start("simulator", {"node.discovery_time": PATIENCE})
    assert first.wait("simulator", PATIENCE) == REFUSED
    assert "/clock is published by /foreign_clock already" in first.log("simulator")


def test_a_clock_that_comes_later_is_named_in_diagnostics(
    operator: Operator, make_node: NodeMaker, first: NodeProcesses
) -> None:
    said: list[str] = []

    def note(message: DiagnosticArray) -> None:
        said.extend(one.message for one in message.status if one.name == "/simulator" and one.level == b"\2")

    subscribe(operator.node, io.DIAGNOSTICS, note)
    first.start("simulator", {})
    operator.until(lambda: len(operator.heights) > 0)
    publisher(make_node("foreign_clock"), io.CLOCK)
    operator.until(lambda: "/clock is also published by /foreign_clock" in said)


def test_a_part_that_is_given_up_meanwhile_is_taken(make_node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    node, other = make_node("one"), make_node("other")
    kept = other.create_publisher(Empty, "part", 1)
    mine = claim.SingleInstanceLock(node, io.Topic("part", Empty, io.LAST, ""))
    looks = iter([["/other"], ["/other"], []])
    monkeypatch.setattr(claim.SingleInstanceLock, "others", lambda _self: next(looks))
    assert mine.take(0.0).topic_name == "/part"
    monkeypatch.undo()
    mine.release()
    other.destroy_publisher(kept)


def test_own_publisher_is_not_another(make_node: NodeMaker) -> None:
    mine = claim.SingleInstanceLock(make_node("alone"), io.Topic("alone", Clock, io.LAST, ""))
    mine.take(0.0)
    assert mine.others() == []
    assert mine.complaint() == ""
    mine.release()
