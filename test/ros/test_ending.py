"""Signals end a node whatever it is at, and a node that hangs says where and ends too."""

import os
import signal
import subprocess
import sys
import time as clock
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ros_graph import BUILDING, PATIENCE

from contact_ddp_ros.ros.processes import NodeProcesses

ROOT = Path(__file__).parents[2]

NODE = """
import ctypes, os, signal, sys, time
from threading import Lock
from contact_ddp_ros.ros.runtime import run_node

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

class Work:
    def __init__(self, node):
        self.node = node
        self.lock = Lock()
        self.build()

    def build(self):
        pass

    def run(self, stop):
        print("running", flush=True)
        while not stop.is_set():
            time.sleep(0.01)

    def wake(self):
        pass

    def farewell(self):
        print("farewell", flush=True)

"""

LOCKED = """
class Own(Work):
    "Holds a lock when the signal comes, which `wake` needs too, as setting an Event does."
    def run(self, stop):
        with self.lock:
            interrupt()
            time.sleep(0.1)
        super().run(stop)

    def wake(self):
        with self.lock:
            pass
"""

LOST = """
class Own(Work):
    "What the signal handler raises is lost in a destructor; the build goes on."
    def build(self):
        class Careless:
            def __del__(self):
                interrupt()
                time.sleep(0.1)
        Careless()
        print("building", flush=True)
        while True:
            time.sleep(0.01)
"""

SLOW = """
class Own(Work):
    "Needs a while to give a build up."
    def build(self):
        print("building", flush=True)
        try:
            time.sleep(600.0)
        finally:
            for _ in range(20):
                time.sleep(0.01)
"""

HANGING = """
class Own(Work):
    "Hangs in C and keeps the interpreter to itself."
    def farewell(self):
        ctypes.PyDLL(None).sleep(600)
"""

MUTE = """
class Own(Work):
    def farewell(self):
        raise OSError("the line is dead")
"""

START = """
sys.exit(run_node("own", Own, []))
"""


@pytest.fixture
def start(loopback: dict[str, str]) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def begin(own: str) -> subprocess.Popen[str]:
        environment = {**os.environ, **loopback, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", NODE + own + START]
        started.append(
            subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        )
        return started[-1]

    yield begin
    for one in started:
        one.kill()
        one.communicate()


def read_until(node: subprocess.Popen[str], word: str) -> None:
    assert node.stdout is not None
    assert word + "\n" in iter(node.stdout.readline, ""), "it ended before"


def test_a_signal_in_the_middle_of_a_lock_is_heard(start: Callable[[str], subprocess.Popen[str]]) -> None:
    node = start(LOCKED)
    said, _ = node.communicate(timeout=PATIENCE)
    assert node.returncode == 0, said
    assert said.endswith("running\nfarewell\n")


def test_a_build_whose_interruption_is_lost_ends_too(start: Callable[[str], subprocess.Popen[str]]) -> None:
    node = start(LOST)
    read_until(node, "building")
    node.communicate(timeout=PATIENCE)
    assert node.returncode == 0


@pytest.mark.parametrize(
    ("own", "word"), [(SLOW, "building"), ("class Own(Work): pass", "running")], ids=["build", "run"]
)
def test_many_signals_are_as_good_as_one(start: Callable[[str], subprocess.Popen[str]], own: str, word: str) -> None:
    node = start(own)
    read_until(node, word)
    for number in 100 * (signal.SIGINT, signal.SIGTERM):
        node.send_signal(number)
    said, _ = node.communicate(timeout=PATIENCE)
    assert node.returncode == 0, said
    assert "Traceback" not in said


def test_a_node_that_hangs_says_where_and_is_ended(start: Callable[[str], subprocess.Popen[str]]) -> None:
    node = start(HANGING)
    read_until(node, "running")
    node.send_signal(signal.SIGINT)
    said, _ = node.communicate(timeout=PATIENCE)
    assert node.returncode == -signal.SIGALRM, said
    assert "in farewell" in said


def test_last_messages_that_cannot_be_sent_are_an_error_of_their_own(
    start: Callable[[str], subprocess.Popen[str]],
) -> None:
    node = start(MUTE)
    read_until(node, "running")
    node.send_signal(signal.SIGINT)
    said, _ = node.communicate(timeout=PATIENCE)
    assert node.returncode == 74
    lines = [line for line in said.splitlines() if "FATAL" in line]
    assert len(lines) == 1
    assert "the last messages could not be sent" in lines[0]
    assert "the line is dead" in lines[0]


@pytest.mark.slow
def test_nodes_end_cleanly_on_ctrl_c_in_every_phase(loopback: dict[str, str]) -> None:
    phases = {"planner": ["loading", "building", "active"], "controller": ["loading", "controlling", "active"]}
    for phase in range(3):
        names = [*phases, "simulator"] if phase == 2 else [*phases]
        with NodeProcesses(loopback) as nodes:
            if phase == 2:
                nodes.start("simulator", {"use_sim_time": True})
            for name, words in phases.items():
                nodes.start(name, {"use_sim_time": True})
                deadline = clock.monotonic() + BUILDING
                while words[phase] not in nodes.log(name):
                    nodes.check()
                    assert clock.monotonic() < deadline, nodes.log(name)
                    clock.sleep(0.01)
            for _ in range(2):  # as a terminal and a launch do
                for name in names:
                    nodes.signal(name, signal.SIGINT)
            for name in names:
                assert nodes.wait(name, PATIENCE) == 0, nodes.log(name)
                assert "Traceback" not in nodes.log(name)
