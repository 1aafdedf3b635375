"""The planner on a small processor: limits of processor time, and a robot that stays up with a slow planner."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.ros import processor, quota
from benchmarks.ros.processor import Held, Pace

PERIOD = 0.01


@pytest.fixture
def sleeper():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process
    process.kill()
    process.wait()


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_whole_core_is_no_limit(sleeper) -> None:
    with quota.quota(sleeper.pid, 1.0) as means:
        assert means == "none"


def test_a_limit_is_gone_after_the_block(sleeper) -> None:
    with quota.quota(sleeper.pid, 0.5) as means:
        assert means in ("control group", "signals")
    assert state_of(sleeper.pid) != "T"
    assert not list(Path("/sys/fs/cgroup").glob("**/contact-ddp-*"))


def test_without_control_groups_signals_stop_and_continue_it(sleeper, monkeypatch) -> None:
    monkeypatch.setattr(quota, "_group", lambda share: None)
    with quota.quota(sleeper.pid, 0.02) as means:
        assert means == "signals"
        while state_of(sleeper.pid) != "T":
            pass
    assert state_of(sleeper.pid) != "T"


def test_a_throttled_process_works_for_its_share_of_each_period_and_waits_for_the_next() -> None:
    throttle = quota.Throttle(0.25)
    assert throttle.end(0.0, 0.02) == pytest.approx(0.02)
    assert throttle.end(0.05, 0.01) == pytest.approx(0.105), "5 ms are left, the other 5 are in the next period"
    assert throttle.end(0.2, 0.06) == pytest.approx(0.41)
    assert quota.Throttle(1.0).end(0.03, 0.5) == pytest.approx(0.53)


def test_the_robot_bounds_with_policies_forty_milliseconds_apart_and_old() -> None:
    pace = Pace(25.0, 0.04, 0.04)
    errors = processor.commanded(pace, (processor.SPEED, 0.0, 0.0), 7.0)
    assert errors is not None and errors.max() < 0.02


def test_the_table_has_a_row_for_every_build_and_share() -> None:
    held = Held(0, 0.001, 0.002, 0.003, np.array([[24.0, 12.0], [0.0, 24.0]]))
    live = {"means": "signals", "seconds": 2.0, "solves": [{"elapsed": 0.01, "ok": 1.0}] * 50}
    row = processor._row(processor.SMALL, 0.25, [0.008, 0.01], Pace(25.0, 0.009, 0.07), held, live)
    table = processor.table([row])
    cells = [next(iter(column.cells)) for column in table.columns]
    assert cells[0] == "silvermont, 25 %" and cells[2] == "25" and cells[4] == "0 of 9"
    assert cells[6] == "3; 2" and cells[7] == "25.0"


def test_the_worker_solves_for_states_as_they_pass() -> None:
    worker = processor.PlannerWorker({})
    try:
        states = processor.recorded_states(0.3)
        solves = worker.ask(job="live", states=states, speed=processor.SPEED, seconds=0.3, share=0.7)
    finally:
        worker.close()
    assert 1 <= len(solves) <= len(states)
    starts = np.array([one["start"] for one in solves])
    assert (np.diff(np.floor(starts / PERIOD)) >= 1).all(), "one solve a state at most"
    assert all(one["iterations"] >= 1 for one in solves)
    assert np.mean([one["ok"] for one in solves]) > 0.8, "the states follow from other plans, which few solves bear ill"
