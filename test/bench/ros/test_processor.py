"""The planner on a small processor: limits of processor time, and a robot that stays up with a slow planner."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.ros import processor, quota
from benchmarks.ros.processor import Live, Slow, slow_loop
from benchmarks.timing import Spread, Times
from contact_ddp_ros.control.policy_validator import PlannerPace

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


def test_the_robot_bounds_with_a_planner_that_takes_forty_milliseconds() -> None:
    loop, found = slow_loop(0.04, 4.0)
    assert found.fell == "" and found.stands == 0
    assert found.speed == pytest.approx(processor.SPEED, abs=0.2)
    assert loop.controller.move.policy_age(loop.simulator.time) < 0.1


def test_it_would_not_begin_to_if_lateness_were_counted_in_nominal_periods(monkeypatch) -> None:
    monkeypatch.setattr(PlannerPace, "period", property(lambda pace: pace.config.planner_period))
    _, found = slow_loop(0.04, 2.0)
    assert found.fell == "does not bound"


def test_the_table_has_every_build_quota_and_delay() -> None:
    parts = {stage: np.array([1.0, 1.1]) for stage in (processor.ITERATION, *processor.STAGES)}
    slower = {stage: 2.0 * times for stage, times in parts.items()}
    times = Times({processor.NATIVE: parts, processor.SMALL: slower})
    spread = Spread.of([0.01, 0.02])
    live = [Live(processor.SMALL, 0.25, "signals", 40.0, 1.2, spread, spread)]
    slow = [Slow(0.04, "", 0, 0.5), Slow(0.08, "tilt", 1, 0.1)]
    rows = {row.name: row for row in processor.metrics(times, live, slow)}
    assert rows["iteration, without AVX / native"].number == pytest.approx(2.0)
    assert rows["silvermont, 25 % of a core"].number == 40.0
    assert rows["lock-step, 40 ms for a solve: stays up"].met is True
    assert rows["lock-step, 80 ms for a solve: stays up"].number == 0.0


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
