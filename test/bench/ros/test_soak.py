"""The soak's verdict on runs whose growth, rates and faults are known, and a short one with the real nodes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.ros import soak
from benchmarks.ros.soak_tally import LOOP, FellError, Seen, Tally, processes, rates, run_loop
from contact_ddp_ros.base.errors import NodeError, ParameterError
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.robot.rotation import rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.options import RunOptions

NODES = ("controller", "planner", "simulator")


def state(time: float, roll: float = 0.0, height: float = 0.28) -> RobotState:
    zeros = np.zeros(12)
    pose = np.array([0.5 * time, 0.0, height]), rpy_to_quaternion(roll, 0.0, 0.0)
    return RobotState(time, *pose, np.zeros(3), np.zeros(3), zeros, zeros)


def tally(every: float = 0.1) -> Tally:
    return Tally(every, lambda: {"planner": os.getpid()}, lambda sample: None)


def tick(log: Tally, at: RobotState, mode: str = "move") -> None:
    log.tick(at, control_mode=mode, wall_time=2.0 * at.time, commanded_speed=0.5, torques=None)


def test_rates_are_exact_however_late_solves_are_told():
    log, late = tally(), []
    for i in range(500):
        time = 0.002 * i
        if i % 5 == 0:
            late.append(time)
        while late and late[0] <= time - (0.02 if i < 250 else 0.0):
            log.solve(late.pop(0), solve_ms=2.0, ok=True, iterations=2)
        tick(log, state(time))
    found = rates(log.seen.samples[1:])
    assert found["ticks"] == pytest.approx(500.0)
    assert found["solves"] == pytest.approx(100.0)
    assert found["real time"] == pytest.approx(0.5)
    assert len(log.seen.samples) == 10
    assert processes(log.seen.samples[0]) == ["planner"]


def test_a_lost_solve_shows_in_the_rate():
    log = tally()
    for i in range(500):
        if i % 5 == 0 and i != 300:
            log.solve(0.002 * i, solve_ms=2.0, ok=True)
        tick(log, state(0.002 * i))
    assert rates(log.seen.samples[1:])["solves"].min() < 95.0


@pytest.mark.parametrize("lying", [{"roll": 1.6}, {"height": 0.1}, {"height": np.nan}])
def test_a_fall_ends_the_run_once_it_bounds(lying: dict[str, float]):
    log = tally()
    tick(log, state(0.0, **lying), mode="stand")
    tick(log, state(0.002))
    with pytest.raises(FellError):
        tick(log, state(0.004, **lying))
    assert log.seen.fell is not None


def test_a_fault_ends_the_run_by_its_name():
    log = tally()
    log.event(0.001, "policy_stale", fault=True)
    log.event(0.001, "policy refused: policy_epoch")
    with pytest.raises(FellError, match="policy_stale"):
        tick(log, state(0.002))
    assert log.seen.refusals == 1


LOOK = """
import mmap, os
from benchmarks.ros.soak_tally import vitals
before = vitals(os.getpid())
with mmap.mmap(-1, 32_000_000) as block, open(os.devnull), open(os.devnull):  # pages that nobody had before
    block.write(b"x" * len(block))
    after = vitals(os.getpid())
print(*(after[name] - before[name] for name in ("descriptors", "memory")), after["threads"])
"""


def test_vitals_are_of_the_process():
    """In a process of its own: in this one other threads take and give back memory meanwhile."""
    found = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True).stdout.split()
    assert int(found[0]) == 2
    assert float(found[1]) == pytest.approx(32.0, rel=0.5)
    assert int(found[2]) >= 1


def test_the_schedule_goes_up_and_down_and_pushes_all_ways():
    run = soak.schedule(3600.0)
    assert {push.force for push in run.pushes} == set(soak.PUSHES)
    assert max(push.end for push in run.pushes) < run.duration
    speeds = [run.speed_at(time) for time in np.linspace(0.0, 3600.0, 500)]
    assert (min(speeds), max(speeds)) == pytest.approx((0.2, 0.8), abs=0.05)


def scripted(
    leak: float = 0.0, skip: int = -1, files: int = 0, error: Exception | None = None, looks: int = 240
) -> Callable[..., object]:
    """Stands in for the run: an hour in which the planner grows by `leak` [MB/h] or does the other wrong."""

    def run(*_: object) -> tuple[str, Seen]:
        seen, rng = Seen(), np.random.default_rng(0)
        for i in range(looks):
            time = 15.0 * i
            solves = round(100 * time) - int(i > skip >= 0)
            noise = rng.normal(0.0, 0.05, 3)
            grown = {"planner": leak * time / 3600.0, "controller": 0.0, "simulator": 0.0}
            warm = 20.0 * (1.0 - np.exp(-time / 100.0))
            sample = {"time": time, "wall_time": time, "ticks": 500 * round(time), "solves": solves}
            sample |= {"last_solve": time, "solve_ms": 2.0, "x": 0.5 * time, "y": 0.0, "commanded_speed": 0.5}
            for name, wandering in zip(NODES, noise):
                own = {"memory": 300.0 + warm + grown[name] + wandering, "descriptors": 14 + int(i > 200) * files}
                own |= {"threads": 13, "processor_time": 0.3 * time}
                sample |= {f"{name} {what}": value for what, value in own.items()}
            seen.samples.append(sample)
        return ("" if error is None else str(error)), seen

    return run


def record(monkeypatch: pytest.MonkeyPatch, folder: Path, run: Callable[..., object]) -> SimpleNamespace:
    monkeypatch.setattr(soak, "watch", run)
    code = soak.BENCHMARK.main(["--out", str(folder / "out")])
    assert (folder / "out" / "soak.png").stat().st_size > 0
    results = json.loads((folder / "out" / "benchmark.json").read_text())
    return SimpleNamespace(code=code, growth=results["memory_mb_per_hour"], figures=results["figures"])


def test_what_stays_as_it_is_passes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    found = record(monkeypatch, tmp_path, scripted())
    assert found.code == 0
    assert all(one["met"] is not False for one in found.figures)
    assert all(one["upper"] < soak.GROWTH for one in found.growth.values())


def test_a_leak_is_found_and_sized(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    found = record(monkeypatch, tmp_path, scripted(leak=5.0))
    assert found.code == 1
    assert found.growth["planner"]["slope"] == pytest.approx(5.0, rel=0.1)
    assert [one["met"] for one in found.figures if "memory" in one["name"]] == [True, False, True]


def test_a_short_run_is_no_proof_of_a_leak(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    found = record(monkeypatch, tmp_path, scripted(leak=1000.0, looks=60))
    assert found.code == 0
    assert found.growth["planner"]["slope"] > soak.GROWTH
    planner = next(one for one in found.figures if one["name"] == "memory of the planner grows by")
    assert planner["met"] is None and planner["note"].endswith("too short to be sure")


@pytest.mark.parametrize("wrong", [{"skip": 150}, {"files": 2}, {"error": NodeError("the planner ended")}])
def test_everything_else_that_goes_wrong_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wrong: dict[str, object]
):
    assert record(monkeypatch, tmp_path, scripted(**wrong)).code == 1  # type: ignore[arg-type]


def test_durations_that_measure_nothing_are_refused():
    with pytest.raises(ParameterError, match="at least"):
        soak.BENCHMARK.main(["--duration", "0.1"])


@pytest.mark.flaky(reruns=1)
def test_the_real_nodes_bound_while_they_are_watched(tmp_path: Path):
    code = soak.BENCHMARK.main(["--duration", "3", "--out", str(tmp_path / "out")])
    results = json.loads((tmp_path / "out" / "benchmark.json").read_text())
    assert code == 0, results
    samples = results["samples"]
    assert set(processes(samples[0])) == {*NODES, soak.OBSERVER}
    assert samples[-1]["ticks"] > 1000
    assert samples[-1]["solves"] > 100
    assert len({sample["planner processor_time"] for sample in samples}) > 2


def test_without_ros_the_loop_runs_in_a_process_that_keeps_nothing(tmp_path: Path):
    code = soak.BENCHMARK.main(["--one-process", "--duration", "4.5", "--out", str(tmp_path / "out")])
    results = json.loads((tmp_path / "out" / "benchmark.json").read_text())
    assert code == 0, results
    samples = results["samples"]
    assert processes(samples[0]) == [LOOP]
    assert samples[-1]["ticks"] > 2000
    assert samples[-1]["solves"] > 250
    assert [one["value"] for one in results["figures"] if one["name"] == "    largest deviation between two looks"] == [
        pytest.approx(0.0, abs=1e-6)
    ] * 2


def test_where_the_loop_falls_the_run_ends_with_what_was_seen():
    options = RunOptions(duration=4.0, pushes=(Push(2.0, (0.0, 400.0, 0.0), 0.2),))
    seen = Seen()
    with pytest.raises(FellError, match="the robot fell at"):
        run_loop(options, 0.5, seen, lambda sample: None)
    assert seen.fell is not None and seen.pushes == 1
    assert 1.9 < seen.samples[-1]["time"] < 4.0
