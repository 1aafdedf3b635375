"""The planner on a small processor: limits of processor time, and a robot that stays up with a slow planner."""

import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from benchmarks.loop import pushes
from benchmarks.ros import processor
from benchmarks.ros.processor import Effort, Held, Pace


@pytest.fixture
def sleeper():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process
    process.kill()
    process.wait()


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_whole_core_is_no_limit(sleeper) -> None:
    with processor.quota(sleeper.pid, 1.0) as means:
        assert means == "none"


def test_a_limit_is_gone_after_the_block(sleeper) -> None:
    with processor.quota(sleeper.pid, 0.5) as means:
        assert means in ("control group", "signals")
    assert state_of(sleeper.pid) != "T"
    assert not list(Path("/sys/fs/cgroup").glob("**/contact-ddp-*"))


def test_without_control_groups_signals_stop_and_continue_it(sleeper, monkeypatch) -> None:
    monkeypatch.setattr(processor, "_group", lambda share: None)
    with processor.quota(sleeper.pid, 0.02) as means:
        assert means == "signals"
        while state_of(sleeper.pid) != "T":
            pass
    assert state_of(sleeper.pid) != "T"


def test_a_throttled_process_works_for_its_share_of_each_period_and_waits_for_the_next() -> None:
    throttle = processor.Throttle(0.25)
    assert throttle.end(0.0, 0.02) == pytest.approx(0.02)
    assert throttle.end(0.05, 0.01) == pytest.approx(0.105), "5 ms are left, the other 5 are in the next period"
    assert throttle.end(0.2, 0.06) == pytest.approx(0.41)
    assert processor.Throttle(1.0).end(0.03, 0.5) == pytest.approx(0.53)


def test_the_robot_bounds_with_policies_forty_milliseconds_apart_and_old(monkeypatch) -> None:
    monkeypatch.setattr(processor, "COMMANDS", processor.COMMANDS[1:2])
    monkeypatch.setattr(processor, "LADDER", (4.0,))
    monkeypatch.setattr(pushes, "SETTLED", 1.5)
    monkeypatch.setattr(pushes, "AFTER", 1.0)
    found = processor.held_at(Pace(25.0, 0.04, 0.04), Effort(1.0, 5.0, phases=1, directions=1))
    assert (found.falls, found.follows) == (0, 1) and found.errors.max() < 0.02
    assert found.impulses == np.array([[4.0]])


def test_plans_are_timed_in_the_loop() -> None:
    times = processor.plan_times(25.0, 2.0)
    assert len(times) > 10 and min(times) > 0.0


def test_the_table_has_a_row_for_every_build_and_share() -> None:
    held = Held(0, 9, np.array([0.001, 0.002, 0.003]), np.array([[24.0, 12.0], [0.0, 24.0]]))
    row = {
        "build": processor.SMALL,
        "share": 0.25,
        "plan": [0.008, 0.01],
        **asdict(Pace(25.0, 0.009, 0.07)),
        **asdict(held),
    }
    table = processor.table([row])
    cells = [next(iter(column.cells)) for column in table.columns]
    assert cells[0] == "silvermont, 25 %" and cells[2] == "25" and cells[4] == "0, 9 of 9"
    assert cells[6] == "3; 2"
