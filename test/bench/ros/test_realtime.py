"""The benchmark of live nodes: what it runs, how it counts, and that what it disturbs with ends."""

import math
import subprocess
import sys
import time as clock

import pytest

from benchmarks.loop.harness import bounding
from benchmarks.ros.disturbances import neighbours, stalls
from benchmarks.ros.realtime import BENCHMARK, NODES, live_run, metrics
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.runs.study.study import Case, Group, grouped
from test.bench.studies import cases_of, group


def condition(name: str, *falls: str, cores: float = 0.1) -> Group:
    alike = {"deadline_miss_fraction": 0.0, "cores": dict.fromkeys(NODES, cores)}
    return group(name, *({**alike, "fall": fall} for fall in falls))


def test_every_disturbance_is_there_and_quick_runs_are_single() -> None:
    full, quick = (grouped(cases_of(BENCHMARK, *words), lambda case: case.group) for words in ((), ("--quick",)))
    assert [name for name in full if name.endswith("neighbours")] == [f"{n} busy neighbours" for n in (0, 1, 2, 4)]
    assert [name for name in full if "one process" in name] == [f"{n} busy neighbours, one process" for n in (0, 2)]
    assert sum("stalled" in name for name in full) == 5
    assert all(len(runs) == 1 for runs in quick.values())
    assert len(cases_of(BENCHMARK, "--runs", "3")) == 3 * len(full)
    for case, *_ in full.values():
        values = case.values
        if "stall" in values:
            assert case.options.duration >= 20 * (values["every"] + values["stall"])
    with pytest.raises(ParameterError, match="no condition's name holds"):
        cases_of(BENCHMARK, "--only", "nothing")


def test_falls_and_processor_time_are_held_against_their_targets() -> None:
    groups = [condition("0 busy neighbours", "", "late states", cores=0.3), condition("4 busy neighbours", "tilt")]
    figures = {one.name: one for one in metrics(groups)}
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
    values = {"stall": 0.05, "every": 0.5}
    options = bounding({"planner.rate": 50}, lockstep=False, duration=5.0)
    made = live_run(Case("stalled", "stalled, 1 of 1", options, values))
    assert made["stalls"] > 0
    assert all(cores > 0.0 for cores in made["cores"].values())
    assert made["oldest"] > 0.0 and not math.isnan(made["silence"])
