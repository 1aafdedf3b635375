"""The benchmark of live nodes: what it runs, how it counts, and that what it disturbs with ends."""

import math
import subprocess
import sys
import time as clock

import pytest

from benchmarks.ros.disturbances import neighbours, stalls
from benchmarks.ros.realtime import NODES, Condition, LiveRun, conditions, live_run, metrics


def outcome(condition: str, fell: str = "", cores: float = 0.1) -> LiveRun:
    return LiveRun(condition, fell, 0, 0, 1.0, 0.5, 0.0, 2.0, 12.0, 2.0, dict.fromkeys(NODES, cores))


def test_every_disturbance_is_there_and_quick_runs_are_single() -> None:
    names = [one.name for one in conditions(quick=False, runs=None)]
    assert [name for name in names if name.endswith("neighbours")] == [f"{n} busy neighbours" for n in (0, 1, 2, 4)]
    assert [name for name in names if "one process" in name] == [f"{n} busy neighbours, one process" for n in (0, 2)]
    assert sum("stalled" in name for name in names) == 5
    assert all(one.runs == 1 for one in conditions(quick=True, runs=None))
    assert all(one.runs == 3 for one in conditions(quick=False, runs=3))
    long = conditions(quick=False, runs=None)
    assert all(one.duration >= 20 * (one.every + one.stall) for one in long if one.stall)


def test_falls_and_processor_time_are_held_against_their_targets() -> None:
    runs = [outcome("0 busy neighbours"), outcome("0 busy neighbours", fell="late states", cores=0.5)]
    figures = {one.name: one for one in metrics([*runs, outcome("4 busy neighbours", fell="tilt")])}
    assert figures["no fall: 0 busy neighbours"].value == 0.5
    assert figures["no fall: 0 busy neighbours"].met is False
    assert figures["no fall: 4 busy neighbours"].met is None, "without a target"
    assert figures["processors kept busy by controller"].value == pytest.approx(0.3)


def test_neighbours_compute_and_end() -> None:
    before = clock.process_time()
    with neighbours(2):
        pass
    assert clock.process_time() >= before


def test_a_process_is_stopped_for_a_while_and_goes_on() -> None:
    words = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
    echo = subprocess.Popen([sys.executable, "-c", words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert echo.stdin is not None and echo.stdout is not None
    try:
        with stalls(lambda: echo.pid, 0.05, 0.02, seed=0, begin=0.0) as times:
            deadline = clock.monotonic() + 60.0
            while len(times) < 3 and clock.monotonic() < deadline:
                clock.sleep(0.01)
        assert len(times) >= 3
        echo.stdin.write("still here\n")
        echo.stdin.flush()
        assert echo.stdout.readline() == "still here\n"
    finally:
        echo.kill()
        echo.wait()


@pytest.mark.slow
def test_a_run_beside_a_stalled_planner_is_measured() -> None:
    made = live_run(Condition("stalled", 1, 5.0, stall=0.05, every=0.5), 0, {"planner.rate": 50})
    assert made.stalls > 0
    assert all(cores > 0.0 for cores in made.cores.values())
    assert made.oldest_policy > 0.0 and not math.isnan(made.longest_silence)
