"""A process's place among the others, in a process of its own: the settings stay with it."""

import gc
import os
import subprocess
import sys

import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.process import AUTO, FIFO, NICE, NONE, SchedulingOptions, processors, settle

REPORT = """
import os, subprocess, sys, threading
from contact_ddp_ros.base.process import SchedulingOptions, settle
stop = threading.Event()
thread = threading.Thread(target=stop.wait)
thread.start()
print(settle(SchedulingOptions(policy=sys.argv[1], lock_memory=False), live=sys.argv[2] == "live"))
for each in (0, thread.native_id):
    print(os.sched_getscheduler(each) & 7, os.getpriority(os.PRIO_PROCESS, each))
child = "import os; print(os.sched_getscheduler(0) & 7)"
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout.strip())
stop.set()
"""


def report(policy: str, live: bool) -> tuple[str, list[tuple[int, int]], int]:
    """What was said, scheduler and nice value of both threads, and the scheduler of a child."""
    words = [sys.executable, "-c", REPORT, policy, "live" if live else "lockstep"]
    said, *threads, child = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    return said, [(int(a), int(b)) for a, b in (line.split() for line in threads)], int(child)


@pytest.mark.parametrize("policy", [AUTO, FIFO, NICE, NONE])
def test_all_threads_get_what_is_allowed_and_it_is_said(policy: str) -> None:
    said, threads, child = report(policy, live=True)
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    if said.startswith("real-time priority"):
        assert policy in (AUTO, FIFO)
        assert [scheduler for scheduler, _ in threads] == [os.SCHED_FIFO] * 2
    elif said.endswith("nice -10"):
        assert policy in (AUTO, NICE)
        assert threads == [(os.SCHED_OTHER, -10)] * 2
    else:
        assert threads == [(os.SCHED_OTHER, nice)] * 2
        assert policy == NONE or "limits.conf" in said
    assert child == os.SCHED_OTHER, "what a node starts is scheduled as usual"


def test_in_lockstep_nothing_is_touched() -> None:
    said, threads, _ = report(FIFO, live=False)
    assert "lock-step" in said
    assert [scheduler for scheduler, _ in threads] == [os.SCHED_OTHER] * 2


def test_lists_of_processors() -> None:
    allowed = sorted(os.sched_getaffinity(0))
    assert processors(str(allowed[0])) == {allowed[0]}
    assert processors(",".join(map(str, allowed))) == set(allowed)
    for wrong in ("", "x", "0-", "99999", "1-0"):
        with pytest.raises(ParameterError, match=r"processors are|may use"):
            processors(wrong)


def test_what_is_built_is_left_out_of_garbage_collection() -> None:
    settle(SchedulingOptions(policy=NONE, lock_memory=False), live=False)
    assert gc.get_freeze_count() > 0
    gc.unfreeze()


def test_who_gives_way_goes_behind_what_began_before() -> None:
    code = (
        "import os, subprocess; from contact_ddp_ros.base.process import give_way;"
        "before = os.nice(0); child = subprocess.Popen(['sleep', '60']); give_way();"
        "print(os.nice(0) - before, os.getpriority(os.PRIO_PROCESS, child.pid) - before); child.kill(); child.wait()"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["5", "0"]
