"""What else happens on a machine while the nodes run: busy neighbours, observers that come and go, a stalled planner.

Each is a context manager around a run and ends what it has started.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time as clock
from collections.abc import Callable, Iterator, Mapping
from threading import Event

import numpy as np

from benchmarks.ros.processor import beside, quota
from contact_ddp_ros.base.process import environment

_BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(10**6): pass"
"""A program that only computes, until its parent is gone."""

_OBSERVER = """
import sys, rclpy
from rclpy.executors import ExternalShutdownException
from contact_ddp_ros.ros import interfaces as io
rclpy.init()
node = rclpy.create_node("observer_" + sys.argv[1], start_parameter_services=False)
for topic in io.TOPICS:
    node.create_subscription(topic.type, topic.name, lambda message: None, topic.qos)
end = node.get_clock().now().nanoseconds + int(1e9 * float(sys.argv[2]))
while node.get_clock().now().nanoseconds < end:
    rclpy.spin_once(node, timeout_sec=0.1)
"""
"""As `ros2 topic echo` of every topic at once, for some seconds; it does not say goodbye."""

_LAST_WORD = 5.0
"""Longest wait for a process that was asked to end [s]."""


@contextlib.contextmanager
def neighbours(count: int) -> Iterator[None]:
    """So many processes at normal priority that only compute."""
    busy = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


@contextlib.contextmanager
def observers(variables: Mapping[str, str], every: float, stay: float) -> Iterator[None]:
    """Every so often [s] a process that subscribes to all topics and leaves after `stay` [s]."""
    started: list[subprocess.Popen[bytes]] = []

    def observe(stop: Event) -> None:
        while not stop.wait(every):
            words = [sys.executable, "-c", _OBSERVER, str(len(started)), str(stay)]
            with environment(variables):
                started.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    try:
        with beside(observe):
            yield
    finally:
        for process in started:
            process.kill()
            process.wait(_LAST_WORD)


@contextlib.contextmanager
def stalls(
    find: Callable[[], int | None], duration: float, every: float, seed: int, begin: float
) -> Iterator[list[float]]:
    """Stop a process for `duration` [s], about `every` [s], at random phases; the wall-clock times at which.

    Args:
        find: the process's id, None as long as there is none.
        duration: of a stall [s].
        every: mean time from the end of a stall to the next [s].
        seed: of the phases.
        begin: time that the process lives before the first stall [s].
    """
    random = np.random.default_rng(seed)
    times: list[float] = []

    def stall(stop: Event) -> None:
        while find() is None and not stop.wait(0.1):
            pass
        stop.wait(begin)
        while not stop.wait(every * random.uniform(0.75, 1.25)):
            process = find()
            if process is None:
                return
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
                times.append(clock.monotonic())
                stop.wait(duration)
                os.kill(process, signal.SIGCONT)

    with beside(stall):
        yield times


@contextlib.contextmanager
def throttled(planner: Callable[[], int | None], share: float) -> Iterator[None]:
    """A quota of a core for the planner's process from when on `planner` gives its id.

    It loses real-time priority, to which a quota would not apply.
    """

    def limit(stop: Event) -> None:
        while (pid := planner()) is None:
            if stop.wait(0.05):
                return
        for thread in os.listdir(f"/proc/{pid}/task"):
            os.sched_setscheduler(int(thread), os.SCHED_OTHER, os.sched_param(0))
        with quota(pid, share):
            stop.wait()

    with beside(limit):
        yield
