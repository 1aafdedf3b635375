"""Pushes at every phase, judgement of a push, and the report of runs, on figures made by hand: no physics."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from benchmarks.loop.harness import CYCLE, RECOVERY
from benchmarks.loop.outcome import is_straight, straightness
from benchmarks.loop.robustness import BENCHMARK, REPORT
from contact_ddp_ros.base.files import plain
from test.bench.studies import cases_of, group

FIGURES = {"speed_error": 0.02, "commanded_speed": 0.5, "touchdown_error_max_m": 0.001}


def pushed(direction, *found):
    straight = {"straightness": {"roll": 0.0, "lateral_velocity": 0.0, "yaw": 0.0}, "straight": True}
    options = cases_of(BENCHMARK, "--quick", "--only", "pushes")[0].options
    return group(f"push {direction}", *({**FIGURES, **straight, **one} for one in found), options=options)


def test_pushes_cover_one_cycle_each_way_and_last_until_they_can_be_judged() -> None:
    pushes = cases_of(BENCHMARK, "--only", "pushes")
    assert len(pushes) == 4 * 24 and len({case.group for case in pushes}) == 4
    starts = sorted({case.options.pushes[0].time for case in pushes})
    assert len(starts) == 24 and starts[-1] - starts[0] == pytest.approx(CYCLE * 23 / 24)
    impulses = {tuple(round(f * c.options.pushes[0].duration, 9) for f in c.options.pushes[0].force) for c in pushes}
    assert impulses == {(4.0, 0.0, 0.0), (-4.0, 0.0, 0.0), (0.0, 4.0, 0.0), (0.0, -4.0, 0.0)}
    assert all(case.options.duration >= case.options.pushes[0].end + RECOVERY + CYCLE for case in pushes)


def test_options_reach_every_run() -> None:
    cases = cases_of(BENCHMARK, "--quick", "--variant", "ilqr", "--seed", "4")
    assert {case.options.variant for case in cases} == {"ilqr"}
    noisy = [case.options for case in cases if "noise" in case.group]
    assert [options.seed for options in noisy] == [4, 5, 6]
    assert all(options.parameters("simulator")["imu.gyro_bias"] > 0.0 for options in noisy)


@pytest.mark.parametrize(
    "roll, sideways, yaw, expected",
    [(0.0, 0.0, 0.0, True), (0.2, 0.0, 0.0, False), (0.0, -0.1, 0.0, False), (0.0, 0.0, -0.2, False)],
)
def test_bands(roll, sideways, yaw, expected) -> None:
    assert is_straight({"roll": roll, "lateral_velocity": sideways, "yaw": yaw}) == expected
    assert not is_straight({"roll": math.nan, "lateral_velocity": sideways, "yaw": yaw})


def test_a_recording_that_ended_early_is_not_straight() -> None:
    push = cases_of(BENCHMARK, "--quick", "--only", "pushes")[0].options.pushes[0]
    found = straightness(SimpleNamespace(ticks={"time": np.arange(0.0, 1.0, 0.1)}), push)
    assert not is_straight(found)
    assert plain(found) == {"roll": None, "lateral_velocity": None, "yaw": None}


def test_the_report_counts_per_direction_and_names_what_did_not_hold(tmp_path) -> None:
    crooked = {"straight": False, "straightness": {"roll": 0.3, "lateral_velocity": 0.0, "yaw": 0.0}}
    lost = {"straight": False, "straightness": dict.fromkeys(("roll", "lateral_velocity", "yaw"))}
    groups = [
        pushed("left", {}, crooked),
        pushed("right", {"fall": "2.00 s: tilt", **lost}),
        group("mass", {**FIGURES, "touchdown_error_max_m": 0.01}),
        group("delay", {"fall": "failed: no kernels"}),
    ]
    found = REPORT(groups, None)
    assert found.exit_code == 1
    with (console := Console(width=160)).capture() as shown:
        for table in found.tables:
            console.print(table)
    for words in ("push left", "not straight: roll 0.30", "2.00 s: tilt", "above 5 mm", "no kernels"):
        assert words in shown.get()
    assert [str(cell) for cell in found.tables[0].columns[3].cells] == ["1", "0", "", ""]
    for name, own in (("some", groups), ("empty", [])):
        REPORT(own, None).drawings["robustness.png"](tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


@pytest.mark.parametrize("words", [["--jobs", "0"], ["--only", "nothing"]])
def test_bad_options_are_refused_before_anything_is_made(words, tmp_path, capsys) -> None:
    with pytest.raises(SystemExit):
        BENCHMARK.main([*words, "--out", str(tmp_path / "new")])
    assert words[0] in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
