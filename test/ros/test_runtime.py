"""What every node's process does: it hears whoever calls, whatever goes wrong, and ends without a word too many."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from threading import Thread

import pytest
from rclpy.executors import SingleThreadedExecutor
from ros_graph import PATIENCE, NodeMaker, Operator
from std_srvs.srv import Trigger

NODE = """
import sys
from std_srvs.srv import Trigger
from contact_ddp_ros.ros.runtime import run_node

class Work:
    def __init__(self, node):
        self.node = node
        node.create_service(Trigger, "fail", self.fail)
        node.create_service(Trigger, "answer", self.answer)
        for period in [1e-4] + 500 * [1e3]:  # the executor is always on its way through its entities
            node.create_timer(period, lambda: None)

    def run(self, stop):
        print("ready", flush=True)
        while not stop.wait(0.1):
            pass

    def wake(self):
        pass

    def farewell(self):
        pass

    def fail(self, request, response):
        raise ValueError("nobody has thought of this")

    def answer(self, request, response):
        response.success = True
        return response

sys.exit(run_node("tried", Work, []))
"""


@pytest.fixture
def start(loopback: dict[str, str]) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def begin() -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        started.append(subprocess.Popen([sys.executable, "-c", NODE], text=True, **pipes))
        assert "ready\n" in iter(started[-1].stdout.readline, "")  # the middleware may have something to say before
        return started[-1]

    yield begin
    for one in started:
        one.kill()
        one.communicate()


def ended(node: subprocess.Popen[str]) -> str:
    """What a node says until it has ended, asked to."""
    node.send_signal(signal.SIGTERM)
    said, _ = node.communicate(timeout=PATIENCE)
    assert node.returncode == 0, said
    return said


def test_a_callback_that_fails_is_told_and_the_next_is_heard(
    make_node: NodeMaker, executor: SingleThreadedExecutor, start: Callable[[], subprocess.Popen[str]]
) -> None:
    node, operator = start(), Operator(make_node, executor)
    client = operator.node.create_client(Trigger, "fail")
    said: list[str] = []
    reader = Thread(target=lambda: said.extend(iter(node.stdout.readline, "")), daemon=True)
    reader.start()
    for _ in range(round(PATIENCE / 0.5)):  # a service that is ready may yet lose the first request
        if any("unexpected ValueError" in line and "nobody has thought of this" in line for line in said):
            break
        client.call_async(Trigger.Request())
        operator.watch(0.5)
    else:
        pytest.fail(f"the node said {said}")
    assert operator.call(Trigger, "answer", Trigger.Request()).success
    node.terminate()
    assert node.wait(PATIENCE) == 0
    reader.join(PATIENCE)
    assert not any("Traceback" in line for line in said)


def test_the_end_pulls_nothing_from_under_the_thread_that_listens(start: Callable[[], subprocess.Popen[str]]) -> None:
    for _ in range(5):
        assert "Traceback" not in ended(start())
