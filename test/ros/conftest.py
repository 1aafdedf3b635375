"""A private ROS domain on loopback for the tests of one process, so that two runs at once do not meet."""

from collections.abc import Callable, Iterator

import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from ros_graph import KeptNodes, NodeMaker, PlayedRobot

from contact_ddp_ros.base.process import environment
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.single_instance import loopback_environment, reserved_domain


@pytest.fixture(scope="session")
def loopback() -> Iterator[dict[str, str]]:
    """The environment of a domain that is ours, set for this process too."""
    with reserved_domain() as domain:
        variables = loopback_environment(domain)
        with environment(variables):
            yield variables


@pytest.fixture(scope="session")
def context(loopback: dict[str, str]) -> Iterator[Context]:
    context = Context()
    domain = int(loopback["ROS_DOMAIN_ID"])
    rclpy.init(context=context, domain_id=domain, signal_handler_options=SignalHandlerOptions.NO)
    yield context
    rclpy.try_shutdown(context=context)


def _nodes(context: Context) -> Iterator[NodeMaker]:
    """Makes nodes that live as long as the test, or as its module."""
    nodes: list[Node] = []

    def make(name: str, **options: object) -> Node:
        nodes.append(rclpy.create_node(name, context=context, enable_rosout=False, **options))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()


def _executor(context: Context) -> Iterator[SingleThreadedExecutor]:
    executor = SingleThreadedExecutor(context=context)
    yield executor
    executor.shutdown(timeout_sec=1.0)


make_node, make_lasting_node = pytest.fixture(_nodes), pytest.fixture(_nodes, scope="module")
executor, lasting_executor = pytest.fixture(_executor), pytest.fixture(_executor, scope="module")


@pytest.fixture
def processes(loopback: dict[str, str]) -> Iterator[NodeProcesses]:
    with NodeProcesses(loopback) as started:
        yield started


@pytest.fixture(scope="module")
def kept(loopback: dict[str, str]) -> Iterator[KeptNodes]:
    """Nodes that several tests of a module share."""
    with KeptNodes(loopback) as started:
        yield started


@pytest.fixture
def robot(lasting_robot: PlayedRobot) -> PlayedRobot:
    """The robot that a module plays, silent again."""
    lasting_robot.begin_anew()
    return lasting_robot


@pytest.fixture
def bridge(kept: KeptNodes, robot: PlayedRobot) -> Callable[..., KeptNodes]:
    """Starts that robot's bridge, `__` in the names of parameters standing for a dot."""

    def start(**parameters: object) -> KeptNodes:
        given = {name.replace("__", "."): value for name, value in parameters.items()}
        kept.keep(robot.name, {**robot.parameters, **given})
        return kept

    return start
